//! Identity of cards: unique by (provider, name), with a short stable id derived from both.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ts_rs::TS;
use unicode_normalization::UnicodeNormalization;

/// Most characters in the readable part of an id.
const SLUG_CHARS: usize = 48;

/// A card's identity: the same name under two providers means two cards.
///
/// Both parts are compared after Unicode NFC normalization and with runs of white space collapsed, so that
/// spellings that look the same are the same. Case is significant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct CardKey {
    /// Vendor, package or server; empty if the card has none.
    pub provider: String,
    /// The tool's name.
    pub name: String,
}

impl CardKey {
    /// Creates a key from the two fields as written on a card.
    pub fn new(provider: &str, name: &str) -> CardKey {
        CardKey { provider: fold(provider), name: fold(name) }
    }

    /// Returns the id a card with this key gets when it is first added. The same key yields the same id in
    /// every library, so that two people who add the same tool refer to the same card.
    pub fn id(&self) -> CardId {
        let mut hash = Sha256::new();
        hash.update(self.provider.as_bytes());
        hash.update([0]);
        hash.update(self.name.as_bytes());
        let digest = hash.finalize();
        let tail = digest.iter().take(6).fold(0u64, |tail, byte| tail << 8 | u64::from(*byte));
        let readable = if self.provider.is_empty() {
            slug(&self.name)
        } else {
            format!("{}.{}", slug(&self.provider), slug(&self.name))
        };
        let readable: String = readable.chars().take(SLUG_CHARS).collect();
        CardId(format!("{}-{tail:012x}", readable.trim_matches(['-', '.'])))
    }
}

impl fmt::Display for CardKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.provider.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{} / {}", self.provider, self.name)
        }
    }
}

text_id! {
    /// Stable identifier of a card within a library, e.g. `google-calendar-toolkit-1f0c93d2a7be`. It does not
    /// change when the card is renamed.
    CardId
}

impl CardId {
    /// Returns the `n`-th alternative to this id, for a key whose own id still belongs to a card that was
    /// renamed.
    #[must_use]
    pub fn alternative(&self, n: u32) -> CardId {
        CardId(format!("{}-{n}", self.0))
    }
}

fn fold(text: &str) -> String {
    let text: String = text.nfc().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Converts a text to lower-case letters and digits separated by single dashes.
fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_name_under_two_providers_is_two_cards() {
        let a = CardKey::new("github", "create_issue");
        let b = CardKey::new("gitlab", "create_issue");
        assert_ne!(a, b);
        assert_ne!(a.id(), b.id());
        assert!(a.id().as_str().starts_with("github.create-issue-"), "{}", a.id());
    }

    #[test]
    fn spelling_differences_nobody_sees_are_one_card() {
        assert_eq!(CardKey::new("", "Cafe\u{301}  tool "), CardKey::new("", "Café tool"));
        assert_ne!(CardKey::new("", "Discord").id(), CardKey::new("", "discord").id());
        // The separator cannot be forged: ("a", "b c") is not ("a b", "c").
        assert_ne!(CardKey::new("a", "b c").id(), CardKey::new("a b", "c").id());
    }

    #[test]
    fn names_without_letters_still_have_an_id() {
        let id = CardKey::new("", "???").id();
        assert!(id.as_str().len() >= 12, "{id}");
    }
}
