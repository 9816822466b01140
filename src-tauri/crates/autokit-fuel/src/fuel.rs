//! The verifier's dependencies.

use std::sync::Arc;
use std::time::Duration;

use autokit_pages::{PageReader, Result, Visit};
use autokit_web::search::{GitHub, Provider};
use tokio::sync::Semaphore;

use crate::model::Advisor;
use crate::visits::Visits;

/// The verifier and its dependencies.
#[derive(Clone, Debug)]
pub struct Fuel {
    /// Reads pages.
    pub reader: PageReader,
    /// Search services; without any, only the site itself is searched for its pages.
    pub providers: Vec<Provider>,
    /// GitHub, if facts about repositories are to be looked up.
    pub github: Option<GitHub>,
    /// Limits concurrent searches, because the services are rate-limited.
    pub search_permits: Arc<Semaphore>,
    /// Recent visits, shared by the cards of one run.
    pub visits: Visits,
    /// Time limit for fetching one page.
    pub page_timeout: Duration,
    /// Consecutive failures after which another page is searched for.
    pub attempts: u32,
    /// Language models, if there are any.
    pub advisor: Option<Advisor>,
    /// Whether to propose better descriptions too.
    pub improve: bool,
}

impl Fuel {
    pub(crate) async fn visit(&self, url: &str) -> Result<Visit> {
        self.visits.visit(&self.reader, url, self.page_timeout).await
    }
}
