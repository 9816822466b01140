//! Keys in an encrypted file.
//!
//! `keys.sealed` is one byte for the version of this layout, a 24-byte random nonce, and the JSON of all
//! names and keys, encrypted with XChaCha20-Poly1305; the version is authenticated as associated data.
//! `keys.key` is the 32-byte encryption key. `keys.lock` is empty; writers lock it.
//!
//! Files are replaced, never modified in place, so that readers need no lock and a crash leaves either the
//! old or the new keys. A file that cannot be read is left untouched for the person to look at.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use autokit_error::{ApiError, ErrorCode, Result};
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use zeroize::Zeroize as _;

use super::Secret;

/// Version of the layout of `keys.sealed`.
const VERSION: u8 = 1;
const NONCE: usize = 24;
const KEY: usize = 32;

type Names = BTreeMap<String, Secret>;

/// The encrypted file of one configuration folder.
#[derive(Clone)]
pub(super) struct SealedFile {
    folder: PathBuf,
}

impl SealedFile {
    pub(super) fn new(folder: &Path) -> SealedFile {
        SealedFile { folder: folder.to_owned() }
    }

    pub(super) fn get(&self, name: &str) -> Result<Option<Secret>> {
        Ok(self.load()?.remove(name))
    }

    pub(super) fn set(&self, name: String, value: Secret) -> Result<()> {
        let _lock = self.lock()?;
        let mut names = self.load()?;
        names.insert(name, value);
        self.save(&names)
    }

    pub(super) fn remove(&self, name: &str) -> Result<bool> {
        // Avoids creating the folder if there is nothing to remove.
        if read(&self.sealed_path())?.is_none() {
            return Ok(false);
        }
        let _lock = self.lock()?;
        let mut names = self.load()?;
        if names.remove(name).is_none() {
            return Ok(false);
        }
        self.save(&names)?;
        Ok(true)
    }

    fn sealed_path(&self) -> PathBuf {
        self.folder.join("keys.sealed")
    }

    fn key_path(&self) -> PathBuf {
        self.folder.join("keys.key")
    }

    /// Waits for the writers' lock between processes; it is held until the file is dropped.
    fn lock(&self) -> Result<File> {
        private_folder(&self.folder).map_err(|error| unwritable(&self.folder, &error))?;
        let path = self.folder.join("keys.lock");
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        private(&mut options);
        options
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|error| unwritable(&path, &error))
    }

    fn load(&self) -> Result<Names> {
        let path = self.sealed_path();
        let Some(sealed) = read(&path)? else { return Ok(Names::new()) };
        let Some(key) = self.key()? else {
            return Err(ApiError::new(
                ErrorCode::Damaged,
                format!("{} is missing, but {} needs it", self.key_path().display(), path.display()),
                format!(
                    "Restore it from a backup, or delete {} and enter the API keys again.",
                    path.display()
                ),
            ));
        };
        open(&key, &sealed, &path, &self.key_path())
    }

    fn save(&self, names: &Names) -> Result<()> {
        let key = match self.key()? {
            Some(key) => key,
            None => self.new_key()?,
        };
        let path = self.sealed_path();
        replace(&path, &seal(&key, names)?).map_err(|error| unwritable(&path, &error))
    }

    /// Returns the existing encryption key.
    fn key(&self) -> Result<Option<Key>> {
        let path = self.key_path();
        let Some(mut bytes) = read(&path)? else { return Ok(None) };
        let key = <[u8; KEY]>::try_from(bytes.as_slice());
        bytes.zeroize();
        key.map(|key| Some(key.into())).map_err(|_| damaged(&path, "it is not a key"))
    }

    /// Creates the encryption key of a folder that has none. It is written first, so that nothing is ever
    /// encrypted with a key that a crash lost.
    fn new_key(&self) -> Result<Key> {
        let key: [u8; KEY] = random()?;
        let path = self.key_path();
        replace(&path, &key).map_err(|error| unwritable(&path, &error))?;
        Ok(key.into())
    }
}

fn seal(key: &Key, names: &Names) -> Result<Vec<u8>> {
    let texts: BTreeMap<&str, &str> =
        names.iter().map(|(name, secret)| (name.as_str(), secret.expose())).collect();
    let failed = || ApiError::internal("could not encrypt the API keys");
    let mut text = serde_json::to_vec(&texts).map_err(|_| failed())?;
    let nonce: [u8; NONCE] = random()?;
    XChaCha20Poly1305::new(key)
        .encrypt_in_place(&XNonce::from(nonce), &[VERSION], &mut text)
        .map_err(|_| failed())?;
    let mut sealed = vec![VERSION];
    sealed.extend_from_slice(&nonce);
    sealed.extend_from_slice(&text);
    Ok(sealed)
}

fn open(key: &Key, sealed: &[u8], path: &Path, key_path: &Path) -> Result<Names> {
    let [version, rest @ ..] = sealed else { return Err(damaged(path, "it is empty")) };
    if *version != VERSION {
        return Err(ApiError::new(
            ErrorCode::NewerSchema,
            format!("{} has version {version}; this AutoKit supports version {VERSION}", path.display()),
            "Update AutoKit, or restore the file from a backup.",
        ));
    }
    let Some((nonce, rest)) = rest.split_first_chunk::<NONCE>() else {
        return Err(damaged(path, "it is too short"));
    };
    let mut text = rest.to_vec();
    XChaCha20Poly1305::new(key)
        .decrypt_in_place(&XNonce::from(*nonce), &[*version], &mut text)
        .map_err(|_| damaged(path, &format!("{} does not decrypt it", key_path.display())))?;
    // The error is dropped because serde may quote the decrypted text in it.
    let names = serde_json::from_slice::<BTreeMap<String, String>>(&text)
        .map(|names| names.into_iter().map(|(name, text)| (name, Secret::new(text))).collect())
        .map_err(|_| damaged(path, "it does not contain API keys"));
    text.zeroize();
    names
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| ApiError::internal(format!("the system returned no random bytes: {error}")))?;
    Ok(bytes)
}

/// Reads a file; `None` if it does not exist.
fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(damaged(path, &error.to_string())),
    }
}

/// Replaces a file atomically. One writer at a time.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    // A leftover of a crash would keep its permissions; a new file gets the right ones.
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    private(&mut options);
    let written = options
        .open(&partial)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written?;
    // The rename is durable once the folder is synced.
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Restricts a new file to its owner. On Windows the profile's folders already are.
fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// Creates a folder for its owner only, or restricts an existing one.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mut permissions = fs::metadata(folder)?.permissions();
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(0o700);
            fs::set_permissions(folder, permissions)?;
        }
    }
    Ok(())
}

fn damaged(path: &Path, why: &str) -> ApiError {
    ApiError::new(
        ErrorCode::Damaged,
        format!("{} cannot be read: {why}", path.display()),
        "Restore keys.sealed and keys.key from the same backup, or move both away and enter the \
         API keys again.",
    )
}

fn unwritable(path: &Path, error: &io::Error) -> ApiError {
    let code = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorCode::DiskFull,
        _ => ErrorCode::ReadOnly,
    };
    ApiError::new(
        code,
        format!("{} cannot be written: {error}", path.display()),
        "Check that you own the folder and that the disk has space, or set AUTOKIT_CONFIG_DIR.",
    )
}

#[cfg(test)]
mod tests;
