//! Errors of a request to a model.

use std::time::Duration;

use autokit_error::{ApiError, ErrorCode};
use serde::{Deserialize, Serialize};

/// Error code for programs to branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The API key was rejected.
    WrongKey,
    /// There is no such service at this URL.
    WrongAddress,
    /// The service does not have this model.
    WrongModel,
    /// There is no connection, or it broke.
    NoConnection,
    /// Too many requests, or the quota is used up.
    RateLimited,
    /// The service failed.
    Provider,
    /// The reply took too long.
    Timeout,
    /// The reply exceeds the size limit.
    TooLong,
    /// The request is not valid for the model.
    BadRequest,
    /// The reply violates the protocol.
    BadReply,
    /// The reply does not match the schema, even after a correction.
    Unstructured,
    /// The spending limit is reached.
    OverBudget,
}

impl Code {
    /// Whether only this response was unusable: the next may be fine.
    pub fn is_of_one_response(self) -> bool {
        matches!(self, Code::BadReply | Code::Unstructured | Code::TooLong | Code::BadRequest)
    }
}

/// An error with the details needed to explain it. No variant contains a key.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Status 401 or 403.
    #[error("{host} rejected the API key")]
    WrongKey {
        /// Host of the service.
        host: String,
    },
    /// Something other than a model service responds at this URL.
    #[error("no such service at {url}: {reason}")]
    WrongAddress {
        /// The URL.
        url: String,
        /// What was received instead.
        reason: String,
    },
    /// The service does not have this model.
    #[error("{host} has no model {model:?}")]
    WrongModel {
        /// Host of the service.
        host: String,
        /// The requested model.
        model: String,
    },
    /// There is no connection, or it broke.
    #[error("could not connect to {host}: {reason}")]
    NoConnection {
        /// Host of the service.
        host: String,
        /// The system's reason.
        reason: String,
    },
    /// Status 429.
    #[error("{host} is rate limiting{}", retry_after.map_or(String::new(), |t| format!("; retry in {} s", t.as_secs())))]
    RateLimited {
        /// Host of the service.
        host: String,
        /// The requested pause, if the service gives one.
        retry_after: Option<Duration>,
    },
    /// Status 5xx, or an error in the middle of a reply.
    #[error("{host} failed: {reason}")]
    Provider {
        /// Host of the service.
        host: String,
        /// The message of the service.
        reason: String,
        /// The requested pause, if the service gives one.
        retry_after: Option<Duration>,
    },
    /// The whole reply or its next part took too long.
    #[error("{host} did not respond within {}", seconds(*after))]
    Timeout {
        /// Host of the service.
        host: String,
        /// The limit.
        after: Duration,
    },
    /// The reply exceeds the size limit.
    #[error("the response from {host} is longer than {limit} bytes")]
    TooLong {
        /// Host of the service.
        host: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// Any other 4xx status.
    #[error("{host} rejected the request: {reason}")]
    BadRequest {
        /// Host of the service.
        host: String,
        /// The message of the service.
        reason: String,
    },
    /// The reply violates the protocol.
    #[error("the response from {host} cannot be read: {reason}")]
    BadReply {
        /// Host of the service.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Neither the reply nor its correction matches the schema.
    #[error("the response does not match the requested format: {}", problems.join("; "))]
    Unstructured {
        /// How the reply violates the schema.
        problems: Vec<String>,
    },
    /// The spending limit is reached.
    #[error("the spending limit of ${cap:.2} is reached")]
    OverBudget {
        /// The limit, in US dollars.
        cap: f64,
    },
}

/// Formats a duration for people: whole seconds, or milliseconds if it is less than a second.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds => format!("{seconds} s"),
    }
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The error code.
    pub fn code(&self) -> Code {
        match self {
            Error::WrongKey { .. } => Code::WrongKey,
            Error::WrongAddress { .. } => Code::WrongAddress,
            Error::WrongModel { .. } => Code::WrongModel,
            Error::NoConnection { .. } => Code::NoConnection,
            Error::RateLimited { .. } => Code::RateLimited,
            Error::Provider { .. } => Code::Provider,
            Error::Timeout { .. } => Code::Timeout,
            Error::TooLong { .. } => Code::TooLong,
            Error::BadRequest { .. } => Code::BadRequest,
            Error::BadReply { .. } => Code::BadReply,
            Error::Unstructured { .. } => Code::Unstructured,
            Error::OverBudget { .. } => Code::OverBudget,
        }
    }

    /// What the user can do about it.
    pub fn remedy(&self) -> &'static str {
        match self.code() {
            Code::WrongKey => "Enter the full API key again in Settings, Language model.",
            Code::WrongAddress => "Check the URL in Settings, Language model; for Ollama it ends in /v1.",
            Code::WrongModel => {
                "Choose a model this service offers in Settings, Language model. Pull a local model first."
            }
            Code::NoConnection => "Check that the service is running and that you are online.",
            Code::RateLimited => "Wait, or choose another model in Settings, Language model.",
            Code::Provider | Code::Timeout => {
                "Try again, or choose another model in Settings, Language model."
            }
            Code::TooLong | Code::BadReply | Code::Unstructured => {
                "Try again. If it keeps happening, choose another model in Settings, Language model."
            }
            Code::BadRequest => "Choose a model with a longer context in Settings, Language model.",
            Code::OverBudget => {
                "Raise the spending limit in Settings, Language model, or continue without a language model."
            }
        }
    }

    /// Whether the same request may succeed after a pause.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self.code(), Code::RateLimited | Code::Provider | Code::NoConnection)
    }

    /// The pause that the service asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Error::RateLimited { retry_after, .. } | Error::Provider { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        let code = match error.code() {
            Code::WrongKey => ErrorCode::WrongKey,
            Code::WrongAddress => ErrorCode::WrongAddress,
            Code::WrongModel => ErrorCode::WrongModel,
            Code::NoConnection => ErrorCode::NoConnection,
            Code::RateLimited => ErrorCode::RateLimited,
            Code::Timeout => ErrorCode::Timeout,
            Code::OverBudget => ErrorCode::OverBudget,
            Code::Provider | Code::TooLong | Code::BadRequest | Code::BadReply | Code::Unstructured => {
                ErrorCode::Provider
            }
        };
        ApiError::new(code, error.to_string(), error.remedy())
    }
}
