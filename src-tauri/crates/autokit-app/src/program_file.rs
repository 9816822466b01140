//! The file a process was started from, which an update of AutoKit replaces.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The program file as it was when the process started.
#[derive(Debug)]
pub(crate) struct ProgramFile {
    path: PathBuf,
    version: Version,
}

/// What differs once another file has that name.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: u64,
}

impl ProgramFile {
    /// Looks at this process's program; `None` if the system does not say what it is.
    pub(crate) fn current() -> Option<ProgramFile> {
        ProgramFile::at(std::env::current_exe().ok()?)
    }

    fn at(path: PathBuf) -> Option<ProgramFile> {
        let version = version(&path)?;
        Some(ProgramFile { path, version })
    }

    /// Whether another file, or none, has its name by now.
    pub(crate) fn is_replaced(&self) -> bool {
        version(&self.path).as_ref() != Some(&self.version)
    }
}

fn version(path: &Path) -> Option<Version> {
    let metadata = fs::metadata(path).ok()?;
    Some(Version {
        bytes: metadata.len(),
        modified: metadata.modified().ok(),
        #[cfg(unix)]
        inode: std::os::unix::fs::MetadataExt::ino(&metadata),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_version_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("autokit");
        fs::write(&path, "old").expect("written");
        let program = ProgramFile::at(path.clone()).expect("it exists");
        assert!(!program.is_replaced());
        // As package managers do: written beside it, then renamed over it.
        let new = folder.path().join("autokit.new");
        fs::write(&new, "new").expect("written");
        fs::rename(&new, &path).expect("renamed");
        assert!(program.is_replaced());
        fs::remove_file(&path).expect("removed");
        assert!(program.is_replaced());
    }
}
