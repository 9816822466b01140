//! Proposals and their review.

use std::collections::BTreeMap;

use autokit_toolcard::{
    CardId, FieldDiff, InjectionMatch, Origin, Proposal, ProposalEvent, ProposalId, ProposalState, Risk,
    Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// Request for a list of proposals.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ProposalsQuery {
    /// State of the proposals. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub state: Option<ProposalState>,
}

/// Proposal as shown in the review queue.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalRow {
    /// Proposal number.
    pub id: ProposalId,
    /// Name of the card the proposal changes or creates.
    pub title: String,
    /// Origin of the proposal.
    pub origin: Origin,
    /// Group of the queue in which it is shown.
    pub group: String,
    /// Risk of accepting all of its fields.
    pub risk: Risk,
    /// Whether a proposed text is flagged as hidden text or instructions to a model.
    pub suspect: bool,
    /// Number of its fields that changed in the card since.
    pub conflicts: u32,
    /// Number of reviewers who approved it.
    pub approvals: u32,
    /// Number of approvals required.
    pub needed: u32,
    /// Current state.
    pub state: ProposalState,
    /// Id of the card it changes; `null` for a new card.
    pub card: Option<CardId>,
    /// Names of the fields it sets.
    pub fields: Vec<String>,
    /// Probability that all of it is true, 0 to 1.
    pub confidence: f32,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Reason for the proposal, in one sentence.
    pub reason: String,
    /// URL of the page that a web search found; `null` for proposals of another origin.
    pub page: Option<String>,
    /// The member of the team who reviews it now.
    pub assigned_to: Option<String>,
}

/// Review queue.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Proposals {
    /// Proposals, newest first.
    pub rows: Vec<ProposalRow>,
    /// Number of pending proposals, independent of the requested state.
    pub waiting: u32,
    /// All groups, in display order.
    pub groups: Vec<String>,
}

/// Request to draft a card from a description.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CardDescribe {
    /// Description of a tool: a README, a copied page, a few sentences.
    pub text: String,
}

/// Reference to a proposal.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, TS)]
pub struct ProposalRef {
    /// Proposal number.
    pub id: ProposalId,
}

/// Request for the details of a proposal.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalGet {
    /// Proposal number.
    pub id: ProposalId,
    /// Values from the reviewer that replace proposed ones in the comparison.
    #[serde(default)]
    pub edits: Map<String, Value>,
}

impl From<ProposalId> for ProposalGet {
    fn from(id: ProposalId) -> ProposalGet {
        ProposalGet { id, edits: Map::new() }
    }
}

/// Side of a comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FieldSide {
    /// Current value of the card.
    Before,
    /// Proposed value.
    After,
}

/// Text of a proposal that is flagged as hidden text or instructions to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FlaggedText {
    /// Name of the field.
    pub field: String,
    /// Which value of the field contains it.
    pub side: FieldSide,
    /// JSON Pointer to the text inside the value; empty for the value itself.
    pub pointer: String,
    /// Whether the text is the name of the object member at `pointer` rather than its value.
    pub in_name: bool,
    /// Flagged ranges of the text, in order.
    pub marks: Vec<InjectionMatch>,
}

/// Proposal with everything needed for its review.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalDetail {
    /// The proposal, with evidence and decision.
    pub proposal: Proposal,
    /// Name of the card it changes or creates.
    pub title: String,
    /// Id of the card it changes, or of the one created by accepting it.
    pub card: Option<CardId>,
    /// Changes to the current card if all of it is accepted.
    pub diff: Vec<FieldDiff>,
    /// Card revision used for the comparison.
    pub revision: Option<u32>,
    /// Fields of the card that the proposal does not set.
    pub unchanged: Map<String, Value>,
    /// Risk per field.
    pub risks: BTreeMap<String, Risk>,
    /// Flagged texts in its fields, before and after.
    pub suspect: Vec<FlaggedText>,
    /// Number of approvals required.
    pub needed: u32,
    /// What the team lets this person do; `null` in a library that is no team's.
    pub team: Option<TeamReviewer>,
    /// Cards that may be the same tool, as pairs of id and name.
    pub similar: Vec<(CardId, String)>,
    /// History of the proposal, oldest first.
    pub events: Vec<ProposalEvent>,
}

/// A member of a team who looks at a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamReviewer {
    /// Their name.
    pub member: String,
    /// Whether they may decide on proposals.
    pub may_decide: bool,
}

/// Request to accept a proposal.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ProposalAccept {
    /// Proposal number.
    pub id: ProposalId,
    /// Fields to accept. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fields: Option<Vec<String>>,
    /// Values from the reviewer that replace proposed ones.
    #[serde(default)]
    pub edits: Map<String, Value>,
    /// Fields to reject. Fields in neither list are left undecided.
    #[serde(default)]
    pub rejected: Vec<String>,
    /// Card revision the reviewer saw. Fields in conflict are set to the reviewer's own value if the card
    /// is still at this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seen: Option<u32>,
    /// Reason for the decision, written by the reviewer.
    #[serde(default)]
    pub reason: String,
    /// Name of the reviewer. Default: the name in the review policy, otherwise the caller's.
    #[serde(default)]
    pub by: String,
}

/// Request to reject a proposal.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalReject {
    /// Proposal number.
    pub id: ProposalId,
    /// Reason for the decision, written by the reviewer.
    #[serde(default)]
    pub reason: String,
    /// Name of the reviewer, as in [`ProposalAccept`].
    #[serde(default)]
    pub by: String,
}

/// Request to comment on a proposal.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalComment {
    /// Proposal number.
    pub id: ProposalId,
    /// Comment text.
    pub words: String,
    /// Name of the reviewer, as in [`ProposalAccept`].
    #[serde(default)]
    pub by: String,
}

/// Request to say who reviews a proposal of a team.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProposalAssign {
    /// Proposal number.
    pub id: ProposalId,
    /// Name of the member; `null` for nobody.
    pub to: Option<String>,
}

/// Which of several proposals may be accepted together. None of them contains flagged text, conflicts with its card or
/// changes code that AutoKit runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AcceptRule {
    /// Those of low risk.
    #[default]
    Safe,
    /// Those that do nothing but replace the address of documentation, with at least 95 % confidence and a quote from
    /// the page there that names the tool.
    LinkRepairs,
    /// All, because a person selected each.
    Selected,
}

/// Reference to several proposals.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ProposalsRef {
    /// Proposal numbers.
    pub ids: Vec<ProposalId>,
    /// Which of them may be accepted.
    #[serde(default)]
    #[ts(optional, as = "Option<AcceptRule>")]
    pub rule: AcceptRule,
}

/// Proposal that can be accepted without individual review.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SafeProposal {
    /// Proposal number.
    pub id: ProposalId,
    /// Name of the card.
    pub title: String,
    /// Reason for the proposal, in one sentence.
    pub reason: String,
    /// Changes to the card.
    pub diff: Vec<FieldDiff>,
}

/// Proposal that requires individual review.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct UnsafeProposal {
    /// Proposal number.
    pub id: ProposalId,
    /// Name of the card.
    pub title: String,
    /// Why it requires individual review.
    pub why: String,
}

/// Preview of accepting those of several proposals that are safe.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AcceptPreview {
    /// Proposals that would be accepted, in the requested order.
    pub safe: Vec<SafeProposal>,
    /// Proposals that would be left pending.
    pub left: Vec<UnsafeProposal>,
    /// Digest of the preview, to be returned with the acceptance so that nothing else is accepted.
    pub seen: String,
}

/// Request to accept those of several proposals that are safe, as previewed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ProposalsAccept {
    /// Proposal numbers, as in the preview request.
    pub ids: Vec<ProposalId>,
    /// Rule, as in the preview request.
    #[serde(default)]
    #[ts(optional, as = "Option<AcceptRule>")]
    pub rule: AcceptRule,
    /// Digest from the preview.
    pub seen: String,
    /// Name of the reviewer, as in [`ProposalAccept`].
    #[serde(default)]
    pub by: String,
}

/// Rules of review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct ReviewPolicy {
    /// Number of reviewers, with different names, who have to accept a proposal.
    pub approvals: u32,
    /// Name of the reviewer for decisions; if empty, the person's name on this machine.
    pub reviewer: String,
}

impl Default for ReviewPolicy {
    fn default() -> ReviewPolicy {
        ReviewPolicy { approvals: 1, reviewer: String::new() }
    }
}
