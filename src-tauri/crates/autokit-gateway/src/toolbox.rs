//! What the gateway stands in front of: whoever knows the tools, finds them and calls them.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use ts_rs::TS;

use crate::context::Definition;
use crate::session::SessionRecord;
use crate::settings::Settings;

/// Where a result comes from (Kaman, section 4); earlier ones win over later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Assigned to the profile by a person.
    Expert,
    /// Part of AutoKit.
    System,
    /// From the library.
    Library,
    /// Not here yet; can be installed.
    Marketplace,
}

/// A search by an agent.
#[derive(Clone, Debug)]
pub struct Search {
    /// What the agent wants to do.
    pub query: String,
    /// Results at most.
    pub limit: usize,
    /// Score below which nothing is a result.
    pub threshold: f32,
    /// Profile of the agent; empty for the one everybody has.
    pub profile: String,
    /// Ids of tools the session has whatever is searched for.
    pub always: HashSet<String>,
}

/// One result.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Id of its card, or of a tool of AutoKit's own.
    pub id: String,
    /// Its name on its card.
    pub name: String,
    /// Who offers it.
    pub provider: String,
    /// What it does, in one line.
    pub line: String,
    /// Where it was found.
    pub tier: Tier,
    /// Between 0 and 1, comparable between searches.
    pub score: f32,
    /// What can be done with it.
    pub what: What,
}

/// What can be done with a result.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// It can be called from here.
    Callable(Box<Definition>),
    /// It can be read about and used in code.
    Reference {
        /// Code or command line that uses it.
        stub: Option<String>,
        /// Where it is documented.
        documentation: Option<String>,
    },
    /// It can be installed by a person.
    Installable {
        /// What the person is shown: category, price, rating, functions.
        facts: Map<String, Value>,
    },
}

/// What a search gave.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// What the agent should know about how it was searched.
    pub notes: Vec<String>,
    /// Milliseconds each tier took that was searched.
    pub took_ms: Vec<(Tier, f64)>,
}

/// A call on its way.
#[derive(Debug)]
pub struct Call {
    /// Session it is made in.
    pub session: String,
    /// The program the agent runs in, as it calls itself.
    pub client: String,
    /// Profile of the agent.
    pub profile: String,
    /// The tool: a discovered one as it was bound, or one of AutoKit's own.
    pub tool: Target,
    /// As the agent gave them.
    pub arguments: Map<String, Value>,
    /// Cancelled when the agent takes the call back or is gone.
    pub cancel: CancellationToken,
    /// Takes what the tool tells on its way.
    pub progress: tokio::sync::mpsc::Sender<Progress>,
}

/// What is called.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// One of AutoKit's own tools that every session has.
    Own(String),
    /// A discovered tool.
    Discovered(Box<Definition>),
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub done: f64,
    /// Of how much, if it is known.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// Why a call has no result of its own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It was not made: the arguments do not fit, or it is not permitted.
    #[error("{0}")]
    NotMade(String),
    /// It failed on its way; to try again may help.
    #[error("{0}")]
    Failed(String),
    /// The agent took it back.
    #[error("the call was taken back")]
    Cancelled,
}

/// What happened, for whoever keeps count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Event {
    /// A session began.
    Began {
        /// The program the agent runs in, as it calls itself.
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
        /// Ids bound by it that were not before.
        bound: Vec<String>,
        /// Milliseconds in all, and of each tier.
        took_ms: f64,
        /// Milliseconds of each tier.
        tiers: Vec<(Tier, f64)>,
        /// Tokens of the answer.
        tokens: u32,
        /// Whether it found what an earlier search had found.
        repeated: bool,
    },
    /// A tool was called.
    Called {
        /// Id of its card, or name of an own tool.
        tool: String,
        /// Milliseconds.
        took_ms: f64,
        /// Whether it gave a result that is no error.
        good: bool,
        /// Tokens of the result.
        tokens: u32,
    },
    /// A tool was called, told in full for the audit. Beside [`Event::Called`], which is counted.
    Audited(Box<Audit>),
    /// A tool was let go.
    Gone {
        /// Id of its card.
        tool: String,
        /// Why.
        why: crate::context::Gone,
    },
}

/// Who let a call be made, or did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The rules of its profile.
    Rules,
    /// A person who was asked.
    Person,
    /// Nobody: there was nobody to ask, or nothing to decide on.
    Nobody,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool answered.
    Done,
    /// It was made, and failed.
    Failed,
    /// It was not made.
    Refused,
    /// The agent took it back, or went away.
    Cancelled,
}

/// One call, for whoever looks later at what was done and who let it be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// Id of its card, or name of an own tool.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Who offers it.
    pub provider: String,
    /// Profile of the agent; empty for the one everybody has.
    pub profile: String,
    /// The program the agent runs in, as it calls itself.
    pub client: String,
    /// Its arguments without what is secret or long; null where it came to no tool.
    pub arguments: Value,
    /// What it needed, in words.
    pub needed: Vec<String>,
    /// Who let it be done or did not.
    pub decided: DecidedBy,
    /// What came of it.
    pub outcome: CallOutcome,
    /// Why it was refused or failed.
    pub why: String,
    /// Milliseconds, a person's answer included.
    pub took_ms: f64,
}

/// Finds and calls tools.
pub trait Toolbox: Send + Sync + 'static {
    /// Changes whenever the tools of some agent may have changed: a card was removed, a rule added, a server
    /// disconnected.
    fn changes(&self) -> tokio::sync::watch::Receiver<u64>;

    /// Whether a profile may be served at all: not one that does not exist.
    ///
    /// # Errors
    /// Why not.
    fn admits(&self, profile: &str) -> Result<(), Refusal>;

    /// AutoKit's own tools besides `search_tools` and `call_tool` that a profile may use, as every session
    /// of it has them.
    fn own_tools(&self, profile: &str) -> Vec<Definition>;

    /// Parameters of the sessions of a profile in a program, which says itself what it is called.
    fn settings(&self, profile: &str, client: &str) -> Arc<Settings>;

    /// The tools that [`Settings::always`] names for a profile, as they are now; what cannot be called is
    /// left out.
    fn always(&self, profile: &str) -> impl Future<Output = Vec<Definition>> + Send;

    /// Searches all tiers the profile may see.
    fn search(&self, search: Search) -> impl Future<Output = Result<Found, Refusal>> + Send;

    /// The definition as it is now, by id and, when that is gone, by provider and name; none if it is gone
    /// or can no longer be called.
    fn resolve(
        &self,
        definition: &Definition,
        profile: &str,
    ) -> impl Future<Output = Result<Option<Definition>, Refusal>> + Send;

    /// Calls a tool.
    fn call(&self, call: Call) -> impl Future<Output = Result<CallToolResult, Refusal>> + Send;

    /// Names of tools that may do instead of one that is called in a loop.
    fn alternatives(
        &self,
        definition: &Definition,
        profile: &str,
    ) -> impl Future<Output = Vec<String>> + Send;

    /// Keeps count of what happened. Does not wait.
    fn note(&self, session: &str, event: Event);

    /// Keeps a session as it stands, for after a restart; soon if its tools are others than before, else
    /// when there is time. Does not wait.
    fn keep(&self, session: SessionRecord, soon: bool);

    /// A session that was kept.
    fn kept(&self, id: &str) -> impl Future<Output = Option<SessionRecord>> + Send;
}
