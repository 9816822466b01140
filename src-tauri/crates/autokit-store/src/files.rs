//! Files of the on-disk store: the end and truncation of its log, its folder, copies of it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use autokit_commit_log::LogPosition;
use tempfile::TempDir;

use crate::data_dir::DataDir;

/// Copies a store to wherever there is space: the system's temporary folder, or memory.
pub(crate) fn copy_to_temp(store: &Path) -> io::Result<TempDir> {
    let mut folders_to_try = vec![std::env::temp_dir()];
    folders_to_try.extend(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from));
    if cfg!(target_os = "linux") {
        folders_to_try.push(PathBuf::from("/dev/shm"));
    }
    let mut failure = None;
    for folder in folders_to_try {
        let copied = tempfile::Builder::new().prefix("autokit-").tempdir_in(&folder).and_then(|copy| {
            copy_tree(store, &copy.path().join("store"))?;
            Ok(copy)
        });
        match copied {
            Ok(copy) => return Ok(copy),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| io::Error::from(io::ErrorKind::StorageFull)))
}

/// Copies a folder recursively. The copies belong to the current user and are writable, whatever the
/// permissions of the originals.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            io::copy(&mut fs::File::open(entry.path())?, &mut fs::File::create(target)?)?;
        }
    }
    Ok(())
}

/// Lists the segments of the store's log with their numbers.
fn log_segments(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut segments = Vec::new();
    let entries = match fs::read_dir(folder.join("wal")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(segments),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wal")
            && let Some(number) = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok())
        {
            segments.push((number, path));
        }
    }
    Ok(segments)
}

/// Returns the end of the store's log. If it cannot be determined, the result is a position after which
/// nothing is cut.
pub(crate) fn end_of_log(folder: &Path) -> LogPosition {
    let end = || -> io::Result<LogPosition> {
        let Some((segment, path)) = log_segments(folder)?.into_iter().max() else {
            return Ok(LogPosition::default());
        };
        match fs::metadata(path) {
            Ok(about) => Ok(LogPosition { segment, length: about.len() }),
            // Compacted into a table after the directory was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LogPosition { segment, length: 0 }),
            Err(error) => Err(error),
        }
    };
    end().unwrap_or_else(|error| {
        tracing::warn!(%error, "failed to determine the length of the store's log");
        LogPosition { segment: u64::MAX, length: u64::MAX }
    })
}

/// Truncates the store's log at this position.
pub(crate) fn truncate_log(folder: &Path, position: LogPosition) -> io::Result<()> {
    for (segment, path) in log_segments(folder)? {
        if segment > position.segment {
            fs::remove_file(path)?;
        } else if segment == position.segment {
            let file = OpenOptions::new().write(true).open(path)?;
            if file.metadata()?.len() > position.length {
                file.set_len(position.length)?;
                file.sync_all()?;
            }
        }
    }
    Ok(())
}

/// Lists the folders the store may be in, with their numbers: after recovery from a failed write it has
/// another name.
pub(crate) fn folders(dir: &DataDir) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir.root())? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name == "store" {
            found.push((0, path));
        } else if let Some(number) = name.strip_prefix("store.").and_then(|number| number.parse().ok()) {
            found.push((number, path));
        }
    }
    Ok(found)
}

/// Renames the store back to its usual name, which it lost when a write failed in another process.
pub(crate) fn restore_folder_name(dir: &DataDir) -> io::Result<PathBuf> {
    let store = std::path::absolute(dir.store())?;
    if let Some((number, newest)) = folders(dir)?.into_iter().max()
        && number > 0
    {
        // Only this function moves the store back, so a folder with the usual name was created by the
        // abandoned instance afterwards.
        if store.exists() {
            fs::remove_dir_all(&store)?;
        }
        fs::rename(newest, &store)?;
    }
    fs::create_dir_all(&store)?;
    Ok(store)
}

/// Returns a new name for the folder of an abandoned instance, so that whatever it still does has no effect.
pub(crate) fn next_folder(dir: &DataDir) -> io::Result<PathBuf> {
    let next = folders(dir)?.into_iter().map(|(number, _)| number).max().unwrap_or(0) + 1;
    std::path::absolute(dir.root().join(format!("store.{next}")))
}

/// Removes the lock that a closed or abandoned instance holds on a folder.
pub(crate) fn unlock(folder: &Path) -> io::Result<()> {
    // The instance holds the lock on this file, not on a new file of the same name.
    match fs::remove_file(folder.join("LOCK")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Separates the files in a folder from an abandoned instance that has them open.
pub(crate) fn detach(folder: &Path) -> io::Result<()> {
    unlock(folder)?;
    // The newest file of large values is open for appending, so the new instance gets its own copy.
    let values = match fs::read_dir(folder.join("vlog")) {
        Ok(entries) => entries.collect::<io::Result<Vec<_>>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    if let Some(newest) = values.into_iter().map(|entry| entry.path()).max() {
        let copy = newest.with_extension("copy");
        fs::copy(&newest, &copy)?;
        fs::rename(copy, newest)?;
    }
    Ok(())
}
