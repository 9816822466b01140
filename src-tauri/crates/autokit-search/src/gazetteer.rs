//! General knowledge about well-known names, which a card need not mention.
//!
//! "Naver" is a Korean search engine, but a card called "Naver Search" hardly ever says so, because its
//! author knew. A person asking in everyday words does not know, and neither does a small embedding model.
//! The gazetteer closes the gap: where a card's name or provider contains a well-known name, what is known of
//! it is indexed with the card, for keywords and in its vector. The effect is documented in
//! [`crate::fusion`].

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::text::{entry_lines, parts};

const TEXT: &str = include_str!("gazetteer.txt");

/// Number of words of the longest name.
const LONGEST: usize = 6;

/// Entries by name. The words of a name are joined, so that "YouTube", "you_tube" and "youtube" are the same
/// name.
static KNOWN: LazyLock<FxHashMap<Box<str>, &'static str>> = LazyLock::new(|| {
    let mut entries_by_name = FxHashMap::default();
    for (names, what) in entries() {
        for name in names.split(',') {
            entries_by_name.insert(parts(name).concat().into(), what);
        }
    }
    entries_by_name
});

/// Iterates over the lines of the list as pairs of names and what is known of them.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    entry_lines(TEXT).filter_map(|line| line.split_once(" = "))
}

/// Returns what is known of the names in these texts, without duplicates, in order. Of overlapping names, the
/// one that starts first wins, and of those the longest.
pub(crate) fn lookup<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        let words = parts(name);
        let mut at = 0;
        while at < words.len() {
            let longest = LONGEST.min(words.len() - at);
            let hit = (1..=longest).rev().find_map(|count| {
                let what = KNOWN.get(words[at..at + count].concat().as_str())?;
                Some((count, *what))
            });
            match hit {
                Some((count, what)) => {
                    if !found.contains(&what) {
                        found.push(what);
                    }
                    at += count;
                }
                None => at += 1,
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::document::Document;

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
                assert!(names.insert(words.concat()), "twice: “{name}”");
            }
        }
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        let what = lookup(["youtube"]);
        assert_eq!(what.len(), 1);
        for name in ["YouTube", "you_tube", "YouTubeSearchTool", "Download from youtube"] {
            assert_eq!(lookup([name]), what, "{name}");
        }
    }

    #[test]
    fn the_longest_name_counts_and_each_entry_once() {
        let (calendar, google) = (lookup(["google calendar"]), lookup(["google maps"]));
        assert!(calendar.len() == 1 && google.len() == 1 && calendar != google);
        assert_eq!(lookup(["Google Calendar Toolkit", "google-calendar"]), calendar);
        assert!(lookup(["word counter", ""]).is_empty());
    }

    #[test]
    fn gazetteer_terms_are_indexed_with_the_card() {
        let document =
            Document { name: "Naver Search", description: "Queries Naver.", ..Document::default() };
        let text = document.dense_text();
        assert!(text.starts_with("Naver Search: Queries Naver. (") && text.contains("korean"), "{text}");
    }
}
