//! History of a card: every change is a revision that can be restored.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::identity::CardId;
use crate::lineage::RevisionId;
use crate::time::Timestamp;

/// Author of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
pub struct Author(pub String);

impl Author {
    /// The author of AutoKit's own changes, e.g. loading the starter cards.
    pub fn autokit() -> Author {
        Author("AutoKit".to_owned())
    }

    /// The author of proposals by the verifier, which checks cards against their pages. It withdraws its own
    /// proposals when a later check contradicts them, and leaves those of others alone.
    pub fn verifier() -> Author {
        Author("AutoKit verifier".to_owned())
    }
}

/// The operation that made a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The card was added by hand.
    Create,
    /// Its fields were changed.
    Edit,
    /// It was deleted; its history stays.
    Delete,
    /// An earlier revision was restored.
    Restore,
    /// It was imported from a file.
    Import,
    /// A change was undone.
    Undo,
    /// A proposal was accepted.
    Accept,
}

impl Operation {
    /// Returns the name used in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Edit => "edit",
            Operation::Delete => "delete",
            Operation::Restore => "restore",
            Operation::Import => "import",
            Operation::Undo => "undo",
            Operation::Accept => "accept",
        }
    }

    /// Parses the name used in the store.
    pub fn parse(text: &str) -> Option<Operation> {
        [
            Operation::Create,
            Operation::Edit,
            Operation::Delete,
            Operation::Restore,
            Operation::Import,
            Operation::Undo,
            Operation::Accept,
        ]
        .into_iter()
        .find(|operation| operation.as_str() == text)
    }
}

/// One revision of a card, with author, reason and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// The card.
    pub card: CardId,
    /// Number of the revision: 1 for the card's first, then counting up.
    pub number: u32,
    /// Position in the library's journal, which counts every change to any card.
    pub seq: u64,
    /// The change (one action of a person or job) this revision belongs to.
    pub change: String,
    /// The operation.
    pub operation: Operation,
    /// The author.
    pub author: Author,
    /// The reason, in the author's words.
    pub reason: String,
    /// When it was made.
    pub at: Timestamp,
    /// The card's JSON text after the change; `None` when it was deleted.
    pub body: Option<String>,
    /// Its id in every library, if it came with a bundle; otherwise the id is computed.
    pub id: Option<RevisionId>,
    /// Revisions of other libraries merged into it, in addition to its predecessor.
    pub merged: Vec<RevisionId>,
}
