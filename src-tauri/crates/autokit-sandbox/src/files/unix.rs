//! Opens files below a folder on Unix.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;

use super::entry::{Entry, EntryKind};
use super::error::FileError;

/// Never blocks, never makes a terminal the controlling one, never inherited.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// How often a name is resolved again if a folder is renamed meanwhile.
#[cfg(target_os = "linux")]
const TRIES: usize = 128;

/// A folder that is held open.
#[derive(Debug)]
pub(super) struct Root {
    folder: OwnedFd,
    follows_links: bool,
}

impl Root {
    pub(super) fn open(path: &Path) -> Result<Root, FileError> {
        let name = path.display().to_string();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(path, flags, Mode::empty()).map_err(|errno| error(&name, errno))?;
        Ok(Root { folder, follows_links: true })
    }

    pub(super) fn without_links(self) -> Root {
        Root { follows_links: false, ..self }
    }

    /// Opens a regular file, and returns its real path if a link was followed.
    pub(super) fn open_file(&self, name: &str, parts: &[&str]) -> Result<(File, Option<PathBuf>), FileError> {
        // Checked first without opening, where that is possible, because opening a device can have effects.
        #[cfg(target_os = "linux")]
        require_regular_file(name, self.resolve(name, parts, OFlags::PATH | OFlags::CLOEXEC)?.as_fd())?;
        let file = self.resolve(name, parts, READ)?;
        require_regular_file(name, file.as_fd())?;
        let real = self.real_path(name, parts, &file)?;
        Ok((file.into(), real))
    }

    /// Returns at most `most` entries of a folder, and whether there are more.
    pub(super) fn entries(
        &self,
        name: &str,
        parts: &[&str],
        most: usize,
    ) -> Result<(Vec<Entry>, bool), FileError> {
        let flags = READ | OFlags::DIRECTORY;
        let folder = self.resolve(name, parts, flags)?;
        let failed = |errno| error(name, errno);
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            if entries.len() == most {
                return Ok((entries, true));
            }
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
                match rustix::fs::statat(&folder, entry.file_name(), flags) {
                    Ok(stat) => kind = FileType::from_raw_mode(stat.st_mode),
                    // Removed meanwhile.
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(failed(errno)),
                }
            }
            let kind = match kind {
                FileType::RegularFile => EntryKind::File,
                FileType::Directory => EntryKind::Directory,
                FileType::Symlink => EntryKind::Symlink,
                _ => EntryKind::Other,
            };
            entries.push(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind });
        }
        Ok((entries, false))
    }

    #[cfg(target_os = "linux")]
    fn resolve(&self, name: &str, parts: &[&str], flags: OFlags) -> Result<OwnedFd, FileError> {
        use rustix::fs::{ResolveFlags, openat2};
        if !self.follows_links {
            return self.walk(name, parts, flags);
        }
        let path = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..TRIES {
            match openat2(&self.folder, &path, flags, Mode::empty(), how) {
                Ok(file) => return Ok(file),
                // A folder on the path was renamed while a link was resolved upwards.
                Err(Errno::AGAIN | Errno::INTR) => {}
                // Old kernels do not have this system call, and some containers forbid calls they do not
                // know.
                Err(Errno::NOSYS | Errno::PERM) => return self.walk(name, parts, flags),
                Err(errno) => return Err(error(name, errno)),
            }
        }
        Err(FileError::Changing { name: name.to_owned() })
    }

    #[cfg(not(target_os = "linux"))]
    fn resolve(&self, name: &str, parts: &[&str], flags: OFlags) -> Result<OwnedFd, FileError> {
        self.walk(name, parts, flags)
    }

    /// Opens a path part by part without following links. Each part is opened relative to the folder opened
    /// before, so that every step stays within the root, whatever is swapped meanwhile.
    pub(super) fn walk(&self, name: &str, parts: &[&str], flags: OFlags) -> Result<OwnedFd, FileError> {
        let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let step = |folder: &OwnedFd, part: &str, flags| {
            openat(folder, part, flags, Mode::empty()).map_err(|errno| match errno {
                // A link is reported as "not a folder" where a folder is required.
                Errno::NOTDIR | Errno::LOOP | Errno::MLINK if is_link(folder, part) => {
                    FileError::Symlink { name: name.to_owned() }
                }
                errno => error(name, errno),
            })
        };
        let mut folder = step(&self.folder, ".", folder_flags)?;
        let Some((last, before)) = parts.split_last() else {
            return step(&folder, ".", flags);
        };
        for part in before {
            folder = step(&folder, part, folder_flags)?;
        }
        let file = step(&folder, last, flags | OFlags::NOFOLLOW)?;
        // `O_PATH` opens the link itself.
        let kind = FileType::from_raw_mode(fstat(&file).map_err(|errno| error(name, errno))?.st_mode);
        if kind == FileType::Symlink {
            return Err(FileError::Symlink { name: name.to_owned() });
        }
        Ok(file)
    }

    /// Returns the real path of an open file if a link was followed, or else `None`.
    #[cfg(target_os = "linux")]
    fn real_path(&self, name: &str, parts: &[&str], file: &OwnedFd) -> Result<Option<PathBuf>, FileError> {
        use std::os::fd::AsRawFd;
        let same = |a: &rustix::fs::Stat, b: &rustix::fs::Stat| (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino);
        if let Ok(plain) = self.walk(name, parts, OFlags::PATH | OFlags::CLOEXEC) {
            let stats = (fstat(&plain), fstat(file));
            if let (Ok(plain), Ok(file)) = stats
                && same(&plain, &file)
            {
                return Ok(None);
            }
        }
        let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
        real.map(Some).map_err(|source| FileError::System { name: name.to_owned(), source })
    }

    #[cfg(not(target_os = "linux"))]
    fn real_path(&self, _: &str, _: &[&str], _: &OwnedFd) -> Result<Option<PathBuf>, FileError> {
        // Links are never followed here.
        Ok(None)
    }
}

fn is_link(folder: &OwnedFd, part: &str) -> bool {
    let stat = rustix::fs::statat(folder, part, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

fn require_regular_file(name: &str, file: rustix::fd::BorrowedFd<'_>) -> Result<(), FileError> {
    let stat = fstat(file).map_err(|errno| error(name, errno))?;
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "something else",
    };
    Err(FileError::NotAFile { name: name.to_owned(), what })
}

fn error(name: &str, errno: Errno) -> FileError {
    let name = name.to_owned();
    match errno {
        Errno::XDEV => FileError::Outside { name },
        Errno::NOENT => FileError::NotFound { name },
        Errno::LOOP => FileError::Symlink { name },
        Errno::NOTDIR => FileError::NotAFolder { name },
        // A socket, or a device without a driver.
        Errno::NXIO => FileError::NotAFile { name, what: "a socket or a device" },
        errno => FileError::System { name, source: io::Error::from(errno) },
    }
}
