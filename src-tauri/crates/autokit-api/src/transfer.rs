//! Import and export of cards: sources, previews, results, subscriptions and signing keys.

use autokit_bundle::VectorModel;
use autokit_error::ApiError;
use autokit_toolcard::{CardId, FieldDiff, Problem, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::cards::CardsQuery;

/// Source of cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ImportSource {
    /// File or folder on this machine.
    Path(String),
    /// Pasted text.
    Text(String),
    /// Web address.
    Url(String),
}

/// Effect of an import on one card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// The library does not have the card.
    New,
    /// The source has changes that do not conflict with the library.
    Changed,
    /// Library and source changed the same field to different values.
    Conflicting,
    /// The source has nothing new.
    Identical,
    /// The library does not have the card, but has one that is probably the same tool.
    Similar,
    /// The card cannot be imported.
    Invalid,
}

impl ItemStatus {
    /// All values, in display order.
    pub const ALL: [ItemStatus; 6] = [
        ItemStatus::New,
        ItemStatus::Changed,
        ItemStatus::Conflicting,
        ItemStatus::Similar,
        ItemStatus::Identical,
        ItemStatus::Invalid,
    ];
}

/// Request for a page of the preview of an import.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportPreviewRequest {
    /// The source.
    pub source: ImportSource,
    /// Status of the items to return. Default: all.
    #[serde(default)]
    pub status: Option<ItemStatus>,
    /// Number of items to skip.
    #[serde(default)]
    pub offset: u32,
    /// Maximum number of items, up to 1,000.
    pub limit: u32,
}

/// Field that was changed both in the library and in the source.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct FieldConflict {
    /// Field name.
    pub field: String,
    /// Value in the last common revision, if there is one.
    pub base: Option<Value>,
    /// Value in this library.
    pub ours: Option<Value>,
    /// Value in the source.
    pub theirs: Option<Value>,
}

/// Card of a source, in the preview of an import.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportItem {
    /// Position in the source, starting at 1.
    pub position: u32,
    /// Name, or an empty string.
    pub name: String,
    /// Provider, or an empty string.
    pub provider: String,
    /// Effect of the import on this card.
    pub status: ItemStatus,
    /// Id of the library's card that would change.
    pub card: Option<CardId>,
    /// Errors that prevent the import, or warnings.
    pub problems: Vec<Problem>,
    /// Changes to the library's card, including fields in conflict.
    pub diff: Vec<FieldDiff>,
    /// Fields in conflict.
    pub conflicts: Vec<FieldConflict>,
    /// Cards of the library that may be the same tool, as pairs of id and name.
    pub similar: Vec<(CardId, String)>,
    /// Author of the last change in the source; empty if unknown.
    pub by: String,
    /// Time of the last change in the source, if known.
    pub at: Option<Timestamp>,
    /// Licence, if one is given.
    pub licence: Option<String>,
    /// Whether the library's card is newer than this one.
    pub behind: bool,
    /// Whether a text that is not in the library yet is flagged as hidden text or instructions to a model.
    /// Such a card waits in Review even if the others go to the library.
    pub suspect: bool,
    /// Whether replacing the library's card undoes edits that the source, which has no history, does not have.
    #[serde(default)]
    pub reverts: bool,
}

/// Format of a source or an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Bundle as one file.
    Bundle,
    /// Bundle as a folder, for version control.
    Folder,
    /// JSON array of cards.
    #[default]
    Json,
    /// CSV table.
    Csv,
    /// Servers as configured in MCP clients.
    McpServers,
    /// Server as described in the MCP registry.
    ServerJson,
    /// OpenAPI document: one card per operation.
    OpenApi,
    /// RapidAPI's documentation of an API: one card per endpoint.
    RapidApi,
    /// Markdown catalogue; export only.
    Markdown,
    /// HTML page with a search box; export only.
    Html,
}

impl Trust {
    /// Returns whether the signature differs from earlier bundles of the same author, so that the bundle
    /// should not be imported without review.
    pub fn is_suspicious(self) -> bool {
        matches!(self, Trust::Stripped | Trust::OtherKey)
    }
}

/// Trust in the signature of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// No signature.
    Unsigned,
    /// No signature, although earlier bundles of this author were signed.
    Stripped,
    /// Signed with a key that is trusted here.
    Trusted,
    /// Signed with a key that was seen before and is not marked as trusted.
    Known,
    /// Signed with a key that was never seen here.
    New,
    /// Signed with a different key than earlier bundles of this author.
    OtherKey,
}

/// Signature of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SignatureView {
    /// Trust in the signature.
    pub trust: Trust,
    /// Name of the signer as stated by the signer; empty without a signature.
    pub signer: String,
    /// Public key in Base64; empty without a signature.
    pub key: String,
    /// Fingerprint of the key, for comparison by people; empty without a signature.
    pub fingerprint: String,
}

/// Description of a source.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SourceInfo {
    /// Format.
    pub format: Format,
    /// Name.
    pub name: String,
    /// Author; empty if not given.
    pub author: String,
    /// Time of creation, if given.
    pub created_at: Option<Timestamp>,
    /// Licence of cards that name none.
    pub licence: Option<String>,
    /// Note by the author.
    pub note: String,
    /// Whether the source contains the history of its cards.
    pub history: bool,
    /// Model of its embeddings, if it contains any.
    pub vectors: Option<VectorModel>,
    /// Names and synonyms it contains, as text.
    pub vocabulary: Vec<String>,
    /// How many further names and synonyms cannot be read.
    pub invalid_vocabulary: u32,
    /// Digest of the contents.
    pub digest: String,
    /// Signature of the bundle.
    pub signature: SignatureView,
}

/// Preview of an import.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportPreview {
    /// Description of the source.
    pub about: SourceInfo,
    /// Number of cards that the library does not have.
    pub new: u32,
    /// Number of cards with changes.
    pub changed: u32,
    /// Number of cards with a field in conflict.
    pub conflicting: u32,
    /// Number of cards that the library probably has under another name.
    pub similar: u32,
    /// Number of cards with nothing new.
    pub identical: u32,
    /// Number of cards that cannot be imported.
    pub invalid: u32,
    /// Number of cards with a flagged text that is not in the library yet.
    pub suspect: u32,
    /// How many of the cards with a flagged text the library does not have.
    pub suspect_new: u32,
    /// Number of changed cards of which replacing undoes edits that the source does not have.
    #[serde(default)]
    pub reverting: u32,
    /// Total number of items with the requested status.
    pub total: u32,
    /// Items of the page.
    pub items: Vec<ImportItem>,
}

/// Treatment of cards that the library already has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExistingCards {
    /// Merge the changes of the source; a person decides on fields in conflict.
    #[default]
    Merge,
    /// Store the source's version as a new revision.
    Replace,
    /// Keep the library's version.
    Keep,
}

/// Destination of imported cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Landing {
    /// Review, as proposals.
    Review,
    /// The library, because the person trusts the source. Conflicts and flagged texts wait in Review.
    #[default]
    Library,
}

/// Choice of a person for one card of a source.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ItemChoice {
    /// Position in the source.
    pub position: u32,
    /// Whether to import the card.
    pub take: bool,
    /// Fields to import. Default: all that are not in conflict. For a field in conflict that is listed
    /// here, the source's value is used.
    #[serde(default)]
    pub fields: Option<Vec<String>>,
    /// Fields in conflict to decide in Review, if others are chosen now.
    #[serde(default)]
    pub later: Vec<String>,
    /// Id of the library's card that is the same tool under another name.
    #[serde(default)]
    pub same_as: Option<CardId>,
}

/// Request to import cards in one change, which can be undone.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportRequest {
    /// The source.
    pub source: ImportSource,
    /// Treatment of cards that the library already has.
    #[serde(default)]
    pub existing: ExistingCards,
    /// Destination of the cards.
    #[serde(default)]
    pub landing: Landing,
    /// Whether search should know the names and synonyms of the source as well.
    #[serde(default)]
    pub vocabulary: bool,
    /// Digest of the source that was previewed; the import fails if the source changed since.
    #[serde(default)]
    pub digest: Option<String>,
    /// Choices for single cards; all others are imported.
    #[serde(default)]
    pub choices: Vec<ItemChoice>,
    /// Reason for the import, written by the person.
    #[serde(default)]
    pub reason: String,
}

impl ImportRequest {
    /// Creates a request that imports all of a source to the library and merges it with existing cards.
    pub fn new(source: ImportSource) -> ImportRequest {
        ImportRequest {
            source,
            existing: ExistingCards::default(),
            landing: Landing::default(),
            vocabulary: false,
            digest: None,
            choices: Vec::new(),
            reason: String::new(),
        }
    }
}

/// Import in the list of past imports.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportView {
    /// Id of the import's change, for undo.
    pub import: String,
    /// Whether the import was undone.
    pub undone: bool,
    /// Description of the import.
    pub note: ImportNote,
}

/// Stored description of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportNote {
    /// File, folder or address of the source.
    pub source: String,
    /// Name of the source as stated by itself.
    pub name: String,
    /// Author of the source.
    pub author: String,
    /// Digest of the source's contents.
    pub digest: String,
    /// Fingerprint of the key that signed the source; empty without a signature.
    pub fingerprint: String,
    /// Time of the import.
    pub at: Timestamp,
    /// Person who imported it.
    pub by: String,
    /// Number of cards written or proposed.
    pub cards: u32,
}

/// Reference to an import.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportRef {
    /// Id of the import's change.
    pub import: String,
}

/// Request to export cards.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct ExportRequest {
    /// Filters that select the cards.
    #[serde(default)]
    pub query: CardsQuery,
    /// Ids or names of the cards to export. Default: all that match.
    #[serde(default)]
    pub cards: Option<Vec<String>>,
    /// Ids or names of cards to leave out.
    #[serde(default)]
    pub without: Vec<String>,
    /// File or folder to write. Default: the text is returned.
    #[serde(default)]
    pub path: Option<String>,
    /// Format of the export.
    #[serde(default)]
    pub format: Format,
    /// Whether a bundle includes the history of its cards.
    #[serde(default)]
    pub history: bool,
    /// Whether a bundle includes embeddings of the current model.
    #[serde(default)]
    pub vectors: bool,
    /// Whether a bundle includes the names and synonyms that were added to the library.
    #[serde(default)]
    pub vocabulary: bool,
    /// Whether to sign a bundle with this library's key, which is created if there is none.
    #[serde(default)]
    pub sign: bool,
    /// Name of the export; if empty, the file name.
    #[serde(default)]
    pub name: String,
    /// Licence of cards that name none.
    #[serde(default)]
    pub licence: Option<String>,
    /// Note for the reader.
    #[serde(default)]
    pub note: String,
}

/// Secret that prevents a card from being exported.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SecretFound {
    /// Card id.
    pub card: CardId,
    /// Name of the card.
    pub name: String,
    /// Location of the secret in the card.
    pub field: String,
    /// Kind of secret; never the value.
    pub kind: String,
    /// Whether it occurs only in an earlier revision.
    pub in_history: bool,
}

/// Preview of an export.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExportPreview {
    /// Number of cards.
    pub cards: u32,
    /// Number of earlier revisions.
    pub revisions: u32,
    /// Number of cards with embeddings.
    pub vectors: u32,
    /// Approximate size in bytes before compression.
    pub bytes: u64,
    /// Names of the first cards.
    pub names: Vec<String>,
    /// Number of names and synonyms.
    pub vocabulary: u32,
    /// Secrets that prevent the export.
    pub secrets: Vec<SecretFound>,
}

/// Result of an export.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExportOutcome {
    /// Number of cards written.
    pub cards: u32,
    /// Path of the file, if one was written.
    pub path: Option<String>,
    /// Text of the export, if no file was written.
    pub text: Option<String>,
    /// Digest of a bundle's contents; empty for other formats.
    pub digest: String,
    /// Fingerprint of the key that signed the bundle; empty without a signature.
    pub fingerprint: String,
}

/// Keys that sign bundles.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SigningKeys {
    /// Public part of the person's own key, in Base64; `null` until it is created.
    pub own: Option<String>,
    /// Fingerprint of the person's own key.
    pub own_fingerprint: Option<String>,
    /// Why it is unknown whether there is a key of the person's own: the place of keys does not answer, or refuses.
    #[serde(default)]
    pub own_error: Option<ApiError>,
    /// Keys of others.
    pub known: Vec<KnownKeyView>,
}

/// Key of another person.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct KnownKeyView {
    /// Public key in Base64.
    pub key: String,
    /// Fingerprint of the key, for comparison by people.
    pub fingerprint: String,
    /// Name stated by its owner when the key was first seen.
    pub signer: String,
    /// Time the key was first seen.
    pub first_seen: Timestamp,
    /// Whether a person marked the key as trusted.
    pub trusted: bool,
    /// Authors of the bundles it signed.
    pub authors: Vec<String>,
}

/// Reference to a signing key.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct KeyRef {
    /// Public key in Base64.
    pub key: String,
}

/// Request to trust a signing key or to withdraw the trust.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct KeyTrust {
    /// Public key in Base64.
    pub key: String,
    /// Whether the key is trusted.
    pub trusted: bool,
    /// Name of the owner, for a key that was not seen before.
    #[serde(default)]
    pub signer: String,
}

/// Reference to a bundle on this machine.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BundlePath {
    /// File or folder.
    pub path: String,
}

/// Bundle that is regularly checked for a newer version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Subscription {
    /// Subscription id.
    pub id: String,
    /// File, folder or web address of the bundle.
    pub source: ImportSource,
    /// Hours between two checks.
    pub every_hours: u32,
    /// Destination of new cards and changes.
    pub landing: Landing,
    /// Name of the bundle, once it was read.
    #[serde(default)]
    pub name: String,
    /// Time of the last check.
    #[serde(default)]
    pub checked_at: Option<Timestamp>,
    /// Digest of the version read last.
    #[serde(default)]
    pub digest: Option<String>,
    /// Public key that signed the first version, in Base64. A version that is signed with another key, or
    /// unsigned, is not imported.
    #[serde(default)]
    pub key: Option<String>,
    /// Why the last check failed; `null` if it succeeded.
    #[serde(default)]
    pub failed: Option<String>,
}

/// Request to check a bundle for newer versions regularly.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SubscriptionAdd {
    /// File, folder or web address of the bundle.
    pub source: ImportSource,
    /// Hours between two checks, 1 to 8,760.
    pub every_hours: u32,
    /// Destination of new cards and changes. Default: Review.
    #[serde(default = "in_review")]
    pub landing: Landing,
}

fn in_review() -> Landing {
    Landing::Review
}

/// Reference to a subscription.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SubscriptionRef {
    /// Subscription id.
    pub id: String,
}
