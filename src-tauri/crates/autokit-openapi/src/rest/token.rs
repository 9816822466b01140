//! Fetches access tokens with client credentials (RFC 6749 section 4.4) and caches them until shortly before
//! they expire.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use autokit_policy::Secret;
use autokit_web::{ApiRequest, Fetcher};
use serde::Deserialize;

use super::RestError;
use crate::{HttpRequest, client_credentials_form};

/// Timeout of a token request.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of a token response, in bytes; a token has a few thousand at most.
const MAX_TOKEN_BYTES: usize = 256 << 10;
/// How long before its expiry a token is no longer used: a request has to arrive while it is valid.
const MARGIN: Duration = Duration::from_secs(30);
/// Assumed lifetime of a token without an expiry.
const DEFAULT_LIFETIME: Duration = Duration::from_mins(5);
/// Maximum number of cached tokens; the one that expires first is evicted.
const MAX_CACHED: usize = 256;
/// Maximum number of characters of a token server's message that are passed on.
const REASON: usize = 200;

/// Cache key of a token. It includes the secret, so that a new secret does not use a token of the old one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct TokenKey {
    url: String,
    client: String,
    secret: String,
    scopes: Vec<String>,
}

struct CachedToken {
    token: Secret,
    until: Instant,
}

/// The token cache of a process.
#[derive(Default)]
pub(super) struct Tokens(Mutex<HashMap<TokenKey, CachedToken>>);

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens(…)")
    }
}

/// A token, and whether it came from the cache.
pub(super) struct Token {
    pub(super) secret: Secret,
    pub(super) cached: bool,
}

/// A token response (RFC 6749 sections 5.1 and 5.2).
#[derive(Deserialize)]
struct Answer {
    access_token: Option<String>,
    token_type: Option<String>,
    expires_in: Option<f64>,
    error: Option<String>,
    error_description: Option<String>,
}

impl Tokens {
    /// Returns a valid token; with `refresh`, fetches one even if there is a cached one, because that was
    /// refused.
    pub(super) async fn token(
        &self,
        fetcher: &Fetcher,
        url: &str,
        client: &str,
        secret: &Secret,
        scopes: &[String],
        refresh: bool,
    ) -> Result<Token, RestError> {
        let key = TokenKey {
            url: url.to_owned(),
            client: client.to_owned(),
            secret: secret.expose().to_owned(),
            scopes: scopes.to_vec(),
        };
        {
            let mut tokens = self.lock();
            if refresh {
                tokens.remove(&key);
            }
            if let Some(cached) = tokens.get(&key).filter(|cached| cached.until > Instant::now()) {
                return Ok(Token { secret: cached.token.clone(), cached: true });
            }
        }
        let (token, lifetime) = fetch(fetcher, url, client, secret, scopes).await?;
        let now = Instant::now();
        let mut tokens = self.lock();
        tokens.retain(|_, cached| cached.until > now);
        if tokens.len() >= MAX_CACHED {
            let first = tokens.iter().min_by_key(|(_, cached)| cached.until).map(|(key, _)| key.clone());
            if let Some(first) = first {
                tokens.remove(&first);
            }
        }
        tokens
            .insert(key, CachedToken { token: token.clone(), until: now + lifetime.saturating_sub(MARGIN) });
        Ok(Token { secret: token, cached: false })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TokenKey, CachedToken>> {
        // A panic while the lock was held leaves only complete entries.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

async fn fetch(
    fetcher: &Fetcher,
    url: &str,
    client: &str,
    secret: &Secret,
    scopes: &[String],
) -> Result<(Secret, Duration), RestError> {
    let HttpRequest { method, url, headers, body } = client_credentials_form(url, client, secret, scopes)?;
    let request = ApiRequest { method, url, headers, body, timeout: TOKEN_TIMEOUT, limit: MAX_TOKEN_BYTES };
    let answered = fetcher.send(request).await?;
    let none = |reason: String| RestError::NoToken { url: answered.url.clone(), reason };
    if let Some(elsewhere) = &answered.redirected_to {
        return Err(none(format!("it redirects to {elsewhere}")));
    }
    let answer: Answer = match serde_json::from_slice(&answered.body) {
        Ok(answer) => answer,
        Err(_) => return Err(none(format!("it returned {} without JSON", answered.status))),
    };
    if let Some(error) = &answer.error {
        let more = answer.error_description.as_deref().unwrap_or_default();
        let reason: String = format!("{error} {more}").trim().chars().take(REASON).collect();
        return Err(none(reason));
    }
    let bearer = answer.token_type.as_deref().is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    let Some(token) = answer.access_token.filter(|token| !token.is_empty() && bearer) else {
        let other = if bearer { "no token" } else { "a token that is not a bearer token" };
        return Err(none(format!("it returned {} with {other}", answered.status)));
    };
    let lifetime = answer.expires_in.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    // A lifetime is capped at one day, whatever the server claims.
    let lifetime =
        lifetime.map_or(DEFAULT_LIFETIME, |seconds| Duration::from_secs_f64(seconds.min(86_400.0)));
    Ok((Secret::new(token), lifetime))
}
