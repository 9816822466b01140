//! Signing keys of bundles. A key is remembered the first time it is seen; a person decides which keys are
//! trusted.

use std::time::Duration;

use async_trait::async_trait;
use autokit_api::commands::{Context, ForgetKey, Handle, ListKeys, MakeKey, SetKeyTrust};
use autokit_api::{KeyRef, KeyTrust, KnownKeyView, Nothing, Setting, SignatureView, SigningKeys, Trust};
use autokit_bundle::{PublicKey, Signature, SigningKey};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_toolcard::{Timestamp, is_invisible};
use autokit_workspace::providers::Providers;
use autokit_workspace::secrets::Secret;
use autokit_workspace::workspace::Workspace;
use serde::{Deserialize, Serialize};

use crate::incoming::SourceContents;

/// Name of the person's own signing key in the keychain.
const OWN_KEY: &str = "signing-key";
/// How long the list of keys waits for the person's own. A keychain that asks for a password takes longer.
const OWN_KEY_TIMEOUT: Duration = Duration::from_secs(5);

/// A signing key that was seen before.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KnownKey {
    key: PublicKey,
    /// What the signer called themselves the first time.
    signer: String,
    first_seen: Timestamp,
    trusted: bool,
    /// Authors of the bundles this key signed.
    authors: Vec<String>,
}

impl KnownKey {
    /// Returns whether this key signed for an author before, however the name is spelt.
    fn signed_for(&self, author: &str) -> bool {
        let author = comparable_name(author);
        !author.is_empty() && self.authors.iter().any(|known| comparable_name(known) == author)
    }
}

/// Returns whether a different key signed for an author before.
fn another_key_signed(keys: &[KnownKey], key: PublicKey, author: &str) -> bool {
    keys.iter().any(|other| other.key != key && other.signed_for(author))
}

/// Normalizes a name for comparison: ignores invisible characters, case and whitespace.
pub(crate) fn comparable_name(name: &str) -> String {
    let shown: String = name.chars().filter(|c| !is_invisible(*c)).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The author a source names, and its signature.
#[derive(Debug)]
pub(crate) struct SignedBy {
    author: String,
    signature: Option<Signature>,
}

impl SignedBy {
    pub(crate) fn of(incoming: &SourceContents) -> SignedBy {
        SignedBy { author: incoming.about.author.clone(), signature: incoming.signature.clone() }
    }
}

/// Signing keys of bundles: one's own, and those of others. Clones share state.
#[derive(Clone, Debug)]
pub struct BundleKeys {
    workspace: Workspace,
    providers: Providers,
}

impl BundleKeys {
    /// Manages the keys of this library; private keys are in the same store as those of providers.
    pub fn new(workspace: Workspace, providers: Providers) -> BundleKeys {
        BundleKeys { workspace, providers }
    }

    async fn known_keys(&self) -> Result<Vec<KnownKey>> {
        Ok(self.workspace.load_setting(Setting::BundleKeys).await?.unwrap_or_default())
    }

    async fn save_known_keys(&self, keys: &[KnownKey]) -> Result<()> {
        self.workspace.save_setting(Setting::BundleKeys, keys).await
    }

    /// Returns how far the signature of a source can be trusted.
    pub(crate) async fn signature_view(&self, incoming: &SourceContents) -> Result<SignatureView> {
        let keys = self.known_keys().await?;
        let author = &incoming.about.author;
        let Some(signature) = &incoming.signature else {
            let stripped = incoming.bundled && keys.iter().any(|known| known.signed_for(author));
            let trust = if stripped { Trust::Stripped } else { Trust::Unsigned };
            return Ok(SignatureView {
                trust,
                signer: String::new(),
                key: String::new(),
                fingerprint: String::new(),
            });
        };
        let known = keys.iter().find(|known| known.key == signature.key);
        // A key vouches only for authors it signed for before, not for whoever a bundle names as its
        // author.
        let other_key_signed = another_key_signed(&keys, signature.key, author);
        let trust = match known {
            Some(known) if other_key_signed && !known.signed_for(author) => Trust::OtherKey,
            None if other_key_signed => Trust::OtherKey,
            Some(known) if known.trusted => Trust::Trusted,
            Some(_) => Trust::Known,
            None => Trust::New,
        };
        Ok(SignatureView {
            trust,
            // The first name a key was seen with stays its name, because a bundle can claim any name.
            signer: known.map_or(&signature.signer, |known| &known.signer).clone(),
            key: signature.key.to_string(),
            fingerprint: signature.key.fingerprint(),
        })
    }

    /// Remembers the key that signed an imported source.
    pub(crate) async fn remember_key(&self, seen: &SignedBy) -> Result<()> {
        let Some(signature) = &seen.signature else { return Ok(()) };
        let mut keys = self.known_keys().await?;
        let other_key_signed = another_key_signed(&keys, signature.key, &seen.author);
        // If another key signed for this author before, the new key is not theirs until a person says so.
        let authors = if other_key_signed { Vec::new() } else { vec![seen.author.clone()] };
        match keys.iter_mut().find(|known| known.key == signature.key) {
            Some(known) if other_key_signed || known.signed_for(&seen.author) => return Ok(()),
            Some(known) => known.authors.extend(authors),
            None => keys.push(KnownKey {
                key: signature.key,
                signer: signature.signer.clone(),
                first_seen: self.workspace.clock.stamp(),
                trusted: false,
                authors,
            }),
        }
        self.save_known_keys(&keys).await
    }

    /// Returns the person's own key, or why the stored one cannot be read.
    async fn own_key(&self) -> Result<Option<std::result::Result<SigningKey, autokit_bundle::Error>>> {
        let secrets = self.providers.secrets();
        let secret = secrets.get(OWN_KEY).await?;
        Ok(secret.map(|secret| SigningKey::from_secret(secret.expose())))
    }

    /// Returns the person's own key, creating it if there is none.
    pub(crate) async fn signing_key(&self) -> Result<SigningKey> {
        match self.own_key().await? {
            Some(Ok(key)) => Ok(key),
            Some(Err(error)) => Err(ApiError::new(
                ErrorCode::Damaged,
                format!("your signing key: {error}"),
                "Create a new signing key in Settings, Bundles.",
            )),
            None => self.create_signing_key().await,
        }
    }

    async fn create_signing_key(&self) -> Result<SigningKey> {
        let key = SigningKey::generate();
        let secrets = self.providers.secrets();
        secrets.set(OWN_KEY, Secret::new(key.to_secret())).await?;
        Ok(key)
    }

    async fn signing_keys(&self) -> Result<SigningKeys> {
        let view = |known: &KnownKey| KnownKeyView {
            key: known.key.to_string(),
            fingerprint: known.key.fingerprint(),
            signer: known.signer.clone(),
            first_seen: known.first_seen,
            trusted: known.trusted,
            authors: known.authors.clone(),
        };
        // The keys of others are known whatever the keychain says, and however long it takes to say it.
        let own = tokio::time::timeout(OWN_KEY_TIMEOUT, self.own_key()).await;
        let (own, own_error) = match own.unwrap_or_else(|_| Err(silent_keychain())) {
            // A key that cannot be parsed is treated as missing: the list offers to create one.
            Ok(own) => (own.and_then(std::result::Result::ok).map(|key| key.public()), None),
            Err(error) => (None, Some(error)),
        };
        Ok(SigningKeys {
            own: own.map(|key| key.to_string()),
            own_fingerprint: own.map(|key| key.fingerprint()),
            own_error,
            known: self.known_keys().await?.iter().map(view).collect(),
        })
    }
}

fn silent_keychain() -> ApiError {
    ApiError::new(
        ErrorCode::NoKeychain,
        "the keychain has not answered",
        "Unlock it if it asks for a password, then try again.",
    )
}

fn parse_key(text: &str) -> Result<PublicKey> {
    text.parse().map_err(|error: String| {
        ApiError::new(ErrorCode::BadRequest, error, "Enter the full public key as its owner shared it.")
    })
}

fn unknown_key(remedy: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, "unknown signing key", remedy)
}

#[async_trait]
impl Handle<ListKeys> for BundleKeys {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<SigningKeys> {
        self.signing_keys().await
    }
}

#[async_trait]
impl Handle<MakeKey> for BundleKeys {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<SigningKeys> {
        if !matches!(self.own_key().await?, Some(Ok(_))) {
            self.create_signing_key().await?;
        }
        self.signing_keys().await
    }
}

#[async_trait]
impl Handle<SetKeyTrust> for BundleKeys {
    async fn handle(&self, _: &Context, request: KeyTrust) -> Result<SigningKeys> {
        let key = parse_key(&request.key)?;
        let mut keys = self.known_keys().await?;
        match keys.iter_mut().find(|known| known.key == key) {
            Some(known) => {
                known.trusted = request.trusted;
                if request.trusted && !request.signer.trim().is_empty() && !known.signed_for(&request.signer)
                {
                    known.authors.push(request.signer);
                }
            }
            None if !request.trusted => {
                return Err(unknown_key("A signing key that was never trusted has no trust to remove."));
            }
            // People may exchange keys before the first bundle is sent.
            None => keys.push(KnownKey {
                key,
                signer: request.signer,
                first_seen: self.workspace.clock.stamp(),
                trusted: request.trusted,
                authors: Vec::new(),
            }),
        }
        self.save_known_keys(&keys).await?;
        self.signing_keys().await
    }
}

#[async_trait]
impl Handle<ForgetKey> for BundleKeys {
    async fn handle(&self, _: &Context, request: KeyRef) -> Result<SigningKeys> {
        let key = parse_key(&request.key)?;
        let mut keys = self.known_keys().await?;
        let before = keys.len();
        keys.retain(|known| known.key != key);
        if keys.len() == before {
            return Err(unknown_key("Check the list of signing keys."));
        }
        self.save_known_keys(&keys).await?;
        self.signing_keys().await
    }
}
