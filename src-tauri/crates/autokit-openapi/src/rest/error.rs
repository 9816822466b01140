//! Why an operation was not called, or not answered.

use crate::CallError;

/// Why an operation was not called, or not answered. No message holds a key.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestError {
    /// The request cannot be made from these arguments and keys.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The key could be read on its way.
    #[error("a key is only sent over https, and this operation is at {server}")]
    Open {
        /// Where the operation is sent.
        server: String,
    },
    /// It was not answered.
    #[error(transparent)]
    Web(#[from] autokit_web::Error),
    /// No access token was given.
    #[error("{url} gave no access token: {reason}")]
    NoToken {
        /// Where it was asked for.
        url: String,
        /// What it said.
        reason: String,
    },
    /// Nobody waits for it any more.
    #[error("the call was taken back")]
    Cancelled,
}

impl RestError {
    /// Whether the same call may succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(self, RestError::Web(error) if error.is_temporary())
    }
}
