//! Results of commands.

use autokit_error::{ApiError, ErrorCode};

/// How a command ended.
pub enum Outcome {
    /// The command succeeded.
    Done,
    /// Nothing was found.
    NothingFound,
    /// The input was rejected, or the called tool failed.
    Rejected,
    /// The installation or the library has a problem.
    Unhealthy,
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// An error with a remedy.
    Api(ApiError),
    /// The reader of the output closed it.
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

/// The result of a command.
pub type Result<T, E = Failure> = std::result::Result<T, E>;
