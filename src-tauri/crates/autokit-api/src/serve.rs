//! MCP servers behind AutoKit, client programs of agents, and agents' activity.

use std::collections::BTreeMap;

use autokit_toolcard::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Transport of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "transport", rename_all = "snake_case")]
pub enum ServerTransport {
    /// Program that is started on demand.
    Stdio {
        /// Program.
        command: String,
        /// Arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Working directory; empty for the home folder.
        #[serde(default)]
        folder: String,
    },
    /// Streamable HTTP.
    Http {
        /// Address of the endpoint.
        url: String,
    },
}

/// Request to add an MCP server, or to replace the one of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerAdd {
    /// Name of the server, and provider of its cards: up to 40 letters, digits, spaces, dots, `-` and `_`.
    pub name: String,
    /// Transport.
    pub reach: ServerTransport,
    /// Environment variables (of a program) or headers (of an address). Stored in the secret store and
    /// never returned.
    #[serde(default)]
    pub secrets: BTreeMap<String, String>,
    /// Whether its tools are accepted without review, now and when they change.
    #[serde(default)]
    pub trusted: bool,
}

/// Settings of a client program, to read its MCP servers from.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServersText {
    /// JSON, with or without comments.
    pub text: String,
}

/// Prints no text, because it contains API keys.
impl std::fmt::Debug for ServersText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServersText(…)")
    }
}

/// MCP servers found in the settings of a client program. Nothing is added yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServersRead {
    /// Requests that add the servers. Their secrets are passed on, not stored.
    pub servers: Vec<ServerAdd>,
    /// Names of servers that exist already and would be replaced.
    pub taken: Vec<String>,
    /// Servers that cannot be added, each with the reason.
    pub problems: Vec<String>,
}

/// MCP server behind AutoKit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Server {
    /// Name of the server.
    pub name: String,
    /// Transport.
    pub reach: ServerTransport,
    /// Names of its environment variables or headers.
    pub secrets: Vec<String>,
    /// Whether its tools are accepted without review.
    pub trusted: bool,
    /// Whether it is running now.
    pub running: bool,
    /// Number of its tools in the library, which can be called.
    pub tools: u32,
    /// Number of its proposals that wait in Review.
    pub waiting: u32,
    /// Time of the last scan of its tools.
    pub checked_at: Option<Timestamp>,
    /// Why the last scan failed; `null` if it succeeded.
    pub failed: Option<String>,
    /// Tools left out by the last scan, each with the reason.
    pub skipped: Vec<String>,
}

/// Reference to an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerRef {
    /// Name of the server.
    pub name: String,
}

/// Client program in which agents run, and whether AutoKit is connected to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentClient {
    /// Id for requests.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Settings file that lists its MCP servers.
    pub file: String,
    /// Whether the program appears to be used on this machine.
    pub here: bool,
    /// Whether AutoKit is among its MCP servers, with the current settings.
    pub connected: bool,
    /// Lines to paste by hand.
    pub lines: String,
    /// Change to the file that connecting makes, with a few lines of context; the rest of the file may be
    /// private. `null` if the file cannot be changed without loss.
    pub change: Option<Vec<ChangedLine>>,
    /// Change to the file that disconnecting makes; `null` if AutoKit is not among its servers.
    pub leave: Option<Vec<ChangedLine>>,
    /// Digest of the file, to be returned with a change so that a file changed since is not overwritten.
    pub seen: String,
    /// Why the file cannot be changed; `null` if it can.
    pub problem: Option<String>,
}

/// Line of a file in a preview of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChangedLine {
    /// Whether the line is kept, added or removed.
    pub fate: LineChange,
    /// The line without its line break.
    pub text: String,
}

/// Effect of a change on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    /// Unchanged.
    Stays,
    /// Added.
    Comes,
    /// Removed.
    Goes,
}

/// Request to connect AutoKit to a client program or to disconnect it, as previewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConnectClient {
    /// Id of the client program.
    pub id: String,
    /// Digest of the file, as in [`AgentClient::seen`].
    pub seen: String,
}

/// Client program whose settings were changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ClientConnected {
    /// The program after the change.
    pub client: AgentClient,
    /// Path of the backup of its settings file; `null` if there was no file.
    pub backup: Option<String>,
}

/// Request for a report on agents' activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ActivityQuery {
    /// Number of days to look back.
    pub days: u32,
}

/// Distribution of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Latency {
    /// Median in milliseconds.
    pub p50_ms: f64,
    /// 95th percentile in milliseconds.
    pub p95_ms: f64,
}

/// Latency of searches in one tier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct TierLatency {
    /// Search tier.
    pub tier: String,
    /// Number of searches.
    pub searches: u32,
    /// Latency of the searches.
    pub latency: Latency,
}

/// Usage of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolUse {
    /// Id of the tool's card, or of one of AutoKit's own tools.
    pub tool: String,
    /// Display name.
    pub name: String,
    /// Number of calls.
    pub calls: u32,
    /// Number of calls that returned an error.
    pub failed: u32,
    /// Latency of the calls.
    pub latency: Latency,
}

/// Activity of agents on one day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ActivityDay {
    /// Date in UTC, e.g. `2026-03-09`.
    pub day: String,
    /// Number of searches.
    pub searches: u32,
    /// Number of calls.
    pub calls: u32,
    /// Number of calls that returned an error.
    pub failed_calls: u32,
    /// Number of loops stopped.
    pub loops: u32,
    /// Latency of searches.
    pub search: Latency,
    /// Share of the tools found that were called; `null` if none were found.
    pub accuracy: Option<f64>,
}

/// Activity of agents over several days.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ActivityReport {
    /// Number of days covered.
    pub days: u32,
    /// Number of sessions started.
    pub sessions: u32,
    /// Number of sessions by client program, ignoring its version.
    pub clients: std::collections::BTreeMap<String, u32>,
    /// Number of searches.
    pub searches: u32,
    /// Number of searches that found nothing.
    pub empty_searches: u32,
    /// Number of searches that found the same tools as an earlier one.
    pub repeated_searches: u32,
    /// Latency of searches.
    pub search: Latency,
    /// Latency of searches by tier.
    pub tiers: Vec<TierLatency>,
    /// Number of tools bound to sessions.
    pub bound: u32,
    /// Number of tools evicted: idle, least recently used, or over the token budget.
    pub evicted: u32,
    /// Number of loops stopped.
    pub loops: u32,
    /// Number of calls.
    pub calls: u32,
    /// Number of calls that returned an error.
    pub failed_calls: u32,
    /// Activity per day, oldest first, including days without any.
    pub days_list: Vec<ActivityDay>,
    /// Most frequently called tools.
    pub tools: Vec<ToolUse>,
    /// Number of further tools that were called.
    pub other_tools: u32,
    /// Share of the tools found that were called, over all sessions (Kaman, equation 4); `null` if none
    /// were found.
    pub accuracy: Option<f64>,
    /// Tokens of the tools listed in every session.
    #[ts(type = "number")]
    pub own_tokens: u64,
    /// Tokens of the search results in a session, median over the sessions that searched.
    #[ts(type = "number")]
    pub search_tokens: u64,
    /// Total tokens of the results of calls.
    #[ts(type = "number")]
    pub result_tokens: u64,
    /// Tokens it would take to list every callable tool in a session.
    #[ts(type = "number")]
    pub static_tokens: u64,
    /// Number of events of another version, which are not counted.
    pub unknown: u32,
    /// Past sessions replayed with preloading; `null` if there were too few.
    pub preloading: Option<PreloadingReplay>,
}

/// A measure of past sessions, as it was and as it would have been with preloading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ReplayedMeasure {
    /// Mean over sessions.
    pub actual: f64,
    /// Mean over sessions with preloading.
    pub preloaded: f64,
    /// Lower end of the 95 % interval of the difference.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
}

/// Past sessions, replayed with the tools that the sessions before them predict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct PreloadingReplay {
    /// Number of sessions.
    pub sessions: u32,
    /// Most tools preloaded.
    pub tools: u32,
    /// Searches of a session.
    pub searches: ReplayedMeasure,
    /// Share of its tools that it called.
    pub used: ReplayedMeasure,
    /// Tokens of responses to its searches and of tools preloaded.
    pub tokens: ReplayedMeasure,
    /// Whether preloading would have saved searches, outside the error, without costing tokens.
    pub helps: bool,
}

/// Local HTTP server for agents that cannot start a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentsHttp {
    /// Whether the server is switched on.
    pub enabled: bool,
    /// Port on the loopback interface; other machines cannot connect.
    pub port: u16,
    /// Whether this process is listening there now.
    pub open: bool,
    /// Address. If a client names a profile by `?profile=NAME` or the header `x-autokit-profile`, both that
    /// profile and the one of its token apply.
    pub url: String,
    /// Profile of the token in `lines`; empty for the one that applies to all agents.
    pub profile: String,
    /// Lines for the settings of a client program, including the token; empty if the server is switched
    /// off.
    pub lines: String,
    /// Why the server is not listening although it is switched on.
    pub problem: Option<String>,
}

/// Request for the HTTP server as used by clients of one profile, with a token of that profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct AgentsHttpRef {
    /// Profile name; empty for the one that applies to all agents.
    pub profile: String,
}

/// Request to switch the HTTP server for agents on or off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentsHttpSet {
    /// Whether it is to be on.
    pub enabled: bool,
    /// Port. Default: unchanged.
    #[serde(default)]
    pub port: Option<u16>,
}
