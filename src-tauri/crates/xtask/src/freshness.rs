//! Keeps a fresh clone from recompiling what has already been compiled.
//!
//! Cargo detects changed files by their modification time, and a clone gives every file the time of the
//! clone, so everything in this project would be compiled again. Therefore the content of the compiled files
//! is recorded; files with the same content get back the modification time they had then, and the others keep
//! theirs.
//!
//! This is correct as long as nobody else has compiled this project into the same target directory since. In
//! that case cargo's fingerprints are newer than our record and refer to other files, so the record is
//! ignored.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::shell::{command, read, root, target};

/// Excluded, since this program is compiled before it can restore anything.
const EXCLUDED: &str = "src-tauri/crates/xtask/";

/// `{"at": seconds and nanoseconds, "files": {name: [digest, seconds, nanoseconds]}}`
fn record_file() -> PathBuf {
    target().join("autokit-compiled.json")
}

/// Restores the modification time of files that have not changed since they were compiled.
pub(crate) fn restore() -> Result<()> {
    let Ok(text) = fs::read(record_file()) else { return Ok(()) };
    let compiled: Value = serde_json::from_slice(&text).unwrap_or_default();
    if duration(&compiled["at"], 0).is_none_or(|at| newest().is_none_or(|newest| newest > at)) {
        return Ok(());
    }
    for (name, digest, path) in files() {
        let known = &compiled["files"][&name];
        if known[0] == digest
            && let Some(time) = duration(known, 1)
        {
            let file = File::options().append(true).open(&path);
            file.and_then(|file| file.set_modified(UNIX_EPOCH + time))
                .with_context(|| format!("{name} cannot be given its time"))?;
        }
    }
    Ok(())
}

/// Records what was compiled. To be called after everything was compiled.
pub(crate) fn record() -> Result<()> {
    let Some(at) = newest() else { return Ok(()) };
    let mut known = Map::new();
    for (name, digest, path) in files() {
        let time = fs::metadata(&path).and_then(|metadata| metadata.modified());
        let time = since_1970(time.with_context(|| format!("{name} cannot be looked at"))?);
        known.insert(name, json!([digest, time.as_secs(), time.subsec_nanos()]));
    }
    let compiled = json!({ "at": [at.as_secs(), at.subsec_nanos()], "files": known });
    fs::write(record_file(), compiled.to_string()).context("what was compiled cannot be noted")
}

/// Reads a time from two numbers of a list, seconds and nanoseconds, starting at this index.
fn duration(list: &Value, from: usize) -> Option<Duration> {
    let nanoseconds = u32::try_from(list[from + 1].as_u64()?).ok()?;
    Some(Duration::new(list[from].as_u64()?, nanoseconds))
}

/// The compiled files of the checkout: name, digest, path. Empty if git cannot list them.
fn files() -> Vec<(String, String, PathBuf)> {
    let Ok(listed) = read(command("git").args(["ls-files", "-z", "--", ".", ":!ui"])) else {
        return Vec::new();
    };
    let names = listed.split('\0').filter(|name| !name.is_empty() && !name.starts_with(EXCLUDED));
    names
        .filter_map(|name| {
            let path = root().join(name);
            // A file that git lists may have been deleted.
            let content = fs::read(&path).ok()?;
            let mut hasher = DefaultHasher::new();
            hasher.write(&content);
            Some((name.to_owned(), format!("{:016x} {}", hasher.finish(), content.len()), path))
        })
        .collect()
}

/// When a part of this project was last compiled into this target directory, in any profile, since 1970.
fn newest() -> Option<Duration> {
    let ours = |unit: &PathBuf| {
        let name = unit.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("autokit-") || name.starts_with("workspace-hack-")
    };
    let units = entries(&target()).into_iter().flat_map(|profile| entries(&profile.join(".fingerprint")));
    let notes = units.filter(ours).flat_map(|unit| entries(&unit));
    let times = notes.filter_map(|note| fs::metadata(note).ok()?.modified().ok());
    times.map(since_1970).max()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}
