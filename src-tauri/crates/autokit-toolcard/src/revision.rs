//! The history of a card: every change is a revision that can be restored.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::identity::CardId;
use crate::lineage::RevisionId;

/// Who made a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
pub struct Author(pub String);

impl Author {
    /// The library's own doing, e.g. loading the starter cards.
    pub fn autokit() -> Author {
        Author("AutoKit".to_owned())
    }

    /// Who holds cards against their pages. What it proposed it takes back when a later check says
    /// otherwise; what anybody else proposed it leaves alone.
    pub fn verifier() -> Author {
        Author("AutoKit verifier".to_owned())
    }
}

/// What a revision did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The card was added by hand.
    Create,
    /// Its fields were changed.
    Edit,
    /// It was removed; the history stays.
    Delete,
    /// An earlier revision was brought back.
    Restore,
    /// It came from a file.
    Import,
    /// A change was taken back.
    Undo,
    /// A proposal was accepted.
    Accept,
}

impl Operation {
    /// The name used in the store.
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

    /// Reads the name used in the store.
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

/// One state of a card, with who, why and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// The card.
    pub card: CardId,
    /// 1 for the first revision of this card, then one more each.
    pub number: u32,
    /// Position in the library's journal; grows with every change to any card.
    pub seq: u64,
    /// The change (one action of a person or job) this revision belongs to.
    pub change: String,
    /// What was done.
    pub operation: Operation,
    /// By whom.
    pub author: Author,
    /// Why, in the author's words.
    pub reason: String,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// The card's JSON text after the change; `None` when it was deleted.
    pub body: Option<String>,
    /// Its name in every library, where it was not given its name here: it came with a bundle.
    pub id: Option<RevisionId>,
    /// Revisions of other libraries that went into it, beside the one before it.
    pub merged: Vec<RevisionId>,
}
