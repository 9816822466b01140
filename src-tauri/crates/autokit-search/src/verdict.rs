//! Whether the first hit answers a request, by thresholds on the scores of one depth.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::calibration::Calibrations;
use crate::index::Hit;
use crate::searcher::Depth;

/// How sure an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The tool stands out or is named by the question.
    Answered,
    /// There is a tool, but it is not certain that it serves.
    Unsure,
    /// Nothing in the library fits.
    #[default]
    Nothing,
}

/// Scores of a first hit from which, or below which, something is said of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// At or above this it is recommended without reserve.
    pub sure: f32,
    /// Below this the web is asked before it is recommended.
    pub doubtful: f32,
    /// Below this nothing is recommended.
    pub nothing: f32,
}

impl Thresholds {
    /// Those measured on the scores of a depth: see [`Calibrations`].
    ///
    /// # Panics
    /// Never: a test reads the file that is compiled in.
    pub fn of(depth: Depth) -> Thresholds {
        Calibrations::shipped().of(depth).expect("every depth was measured").thresholds
    }

    /// What a score says of the first hit.
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

/// What the first hit says of all: nothing where there is none.
pub(crate) fn verdict_of(hits: &[Hit], depth: Depth) -> Verdict {
    hits.first().map_or(Verdict::Nothing, |hit| Thresholds::of(depth).verdict(hit.score))
}
