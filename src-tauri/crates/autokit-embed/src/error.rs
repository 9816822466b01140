//! Errors, with a code to branch on and a remedy to act on.

use std::path::{Path, PathBuf};

use autokit_error::{ApiError, ErrorCode};

/// An error of this crate.
///
/// [`Error::code`] is stable and meant for programs to compare; the `Display` text is for people;
/// [`Error::remedy`] says what a person can do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No model of this name is in `models/manifest.toml`.
    #[error("unknown model \"{name}\"")]
    UnknownModel {
        /// The requested name.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The model is offered, but its files are neither in the store nor in a folder that the user named.
    #[error("the model {model} is not installed: {} is missing", path.display())]
    NotInstalled {
        /// Name of the model.
        model: String,
        /// First file that is missing.
        path: PathBuf,
        /// Whether the model lacks checksums and so cannot be downloaded.
        folder_only: bool,
    },
    /// A file the model needs is not in the folder that the user named.
    #[error("{} is missing", path.display())]
    MissingFile {
        /// Name of the model.
        model: String,
        /// The missing file.
        path: PathBuf,
    },
    /// A file does not match the manifest.
    #[error("{} does not match its checksum (expected sha256 {expected}, got {actual})", path.display())]
    ChecksumMismatch {
        /// The file, or the URL it came from.
        path: PathBuf,
        /// sha256 in `models/manifest.toml`, lower-case hex.
        expected: String,
        /// sha256 of the file that was found.
        actual: String,
    },
    /// The weights cannot be read as safetensors, or do not belong to this architecture.
    #[error("the weights {} cannot be used: {reason}", path.display())]
    BadWeights {
        /// The weights file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// `config.json` cannot be read or describes a model that cannot be run.
    #[error("the model description {} cannot be used: {reason}", path.display())]
    BadConfig {
        /// The configuration file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// `tokenizer.json` cannot be read or does not match the weights.
    #[error("the tokenizer {} cannot be used: {reason}", path.display())]
    BadTokenizer {
        /// The tokenizer file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The model list compiled into the program is malformed.
    #[error("the model list is malformed: {reason}")]
    BadManifest {
        /// What is wrong with it.
        reason: String,
    },
    /// A text could not be split into tokens.
    #[error("text {index} of the batch could not be tokenized: {reason}")]
    Tokenise {
        /// Position of the text in the batch.
        index: usize,
        /// The tokenizer's error.
        reason: String,
    },
    /// The encoder failed on a batch.
    #[error("the model could not encode a batch: {reason}")]
    Encode {
        /// The encoder's error.
        reason: String,
    },
    /// No source could deliver the model.
    #[error("the model {model} could not be downloaded: {}", list_attempts(attempts))]
    NoSource {
        /// Name of the model.
        model: String,
        /// All sources that were tried, in order, with the reason each failed.
        attempts: Vec<Attempt>,
    },
    /// Reading or writing a file failed.
    #[error("{action} {} failed: {source}", path.display())]
    Io {
        /// What was being done, e.g. "writing".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The caller cancelled the operation.
    #[error("cancelled")]
    Cancelled,
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A source that was tried for a model and failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The source: a URL or a command.
    pub source: String,
    /// Why it failed.
    pub reason: String,
}

fn list_attempts(attempts: &[Attempt]) -> String {
    attempts.iter().map(|a| format!("{} ({})", a.source, a.reason)).collect::<Vec<_>>().join("; ")
}

impl Error {
    /// Returns a stable identifier of the kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownModel { .. } => "embed.unknown_model",
            Self::NotInstalled { .. } => "embed.not_installed",
            Self::MissingFile { .. } => "embed.missing_file",
            Self::ChecksumMismatch { .. } => "embed.checksum_mismatch",
            Self::BadWeights { .. } => "embed.bad_weights",
            Self::BadConfig { .. } => "embed.bad_config",
            Self::BadTokenizer { .. } => "embed.bad_tokenizer",
            Self::BadManifest { .. } => "embed.bad_manifest",
            Self::Tokenise { .. } => "embed.tokenise",
            Self::Encode { .. } => "embed.encode",
            Self::NoSource { .. } => "embed.no_source",
            Self::Io { source, .. } => match source.kind() {
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => "embed.disk_full",
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                    "embed.permission"
                }
                _ => "embed.io",
            },
            Self::Cancelled => "embed.cancelled",
        }
    }

    /// Tells the user what to do about the error, if there is anything.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::UnknownModel { known, .. } => {
                format!("Choose one of: {}.", known.join(", "))
            }
            Self::NotInstalled { model, folder_only: false, .. } => {
                format!("Download {model} in Settings, Embedding model, or choose a folder with its files.")
            }
            Self::NotInstalled { model, folder_only: true, .. } => format!(
                "Download {model} yourself and choose its folder. AutoKit does not know its checksums, \
                 so it never downloads it for you."
            ),
            Self::MissingFile { model, path } => format!(
                "Put {} into that folder, or choose a folder with all files of {model}.",
                path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
            ),
            Self::ChecksumMismatch { path, .. } => format!(
                "{} was not changed. Download the model again in Settings, Embedding model, or choose a folder with the original files.",
                path.display()
            ),
            Self::BadWeights { .. } | Self::BadConfig { .. } | Self::BadTokenizer { .. } => {
                "The file is damaged or belongs to another model. Download the model again in Settings, Embedding model, or choose another folder."
                    .to_owned()
            }
            Self::NoSource { model, .. } => format!(
                "Check the network or proxy and try again (the download resumes), or copy the files of {model} to this machine and choose their folder."
            ),
            Self::Io { path, source, .. } => match source.kind() {
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                    format!("Free some space on the disk that holds {} and try again. The download resumes.", path.display())
                }
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                    format!("Make {} writable for this user, or choose another model folder.", path.display())
                }
                _ => return None,
            },
            Self::BadManifest { .. } | Self::Tokenise { .. } | Self::Encode { .. } | Self::Cancelled => return None,
        })
    }

    /// Wraps an I/O error with the action and path it occurred on.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        let code = match &error {
            Error::Cancelled => ErrorCode::Cancelled,
            _ => ErrorCode::BadModel,
        };
        let remedy = error.remedy().unwrap_or_else(|| "Check Settings, Diagnostics.".to_owned());
        ApiError::new(code, error.to_string(), remedy)
    }
}
