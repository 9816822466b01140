//! Which hosts the user allows this client to reach.

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::address::is_public;
use crate::error::{Error, Result};

/// The user's network settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkPolicy {
    /// Allowed hosts on this machine or a private network: `name`, `name:port`, an address, `[address]:port`.
    /// Public hosts need no entry.
    pub allowed_hosts: Vec<String>,
    /// A proxy for everything (`http://host:port`; `socks5://…` is not supported). The proxy resolves names
    /// itself, so only numeric addresses can be checked here.
    pub proxy: Option<String>,
}

impl NetworkPolicy {
    /// Allows another host.
    #[must_use]
    pub fn allowing(mut self, host: impl Into<String>) -> NetworkPolicy {
        self.allowed_hosts.push(host.into());
        self
    }

    /// Whether the user allowed this host, with this port or with any.
    pub(crate) fn allows(&self, host: &str, port: Option<u16>) -> bool {
        let host = host.trim_end_matches('.');
        self.allowed_hosts.iter().any(|entry| {
            let entry = entry.trim().trim_end_matches('/');
            let (name, wanted_port) = match entry.rsplit_once(':') {
                // A colon inside brackets or in a bare IPv6 address does not start a port.
                Some((name, digits)) if !name.contains(':') || name.ends_with(']') => {
                    match digits.parse::<u16>() {
                        Ok(wanted_port) => (name, Some(wanted_port)),
                        Err(_) => (entry, None),
                    }
                }
                _ => (entry, None),
            };
            let name = name.trim_start_matches('[').trim_end_matches(']');
            name.eq_ignore_ascii_case(host)
                && (wanted_port.is_none() || port.is_none() || wanted_port == port)
        })
    }

    /// Refuses what can be refused without name resolution.
    pub(crate) fn check(&self, url: &Url) -> Result<()> {
        let bad = |reason: &str| Err(Error::BadUrl { url: url.to_string(), reason: reason.to_owned() });
        if !matches!(url.scheme(), "http" | "https") {
            return bad("only http and https are supported");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return bad("it contains a user name or password");
        }
        let (host, address) = match url.host() {
            Some(Host::Ipv4(v4)) => (v4.to_string(), Some(v4.into())),
            Some(Host::Ipv6(v6)) => (v6.to_string(), Some(v6.into())),
            Some(Host::Domain(name)) => (name.to_owned(), None),
            None => return bad("it has no host"),
        };
        if self.allows(&host, url.port_or_known_default()) {
            return Ok(());
        }
        match address {
            Some(address) if !is_public(address) => {
                Err(Error::PrivateAddress { host, address: address.to_string() })
            }
            // A name allowed for a different port only must not pass the resolver, which does not know the port.
            None if self.allows(&host, None) => {
                Err(Error::PrivateAddress { host, address: "allowed for a different port".to_owned() })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(policy: &NetworkPolicy, url: &str) -> bool {
        policy.check(&Url::parse(url).unwrap()).is_ok()
    }

    #[test]
    fn numbers_in_any_spelling_are_refused_unless_allowed() {
        let none = NetworkPolicy::default();
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://169.254.169.254/latest",
            "ftp://example.org/",
            "file:///etc/passwd",
            "https://user:pw@example.org/",
        ] {
            assert!(!verdict(&none, url), "{url}");
        }
        assert!(verdict(&none, "https://example.org/"));
        let some =
            NetworkPolicy::default().allowing("127.0.0.1:8080").allowing("intranet").allowing("[::1]:9");
        assert!(verdict(&some, "http://127.0.0.1:8080/x"));
        assert!(!verdict(&some, "http://127.0.0.1:8081/x"));
        assert!(verdict(&some, "http://intranet:99/"));
        assert!(verdict(&some, "http://[::1]:9/"));
        assert!(!verdict(&some, "http://[::1]:10/"));
    }
}
