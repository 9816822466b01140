//! Why a bundle cannot be read or written.

use std::io;

use autokit_toolcard::{CardId, ReadError};

/// Result of reading or writing.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The disk or pipe failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no bundle, or not one that was written to its end.
    #[error("this is no bundle: {0}")]
    NotABundle(String),
    /// It was made by a later version.
    #[error("the bundle has version {found} of the format; this AutoKit reads up to {}", crate::VERSION)]
    Newer {
        /// Its version.
        found: u64,
    },
    /// Its content is not what its own list says.
    #[error("`{file}` in the bundle is damaged: {why}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// Something in it does not belong there.
    #[error("the bundle holds {what}, which does not belong in one")]
    Foreign {
        /// What.
        what: String,
    },
    /// What stands where it should be written is not ours to replace.
    #[error("nothing was written: {0}")]
    Place(String),
    /// The export that made the folder was interrupted.
    #[error("the export into this folder was not finished: export again")]
    Unfinished,
    /// It is larger than anything one should read whole.
    #[error("the bundle is too large: {what}")]
    TooLarge {
        /// What is too large, with the limit.
        what: String,
    },
    /// The signature does not fit what is signed.
    #[error("the signature of the bundle is wrong: {0}")]
    Signature(String),
    /// What would leave holds a key or a password.
    #[error("{} would leave with a key or password in it: {}", cards_told(.0), told(.0))]
    Secrets(Vec<Secret>),
    /// A file of another format that cannot be read.
    #[error("{0}")]
    Cards(#[from] ReadError),
}

/// A value that must not leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The card; empty for what the bundle says about itself.
    pub card: CardId,
    /// Its name, or what to call the bundle.
    pub name: String,
    /// Where in it, e.g. `init_args.api_key`.
    pub field: String,
    /// What it looks like, in words; never the value.
    pub kind: &'static str,
    /// Whether it is in an earlier revision only.
    pub in_history: bool,
}

/// How many of them are named in a message; all are in the error.
const NAMED: usize = 5;

fn cards_told(secrets: &[Secret]) -> String {
    let mut cards: Vec<&CardId> = secrets.iter().map(|secret| &secret.card).collect();
    cards.sort();
    cards.dedup();
    if cards.iter().any(|card| card.as_str().is_empty()) {
        "the bundle".to_owned()
    } else if cards.len() == 1 {
        "a card".to_owned()
    } else {
        format!("{} cards", cards.len())
    }
}

fn told(secrets: &[Secret]) -> String {
    let mut told: Vec<String> = secrets
        .iter()
        .take(NAMED)
        .map(|secret| {
            let past = if secret.in_history { " of an earlier revision" } else { "" };
            format!("{}, `{}`{past} ({})", secret.name, secret.field, secret.kind)
        })
        .collect();
    if secrets.len() > NAMED {
        told.push(format!("and {} more", secrets.len() - NAMED));
    }
    told.join("; ")
}
