//! Errors of the agent.

use autokit_error::{ApiError, ErrorCode};

/// Result of the agent's work.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the agent failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No search service is chosen.
    #[error("no search service is configured")]
    NoSearch,
    /// The search service or the web failed.
    #[error(transparent)]
    Web(#[from] autokit_web::Error),
    /// The language model failed.
    #[error(transparent)]
    Llm(#[from] autokit_llm::Error),
    /// The ranking failed.
    #[error(transparent)]
    Retrieve(#[from] autokit_search::RetrieveError),
    /// The embedding model failed.
    #[error("{0}")]
    Embedding(String),
    /// The library failed.
    #[error("{0}")]
    Library(String),
    /// The deadline passed.
    #[error("not finished within {0} seconds")]
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
                "Choose one in Settings, Web search; DuckDuckGo needs no API key.",
            ),
            Error::Deadline(_) => {
                ApiError::new(ErrorCode::Timeout, error.to_string(), "Try again, or choose a faster model.")
            }
            Error::Retrieve(_) | Error::Embedding(_) | Error::Library(_) => {
                ApiError::internal(error.to_string())
            }
        }
    }
}
