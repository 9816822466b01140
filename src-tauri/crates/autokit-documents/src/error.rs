//! Why a document cannot be read.

use autokit_error::{ApiError, ErrorCode};
use serde::{Deserialize, Serialize};

/// Why a document cannot be read. Messages continue "DOCUMENT cannot be read: ".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", content = "detail", rename_all = "snake_case")]
pub enum ReadError {
    /// It is protected by a password.
    #[error("it is protected by a password")]
    Encrypted,
    /// Its format is not kept to.
    #[error("it is damaged ({0})")]
    Damaged(String),
    /// There is no text in it.
    #[error("there is no text in it")]
    NoText,
    /// Its pages are pictures.
    #[error("its {0} pages are pictures without text")]
    Scanned(u32),
    /// Nothing here reads its format; with what it is.
    #[error("{0} cannot be searched")]
    Unsupported(String),
    /// It has more bytes than are read; with the limit in MB.
    #[error("it is larger than {0} MB")]
    TooLarge(u64),
    /// Its content, unpacked, has more bytes than are read; with the limit in MB.
    #[error("it unpacks to more than {0} MB")]
    UnpacksTooLarge(u64),
    /// It took longer than the given seconds.
    #[error("reading it took longer than {0} s")]
    TooSlow(u64),
    /// It took more memory than the given MB.
    #[error("reading it took more than {0} MB of memory")]
    TooMuchMemory(u64),
    /// The process that reads it could not be started or ended early.
    #[error("the process that reads it failed: {0}")]
    Process(String),
}

impl ReadError {
    /// What can be done about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            ReadError::Encrypted => "Save a copy without a password, and add that.",
            ReadError::Damaged(_) => "Open it in the program that made it, and save it again.",
            ReadError::NoText => "Check that it is the right file.",
            ReadError::Scanned(_) => "Run text recognition (OCR) on it first.",
            ReadError::Unsupported(_) => "Save it as PDF, DOCX, HTML, Markdown or text.",
            ReadError::UnpacksTooLarge(_) => "Check where it came from: no document needs that much.",
            ReadError::TooLarge(_) | ReadError::TooSlow(_) | ReadError::TooMuchMemory(_) => {
                "Split it into smaller files."
            }
            ReadError::Process(_) => "Try again.",
        }
    }
}

impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> ApiError {
        let code = match &error {
            ReadError::TooSlow(_) => ErrorCode::Timeout,
            ReadError::Process(_) => ErrorCode::Internal,
            _ => ErrorCode::UnreadableFile,
        };
        ApiError::new(code, error.to_string(), error.remedy())
    }
}
