//! Macros: one tool made of several calls (Elyra, bootstrapping).

use autokit_toolcard::{ProposalId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A recent call that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RecordedCall {
    /// Number of the call in this process; later calls have higher ones.
    #[ts(type = "number")]
    pub number: u64,
    /// When it ended.
    pub at: Timestamp,
    /// The session it was made in.
    pub session: String,
    /// The client program's own name.
    pub client: String,
    /// Name of the tool.
    pub name: String,
    /// Provider of the tool.
    pub provider: String,
    /// The arguments as JSON, shortened.
    pub arguments: String,
    /// Numbers of earlier calls of the session that returned what it was given.
    #[ts(type = "number[]")]
    pub uses: Vec<u64>,
}

/// Calls that were made one after the other again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RepeatedCalls {
    /// Names of the tools, in order.
    pub names: Vec<String>,
    /// How often they were made in this order.
    pub occurrences: u32,
    /// Numbers of the calls of the last time.
    #[ts(type = "number[]")]
    pub calls: Vec<u64>,
}

/// Recent calls of which one tool can be made. They are kept in memory only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RecordedCalls {
    /// The calls, newest first.
    pub calls: Vec<RecordedCall>,
    /// Sequences that were repeated, the most frequent first.
    pub repeated: Vec<RepeatedCalls>,
}

/// Request to propose a tool made of recorded calls.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MacroPropose {
    /// Numbers of the calls; they are made in the order they were made in.
    #[ts(type = "number[]")]
    pub calls: Vec<u64>,
    /// Name of the tool; empty for one made of the tools' names.
    #[serde(default)]
    pub name: String,
    /// What it does; empty for a list of its calls.
    #[serde(default)]
    pub description: String,
}

/// A proposed tool.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MacroProposed {
    /// The proposal that waits in Review.
    pub proposal: ProposalId,
    /// Name of the tool.
    pub name: String,
}
