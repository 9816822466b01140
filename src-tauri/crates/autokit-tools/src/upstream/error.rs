//! Why a server did not do what it was asked.

use std::time::Duration;

/// Why a server did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// It could not be started, or did not shake hands.
    #[error("the MCP server {name:?} could not be started: {why}")]
    NotStarted {
        /// The server.
        name: String,
        /// What went wrong, with the last words of the program.
        why: String,
    },
    /// It ended or the line broke while something was on its way.
    #[error("the MCP server {name:?} ended: {why}")]
    Ended {
        /// The server.
        name: String,
        /// What is known, with the last words of the program.
        why: String,
    },
    /// It did not answer in time.
    #[error("the MCP server {name:?} did not answer within {} seconds", after.as_secs())]
    Silent {
        /// The server.
        name: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// It answered with an error of the protocol.
    #[error("the MCP server {name:?} refused: {words}")]
    Answered {
        /// The server.
        name: String,
        /// What it said.
        words: String,
    },
    /// It has more tools than it may.
    #[error("the MCP server {name:?} has more than {most} tools")]
    TooManyTools {
        /// The server.
        name: String,
        /// How many it may have.
        most: usize,
    },
    /// The call was taken back.
    #[error("the call was taken back")]
    Cancelled,
}

impl UpstreamError {
    /// Whether to try again may help.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            UpstreamError::Ended { .. } | UpstreamError::Silent { .. } | UpstreamError::NotStarted { .. }
        )
    }
}
