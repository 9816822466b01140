//! The interface between the gateway and the engine that finds and calls tools.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use ts_rs::TS;

use crate::context::Definition;
use crate::session::{McpSessionId, SessionRecord};
use crate::settings::Settings;

/// The tier a result comes from (Kaman, section 4); earlier tiers rank before later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Assigned to the profile by a person.
    Expert,
    /// Part of AutoKit.
    System,
    /// From the library.
    Library,
    /// Not installed yet.
    Marketplace,
}

/// A search by an agent.
#[derive(Clone, Debug)]
pub struct Search {
    /// What the agent wants to do.
    pub query: String,
    /// Most results.
    pub limit: usize,
    /// Minimum score of a result.
    pub threshold: f32,
    /// How long a language model may take to rerank the results; zero for no reranking by one.
    pub rerank: Duration,
    /// Profile of the agent; empty for everybody's.
    pub profile: String,
    /// Ids of tools the session always has, whatever the query.
    pub always: HashSet<String>,
}

/// A result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Id of its card, or of one of AutoKit's own tools.
    pub id: String,
    /// The name on its card.
    pub name: String,
    /// The provider of the tool.
    pub provider: String,
    /// What it does, in one line.
    pub summary: String,
    /// The tier it was found in.
    pub tier: Tier,
    /// Between 0 and 1, comparable between searches.
    pub score: f32,
    /// What can be done with it.
    pub kind: HitKind,
}

/// What can be done with a result.
#[derive(Clone, Debug, PartialEq)]
pub enum HitKind {
    /// It can be called.
    Callable(Box<Definition>),
    /// It can be used in code, according to its documentation.
    Reference {
        /// Code or command line that uses it.
        stub: Option<String>,
        /// Where it is documented.
        documentation: Option<String>,
    },
    /// It can be installed by a person.
    Installable {
        /// Facts for the person: category, price, rating, functions.
        facts: Map<String, Value>,
    },
}

/// The outcome of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// The results, best first.
    pub hits: Vec<Hit>,
    /// Notes for the agent on how the search went.
    pub notes: Vec<String>,
    /// Milliseconds per searched tier.
    pub took_ms: Vec<(Tier, f64)>,
}

/// A call to be made.
#[derive(Clone, Debug)]
pub struct Call {
    /// Session it is made in.
    pub session: McpSessionId,
    /// The client program's own name.
    pub client: String,
    /// Profile of the agent.
    pub profile: String,
    /// The tool: a discovered one as it was bound, or one of AutoKit's own.
    pub tool: Target,
    /// The arguments given by the agent.
    pub arguments: Map<String, Value>,
    /// Cancelled when the agent cancels the call or disconnects.
    pub cancel: CancellationToken,
    /// Receives the tool's progress.
    pub progress: tokio::sync::mpsc::Sender<Progress>,
}

/// The tool that is called.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// One of AutoKit's own tools, which every session has.
    Own(String),
    /// A discovered tool.
    Discovered(Box<Definition>),
}

/// The progress of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub done: f64,
    /// Of how much, if known.
    pub total: Option<f64>,
    /// A description of the progress.
    pub message: Option<String>,
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It was not made: the arguments are invalid, or it is not permitted.
    #[error("{0}")]
    Rejected(String),
    /// It failed in transit; a retry may help.
    #[error("{0}")]
    Failed(String),
    /// The agent cancelled it.
    #[error("the call was cancelled")]
    Cancelled,
}

/// An event in a session, for the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Event {
    /// A session began.
    Began {
        /// The client program's own name.
        client: String,
        /// Version of the protocol.
        protocol: String,
    },
    /// A search was answered.
    Searched {
        /// The query.
        query: String,
        /// Ids found, best first.
        found: Vec<String>,
        /// Ids newly bound by it.
        bound: Vec<String>,
        /// Milliseconds in total.
        took_ms: f64,
        /// Milliseconds of each tier.
        tiers: Vec<(Tier, f64)>,
        /// Tokens of the response.
        tokens: u32,
        /// Whether an earlier search found mostly the same.
        repeated: bool,
    },
    /// Tools of past sessions were bound without a search.
    Preloaded {
        /// Ids of their cards.
        tools: Vec<String>,
    },
    /// A tool was called.
    Called {
        /// Id of its card, or name of one of AutoKit's own tools.
        tool: String,
        /// Milliseconds it took.
        took_ms: f64,
        /// Whether it returned a result that is not an error.
        good: bool,
        /// Tokens of the result.
        tokens: u32,
    },
    /// A call for the audit log, in full. Recorded in addition to [`Event::Called`], which is for counting.
    Audited(Box<Audit>),
    /// A tool was removed from a session.
    Gone {
        /// Id of its card.
        tool: String,
        /// Why it was removed.
        why: crate::context::EvictionReason,
    },
}

/// Who decided whether a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The rules of its profile.
    Rules,
    /// A person who was asked.
    Person,
    /// Nobody: no person could be asked, or there was nothing to decide.
    Nobody,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool answered.
    Done,
    /// It was made and failed.
    Failed,
    /// It was refused.
    Refused,
    /// The agent cancelled it or disconnected.
    Cancelled,
}

/// A call in the audit log, which shows what was done and who permitted it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// Id of its card, or name of one of AutoKit's own tools.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The provider of the tool.
    pub provider: String,
    /// Profile of the agent; empty for everybody's.
    pub profile: String,
    /// The client program's own name.
    pub client: String,
    /// Its arguments without secrets and long values; null if it reached no tool.
    pub arguments: Value,
    /// The permissions it needed, in words.
    pub needed: Vec<String>,
    /// Who permitted or refused it.
    pub decided: DecidedBy,
    /// Its outcome.
    pub outcome: CallOutcome,
    /// Why it was refused or failed.
    pub why: String,
    /// Milliseconds it took, including the wait for approval.
    pub took_ms: f64,
}

/// Finds and calls tools.
#[async_trait]
pub trait Toolbox: Send + Sync + 'static {
    /// Returns a counter that changes whenever the tools of some agent may have changed: a card was
    /// deleted, a rule added, a server disconnected.
    fn changes(&self) -> tokio::sync::watch::Receiver<u64>;

    /// Checks that a profile exists.
    ///
    /// # Errors
    /// Why the profile cannot be served.
    fn check_profile(&self, profile: &str) -> Result<(), Refusal>;

    /// Returns AutoKit's own tools that a profile may use, besides `search_tools` and `call_tool`; every
    /// session of it has them.
    fn own_tools(&self, profile: &str) -> Vec<Definition>;

    /// Returns the parameters of a profile's sessions in a client program, given by its own name.
    fn settings(&self, profile: &str, client: &str) -> Arc<Settings>;

    /// Returns the current definitions of the tools that [`Settings::always`] names for a profile, without
    /// those that cannot be called.
    async fn always(&self, profile: &str) -> Vec<Definition>;

    /// Returns at most `limit` tools that past sessions of a profile called, likeliest first: in general, or those with a
    /// first search like `query`.
    async fn preload(&self, profile: &str, query: Option<&str>, limit: usize) -> Vec<Definition>;

    /// Searches all tiers the profile may see.
    async fn search(&self, search: Search) -> Result<SearchResults, Refusal>;

    /// Returns the current version of a definition, by id or, if that is gone, by provider and name; `None`
    /// if the tool is gone or can no longer be called.
    async fn resolve(&self, definition: &Definition, profile: &str) -> Result<Option<Definition>, Refusal>;

    /// Calls a tool.
    async fn call(&self, call: Call) -> Result<CallToolResult, Refusal>;

    /// Returns the names of tools that may replace one that is called in a loop.
    async fn alternatives(&self, definition: &Definition, profile: &str) -> Vec<String>;

    /// Records an event. Does not block.
    fn record_event(&self, session: &McpSessionId, event: Event);

    /// Saves the state of a session, for after a restart: soon if its tools changed, or else eventually.
    /// Does not block.
    fn save_session(&self, session: SessionRecord, soon: bool);

    /// Loads a saved session.
    async fn load_session(&self, id: &McpSessionId) -> Option<SessionRecord>;
}
