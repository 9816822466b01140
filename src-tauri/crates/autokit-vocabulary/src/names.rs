//! General knowledge about well-known names, which a card need not mention.
//!
//! "Naver" is a Korean search engine, but a card called "Naver Search" hardly ever says so, because its
//! author knew. A person asking in everyday words does not know, and neither does a small embedding model.
//! The list closes the gap: where a card's name or provider contains a well-known name, what is known of
//! it is indexed with the card, for keywords and in its vector. Some of these names are everyday words as well:
//! `map_zoom_level` is not about video meetings. Those need evidence that the card is about the product. The effect
//! is measured in `autokit_search::fusion`.

use rustc_hash::FxHashMap;

use crate::entry::NameEntry;
use crate::text::{entry_lines, is_generic_word, parts, words};

/// The shipped list.
pub(crate) const TEXT: &str = include_str!("names.txt");

/// Number of words of the longest name.
pub(crate) const LONGEST: usize = 6;

/// What is known of a name.
#[derive(Clone, Debug)]
struct Known {
    what: Box<str>,
    /// Whether the name is an everyday word as well.
    is_everyday_word: bool,
}

/// What is known of names. The words of a name are joined, so that "YouTube", "you_tube" and "youtube" are the same
/// name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(FxHashMap<Box<str>, Known>);

/// Iterates over the lines of the shipped list as pairs of names and what is known of them.
fn shipped_entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    entry_lines(TEXT).filter_map(|line| line.split_once(" = "))
}

impl Names {
    /// Returns the names of the shipped list.
    pub(crate) fn shipped() -> Names {
        let mut known = FxHashMap::default();
        for (names, what) in shipped_entries() {
            for name in names.split(',') {
                let entry = Known { what: what.into(), is_everyday_word: name.ends_with('?') };
                known.insert(parts(name).concat().into(), entry);
            }
        }
        Names(known)
    }

    /// Adds an entry that a person wrote, in place of what was known of its names. Such an entry never applies to a
    /// word inside an identifier on the strength of that word alone: nobody checks which words are everyday ones.
    pub(crate) fn add(&mut self, entry: &NameEntry) {
        for name in &entry.names {
            let words = parts(name);
            let known = Known { what: entry.what.as_str().into(), is_everyday_word: words.len() == 1 };
            self.0.insert(words.concat().into(), known);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Calls `found` with what is known of the names in a text, and the words of each. Of overlapping names, the one
/// that starts first wins, and of those the longest. Earlier lists win over later ones.
fn each_name<'n>(lists: &[&'n Names], text: &str, mut found: impl FnMut(&'n Known, &[String])) {
    let words = parts(text);
    let mut at = 0;
    while at < words.len() {
        let longest = LONGEST.min(words.len() - at);
        let hit = (1..=longest).rev().find_map(|count| {
            let name = words[at..at + count].concat();
            Some((count, lists.iter().find_map(|names| names.0.get(name.as_str()))?))
        });
        match hit {
            Some((count, known)) => {
                found(known, &words[at..at + count]);
                at += count;
            }
            None => at += 1,
        }
    }
}

/// Returns what is known of the first well-known name in a text.
pub(crate) fn first_in<'n>(lists: &[&'n Names], text: &str) -> Option<&'n str> {
    let mut first = None;
    each_name(lists, text, |known, _| first = first.or(Some(&*known.what)));
    first
}

/// Returns what is known of the names of a tool, without duplicates, in order.
///
/// A name that is an everyday word counts if it is the whole name of the tool but for generic words ("Zoom tool"),
/// occurs in the provider's name, or is written as a proper noun inside a sentence of the description.
pub(crate) fn of_tool<'n>(
    lists: &[&'n Names],
    name: &str,
    provider: &str,
    description: &str,
) -> Vec<&'n str> {
    let mut all: Vec<&'n str> = Vec::new();
    let mut add = |known: &'n Known| {
        if !all.contains(&&*known.what) {
            all.push(&known.what);
        }
    };
    each_name(lists, name, |known, words| {
        let is_product = || {
            let is_whole = parts(name).iter().all(|word| words.contains(word) || is_generic_word(word));
            is_whole
                || words.iter().all(|word| parts(provider).contains(word))
                || words.iter().all(|word| is_proper_noun(word, description))
        };
        if !known.is_everyday_word || is_product() {
            add(known);
        }
    });
    each_name(lists, provider, |known, _| add(known));
    all
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

    fn of(name: &str, provider: &str, description: &str) -> Vec<&'static str> {
        crate::Vocabulary::shipped().known_of(name, provider, description)
    }

    fn named(name: &str) -> Vec<&'static str> {
        of(name, "", "")
    }

    #[test]
    fn every_line_is_an_entry() {
        let mut names: FxHashSet<String> = FxHashSet::default();
        assert_eq!(entry_lines(TEXT).count(), shipped_entries().count());
        for (left, what) in shipped_entries() {
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
        assert_eq!(of("Google Calendar Toolkit", "google-calendar", ""), calendar);
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
            assert!(of(name, "", description).is_empty(), "{name}");
        }
        for (name, provider, description) in [
            ("Zoom", "", ""),
            ("zoom_tool", "", ""),
            ("create_meeting", "Zoom", "Creates a meeting."),
            ("SlackGetMessage", "slack-sdk", ""),
            ("send_slack_message", "", "Posts a message to a channel of Slack."),
        ] {
            assert_eq!(of(name, provider, description).len(), 1, "{name}");
        }
    }
}
