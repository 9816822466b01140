//! When a candidate is far behind the best.

/// A card whose score is below this share of the best one's is not recommended because a model says so.
pub(crate) const OUTLIER: f32 = 0.4;
