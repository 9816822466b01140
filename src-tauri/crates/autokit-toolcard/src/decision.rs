//! Reviewers' decisions on the fields of a proposal, and the events of a proposal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::time::Timestamp;

/// A reviewer's verdict on a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FieldVerdict {
    /// Accepted as proposed.
    Accepted,
    /// Accepted with the reviewer's value instead of the proposed one.
    Edited,
    /// Rejected.
    Rejected,
}

/// A decision on one field. A field that was left out has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct FieldDecision {
    /// The field.
    pub field: String,
    /// The verdict.
    pub verdict: FieldVerdict,
    /// The reviewer's value, if it was edited.
    pub value: Option<Value>,
    /// Who decided.
    pub by: String,
    /// When it was decided.
    pub at: Timestamp,
}

/// An event in the history of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProposalEvent {
    /// When it happened.
    pub at: Timestamp,
    /// Who caused it.
    pub by: String,
    /// `proposed`, `merged`, `replaced`, `rebased`, `conflicting`, `commented`, `approved`, `accepted`,
    /// `rejected`, `undone`, `kept`, `withdrawn`.
    pub what: String,
    /// Details in words.
    pub why: String,
}

/// A reviewer's approval while more approvals are needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Approval {
    /// The reviewer.
    pub by: String,
    /// When it was given.
    pub at: Timestamp,
    /// The fields to accept, each with its value as JSON text; an empty text removes the field.
    pub values: BTreeMap<String, String>,
}

impl Approval {
    /// Whether the approval includes all of these values.
    pub fn covers(&self, values: &BTreeMap<String, String>) -> bool {
        values.iter().all(|(field, value)| self.values.get(field) == Some(value))
    }
}
