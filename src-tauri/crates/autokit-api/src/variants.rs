//! Descriptions of one tool that compete by the outcomes of its calls (Elyra, bootstrapping).

use autokit_toolcard::{CardId, ProposalId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Why a description is not given to agents any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum VariantWithdrawal {
    /// Calls by it mostly fail.
    Fails,
    /// Another one is almost certainly better.
    Worse,
    /// A person withdrew it.
    Person,
}

/// A description that competes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Variant {
    /// Its id in the contest; `current` for the card's own.
    pub id: String,
    /// The text.
    pub description: String,
    /// Calls that succeeded.
    #[ts(type = "number")]
    pub successes: u64,
    /// Calls that failed.
    #[ts(type = "number")]
    pub failures: u64,
    /// Mean of the success rate, 0 to 1, with a uniform prior.
    pub mean: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Why it is not used any more; `null` if it is.
    pub withdrawn: Option<VariantWithdrawal>,
}

/// The descriptions of one tool that compete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct VariantContest {
    /// The tool's card.
    pub card: CardId,
    /// Name of the tool.
    pub name: String,
    /// When it began.
    pub began: Timestamp,
    /// The descriptions, the card's own first.
    pub variants: Vec<Variant>,
}

/// All contests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct VariantContests {
    /// One for each tool with several descriptions.
    pub contests: Vec<VariantContest>,
}

/// Request to let another description compete.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VariantAdd {
    /// Card name or id.
    pub card: String,
    /// The description.
    pub description: String,
}

/// Request to withdraw a description, or to let it compete again.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VariantSet {
    /// Card name or id.
    pub card: String,
    /// Id of the variant.
    pub variant: String,
    /// Whether it is withdrawn.
    pub withdrawn: bool,
}

/// Request to end a contest.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VariantsEnd {
    /// Card name or id.
    pub card: String,
    /// Variant that is proposed as the card's description; the card keeps its own if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub propose: Option<String>,
}

/// A contest that was ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct VariantsEnded {
    /// The proposal that waits in Review, if a description was chosen.
    pub proposal: Option<ProposalId>,
}
