//! Why an operation could not be called or got no response.

use crate::CallError;

/// Why an operation could not be called or got no response. Messages never contain a key.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestError {
    /// The request cannot be made from these arguments and keys.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A key would be readable in transit.
    #[error("API keys are only sent over https, and this operation is at {server}")]
    Unencrypted {
        /// The server of the operation.
        server: String,
    },
    /// There was no response.
    #[error(transparent)]
    Web(#[from] autokit_web::Error),
    /// The token endpoint returned no access token.
    #[error("{url} returned no access token: {reason}")]
    NoToken {
        /// URL of the token endpoint.
        url: String,
        /// The reason it gave.
        reason: String,
    },
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
}

impl RestError {
    /// Whether the same call may succeed later.
    pub fn is_temporary(&self) -> bool {
        matches!(self, RestError::Web(error) if error.is_temporary())
    }
}
