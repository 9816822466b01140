//! Detecting candidates far behind the best one.

/// A card whose score is below this share of the best card's is not recommended just because a model says so.
pub(crate) const OUTLIER: f32 = 0.4;

/// Whether a card fits the question so much worse than the best one that a model preferring it was more
/// likely misled than right.
pub(crate) fn is_outlier(score: f32, best: f32) -> bool {
    score < OUTLIER * best
}
