//! Reads text files below one folder, without ever leaving it.
//!
//! Names are resolved by the kernel itself (`openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_MAGICLINKS`,
//! through `rustix`): a link may lead elsewhere *within* the folder, and nothing can be swapped between
//! check and use, because there is no separate check. On Linux older than 5.6, and on other Unix systems,
//! names are resolved part by part without following any link. Elsewhere, the path is resolved, checked,
//! opened, and compared with what is there afterwards. Whoever swaps folders at the right moments could win
//! that race, so such systems are less safe.
//!
//! Only regular files are read, and they are opened without blocking (FIFOs) or triggering a device. Files
//! that hold secrets are rejected by name and content, unless allowed. A hard link cannot be told from the
//! file itself, so it counts as a file of the folder.

mod entry;
mod error;
mod private;
mod text;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod weaker;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

pub use entry::{Entry, EntryKind};
pub use error::FileError;
pub use text::{FileText, Lines};

#[cfg(unix)]
use unix as platform;
#[cfg(not(unix))]
use weaker as platform;

/// A folder whose text files can be read.
#[derive(Debug)]
pub struct ProjectRoot {
    path: PathBuf,
    root: platform::Root,
    allow_private: bool,
}

/// The entries of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The entries, sorted by name.
    pub entries: Vec<Entry>,
    /// Number of entries that were left out.
    pub omitted: usize,
    /// Whether the folder has more entries than were read ([`ProjectRoot::MAX_ENTRIES`]); which ones are
    /// listed is then up to the system.
    pub more: bool,
}

impl ProjectRoot {
    /// Most entries of one folder that are read, so that listing terminates.
    pub const MAX_ENTRIES: usize = 100_000;
    /// Most bytes of a file that are searched for a line, so that the search terminates.
    pub const MAX_SCANNED: u64 = 64 << 20;

    /// Opens a folder. It is held open, so that on Unix later changes of its path do not matter.
    pub fn open(path: impl AsRef<Path>) -> Result<ProjectRoot, FileError> {
        let path = path.as_ref().to_owned();
        let root = platform::Root::open(&path)?;
        Ok(ProjectRoot { path, root, allow_private: false })
    }

    /// Follows no links, not even within the folder. For a folder of which a part is closed.
    #[must_use]
    pub fn without_links(self) -> ProjectRoot {
        ProjectRoot { root: self.root.without_links(), ..self }
    }

    /// Allows reading files with keys and passwords too.
    #[must_use]
    pub fn allow_private(mut self) -> ProjectRoot {
        self.allow_private = true;
        self
    }

    /// Returns the path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file from its start, at most `max_bytes`.
    pub fn read(&self, relative: &str, max_bytes: usize) -> Result<FileText, FileError> {
        self.read_lines(relative, Lines::ALL, max_bytes)
    }

    /// Reads some lines of a file, at most `max_bytes`.
    pub fn read_lines(&self, relative: &str, lines: Lines, max_bytes: usize) -> Result<FileText, FileError> {
        let parts = parts(relative)?;
        if parts.is_empty() {
            return Err(FileError::NotAFile { name: relative.to_owned(), what: "a folder" });
        }
        self.refuse_private_name(relative, Path::new(relative))?;
        let (file, real) = self.root.open_file(relative, &parts)?;
        if let Some(real) = real {
            self.refuse_private_name(relative, &real)?;
        }
        self.text(relative, file, lines, max_bytes)
    }

    fn text(&self, name: &str, file: File, lines: Lines, max_bytes: usize) -> Result<FileText, FileError> {
        let failed = |source| FileError::System { name: name.to_owned(), source };
        let total = file.metadata().map_err(failed)?.len();
        let mut start = Vec::new();
        (&file).take(private::KEY_BYTES).read_to_end(&mut start).map_err(failed)?;
        (&file).rewind().map_err(failed)?;
        if !self.allow_private && private::contains_private_key(&start) {
            return Err(FileError::Private { name: name.to_owned(), why: "it contains a private key" });
        }
        text::read(name, file, total, lines, max_bytes)
    }

    fn refuse_private_name(&self, requested: &str, path: &Path) -> Result<(), FileError> {
        match private::name(path) {
            Some(why) if !self.allow_private => Err(FileError::Private { name: requested.to_owned(), why }),
            _ => Ok(()),
        }
    }

    /// Lists a folder, at most `max_entries`; the root itself is `""` or `"."`.
    pub fn list(&self, relative: &str, max_entries: usize) -> Result<Listing, FileError> {
        let parts = parts(relative)?;
        let (mut entries, more) = self.root.entries(relative, &parts, Self::MAX_ENTRIES)?;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let omitted = entries.len().saturating_sub(max_entries);
        entries.truncate(max_entries);
        Ok(Listing { entries, omitted, more })
    }
}

/// Splits a relative name into its parts. `..` is rejected even where it would stay inside: nobody needs
/// it, and a link before it would change its meaning.
fn parts(relative: &str) -> Result<Vec<&str>, FileError> {
    let outside = || FileError::Outside { name: relative.to_owned() };
    // On Windows, a name can start with a drive, and `\` is a separator too.
    let foreign = cfg!(windows) && relative.contains(['\\', ':']);
    if relative.starts_with('/') || relative.contains('\0') || foreign {
        return Err(outside());
    }
    let parts: Vec<&str> = relative.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") { Err(outside()) } else { Ok(parts) }
}

#[cfg(all(test, unix))]
mod tests;
