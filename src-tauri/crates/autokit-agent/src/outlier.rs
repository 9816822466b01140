//! Detecting candidates far behind the best one.

/// A model's recommendation is ignored if its score is below this share of the best one's.
pub(crate) const OUTLIER: f32 = 0.4;
