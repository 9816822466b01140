//! Score thresholds, measured on judged questions with the same scores they are applied to.
//!
//! `autokit eval calibrate` runs every question and writes `thresholds.json` next to this file: the thresholds, the probability that a first hit is right, and how reliable first hits of each score were,
//! so that readers can see the data behind them.
//!
//! First hits on cards with `asks_for` are measured apart: the closest of several phrases is closer to any
//! request than one description is, so the same score means less.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::confidence::ConfidenceCurve;
use crate::index::Hit;
use crate::verdict::Thresholds;

/// Share of first hits at or above [`Thresholds::sure`] that must be right, on cards without and with `asks_for`.
const SURE_PRECISION: [f64; 2] = [0.95, 0.96];
/// Largest share of right first hits that may score below [`Thresholds::nothing`], on cards without and with `asks_for`.
/// On the latter the scores of what a library answers and of what it does not lie closer together: with 0.03, 73 instead
/// of 78 of 100 requests that the starter cards cannot answer are refused.
const MAX_WITHHELD: [f64; 2] = [0.02, 0.033];
/// Fewest first hits that a threshold may be based on.
const MIN_QUESTIONS: usize = 20;
/// Number of score ranges in the reliability table.
const BINS: u16 = 10;

static SHIPPED: LazyLock<Calibrations> = LazyLock::new(|| {
    serde_json::from_str(include_str!("thresholds.json")).expect("a test parses the built-in file")
});

/// Measurements made with one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrations {
    /// Name of the model.
    pub model: String,
    /// One for each kind of card.
    pub calibrations: Vec<Calibration>,
}

/// Thresholds for the scores of one kind of card, with the data behind them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Whether the cards say what people ask for when they need them.
    pub asks_for: bool,
    /// The measured thresholds.
    pub thresholds: Thresholds,
    /// Level of the library they were measured in: how high the first hits of requests score that no tool serves;
    /// `None` where it had too few cards.
    pub level: Option<f32>,
    /// Probability that a first hit is right, by its score.
    pub confidence: ConfidenceCurve,
    /// Expected calibration error of `confidence`, cross-validated on these questions.
    pub calibration_error: f64,
    /// Number of questions that some card answers.
    pub answerable: u32,
    /// Number of questions that no card answers.
    pub unanswerable: u32,
    /// Reliability by score range, lowest first; ranges without a first hit are left out.
    pub reliability: Vec<ReliabilityBin>,
}

/// First hits with a score in one range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Lower bound, inclusive; of the first range, 0 and what is below.
    pub from: f32,
    /// Upper bound, exclusive except for 1, with what is above.
    pub to: f32,
    /// Number of first hits.
    pub hits: u32,
    /// How many of them are right.
    pub right: u32,
    /// How many of them are for questions that no card answers.
    pub unanswerable: u32,
}

/// The first hit of a judged question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedHit {
    /// Its score as it is judged, about 0 to 1; 0 where nothing was found.
    pub score: f32,
    /// Whether the hit answers the question.
    pub right: bool,
    /// Whether any card answers the question.
    pub answerable: bool,
    /// Whether the card says what people ask for when they need it.
    pub asks_for: bool,
}

impl Calibrations {
    /// Returns the calibrations shipped with AutoKit.
    pub fn shipped() -> &'static Calibrations {
        &SHIPPED
    }

    /// Returns the calibration for first hits like this one; `None` if it was not measured for them: with another model, or
    /// where only words were compared.
    pub fn measured_for(&self, model: &str, hit: &Hit) -> Option<&Calibration> {
        if self.model != model || hit.parts.cosine.is_none() {
            return None;
        }
        self.for_hit(Some(hit))
    }

    /// Returns the calibration for the score of a first hit; without one, of a card without `asks_for`.
    pub fn for_hit(&self, hit: Option<&Hit>) -> Option<&Calibration> {
        self.of(hit.is_some_and(|hit| hit.parts.ask.is_some()))
    }

    /// Returns the calibration for scores of a kind of card.
    pub fn of(&self, asks_for: bool) -> Option<&Calibration> {
        self.calibrations.iter().find(|calibration| calibration.asks_for == asks_for)
    }
}

impl Calibration {
    /// Measures thresholds on the hits of one kind of card in a library of this level; `None` if there are too few answerable or unanswerable
    /// questions.
    ///
    /// * *sure*: the lowest score from which on 95 % of the first hits are right (96 % on cards with `asks_for`);
    /// * *nothing*: the highest score below which at most 2 % of the right first hits lie (3 % on cards with `asks_for`);
    /// * *doubtful*: the score from which on a first hit is at least as often right as wrong, by isotonic
    ///   regression.
    pub fn measure(asks_for: bool, level: Option<f32>, hits: &[JudgedHit]) -> Option<Calibration> {
        let of_kind: Vec<JudgedHit> = hits.iter().filter(|hit| hit.asks_for == asks_for).copied().collect();
        let hits = of_kind.as_slice();
        let answerable = hits.iter().filter(|hit| hit.answerable).count();
        let unanswerable = hits.len() - answerable;
        if answerable < MIN_QUESTIONS || unanswerable < MIN_QUESTIONS {
            return None;
        }
        let judged: Vec<(f32, bool)> = hits.iter().map(|hit| (hit.score, hit.right)).collect();
        let mut ranked = hits.to_vec();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        let right = |hits: &[JudgedHit]| hits.iter().filter(|hit| hit.right).count();
        // Thresholds lie between two different scores: hits with equal scores are treated alike.
        let cuts: Vec<usize> = (1..=ranked.len())
            .filter(|at| ranked.get(*at).is_none_or(|next| next.score < ranked[at - 1].score))
            .collect();
        // Half way, so that the last bits of a score, which differ between precisions, decide nothing.
        let between = |at: usize| {
            let above = ranked[at - 1].score;
            ranked.get(at).map_or(above, |below| f32::midpoint(above, below.score))
        };
        let precision = SURE_PRECISION[usize::from(asks_for)];
        let reliable =
            |at: &&usize| **at >= MIN_QUESTIONS && right(&ranked[..**at]) as f64 >= precision * **at as f64;
        let sure = cuts.iter().rev().find(reliable).map_or(1.0, |at| between(*at));
        let withheld_limit = (MAX_WITHHELD[usize::from(asks_for)] * right(&ranked) as f64).floor() as usize;
        let nothing = cuts.iter().find(|at| right(&ranked[**at..]) <= withheld_limit);
        let nothing = nothing.map_or(0.0, |at| between(*at)).min(sure);
        let doubtful =
            isotonic(&ranked).into_iter().find(|level| level.share >= 0.5).map_or(sure, |level| level.from);
        Some(Calibration {
            asks_for,
            thresholds: Thresholds { sure, doubtful: doubtful.clamp(nothing, sure), nothing },
            level,
            confidence: ConfidenceCurve::fit(&judged),
            calibration_error: ConfidenceCurve::cross_validated_error(&judged),
            answerable: answerable as u32,
            unanswerable: unanswerable as u32,
            reliability: reliability(hits),
        })
    }
}

/// The share of right first hits from a score on.
struct Level {
    from: f32,
    share: f64,
}

/// Fits shares of right first hits that increase with the score (pool adjacent violators), lowest score
/// first.
fn isotonic(ranked: &[JudgedHit]) -> Vec<Level> {
    // For each block: lowest score, right hits, all hits.
    let mut blocks: Vec<(f32, u32, u32)> = Vec::new();
    for hit in ranked.iter().rev() {
        let mut block = (hit.score, u32::from(hit.right), 1);
        while let Some(&(from, right, all)) = blocks.last()
            && (from.total_cmp(&block.0).is_eq()
                || u64::from(right) * u64::from(block.2) >= u64::from(block.1) * u64::from(all))
        {
            block = (from, right + block.1, all + block.2);
            blocks.pop();
        }
        blocks.push(block);
    }
    blocks
        .into_iter()
        .map(|(from, right, all)| Level { from, share: f64::from(right) / f64::from(all) })
        .collect()
}

fn reliability(hits: &[JudgedHit]) -> Vec<ReliabilityBin> {
    let edge = |bin: u16| f32::from(bin) / f32::from(BINS);
    (0..BINS)
        .filter_map(|bin| {
            let (from, to) = (edge(bin), edge(bin + 1));
            let within: Vec<&JudgedHit> = hits
                .iter()
                .filter(|hit| (hit.score >= from || bin == 0) && (hit.score < to || bin + 1 == BINS))
                .collect();
            (!within.is_empty()).then(|| ReliabilityBin {
                from,
                to,
                hits: within.len() as u32,
                right: within.iter().filter(|hit| hit.right).count() as u32,
                unanswerable: within.iter().filter(|hit| !hit.answerable).count() as u32,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ScoreParts;

    fn hit(score: f32, right: bool, answerable: bool) -> JudgedHit {
        JudgedHit { score, right, answerable, asks_for: false }
    }

    #[test]
    fn thresholds_separate_what_the_scores_separate() {
        let mut hits = Vec::new();
        for at in 0..100_u8 {
            let score = f32::from(at) / 100.0;
            // Always right from 0.4 on, sometimes from 0.2 on, and unanswerable below 0.2.
            hits.push(hit(score, at >= 40 || (at >= 20 && at % 4 == 0), at >= 20));
        }
        let measured = Calibration::measure(false, Some(0.2), &hits).expect("enough questions");
        let Thresholds { sure, doubtful, nothing } = measured.thresholds;
        assert!((0.35..=0.40).contains(&sure), "{sure}");
        assert!((0.35..=0.40).contains(&doubtful), "{doubtful}");
        // One of the 65 right hits may be withheld: the lowest, at 0.2; the next is at 0.24.
        assert!((0.23..=0.25).contains(&nothing), "{nothing}");
        assert_eq!(measured.reliability.iter().map(|bin| bin.hits).sum::<u32>(), 100);
        assert_eq!(
            measured.reliability[0],
            ReliabilityBin { from: 0.0, to: 0.1, hits: 10, right: 0, unanswerable: 10 }
        );
    }

    #[test]
    fn hits_with_equal_scores_get_the_same_verdict() {
        let mut hits = vec![hit(0.5, true, true); 30];
        hits.extend(vec![hit(0.5, false, false); 30]);
        let measured = Calibration::measure(false, Some(0.2), &hits).expect("enough questions");
        // No score separates them: nothing is sure, and no right hit is withheld.
        assert_eq!(measured.thresholds, Thresholds { sure: 1.0, doubtful: 0.5, nothing: 0.5 });
    }

    #[test]
    fn hits_on_another_kind_of_card_do_not_count() {
        let mut hits = vec![hit(0.5, true, true); 30];
        hits.extend(vec![hit(0.3, false, false); 30]);
        let alone = Calibration::measure(false, Some(0.2), &hits);
        assert!(alone.is_some());
        let other = |hit: &JudgedHit| JudgedHit { right: !hit.right, asks_for: true, ..*hit };
        hits.extend(hits.clone().iter().map(other));
        assert_eq!(Calibration::measure(false, Some(0.2), &hits), alone);
    }

    #[test]
    fn a_handful_of_questions_gives_no_thresholds() {
        assert_eq!(Calibration::measure(false, Some(0.2), &vec![hit(0.9, true, true); 100]), None);
        assert_eq!(Calibration::measure(false, Some(0.2), &vec![hit(0.9, false, false); 100]), None);
    }

    #[test]
    fn there_are_thresholds_for_each_kind_of_card() {
        for asks_for in [false, true] {
            let calibration = Calibrations::shipped().of(asks_for).expect("measured");
            let Thresholds { sure, doubtful, nothing } = calibration.thresholds;
            assert!(
                0.0 < nothing && nothing <= doubtful && doubtful <= sure && sure < 1.0,
                "{calibration:?}"
            );
            // What maximum likelihood implies: in the mean, as many are right as the function says.
            let hits: f64 = calibration.reliability.iter().map(|bin| f64::from(bin.hits)).sum();
            let right: f64 = calibration.reliability.iter().map(|bin| f64::from(bin.right)).sum();
            let stated: f64 = calibration
                .reliability
                .iter()
                .map(|bin| {
                    f64::from(calibration.confidence.of(f32::midpoint(bin.from, bin.to)))
                        * f64::from(bin.hits)
                })
                .sum();
            assert!((stated - right).abs() < 0.04 * hits, "{stated} {right} {hits}");
            assert!(calibration.confidence.slope > 0.0 && calibration.calibration_error < 0.15);
        }
    }

    #[test]
    fn confidence_is_stated_only_for_what_was_measured() {
        let shipped = Calibrations::shipped();
        let model = shipped.model.as_str();
        let hit = |cosine| Hit {
            id: "x".into(),
            score: 0.6,
            parts: ScoreParts { cosine, ..ScoreParts::default() },
        };
        let curve = shipped.measured_for(model, &hit(Some(0.5))).expect("measured").confidence;
        assert!(curve.of(0.6) > curve.of(0.3));
        assert_eq!(shipped.measured_for(model, &hit(None)), None);
        assert_eq!(shipped.measured_for("another", &hit(Some(0.5))), None);
    }
}
