//! The error type that every host shows to people: a code, a message and a remedy.
//!
//! Each crate has its own error type and defines the conversion next to it: `impl From<Error> for ApiError`.

use std::io;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;

/// Result of a command.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// Error code for the window and the terminal to branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request is not valid for the command.
    BadRequest,
    /// There is no such card, revision, job or model.
    NotFound,
    /// The card changed since it was read.
    Conflict,
    /// The combination of provider and name is already in use.
    Duplicate,
    /// A card or a setting is invalid.
    Invalid,
    /// A card has hidden text or a possible prompt injection that nobody has approved.
    Flagged,
    /// A file cannot be read as cards.
    UnreadableFile,
    /// The data directory is not writable.
    ReadOnly,
    /// The disk is full.
    DiskFull,
    /// The store was written by a newer version.
    NewerSchema,
    /// The store cannot be read.
    Damaged,
    /// The process that owns the library does not respond.
    OwnerUnreachable,
    /// The owner uses another version of the protocol.
    VersionMismatch,
    /// The request came without the library's token.
    Unauthorized,
    /// There is no embedding model on this machine.
    NoModel,
    /// The files of the model are unusable.
    BadModel,
    /// The keychain is missing or locked, or does not respond.
    NoKeychain,
    /// No search service is configured.
    NoSearch,
    /// A service rejected the API key or requires one.
    WrongKey,
    /// The address of a service is answered by something else.
    WrongAddress,
    /// A service does not have the model.
    WrongModel,
    /// No connection.
    NoConnection,
    /// Too many requests.
    RateLimited,
    /// The operation timed out.
    Timeout,
    /// The spending limit is reached.
    OverBudget,
    /// The network policy or the site does not allow it.
    Refused,
    /// A service failed or gave an unusable response.
    Provider,
    /// The user cancelled it.
    Cancelled,
    /// A bug or a database failure.
    Internal,
}

/// An error that a person can act on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The code to branch on.
    pub code: ErrorCode,
    /// What happened, as a sentence.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl ApiError {
    /// An error with its parts.
    pub fn new(code: ErrorCode, message: impl Into<String>, remedy: impl Into<String>) -> ApiError {
        ApiError { code, message: message.into(), remedy: remedy.into() }
    }

    /// A failure that should not happen.
    pub fn internal(message: impl Into<String>) -> ApiError {
        ApiError::new(
            ErrorCode::Internal,
            message,
            "Try again. If it keeps happening, check Settings, Diagnostics and report it.",
        )
    }

    /// The user cancelled the operation.
    pub fn cancelled() -> ApiError {
        ApiError::new(ErrorCode::Cancelled, "stopped", "Start it again to continue.")
    }

    /// The process that was doing the work ended; the work was not cancelled.
    pub fn owner_ended() -> ApiError {
        ApiError::new(
            ErrorCode::OwnerUnreachable,
            "the AutoKit process doing this ended before it finished",
            "Start it again.",
        )
    }

    /// The message as a sentence for display, with a capital letter and a full stop.
    pub fn sentence(&self) -> String {
        // A URL, a path or the name of a file at the start keeps its case.
        let first = self.message.split_whitespace().next().unwrap_or_default();
        let mut chars = self.message.chars();
        let mut text = match chars.next() {
            Some(letter) if !first.contains(['/', '\\', '.', ':']) => letter.to_uppercase().collect(),
            Some(letter) => String::from(letter),
            None => String::new(),
        };
        text.push_str(chars.as_str());
        if !text.ends_with(['.', '!', '?']) {
            text.push('.');
        }
        text
    }
}

/// Describes a problem with a file or folder that a person named, without the system's error number and
/// without the names of temporary files beside it.
pub fn file_problem(error: &io::Error) -> String {
    let known = match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::IsADirectory => "it is a folder",
        io::ErrorKind::NotADirectory => "part of the path is not a folder",
        io::ErrorKind::StorageFull => "the disk is full",
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only",
        io::ErrorKind::InvalidData => "it is not UTF-8 text",
        _ => return error.to_string(),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{ApiError, file_problem};

    #[test]
    fn files_are_told_of_in_words() {
        let missing = std::fs::read("/nowhere/at/all").expect_err("there is none");
        assert_eq!(file_problem(&missing), "no such file or folder");
        assert_eq!(file_problem(&io::Error::other("the cable was pulled")), "the cable was pulled");
    }

    #[test]
    fn messages_become_sentences_and_addresses_stay_what_they_are() {
        let sentence = |message: &str| ApiError::internal(message).sentence();
        assert_eq!(sentence("no key is kept"), "No key is kept.");
        assert_eq!(sentence("http://a.example is closed"), "http://a.example is closed.");
        assert_eq!(sentence("/tmp/x: gone!"), "/tmp/x: gone!");
        assert_eq!(sentence(""), ".");
    }
}
