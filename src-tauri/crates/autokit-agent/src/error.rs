//! What can stop the agent.

use autokit_error::{ApiError, ErrorCode};

/// Result of the agent's work.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the agent stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing to search with.
    #[error("no search service is chosen")]
    NoSearch,
    /// The search service or the web.
    #[error(transparent)]
    Web(#[from] autokit_web::Error),
    /// The language model.
    #[error(transparent)]
    Llm(#[from] autokit_llm::Error),
    /// The ranking.
    #[error(transparent)]
    Retrieve(#[from] autokit_search::RetrieveError),
    /// The embedding model.
    #[error("{0}")]
    Embedding(String),
    /// The library.
    #[error("{0}")]
    Library(String),
    /// Time ran out.
    #[error("not done within {0} seconds")]
    Deadline(u64),
}

impl From<autokit_pages::Error> for Error {
    fn from(error: autokit_pages::Error) -> Error {
        Error::Embedding(error.to_string())
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        match error {
            Error::Web(error) => error.into(),
            Error::Llm(error) => error.into(),
            Error::NoSearch => ApiError::new(
                ErrorCode::NoSearch,
                error.to_string(),
                "Choose one in Settings, Web search; DuckDuckGo needs no key.",
            ),
            Error::Deadline(_) => {
                ApiError::new(ErrorCode::Timeout, error.to_string(), "Try again, or choose a quicker model.")
            }
            Error::Retrieve(_) | Error::Embedding(_) | Error::Library(_) => {
                ApiError::internal(error.to_string())
            }
        }
    }
}
