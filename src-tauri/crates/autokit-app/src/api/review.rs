//! Proposals and what a reviewer does with them.

use autokit_library::ProposalEvent;
use autokit_toolcard::{FieldDiff, Origin, Proposal, ProposalState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// Which proposals.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ProposalsQuery {
    /// Those in this state; all when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub state: Option<ProposalState>,
}

/// A row of the queue.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalRow {
    /// Its number.
    pub id: u32,
    /// The card it is about, or would make.
    pub title: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Where it stands.
    pub state: ProposalState,
    /// Id of the card it changes; none for a new one.
    pub card: Option<String>,
    /// The fields it would set.
    pub fields: Vec<String>,
    /// How likely all of it is true, 0 to 1.
    pub confidence: f32,
    /// When it was made.
    pub created_at: String,
    /// Why, in a sentence.
    pub reason: String,
}

/// The queue.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Proposals {
    /// Newest first.
    pub rows: Vec<ProposalRow>,
    /// Those that wait, whatever was asked for.
    pub waiting: u32,
}

/// Words that describe a tool.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardDescribe {
    /// A README, a page that was copied, a few sentences.
    pub text: String,
}

/// Names a proposal.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, TS)]
pub struct ProposalRef {
    /// Its number.
    pub id: u32,
}

/// Everything about a proposal.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalDetail {
    /// The proposal, evidence and decision included.
    pub proposal: Proposal,
    /// The card it is about, or would make.
    pub title: String,
    /// The card it changes, or that accepting it made.
    pub card: Option<String>,
    /// What accepting all of it would change in the card as it is now.
    pub diff: Vec<FieldDiff>,
    /// Fields that changed in the card since: accepting them is refused.
    pub conflicts: Vec<String>,
    /// Cards that may be the same tool: id and name.
    pub similar: Vec<(String, String)>,
    /// What happened to it, oldest first.
    pub events: Vec<ProposalEvent>,
}

/// Accepts a proposal.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalAccept {
    /// Its number.
    pub id: u32,
    /// The fields to take over; all when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fields: Option<Vec<String>>,
    /// Values the reviewer put in place of proposed ones.
    #[serde(default)]
    pub edits: Map<String, Value>,
    /// Why, in the reviewer's words.
    #[serde(default)]
    pub reason: String,
}

/// Turns a proposal down.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalReject {
    /// Its number.
    pub id: u32,
    /// Why, in the reviewer's words.
    #[serde(default)]
    pub reason: String,
}
