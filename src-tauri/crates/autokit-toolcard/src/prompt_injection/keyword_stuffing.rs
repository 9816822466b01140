//! Detects keyword stuffing: words of many tools strung together, so that a card is found for everything.
//!
//! A sentence that describes a tool needs words like "the", "of" and "with" every few words; lists of
//! keywords have none. Of 2,298 descriptions of real tools (of RapidAPI, LangChain and MCP servers), none has
//! more than 21 different words in a row, in a list of the fields of a film.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Found, InjectionKind};

/// Number of different words in a row that make a list of keywords.
const LIST_WORDS: usize = 22;

const WHY: &str = "Keyword stuffing, to appear in every search.";

/// Function words, which sentences cannot do without, in the languages of most descriptions.
const BINDING: &[&str] = &[
    // English
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before",
    "but", "by", "can", "do", "does", "each", "every", "for", "from", "get", "gets", "give", "given",
    "gives", "has", "have", "if", "in", "into", "is", "it", "its", "may", "more", "must", "no", "not", "of",
    "on", "one", "only", "or", "other", "out", "over", "returns", "should", "so", "such", "than", "that",
    "the", "their", "them", "then", "these", "they", "this", "those", "through", "to", "up", "use", "used",
    "uses", "using", "via", "was", "we", "what", "when", "where", "which", "who", "will", "with", "you",
    "your", // German
    "als", "auf", "aus", "bei", "das", "dem", "den", "der", "des", "die", "ein", "eine", "einen", "einer",
    "er", "es", "für", "im", "ist", "kann", "mit", "nach", "nicht", "oder", "sich", "sie", "sind", "um",
    "und", "von", "werden", "wird", "zu", "zum", "zur", // French
    "au", "aux", "avec", "ce", "cette", "ces", "dans", "de", "du", "elle", "en", "est", "et", "il", "la",
    "le", "les", "leur", "lui", "ou", "où", "par", "pas", "pour", "qui", "que", "sa", "ses", "son", "sont",
    "sur", "un", "une", "l", "d", // Spanish, Portuguese, Italian
    "al", "che", "com", "como", "con", "da", "del", "della", "di", "dos", "el", "em", "gli", "los", "las",
    "na", "nel", "no", "non", "os", "para", "pela", "per", "por", "se", "ser", "su", "sus", "um", "uma",
    "una", "uno", "y", "è", "é",
];

static BINDING_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| BINDING.iter().copied().collect());

pub(super) fn find(text: &str) -> Vec<Found> {
    let binding = &*BINDING_WORDS;
    let mut found = Vec::new();
    let (mut start, mut end) = (0, 0);
    let mut seen: HashSet<String> = HashSet::new();
    let mut close = |seen: &mut HashSet<String>, start: usize, end: usize| {
        if seen.len() >= LIST_WORDS {
            found.push(Found::new(start..end, InjectionKind::Stuffed, WHY));
        }
        seen.clear();
    };
    for (at, word) in words(text) {
        let ends_sentence = text[end..at].contains(['.', '!', '?', '{', '}', '`', '"', '=']);
        // Words in non-Latin scripts, numbers and parts of code end a run.
        let latin = word.chars().all(|c| c.is_alphabetic() && c < '\u{250}');
        let lower = word.to_lowercase();
        if ends_sentence || !latin || binding.contains(lower.as_str()) {
            close(&mut seen, start, end);
        }
        if latin && !binding.contains(lower.as_str()) && word.chars().count() > 2 {
            if seen.is_empty() {
                start = at;
            }
            seen.insert(lower);
        }
        end = at + word.len();
    }
    close(&mut seen, start, end);
    found
}

/// Iterates over the words of a text with their byte offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(part_of_word)?;
        let length = text[start..].find(|c| !part_of_word(c)).unwrap_or(text.len() - start);
        rest = start + length;
        Some((start, &text[start..rest]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catchwords_are_marked_and_sentences_are_not() {
        let stuffed = "Fast. weather, forecast, calendar, email, slack, github, twitter, sql, pdf, translate, \
            speech, image, video, search, database, query, payments, stripe, invoice, maps, route, flights, \
            hotel, booking";
        let found = find(stuffed);
        assert_eq!((found.len(), found[0].sort, found[0].at.start), (1, InjectionKind::Stuffed, 6));
        for text in [
            "Sends an email through the account of the person who asks, with attachments and a signature.",
            "Supports json, csv, xml, yaml, toml, ini, parquet, avro, orc, xlsx, ods and plain text.",
            "weather weather weather weather weather weather weather weather weather weather weather weather \
             weather weather weather weather weather weather weather weather weather weather weather weather",
            "",
        ] {
            assert!(find(text).is_empty(), "{text}");
        }
    }
}
