//! Errors of fetching a page or searching.

use std::time::Duration;

use autokit_error::{ApiError, ErrorCode};
use serde::{Deserialize, Serialize};

use crate::hop::Hop;

/// Error codes for programs to branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Not a URL this client can fetch.
    BadUrl,
    /// The host is this machine or on a private network, and was not allowed.
    PrivateAddress,
    /// The caller has no permission for the host.
    Closed,
    /// The site's robots.txt forbids it.
    Robots,
    /// Too many redirects, or a redirect loop.
    Redirects,
    /// The request took longer than allowed.
    Timeout,
    /// The response has more bytes than allowed.
    TooLarge,
    /// The response is not text.
    NotText,
    /// The host name has no address.
    NoSuchHost,
    /// The connection failed or broke.
    NoConnection,
    /// No request can be sent from this machine, whatever the host.
    NoClient,
    /// The TLS certificate is not valid.
    Tls,
    /// The API key was rejected.
    WrongKey,
    /// There is no such service at this URL.
    WrongAddress,
    /// Too many requests.
    RateLimited,
    /// The service failed or violated its protocol.
    Provider,
}

/// Returns the address of a host in parentheses, if it says more than the host's name.
fn address_suffix(host: &str, address: &str) -> String {
    if host.trim_matches(['[', ']']) == address { String::new() } else { format!(" ({address})") }
}

/// Formats a number of bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// An error with the details needed to explain it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL cannot be fetched.
    #[error("{url} cannot be read: {reason}")]
    BadUrl {
        /// The URL as given.
        url: String,
        /// Why not.
        reason: String,
    },
    /// The URL leads to this machine or a private network.
    #[error("{host} is on this machine or a private network{}", address_suffix(host, address))]
    PrivateAddress {
        /// Name or address in the URL.
        host: String,
        /// The address it resolves to.
        address: String,
    },
    /// The caller has no permission for the host.
    #[error("the host {host} is not allowed")]
    Closed {
        /// Its name.
        host: String,
    },
    /// robots.txt forbids the URL, or the site could not say whether it does.
    #[error("{url} does not allow automated access: {reason}")]
    Robots {
        /// The URL.
        url: String,
        /// What robots.txt says, or why it could not be fetched.
        reason: String,
    },
    /// A redirect loop, or too many redirects.
    #[error("{} redirects {}", hops.first().map_or("", |hop| &hop.url), if *circle { "in a loop" } else { "too often" })]
    Redirects {
        /// Every URL requested.
        hops: Vec<Hop>,
        /// Whether it is a loop.
        circle: bool,
    },
    /// The whole request took too long, even if data was still arriving.
    #[error("{url} did not respond fully within {} s", after.as_secs())]
    Timeout {
        /// The URL.
        url: String,
        /// The limit.
        after: Duration,
    },
    /// The response has more bytes than allowed.
    #[error("{url} is larger than {}", size(*limit))]
    TooLarge {
        /// The URL.
        url: String,
        /// The limit, in bytes after decompression.
        limit: u64,
    },
    /// The response is a PDF, an archive, an image or the like.
    #[error("{url} is not text but {content_type}")]
    NotText {
        /// The URL.
        url: String,
        /// Its media type.
        content_type: String,
    },
    /// A file was requested, but the site answered with another status.
    #[error("{url} returned {status}")]
    Status {
        /// The URL.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The host name has no address, or no name server responds.
    #[error("the host {host} was not found")]
    NoSuchHost {
        /// The name.
        host: String,
    },
    /// The connection failed or broke.
    #[error("could not connect to {host}: {reason}")]
    NoConnection {
        /// The host.
        host: String,
        /// The system's reason.
        reason: String,
    },
    /// No request can be sent from this machine: its certificates cannot be read, for example.
    #[error("requests cannot be sent: {reason}")]
    NoClient {
        /// The reason.
        reason: String,
    },
    /// The TLS certificate is not valid.
    #[error("{host} has no valid certificate: {reason}")]
    Tls {
        /// The host.
        host: String,
        /// The reason.
        reason: String,
    },
    /// A search service rejected the API key.
    #[error("{provider} rejected the API key")]
    WrongKey {
        /// Name of the service.
        provider: String,
    },
    /// There is no such service at this URL.
    #[error("no {provider} found at {url}: {reason}")]
    WrongAddress {
        /// Name of the service.
        provider: String,
        /// The URL.
        url: String,
        /// What was received instead.
        reason: String,
    },
    /// Too many requests.
    #[error("{provider} is rate limiting{}", retry_after.map_or(String::new(), |t| format!("; retry in {} s", t.as_secs())))]
    RateLimited {
        /// Name of the service.
        provider: String,
        /// How long to wait, if the service says so.
        retry_after: Option<Duration>,
    },
    /// The service failed.
    #[error("{provider} failed: {reason}")]
    Provider {
        /// Name of the service.
        provider: String,
        /// The service's error.
        reason: String,
    },
}

/// Replaces a key, as it is and as it is written in an address.
pub(crate) fn without_key(text: &str, key: Option<&str>) -> String {
    let Some(key) = key.map(str::trim).filter(|key| !key.is_empty()) else { return text.to_owned() };
    let encoded: String = url::form_urlencoded::byte_serialize(key.as_bytes()).collect();
    text.replace(key, "…").replace(&encoded, "…")
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Takes a key out of every text of the error: some services repeat what they were sent, and an address
    /// may contain it.
    #[must_use]
    pub(crate) fn without(mut self, key: Option<&str>) -> Error {
        let strip = |text: &mut String| *text = without_key(text, key);
        match &mut self {
            Error::BadUrl { url, reason }
            | Error::Robots { url, reason }
            | Error::WrongAddress { url, reason, .. } => {
                strip(url);
                strip(reason);
            }
            Error::NotText { url, content_type } => {
                strip(url);
                strip(content_type);
            }
            Error::Timeout { url, .. } | Error::TooLarge { url, .. } | Error::Status { url, .. } => {
                strip(url);
            }
            Error::Redirects { hops, .. } => {
                for hop in hops {
                    strip(&mut hop.url);
                }
            }
            Error::NoConnection { reason, .. }
            | Error::NoClient { reason }
            | Error::Tls { reason, .. }
            | Error::Provider { reason, .. } => {
                strip(reason);
            }
            Error::PrivateAddress { .. }
            | Error::Closed { .. }
            | Error::NoSuchHost { .. }
            | Error::WrongKey { .. }
            | Error::RateLimited { .. } => {}
        }
        self
    }

    /// Returns the code to branch on.
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
            Error::NoClient { .. } => Code::NoClient,
            Error::Tls { .. } => Code::Tls,
            Error::WrongKey { .. } => Code::WrongKey,
            Error::Status { .. } | Error::WrongAddress { .. } => Code::WrongAddress,
            Error::RateLimited { .. } => Code::RateLimited,
            Error::Provider { .. } => Code::Provider,
        }
    }

    /// Tells the user what to do about the error.
    pub fn remedy(&self) -> &'static str {
        match self.code() {
            Code::BadUrl => "Enter a URL that starts with http:// or https://.",
            Code::PrivateAddress => "If you trust this host, allow it in Settings, Network.",
            Code::Closed => "The user can allow it in Settings, Permissions.",
            Code::Robots => "Open the page in a browser; the site blocks automated access.",
            Code::Redirects => "Find the page's new URL.",
            Code::Timeout | Code::Provider => "Try again later.",
            Code::TooLarge | Code::NotText => "Enter the page that describes the tool, not a download.",
            Code::NoSuchHost | Code::NoConnection => "Check the URL and your network connection.",
            Code::NoClient => {
                "Install your system's certificates (ca-certificates), and start AutoKit again."
            }
            Code::Tls => "Do not continue unless you know why; the connection is not secure.",
            Code::WrongKey => "Enter the full API key again in Settings, Web search.",
            Code::WrongAddress => "Check the service's URL in Settings, Web search.",
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
            Code::NoSuchHost | Code::NoConnection | Code::NoClient | Code::Tls => ErrorCode::NoConnection,
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
    fn a_key_is_in_no_text() {
        let error = Error::WrongAddress {
            provider: "A".into(),
            url: "https://a.example/?key=s%26t".into(),
            reason: "s&t is wrong".into(),
        };
        assert_eq!(error.clone().without(None).to_string(), error.to_string());
        let told = error.without(Some("s&t")).to_string();
        assert!(!told.contains("s&t") && !told.contains("s%26t"), "{told}");
    }

    #[test]
    fn a_host_is_named_once_and_sizes_are_readable() {
        let private = |host: &str, address: &str| {
            Error::PrivateAddress { host: host.into(), address: address.into() }.to_string()
        };
        assert_eq!(private("127.0.0.1", "127.0.0.1"), "127.0.0.1 is on this machine or a private network");
        assert!(private("localhost", "127.0.0.1").ends_with("network (127.0.0.1)"));
        let large = Error::TooLarge { url: "https://a.b".into(), limit: 5_000_000 };
        assert_eq!(large.to_string(), "https://a.b is larger than 5 MB");
    }
}
