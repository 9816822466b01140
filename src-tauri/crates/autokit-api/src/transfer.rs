//! Cards in and out: files, bundles, what would happen, what happened.

use autokit_bundle::VectorModel;
use autokit_toolcard::{CardId, FieldDiff, Problem};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::cards::CardsQuery;

/// Where cards come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ImportSource {
    /// A file or a folder on this machine.
    Path(String),
    /// Pasted text.
    Text(String),
    /// An address on the web.
    Url(String),
}

/// What an import would do to one card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// The library has no such card.
    New,
    /// There is something new in it, and nothing of the library's own is in the way.
    Changed,
    /// Both changed the same field, each to something else.
    Conflicting,
    /// The library has all that is in it.
    Identical,
    /// The library has no such card, but one that is probably the same tool.
    Similar,
    /// It cannot be taken.
    Invalid,
}

impl ItemStatus {
    /// All of them, in the order they are shown.
    pub const ALL: [ItemStatus; 6] = [
        ItemStatus::New,
        ItemStatus::Changed,
        ItemStatus::Conflicting,
        ItemStatus::Similar,
        ItemStatus::Identical,
        ItemStatus::Invalid,
    ];
}

/// Asks what an import would do.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportPreviewRequest {
    /// The source.
    pub source: ImportSource,
    /// Only items of this status.
    #[serde(default)]
    pub status: Option<ItemStatus>,
    /// Items to skip.
    #[serde(default)]
    pub offset: u32,
    /// Items to return; at most 1,000 in one answer.
    pub limit: u32,
}

/// A field both libraries changed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct FieldConflict {
    /// Its name.
    pub field: String,
    /// What it was when both had the same, if such a state is known.
    pub base: Option<Value>,
    /// What this library has.
    pub ours: Option<Value>,
    /// What the source has.
    pub theirs: Option<Value>,
}

/// One card of a source.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportItem {
    /// Position in the source, from 1.
    pub position: u32,
    /// Name, as far as it has one.
    pub name: String,
    /// Provider, or an empty string.
    pub provider: String,
    /// What would happen.
    pub status: ItemStatus,
    /// The card of the library it would change.
    pub card: Option<CardId>,
    /// Why it cannot be taken, or what to look at.
    pub problems: Vec<Problem>,
    /// What would change, disputed fields included.
    pub diff: Vec<FieldDiff>,
    /// Fields both changed.
    pub conflicts: Vec<FieldConflict>,
    /// Cards of the library that may be the same tool: id and name.
    pub similar: Vec<(String, String)>,
    /// Who changed it last where it comes from, and when, where that is told.
    pub by: String,
    /// When, RFC 3339 in UTC; empty where it is not told.
    pub at: String,
    /// Its licence, where one is named.
    pub licence: Option<String>,
    /// The library's card is newer than this one.
    pub behind: bool,
    /// A text that is new with it hides something or gives orders to a model: it waits in Review, wherever the
    /// rest goes.
    pub suspect: bool,
}

/// The format of a source or of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A bundle: one file.
    Bundle,
    /// A bundle: a folder for version control.
    Folder,
    /// An array of cards.
    #[default]
    Json,
    /// A table.
    Csv,
    /// Servers as MCP clients configure them.
    McpServers,
    /// A server as the MCP registry describes it.
    ServerJson,
    /// An OpenAPI document: a card for each operation.
    OpenApi,
    /// RapidAPI's documentation of an API: a card for each endpoint.
    RapidApi,
    /// A catalogue to read; only out.
    Markdown,
    /// A page to search; only out.
    Html,
}

impl Trust {
    /// Whether something is not as earlier bundles of the same author were: nobody should take it over
    /// unseen.
    pub fn is_suspicious(self) -> bool {
        matches!(self, Trust::Stripped | Trust::OtherKey)
    }
}

/// How far a signature can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Nobody signed it.
    Unsigned,
    /// Nobody signed it, although earlier bundles of this author were.
    Stripped,
    /// By a key that is trusted here.
    Trusted,
    /// By a key that was seen before and neither trusted nor refused.
    Known,
    /// By a key that was never seen here.
    New,
    /// By another key than earlier bundles of this author.
    OtherKey,
}

/// Who signed a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SignatureView {
    /// How far it can be relied on.
    pub trust: Trust,
    /// What whoever signed calls themselves; empty when nobody did.
    pub signer: String,
    /// The key, in base64; empty when nobody signed.
    pub key: String,
    /// What people compare of the key.
    pub fingerprint: String,
}

/// What a source is.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SourceInfo {
    /// Its format.
    pub format: Format,
    /// What it is called.
    pub name: String,
    /// Who made it; empty where it does not say.
    pub author: String,
    /// When, RFC 3339 in UTC; empty where it does not say.
    pub created_at: String,
    /// The licence of cards that name none.
    pub licence: Option<String>,
    /// What else is said about it.
    pub note: String,
    /// Whether the history of cards comes along.
    pub history: bool,
    /// What its vectors were made with, if it holds any.
    pub vectors: Option<VectorModel>,
    /// Names what it says, checksums included.
    pub digest: String,
    /// Who signed it.
    pub signature: SignatureView,
}

/// What an import would do.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportPreview {
    /// What the source is.
    pub about: SourceInfo,
    /// Cards the library does not have.
    pub new: u32,
    /// Cards with something new.
    pub changed: u32,
    /// Cards both changed in the same field.
    pub conflicting: u32,
    /// Cards that are probably there under another name.
    pub similar: u32,
    /// Cards with nothing new.
    pub identical: u32,
    /// Cards that cannot be taken.
    pub invalid: u32,
    /// Cards that bring a suspect text.
    pub suspect: u32,
    /// Of those, the ones the library does not have.
    pub suspect_new: u32,
    /// Items of the status asked for, in all.
    pub total: u32,
    /// The items asked for.
    pub items: Vec<ImportItem>,
}

/// What happens to cards the library has already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExistingCards {
    /// What the source changed is taken over; where both changed a field, a person decides.
    Merge,
    /// The source's version becomes a new revision.
    #[default]
    Replace,
    /// The library's version stays.
    Keep,
}

/// Where imported cards go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Landing {
    /// Into Review, as proposals.
    Review,
    /// Into the library at once: the person trusts the source. What is in conflict waits in Review.
    #[default]
    Library,
}

/// What a person chose for one card of a source.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ItemChoice {
    /// Its position in the source.
    pub position: u32,
    /// Whether it is taken at all.
    pub take: bool,
    /// The fields to take; all that are not in conflict when not given. A field in conflict that is named
    /// here is decided: the source's value is taken.
    #[serde(default)]
    pub fields: Option<Vec<String>>,
    /// Fields in conflict that are decided in Review, where others are chosen.
    #[serde(default)]
    pub later: Vec<String>,
    /// The card of the library it is, under another name.
    #[serde(default)]
    pub same_as: Option<String>,
}

/// Imports cards in one undoable change.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportRequest {
    /// The source.
    pub source: ImportSource,
    /// What to do with cards the library has.
    #[serde(default)]
    pub existing: ExistingCards,
    /// Where the cards go.
    #[serde(default)]
    pub landing: Landing,
    /// The digest of the source that was looked at; another one is refused.
    #[serde(default)]
    pub digest: Option<String>,
    /// What was chosen for single cards; the others are taken.
    #[serde(default)]
    pub choices: Vec<ItemChoice>,
    /// Why, in the person's words.
    #[serde(default)]
    pub reason: String,
}

impl ImportRequest {
    /// All of a source, straight into the library, in place of cards that are there.
    pub fn new(source: ImportSource) -> ImportRequest {
        ImportRequest {
            source,
            existing: ExistingCards::default(),
            landing: Landing::default(),
            digest: None,
            choices: Vec::new(),
            reason: String::new(),
        }
    }
}

/// An import that was made.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportView {
    /// The change by which it is undone.
    pub import: String,
    /// Whether it was.
    pub undone: bool,
    /// What there is to know about it.
    pub note: ImportNote,
}

/// What is kept of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportNote {
    /// Where it came from: a file, a folder, an address.
    pub source: String,
    /// What it calls itself.
    pub name: String,
    /// Who made it.
    pub author: String,
    /// Names what it said.
    pub digest: String,
    /// What people compare of the key it was signed with; empty when nobody signed.
    pub fingerprint: String,
    /// When it was imported, RFC 3339 in UTC.
    pub at: String,
    /// By whom.
    pub by: String,
    /// Cards written or proposed.
    pub cards: u32,
}

/// Names an import.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportRef {
    /// The change by which it is undone.
    pub import: String,
}

/// Which cards leave, in what form.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ExportRequest {
    /// Which cards.
    #[serde(default)]
    pub query: CardsQuery,
    /// Only these ids, when given.
    #[serde(default)]
    pub cards: Option<Vec<String>>,
    /// Ids to leave out.
    #[serde(default)]
    pub without: Vec<String>,
    /// The file or folder to write; text is returned when not given.
    #[serde(default)]
    pub path: Option<String>,
    /// The format.
    #[serde(default)]
    pub format: Format,
    /// Of a bundle: with the history of cards.
    #[serde(default)]
    pub history: bool,
    /// Of a bundle: with the vectors of the present model.
    #[serde(default)]
    pub vectors: bool,
    /// Of a bundle: signed with this library's key, which is made if there is none.
    #[serde(default)]
    pub sign: bool,
    /// What it is called; as its file when empty.
    #[serde(default)]
    pub name: String,
    /// The licence of cards that name none.
    #[serde(default)]
    pub licence: Option<String>,
    /// What else there is to say.
    #[serde(default)]
    pub note: String,
}

/// A value that keeps a card from leaving.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SecretFound {
    /// The card.
    pub card: CardId,
    /// Its name.
    pub name: String,
    /// Where in it.
    pub field: String,
    /// What it looks like; never the value.
    pub kind: String,
    /// Whether it is in an earlier revision only.
    pub in_history: bool,
}

/// What would leave.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExportPreview {
    /// Cards.
    pub cards: u32,
    /// Earlier revisions.
    pub revisions: u32,
    /// Cards with vectors.
    pub vectors: u32,
    /// Bytes, about, before they are packed.
    pub bytes: u64,
    /// Names of the first cards.
    pub names: Vec<String>,
    /// What keeps cards from leaving.
    pub secrets: Vec<SecretFound>,
}

/// What was exported.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExportOutcome {
    /// Cards written.
    pub cards: u32,
    /// The file, if one was written.
    pub path: Option<String>,
    /// The text, if not.
    pub text: Option<String>,
    /// Names what a bundle says; empty for other formats.
    pub digest: String,
    /// The key it was signed with; empty when it was not.
    pub fingerprint: String,
}

/// Keys that sign bundles.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SigningKeys {
    /// The public part of this person's own key, in base64; none before something is signed.
    pub own: Option<String>,
    /// What people compare of it.
    pub own_fingerprint: Option<String>,
    /// The keys of others.
    pub known: Vec<KnownKeyView>,
}

/// Somebody's key.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct KnownKeyView {
    /// In base64.
    pub key: String,
    /// What people compare of it.
    pub fingerprint: String,
    /// What its owner called themselves when it was first seen.
    pub signer: String,
    /// When that was, RFC 3339 in UTC.
    pub first_seen: String,
    /// Whether a person said that it counts.
    pub trusted: bool,
    /// Authors of the bundles it signed.
    pub authors: Vec<String>,
}

/// Names a key.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct KeyRef {
    /// In base64.
    pub key: String,
}

/// Says whether a key counts.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct KeyTrust {
    /// In base64.
    pub key: String,
    /// Whether it does.
    pub trusted: bool,
    /// Whose it is, for a key that was not seen before.
    #[serde(default)]
    pub signer: String,
}

/// Names a bundle on this machine.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BundlePath {
    /// The file or folder.
    pub path: String,
}

/// A bundle that is looked at for a newer version now and then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Subscription {
    /// Names it.
    pub id: String,
    /// Where it is: a file or folder of this machine, or an address.
    pub source: ImportSource,
    /// Hours between two looks.
    pub every_hours: u32,
    /// Where what is new goes.
    pub landing: Landing,
    /// What the bundle calls itself, once it was read.
    #[serde(default)]
    pub name: String,
    /// When it was looked at last, RFC 3339 in UTC.
    #[serde(default)]
    pub checked_at: Option<String>,
    /// Names what it said then.
    #[serde(default)]
    pub digest: Option<String>,
    /// The key it was signed with the first time, in base64. A version signed with another one, or not
    /// at all, is not brought in.
    #[serde(default)]
    pub key: Option<String>,
    /// Why the last look failed, if it did.
    #[serde(default)]
    pub failed: Option<String>,
}

/// Looks at a bundle for a newer version now and then.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Subscribe {
    /// Where it is.
    pub source: ImportSource,
    /// Hours between two looks, from 1 to 8,760.
    pub every_hours: u32,
    /// Where what is new goes.
    #[serde(default = "in_review")]
    pub landing: Landing,
}

fn in_review() -> Landing {
    Landing::Review
}

/// Names a subscription.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SubscriptionRef {
    /// Its id.
    pub id: String,
}
