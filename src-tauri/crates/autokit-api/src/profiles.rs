//! Agents: what those of a profile find first, may find, may do; what they ask a person; what they did.

use std::collections::BTreeMap;

use autokit_gateway::Settings as SessionSettings;
pub use autokit_gateway::{CallOutcome, DecidedBy};
use autokit_policy::{Need, Permissions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// What agents of one kind are for. The rules of the one without a name hold for everybody.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Profile {
    /// What an agent calls it; empty for everybody's.
    pub name: String,
    /// What it is for, in a person's words.
    pub about: String,
    /// Ids of the cards assigned to it: they are found before all others (the expert tier).
    pub cards: Vec<String>,
    /// What it may find in the library; everything if not given. What everybody may not find, no profile
    /// finds.
    pub only: Option<Allowlist>,
    /// Ids of cards, or names of AutoKit's own tools, that are there from the start and stay.
    pub always: Vec<String>,
    /// What it may do. Of a profile with a name: what it adds to the rules for everybody, all of which it
    /// inherits. A deny for everybody is final.
    pub permissions: Permissions,
}

/// A profile in the place of what it was when somebody looked at it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ProfileChange {
    /// As it was looked at.
    pub before: Profile,
    /// As it is to be; of the same name.
    pub after: Profile,
}

/// What may be found: cards of these providers, and these cards. What is assigned may be found as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Allowlist {
    /// Providers.
    pub providers: Vec<String>,
    /// Ids of cards.
    pub cards: Vec<String>,
}

/// How the sessions of all agents are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct AgentSessions {
    /// Parameters of all sessions.
    pub session: SessionSettings,
    /// Tokens that tools may cost in a program, by a part of the name it gives itself; the parameters above
    /// hold for others.
    pub budgets: BTreeMap<String, u32>,
}

/// The profiles and what holds for all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Profiles {
    /// Everybody's first, then by name.
    pub profiles: Vec<Profile>,
    /// Sessions.
    pub sessions: AgentSessions,
}

/// Names a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProfileRef {
    /// What an agent calls it.
    pub name: String,
}

/// A call that waits for a person's word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AgentAsk {
    /// Names it in answers.
    pub id: String,
    /// Since when, RFC 3339 in UTC.
    pub at: String,
    /// When it is refused if nobody has answered, RFC 3339 in UTC.
    pub until: String,
    /// The session of the agent.
    pub session: String,
    /// The program the agent runs in, as it calls itself.
    pub client: String,
    /// Profile of the agent; empty for everybody's.
    pub profile: String,
    /// Id of the tool's card, or of a tool of AutoKit's own.
    pub tool: String,
    /// What the tool is called.
    pub name: String,
    /// Who offers it.
    pub provider: String,
    /// What nobody has allowed yet.
    pub needs: Vec<Need>,
    /// Whether it can be allowed from now on: a rule for everybody may ask each time, whatever the profile
    /// says.
    pub can_always: bool,
    /// The same in words: "to run code in python".
    pub words: Vec<String>,
    /// The arguments, all of them as they are.
    #[ts(type = "unknown")]
    pub arguments: Value,
}

/// The calls that wait for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AgentAsks {
    /// Grows with each change.
    #[ts(type = "number")]
    pub version: u64,
    /// The one that waits longest first.
    pub asks: Vec<AgentAsk>,
}

/// Waits for news of the calls that wait for a person. While anybody waits so, agents are told to be
/// patient; else what has to be asked is refused at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AsksWait {
    /// Version that is known; 0 for none.
    #[ts(type = "number")]
    pub after: u64,
}

/// What a person says to a call that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AskReply {
    /// This time.
    Once,
    /// For this and all later calls of the session that need the same.
    Session,
    /// From now on, for all agents of the profile.
    Always,
    /// Not this time.
    No,
    /// Never, for all agents of the profile.
    Never,
}

/// Answers a call that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AskAnswer {
    /// Which.
    pub id: String,
    /// The person's word.
    pub reply: AskReply,
}

/// Which calls are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AuditQuery {
    /// Days back.
    pub days: u32,
    /// Entries at most, the newest.
    pub limit: u32,
}

/// One call, as it was written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AuditEntry {
    /// When it ended, RFC 3339 in UTC.
    pub at: String,
    /// The session of the agent.
    pub session: String,
    /// The program the agent runs in, as it calls itself.
    pub client: String,
    /// Profile of the agent; empty for everybody's.
    pub profile: String,
    /// Id of the tool's card, or name of one of AutoKit's own.
    pub tool: String,
    /// What the tool is called.
    pub name: String,
    /// Who offers it.
    pub provider: String,
    /// The arguments without what is secret or long.
    #[ts(type = "unknown")]
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

/// The calls of some days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AuditLog {
    /// Newest first.
    pub entries: Vec<AuditEntry>,
    /// How many there are in all.
    pub total: u32,
}

/// What lets a caller into a web API. Kept with the keys and never shown again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "sort", rename_all = "snake_case")]
pub enum ApiSecret {
    /// A key that is sent where the operation says.
    Key {
        /// The key.
        key: String,
    },
    /// User and password.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A token that is sent as it is.
    Token {
        /// The token.
        token: String,
    },
    /// A client's id and secret, by which tokens are fetched (OAuth 2.0, client credentials).
    Client {
        /// Where tokens are fetched.
        token_url: String,
        /// The client.
        id: String,
        /// Its secret.
        secret: String,
    },
}

impl std::fmt::Debug for ApiSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiSecret(…)")
    }
}

/// Keeps a key for a web API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ApiKeySet {
    /// Where it is sent and nowhere else: `https://api.example.org`.
    pub origin: String,
    /// What the API's description calls it.
    pub scheme: String,
    /// Where in a request it is sent and nowhere else, as [`ApiKey::place`]; may be left out where all
    /// operations agree.
    #[serde(default)]
    pub place: String,
    /// The key.
    pub secret: ApiSecret,
}

/// Names a key for a web API.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct ApiKeyRef {
    /// Where it is sent.
    pub origin: String,
    /// What the API's description calls it.
    pub scheme: String,
    /// Where in a request it is sent; all of that name if left out.
    #[serde(default)]
    pub place: String,
}

/// A key for a web API, or the want of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ApiKey {
    /// Where it is sent.
    pub origin: String,
    /// What the API's description calls it.
    pub scheme: String,
    /// Where in a request it is sent: `header X-Key`, or which tokens are fetched with it.
    pub place: String,
    /// What it is: `key`, `basic`, `token`, `client`.
    pub sort: String,
    /// Whether it is kept here.
    pub here: bool,
    /// Operations in the library that take it.
    pub operations: u32,
    /// For a client: where tokens are fetched; of one that is wanted, where its description says.
    pub token_url: Option<String>,
}
