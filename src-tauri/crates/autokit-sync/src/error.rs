//! Errors of a synchronization.

use autokit_error::ApiError;
use autokit_library::LibraryError;
use autokit_team::{Code, TeamError};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, SyncError>;

/// Why a synchronization stopped. What was done until then stays done.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The team's library did not do something.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// The library here did not do something.
    #[error(transparent)]
    Library(#[from] LibraryError),
}

impl SyncError {
    /// Whether nobody answers, so that it is to be tried again later.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, SyncError::Team(error) if error.code == Code::Unreachable)
    }
}

impl From<SyncError> for ApiError {
    fn from(error: SyncError) -> ApiError {
        match error {
            SyncError::Team(error) => error.into(),
            SyncError::Library(error) => error.into(),
        }
    }
}
