//! Errors of MCP servers.

use std::error::Error;
use std::time::Duration;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;

/// Why a server did not do what was requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// It could not be started, or the handshake failed.
    #[error("the MCP server {name:?} could not be started: {why}")]
    NotStarted {
        /// The server.
        name: String,
        /// What went wrong, with the program's last output.
        why: String,
    },
    /// It ended or the connection broke during a request.
    #[error("the MCP server {name:?} ended: {why}")]
    Ended {
        /// The server.
        name: String,
        /// What is known, with the program's last output.
        why: String,
    },
    /// It did not respond in time.
    #[error("the MCP server {name:?} did not respond within {} seconds", after.as_secs())]
    Timeout {
        /// The server.
        name: String,
        /// How long was waited.
        after: Duration,
    },
    /// It responded with a protocol error.
    #[error("the MCP server {name:?} returned an error: {message}")]
    ErrorResponse {
        /// The server.
        name: String,
        /// Its error message.
        message: String,
    },
    /// It has more tools than allowed.
    #[error("the MCP server {name:?} has more than {most} tools")]
    TooManyTools {
        /// The server.
        name: String,
        /// The limit.
        most: usize,
    },
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
}

impl UpstreamError {
    /// Returns whether a retry may help.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            UpstreamError::Ended { .. } | UpstreamError::Timeout { .. } | UpstreamError::NotStarted { .. }
        )
    }
}

/// Returns whether the server closed the connection during the handshake.
pub(super) fn is_closed(error: &ClientInitializeError) -> bool {
    matches!(error, ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. })
}

/// Describes for people why the handshake failed, because the SDK's messages name types of its code.
pub(super) fn describe_handshake_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection before responding".to_owned(),
        ClientInitializeError::TransportError { error, .. } => describe_transport_error(error),
        ClientInitializeError::JsonRpcError(error) => format!("it returned an error: {}", error.message),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "its response is not that of an MCP server".to_owned()
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it supports no protocol version that AutoKit supports".to_owned()
        }
        error => error_chain(error),
    }
}

/// Describes for people why the connection broke.
pub(super) fn describe_service_error(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => describe_transport_error(error),
        ServiceError::TransportClosed => "it closed the connection".to_owned(),
        ServiceError::UnexpectedResponse => "it returned an unexpected response".to_owned(),
        error => error_chain(error),
    }
}

fn describe_transport_error(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<std::io::Error>() {
        Some(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            "it closed the connection".to_owned()
        }
        _ => error_chain(&*error.error),
    }
}

fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        source = error.source();
    }
    text
}
