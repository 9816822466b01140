//! What examining needs.

use std::sync::Arc;
use std::time::Duration;

use autokit_pages::{PageReader, Result, Visit};
use autokit_web::search::Provider;
use tokio::sync::Semaphore;

use crate::model::Advisor;
use crate::visits::Visits;

/// What examining needs.
#[derive(Clone, Debug)]
pub struct Fuel {
    /// Reads pages.
    pub reader: PageReader,
    /// Search services; none means that only the site itself is asked for its pages.
    pub providers: Vec<Provider>,
    /// Whose turn it is to search: the services let only so many through.
    pub searching: Arc<Semaphore>,
    /// Pages visited lately; shared by the cards of one run.
    pub visits: Visits,
    /// How long a page may take in all.
    pub patience: Duration,
    /// Failures in a row after which another page is sought.
    pub attempts: u32,
    /// A language model, if there is one.
    pub advisor: Option<Advisor>,
    /// Whether better descriptions are proposed as well.
    pub improve: bool,
}

impl Fuel {
    pub(crate) async fn visit(&self, url: &str) -> Result<Visit> {
        self.visits.visit(&self.reader, url, self.patience).await
    }
}
