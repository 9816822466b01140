//! What a bundle holds, whatever form it comes in.

use autokit_toolcard::{Author, CardId, Operation, Problem, ReadItem, Revision, RevisionId, Toolcard};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use ts_rs::TS;

/// What a bundle calls itself.
pub const FORMAT: &str = "autokit.toolcards";
/// The version of the format this program writes; later ones are refused.
pub const VERSION: u32 = 1;

/// What is said about a bundle as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct About {
    /// What people call it.
    pub name: String,
    /// Who made it.
    pub author: String,
    /// When, RFC 3339 in UTC.
    pub created_at: String,
    /// The licence of cards that name none: an SPDX expression or a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Whatever else there is to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl About {
    /// The day it was made, or an empty text.
    pub fn day(&self) -> &str {
        self.created_at.get(..10).unwrap_or_default()
    }
}

/// A bundle, ready to be written or just read.
#[derive(Debug, Default)]
pub struct Contents {
    /// What is said about it.
    pub about: About,
    /// The cards, by id.
    pub cards: Vec<Entry>,
    /// Whether earlier revisions are in it.
    pub history: bool,
    /// The model its vectors were made with, if it holds any.
    pub vectors: Option<VectorModel>,
}

/// What the vectors of a bundle were made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct VectorModel {
    /// Identity of the model, weights included.
    pub model: String,
    /// Length of one vector.
    pub dim: u32,
}

/// Where a card came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Provenance {
    /// Who added it first.
    pub author: Author,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// How.
    pub operation: Operation,
    /// Its licence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub licence: Option<String>,
}

/// Who made a revision, how, when and why, with the name it has everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The name.
    pub id: RevisionId,
    /// What was done.
    pub operation: Operation,
    /// By whom.
    pub author: Author,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Revisions of other libraries that went into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<RevisionId>,
}

impl Step {
    /// What a bundle tells of a revision that is named `id`.
    pub fn of(revision: &Revision, id: RevisionId) -> Step {
        Step {
            id,
            operation: revision.operation,
            author: revision.author.clone(),
            at: revision.at.clone(),
            reason: revision.reason.clone(),
            merged: revision.merged.clone(),
        }
    }
}

/// An earlier state of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Its revision.
    pub step: Step,
    /// The card as JSON text.
    pub body: String,
}

/// A card of a bundle.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it stands in the bundle, from 1.
    pub position: usize,
    /// Its id where it comes from.
    pub id: CardId,
    /// The card.
    pub card: Toolcard,
    /// Its newest revision.
    pub step: Step,
    /// The revisions before that, newest first, as far as they are not in `history`.
    pub ancestors: Vec<RevisionId>,
    /// Earlier states, oldest first.
    pub history: Vec<Past>,
    /// Where it came from.
    pub provenance: Provenance,
    /// Its vectors, row after row.
    pub vectors: Option<Vec<f32>>,
    /// What a person should look at.
    pub warnings: Vec<Problem>,
}

impl Entry {
    /// A card that comes without a history, as from a file of another format.
    pub fn plain(item: ReadItem, by: &Author, at: &str) -> Entry {
        let id = item.card.key().id();
        let step = Step {
            id: RevisionId::first(&id, Some(&item.card.to_json())),
            operation: Operation::Import,
            author: by.clone(),
            at: at.to_owned(),
            reason: String::new(),
            merged: Vec::new(),
        };
        Entry {
            position: item.position,
            id,
            step,
            ancestors: Vec::new(),
            history: Vec::new(),
            provenance: Provenance {
                author: by.clone(),
                at: at.to_owned(),
                operation: Operation::Import,
                licence: None,
            },
            vectors: None,
            warnings: item.warnings,
            card: item.card,
        }
    }

    /// The names of everything that went into it before its newest revision.
    pub fn before(&self) -> impl Iterator<Item = &RevisionId> {
        let history = self.history.iter().rev();
        let history = history.flat_map(|past| std::iter::once(&past.step.id).chain(&past.step.merged));
        self.step.merged.iter().chain(history).chain(&self.ancestors)
    }
}

/// A file of a bundle: what it is called, and how its lines are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Cards,
    History,
    Vectors,
}

impl Part {
    pub(crate) const ALL: [Part; 3] = [Part::Cards, Part::History, Part::Vectors];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Cards => "cards.jsonl",
            Part::History => "history.jsonl",
            Part::Vectors => "vectors.jsonl",
        }
    }
}

/// Size and checksum of a file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// What it is called.
    pub name: String,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

/// `bundle.json`: what a bundle says about itself, and the checksums of the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// What is said about it.
    #[serde(flatten)]
    pub about: About,
    /// How many cards it holds.
    pub cards: u32,
    /// Whether earlier revisions are in it.
    pub history: bool,
    /// The model its vectors were made with, if it holds any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorModel>,
    /// The other files. A folder leaves them out: a version control keeps checksums of its own, and
    /// these would differ in every branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileSum>,
}

impl Manifest {
    /// As the text of `bundle.json`.
    pub(crate) fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and numbers are JSON");
        text.push('\n');
        text
    }
}

/// A line of `cards.jsonl`.
#[derive(Serialize, Deserialize)]
pub(crate) struct CardLine<'a> {
    pub(crate) id: CardId,
    pub(crate) revision: Step,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ancestors: Vec<RevisionId>,
    pub(crate) provenance: Provenance,
    #[serde(borrow)]
    pub(crate) card: &'a RawValue,
}

/// A line of `history.jsonl`.
#[derive(Serialize, Deserialize)]
pub(crate) struct PastLine<'a> {
    pub(crate) id: CardId,
    pub(crate) revision: Step,
    #[serde(borrow)]
    pub(crate) card: &'a RawValue,
}

/// A line of `vectors.jsonl`: little-endian `f32`, row after row, in base64.
#[derive(Serialize, Deserialize)]
pub(crate) struct VectorLine<'a> {
    pub(crate) id: CardId,
    pub(crate) data: std::borrow::Cow<'a, str>,
}
