//! FUEL: keeps cards correct (AutoKit FUEL: verifier, fixer, improver).
//!
//! To *examine* a card, its documentation URL is fetched, the page is judged (is it about this very tool?),
//! and every field is checked against it. If the page is dead or about something else, candidates come from
//! web search and from the site itself, and each is scored the same way; one that stands out becomes a
//! proposal, otherwise none does. Nothing here changes a card: suggested changes are returned as a
//! [`Draft`](autokit_toolcard::Draft) with supporting quotes.

mod arguments;
mod asks_for;
mod claims;
mod condition;
mod examine;
mod fuel;
mod improve;
mod link;
mod model;
mod report;
mod repository;
mod seek;
mod settle;
mod usage;
mod visits;

pub use autokit_pages::{Error, Result};
pub use claims::{Claim, ClaimVerdict};
pub use condition::Condition;
pub use examine::CheckRequest;
pub use fuel::Fuel;
pub use improve::Improved;
pub use link::{LinkHealth, LinkState};
pub use model::Advisor;
pub use report::{Examination, Judgement, PageSearchOutcome, Report, RepositoryNote, ScoredPage};
pub use visits::Visits;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
