//! What can go wrong on the way to an answer.

use std::time::Duration;

use autokit_error::{ApiError, ErrorCode};
use serde::{Deserialize, Serialize};

/// What programs branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The key was refused.
    WrongKey,
    /// No such service at this address.
    WrongAddress,
    /// The service does not know this model.
    WrongModel,
    /// No connection, or it broke.
    NoConnection,
    /// Too many requests, or the allowance is spent.
    RateLimited,
    /// The service failed.
    Provider,
    /// The answer took too long.
    Timeout,
    /// The answer is longer than allowed.
    TooLong,
    /// The request does not fit what the model takes.
    BadRequest,
    /// The answer is not what the protocol says.
    BadReply,
    /// The answer does not fit the schema, twice.
    Unstructured,
    /// The spend cap is reached.
    OverBudget,
}

/// A failure with what is needed to explain it. No variant holds a key.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// 401, 403.
    #[error("{host} refused the key")]
    WrongKey {
        /// Who.
        host: String,
    },
    /// Something else answers there.
    #[error("there is no such service at {url}: {reason}")]
    WrongAddress {
        /// Where.
        url: String,
        /// What came instead.
        reason: String,
    },
    /// The service does not know the model.
    #[error("{host} has no model {model:?}")]
    WrongModel {
        /// Who.
        host: String,
        /// What was asked for.
        model: String,
    },
    /// No connection, or it broke.
    #[error("no connection to {host}: {reason}")]
    NoConnection {
        /// Who.
        host: String,
        /// The system's reason.
        reason: String,
    },
    /// 429.
    #[error("{host} asks for a pause{}", retry_after.map_or(String::new(), |t| format!(" of {} s", t.as_secs())))]
    RateLimited {
        /// Who.
        host: String,
        /// How long, where it says.
        retry_after: Option<Duration>,
    },
    /// 5xx, or an error in the middle of an answer.
    #[error("{host} failed: {reason}")]
    Provider {
        /// Who.
        host: String,
        /// What it said.
        reason: String,
        /// How long to wait, where it says.
        retry_after: Option<Duration>,
    },
    /// The whole answer, or the next piece of it, took too long.
    #[error("{host} did not answer within {}", seconds(*after))]
    Timeout {
        /// Who.
        host: String,
        /// The limit.
        after: Duration,
    },
    /// The answer is longer than allowed.
    #[error("the answer of {host} is longer than {limit} bytes")]
    TooLong {
        /// Who.
        host: String,
        /// The limit.
        limit: usize,
    },
    /// Other 4xx.
    #[error("{host} does not take this request: {reason}")]
    BadRequest {
        /// Who.
        host: String,
        /// What it said.
        reason: String,
    },
    /// Not what the protocol says.
    #[error("the answer of {host} cannot be read: {reason}")]
    BadReply {
        /// Who.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The answer does not fit the schema, and neither did its correction.
    #[error("the answer does not fit what was asked for: {}", problems.join("; "))]
    Unstructured {
        /// What does not fit.
        problems: Vec<String>,
    },
    /// The spend cap is reached.
    #[error("the spend cap of ${cap:.2} is reached")]
    OverBudget {
        /// The cap, in US dollars.
        cap: f64,
    },
}

/// A duration for people: whole seconds, or milliseconds where it is shorter than one.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds => format!("{seconds} s"),
    }
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What to branch on.
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

    /// What a person can do.
    pub fn remedy(&self) -> &'static str {
        match self.code() {
            Code::WrongKey => "Enter the key again in Settings, Keys; copy all of it.",
            Code::WrongAddress => "Check the address in Settings, Language model; for Ollama it ends in /v1.",
            Code::WrongModel => {
                "Choose a model this service has in Settings, Language model; a local one has to be pulled first."
            }
            Code::NoConnection => "See that the service runs and the network is there.",
            Code::RateLimited => "Wait, or choose another model in Settings, Language model.",
            Code::Provider | Code::Timeout => {
                "Try again, or choose another model in Settings, Language model."
            }
            Code::TooLong | Code::BadReply | Code::Unstructured => {
                "Try again; if it stays, choose another model in Settings, Language model."
            }
            Code::BadRequest => "Choose a model with a longer context in Settings, Language model.",
            Code::OverBudget => {
                "Raise the cap in Settings, Language model, or go on without a language model."
            }
        }
    }

    /// Whether the same request may succeed in a moment.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.code(), Code::RateLimited | Code::Provider | Code::NoConnection)
    }

    /// The pause the service asks for.
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
