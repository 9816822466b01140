//! Errors of reading files.

use std::io;

/// Why a file or folder cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The name leads, or could lead, out of the folder.
    #[error("`{name}` is outside the project's folder")]
    Outside {
        /// As given.
        name: String,
    },
    /// There is no file or folder of that name.
    #[error("`{name}` does not exist")]
    NotFound {
        /// As given.
        name: String,
    },
    /// The name leads through a symbolic link, which this system cannot follow safely.
    #[error("`{name}` goes through a symbolic link, which is not followed")]
    Symlink {
        /// As given.
        name: String,
    },
    /// It is not a regular file.
    #[error("`{name}` is not a file but {what}")]
    NotAFile {
        /// As given.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// It is not a folder.
    #[error("`{name}` is not a folder")]
    NotAFolder {
        /// As given.
        name: String,
    },
    /// The file holds secrets.
    #[error("`{name}` is private: {why}")]
    Private {
        /// As given.
        name: String,
        /// Why it is considered private.
        why: &'static str,
    },
    /// The file is not UTF-8.
    #[error("`{name}` is not UTF-8 text: {what}")]
    NotText {
        /// As given.
        name: String,
        /// What it seems to be, or where it stops being UTF-8.
        what: String,
    },
    /// The requested lines are further into the file than is searched.
    #[error("the line is not within the first {scanned} bytes of `{name}`, the limit")]
    TooLarge {
        /// As given.
        name: String,
        /// Number of bytes searched.
        scanned: u64,
    },
    /// Folders are renamed faster than the name can be resolved.
    #[error("`{name}` was moved while it was being opened")]
    Changing {
        /// As given.
        name: String,
    },
    /// A system call failed.
    #[error("`{name}` cannot be read: {source}")]
    System {
        /// As given.
        name: String,
        /// The system's error.
        source: io::Error,
    },
}

impl FileError {
    /// Returns what a person can do about the error.
    pub fn remedy(&self) -> &'static str {
        match self {
            FileError::Outside { .. } => "Use a path relative to the project's folder, without `..`.",
            FileError::NotFound { .. } => "List the folder to see what it contains.",
            FileError::Symlink { .. } => "Use the path that the link points to.",
            FileError::NotAFile { .. } => "Use the path of a file. Folders can be listed.",
            FileError::NotAFolder { .. } => "Use the path of a folder. Files can be read.",
            FileError::Private { .. } => "Allow private files to read this one.",
            FileError::NotText { .. } => "Convert the file to UTF-8, or choose another one.",
            FileError::TooLarge { .. } => "Request lines closer to the start.",
            FileError::Changing { .. } => "Try again when the folders are no longer being moved.",
            FileError::System { .. } => "Check that you may read the file.",
        }
    }
}
