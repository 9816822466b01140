//! Detecting candidates far behind the best one.

/// A card whose score is below this share of the best card's is not recommended just because a model says so.
pub(crate) const OUTLIER: f32 = 0.4;
