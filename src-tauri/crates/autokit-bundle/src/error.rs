//! Why a bundle cannot be read or written.

use std::io;

use autokit_toolcard::{CardId, ReadError};

/// Result of reading or writing a bundle.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a bundle cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The disk or pipe failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The input is not a bundle, or was not written completely.
    #[error("not a bundle: {0}")]
    NotABundle(String),
    /// A later version of the format.
    #[error("the bundle has format version {found}; this AutoKit supports up to {}", crate::VERSION)]
    Newer {
        /// The version found.
        found: u64,
    },
    /// A file in the bundle is invalid or differs from what the manifest lists.
    #[error("`{file}` in the bundle is damaged: {why}")]
    Damaged {
        /// Name of the file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The bundle contains something that does not belong in one.
    #[error("the bundle contains {what}, which is not allowed")]
    Foreign {
        /// A description of it.
        what: String,
    },
    /// The destination holds something AutoKit did not write and will not replace.
    #[error("nothing was written: {0}")]
    Place(String),
    /// An export into this folder was interrupted.
    #[error("the last export into this folder did not finish")]
    Unfinished,
    /// The bundle exceeds one of the [limits](crate::limits).
    #[error("the bundle is too large: {what}")]
    TooLarge {
        /// What is too large, with the limit.
        what: String,
    },
    /// The signature cannot be read or does not match the signed content, or the signing key cannot be read.
    #[error("the signature of the bundle is not valid: {0}")]
    Signature(String),
    /// The export would contain an API key or a password.
    #[error("found a key or password in {}: {}", card_summary(.0), secret_list(.0))]
    Secrets(Vec<Secret>),
    /// A file in another format cannot be read.
    #[error("{0}")]
    Cards(#[from] ReadError),
}

/// A value that must not be exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The card that holds it; empty for the bundle's own metadata.
    pub card: CardId,
    /// The card's name, or a label for the bundle.
    pub name: String,
    /// Path within the card, e.g. `init_args.api_key`.
    pub field: String,
    /// What kind of secret it looks like, in words; never the value.
    pub kind: &'static str,
    /// Whether this occurrence is in an earlier revision.
    pub in_history: bool,
}

/// How many secrets a message names; the error holds all of them.
const MAX_LISTED: usize = 5;

fn card_summary(secrets: &[Secret]) -> String {
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

fn secret_list(secrets: &[Secret]) -> String {
    let mut secret_list: Vec<String> = secrets
        .iter()
        .take(MAX_LISTED)
        .map(|secret| {
            let past = if secret.in_history { " of an earlier revision" } else { "" };
            format!("{}, `{}`{past} ({})", secret.name, secret.field, secret.kind)
        })
        .collect();
    if secrets.len() > MAX_LISTED {
        secret_list.push(format!("and {} more", secrets.len() - MAX_LISTED));
    }
    secret_list.join("; ")
}
