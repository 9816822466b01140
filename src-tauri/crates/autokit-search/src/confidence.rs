//! Confidence in a first hit: the probability that it is right, as a function of its score.

use serde::{Deserialize, Serialize};

/// Most steps of Newton's method; it takes fewer than ten.
const MAX_STEPS: usize = 50;
/// Number of ranges of confidence that [`calibration_error`] compares.
const BINS: usize = 10;

/// A logistic function of the score: `1 / (1 + exp(-(slope * score + intercept)))` (Platt, "Probabilistic outputs for
/// support vector machines", 1999). A table of shares by score would follow the few questions it was measured on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceCurve {
    /// Change of the log-odds per unit of score.
    pub slope: f64,
    /// Log-odds at score 0.
    pub intercept: f64,
}

impl ConfidenceCurve {
    /// Returns the probability that a first hit with this score is right.
    pub fn of(self, score: f32) -> f32 {
        self.probability(f64::from(score)) as f32
    }

    fn probability(self, score: f64) -> f64 {
        1.0 / (1.0 + (-(self.slope * score + self.intercept)).exp())
    }

    /// Fits the function to scores of first hits and whether they are right, by maximum likelihood, with Platt's targets, which keep it finite where a score
    /// separates right from wrong.
    pub(crate) fn fit(hits: &[(f32, bool)]) -> ConfidenceCurve {
        let right = hits.iter().filter(|(_, right)| *right).count() as f64;
        let wrong = hits.len() as f64 - right;
        let targets = [1.0 / (wrong + 2.0), (right + 1.0) / (right + 2.0)];
        let points: Vec<(f64, f64)> =
            hits.iter().map(|(score, right)| (f64::from(*score), targets[usize::from(*right)])).collect();
        // Cross entropy in terms of the log-odds `z`: ln(1 + e^z) - target * z, without overflow.
        let loss = |at: ConfidenceCurve| -> f64 {
            let of = |&(score, target): &(f64, f64)| {
                let z = at.slope * score + at.intercept;
                z.max(0.0) + (-z.abs()).exp().ln_1p() - target * z
            };
            points.iter().map(of).sum()
        };
        let mut fitted = ConfidenceCurve { slope: 0.0, intercept: ((right + 1.0) / (wrong + 1.0)).ln() };
        for _ in 0..MAX_STEPS {
            // The ridge keeps the Hessian invertible where all scores are equal.
            let (mut gradient, mut hessian) = ([0.0; 2], [1e-9, 0.0, 1e-9]);
            for &(score, target) in &points {
                let probability = fitted.probability(score);
                let (error, weight) = (probability - target, probability * (1.0 - probability));
                gradient[0] += error * score;
                gradient[1] += error;
                hessian[0] += weight * score * score;
                hessian[1] += weight * score;
                hessian[2] += weight;
            }
            let determinant = hessian[0] * hessian[2] - hessian[1] * hessian[1];
            let change = [
                (hessian[2] * gradient[0] - hessian[1] * gradient[1]) / determinant,
                (hessian[0] * gradient[1] - hessian[1] * gradient[0]) / determinant,
            ];
            // A whole step may go too far (Lin, Lin & Weng, "A note on Platt's probabilistic outputs", 2007).
            let before = loss(fitted);
            let shares = [1.0, 0.5, 0.25, 0.125, 0.0625];
            let step = shares
                .into_iter()
                .map(|share| ConfidenceCurve {
                    slope: fitted.slope - share * change[0],
                    intercept: fitted.intercept - share * change[1],
                })
                .find(|next| loss(*next) < before - 1e-12);
            match step {
                Some(next) => fitted = next,
                None => break,
            }
        }
        fitted
    }

    /// Returns the expected calibration error of functions fitted to four fifths of the hits and applied to the last
    /// fifth, so that no hit is judged by a function that saw it.
    pub(crate) fn cross_validated_error(hits: &[(f32, bool)]) -> f64 {
        const FOLDS: usize = 5;
        let mut judged = Vec::with_capacity(hits.len());
        for fold in 0..FOLDS {
            let within = |at: usize| at % FOLDS == fold;
            let others: Vec<(f32, bool)> =
                hits.iter().enumerate().filter(|(at, _)| !within(*at)).map(|(_, hit)| *hit).collect();
            let fitted = ConfidenceCurve::fit(&others);
            let here = hits.iter().enumerate().filter(|(at, _)| within(*at));
            judged.extend(here.map(|(_, (score, right))| (fitted.of(*score), *right)));
        }
        calibration_error(&judged)
    }
}

/// Computes the expected calibration error, 0 to 1: how far the stated confidence is from the share of right hits, in
/// the mean over ten equal ranges of confidence weighted by their hits (Naeini, Cooper & Hauskrecht, 2015).
pub fn calibration_error(judged: &[(f32, bool)]) -> f64 {
    let mut differences = [0.0; BINS];
    for &(confidence, right) in judged {
        let bin = ((confidence * BINS as f32) as usize).min(BINS - 1);
        differences[bin] += f64::from(confidence) - f64::from(u8::from(right));
    }
    let sum: f64 = differences.iter().map(|difference| difference.abs()).sum();
    sum / judged.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logistic_relation_is_found() {
        let truth = ConfidenceCurve { slope: 12.0, intercept: -6.0 };
        let mut hits = Vec::new();
        for at in 0..=100_u16 {
            let score = f32::from(at) / 100.0;
            let right = (100.0 * truth.of(score)).round() as usize;
            hits.extend((0..100).map(|draw| (score, draw < right)));
        }
        let fitted = ConfidenceCurve::fit(&hits);
        assert!((fitted.slope - 12.0).abs() < 0.2 && (fitted.intercept + 6.0).abs() < 0.1, "{fitted:?}");
        let error = ConfidenceCurve::cross_validated_error(&hits);
        assert!(error < 0.02, "{error}");
    }

    #[test]
    fn scores_that_separate_give_finite_functions() {
        let hits: Vec<(f32, bool)> = (0..40_u8).map(|at| (f32::from(at) / 40.0, at >= 20)).collect();
        let fitted = ConfidenceCurve::fit(&hits);
        assert!(fitted.slope.is_finite() && fitted.of(0.9) > 0.9 && fitted.of(0.1) < 0.1, "{fitted:?}");
    }

    #[test]
    fn one_score_for_all_gives_their_share() {
        let hits: Vec<(f32, bool)> = (0..100).map(|at| (0.5, at % 4 != 0)).collect();
        let fitted = ConfidenceCurve::fit(&hits);
        assert!((fitted.of(0.5) - 0.75).abs() < 0.02, "{fitted:?}");
        assert!(ConfidenceCurve::fit(&[]).of(0.5).is_finite());
    }

    #[test]
    fn the_error_is_the_distance_between_confidence_and_share() {
        // Half are right where 0.95 is claimed, all where 0.55 is claimed.
        let judged = [(0.95, true), (0.95, false), (0.55, true), (0.55, true)];
        let error = calibration_error(&judged);
        assert!((error - (0.5 * 0.45 + 0.5 * 0.45)).abs() < 1e-6, "{error}");
        assert!(calibration_error(&[]).abs() < 1e-12);
    }
}
