//! API keys for web APIs whose operations are cards. A key belongs to one origin and one security scheme of
//! it, and is sent nowhere else, whatever a card says.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, ListApiKeys, RemoveApiKey, SetApiKey};
use autokit_api::{ApiKey, ApiKeyRef, ApiKeySet, ApiSecret, Nothing, Setting};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_openapi::rest::{Key, Keys, origin_of};
use autokit_openapi::{Call, Credential, Scheme};
use autokit_workspace::providers::Providers;
use autokit_workspace::secrets::{Secret, name_for};
use autokit_workspace::workspace::{CachedSetting, Workspace};
use serde::{Deserialize, Serialize};
use url::Url;

/// Metadata of a saved key; the key itself is in the secret store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedKey {
    origin: String,
    scheme: String,
    place: String,
    sort: String,
    token_url: Option<String>,
}

/// API keys for web APIs. Clones share state.
#[derive(Clone, Debug)]
pub struct ApiKeys {
    workspace: Workspace,
    providers: Providers,
    /// The list of saved keys, read once and cached.
    list: Arc<CachedSetting<Vec<SavedKey>>>,
    /// Serializes writes to the list.
    writing: Arc<tokio::sync::Mutex<()>>,
}

fn secret_name(origin: &str, scheme: &str, place: &str) -> String {
    name_for("api-key", &format!("{origin}\n{scheme}\n{place}"))
}

fn key_kind(secret: &ApiSecret) -> (&'static str, Option<String>) {
    match secret {
        ApiSecret::Key { .. } => ("key", None),
        ApiSecret::Basic { .. } => ("basic", None),
        ApiSecret::Token { .. } => ("token", None),
        ApiSecret::Client { token_url, .. } => ("client", Some(token_url.clone())),
    }
}

/// What a security scheme requires.
struct RequiredKey {
    sort: &'static str,
    /// Where in a request the key goes. The card names the place, so a key saved for one place is never
    /// sent in another: otherwise a card could have it written where everybody can read it.
    place: String,
    token_url: Option<String>,
}

/// Returns what a scheme requires, or `None` for a scheme that is not supported.
fn required_key(scheme: &Scheme) -> Option<RequiredKey> {
    let authorization = || "header Authorization".to_owned();
    let (sort, place, token_url) = match scheme {
        Scheme::ApiKey { place, name } => ("key", format!("{} {name}", place.as_str()), None),
        Scheme::Basic => ("basic", authorization(), None),
        Scheme::Bearer | Scheme::Oauth2 { token_url: None, .. } => ("token", authorization(), None),
        Scheme::Oauth2 { token_url: Some(url), scopes, .. } => {
            let scopes = if scopes.is_empty() { "no scopes".to_owned() } else { scopes.join(" ") };
            ("client", format!("tokens from {url} for {scopes}"), Some(url.clone()))
        }
        Scheme::Unsupported { .. } => return None,
    };
    Some(RequiredKey { sort, place, token_url })
}

fn to_key(secret: ApiSecret) -> Key {
    match secret {
        ApiSecret::Key { key } => Key::Ready(Credential::ApiKey(Secret::new(key))),
        ApiSecret::Basic { user, password } => {
            Key::Ready(Credential::Basic { user, password: Secret::new(password) })
        }
        ApiSecret::Token { token } => Key::Ready(Credential::Token(Secret::new(token))),
        ApiSecret::Client { token_url, id, secret } => {
            Key::Client { token_url, id, secret: Secret::new(secret) }
        }
    }
}

impl ApiKeys {
    /// Manages the API keys of this library; the secrets are in the same store as those of providers.
    pub fn new(workspace: Workspace, providers: Providers) -> ApiKeys {
        ApiKeys {
            workspace,
            providers,
            list: Arc::new(CachedSetting::new(Setting::ApiKeys)),
            writing: Arc::default(),
        }
    }

    async fn saved_keys(&self) -> Result<Arc<Vec<SavedKey>>> {
        self.list.read(&self.workspace).await
    }

    /// Replaces the list. The caller holds `writing`.
    async fn save(&self, list: Vec<SavedKey>) -> Result<()> {
        self.list.write(&self.workspace, list).await
    }

    /// Returns the saved keys an operation can be called with.
    pub async fn keys_for(&self, call: &Call) -> Result<Keys> {
        let mut keys = Keys::new();
        let Some(origin) = origin_of(call) else { return Ok(keys) };
        let list = self.saved_keys().await?;
        let is_used = |saved: &&SavedKey| {
            call.security.iter().flatten().any(|one| {
                one.key == saved.scheme
                    && required_key(&one.scheme).is_some_and(|required| required.place == saved.place)
            })
        };
        let secrets = self.providers.secrets();
        for saved in list.iter().filter(|saved| saved.origin == origin).filter(is_used) {
            let Some(secret) = secrets.get(&secret_name(&origin, &saved.scheme, &saved.place)).await? else {
                continue;
            };
            let secret: ApiSecret = serde_json::from_str(secret.expose())
                .map_err(|_| ApiError::internal("a key for a web API cannot be read"))?;
            keys.insert(saved.scheme.clone(), to_key(secret));
        }
        Ok(keys)
    }

    /// Returns where a key is sent: the requested place, or else the one all operations that need the key
    /// agree on.
    async fn place_of(&self, origin: &str, scheme: &str, requested: &str) -> Result<String> {
        if !requested.is_empty() {
            return Ok(requested.to_owned());
        }
        let all = self.view().await?;
        let places: Vec<String> = all
            .into_iter()
            .filter(|key| key.origin == origin && key.scheme == scheme)
            .map(|key| key.place)
            .collect();
        match places.as_slice() {
            [place] => Ok(place.clone()),
            [] => Err(ApiError::new(
                ErrorCode::Invalid,
                format!("no operation in the library uses an API key {scheme:?} for {origin}"),
                "Import the API first, or specify where requests send the key, such as `header X-Key`.",
            )),
            several => Err(ApiError::new(
                ErrorCode::Invalid,
                format!("operations send this API key in different places: {}", several.join("; ")),
                "Specify one. A card that names another place may be trying to read the key.",
            )),
        }
    }

    /// Lists the saved keys and those that cards need.
    async fn view(&self) -> Result<Vec<ApiKey>> {
        let mut all: BTreeMap<ApiKeyRef, ApiKey> = BTreeMap::new();
        for saved in self.saved_keys().await?.iter() {
            let (origin, scheme, place) = (saved.origin.clone(), saved.scheme.clone(), saved.place.clone());
            let key_ref = ApiKeyRef { origin, scheme, place };
            let key = ApiKey {
                origin: saved.origin.clone(),
                scheme: saved.scheme.clone(),
                place: saved.place.clone(),
                sort: saved.sort.clone(),
                here: true,
                operations: 0,
                token_url: saved.token_url.clone(),
            };
            all.insert(key_ref, key);
        }
        for record in self.workspace.cards_containing(&["\"call\""]) {
            let Ok(Some(call)) = Call::from_card(&record.card()) else { continue };
            let Some(origin) = origin_of(&call) else { continue };
            let mut seen = std::collections::HashSet::new();
            for requirement in call.security.iter().flatten() {
                if !seen.insert(&requirement.key) {
                    continue;
                }
                let Some(RequiredKey { sort, place, token_url }) = required_key(&requirement.scheme) else {
                    continue;
                };
                let key_ref = ApiKeyRef { origin: origin.clone(), scheme: requirement.key.clone(), place };
                let key = all.entry(key_ref).or_insert_with_key(|key_ref| ApiKey {
                    origin: key_ref.origin.clone(),
                    scheme: key_ref.scheme.clone(),
                    place: key_ref.place.clone(),
                    sort: sort.to_owned(),
                    here: false,
                    operations: 0,
                    token_url,
                });
                key.operations += 1;
            }
        }
        Ok(all.into_values().collect())
    }
}

/// Parses an address into its origin, such as `https://api.example.org`.
fn origin(text: &str) -> Result<String> {
    let invalid = |reason: &str| {
        ApiError::new(
            ErrorCode::Invalid,
            format!("{text:?} is not an origin: {reason}"),
            "Enter scheme, host and port, such as https://api.example.org.",
        )
    };
    let url = Url::parse(text.trim()).map_err(|error| invalid(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("it must start with http:// or https://"));
    }
    Ok(url.origin().ascii_serialization())
}

fn is_empty(secret: &ApiSecret) -> bool {
    match secret {
        ApiSecret::Key { key } => key.trim().is_empty(),
        ApiSecret::Token { token } => token.trim().is_empty(),
        // Some APIs take a key as the user name, with an empty password.
        ApiSecret::Basic { user, .. } => user.trim().is_empty(),
        ApiSecret::Client { id, secret, .. } => id.trim().is_empty() || secret.trim().is_empty(),
    }
}

#[async_trait]
impl Handle<ListApiKeys> for ApiKeys {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<ApiKey>> {
        self.view().await
    }
}

#[async_trait]
impl Handle<SetApiKey> for ApiKeys {
    async fn handle(&self, _: &Context, request: ApiKeySet) -> Result<Vec<ApiKey>> {
        let origin = origin(&request.origin)?;
        let scheme = request.scheme.trim().to_owned();
        if scheme.is_empty() || is_empty(&request.secret) {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                "the API key or the name of its scheme is empty",
                "Enter both, or remove the API key.",
            ));
        }
        let (sort, token_url) = key_kind(&request.secret);
        if let Some(url) = &token_url {
            self::origin(url)?;
        }
        let place = self.place_of(&origin, &scheme, request.place.trim()).await?;
        let _writing = self.writing.lock().await;
        let secrets = self.providers.secrets();
        let text =
            serde_json::to_string(&request.secret).map_err(|error| ApiError::internal(error.to_string()))?;
        secrets.set(&secret_name(&origin, &scheme, &place), Secret::new(text)).await?;
        let mut list = self.saved_keys().await?.to_vec();
        list.retain(|saved| saved.origin != origin || saved.scheme != scheme || saved.place != place);
        list.push(SavedKey { origin, scheme, place, sort: sort.to_owned(), token_url });
        self.save(list).await?;
        self.view().await
    }
}

#[async_trait]
impl Handle<RemoveApiKey> for ApiKeys {
    async fn handle(&self, _: &Context, request: ApiKeyRef) -> Result<Vec<ApiKey>> {
        let _writing = self.writing.lock().await;
        let list = self.saved_keys().await?;
        // Normalized as it was when saved, however the request spells it.
        let origin = origin(&request.origin)?;
        let matches = |saved: &&SavedKey| {
            saved.origin == origin
                && saved.scheme == request.scheme
                && (request.place.is_empty() || saved.place == request.place)
        };
        let removed: Vec<&SavedKey> = list.iter().filter(matches).collect();
        if removed.is_empty() {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                format!("no API key {:?} for {origin}", request.scheme),
                "Check your API keys in Settings, Web API keys.",
            ));
        }
        let secrets = self.providers.secrets();
        for saved in removed {
            secrets.remove(&secret_name(&origin, &saved.scheme, &saved.place)).await?;
        }
        self.save(list.iter().filter(|saved| !matches(saved)).cloned().collect()).await?;
        self.view().await
    }
}
