//! How text is cut into words and sentences.

use autokit_retrieve::{is_generic_word, is_stop_word};
use autokit_web::{Block, Document};

/// Words in titles that say what sort of page it is, beside those that say what sort of thing.
const OF_PAGES: &[&str] = &[
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

/// Letters and digits in small words, split at capitals: `GmailToolkit` is `gmail`, `toolkit`.
pub fn words(text: &str) -> Vec<String> {
    autokit_retrieve::name_words(text)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Whether two words are one but for an ending of at most so many bytes; very short ones have none.
pub fn alike(a: &str, b: &str, ending: usize) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    long.starts_with(short)
        && (short.len() == long.len() || (short.len() >= 4 && long.len() - short.len() <= ending))
}

/// The words of a title that tell which tool it is.
pub fn distinctive(title: &str) -> Vec<String> {
    let tells =
        |word: &String| !is_generic_word(word) && !is_stop_word(word) && !OF_PAGES.contains(&word.as_str());
    words(title).into_iter().filter(tells).collect()
}

/// The first paragraphs, until there is enough to tell what the page is about.
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

/// The sentences of a paragraph, their full stops included.
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

/// Whether a full stop between these ends a sentence: "e.g. this" does not.
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
    fn telling_words_leave_out_kinds_of_tools_and_pages() {
        assert_eq!(distinctive("Gmail Toolkit documentation"), ["gmail"]);
        assert_eq!(words("GmailToolkit_v2"), ["gmail", "toolkit", "v2"]);
    }
}
