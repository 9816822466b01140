//! General knowledge about well-known names, which a card need not mention.
//!
//! "Naver" is a Korean search engine, but a card called "Naver Search" hardly ever says so, because its
//! author knew. A person asking in everyday words does not know, and neither does a small embedding model.
//! The gazetteer closes the gap: where a card's name or provider contains a well-known name, what is known of
//! it is indexed with the card, for keywords and in its vector. Some of these names are everyday words as well:
//! `map_zoom_level` is not about video meetings. Those need evidence that the card is about the product. The effect
//! is documented in [`crate::fusion`].

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::text::{entry_lines, is_generic_word, parts, words};

/// The list.
pub(crate) const TEXT: &str = include_str!("gazetteer.txt");

/// Number of words of the longest name.
const LONGEST: usize = 6;

/// An entry.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// What is known of the name.
    what: &'static str,
    /// Whether the name is an everyday word as well.
    is_everyday_word: bool,
}

/// Entries by name. The words of a name are joined, so that "YouTube", "you_tube" and "youtube" are the same
/// name.
static KNOWN: LazyLock<FxHashMap<Box<str>, Entry>> = LazyLock::new(|| {
    let mut entries_by_name = FxHashMap::default();
    for (names, what) in entries() {
        for name in names.split(',') {
            let entry = Entry { what, is_everyday_word: name.ends_with('?') };
            entries_by_name.insert(parts(name).concat().into(), entry);
        }
    }
    entries_by_name
});

/// Iterates over the lines of the list as pairs of names and what is known of them.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    entry_lines(TEXT).filter_map(|line| line.split_once(" = "))
}

/// Calls `found` with the entries whose names occur in a text, and the words of each. Of overlapping names, the one
/// that starts first wins, and of those the longest.
fn each_name(text: &str, mut found: impl FnMut(Entry, &[String])) {
    let words = parts(text);
    let mut at = 0;
    while at < words.len() {
        let longest = LONGEST.min(words.len() - at);
        let hit = (1..=longest).rev().find_map(|count| {
            let entry = KNOWN.get(words[at..at + count].concat().as_str())?;
            Some((count, *entry))
        });
        match hit {
            Some((count, entry)) => {
                found(entry, &words[at..at + count]);
                at += count;
            }
            None => at += 1,
        }
    }
}

/// Returns what is known of the first well-known name in a text.
pub(crate) fn first_in(text: &str) -> Option<&'static str> {
    let mut first = None;
    each_name(text, |entry, _| first = first.or(Some(entry.what)));
    first
}

/// Returns what is known of the names of a tool, without duplicates, in order.
///
/// A name that is an everyday word counts if it is the whole name of the tool but for generic words ("Zoom tool"),
/// occurs in the provider's name, or is written as a proper noun inside a sentence of the description.
pub(crate) fn of_tool(name: &str, provider: &str, description: &str) -> Vec<&'static str> {
    let mut known: Vec<&'static str> = Vec::new();
    let mut add = |what: &'static str| {
        if !known.contains(&what) {
            known.push(what);
        }
    };
    each_name(name, |entry, words| {
        let is_product = || {
            let is_whole = parts(name).iter().all(|word| words.contains(word) || is_generic_word(word));
            is_whole
                || words.iter().all(|word| parts(provider).contains(word))
                || words.iter().all(|word| is_proper_noun(word, description))
        };
        if !entry.is_everyday_word || is_product() {
            add(entry.what);
        }
    });
    each_name(provider, |entry, _| add(entry.what));
    known
}

/// Whether a lower-case word is capitalised somewhere in a text where no sentence begins.
fn is_proper_noun(word: &str, text: &str) -> bool {
    words(text).iter().filter(|found| found.folded == word && !found.is_compound).any(|found| {
        let before = text[..found.range.start].trim_end();
        let starts_sentence = before.is_empty() || before.ends_with(['.', '!', '?', ':', '\n']);
        text[found.range.clone()].starts_with(char::is_uppercase) && !starts_sentence
    })
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::document::Document;

    fn named(name: &str) -> Vec<&'static str> {
        of_tool(name, "", "")
    }

    #[test]
    fn every_line_is_an_entry() {
        let mut names: FxHashSet<String> = FxHashSet::default();
        assert_eq!(entry_lines(TEXT).count(), entries().count());
        for (left, what) in entries() {
            assert!(left.is_ascii() && what.is_ascii(), "{left}");
            assert_eq!((left, what), (left.to_lowercase().as_str(), what.to_lowercase().as_str()));
            assert!((2..=30).contains(&parts(what).len()), "{left} = {what}");
            for name in left.split(',') {
                let words = parts(name);
                assert!((1..=LONGEST).contains(&words.len()), "“{name}”");
                assert!(words.len() == 1 || !name.ends_with('?'), "“{name}” is no single word");
                assert!(names.insert(words.concat()), "twice: “{name}”");
            }
        }
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        let what = named("youtube");
        assert_eq!(what.len(), 1);
        for name in ["YouTube", "you_tube", "YouTubeSearchTool", "Download from youtube"] {
            assert_eq!(named(name), what, "{name}");
        }
    }

    #[test]
    fn the_longest_name_counts_and_each_entry_once() {
        let (calendar, google) = (named("google calendar"), named("google maps"));
        assert!(calendar.len() == 1 && google.len() == 1 && calendar != google);
        assert_eq!(of_tool("Google Calendar Toolkit", "google-calendar", ""), calendar);
        assert!(named("word counter").is_empty());
    }

    #[test]
    fn everyday_words_inside_identifiers_are_no_products() {
        for (name, description) in [
            ("set_zoom", "Sets the zoom of the view."),
            ("map_zoom_level", "Zoom of the map, 0 to 20."),
            ("uber_jar", "Builds one jar with all dependencies."),
            ("confluence_of_rivers", "Where two rivers meet."),
            ("Stripe Pattern", "Stripe patterns for wallpapers."),
            ("slackLine", "Simulates a slack line between two poles."),
        ] {
            assert!(of_tool(name, "", description).is_empty(), "{name}");
        }
        for (name, provider, description) in [
            ("Zoom", "", ""),
            ("zoom_tool", "", ""),
            ("create_meeting", "Zoom", "Creates a meeting."),
            ("SlackGetMessage", "slack-sdk", ""),
            ("send_slack_message", "", "Posts a message to a channel of Slack."),
        ] {
            assert_eq!(of_tool(name, provider, description).len(), 1, "{name}");
        }
    }

    #[test]
    fn gazetteer_terms_are_indexed_with_the_card() {
        let document =
            Document { name: "Naver Search", description: "Queries Naver.", ..Document::default() };
        let text = document.dense_text();
        assert!(text.starts_with("Naver Search: Queries Naver. (") && text.contains("korean"), "{text}");
    }
}
