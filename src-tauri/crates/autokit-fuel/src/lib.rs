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
mod examine;
mod fuel;
mod improve;
mod link;
mod model;
mod report;
mod seek;
mod settle;
mod visits;

pub use autokit_pages::{Error, Result};
pub use claims::{Claim, Standing};
pub use condition::Condition;
pub use examine::Case;
pub use fuel::Fuel;
pub use improve::Improved;
pub use link::{LinkHealth, LinkState};
pub use model::Advisor;
pub use report::{Examined, Judgement, Report, Sought, Weighed};
pub use visits::Visits;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
