//! The library of toolcards in an embedded SurrealDB.
//!
//! * [`Library`] is the open store. Every change writes cards, revisions and related rows atomically: in one
//!   transaction or, when it is too large for one, through a redo log that is completed after a crash.
//! * [`Replica`] holds the current cards in memory, kept up to date by a cursor over the journal of
//!   revisions. SurrealDB remains the only source of truth.
//!
//! SurrealDB objects do not preserve key order, so a card is stored as its JSON text next to the columns the
//! database needs for uniqueness and access.

mod backup;
mod error;
mod health;
mod history;
mod import;
mod integrity;
mod memory;
mod migrate;
mod open;
mod pages;
mod problems;
mod proposals;
mod purge;
mod queue;
mod redo;
mod restore;
mod rows;
mod shared;
mod snapshot;
mod step;
mod store;
mod stored_replica;
mod undo;
mod vectors;
mod vocabulary;
mod write;

pub use autokit_replica::{CardRecord, Checks, HealthCounts, HealthDay, LastCheck, Replica, Verification};
pub use autokit_store::{DataDir, Ownership, StoreError};
pub use autokit_toolcard::Clock;

pub use autokit_commit_log::MissingCommits;
pub use backup::{Backup, list_backups, open_backup, verify_backup};
pub use error::{Code, LibraryError, Result};
pub use history::EditedCard;
pub use import::{
    ForeignState, ImportRecord, ImportResult, ImportedCard, ImportedRevision, LibraryImport, OnProgress,
};
pub use memory::{Feedback, SessionNote};
pub use migrate::SCHEMA_VERSION;
pub use pages::{Page, PageChunk, PageVectors};
pub use problems::{Problem, Verified};
pub use proposals::shared::{ProposalLink, ReceivedComment, ReceivedProposal};
pub use proposals::{Acceptance, Accepted, Proposed, Selection};
pub use restore::{Restored, Staged, place_backup, restore_backup, stage_backup};
pub use shared::{Attribution, ReceivedCard, SharedState, TeamNote, TeamRules};
pub use store::{ChangeObserver, Library, Storage};
pub use stored_replica::HeldChanges;
pub use vectors::{PackedVectors, StoredVectors};
pub use vocabulary::{VocabularyEntry, entry_id};
pub use write::{Committed, Meta, PutMode, Undone, Write};
