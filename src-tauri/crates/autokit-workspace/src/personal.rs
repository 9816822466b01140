//! What was learned from use, as it is stored and searched with.

use std::collections::BTreeMap;

use autokit_adapter::Adapter;
use autokit_api::LearningComparison;
use autokit_toolcard::Timestamp;
use serde::{Deserialize, Serialize};

/// What was learned from use, by profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// Whether searches adapt to it.
    pub enabled: bool,
    /// What was learned for each profile, by its name.
    pub profiles: BTreeMap<String, LearnedProfile>,
}

/// What was learned for one profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LearnedProfile {
    /// What happened until then is not learned from.
    pub since: Option<Timestamp>,
    /// Number of pairs of a question and a card it was last learned from.
    pub pairs: u32,
    /// The model it was learned with; empty if nothing was.
    pub model: String,
    /// The comparison that decided whether it is used.
    pub comparison: Option<LearningComparison>,
    /// The correction of request vectors; `None` if it ranked no better.
    pub adapter: Option<Adapter>,
}

impl Default for Learned {
    fn default() -> Learned {
        Learned { enabled: true, profiles: BTreeMap::new() }
    }
}

impl Learned {
    /// Returns the adapter of a profile; `None` if there is none or it is switched off.
    pub fn adapter_of(&self, profile: &str) -> Option<Adapter> {
        self.profiles.get(profile).filter(|_| self.enabled)?.adapter.clone()
    }
}
