//! Entries that people add to the shipped lists, in the format of those lists.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::names::LONGEST;
use crate::text::{is_stop_word, parts};

/// Most bytes of an entry.
pub const MAX_ENTRY_BYTES: usize = 500;
/// Most words of what is known of a name.
const MAX_WORDS: usize = 40;
/// Most words of a synonym or a phrase.
const MAX_TERM_WORDS: usize = 8;
/// Most names of one entry, and most terms or phrases.
const MAX_ITEMS: usize = 20;

/// What is known of a product: `name, other name = what it is and what people do with it`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NameEntry {
    /// Names of the product.
    pub names: Vec<String>,
    /// What it is.
    pub what: String,
}

/// Words for one thing: `a, b, c`, each of which finds the others; or `a | b -> c, d`: who says a or b means c or d.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SynonymEntry {
    /// Phrases that people ask with, which find `terms` but are not found by them; may be empty.
    pub phrases: Vec<String>,
    /// Terms for the thing.
    pub terms: Vec<String>,
}

/// Which list an entry belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// Names of products.
    Name,
    /// Synonyms.
    Synonym,
}

/// An entry of either list. Its text, which [`Entry::parse`] reads, is its identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// What is known of a product.
    Name(NameEntry),
    /// Words for one thing.
    Synonym(SynonymEntry),
}

/// Why a text is no entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// There is no `=` between names and what they are, or nothing on one of its sides.
    #[error("an entry is written “name, other name = what it is”")]
    NotAName,
    /// There are not at least two terms, or nothing on one side of `->`.
    #[error("an entry is written “word, same word” or “phrase | phrase -> word, word”")]
    NotSynonyms,
    /// It is longer than [`MAX_ENTRY_BYTES`], or has too many names, terms or phrases.
    #[error("an entry has at most {MAX_ENTRY_BYTES} bytes and {MAX_ITEMS} names or phrases")]
    TooLong,
    /// A name, term or phrase has no word that says something, or too many words.
    #[error("“{0}” has no word that says something, or too many words")]
    Words(String),
    /// It has a line break or another control character.
    #[error("an entry is one line")]
    ControlCharacter,
}

impl EntryKind {
    /// Returns its name in texts: `name` or `synonym`.
    pub fn as_str(self) -> &'static str {
        match self {
            EntryKind::Name => "name",
            EntryKind::Synonym => "synonym",
        }
    }
}

impl Entry {
    /// Parses an entry of a list.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn parse(kind: EntryKind, text: &str) -> Result<Entry, EntryError> {
        match kind {
            EntryKind::Name => text.parse().map(Entry::Name),
            EntryKind::Synonym => text.parse().map(Entry::Synonym),
        }
    }

    /// Returns which list it belongs to.
    pub fn kind(&self) -> EntryKind {
        match self {
            Entry::Name(_) => EntryKind::Name,
            Entry::Synonym(_) => EntryKind::Synonym,
        }
    }
}

/// Splits a text at a separator into trimmed, lower-case items with single spaces, without empty and repeated ones.
fn items(text: &str, separator: char) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for item in text.split(separator) {
        let item = item.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        if !item.is_empty() && !items.contains(&item) {
            items.push(item);
        }
    }
    items
}

/// Checks that the text fits, and that each item has words that say something.
fn check(text: &str, items: &[&[String]], most_words: usize) -> Result<(), EntryError> {
    if text.chars().any(char::is_control) {
        return Err(EntryError::ControlCharacter);
    }
    if text.len() > MAX_ENTRY_BYTES || items.iter().any(|items| items.len() > MAX_ITEMS) {
        return Err(EntryError::TooLong);
    }
    for item in items.iter().copied().flatten() {
        let words = parts(item);
        if words.len() > most_words || words.iter().all(|word| is_stop_word(word)) {
            return Err(EntryError::Words(item.clone()));
        }
    }
    Ok(())
}

impl FromStr for NameEntry {
    type Err = EntryError;

    fn from_str(text: &str) -> Result<NameEntry, EntryError> {
        let (names, what) = text.split_once('=').ok_or(EntryError::NotAName)?;
        let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
        let names = items(names, ',');
        if names.is_empty() || what.is_empty() {
            return Err(EntryError::NotAName);
        }
        check(text, &[&names], LONGEST)?;
        check(text, &[std::slice::from_ref(&what)], MAX_WORDS)?;
        Ok(NameEntry { names, what })
    }
}

impl FromStr for SynonymEntry {
    type Err = EntryError;

    fn from_str(text: &str) -> Result<SynonymEntry, EntryError> {
        let (phrases, terms) = match text.split_once("->") {
            Some((phrases, terms)) => (items(phrases, '|'), items(terms, ',')),
            None => (Vec::new(), items(text, ',')),
        };
        let is_complete =
            if text.contains("->") { !phrases.is_empty() && !terms.is_empty() } else { terms.len() > 1 };
        // Other separators would become parts of words without notice.
        if !is_complete || terms.iter().chain(&phrases).any(|term| term.contains(['=', '>', '|'])) {
            return Err(EntryError::NotSynonyms);
        }
        check(text, &[&phrases, &terms], MAX_TERM_WORDS)?;
        Ok(SynonymEntry { phrases, terms })
    }
}

impl fmt::Display for NameEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.names.join(", "), self.what)
    }
}

impl fmt::Display for SynonymEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.phrases.is_empty() {
            write!(f, "{} -> ", self.phrases.join(" | "))?;
        }
        f.write_str(&self.terms.join(", "))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Name(entry) => entry.fmt(f),
            Entry::Synonym(entry) => entry.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_are_written() {
        for (kind, text, canonical) in [
            (
                EntryKind::Name,
                "Borealis,  borealis CD = Our deployment service",
                "borealis, borealis cd = Our deployment service",
            ),
            (EntryKind::Synonym, "PTO, vacation , pto", "pto, vacation"),
            (EntryKind::Synonym, "time off|day off -> PTO", "time off | day off -> pto"),
        ] {
            let entry = Entry::parse(kind, text).unwrap();
            assert_eq!(entry.to_string(), canonical);
            assert_eq!(Entry::parse(kind, canonical).unwrap(), entry);
            assert_eq!(entry.kind(), kind);
        }
    }

    #[test]
    fn what_is_no_entry_is_refused_with_the_reason() {
        use EntryKind::{Name, Synonym};
        let long = format!("a product = {}", "word ".repeat(200));
        for (kind, text, error) in [
            (Name, "borealis", EntryError::NotAName),
            (Name, " = a service", EntryError::NotAName),
            (Name, "borealis = ", EntryError::NotAName),
            (Name, "the = a service", EntryError::Words("the".to_owned())),
            (Name, "a b c d e f g = a service", EntryError::Words("a b c d e f g".to_owned())),
            (Name, "borealis = a\nb", EntryError::ControlCharacter),
            (Name, long.as_str(), EntryError::TooLong),
            (Synonym, "vacation", EntryError::NotSynonyms),
            (Synonym, "vacation -> ", EntryError::NotSynonyms),
            (Synonym, "a -> b -> c", EntryError::NotSynonyms),
            (Synonym, "vacation, the", EntryError::Words("the".to_owned())),
        ] {
            assert_eq!(Entry::parse(kind, text).unwrap_err(), error, "{text}");
        }
    }
}
