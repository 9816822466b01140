//! Keys in the platform's keychain.

use std::sync::Arc;
use std::time::Duration;

use autokit_error::{ApiError, ErrorCode, Result};
use keyring_core::{CredentialStore, Entry, Error};
use tokio::sync::oneshot;
use zeroize::Zeroize as _;

use super::Secret;

/// The service name of all entries; a key's name is the entry's user.
const SERVICE: &str = "autokit";

/// How long a person may take to type the password of a locked keychain.
const UNLOCK_TIMEOUT: Duration = Duration::from_mins(2);

/// How long a keychain may take to respond at all; the first request may have to start it.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the keychain: the system's, or a mock in tests. Never keyring's process-wide default store, which
/// any other code could replace.
type Connect = dyn Fn() -> keyring_core::Result<Arc<CredentialStore>> + Send + Sync;

/// The person's keychain.
#[derive(Clone)]
pub(super) struct Keychain {
    connect: Arc<Connect>,
    timeout: Duration,
}

impl Keychain {
    /// Returns the keychain of this system.
    pub(super) fn system() -> Keychain {
        Keychain { connect: Arc::new(system_store), timeout: UNLOCK_TIMEOUT }
    }

    pub(super) async fn set(&self, name: String, value: Secret) -> Result<()> {
        // Stored as bytes: as a "password", Windows would store UTF-16 and accept only half as much.
        let stored = self.with_entry(name, move |entry| entry.set_secret(value.expose().as_bytes())).await?;
        stored.ok_or_else(|| no_keychain("the keychain dropped the entry while saving it"))
    }

    pub(super) async fn get(&self, name: String) -> Result<Option<Secret>> {
        let shown = name.clone();
        let Some(bytes) = self.with_entry(name, Entry::get_secret).await? else { return Ok(None) };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(Secret::new(text))),
            Err(error) => {
                error.into_bytes().zeroize();
                Err(ApiError::new(
                    ErrorCode::Damaged,
                    format!("the keychain's entry {shown} of {SERVICE} is not text"),
                    "Enter the API key again.",
                ))
            }
        }
    }

    pub(super) async fn remove(&self, name: String) -> Result<bool> {
        Ok(self.with_entry(name, Entry::delete_credential).await?.is_some())
    }

    /// Returns whether the keychain responds to a request for a key that does not exist, for which no
    /// platform asks the person to unlock anything.
    pub(super) async fn responds(&self) -> bool {
        let keychain = Keychain { connect: Arc::clone(&self.connect), timeout: RESPONSE_TIMEOUT };
        keychain.with_entry("no-such-key".to_owned(), Entry::get_secret).await.is_ok()
    }

    /// Uses an entry; `None` if there is no such entry.
    ///
    /// Runs on a thread of its own rather than on tokio's blocking pool, because a blocked pool thread
    /// delays shutdown, and this one may wait for a person who has left. The connection is opened, used and
    /// dropped on that thread: dropping it on a tokio thread panics (it blocks on D-Bus), and a cached one
    /// would be useless after the keychain is restarted. Opening it takes milliseconds.
    async fn with_entry<T: Send + 'static>(
        &self,
        name: String,
        work: impl FnOnce(&Entry) -> keyring_core::Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let (sender, receiver) = oneshot::channel();
        let connect = Arc::clone(&self.connect);
        let thread = std::thread::Builder::new().name("keychain".to_owned()).spawn(move || {
            let result = connect().and_then(|store| work(&store.build(SERVICE, &name, None)?));
            let result = match result {
                Ok(value) => Ok(Some(value)),
                Err(Error::NoEntry) => Ok(None),
                // Converted to text here, because some errors hold the connection.
                Err(error) => Err(to_api_error(&name, &error)),
            };
            // Fails only if the receiver has timed out.
            let _ = sender.send(result);
        });
        if let Err(error) = thread {
            return Err(ApiError::internal(format!("could not start a thread for the keychain: {error}")));
        }
        match tokio::time::timeout(self.timeout, receiver).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(no_keychain("the connection to the keychain failed")),
            Err(_) => Err(no_keychain(&format!(
                "the keychain did not respond for {} seconds; it may be waiting for its password",
                self.timeout.as_secs()
            ))),
        }
    }
}

/// Converts a keychain error. None of these messages contains a key: stores describe the failure and
/// attributes, not contents.
fn to_api_error(name: &str, error: &Error) -> ApiError {
    match error {
        Error::NoStorageAccess(cause) => no_keychain(&format!("the keychain is locked: {cause}")),
        // D-Bus's own message about its socket would not help the person.
        Error::PlatformFailure(cause) if cause.to_string().contains("Failed to connect") => {
            no_keychain("no keychain service is running")
        }
        Error::PlatformFailure(cause) => no_keychain(&format!("the keychain is not responding: {cause}")),
        Error::TooLong(what, most) => ApiError::new(
            ErrorCode::Invalid,
            format!("the {what} of {name} is longer than the {most} characters this keychain allows"),
            "Check that you entered only the API key. The encrypted file allows longer ones \
             (choose it in Settings, Keys).",
        ),
        Error::Ambiguous(entries) => ApiError::new(
            ErrorCode::Invalid,
            format!("the keychain has {} entries for {name} of {SERVICE}", entries.len()),
            "Remove all but one in your system's password manager.",
        ),
        other => no_keychain(&format!("the keychain could not save {name}: {other}")),
    }
}

fn no_keychain(message: &str) -> ApiError {
    ApiError::new(
        ErrorCode::NoKeychain,
        message,
        "Unlock the keyring, or choose the encrypted file in Settings, Keys.",
    )
}

#[cfg(target_os = "linux")]
fn system_store() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(zbus_secret_service_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn system_store() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn system_store() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(windows_native_keyring_store::Store::new()?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn system_store() -> keyring_core::Result<Arc<CredentialStore>> {
    Err(Error::NotSupportedByStore("this system has no supported keychain".to_owned()))
}

#[cfg(test)]
mod tests {
    use keyring_core::api::CredentialStoreApi;
    use keyring_core::mock;

    use super::*;

    fn mock_keychain() -> (Keychain, Arc<mock::Store>) {
        let store = mock::Store::new().unwrap();
        let shared = Arc::clone(&store);
        let connect = move || Ok(Arc::clone(&shared) as Arc<CredentialStore>);
        (Keychain { connect: Arc::new(connect), timeout: UNLOCK_TIMEOUT }, store)
    }

    /// Makes the next use of an entry fail.
    fn fail(store: &mock::Store, name: &str, error: Error) {
        let entry = store.build(SERVICE, name, None).unwrap();
        entry.as_any().downcast_ref::<mock::Cred>().unwrap().set_error(error);
    }

    #[tokio::test]
    async fn keys_are_stored_under_autokit_and_their_name() {
        let (keychain, store) = mock_keychain();
        keychain.set("github".to_owned(), Secret::new("ghp_1")).await.unwrap();
        keychain.set("search.tavily".to_owned(), Secret::new("tvly-2")).await.unwrap();
        keychain.set("github".to_owned(), Secret::new("ghp_3")).await.unwrap();
        assert_eq!(keychain.get("github".to_owned()).await.unwrap().unwrap().expose(), "ghp_3");
        assert_eq!(store.build("autokit", "search.tavily", None).unwrap().get_secret().unwrap(), b"tvly-2");
        assert!(keychain.remove("github".to_owned()).await.unwrap());
        assert!(!keychain.remove("github".to_owned()).await.unwrap());
        assert!(keychain.get("github".to_owned()).await.unwrap().is_none());
        assert!(keychain.responds().await);
    }

    #[tokio::test]
    async fn a_locked_or_missing_keychain_says_what_to_do() {
        let (keychain, store) = mock_keychain();
        for error in [Error::NoStorageAccess("locked".into()), Error::PlatformFailure("no bus".into())] {
            fail(&store, "github", error);
            let error = keychain.set("github".to_owned(), Secret::new("ghp_planted")).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::NoKeychain);
            assert!(error.remedy.contains("Unlock the keyring"), "{error:?}");
            assert!(error.remedy.contains("the encrypted file in Settings, Keys"), "{error:?}");
            assert!(!format!("{error:?}").contains("ghp_planted"));
        }
        assert!(keychain.get("github".to_owned()).await.unwrap().is_none());

        let unavailable = || Err(Error::PlatformFailure("no bus".into()));
        let missing = Keychain { connect: Arc::new(unavailable), timeout: UNLOCK_TIMEOUT };
        assert!(!missing.responds().await);
        assert_eq!(missing.remove("github".to_owned()).await.unwrap_err().code, ErrorCode::NoKeychain);
    }

    #[tokio::test]
    async fn an_entry_that_is_not_text_is_not_shown() {
        let (keychain, store) = mock_keychain();
        store.build(SERVICE, "github", None).unwrap().set_secret(b"planted\xff").unwrap();
        let error = keychain.get("github".to_owned()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Damaged);
        assert!(error.message.contains("github") && !format!("{error:?}").contains("planted"));
    }

    #[tokio::test]
    async fn a_keychain_that_never_responds_times_out() {
        let waiting = || {
            std::thread::sleep(Duration::from_hours(1));
            Err(Error::NoEntry)
        };
        let keychain = Keychain { connect: Arc::new(waiting), timeout: Duration::from_millis(50) };
        let error = keychain.get("github".to_owned()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NoKeychain);
        let panicking = || panic!("as a store might");
        let keychain = Keychain { connect: Arc::new(panicking), timeout: UNLOCK_TIMEOUT };
        assert_eq!(keychain.get("github".to_owned()).await.unwrap_err().code, ErrorCode::NoKeychain);
    }
}
