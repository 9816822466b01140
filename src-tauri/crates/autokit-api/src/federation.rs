//! Several libraries searched at once: the person's own, their teams', published bundles and registries.

use autokit_search::ScoreParts;
use autokit_toolcard::Stub;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Verdict;

/// Kind of library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LibraryKind {
    /// The person's own library.
    Personal,
    /// Replica of a team's library.
    Team,
    /// Published bundle of cards. It is downloaded; search terms stay on this machine.
    Bundle,
    /// Registry of MCP servers. Search terms are sent to it.
    Registry,
}

/// Library that can be searched together with the open one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LibraryEntry {
    /// Id for requests: `personal`, `team:` or `market:` and the id of the team or source.
    pub id: String,
    /// Kind.
    pub kind: LibraryKind,
    /// Display name: of the team, or the address of a source. Empty for the person's own library.
    pub name: String,
    /// Whether it is the library that is open.
    pub open: bool,
    /// Whether searches of all libraries include it.
    pub searched: bool,
}

/// Request to include a library in searches of all libraries, or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LibrarySet {
    /// Library id.
    pub id: String,
    /// Whether searches of all libraries include it.
    pub searched: bool,
}

/// Request to search several libraries at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LibrariesQuery {
    /// Description of the tool, or its name.
    pub query: String,
    /// Maximum number of results, up to 50. Default: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// How long to wait for libraries other than the open one, in milliseconds, up to 30,000. Default: 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub wait_ms: Option<u32>,
    /// Whether to wait until the libraries on this machine are open, before that time begins. Default: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub wait_until_open: Option<bool>,
    /// Whether to leave out registries, to which the query would be sent. Default: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub local: Option<bool>,
}

/// Results of several libraries in one ranking.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LibrariesFound {
    /// The query as received.
    pub query: String,
    /// Whether the first result answers the query, as judged by its library.
    pub verdict: Verdict,
    /// Results, best first.
    pub results: Vec<LibraryHit>,
    /// How each library answered; the open one first.
    pub libraries: Vec<LibraryOutcome>,
    /// Duration in milliseconds.
    pub took_ms: f64,
}

/// Result from one of several libraries.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LibraryHit {
    /// Id of its library.
    pub library: String,
    /// Card id, or id of the offer within its source.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Provider, or an empty string.
    pub provider: String,
    /// Beginning of the description.
    pub description: String,
    /// Documentation address, if any.
    pub documentation: Option<String>,
    /// Import and call of the tool, if known.
    pub stub: Option<Stub>,
    /// Why its texts are flagged as hidden text or instructions to a model; `null` if they are not.
    pub suspect: Option<String>,
    /// Score between 0 and 1, on one scale for all libraries.
    pub score: f32,
    /// Components of the score; `null` for an offer, which is compared by meaning alone.
    pub parts: Option<ScoreParts>,
}

/// State of a library in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LibraryState {
    /// It answered.
    Answered,
    /// It did not answer in time.
    Late,
    /// It could not be searched.
    Failed,
}

/// How a library answered a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct LibraryOutcome {
    /// The library.
    pub library: LibraryEntry,
    /// State.
    pub state: LibraryState,
    /// What went wrong, as a sentence; `null` unless it failed.
    pub error: Option<String>,
    /// Number of results it returned.
    pub found: u32,
    /// Duration in milliseconds.
    pub took_ms: f64,
}
