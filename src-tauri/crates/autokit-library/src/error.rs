//! Errors of the store, each with a code to branch on and a remedy to show.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use autokit_commit_log::HeadError;
use autokit_error::{ApiError, ErrorCode};
use autokit_store::StoreError;
use autokit_toolcard::{CardId, ProposalId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Result of the library's operations.
pub type Result<T, E = LibraryError> = std::result::Result<T, E>;

/// Stable error codes; the window and the terminal branch on these, never on text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The data directory cannot be written.
    ReadOnly,
    /// The disk is full.
    DiskFull,
    /// Another process owns the store.
    Owned,
    /// The store was written by a newer version.
    NewerSchema,
    /// The store cannot be opened or read.
    Damaged,
    /// No such card or revision.
    NotFound,
    /// The card changed since it was read.
    Conflict,
    /// Another card has this provider and name.
    Duplicate,
    /// The card breaks a rule.
    Invalid,
    /// The caller cancelled the operation.
    Stopped,
    /// The database refused or failed an operation.
    Database,
}

/// An error of the library.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The data directory or its database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Written by a later version of AutoKit.
    #[error("the library in {} has schema {found}; this version supports up to {known}", path.display())]
    NewerSchema {
        /// The directory.
        path: PathBuf,
        /// Schema version of the store.
        found: u32,
        /// Newest schema version this program knows.
        known: u32,
    },
    /// No such card.
    #[error("card {:?} not found", .0.as_str())]
    NoCard(CardId),
    /// No such revision.
    #[error("card {:?} has no revision {number}", card.as_str())]
    NoRevision {
        /// The card.
        card: CardId,
        /// The number asked for.
        number: u32,
    },
    /// The library does not match what was acknowledged.
    #[error("the library is incomplete: {problem}")]
    Incomplete {
        /// What is missing or altered.
        problem: String,
    },
    /// A backup is not as it was written.
    #[error("the backup {} cannot be used: {reason}", path.display())]
    BadBackup {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No such backup.
    #[error("backup {name:?} not found in {}", folder.display())]
    NoBackup {
        /// The name asked for.
        name: String,
        /// The folder of backups.
        folder: PathBuf,
    },
    /// No such proposal.
    #[error("proposal {0} not found")]
    NoProposal(ProposalId),
    /// The proposal is already decided.
    #[error("proposal {proposal} is already {state}")]
    Decided {
        /// Its number.
        proposal: ProposalId,
        /// Its state.
        state: &'static str,
    },
    /// The proposal changed since the caller read it.
    #[error("proposal {0} changed in the meantime")]
    ProposalChanged(ProposalId),
    /// There is no change to undo.
    #[error("nothing to undo")]
    NothingToUndo,
    /// There is no undo to take back.
    #[error("nothing to redo")]
    NothingToRedo,
    /// Every card of the change to undo or redo has changed again since.
    #[error("{cards} {} changed again later; nothing was changed", if *cards == 1 { "card" } else { "cards" })]
    ChangedSince {
        /// How many cards there are.
        cards: usize,
    },
    /// The card changed since it was read.
    #[error(
        "card {:?} has changed: it is at revision {current}, the edit is based on {expected}", card.as_str()
    )]
    Conflict {
        /// The card.
        card: CardId,
        /// Revision the edit was based on.
        expected: u32,
        /// Revision it has now.
        current: u32,
    },
    /// Another card already has this provider and name.
    #[error("a card named {key} already exists: {existing}")]
    Duplicate {
        /// Provider and name.
        key: String,
        /// Id of the card that has it.
        existing: CardId,
    },
    /// A stored or given card is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The caller cancelled the operation; nothing was done.
    #[error("stopped")]
    Stopped,
}

impl From<HeadError> for LibraryError {
    fn from(error: HeadError) -> LibraryError {
        StoreError::from(error).into()
    }
}

impl LibraryError {
    /// Returns the error's code.
    pub fn code(&self) -> Code {
        match self {
            LibraryError::Store(StoreError::ReadOnly { .. }) => Code::ReadOnly,
            LibraryError::Store(StoreError::DiskFull { .. }) => Code::DiskFull,
            LibraryError::Store(StoreError::Owned { .. }) => Code::Owned,
            LibraryError::Store(StoreError::Database(_)) => Code::Database,
            LibraryError::NewerSchema { .. } => Code::NewerSchema,
            LibraryError::Store(StoreError::Damaged { .. })
            | LibraryError::Incomplete { .. }
            | LibraryError::BadBackup { .. } => Code::Damaged,
            LibraryError::NoCard(_)
            | LibraryError::NoRevision { .. }
            | LibraryError::NoProposal(_)
            | LibraryError::NoBackup { .. }
            | LibraryError::NothingToUndo
            | LibraryError::NothingToRedo => Code::NotFound,
            LibraryError::Conflict { .. }
            | LibraryError::ChangedSince { .. }
            | LibraryError::Decided { .. }
            | LibraryError::ProposalChanged(_) => Code::Conflict,
            LibraryError::Duplicate { .. } => Code::Duplicate,
            LibraryError::Invalid(_) => Code::Invalid,
            LibraryError::Stopped => Code::Stopped,
        }
    }

    /// Tells the user what to do about the error.
    pub fn remedy(&self) -> &'static str {
        match self {
            LibraryError::Incomplete { .. } => {
                return "Restore a backup, or continue without the missing changes in Settings, Diagnostics.";
            }
            LibraryError::BadBackup { .. } => return "Choose another backup.",
            LibraryError::NoBackup { .. } => return "Check the list of backups.",
            LibraryError::NoProposal(_) => return "See what is pending in Review.",
            LibraryError::Decided { .. } => return "Undo the decision first, in Review.",
            LibraryError::ProposalChanged(_) => return "Open it again, then decide.",
            LibraryError::ChangedSince { .. } => return "Undo the later changes first.",
            LibraryError::NothingToUndo => return "See the history of the card.",
            LibraryError::NothingToRedo => return "Redo works until another change is made.",
            _ => {}
        }
        match self.code() {
            Code::Stopped => "Start it again.",
            Code::ReadOnly => "Make the directory writable, or choose another one with --data-dir.",
            Code::DiskFull => "Free some space on that disk and try again.",
            Code::Owned => "Close the other AutoKit process, or run the same version of AutoKit in both.",
            Code::NewerSchema => {
                "Update AutoKit, or open a backup from the `backups` folder with this version."
            }
            Code::Damaged => "Restore a backup, or start with another data directory.",
            Code::NotFound => "Look it up in the Library.",
            Code::Conflict => "Open the current version and edit it again.",
            Code::Duplicate => "Edit the existing card, or give this one a different name or provider.",
            Code::Invalid => "Correct the field and try again.",
            Code::Database => "Try again. If it keeps happening, check Settings, Diagnostics.",
        }
    }

    /// Something in the database is not what this program stores there.
    pub fn malformed(what: impl fmt::Display) -> LibraryError {
        StoreError::Database(what.to_string()).into()
    }

    /// Maps an I/O error in the data directory.
    pub(crate) fn io(path: &Path, source: io::Error) -> LibraryError {
        StoreError::io(path, source).into()
    }

    /// Maps a database error.
    pub(crate) fn database(path: Option<&Path>, error: &dyn fmt::Display) -> LibraryError {
        StoreError::database(path, error).into()
    }
}

impl From<LibraryError> for ApiError {
    fn from(error: LibraryError) -> ApiError {
        let code = match error.code() {
            Code::ReadOnly => ErrorCode::ReadOnly,
            Code::DiskFull => ErrorCode::DiskFull,
            Code::Owned => ErrorCode::OwnerUnreachable,
            Code::NewerSchema => ErrorCode::NewerSchema,
            Code::Damaged => ErrorCode::Damaged,
            Code::NotFound => ErrorCode::NotFound,
            Code::Conflict => ErrorCode::Conflict,
            Code::Duplicate => ErrorCode::Duplicate,
            Code::Invalid => ErrorCode::Invalid,
            Code::Stopped => ErrorCode::Cancelled,
            Code::Database => ErrorCode::Internal,
        };
        ApiError::new(code, error.to_string(), error.remedy())
    }
}
