//! Guards where connections may lead, and explains failed ones.

use std::error::Error as _;
use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use crate::address::is_public;
use crate::error::Error;
use crate::policy::NetworkPolicy;

/// Refuses host names that resolve to private addresses, at the time of connecting: a hostile name server
/// could answer an earlier check differently.
#[derive(Debug)]
pub(crate) struct GuardedNames(pub(crate) NetworkPolicy);

/// All addresses of a host name are private.
#[derive(Debug, thiserror::Error)]
#[error("{host} is a private address ({address})")]
struct PrivateName {
    host: String,
    address: String,
}

/// A host name has no address.
#[derive(Debug, thiserror::Error)]
#[error("{0} was not found")]
struct UnknownName(String);

impl Resolve for GuardedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let allowed = self.0.allows(&host, None);
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0))
                .await
                .map_err(|error| {
                    tracing::debug!(%host, %error, "DNS lookup failed");
                    UnknownName(host.clone())
                })?
                .collect();
            let Some(first) = found.first().copied() else { return Err(UnknownName(host).into()) };
            let open: Vec<SocketAddr> = found.into_iter().filter(|a| allowed || is_public(a.ip())).collect();
            if open.is_empty() {
                return Err(PrivateName { host, address: first.ip().to_string() }.into());
            }
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}

pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        source = error.source();
    }
    text
}

/// Rephrases the system's message about a connection in plain words, where known.
fn plain_reason(reason: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("connection refused", "nothing is listening on this port"),
        ("connection reset", "the connection was lost"),
        ("broken pipe", "the connection was lost"),
        ("connection closed", "the connection was closed before a response"),
        ("incomplete message", "the connection was closed before a response"),
        ("unexpected eof", "the connection was closed before a response"),
        ("network is unreachable", "it is not reachable from this network"),
        ("no route to host", "it is not reachable from this network"),
        ("timed out", "the connection timed out"),
    ];
    let lower = reason.to_lowercase();
    WORDS.iter().find(|(pattern, _)| lower.contains(pattern)).map_or(reason, |(_, plain)| plain).to_owned()
}

/// Determines the reason from the error's chain of causes.
pub(crate) fn explain(url: &Url, error: &reqwest::Error) -> Error {
    let host = url.host_str().unwrap_or_default().to_owned();
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(name) = error.downcast_ref::<PrivateName>() {
            return Error::PrivateAddress { host: name.host.clone(), address: name.address.clone() };
        }
        if error.is::<UnknownName>() {
            return Error::NoSuchHost { host };
        }
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            let text = io.to_string();
            if text.contains("certificate") || text.contains("TLS") || text.contains("tls") {
                return Error::Tls { host, reason: text };
            }
            if text.contains("failed to lookup address") {
                return Error::NoSuchHost { host };
            }
        }
        cause = error.source();
    }
    if error.is_timeout() {
        return Error::NoConnection { host, reason: "the connection timed out".to_owned() };
    }
    Error::NoConnection { host, reason: plain_reason(&chain(error)) }
}
