//! What a library keeps in memory: its current cards, and snapshots of what took time to compute from them.
//!
//! * [`Replica`] holds the current cards, as of a position in the journal of revisions, and [`Checks`] their newest checks.
//! * [`snapshot`] stores what is in memory in a checksummed file, so that a process that only answers one question does
//!   not read and analyze every card. The store stays the only source of truth: a snapshot is removed before anything it
//!   was made of changes, and one that is damaged or of another version is ignored.

mod checks;
mod replica;
pub mod snapshot;
mod snapshots;

pub use crate::checks::{Checks, HealthCounts, HealthDay, LastCheck, Verification};
pub use crate::replica::{CardRecord, REPLICA_FORMAT, Replica};
pub use crate::snapshots::Snapshots;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
