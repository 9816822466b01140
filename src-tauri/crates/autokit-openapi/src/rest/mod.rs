//! Calls operations of web APIs. The card determines what is sent; a person determines which keys go with it.
//!
//! Keys belong to an origin. A card names its own server, so a key that was given for one API must not go to
//! another just because a card of the same provider names another host. For the same reason, a card must not
//! choose the URL where access tokens are fetched.

mod error;
#[cfg(test)]
mod tests;
mod token;

use std::collections::BTreeMap;
use std::time::Duration;

use autokit_policy::audit::REDACTED;
use autokit_policy::{Need, Secret};
use autokit_web::{ApiAnswer, ApiRequest, Fetcher};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{Call, CallError, Credential, Credentials, HttpRequest, Requirement, Scheme};

pub use error::RestError;
use token::Tokens;

/// Timeout of one operation: longer than for pages, since an API may compute before it answers.
pub const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
/// Maximum number of response bytes that are read. It is far more than an agent is given, so that a long
/// response is truncated by the agent's limit, which leaves a notice in the text.
pub const MAX_RESPONSE_BYTES: usize = 4 << 20;

/// The credentials that a person gave for one scheme of one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Sent as it is.
    Ready(Credential),
    /// Used to fetch an access token (OAuth 2.0, client credentials).
    Client {
        /// Token endpoint, as given by the person.
        token_url: String,
        /// The client id.
        id: String,
        /// The client secret.
        secret: Secret,
    },
}

/// The keys of one origin, by the name of their scheme ([`Requirement::key`]).
pub type Keys = BTreeMap<String, Key>;

/// The origin an operation is sent to: `https://api.example.org`. `None` if it has no valid server.
pub fn origin_of(call: &Call) -> Option<String> {
    let url = Url::parse(&call.servers.first()?.url).ok()?;
    Some(url.origin().ascii_serialization())
}

/// The first alternative for which all keys are available.
fn selected_requirements<'a>(call: &'a Call, keys: &Keys) -> &'a [Requirement] {
    let is_available = |all: &&Vec<Requirement>| {
        !all.is_empty() && all.iter().all(|requirement| keys.contains_key(&requirement.key))
    };
    call.security.iter().find(is_available).map_or(&[], Vec::as_slice)
}

/// The permissions needed to call an operation with these keys: hosts, and secrets if any are sent.
pub fn needs(call: &Call, keys: &Keys) -> Vec<Need> {
    let server = call.servers.first().and_then(|server| Url::parse(&server.url).ok());
    let mut needs: Vec<Need> = server.as_ref().and_then(Need::for_url).into_iter().collect();
    let sent = selected_requirements(call, keys);
    if let (false, Some(of)) = (sent.is_empty(), origin_of(call)) {
        needs.push(Need::Secret { of });
    }
    for requirement in sent {
        if let Some(Key::Client { token_url, .. }) = keys.get(&requirement.key) {
            let host = Url::parse(token_url).ok().as_ref().and_then(Need::for_url);
            needs.extend(host.filter(|host| !needs.contains(host)));
        }
    }
    needs
}

/// Calls operations and caches the access tokens it fetches until they expire.
#[derive(Debug, Default)]
pub struct RestClient {
    tokens: Tokens,
    slots: RequestSlots,
}

/// Maximum number of concurrent calls; others wait. Each may hold [`MAX_RESPONSE_BYTES`].
const MAX_CONCURRENT: usize = 32;
/// Minimum length, in bytes, of a key that is redacted from responses.
const MIN_SECRET_CHARS: usize = 6;

#[derive(Debug)]
struct RequestSlots(Semaphore);

impl Default for RequestSlots {
    fn default() -> RequestSlots {
        RequestSlots(Semaphore::new(MAX_CONCURRENT))
    }
}

impl RestClient {
    /// Calls an operation. A response with any status is a success.
    ///
    /// # Errors
    /// [`RestError`]: why the request could not be made or got no response.
    pub async fn call(
        &self,
        fetcher: &Fetcher,
        call: &Call,
        arguments: &Map<String, Value>,
        keys: &Keys,
        cancel: &CancellationToken,
    ) -> Result<ApiAnswer, RestError> {
        tokio::select! {
            answer = self.call_with_permit(fetcher, call, arguments, keys) => answer,
            () = cancel.cancelled() => Err(RestError::Cancelled),
        }
    }

    fn call_with_permit<'a>(
        &'a self,
        fetcher: &'a Fetcher,
        call: &'a Call,
        arguments: &'a Map<String, Value>,
        keys: &'a Keys,
    ) -> BoxFuture<'a, Result<ApiAnswer, RestError>> {
        Box::pin(async move {
            let _permit = self.slots.0.acquire().await.map_err(|_| RestError::Cancelled)?;
            let requirements = selected_requirements(call, keys);
            if !requirements.is_empty() {
                check_confidential(call)?;
            }
            let (credentials, fetched) = self.credentials(fetcher, requirements, keys, false).await?;
            let request = |credentials: &Credentials| call.request(arguments, credentials, None);
            let answer = send(fetcher, request(&credentials)?).await?;
            // A token may have been revoked before it expired.
            if answer.status == 401 && fetched {
                let (credentials, _) = self.credentials(fetcher, requirements, keys, true).await?;
                let answer = send(fetcher, request(&credentials)?).await?;
                return Ok(redact_secrets(answer, &credentials));
            }
            Ok(redact_secrets(answer, &credentials))
        })
    }

    /// The credentials for an alternative, and whether one of them is a cached token.
    async fn credentials(
        &self,
        fetcher: &Fetcher,
        requirements: &[Requirement],
        keys: &Keys,
        refresh: bool,
    ) -> Result<(Credentials, bool), RestError> {
        let (mut credentials, mut cached) = (Credentials::new(), false);
        for Requirement { key, scheme } in requirements {
            let credential = match keys.get(key) {
                Some(Key::Ready(credential)) => credential.clone(),
                Some(Key::Client { token_url, id, secret }) => {
                    let scopes = match scheme {
                        Scheme::Oauth2 { scopes, .. } => scopes.as_slice(),
                        _ => &[],
                    };
                    let token = self.tokens.token(fetcher, token_url, id, secret, scopes, refresh).await?;
                    cached |= token.cached;
                    Credential::Token(token.secret)
                }
                None => continue,
            };
            credentials.insert(key.clone(), credential);
        }
        Ok((credentials, cached))
    }
}

/// Redacts the keys of the request from the response: an API that echoes what it was sent would reveal them
/// to whoever reads it.
fn redact_secrets(mut answer: ApiAnswer, credentials: &Credentials) -> ApiAnswer {
    let secrets = credentials.values().flat_map(|credential| match credential {
        Credential::ApiKey(secret) | Credential::Token(secret) => vec![secret.expose().to_owned()],
        Credential::Basic { user, password } => {
            let pair = STANDARD.encode(format!("{user}:{}", password.expose()));
            vec![password.expose().to_owned(), pair]
        }
    });
    // A short one could be part of any other word.
    for secret in secrets.filter(|secret| secret.len() >= MIN_SECRET_CHARS) {
        if let Ok(text) = std::str::from_utf8(&answer.body)
            && text.contains(&secret)
        {
            answer.body = text.replace(&secret, REDACTED).into_bytes();
        }
    }
    answer
}

/// Refuses to send a key where others could read it in transit.
fn check_confidential(call: &Call) -> Result<(), RestError> {
    let Some(server) = call.servers.first() else { return Ok(()) };
    let url = Url::parse(&server.url)
        .map_err(|error| RestError::Call(CallError::Url { reason: error.to_string() }))?;
    if autokit_web::is_confidential(&url) {
        Ok(())
    } else {
        Err(RestError::Unencrypted { server: server.url.clone() })
    }
}

async fn send(fetcher: &Fetcher, request: HttpRequest) -> Result<ApiAnswer, RestError> {
    let HttpRequest { method, url, headers, body } = request;
    let request =
        ApiRequest { method, url, headers, body, timeout: REQUEST_TIMEOUT, limit: MAX_RESPONSE_BYTES };
    Ok(fetcher.send(request).await?)
}
