//! Credentials for a call, and the request that fetches an access token.

use std::collections::BTreeMap;

use autokit_policy::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use url::Url;

use super::call::{ParamLocation, Requirement, Scheme};
use super::error::CallError;
use super::request::HttpRequest;

/// The credential for one scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// For [`Scheme::ApiKey`].
    ApiKey(Secret),
    /// For [`Scheme::Basic`].
    Basic {
        /// User name, without a colon.
        user: String,
        /// Password.
        password: Secret,
    },
    /// For [`Scheme::Bearer`], and a ready access token for [`Scheme::Oauth2`].
    Token(Secret),
}

/// Credentials for one card, by [`Requirement::key`]. Two documents may use the same key for different
/// things, so stored secrets must be kept by provider as well.
pub type Credentials = BTreeMap<String, Credential>;

/// What is added to a request to authenticate it.
#[derive(Default)]
pub(super) struct AuthParts {
    pub(super) headers: Vec<(String, String)>,
    pub(super) query: Vec<(String, String)>,
    pub(super) cookies: Vec<(String, String)>,
}

/// Chooses the first alternative whose credentials are all available. An empty alternative comes last, so
/// that available credentials are used.
pub(super) fn authenticate(
    alternatives: &[Vec<Requirement>],
    credentials: &Credentials,
) -> Result<AuthParts, CallError> {
    let fits = |requirement: &Requirement| {
        matches!(
            (&requirement.scheme, credentials.get(&requirement.key)),
            (Scheme::ApiKey { .. }, Some(Credential::ApiKey(_)))
                | (Scheme::Basic, Some(Credential::Basic { .. }))
                | (Scheme::Bearer | Scheme::Oauth2 { .. }, Some(Credential::Token(_)))
        )
    };
    let usable = alternatives.iter().find(|all| !all.is_empty() && all.iter().all(fits));
    if let Some(all) = usable {
        return all
            .iter()
            .try_fold(AuthParts::default(), |parts, requirement| add(parts, requirement, credentials));
    }
    if alternatives.is_empty() || alternatives.iter().any(Vec::is_empty) {
        return Ok(AuthParts::default());
    }
    let unsupported = |requirement: &Requirement| match &requirement.scheme {
        Scheme::Unsupported { reason } => Some(format!("{} ({reason})", requirement.key)),
        _ => None,
    };
    let possible: Vec<String> = alternatives
        .iter()
        .filter(|all| all.iter().all(|one| unsupported(one).is_none()))
        .map(|all| all.iter().map(describe_requirement).collect::<Vec<_>>().join(" and "))
        .collect();
    if possible.is_empty() {
        let reasons: Vec<String> = alternatives.iter().flatten().filter_map(unsupported).collect();
        return Err(CallError::UnsupportedSecurity { reason: reasons.join(", ") });
    }
    Err(CallError::MissingCredentials { needed: possible.join(", or ") })
}

fn describe_requirement(requirement: &Requirement) -> String {
    let what = match &requirement.scheme {
        Scheme::ApiKey { .. } => "an API key".to_owned(),
        Scheme::Basic => "a user name and password".to_owned(),
        Scheme::Bearer => "a token".to_owned(),
        Scheme::Oauth2 { token_url: Some(_), .. } => {
            "an access token, fetched with a client id and secret".to_owned()
        }
        Scheme::Oauth2 { flows, .. } => {
            format!("an access token, which the user gets by signing in: {}", flows.join(", "))
        }
        Scheme::Unsupported { reason } => reason.clone(),
    };
    format!("{} ({what})", requirement.key)
}

fn add(
    mut parts: AuthParts,
    requirement: &Requirement,
    credentials: &Credentials,
) -> Result<AuthParts, CallError> {
    match (&requirement.scheme, credentials.get(&requirement.key)) {
        (Scheme::ApiKey { place, name }, Some(Credential::ApiKey(key))) => {
            let pair = (name.clone(), key.expose().to_owned());
            match place {
                ParamLocation::Query => parts.query.push(pair),
                ParamLocation::Cookie => parts.cookies.push(pair),
                ParamLocation::Header | ParamLocation::Path => parts.headers.push(pair),
            }
        }
        (Scheme::Basic, Some(Credential::Basic { user, password })) => {
            if user.contains(':') {
                let reason = "a user name with a colon cannot be sent with Basic (RFC 7617)".to_owned();
                return Err(CallError::Header { name: "Authorization".to_owned(), reason });
            }
            parts.headers.push(("Authorization".to_owned(), basic(user, password.expose())));
        }
        (_, Some(Credential::Token(token))) => {
            parts.headers.push(("Authorization".to_owned(), format!("Bearer {}", token.expose())));
        }
        _ => return Err(CallError::MissingCredentials { needed: describe_requirement(requirement) }),
    }
    Ok(parts)
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Makes the request that fetches an access token with the client credentials grant (RFC 6749 section 4.4).
/// The client authenticates with HTTP Basic as in section 2.3.1. The response is JSON with the token under
/// `access_token`.
///
/// # Errors
/// [`CallError::Url`] when the URL is not `https`. Plain `http` is accepted only for this machine, because
/// the secret could be read in transit.
pub fn client_credentials_form(
    token_url: &str,
    client_id: &str,
    client_secret: &Secret,
    scopes: &[String],
) -> Result<HttpRequest, CallError> {
    let url = Url::parse(token_url).map_err(|error| CallError::Url { reason: error.to_string() })?;
    if !autokit_web::is_confidential(&url) {
        return Err(CallError::Url { reason: "secrets are only sent over https".to_owned() });
    }
    let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    if !scopes.is_empty() {
        form.append_pair("scope", &scopes.join(" "));
    }
    Ok(HttpRequest {
        method: "POST".to_owned(),
        url: url.into(),
        headers: vec![
            ("Authorization".to_owned(), basic(&encode(client_id), &encode(client_secret.expose()))),
            ("Accept".to_owned(), "application/json".to_owned()),
            ("Content-Type".to_owned(), "application/x-www-form-urlencoded".to_owned()),
        ],
        body: Some(form.finish().into_bytes()),
    })
}
