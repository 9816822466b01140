//! Why a file is not read.

use std::io;

/// Why a file or folder is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The name leads, or could lead, out of the folder.
    #[error("`{name}` is outside the project's folder")]
    Outside {
        /// As given.
        name: String,
    },
    /// There is nothing of that name.
    #[error("`{name}` does not exist")]
    NotFound {
        /// As given.
        name: String,
    },
    /// A link stands in the way, and this system cannot follow one safely.
    #[error("`{name}` leads over a symbolic link, which is not followed")]
    Symlink {
        /// As given.
        name: String,
    },
    /// Not an ordinary file.
    #[error("`{name}` is not a file but {what}")]
    NotAFile {
        /// As given.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// Not a folder.
    #[error("`{name}` is not a folder")]
    NotAFolder {
        /// As given.
        name: String,
    },
    /// It is there to keep a secret.
    #[error("`{name}` is private: {why}")]
    Private {
        /// As given.
        name: String,
        /// How it is known.
        why: &'static str,
    },
    /// Not UTF-8.
    #[error("`{name}` is not a text in UTF-8: {what}")]
    NotText {
        /// As given.
        name: String,
        /// What it seems to be, or where it stops being one.
        what: String,
    },
    /// The lines asked for lie further in than is looked.
    #[error("`{name}` was searched for the line through {scanned} bytes, which is the limit")]
    TooLarge {
        /// As given.
        name: String,
        /// Bytes gone through.
        scanned: u64,
    },
    /// Folders are moved about faster than one can be found.
    #[error("`{name}` kept changing its place while it was opened")]
    Changing {
        /// As given.
        name: String,
    },
    /// The system failed.
    #[error("`{name}` cannot be read: {source}")]
    System {
        /// As given.
        name: String,
        /// What the system said.
        source: io::Error,
    },
}

impl FileError {
    /// What a person can do.
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
