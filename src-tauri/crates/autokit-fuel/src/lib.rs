//! FUEL: keeps cards true (AutoKit FUEL, verifier, fixer, improver).
//!
//! A card is *examined*: its address is visited, the page there is judged (is it about this very tool?),
//! every field is held against it. A card whose page is dead or another's gets candidates from search
//! and from the site itself, each weighed the same way; one that stands out becomes a proposal, and
//! none that does not. Nothing here changes a card: what should change leaves as a
//! [`Draft`](autokit_toolcard::Draft) with the words it rests on.

mod arguments;
mod claims;
mod condition;
mod error;
mod examine;
mod improve;
mod link;
mod marks;
mod model;
mod reading;
mod report;
mod seek;
mod settle;
mod subject;

use std::sync::Arc;
use std::time::Duration;

use autokit_search::QueryEmbedder;
use autokit_web::Fetcher;
use autokit_web::search::Provider;
use tokio::sync::Semaphore;

pub use claims::{Claim, Standing};
pub use condition::Condition;
pub use error::{Error, Result};
pub use examine::Case;
pub use improve::Improved;
pub use link::{LinkHealth, LinkState};
pub use marks::Marks;
pub use model::Advisor;
pub use reading::{Pages, Reading, Visit};
pub use report::{Examined, Judgement, Report, Sought, Weighed};
pub use subject::Subject;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// What examining needs.
#[derive(Clone, Debug)]
pub struct Fuel {
    /// Reads pages.
    pub fetcher: Fetcher,
    /// Search services; none means that only the site itself is asked for its pages.
    pub providers: Vec<Provider>,
    /// Whose turn it is to search: the services let only so many through.
    pub searching: Arc<Semaphore>,
    /// Vectors, if there is a model.
    pub senses: Option<Arc<dyn QueryEmbedder>>,
    /// Pages seen lately; shared by the cards of one run.
    pub pages: Pages,
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
        self.pages.visit(&self.fetcher, self.senses.as_ref(), url, self.patience).await
    }
}
