//! Keys of providers and other secrets, stored in one of three places and never written anywhere else.
//!
//! | [`KeyStorage`] | where | what it takes to read them |
//! |---|---|---|
//! | `Keychain` | Secret Service, macOS keychain, Windows Credential Manager | the person's session, unlocked |
//! | `File` | `keys.sealed` in the configuration folder | that folder; see below |
//! | `Memory` | this process | for tests |
//!
//! **What the file protects against.** It is encrypted with a key stored beside it, in `keys.key`. A
//! library that is copied, sent or backed up contains no keys, and `keys.sealed` without `keys.key` is
//! useless. But whoever can read the configuration folder can read the keys, and that includes every
//! program of this account and a backup of the whole home directory. The keychain is the better place; the
//! file is for machines without one.
//!
//! Keys are read from storage each time, so that a change by another process takes effect at once.

mod file;
mod keychain;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

pub use autokit_api::KeyStorage;
use autokit_error::{ApiError, ErrorCode, Result};
pub use autokit_policy::Secret;
use sha2::{Digest as _, Sha256};

use file::SealedFile;
use keychain::Keychain;

/// Most bytes in the name of a key; the platforms' own limits are higher.
const MAX_NAME: usize = 64;

/// Returns the name of the key of `owner`, which may contain any characters; the names of keys may not.
pub fn name_for(prefix: &str, owner: &str) -> String {
    format!("{prefix}.{}", &hex::encode(Sha256::digest(owner))[..24])
}

/// The store of one person's keys.
#[derive(Clone)]
pub struct Secrets {
    backend: SecretBackend,
}

#[derive(Clone)]
enum SecretBackend {
    Keychain(Keychain),
    File(SealedFile),
    Memory(Arc<Mutex<BTreeMap<String, Secret>>>),
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("storage", &self.storage()).finish_non_exhaustive()
    }
}

impl Secrets {
    /// Opens a store. `folder` is the person's configuration folder, used by [`KeyStorage::File`] only.
    ///
    /// Nothing is accessed before the first key is requested, so that AutoKit also starts on a machine
    /// without a keychain.
    pub fn open(storage: KeyStorage, folder: &Path) -> Secrets {
        let backend = match storage {
            KeyStorage::Keychain => SecretBackend::Keychain(Keychain::system()),
            KeyStorage::File => SecretBackend::File(SealedFile::new(folder)),
            KeyStorage::Memory => SecretBackend::Memory(Arc::default()),
        };
        Secrets { backend }
    }

    /// Returns where keys are stored.
    pub fn storage(&self) -> KeyStorage {
        match self.backend {
            SecretBackend::Keychain(_) => KeyStorage::Keychain,
            SecretBackend::File(_) => KeyStorage::File,
            SecretBackend::Memory(_) => KeyStorage::Memory,
        }
    }

    /// Stores a key under a name like `llm.anthropic`, replacing the previous one.
    ///
    /// # Errors
    /// If the name or the key is invalid, or the key cannot be stored.
    pub async fn set(&self, name: &str, value: Secret) -> Result<()> {
        check_name(name)?;
        if value.expose().is_empty() {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                format!("the API key {name} is empty"),
                "Enter the API key, or remove it.",
            ));
        }
        let name = name.to_owned();
        match &self.backend {
            SecretBackend::Keychain(keychain) => keychain.set(name, value).await,
            SecretBackend::File(file) => {
                let file = file.clone();
                blocking(move || file.set(name, value)).await
            }
            SecretBackend::Memory(keys) => {
                keys.lock().expect("no holder panics").insert(name, value);
                Ok(())
            }
        }
    }

    /// Returns the key of that name, if there is one.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn get(&self, name: &str) -> Result<Option<Secret>> {
        check_name(name)?;
        let name = name.to_owned();
        match &self.backend {
            SecretBackend::Keychain(keychain) => keychain.get(name).await,
            SecretBackend::File(file) => {
                let file = file.clone();
                blocking(move || file.get(&name)).await
            }
            SecretBackend::Memory(keys) => Ok(keys.lock().expect("no holder panics").get(&name).cloned()),
        }
    }

    /// Removes a key and returns whether there was one.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub async fn remove(&self, name: &str) -> Result<bool> {
        check_name(name)?;
        let name = name.to_owned();
        match &self.backend {
            SecretBackend::Keychain(keychain) => keychain.remove(name).await,
            SecretBackend::File(file) => {
                let file = file.clone();
                blocking(move || file.remove(&name)).await
            }
            SecretBackend::Memory(keys) => Ok(keys.lock().expect("no holder panics").remove(&name).is_some()),
        }
    }
}

/// Returns whether the platform's keychain responds. It may still be locked: the person is asked to unlock
/// it when the first key is read, not by this check.
pub async fn available() -> bool {
    Keychain::system().responds().await
}

/// Names are shown in the keychain's own window and in messages; the allowed characters work on all
/// platforms.
fn check_name(name: &str) -> Result<()> {
    let is_valid = (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_'));
    if is_valid {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::Invalid,
        // Escaped and truncated: somebody may have passed the key in place of the name.
        format!("{:?} is not a valid API key name", name.chars().take(4).chain(['…']).collect::<String>()),
        format!("Use up to {MAX_NAME} lowercase letters, digits, dots, dashes and underscores."),
    ))
}

/// File access blocks, so it runs on the blocking thread pool.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ApiError::internal(format!("could not read or write API keys: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn memory_storage_distinguishes_names_and_removes_keys() {
        let secrets = Secrets::open(KeyStorage::Memory, Path::new("unused"));
        secrets.set("github", Secret::new("one")).await.unwrap();
        secrets.set("search.tavily", Secret::new("two")).await.unwrap();
        assert_eq!(secrets.get("github").await.unwrap().unwrap().expose(), "one");
        assert_eq!(secrets.clone().get("search.tavily").await.unwrap().unwrap().expose(), "two");
        assert!(secrets.remove("github").await.unwrap());
        assert!(!secrets.remove("github").await.unwrap());
        assert!(secrets.get("github").await.unwrap().is_none());
        assert!(secrets.get("search.tavily").await.unwrap().is_some());
    }

    #[tokio::test]
    async fn debug_output_shows_no_keys_or_names() {
        let planted = "sk-planted-0123456789";
        assert_eq!(
            format!("{:?} {:#?}", Secret::new(planted), Some(Secret::new(planted))),
            "Secret(…) Some(\n    Secret(…),\n)"
        );
        for storage in [KeyStorage::Keychain, KeyStorage::File, KeyStorage::Memory] {
            let folder = tempfile::tempdir().unwrap();
            let secrets = Secrets::open(storage, folder.path());
            if storage != KeyStorage::Keychain {
                secrets.set("llm.anthropic", Secret::new(planted)).await.unwrap();
            }
            assert_eq!(secrets.storage(), storage);
            assert_eq!(format!("{secrets:?}"), format!("Secrets {{ storage: {storage:?}, .. }}"));
        }
    }

    #[tokio::test]
    async fn invalid_names_and_empty_keys_are_rejected() {
        let secrets = Secrets::open(KeyStorage::Memory, Path::new("unused"));
        let long = "a".repeat(MAX_NAME + 1);
        for name in ["", "../keys", "GitHub", "a b", "a\0", "ä", long.as_str()] {
            let error = secrets.set(name, Secret::new("x")).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::Invalid, "{name:?}");
            assert_eq!(secrets.get(name).await.unwrap_err().code, ErrorCode::Invalid, "{name:?}");
            assert_eq!(secrets.remove(name).await.unwrap_err().code, ErrorCode::Invalid, "{name:?}");
        }
        assert_eq!(secrets.set("github", Secret::new("")).await.unwrap_err().code, ErrorCode::Invalid);
        let mistaken = secrets.get("sk-ant-PLANTED+KEY").await.unwrap_err();
        assert!(!mistaken.message.contains("PLANTED"), "{mistaken:?}");
    }

    #[test]
    fn key_storage_is_serialized_in_lower_case() {
        assert_eq!(serde_json::to_string(&KeyStorage::Keychain).unwrap(), "\"keychain\"");
        assert_eq!(serde_json::from_str::<KeyStorage>("\"file\"").unwrap(), KeyStorage::File);
    }
}
