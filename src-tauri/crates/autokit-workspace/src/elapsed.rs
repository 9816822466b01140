//! Elapsed time in milliseconds.

use std::time::Instant;

/// Returns the milliseconds since `began`.
pub fn ms_since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}
