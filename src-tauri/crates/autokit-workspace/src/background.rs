//! Runs blocking and CPU-bound work away from the async worker threads.

use autokit_error::{ApiError, Result};

/// Runs blocking or CPU-bound work on tokio's blocking thread pool.
pub async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ApiError::internal(format!("the task failed: {error}"))),
    }
}
