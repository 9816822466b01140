//! How long something took.

use std::time::Instant;

/// Milliseconds since.
pub fn ms_since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}
