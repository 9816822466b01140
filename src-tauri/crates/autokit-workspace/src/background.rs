//! Work that blocks or computes, away from the threads that answer.

use autokit_error::{ApiError, Result};

/// Runs what blocks or computes on a thread for that.
pub async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(broken) => Err(ApiError::internal(format!("the work broke off: {broken}"))),
    }
}
