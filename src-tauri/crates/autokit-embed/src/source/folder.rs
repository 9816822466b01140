//! Files that are already on this machine: in a folder the user named, or in the store.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::manifest::{ModelFile, ModelSpec};

/// Name of the file in a model's store folder that records the verified checksums, so that later starts need
/// not read 90 MB again.
const CHECKED: &str = "checked.json";

const HEX: &[u8; 16] = b"0123456789abcdef";

/// sha256 of each file, by name.
pub(crate) type Sums = Vec<(String, String)>;

/// Metadata of a verified file; while it is unchanged, its checksum is trusted.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct FolderEntry {
    size: u64,
    /// Nanoseconds since 1970, as text, because JSON numbers cannot hold them.
    modified: String,
    sha256: String,
}

/// Whether all files exist with the right sizes.
pub(crate) fn is_complete(spec: &ModelSpec, folder: &Path) -> bool {
    spec.files.iter().all(|file| {
        std::fs::metadata(folder.join(&file.name))
            .is_ok_and(|m| m.is_file() && (file.size == 0 || m.len() == file.size))
    })
}

/// Verifies every file against the manifest.
pub(crate) fn check(spec: &ModelSpec, folder: &Path) -> Result<Sums> {
    spec.files
        .iter()
        .map(|file| {
            let path = folder.join(&file.name);
            if !path.is_file() {
                return Err(Error::MissingFile { model: spec.name.clone(), path });
            }
            let sum = sha256(&path)?;
            compare(file, &path, &sum)?;
            Ok((file.name.clone(), sum))
        })
        .collect()
}

/// As [`check`], but trusts the recorded checksums of files that have not changed since.
pub(crate) fn check_once(spec: &ModelSpec, folder: &Path) -> Result<Sums> {
    let record = folder.join(CHECKED);
    let before: BTreeMap<String, FolderEntry> =
        std::fs::read(&record).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let mut now = BTreeMap::new();
    for file in &spec.files {
        let path = folder.join(&file.name);
        let mut seen = read_entry(&path)?;
        seen.sha256 = match before.get(&file.name) {
            Some(old) if old.size == seen.size && old.modified == seen.modified => old.sha256.clone(),
            _ => sha256(&path)?,
        };
        compare(file, &path, &seen.sha256)?;
        now.insert(file.name.clone(), seen);
    }
    if now != before {
        // Losing the record only costs time at the next start: the store may be read-only.
        if let Err(error) = serde_json::to_vec_pretty(&now)
            .map_err(std::io::Error::other)
            .and_then(|json| write_whole(&record, &json))
        {
            tracing::debug!(%error, path = %record.display(), "failed to write the record of verified files");
        }
    }
    Ok(now.into_iter().map(|(name, seen)| (name, seen.sha256)).collect())
}

/// Returns the files that are missing or do not match the manifest.
pub(crate) fn missing(spec: &ModelSpec, folder: &Path) -> Result<Vec<ModelFile>> {
    let mut missing = Vec::new();
    for file in &spec.files {
        let path = folder.join(&file.name);
        if !path.is_file() || sha256(&path)? != file.sha256 {
            missing.push(file.clone());
        }
    }
    Ok(missing)
}

/// Refuses a file whose checksum differs from the manifest's, if the manifest has one.
pub(crate) fn compare(file: &ModelFile, path: &Path, actual: &str) -> Result<()> {
    if file.sha256.is_empty() || file.sha256 == actual {
        return Ok(());
    }
    Err(Error::ChecksumMismatch {
        path: path.to_path_buf(),
        expected: file.sha256.clone(),
        actual: actual.to_owned(),
    })
}

/// Computes the sha256 of a file in lower-case hex.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(Error::io("opening", path))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = file.read(&mut buffer).map_err(Error::io("reading", path))?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
    }
    Ok(hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        hex.push(char::from(HEX[usize::from(byte >> 4)]));
        hex.push(char::from(HEX[usize::from(byte & 15)]));
        hex
    }))
}

fn read_entry(path: &Path) -> Result<FolderEntry> {
    let meta = std::fs::metadata(path).map_err(Error::io("reading", path))?;
    let modified = meta.modified().map_err(Error::io("reading", path))?;
    let modified = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
    Ok(FolderEntry { size: meta.len(), modified, sha256: String::new() })
}

/// Writes to a temporary file and renames it, so that no reader sees a partial file.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&beside, bytes)?;
    std::fs::rename(&beside, path)
}
