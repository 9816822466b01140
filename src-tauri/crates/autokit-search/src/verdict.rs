//! Decides by thresholds on its score whether the first hit answers a request.
//!
//! How near a request is to the library as a whole says something as well: what a library is about is near to many of its
//! cards, and what it has no answer to is near to few, though the first hit of either may have the same score. The
//! background is the mean score of the second tenth of the ranking, which depends little on how large the library is.
//! With it the area under the ROC curve of answerable against unanswerable requests rises from 0.936 to 0.943, 0.849 to
//! 0.901 and 0.916 to 0.934 on three libraries.
//!
//! Thresholds count from how high anything scores in a library, its [level](mod@crate::level). Of 78 requests that 231
//! cards of other vendors do not answer, thresholds measured elsewhere refused 13 without it and refuse 37 with it; of the
//! 142 that they answer, one and two.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use autokit_vocabulary::synonyms::MARK;

use crate::calibration::{Calibration, Calibrations};
use crate::document::Field;
use crate::index::Hit;

/// Weight of the background.
const BACKGROUND_SHARE: f32 = 0.5;
/// Mean background of the requests that were measured.
const USUAL_BACKGROUND: f32 = 0.155;

/// How much a first hit with phrases is lowered before it is judged if the request names its provider. "Give a customer
/// his money back in Stripe" names the provider of every operation of Stripe, the one that is not there included. On three
/// sets over the starter cards the area under the ROC curve rises by 0.004, 0.004 and 0.014. A request that also says a word
/// of the tool's own name, like "integrate with my Google calendar", means this tool.
/// On 231 cards without phrases, most of them the only one of their vendor, it falls by 0.01, so there it does not apply.
const NAMED_PROVIDER: f32 = 0.08;

/// Most that the level of a library moves thresholds: about what lies between 143 cards and 1,591.
const MAX_LEVEL_SHIFT: f32 = 0.15;

/// Certainty of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The tool stands out or is named in the question.
    Answered,
    /// There is a tool, but it may not fit.
    Unsure,
    /// Nothing in the library fits.
    #[default]
    Nothing,
}

/// Score thresholds for a first hit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// From this score on it is recommended without reservation.
    pub sure: f32,
    /// Below this score the web is searched before it is recommended.
    pub doubtful: f32,
    /// Below this score nothing is recommended.
    pub nothing: f32,
}

impl Thresholds {
    /// Returns the thresholds for the score of a first hit, see [`Calibrations`]. `background` is that of the request and
    /// `level` that of the library, see [`mod@crate::level`], if they have one.
    ///
    /// # Panics
    /// Never; a test parses the built-in file.
    pub fn for_hit(hit: Option<&Hit>, background: Option<f32>, level: Option<f32>) -> Thresholds {
        let measured = Calibrations::shipped().for_hit(hit).expect("the built-in file covers every score");
        let Thresholds { sure, doubtful, nothing } = measured.thresholds;
        let by = background_shift(background) + provider_shift(hit) - level_shift(level, measured);
        Thresholds { sure: sure - by, doubtful: doubtful - by, nothing: nothing - by }
    }

    /// Returns the verdict on a first hit with this score.
    pub fn verdict(self, score: f32) -> Verdict {
        if score >= self.sure {
            Verdict::Answered
        } else if score >= self.nothing {
            Verdict::Unsure
        } else {
            Verdict::Nothing
        }
    }
}

/// Returns by how much the score of a first hit is raised before it is judged.
pub(crate) fn background_shift(background: Option<f32>) -> f32 {
    background.map_or(0.0, |background| BACKGROUND_SHARE * (background - USUAL_BACKGROUND))
}

/// Returns by how much the score of a first hit is raised before it is judged because of how the request names it.
pub(crate) fn provider_shift(hit: Option<&Hit>) -> f32 {
    let names = |hit: &Hit| {
        // A meaning that a name happens to have is no name.
        let terms = |field: Field| {
            let of_field = hit.parts.matched_terms.iter().filter(move |term| term.field == field);
            of_field.map(|term| term.term.as_str()).filter(|term| !term.starts_with(MARK))
        };
        let names_tool = terms(Field::Name).any(|term| terms(Field::Provider).all(|other| other != term));
        let has_phrases = hit.parts.ask.is_some();
        has_phrases
            && hit.parts.name_match.is_none()
            && terms(Field::Provider).next().is_some()
            && !names_tool
    };
    if hit.is_some_and(names) { -NAMED_PROVIDER } else { 0.0 }
}

/// Returns by how much thresholds are raised in a library of this level.
pub(crate) fn level_shift(level: Option<f32>, measured: &Calibration) -> f32 {
    let above = level.zip(measured.level).map_or(0.0, |(level, usual)| level - usual);
    above.clamp(-MAX_LEVEL_SHIFT, MAX_LEVEL_SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{MatchedTerm, ScoreParts};
    use crate::names::NameMatch;

    #[test]
    fn requests_near_to_many_cards_are_answered_by_lower_scores() {
        let usual = Thresholds::for_hit(None, None, None);
        for (background, shift) in [(0.0, -0.0775), (0.155, 0.0), (0.355, 0.1)] {
            let shifted = Thresholds::for_hit(None, Some(background), None);
            for (usual, shifted) in [(usual.sure, shifted.sure), (usual.nothing, shifted.nothing)] {
                assert!((usual - shifted - shift).abs() < 1e-6, "{background}: {usual} {shifted}");
            }
        }
    }

    #[test]
    fn thresholds_follow_the_level_of_the_library_within_bounds() {
        let measured = Calibrations::shipped().of(false).expect("measured");
        let level = measured.level.expect("measured");
        let usual = Thresholds::for_hit(None, None, None);
        for (above, shift) in [(0.0, 0.0), (0.1, 0.1), (-0.05, -0.05), (0.5, 0.15)] {
            let shifted = Thresholds::for_hit(None, None, Some(level + above));
            for (usual, shifted) in [(usual.sure, shifted.sure), (usual.nothing, shifted.nothing)] {
                assert!((shifted - usual - shift).abs() < 1e-6, "{above}: {usual} {shifted}");
            }
        }
    }

    #[test]
    fn the_name_of_a_provider_says_little_about_its_operations() {
        let term = |field: Field, term: &str| MatchedTerm {
            word: "stripe".to_owned(),
            field,
            term: term.to_owned(),
            meaning: None,
        };
        let shift = |terms: Vec<MatchedTerm>, ask: Option<u32>, name_match: Option<NameMatch>| {
            let parts = ScoreParts { matched_terms: terms, ask, name_match, ..ScoreParts::default() };
            provider_shift(Some(&Hit { id: String::new(), score: 0.5, parts }))
        };
        let provider = || vec![term(Field::Provider, "stripe")];
        assert!((shift(provider(), Some(0), None) + NAMED_PROVIDER).abs() < f32::EPSILON);
        for none in [
            shift(provider(), None, None),
            shift(provider(), Some(0), Some(NameMatch::Exact)),
            shift(vec![term(Field::Description, "stripe")], Some(0), None),
            shift(vec![term(Field::Provider, "=money")], Some(0), None),
            shift(vec![term(Field::Provider, "google"), term(Field::Name, "calendar")], Some(0), None),
            provider_shift(None),
        ] {
            assert!(none.abs() < f32::EPSILON);
        }
    }
}
