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
    #[error("`{name}` leads over a symbolic link, which is not followed")]
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
    #[error("`{name}` is not a text in UTF-8: {what}")]
    NotText {
        /// As given.
        name: String,
        /// What it seems to be, or where it stops being UTF-8.
        what: String,
    },
    /// The requested lines are further into the file than is searched.
    #[error("`{name}` was searched for the line through {scanned} bytes, which is the limit")]
    TooLarge {
        /// As given.
        name: String,
        /// Number of bytes searched.
        scanned: u64,
    },
    /// Folders are renamed faster than the name can be resolved.
    #[error("`{name}` kept changing its place while it was opened")]
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
            FileError::Outside { .. } => "Give a name relative to the project's folder, without `..`.",
            FileError::NotFound { .. } => "List the folder to see what is there.",
            FileError::Symlink { .. } => "Give the name the link stands for.",
            FileError::NotAFile { .. } => "Name a file; a folder can be listed.",
            FileError::NotAFolder { .. } => "Name a folder; a file can be read.",
            FileError::Private { .. } => "Allow private files if you want this one to be read.",
            FileError::NotText { .. } => "Convert the file to UTF-8, or name another one.",
            FileError::TooLarge { .. } => "Ask for lines nearer to the start.",
            FileError::Changing { .. } => "Try again when nothing moves the folders.",
            FileError::System { .. } => "Check that you may read the file.",
        }
    }
}
