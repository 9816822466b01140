//! Errors that stop reading. A page that is dead, slow or wrong is a finding, not an error.

/// Result of reading.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why reading stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The embedding model failed.
    #[error("{0}")]
    Embedding(String),
}

/// Runs slow work, mainly the embedding model's, on a blocking thread.
///
/// # Errors
/// [`Error::Embedding`].
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::result::Result<T, String> + Send + 'static,
) -> Result<T> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.map_err(|error| Error::Embedding(format!("it failed: {error}")))?.map_err(Error::Embedding)
}
