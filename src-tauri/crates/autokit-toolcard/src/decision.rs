//! Reviewers' decisions on the fields of a proposal, and the events of a proposal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::proposal::{Proposal, ProposalId, ProposalState};
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

/// The decision on a proposal, so that it can be restored after it was undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The proposal.
    pub proposal: ProposalId,
    /// Its state.
    pub state: ProposalState,
    /// When it was decided.
    pub at: Option<Timestamp>,
    /// Who decided it.
    pub by: Option<String>,
    /// The reason, in the reviewer's words.
    pub reason: Option<String>,
    /// The accepted fields.
    pub accepted: Vec<String>,
    /// The decisions on each field.
    pub fields: Vec<FieldDecision>,
    /// Approvals that it needed.
    pub approvals: Vec<Approval>,
    /// [`Draft::digest`](crate::Draft::digest) of what was decided on.
    pub digest: String,
}

impl Decision {
    /// Returns the fields that were rejected.
    pub fn rejected(&self) -> Vec<String> {
        let rejected = self.fields.iter().filter(|field| field.verdict == FieldVerdict::Rejected);
        rejected.map(|field| field.field.clone()).collect()
    }
}

impl Proposal {
    /// Returns the decision on it.
    pub fn decision(&self) -> Decision {
        Decision {
            proposal: self.id,
            state: self.state,
            at: self.decided_at,
            by: self.decided_by.clone(),
            reason: self.decision.clone(),
            accepted: self.accepted.clone(),
            fields: self.decisions.clone(),
            approvals: self.approvals.clone(),
            digest: self.draft.digest(),
        }
    }

    /// Decides it as it was decided before.
    pub fn decide(&mut self, decision: Decision) {
        self.state = decision.state;
        self.decided_at = decision.at;
        self.decided_by = decision.by;
        self.decision = decision.reason;
        self.accepted = decision.accepted;
        self.decisions = decision.fields;
        self.approvals = decision.approvals;
    }

    /// Makes it pending again, without anything that was decided about it.
    pub fn set_pending(&mut self) {
        self.decide(Decision {
            proposal: self.id,
            state: ProposalState::Pending,
            at: None,
            by: None,
            reason: None,
            accepted: Vec::new(),
            fields: Vec::new(),
            approvals: Vec::new(),
            digest: String::new(),
        });
    }
}

/// What happened to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ProposalEventKind {
    /// It was created.
    Proposed,
    /// The same values were proposed again, from another source.
    Merged,
    /// Values were replaced by newer ones of the same origin.
    Replaced,
    /// It was compared with a later revision of its card.
    Rebased,
    /// Somebody changed the card in a way that conflicts with it.
    Conflicting,
    /// A reviewer left a comment.
    Commented,
    /// A reviewer approved it while more approvals were needed.
    Approved,
    /// It was accepted.
    Accepted,
    /// It was rejected.
    Rejected,
    /// The decision was undone, so that it is pending again.
    Undone,
    /// The acceptance was undone, but the card keeps fields that were changed since.
    Kept,
    /// All or some fields were withdrawn.
    Withdrawn,
    /// Somebody was asked to review it, or nobody any more.
    Assigned,
}

impl ProposalEventKind {
    const ALL: [ProposalEventKind; 13] = [
        ProposalEventKind::Proposed,
        ProposalEventKind::Merged,
        ProposalEventKind::Replaced,
        ProposalEventKind::Rebased,
        ProposalEventKind::Conflicting,
        ProposalEventKind::Commented,
        ProposalEventKind::Approved,
        ProposalEventKind::Accepted,
        ProposalEventKind::Rejected,
        ProposalEventKind::Undone,
        ProposalEventKind::Kept,
        ProposalEventKind::Withdrawn,
        ProposalEventKind::Assigned,
    ];

    /// Returns the name used in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            ProposalEventKind::Proposed => "proposed",
            ProposalEventKind::Merged => "merged",
            ProposalEventKind::Replaced => "replaced",
            ProposalEventKind::Rebased => "rebased",
            ProposalEventKind::Conflicting => "conflicting",
            ProposalEventKind::Commented => "commented",
            ProposalEventKind::Approved => "approved",
            ProposalEventKind::Accepted => "accepted",
            ProposalEventKind::Rejected => "rejected",
            ProposalEventKind::Undone => "undone",
            ProposalEventKind::Kept => "kept",
            ProposalEventKind::Withdrawn => "withdrawn",
            ProposalEventKind::Assigned => "assigned",
        }
    }

    /// Parses the name used in the store.
    pub fn parse(text: &str) -> Option<ProposalEventKind> {
        ProposalEventKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// An event in the history of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProposalEvent {
    /// When it happened.
    pub at: Timestamp,
    /// Who caused it.
    pub by: String,
    /// What happened.
    pub kind: ProposalEventKind,
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
