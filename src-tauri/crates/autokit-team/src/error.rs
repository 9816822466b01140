//! Errors of a shared library.

use std::fmt;

use autokit_error::{ApiError, ErrorCode};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, TeamError>;

/// Why the server of a team did not do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Nobody answers at the address.
    Unreachable,
    /// The name or the password is wrong.
    SignIn,
    /// The member was removed.
    Removed,
    /// The invitation is unknown, used or expired.
    Invitation,
    /// The member's role does not allow it.
    NotAllowed,
    /// There is no such card for this member. One that may not be seen reads the same.
    NotFound,
    /// The card changed since it was read.
    Changed,
    /// The proposal was decided by somebody else.
    Decided,
    /// The policy requires somebody else than who proposed it.
    OwnProposal,
    /// The team would be left without an administrator.
    LastAdmin,
    /// The name is taken.
    Taken,
    /// Too many wrong passwords, or too many requests within a minute.
    TooMany,
    /// The team is being upgraded or exported.
    Locked,
    /// The database was made by a newer version of AutoKit.
    NewerSchema,
    /// The database has to be upgraded before this version of AutoKit reads it.
    OlderSchema,
    /// A card or proposal has more than [`crate::MAX_TEXT`] bytes, or a proposal too many comments.
    TooLarge,
    /// The address or a value is not valid.
    Invalid,
    /// The database failed.
    Database,
}

impl Code {
    /// Whether the team does not take what was asked for, whatever is received first.
    pub fn is_refusal(self) -> bool {
        matches!(self, Code::NotAllowed | Code::Decided | Code::OwnProposal | Code::TooLarge)
    }

    /// Whether the server answered, and would answer the same again.
    pub fn is_answer(self) -> bool {
        !matches!(
            self,
            Code::Unreachable
                | Code::SignIn
                | Code::TooMany
                | Code::Locked
                | Code::OlderSchema
                | Code::Database
        )
    }
}

/// An error of the server of a team.
#[derive(Clone, Debug)]
pub struct TeamError {
    /// What kind of error it is.
    pub code: Code,
    /// What happened, as far as this member may know.
    pub message: String,
}

impl TeamError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> TeamError {
        TeamError { code, message: message.into() }
    }

    /// The error of a sign-in or sign-up: what it says if that is certain, or else this one.
    pub(crate) fn or_refused(self, code: Code, message: &str) -> TeamError {
        let is_certain =
            matches!(self.code, Code::Unreachable | Code::Removed | Code::TooMany | Code::Locked);
        if is_certain { self } else { TeamError::new(code, message) }
    }

    /// Tells the user what to do about the error.
    pub fn remedy(&self) -> &'static str {
        match self.code {
            Code::Unreachable => {
                "Check the address and your connection. Changes are kept until the server answers."
            }
            Code::Removed => "Ask an administrator of the team if this is a mistake.",
            Code::SignIn => "Check the name and the password, or ask an administrator of the team.",
            Code::Invitation => "Ask an administrator of the team for a new invitation.",
            Code::NotAllowed => "Ask an administrator of the team for another role.",
            Code::NotFound => "Check the list of cards.",
            Code::Changed => "Look at the change in Review.",
            Code::Decided => "Read the decision in Review.",
            Code::OwnProposal => "Ask another reviewer.",
            Code::LastAdmin => "Make another member an administrator first.",
            Code::Taken => "Choose another name.",
            Code::TooMany => "Wait 15 minutes and try again.",
            Code::Locked => "Wait until it is done. Changes are kept until then.",
            Code::NewerSchema => "Update AutoKit.",
            Code::OlderSchema => {
                "Ask whoever runs the server to upgrade the team's tables. Changes are kept until then."
            }
            Code::TooLarge => "Shorten it, and link to the rest.",
            Code::Invalid => "Correct it and try again.",
            Code::Database => "Try again. If it keeps happening, ask whoever runs the server.",
        }
    }
}

impl fmt::Display for TeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TeamError {}

impl From<TeamError> for ApiError {
    fn from(error: TeamError) -> ApiError {
        let code = match error.code {
            Code::Unreachable => ErrorCode::NoConnection,
            Code::TooMany => ErrorCode::RateLimited,
            Code::SignIn | Code::Removed | Code::Invitation => ErrorCode::Unauthorized,
            Code::NotAllowed | Code::OwnProposal => ErrorCode::Refused,
            Code::NotFound => ErrorCode::NotFound,
            Code::Changed | Code::Decided | Code::LastAdmin | Code::Locked | Code::OlderSchema => {
                ErrorCode::Conflict
            }
            Code::Taken => ErrorCode::Duplicate,
            Code::NewerSchema => ErrorCode::NewerSchema,
            Code::Invalid | Code::TooLarge => ErrorCode::Invalid,
            Code::Database => ErrorCode::Internal,
        };
        let remedy = error.remedy();
        ApiError::new(code, error.message, remedy)
    }
}

/// What a statement throws, and the error that it stands for. What is thrown is the same whether a card is hidden or does
/// not exist.
const THROWN: [(&str, Code, &str); 13] = [
    ("autokit:last_admin", Code::LastAdmin, "the team would be left without an administrator"),
    ("autokit:invitation", Code::Invitation, "the invitation is not valid any more"),
    ("autokit:sign_in", Code::SignIn, "the name or the password is wrong"),
    ("autokit:too_many", Code::TooMany, "too many attempts"),
    ("autokit:locked", Code::Locked, "the team is being upgraded or exported"),
    ("autokit:taken", Code::Taken, "there is one with this name"),
    ("autokit:removed", Code::Removed, "you are not a member of this team any more"),
    ("autokit:not_allowed", Code::NotAllowed, "your role in this team does not allow this"),
    ("autokit:decided", Code::Decided, "the proposal was decided in the meantime"),
    ("autokit:own_proposal", Code::OwnProposal, "somebody else has to accept what you proposed"),
    ("autokit:not_found", Code::NotFound, "there is no such card"),
    ("autokit:too_large", Code::TooLarge, "the card, proposal or discussion is too large for a team"),
    ("autokit:changed", Code::Changed, "the card changed in the meantime"),
];

impl From<surrealdb::Error> for TeamError {
    fn from(error: surrealdb::Error) -> TeamError {
        let text = error.to_string();
        if let Some((_, code, message)) = THROWN.iter().find(|(thrown, ..)| text.contains(thrown)) {
            return TeamError::new(*code, *message);
        }
        if error.is_already_exists() {
            return TeamError::new(Code::Taken, "the name is taken");
        }
        if error.is_not_allowed() {
            return TeamError::new(Code::NotAllowed, "your role in this team does not allow this");
        }
        if error.is_connection() {
            return TeamError::new(
                Code::Unreachable,
                format!("the server of the team does not answer: {text}"),
            );
        }
        TeamError::new(Code::Database, format!("the server of the team failed: {text}"))
    }
}
