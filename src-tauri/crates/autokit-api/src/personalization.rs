//! What search learned from a person's own use.

use autokit_toolcard::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Whether searches adapt to use, and what each profile's did.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Personalization {
    /// Whether it is switched on.
    pub enabled: bool,
    /// Fewest different questions from which something is learned.
    pub needed: u32,
    /// Profiles with anything to learn from, by name.
    pub profiles: Vec<PersonalProfile>,
}

/// What was learned for one profile. Profiles learn apart: what an agent does changes nobody else's searches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct PersonalProfile {
    /// Name of the person, or `agents`, or `agents/` and the name of a profile of agents.
    pub profile: String,
    /// Whether searches are adapted, or why not.
    pub state: LearningState,
    /// Different questions to learn from.
    pub questions: u32,
    /// How many answers were rated.
    pub ratings: u32,
    /// How many tools were called after they were found.
    pub calls: u32,
    /// How many found cards were edited afterwards, directly or in review.
    pub edits: u32,
    /// What happened before is not learned from; absent if nothing was reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<Timestamp>,
    /// The last comparison; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub comparison: Option<LearningComparison>,
}

/// Whether searches of a profile are adapted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LearningState {
    /// There are too few questions.
    Collecting,
    /// There is enough to learn from, which happens in the background.
    Waiting,
    /// What was learned ranked this profile's past questions no better: it is not used.
    NotBetter,
    /// Searches are adapted.
    InUse,
}

/// Past questions ranked without and with what was learned from the others (five-fold cross-validation).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct LearningComparison {
    /// When it was made.
    pub at: Timestamp,
    /// Number of different questions.
    pub questions: u32,
    /// Mean reciprocal rank of the right card without it, 0 to 1.
    pub before: f64,
    /// The same with it.
    pub after: f64,
    /// Lower bound of the difference (95 %, paired bootstrap).
    pub lower: f64,
    /// Upper bound of the difference.
    pub upper: f64,
    /// Number of questions whose right card moved up.
    pub better: u32,
    /// Number of questions whose right card moved down.
    pub worse: u32,
}

/// Switches personalization on or off.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, TS)]
pub struct PersonalizationSet {
    /// Whether searches adapt to use.
    pub enabled: bool,
}

/// Which profiles to reset or to export.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct PersonalizationProfiles {
    /// Name of a profile; all if absent.
    #[serde(default)]
    #[ts(optional)]
    pub profile: Option<String>,
}

/// What was learned, as a file.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PersonalizationExport {
    /// A name for the file.
    pub file: String,
    /// Its text: JSON.
    pub text: String,
}
