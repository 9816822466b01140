//! Tools behind AutoKit: the servers they come from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How an MCP server is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "transport", rename_all = "snake_case")]
pub enum ServerReach {
    /// A program that is started when it is needed.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Folder it is started in; empty for the home folder.
        #[serde(default)]
        folder: String,
    },
    /// Streamable HTTP.
    Http {
        /// Address of its endpoint.
        url: String,
    },
}

/// Adds an MCP server, or changes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerAdd {
    /// What it is called here; provider of its cards.
    pub name: String,
    /// How it is reached.
    pub reach: ServerReach,
    /// Variables (of a program) or headers (of an address) it is given. They are kept like keys and never
    /// shown again.
    #[serde(default)]
    pub secrets: BTreeMap<String, String>,
    /// Whether its tools are taken over without review, now and when they change.
    #[serde(default)]
    pub trusted: bool,
}

/// The settings of a program that agents run in, to read its MCP servers from.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServersText {
    /// JSON, with comments if there are any.
    pub text: String,
}

/// They hold keys.
impl std::fmt::Debug for ServersText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServersText(…)")
    }
}

/// The MCP servers that settings hold; nothing is added yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServersRead {
    /// What adding each would take. The keys among them are handed on, not kept.
    pub servers: Vec<ServerAdd>,
    /// Names of those that are here already: adding them changes what is here.
    pub taken: Vec<String>,
    /// Of servers that cannot be added so, each with why.
    pub problems: Vec<String>,
}

/// An MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Server {
    /// What it is called here.
    pub name: String,
    /// How it is reached.
    pub reach: ServerReach,
    /// Names of the variables or headers it is given.
    pub secrets: Vec<String>,
    /// Whether its tools are taken over without review.
    pub trusted: bool,
    /// Whether it runs now.
    pub running: bool,
    /// Its tools in the library: they can be called.
    pub tools: u32,
    /// What it says that waits in Review.
    pub waiting: u32,
    /// When its tools were last looked at, RFC 3339 in UTC.
    pub checked_at: Option<String>,
    /// Why the last look failed, if it did.
    pub failed: Option<String>,
    /// The tools that the last look left out, each with the reason.
    pub skipped: Vec<String>,
}

/// Names an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerRef {
    /// What it is called here.
    pub name: String,
}

/// A program agents run in, and AutoKit in its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentClient {
    /// Names it in requests.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// The file of its MCP servers.
    pub file: String,
    /// Whether the program seems to be used on this machine.
    pub here: bool,
    /// Whether AutoKit is among its servers, as it should be.
    pub connected: bool,
    /// The lines to paste by hand.
    pub lines: String,
    /// What connecting would change in the file, with a few lines around it; the rest may hold what is
    /// nobody's business. None if it cannot be changed without losing something.
    pub change: Option<Vec<ChangedLine>>,
    /// What disconnecting would change in the file; none where AutoKit is not among its servers.
    pub leave: Option<Vec<ChangedLine>>,
    /// Names the file as it is: what is written later has to start from the same.
    pub seen: String,
    /// Why it cannot be changed.
    pub problem: Option<String>,
}

/// A line of a file that is about to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChangedLine {
    /// What becomes of it.
    pub fate: LineFate,
    /// The line without its end.
    pub text: String,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LineFate {
    /// It stays.
    Stays,
    /// It comes.
    Comes,
    /// It goes.
    Goes,
}

/// Puts AutoKit among the servers of a program, or takes it out, as previewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConnectClient {
    /// The program.
    pub id: String,
    /// Names the file as it was when it was looked at.
    pub seen: String,
}

/// A program whose settings were changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ClientConnected {
    /// The program, as it is now.
    pub client: AgentClient,
    /// Copy of its file as it was before; none if there was none.
    pub backup: Option<String>,
}

/// How far back what agents did is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ActivityQuery {
    /// Days.
    pub days: u32,
}

/// How long something took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Latency {
    /// Median, in milliseconds.
    pub p50_ms: f64,
    /// 95th percentile, in milliseconds.
    pub p95_ms: f64,
}

/// How long searches of a tier took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct TierLatency {
    /// The tier.
    pub tier: String,
    /// Searches.
    pub searches: u32,
    /// How long they took.
    pub latency: Latency,
}

/// How a tool was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolUse {
    /// Id of its card, or name of one of AutoKit's own.
    pub tool: String,
    /// What it is called.
    pub name: String,
    /// Calls.
    pub calls: u32,
    /// Calls that gave an error.
    pub failed: u32,
    /// How long they took.
    pub latency: Latency,
}

/// What agents did on one day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ActivityDay {
    /// The day in UTC, e.g. `2026-03-09`.
    pub day: String,
    /// Searches.
    pub searches: u32,
    /// Calls.
    pub calls: u32,
    /// Of these, those that gave an error.
    pub failed_calls: u32,
    /// Loops that were broken.
    pub loops: u32,
    /// How long searches took.
    pub search: Latency,
    /// Tools called among tools found; none where nothing was found.
    pub accuracy: Option<f64>,
}

/// What agents did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ActivityReport {
    /// Days that are counted.
    pub days: u32,
    /// Sessions that began.
    pub sessions: u32,
    /// Of each program, whatever its version, how many.
    pub clients: std::collections::BTreeMap<String, u32>,
    /// Searches.
    pub searches: u32,
    /// Of these, those that found nothing.
    pub empty_searches: u32,
    /// Of these, those that found what an earlier one had found.
    pub repeated_searches: u32,
    /// How long they took.
    pub search: Latency,
    /// How long they took by tier.
    pub tiers: Vec<TierLatency>,
    /// Tools that were bound.
    pub bound: u32,
    /// Tools that were let go because they were idle, in the way or too expensive.
    pub evicted: u32,
    /// Loops that were broken.
    pub loops: u32,
    /// Calls.
    pub calls: u32,
    /// Of these, those that gave an error.
    pub failed_calls: u32,
    /// Day by day, oldest first; days on which nothing happened are there as well.
    pub days_list: Vec<ActivityDay>,
    /// The tools that were called most.
    pub tools: Vec<ToolUse>,
    /// Other tools that were called.
    pub other_tools: u32,
    /// Tools called among tools found, over all sessions (Kaman, equation 4); none where nothing was found.
    pub accuracy: Option<f64>,
    /// Tokens of the tools every session has.
    #[ts(type = "number")]
    pub own_tokens: u64,
    /// Tokens of the search results of a session, in the median.
    #[ts(type = "number")]
    pub search_tokens: u64,
    /// Tokens of all results of calls.
    #[ts(type = "number")]
    pub result_tokens: u64,
    /// Tokens it would cost to give every session every tool that can be called.
    #[ts(type = "number")]
    pub static_tokens: u64,
    /// Events of another version, which are not counted.
    pub unknown: u32,
}

/// The address for agents that cannot start a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentsHttp {
    /// Whether it is switched on.
    pub enabled: bool,
    /// Port on this machine; no other machine can reach it.
    pub port: u16,
    /// Whether this process answers there now.
    pub open: bool,
    /// The address. A program that names a profile by `?profile=NAME` or the header `x-autokit-profile` is
    /// bound by that one as well as by the one its token belongs to.
    pub url: String,
    /// The profile whose token is in `lines`; empty for everybody's.
    pub profile: String,
    /// Lines for the settings of a program, with what it has to present; empty where it is switched off.
    pub lines: String,
    /// Why nobody answers there although it is switched on.
    pub problem: Option<String>,
}

/// The address as programs of a profile use it, with a token that belongs to that profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct AgentsHttpRef {
    /// The profile; empty for everybody's.
    pub profile: String,
}

/// Switches the address for agents on or off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentsHttpSet {
    /// Whether it is on.
    pub enabled: bool,
    /// Its port; the one it had when not given.
    #[serde(default)]
    pub port: Option<u16>,
}
