//! Opens files below a folder on systems that cannot be told to stay in it: resolves the path, checks it,
//! opens it, and compares what was opened with what is there. Whoever swaps a folder and swaps it back at
//! the right two moments could win this race; `unix.rs` has no such race.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use same_file::Handle;

use super::entry::{Entry, EntryKind};
use super::error::FileError;

/// A folder, by its real path.
#[derive(Debug)]
pub(super) struct Root {
    folder: PathBuf,
    follows_links: bool,
}

impl Root {
    pub(super) fn open(path: &Path) -> Result<Root, FileError> {
        let failed = |source| FileError::System { name: path.display().to_string(), source };
        let real = fs::canonicalize(path).map_err(failed)?;
        if real.is_dir() {
            Ok(Root { folder: real, follows_links: true })
        } else {
            Err(FileError::NotAFolder { name: path.display().to_string() })
        }
    }

    pub(super) fn without_links(self) -> Root {
        Root { follows_links: false, ..self }
    }

    /// Opens a regular file, and returns its real path.
    pub(super) fn open_file(&self, name: &str, parts: &[&str]) -> Result<(File, Option<PathBuf>), FileError> {
        let failed = |source| FileError::System { name: name.to_owned(), source };
        let real = self.resolve(name, parts)?;
        if !fs::metadata(&real).map_err(failed)?.is_file() {
            return Err(FileError::NotAFile { name: name.to_owned(), what: "a folder or a device" });
        }
        let file = File::open(&real).map_err(failed)?;
        let opened = Handle::from_file(file.try_clone().map_err(failed)?).map_err(failed)?;
        let again = self.resolve(name, parts)?;
        if again != real || Handle::from_path(&again).map_err(failed)? != opened {
            return Err(FileError::Changing { name: name.to_owned() });
        }
        Ok((file, Some(real)))
    }

    /// Returns at most `most` entries of a folder, and whether there are more.
    pub(super) fn entries(
        &self,
        name: &str,
        parts: &[&str],
        most: usize,
    ) -> Result<(Vec<Entry>, bool), FileError> {
        let failed = |source| FileError::System { name: name.to_owned(), source };
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.resolve(name, parts)?).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entries.len() == most {
                return Ok((entries, true));
            }
            let kind = entry.file_type().map_err(failed)?;
            let kind = if kind.is_symlink() {
                EntryKind::Symlink
            } else if kind.is_dir() {
                EntryKind::Directory
            } else if kind.is_file() {
                EntryKind::File
            } else {
                EntryKind::Other
            };
            entries.push(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind });
        }
        Ok((entries, false))
    }

    fn resolve(&self, name: &str, parts: &[&str]) -> Result<PathBuf, FileError> {
        let path = parts.iter().fold(self.folder.clone(), |path, part| path.join(part));
        let real = fs::canonicalize(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => FileError::NotFound { name: name.to_owned() },
            _ => FileError::System { name: name.to_owned(), source },
        })?;
        if !self.follows_links && real != path {
            return Err(FileError::Symlink { name: name.to_owned() });
        }
        if real.starts_with(&self.folder) {
            Ok(real)
        } else {
            Err(FileError::Outside { name: name.to_owned() })
        }
    }
}
