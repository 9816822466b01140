//! Agents: their profiles, permissions and sessions, calls that wait for approval, and the audit log.

use std::collections::BTreeMap;

pub use autokit_gateway::{CallOutcome, DecidedBy};
use autokit_gateway::{McpSessionId, Settings as SessionSettings};
use autokit_policy::{Need, Permissions};
use autokit_toolcard::{CardId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Profile of agents: what they find first, may find and may do. The rules of the profile with an empty
/// name apply to all agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Profile {
    /// Name by which an agent selects the profile; empty for the one that applies to all agents.
    pub name: String,
    /// Purpose of the profile, written by the person.
    pub about: String,
    /// Ids of the cards assigned to the profile; they rank before all others (the expert tier).
    pub cards: Vec<CardId>,
    /// Cards the profile may find. Default: all. A profile never finds what the profile for all agents may
    /// not find.
    pub only: Option<Allowlist>,
    /// Ids of cards, or names of AutoKit's own tools, that are bound from the start of a session and never
    /// evicted.
    pub always: Vec<String>,
    /// Permissions of the profile. A profile with a name inherits those for all agents and adds these; a
    /// deny for all agents is final.
    pub permissions: Permissions,
}

/// Request to change a profile, unless it changed since it was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ProfileChange {
    /// The profile as it was read.
    pub before: Profile,
    /// The profile as it is to be, with the same name.
    pub after: Profile,
}

/// Cards that may be found: those of the listed providers, and those listed by id. Cards assigned to the
/// profile may be found as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Allowlist {
    /// Providers.
    pub providers: Vec<String>,
    /// Card ids.
    pub cards: Vec<CardId>,
}

/// Settings of the sessions of all agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct AgentSessions {
    /// Parameters of every session.
    pub session: SessionSettings,
    /// Token budget for tools by client program. A key matches every client whose name contains it,
    /// ignoring case; the longest match wins. Other clients use the parameters above.
    pub budgets: BTreeMap<String, u32>,
}

/// All profiles, with the settings they share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Profiles {
    /// Profiles, the one for all agents first, then by name.
    pub profiles: Vec<Profile>,
    /// Settings of sessions.
    pub sessions: AgentSessions,
}

/// Reference to a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProfileRef {
    /// Name by which an agent selects it.
    pub name: String,
}

/// Call of an agent that waits for approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ApprovalRequest {
    /// Id for the response.
    pub id: String,
    /// Time since when the call waits.
    pub at: Timestamp,
    /// Time at which the call is refused unless it is answered.
    pub until: Timestamp,
    /// Id of the agent's session.
    pub session: McpSessionId,
    /// Name of the client program, as reported by itself.
    pub client: String,
    /// Profile of the agent; empty for the one that applies to all agents.
    pub profile: String,
    /// Id of the tool's card, or of one of AutoKit's own tools.
    pub tool: String,
    /// Name of the tool.
    pub name: String,
    /// Provider of the tool.
    pub provider: String,
    /// Permissions that no rule and no earlier approval grants.
    pub needs: Vec<Need>,
    /// Whether [`ApprovalDecision::Always`] is possible; `false` if a rule for all agents asks each time and
    /// profiles may not override it.
    pub can_always: bool,
    /// The permissions in words, e.g. "to run code in python".
    pub words: Vec<String>,
    /// Arguments of the call, complete and unredacted.
    #[ts(type = "unknown")]
    pub arguments: Value,
}

/// List of the calls that wait for approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ApprovalRequests {
    /// Version number, incremented with every change.
    #[ts(type = "number")]
    pub version: u64,
    /// Calls, longest wait first.
    pub asks: Vec<ApprovalRequest>,
}

/// Request to wait until the list of calls that wait for approval changes, for up to ten seconds. Calls
/// wait for approval only while a client sends this request; otherwise they are refused at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ApprovalsWait {
    /// Version the caller knows; 0 for none.
    #[ts(type = "number")]
    pub after: u64,
}

/// Decision of a person on a call that waits for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// Allow this call.
    Once,
    /// Allow this call, and later calls of the session that need the same permissions.
    Session,
    /// Allow from now on, for all agents of the profile.
    Always,
    /// Refuse this call.
    No,
    /// Deny from now on, for all agents of the profile.
    Never,
}

/// Request to decide on a call that waits for approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ApprovalAnswer {
    /// Id of the call.
    pub id: String,
    /// Decision of the person.
    pub reply: ApprovalDecision,
}

/// Request for entries of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditQuery {
    /// Number of days to look back.
    pub days: u32,
    /// Maximum number of entries; the latest are returned.
    pub limit: u32,
}

/// Call in the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AuditEntry {
    /// End of the call.
    pub at: Timestamp,
    /// Id of the agent's session.
    pub session: McpSessionId,
    /// Name of the client program, as reported by itself.
    pub client: String,
    /// Profile of the agent; empty for the one that applies to all agents.
    pub profile: String,
    /// Id of the tool's card, or of one of AutoKit's own tools.
    pub tool: String,
    /// Name of the tool.
    pub name: String,
    /// Provider of the tool.
    pub provider: String,
    /// Arguments, with secrets redacted and long values shortened.
    #[ts(type = "unknown")]
    pub arguments: Value,
    /// Permissions the call needed, in words.
    pub needed: Vec<String>,
    /// Who allowed or refused the call.
    pub decided: DecidedBy,
    /// Outcome of the call.
    pub outcome: CallOutcome,
    /// Reason for a refusal or failure; empty otherwise.
    pub why: String,
    /// Duration in milliseconds, including the wait for approval.
    pub took_ms: f64,
}

/// Entries of the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AuditLog {
    /// Entries, newest first.
    pub entries: Vec<AuditEntry>,
    /// Total number of entries in the period.
    pub total: u32,
}

/// Credential for a web API. Stored in the secret store and never returned.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "sort", rename_all = "snake_case")]
pub enum ApiSecret {
    /// API key, sent where the operation specifies.
    Key {
        /// The API key.
        key: String,
    },
    /// User name and password (HTTP Basic).
    Basic {
        /// User name.
        user: String,
        /// Password.
        password: String,
    },
    /// Token, sent unchanged.
    Token {
        /// The token.
        token: String,
    },
    /// Client id and secret for fetching tokens (OAuth 2.0, client credentials).
    Client {
        /// Address of the token endpoint.
        token_url: String,
        /// Client id.
        id: String,
        /// Client secret.
        secret: String,
    },
}

impl std::fmt::Debug for ApiSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiSecret(…)")
    }
}

/// Request to store a credential for a web API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ApiKeySet {
    /// Origin the credential is sent to, and nowhere else, e.g. `https://api.example.org`.
    pub origin: String,
    /// Name of the security scheme in the API's description.
    pub scheme: String,
    /// Place in a request where the credential is sent, and nowhere else, as [`ApiKey::place`]. May be
    /// empty if all operations agree.
    #[serde(default)]
    pub place: String,
    /// The credential.
    pub secret: ApiSecret,
}

/// Reference to a credential for a web API.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct ApiKeyRef {
    /// Origin the credential is sent to.
    pub origin: String,
    /// Name of the security scheme in the API's description.
    pub scheme: String,
    /// Place in a request where the credential is sent; empty for every place.
    #[serde(default)]
    pub place: String,
}

/// Credential for a web API that is stored, or that operations need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ApiKey {
    /// Origin the credential is sent to.
    pub origin: String,
    /// Name of the security scheme in the API's description.
    pub scheme: String,
    /// Place in a request where the credential is sent, e.g. `header X-Key`, or the tokens that are fetched
    /// with it.
    pub place: String,
    /// Kind of credential: `key`, `basic`, `token` or `client`.
    pub sort: String,
    /// Whether the credential is stored.
    pub here: bool,
    /// Number of operations in the library that need it.
    pub operations: u32,
    /// Address of the token endpoint for a client; for one that is not stored, as given by the API's
    /// description.
    pub token_url: Option<String>,
}
