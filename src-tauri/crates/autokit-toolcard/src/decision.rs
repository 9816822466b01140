//! Reviewers' decisions on the fields of a proposal, and the events of a proposal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// What a reviewer decided about a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FieldVerdict {
    /// Taken over as proposed.
    Accepted,
    /// Taken over with the reviewer's value in place of the proposed one.
    Edited,
    /// Turned down.
    Rejected,
}

/// A decision about one field. A field that was left out has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct FieldDecision {
    /// The field.
    pub field: String,
    /// What was decided.
    pub verdict: FieldVerdict,
    /// The reviewer's value, where it was edited.
    pub value: Option<Value>,
    /// By whom.
    pub by: String,
    /// When, RFC 3339 in UTC.
    pub at: String,
}

/// A step in the life of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProposalEvent {
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// By whom.
    pub by: String,
    /// `proposed`, `merged`, `replaced`, `rebased`, `conflicting`, `commented`, `approved`, `accepted`,
    /// `rejected`, `undone`, `kept`, `withdrawn`.
    pub what: String,
    /// In words.
    pub why: String,
}

/// A reviewer's yes while more of them are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Approval {
    /// Who.
    pub by: String,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// The fields they would take over, each with its value as JSON text; empty text takes it away.
    pub values: BTreeMap<String, String>,
}

impl Approval {
    /// Whether the approval includes all of these values.
    pub fn covers(&self, values: &BTreeMap<String, String>) -> bool {
        values.iter().all(|(field, value)| self.values.get(field) == Some(value))
    }
}
