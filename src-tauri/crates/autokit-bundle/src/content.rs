//! The content of a bundle, in either form.

use autokit_toolcard::{
    Author, CardId, Operation, Problem, ReadItem, Revision, RevisionId, Timestamp, Toolcard,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use ts_rs::TS;

/// The format name in the manifest.
pub const FORMAT: &str = "autokit.toolcards";
/// The format version this program writes; later versions are refused.
pub const VERSION: u32 = 1;

/// Metadata of a bundle as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BundleInfo {
    /// Display name.
    pub name: String,
    /// Who made it.
    pub author: String,
    /// Creation time; every bundle has one.
    pub created_at: Option<Timestamp>,
    /// The licence of cards that do not name their own: an SPDX expression or a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Free-text note.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl BundleInfo {
    /// The day of creation in UTC, or an empty string.
    pub fn day(&self) -> String {
        self.created_at.map(Timestamp::date).unwrap_or_default()
    }
}

/// The content of a bundle that is to be written or was just read.
#[derive(Debug, Default)]
pub struct BundleContents {
    /// Metadata of the bundle.
    pub about: BundleInfo,
    /// The cards, ordered by id.
    pub cards: Vec<BundleCard>,
    /// Whether earlier revisions are included.
    pub history: bool,
    /// The model that computed the vectors, if there are any.
    pub vectors: Option<VectorModel>,
    /// Names of products that search should know: `name, other name = what it is`.
    pub names: Vec<String>,
    /// Synonyms that search should know: `word, same word` or `phrase | phrase -> word`.
    pub synonyms: Vec<String>,
}

/// The embedding model behind a bundle's vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct VectorModel {
    /// Identifies the model, including its weights.
    pub model: String,
    /// Dimension of one vector.
    pub dim: u32,
}

/// Where a card came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Provenance {
    /// Who first added it.
    pub author: Author,
    /// When it was added.
    pub at: Timestamp,
    /// How it was added.
    pub operation: Operation,
    /// Its licence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub licence: Option<String>,
}

/// Metadata of a revision: its id, and who made it, how, when and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionMeta {
    /// The revision's id, the same in every library.
    pub id: RevisionId,
    /// The kind of change.
    pub operation: Operation,
    /// Who made it.
    pub author: Author,
    /// Time of the change.
    pub at: Timestamp,
    /// The reason given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Revisions from other libraries that were merged into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<RevisionId>,
}

impl RevisionMeta {
    /// The metadata that a bundle records for a revision with the id `id`.
    pub fn of(revision: &Revision, id: RevisionId) -> RevisionMeta {
        RevisionMeta {
            id,
            operation: revision.operation,
            author: revision.author.clone(),
            at: revision.at,
            reason: revision.reason.clone(),
            merged: revision.merged.clone(),
        }
    }
}

/// An earlier state of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRevision {
    /// Metadata of the revision.
    pub revision: RevisionMeta,
    /// The card as JSON text.
    pub body: String,
}

/// A card of a bundle.
#[derive(Clone, Debug)]
pub struct BundleCard {
    /// Position in the bundle, from 1.
    pub position: usize,
    /// The card's id in the library it comes from.
    pub id: CardId,
    /// The card.
    pub card: Toolcard,
    /// Metadata of its newest revision.
    pub revision: RevisionMeta,
    /// Earlier revisions that are not in `history`, newest first.
    pub ancestors: Vec<RevisionId>,
    /// Earlier states in full, oldest first.
    pub history: Vec<PastRevision>,
    /// Where it came from.
    pub provenance: Provenance,
    /// Its vectors, concatenated row by row.
    pub vectors: Option<Vec<f32>>,
    /// Problems a person should look at.
    pub warnings: Vec<Problem>,
}

impl BundleCard {
    /// A card without a history, for example from a file in another format.
    pub fn from_item(item: ReadItem, by: &Author, at: Timestamp) -> BundleCard {
        let id = item.card.key().id();
        let revision = RevisionMeta {
            id: RevisionId::first(&id, Some(&item.card.to_json())),
            operation: Operation::Import,
            author: by.clone(),
            at,
            reason: String::new(),
            merged: Vec::new(),
        };
        BundleCard {
            position: item.position,
            id,
            revision,
            ancestors: Vec::new(),
            history: Vec::new(),
            provenance: Provenance { author: by.clone(), at, operation: Operation::Import, licence: None },
            vectors: None,
            warnings: item.warnings,
            card: item.card,
        }
    }

    /// The ids of all revisions that led to the newest one, merged revisions included.
    pub fn ancestor_ids(&self) -> impl Iterator<Item = &RevisionId> {
        let history = self.history.iter().rev();
        let history =
            history.flat_map(|past| std::iter::once(&past.revision.id).chain(&past.revision.merged));
        self.revision.merged.iter().chain(history).chain(&self.ancestors)
    }
}

/// One of the JSON Lines files of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BundleFile {
    Cards,
    History,
    Vectors,
}

impl BundleFile {
    pub(crate) const ALL: [BundleFile; 3] = [BundleFile::Cards, BundleFile::History, BundleFile::Vectors];

    pub(crate) fn name(self) -> &'static str {
        match self {
            BundleFile::Cards => "cards.jsonl",
            BundleFile::History => "history.jsonl",
            BundleFile::Vectors => "vectors.jsonl",
        }
    }
}

/// Size and checksum of a file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChecksum {
    /// Name of the file.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

/// `bundle.json`, the manifest: metadata of the bundle and the checksums of its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Metadata of the bundle.
    #[serde(flatten)]
    pub about: BundleInfo,
    /// Number of cards.
    pub cards: u32,
    /// Whether earlier revisions are included.
    pub history: bool,
    /// The model that computed the vectors, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorModel>,
    /// Names of products that search should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Synonyms that search should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<String>,
    /// The other files. Empty for a folder: version control keeps its own checksums, and these would differ
    /// on every branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChecksum>,
}

impl Manifest {
    /// The text of `bundle.json`.
    pub(crate) fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and numbers serialize to JSON");
        text.push('\n');
        text
    }
}

/// A line of `cards.jsonl`.
#[derive(Serialize, Deserialize)]
pub(crate) struct CardLine<'a> {
    pub(crate) id: CardId,
    pub(crate) revision: RevisionMeta,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ancestors: Vec<RevisionId>,
    pub(crate) provenance: Provenance,
    #[serde(borrow)]
    pub(crate) card: &'a RawValue,
}

/// A line of `cards.jsonl` as read. The revision and the provenance are parsed apart, so that a card for which
/// one of them is invalid is rejected alone.
#[derive(Deserialize)]
pub(crate) struct ReadCardLine<'a> {
    pub(crate) id: CardId,
    #[serde(borrow)]
    pub(crate) revision: &'a RawValue,
    #[serde(default)]
    pub(crate) ancestors: Vec<RevisionId>,
    #[serde(borrow)]
    pub(crate) provenance: &'a RawValue,
    #[serde(borrow)]
    pub(crate) card: &'a RawValue,
}

/// A line of `history.jsonl`.
#[derive(Serialize, Deserialize)]
pub(crate) struct HistoryLine<'a> {
    pub(crate) id: CardId,
    pub(crate) revision: RevisionMeta,
    #[serde(borrow)]
    pub(crate) card: &'a RawValue,
}

/// A line of `vectors.jsonl`: little-endian `f32`, row after row, in base64.
#[derive(Serialize, Deserialize)]
pub(crate) struct VectorLine<'a> {
    pub(crate) id: CardId,
    pub(crate) data: std::borrow::Cow<'a, str>,
}
