//! What can stop the verifier. That a page is dead, slow or wrong is a finding, not an error.

/// Result of the verifier's work.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why it stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The embedding model failed.
    #[error("{0}")]
    Senses(String),
}
