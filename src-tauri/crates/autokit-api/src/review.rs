//! Proposals and what a reviewer does with them.

use std::collections::BTreeMap;

use autokit_toolcard::{FieldDiff, Origin, Proposal, ProposalEvent, ProposalState, Risk, TextMark};
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
    /// The group of the queue it belongs to.
    pub group: String,
    /// What can go wrong when all of it is accepted.
    pub risk: Risk,
    /// Whether a text it proposes hides something or gives orders to a model.
    pub suspect: bool,
    /// How many of its fields changed in the card since.
    pub conflicts: u32,
    /// How many reviewers said yes while others are asked for.
    pub approvals: u32,
    /// How many have to.
    pub needed: u32,
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
    /// The groups there can be, in the order they are shown.
    pub groups: Vec<String>,
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

/// Asks for a proposal.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalLook {
    /// Its number.
    pub id: u32,
    /// Values the reviewer put in place of proposed ones, to be compared in their stead.
    #[serde(default)]
    pub edits: Map<String, Value>,
}

impl From<u32> for ProposalLook {
    fn from(id: u32) -> ProposalLook {
        ProposalLook { id, edits: Map::new() }
    }
}

/// Which of two values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FieldSide {
    /// That of the card now.
    Before,
    /// The proposed one.
    After,
}

/// A text of a proposal that hides something or gives orders to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SuspectText {
    /// The field.
    pub field: String,
    /// In which of its values.
    pub side: FieldSide,
    /// JSON Pointer of the text inside the value; empty for the value itself.
    pub pointer: String,
    /// Whether it is the name of the member there, instead of its value.
    pub in_name: bool,
    /// The parts of it that are not meant for whoever reads it, in order.
    pub marks: Vec<TextMark>,
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
    /// The revision of the card that was compared.
    pub revision: Option<u32>,
    /// The fields of the card it leaves alone.
    pub unchanged: Map<String, Value>,
    /// What can go wrong with each field.
    pub risks: BTreeMap<String, Risk>,
    /// Texts of its fields, before and after, that hide something or give orders to a model.
    pub suspect: Vec<SuspectText>,
    /// Reviewers who have to say yes.
    pub needed: u32,
    /// Cards that may be the same tool: id and name.
    pub similar: Vec<(String, String)>,
    /// What happened to it, oldest first.
    pub events: Vec<ProposalEvent>,
}

/// Accepts a proposal.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
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
    /// Fields that are turned down; what is in neither list is left out.
    #[serde(default)]
    pub rejected: Vec<String>,
    /// The revision of the card the reviewer looked at: fields in conflict are taken over with the
    /// reviewer's own value if it still is that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seen: Option<u32>,
    /// Why, in the reviewer's words.
    #[serde(default)]
    pub reason: String,
    /// The reviewer's name; the one in the review policy, or who asks, when empty.
    #[serde(default)]
    pub by: String,
}

/// Turns a proposal down.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalReject {
    /// Its number.
    pub id: u32,
    /// Why, in the reviewer's words.
    #[serde(default)]
    pub reason: String,
    /// The reviewer's name, as in [`ProposalAccept`].
    #[serde(default)]
    pub by: String,
}

/// Says something about a proposal.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalComment {
    /// Its number.
    pub id: u32,
    /// What.
    pub words: String,
    /// The reviewer's name, as in [`ProposalAccept`].
    #[serde(default)]
    pub by: String,
}

/// Several proposals.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalsRef {
    /// Their numbers.
    pub ids: Vec<u32>,
}

/// A proposal that could be accepted without a closer look.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SafeProposal {
    /// Its number.
    pub id: u32,
    /// The card it is about.
    pub title: String,
    /// Why it is proposed, in a sentence.
    pub reason: String,
    /// What it would change.
    pub diff: Vec<FieldDiff>,
}

/// A proposal that wants a closer look.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct UnsafeProposal {
    /// Its number.
    pub id: u32,
    /// The card it is about.
    pub title: String,
    /// Why.
    pub why: String,
}

/// What accepting the safe ones among some proposals would do.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AcceptPreview {
    /// Those that would be accepted, in the order asked for.
    pub safe: Vec<SafeProposal>,
    /// Those that would be left to wait.
    pub left: Vec<UnsafeProposal>,
    /// Names what was looked at: handed back when accepting, so that nothing unseen is.
    pub seen: String,
}

/// Accepts the safe ones among some proposals, as previewed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalsAccept {
    /// Their numbers, as asked for in the preview.
    pub ids: Vec<u32>,
    /// What the preview said.
    pub seen: String,
    /// The reviewer's name, as in [`ProposalAccept`].
    #[serde(default)]
    pub by: String,
}

/// How this library is reviewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct ReviewPolicy {
    /// How many reviewers have to accept a proposal, by different names.
    pub approvals: u32,
    /// The name decisions are signed with; the person's name on this machine when empty.
    pub reviewer: String,
}

impl Default for ReviewPolicy {
    fn default() -> ReviewPolicy {
        ReviewPolicy { approvals: 1, reviewer: String::new() }
    }
}
