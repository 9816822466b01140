//! What can go wrong on the way to a page or a search.

use std::time::Duration;

use autokit_error::{ApiError, ErrorCode};
use serde::{Deserialize, Serialize};

use crate::hop::Hop;

/// What programs branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Not an address this client reads.
    BadUrl,
    /// The host is this machine or a private network, and was not allowed.
    PrivateAddress,
    /// The host is not open to whoever asks.
    Closed,
    /// The site's robots.txt forbids it.
    Robots,
    /// Redirects without an end.
    Redirects,
    /// It took longer than allowed.
    Timeout,
    /// More bytes than allowed.
    TooLarge,
    /// Not a text.
    NotText,
    /// The name has no address.
    NoSuchHost,
    /// No connection, or it broke.
    NoConnection,
    /// The certificate does not hold.
    Tls,
    /// The key was refused.
    WrongKey,
    /// There is no such service at this address.
    WrongAddress,
    /// Too many requests.
    RateLimited,
    /// The service failed or answered something else than its protocol says.
    Provider,
}

/// What a host's name stands for, where that says more than the name.
fn also(host: &str, address: &str) -> String {
    if host.trim_matches(['[', ']']) == address { String::new() } else { format!(" ({address})") }
}

/// A number of bytes as people say it.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// A failure with what is needed to explain it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be read.
    #[error("{url} cannot be read: {reason}")]
    BadUrl {
        /// As given.
        url: String,
        /// Why not.
        reason: String,
    },
    /// The address leads to this machine or a private network.
    #[error("{host} is on this machine or a private network{}", also(host, address))]
    PrivateAddress {
        /// Name or number in the address.
        host: String,
        /// What it stands for.
        address: String,
    },
    /// The host is not open to whoever asks.
    #[error("the host {host} is not open to you")]
    Closed {
        /// Its name.
        host: String,
    },
    /// robots.txt forbids the address, or the site could not say whether it does.
    #[error("{url} is closed to programs: {reason}")]
    Robots {
        /// The address.
        url: String,
        /// What robots.txt says, or why it could not be had.
        reason: String,
    },
    /// Redirects in a circle or too many of them.
    #[error("{} redirects {}", hops.first().map_or("", |hop| &hop.url), if *circle { "in a circle" } else { "too often" })]
    Redirects {
        /// Every address visited.
        hops: Vec<Hop>,
        /// An address came twice.
        circle: bool,
    },
    /// The whole took too long; drips count too.
    #[error("{url} did not answer in full within {} s", after.as_secs())]
    Timeout {
        /// The address.
        url: String,
        /// The limit.
        after: Duration,
    },
    /// More bytes than allowed.
    #[error("{url} is larger than {}", size(*limit))]
    TooLarge {
        /// The address.
        url: String,
        /// The limit, in bytes after decompression.
        limit: u64,
    },
    /// A PDF, an archive, a picture.
    #[error("{url} is not a text but {content_type}")]
    NotText {
        /// The address.
        url: String,
        /// What it is.
        content_type: String,
    },
    /// Asked for a file, the site answered with something else.
    #[error("{url} answers {status}")]
    Status {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The name has no address, or no name server answers.
    #[error("the name {host} was not found")]
    NoSuchHost {
        /// The name.
        host: String,
    },
    /// No connection, or it broke.
    #[error("no connection to {host}: {reason}")]
    NoConnection {
        /// The host.
        host: String,
        /// The system's reason.
        reason: String,
    },
    /// The certificate does not hold.
    #[error("{host} has no valid certificate: {reason}")]
    Tls {
        /// The host.
        host: String,
        /// Why.
        reason: String,
    },
    /// A search service refused the key.
    #[error("{provider} refused the key")]
    WrongKey {
        /// Name of the service.
        provider: String,
    },
    /// Nothing of this kind answers there.
    #[error("there is no {provider} at {url}: {reason}")]
    WrongAddress {
        /// Name of the service.
        provider: String,
        /// Where.
        url: String,
        /// What came instead.
        reason: String,
    },
    /// Too many requests.
    #[error("{provider} asks for a pause{}", retry_after.map_or(String::new(), |t| format!(" of {} s", t.as_secs())))]
    RateLimited {
        /// Name of the service.
        provider: String,
        /// How long, where it says.
        retry_after: Option<Duration>,
    },
    /// The service failed.
    #[error("{provider} failed: {reason}")]
    Provider {
        /// Name of the service.
        provider: String,
        /// What it said.
        reason: String,
    },
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What to branch on.
    pub fn code(&self) -> Code {
        match self {
            Error::BadUrl { .. } => Code::BadUrl,
            Error::PrivateAddress { .. } => Code::PrivateAddress,
            Error::Closed { .. } => Code::Closed,
            Error::Robots { .. } => Code::Robots,
            Error::Redirects { .. } => Code::Redirects,
            Error::Timeout { .. } => Code::Timeout,
            Error::TooLarge { .. } => Code::TooLarge,
            Error::NotText { .. } => Code::NotText,
            Error::NoSuchHost { .. } => Code::NoSuchHost,
            Error::NoConnection { .. } => Code::NoConnection,
            Error::Tls { .. } => Code::Tls,
            Error::WrongKey { .. } => Code::WrongKey,
            Error::Status { .. } | Error::WrongAddress { .. } => Code::WrongAddress,
            Error::RateLimited { .. } => Code::RateLimited,
            Error::Provider { .. } => Code::Provider,
        }
    }

    /// What a person can do.
    pub fn remedy(&self) -> &'static str {
        match self.code() {
            Code::BadUrl => "Give an address that starts with http:// or https://.",
            Code::PrivateAddress => "If you trust this host, allow it in Settings, Network.",
            Code::Closed => "A person can open it in Settings, Permissions.",
            Code::Robots => "Open the page in a browser; programs are not welcome there.",
            Code::Redirects => "Look for the page's new address.",
            Code::Timeout | Code::Provider => "Try again later.",
            Code::TooLarge | Code::NotText => "Name the page that describes the tool, not a download.",
            Code::NoSuchHost | Code::NoConnection => "Check the address and the network connection.",
            Code::Tls => "Do not go on unless you know why; the connection cannot be trusted.",
            Code::WrongKey => "Enter the key again in Settings, Keys; copy all of it.",
            Code::WrongAddress => "Check the service's address in Settings, Web search.",
            Code::RateLimited => "Wait, or choose another service in Settings, Web search.",
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self.code(),
            Code::Timeout | Code::NoConnection | Code::NoSuchHost | Code::RateLimited | Code::Provider
        )
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        let code = match error.code() {
            Code::BadUrl => ErrorCode::BadRequest,
            Code::PrivateAddress | Code::Closed | Code::Robots => ErrorCode::Refused,
            Code::Timeout => ErrorCode::Timeout,
            Code::NoSuchHost | Code::NoConnection | Code::Tls => ErrorCode::NoConnection,
            Code::WrongKey => ErrorCode::WrongKey,
            Code::WrongAddress => ErrorCode::WrongAddress,
            Code::RateLimited => ErrorCode::RateLimited,
            Code::Redirects | Code::TooLarge | Code::NotText | Code::Provider => ErrorCode::Provider,
        };
        ApiError::new(code, error.to_string(), error.remedy())
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn a_host_is_named_once_and_sizes_are_said_as_people_do() {
        let private = |host: &str, address: &str| {
            Error::PrivateAddress { host: host.into(), address: address.into() }.to_string()
        };
        assert_eq!(private("127.0.0.1", "127.0.0.1"), "127.0.0.1 is on this machine or a private network");
        assert!(private("localhost", "127.0.0.1").ends_with("network (127.0.0.1)"));
        let large = Error::TooLarge { url: "https://a.b".into(), limit: 5_000_000 };
        assert_eq!(large.to_string(), "https://a.b is larger than 5 MB");
    }
}
