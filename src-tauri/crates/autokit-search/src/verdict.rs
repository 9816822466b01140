//! Decides by thresholds on its score whether the first hit answers a request.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::calibration::Calibrations;
use crate::index::Hit;

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
    /// Returns the thresholds for the score of a first hit, see [`Calibrations`].
    ///
    /// # Panics
    /// Never; a test parses the built-in file.
    pub fn for_hit(hit: Option<&Hit>) -> Thresholds {
        Calibrations::shipped().for_hit(hit).expect("the built-in file covers every score").thresholds
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

/// Returns the verdict on a list of hits; [`Verdict::Nothing`] if it is empty.
pub(crate) fn verdict_of(hits: &[Hit]) -> Verdict {
    hits.first().map_or(Verdict::Nothing, |hit| Thresholds::for_hit(Some(hit)).verdict(hit.score))
}
