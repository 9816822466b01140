//! How commands end.

use autokit_app::{ApiError, ErrorCode};

/// How a command ended.
pub(crate) enum End {
    /// It did what was asked.
    Done,
    /// It looked and found nothing.
    Nothing,
    /// Nothing of what was given could be taken, or the tool that was called says it failed.
    Refused,
    /// Something of the installation does not work.
    Unwell,
}

/// What ends a command early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error with a remedy.
    Api(ApiError),
    /// The reader of the output went away.
    ClosedPipe,
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Failure {
        Failure::Api(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Api(ApiError::new(
                ErrorCode::Internal,
                format!("can't write the output: {error}"),
                "Check that there is free space.",
            )),
        }
    }
}

/// What a command gives, or what ended it early.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;
