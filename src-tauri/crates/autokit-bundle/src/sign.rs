//! Ed25519 signatures over the manifest of a bundle, which holds the checksums of its other files.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signer;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::limits;
use crate::lines::{check_label, sanitized};

/// Prefix of the signed text, so that a signature made for another purpose is never valid here.
const CONTEXT: &[u8] = b"autokit.toolcards bundle v1\n";
const ALGORITHM: &str = "ed25519";

/// A private signing key. It leaves the keychain only to sign.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// Generates a new key.
    ///
    /// # Panics
    /// When the system provides no randomness; there is no safe way to continue.
    pub fn generate() -> SigningKey {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).expect("the system provides random bytes");
        SigningKey(ed25519_dalek::SigningKey::from_bytes(&seed))
    }

    /// Encodes the key as base64 for the keychain.
    pub fn to_secret(&self) -> String {
        STANDARD.encode(self.0.to_bytes())
    }

    /// Decodes the output of [`SigningKey::to_secret`].
    ///
    /// # Errors
    /// [`Error::Signature`] when the text is not a key.
    pub fn from_secret(text: &str) -> Result<SigningKey> {
        let bytes = STANDARD.decode(text.trim()).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let seed = bytes.ok_or_else(|| Error::Signature("the signing key cannot be read".to_owned()))?;
        Ok(SigningKey(ed25519_dalek::SigningKey::from_bytes(&seed)))
    }

    /// The public key that others verify signatures with.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(crate) fn sign(&self, manifest: &[u8], signer: &str) -> Signature {
        let signature = self.0.sign(&[CONTEXT, manifest].concat());
        Signature { key: self.public(), signer: sanitized(signer, false), bytes: signature.to_bytes() }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.public()).finish()
    }
}

/// A public key that verifies signatures.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(ed25519_dalek::VerifyingKey);

impl PublicKey {
    /// The fingerprint that people compare: the first 16 bytes of the key's SHA-256 in hexadecimal, in groups
    /// of four digits.
    pub fn fingerprint(&self) -> String {
        let hex = hex::encode(&Sha256::digest(self.0.as_bytes())[..16]);
        let groups: Vec<&str> = (0..hex.len()).step_by(4).map(|at| &hex[at..at + 4]).collect();
        groups.join(" ")
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0.as_bytes()))
    }
}

impl TryFrom<String> for PublicKey {
    type Error = String;

    fn try_from(text: String) -> Result<PublicKey, String> {
        text.parse()
    }
}

impl std::str::FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<PublicKey, String> {
        let bytes = STANDARD.decode(text.trim()).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let bytes = bytes.ok_or("a public key is 32 bytes in base64")?;
        let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes).map_err(|_| "not an Ed25519 key")?;
        // Anybody can make signatures that a weak key accepts.
        if key.is_weak() { Err("a weak key".to_owned()) } else { Ok(PublicKey(key)) }
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> String {
        key.to_string()
    }
}

/// A signature that is valid for the signed content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The key it was made with.
    pub key: PublicKey,
    /// The name the signer claims. Anybody can claim any name: only the key identifies them.
    pub signer: String,
    bytes: [u8; 64],
}

/// `signature.json`.
#[derive(Serialize, Deserialize)]
struct Written {
    algorithm: String,
    key: PublicKey,
    signer: String,
    signature: String,
}

impl Signature {
    pub(crate) fn to_text(&self) -> String {
        let written = Written {
            algorithm: ALGORITHM.to_owned(),
            key: self.key,
            signer: self.signer.clone(),
            signature: STANDARD.encode(self.bytes),
        };
        let mut text = serde_json::to_string_pretty(&written).expect("strings serialize to JSON");
        text.push('\n');
        text
    }

    /// Whether a text has the form of a signature, whatever it signs and whoever made it.
    pub(crate) fn is_signature_text(text: &str) -> bool {
        serde_json::from_str::<Written>(text).is_ok()
    }

    /// Reads a signature and verifies it for `manifest`.
    pub(crate) fn check(text: &str, manifest: &[u8]) -> Result<Signature> {
        let wrong = |why: String| Error::Signature(why);
        let written: Written = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if written.algorithm != ALGORITHM {
            let algorithm: String = written.algorithm.chars().take(40).collect();
            return Err(wrong(format!("it uses {algorithm:?}; only {ALGORITHM} is supported")));
        }
        check_label("signer", &written.signer, limits::LABEL_CHARS).map_err(wrong)?;
        let bytes =
            STANDARD.decode(&written.signature).ok().and_then(|bytes| <[u8; 64]>::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| wrong("it is not 64 bytes in base64".to_owned()))?;
        let signature = ed25519_dalek::Signature::from_bytes(&bytes);
        let signed = [CONTEXT, manifest].concat();
        let checked = written.key.0.verify_strict(&signed, &signature);
        checked.map_err(|_| wrong("it was made for other contents or with a different key".to_owned()))?;
        Ok(Signature { key: written.key, signer: written.signer, bytes })
    }
}
