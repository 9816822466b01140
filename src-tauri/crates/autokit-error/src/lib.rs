//! The one error every host hands to people: a code, a sentence and a remedy.
//!
//! Each crate keeps an error type of its own and says what becomes of it here: `impl From<Error> for
//! ApiError` stands beside that type.

use std::io;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// Result of a command.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// What the window and the terminal branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request does not fit the command.
    BadRequest,
    /// No such card, revision, job or model.
    NotFound,
    /// The card changed since it was read.
    Conflict,
    /// Provider and name are taken.
    Duplicate,
    /// A card or a setting breaks a rule.
    Invalid,
    /// A card has texts that hide something or give orders to a model, and nobody said that they are meant.
    Flagged,
    /// A file cannot be read as cards.
    UnreadableFile,
    /// The data directory cannot be written.
    ReadOnly,
    /// The disk is full.
    DiskFull,
    /// The store was written by a newer version.
    NewerSchema,
    /// The store cannot be read.
    Damaged,
    /// The process that owns the library does not answer.
    OwnerUnreachable,
    /// The owner speaks another version of the protocol.
    VersionMismatch,
    /// The request came without the library's token.
    Unauthorized,
    /// There is no embedding model on this machine.
    NoModel,
    /// The model's files do not serve.
    BadModel,
    /// The keychain is missing, locked or does not answer.
    NoKeychain,
    /// No search service is chosen.
    NoSearch,
    /// A service refused the key, or wants one.
    WrongKey,
    /// Something else answers at a service's address.
    WrongAddress,
    /// A service does not know the model.
    WrongModel,
    /// No connection.
    NoConnection,
    /// Too many requests for now.
    RateLimited,
    /// It took too long.
    Timeout,
    /// The spend cap is reached.
    OverBudget,
    /// The network rules or the site forbid it.
    Refused,
    /// A service failed or answered what nobody can use.
    Provider,
    /// The person stopped it.
    Cancelled,
    /// A bug or a failing database.
    Internal,
}

/// An error a person can act on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// What to branch on.
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

    /// Something that should not happen.
    pub fn internal(message: impl Into<String>) -> ApiError {
        ApiError::new(
            ErrorCode::Internal,
            message,
            "Try again; if it stays, look into Settings, Diagnostics and report it.",
        )
    }

    /// The person cancelled.
    pub fn cancelled() -> ApiError {
        ApiError::new(ErrorCode::Cancelled, "stopped", "Start it again to go on.")
    }

    /// The process that was at it ended; nobody stopped the work itself.
    pub fn owner_ended() -> ApiError {
        ApiError::new(
            ErrorCode::OwnerUnreachable,
            "the AutoKit process that did this ended before it was done",
            "Start it again.",
        )
    }

    /// Capital at the start and a full stop, for display.
    pub fn sentence(&self) -> String {
        // An address or a path at the start is written as it is.
        let first = self.message.split_whitespace().next().unwrap_or_default();
        let mut chars = self.message.chars();
        let mut text = match chars.next() {
            Some(letter) if !first.contains(['/', '\\', '.']) => letter.to_uppercase().collect(),
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

/// What is wrong with a file or folder a person named: without the number the system gives it, and without
/// names of files beside it that are only there for a moment.
pub fn file_problem(error: &io::Error) -> String {
    let known = match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::IsADirectory => "this is a folder",
        io::ErrorKind::NotADirectory => "a part of the path is no folder",
        io::ErrorKind::StorageFull => "the disk is full",
        io::ErrorKind::ReadOnlyFilesystem => "the disk can only be read",
        io::ErrorKind::InvalidData => "this is not text in UTF-8",
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
