//! Splits text into words and sentences.

use autokit_search::{is_generic_word, is_stop_word};
use autokit_web::{Block, Document};

/// Words in titles that describe the kind of page, in addition to those that describe the kind of tool.
const PAGE_WORDS: &[&str] = &[
    "documentation",
    "docs",
    "reference",
    "guide",
    "overview",
    "quickstart",
    "integrations",
    "agents",
    "getting",
    "started",
];

/// Splits a text into lower-case alphanumeric words, also at capitals: `GmailToolkit` is `gmail`, `toolkit`.
pub fn words(text: &str) -> Vec<String> {
    autokit_search::name_words(text)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Whether two words are equal except for an ending of at most `ending` bytes; words of fewer than four bytes
/// must be equal.
pub fn same_stem(a: &str, b: &str, ending: usize) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    long.starts_with(short)
        && (short.len() == long.len() || (short.len() >= 4 && long.len() - short.len() <= ending))
}

/// The words of a title that identify the tool.
pub fn distinctive(title: &str) -> Vec<String> {
    let is_distinctive =
        |word: &String| !is_generic_word(word) && !is_stop_word(word) && !PAGE_WORDS.contains(&word.as_str());
    words(title).into_iter().filter(is_distinctive).collect()
}

/// Words that occur in sentences and hardly ever in names.
const SENTENCE_WORDS: &[&str] = &[
    "i", "we", "you", "he", "she", "they", "it", "this", "that", "these", "those", "there", "here", "what",
    "which", "who", "how", "why", "when", "where", "if", "because", "please", "my", "our", "your", "is",
    "are", "was", "were", "be", "been", "am", "can", "could", "will", "would", "should", "must", "may",
    "has", "have", "had", "does", "do", "want", "wants", "need", "needs", "let", "lets",
];
/// Of these, the ones that cannot be a name on their own either; `which` is a program.
const PRONOUNS: &[&str] =
    &["i", "we", "you", "he", "she", "they", "it", "this", "that", "these", "those", "there", "here", "what"];
/// Maximum number of words in a name.
const WORDS_OF_A_NAME: usize = 6;
/// Maximum number of words in a lower-case name.
const SMALL_WORDS: usize = 3;

/// Whether a text can be the name of a tool: a few words that are not a sentence. More than three words are a
/// name only when most of them are capitalized ("Google Drive Search Toolkit").
pub fn is_name(text: &str) -> bool {
    let text = text.trim();
    let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().filter(|word| !plain(word).is_empty()).collect();
    let sentence_words = if words.len() > 1 { SENTENCE_WORDS } else { PRONOUNS };
    let sentence = words.len() > 1 && text.ends_with(['.', '!', '?', ';', ','])
        || words.iter().any(|word| sentence_words.contains(&plain(word).as_str()));
    let capital = |word: &&&str| word.chars().any(|c| c.is_uppercase() || c.is_ascii_digit());
    let content_words: Vec<&&str> = words.iter().filter(|word| !is_stop_word(&plain(word))).collect();
    let written_as_one = words.len() <= SMALL_WORDS
        || 2 * content_words.iter().filter(|w| capital(w)).count() > content_words.len();
    !words.is_empty() && words.len() <= WORDS_OF_A_NAME && !sentence && written_as_one
}

/// The first paragraphs, until they are long enough to show what the page is about.
pub fn opening(page: &Document, characters: usize) -> String {
    let mut text = String::new();
    for block in &page.blocks {
        if let Block::Text { text: paragraph } = block {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(paragraph);
            if text.chars().count() >= characters {
                break;
            }
        }
    }
    text.chars().take(characters).collect()
}

/// The sentences of a paragraph, including their final punctuation.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .find(|&(at, c)| matches!(c, '.' | '!' | '?') && ends_here(&rest[..at], &rest[at + 1..]))
            .map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        Some(sentence.trim())
    })
}

/// Whether a full stop between these texts ends a sentence: the one in "e.g. this" does not.
fn ends_here(before: &str, after: &str) -> bool {
    let next = after.chars().next();
    let last = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or(before);
    next.is_none_or(char::is_whitespace)
        && !["e.g", "i.e", "etc", "vs", "cf", "approx"].contains(&last.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_their_stops_and_not_at_those_of_abbreviations() {
        let text = "It reads pages (e.g. links, titles). Version 1.2 is out! Is it? Yes";
        assert_eq!(
            sentences(text).collect::<Vec<_>>(),
            ["It reads pages (e.g. links, titles).", "Version 1.2 is out!", "Is it?", "Yes"]
        );
    }

    #[test]
    fn distinctive_words_leave_out_kinds_of_tools_and_pages() {
        assert_eq!(distinctive("Gmail Toolkit documentation"), ["gmail"]);
        assert_eq!(words("GmailToolkit_v2"), ["gmail", "toolkit", "v2"]);
    }

    #[test]
    fn names_are_distinguished_from_sentences() {
        for name in [
            "jq",
            "which",
            "Weather Kit",
            "You.com",
            "Yahoo!",
            "Google Drive Search Toolkit",
            "search papers",
            "X",
            "NASA Image and Video Library",
            "The Weather Kit",
            "weather-mcp 2",
        ] {
            assert!(is_name(name), "{name}");
        }
        for sentence in [
            "Send an email to my boss every Friday",
            "This tool reads mail",
            "reads mail for you.",
            "I want a tool for flights",
            "How to book flights",
            "send messages to channels",
            "",
            " ",
            "…",
            "This",
            "Find the best price for a flight anywhere",
            "A tool that reads mail",
        ] {
            assert!(!is_name(sentence), "{sentence}");
        }
    }
}
