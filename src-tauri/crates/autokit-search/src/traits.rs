//! Traits of tools that requests set conditions on: what a tool costs, where it runs, what it asks for, and from
//! which language it is used; read from the words of a card.

use std::ops::Range;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use autokit_vocabulary::text::entry_lines;

/// A set of traits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traits(u32);

impl Traits {
    /// It costs money.
    pub(crate) const PAID: Traits = Traits(1);
    /// It is free, or free up to some use.
    pub(crate) const FREE: Traits = Traits(1 << 1);
    /// It needs an account or a key.
    pub(crate) const NEEDS_ACCOUNT: Traits = Traits(1 << 2);
    /// It says that it needs neither.
    pub(crate) const NO_ACCOUNT: Traits = Traits(1 << 3);
    /// It runs on the person's own machine or server.
    pub(crate) const LOCAL: Traits = Traits(1 << 4);
    /// It is a service of somebody else.
    pub(crate) const HOSTED: Traits = Traits(1 << 5);
    /// Its source is open.
    pub(crate) const OPEN_SOURCE: Traits = Traits(1 << 6);

    /// First bit of the languages.
    const LANGUAGES: u32 = 8;

    /// Reads the traits of a text.
    pub(crate) fn of(text: &str) -> Traits {
        let mut traits = Traits::default();
        traits.read(text);
        traits
    }

    /// Adds the traits of a text.
    pub(crate) fn read(&mut self, text: &str) {
        let words = phrase_words(text);
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        PHRASES.find(&words, |traits, _| self.0 |= traits.0);
    }

    /// Adds a language by the name that a card gives it.
    pub(crate) fn add_language(&mut self, name: &str) {
        if let Some(language) = Language::of_card(&name.to_lowercase()) {
            self.0 |= language.bit();
        }
    }

    /// Whether all of these traits are among them.
    pub(crate) fn has(self, traits: Traits) -> bool {
        self.0 & traits.0 == traits.0
    }

    /// Whether the tool is used from this language.
    pub(crate) fn speaks(self, language: Language) -> bool {
        self.0 & language.bit() != 0
    }

    /// Whether any language is known.
    pub(crate) fn has_language(self) -> bool {
        self.0 >> Traits::LANGUAGES != 0
    }
}

/// A programming language, or the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C#.
    CSharp,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// The command line.
    Shell,
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Language::Python => "Python",
            Language::JavaScript => "JavaScript",
            Language::Rust => "Rust",
            Language::Go => "Go",
            Language::Java => "Java",
            Language::CSharp => "C#",
            Language::Ruby => "Ruby",
            Language::Php => "PHP",
            Language::Shell => "the command line",
        })
    }
}

impl Language {
    fn bit(self) -> u32 {
        1 << (Traits::LANGUAGES + self as u32)
    }

    /// Returns the language that a card calls by this name, in small letters.
    pub(crate) fn of_card(name: &str) -> Option<Language> {
        let known = Language::CARD_NAMES.iter().find(|(_, names)| names.contains(&name));
        known.map(|(language, _)| *language)
    }

    /// Values of a card's language field.
    const CARD_NAMES: &[(Language, &[&str])] = &[
        (Language::Python, &["python", "python3", "py"]),
        (Language::JavaScript, &["javascript", "typescript", "js", "ts", "node", "nodejs", "node.js"]),
        (Language::Rust, &["rust"]),
        (Language::Go, &["go", "golang"]),
        (Language::Java, &["java"]),
        (Language::CSharp, &["c#", "csharp", ".net", "dotnet"]),
        (Language::Ruby, &["ruby"]),
        (Language::Php, &["php"]),
        (Language::Shell, &["shell", "bash", "sh"]),
    ];
}

/// Traits by the phrases of cards that say so; none by phrases that only look like it.
static PHRASES: LazyLock<PhraseTable<Traits>> = LazyLock::new(|| {
    PhraseTable::parse(include_str!("traits.txt"), |heading| {
        let traits = heading.split(", ").map(|name| match name {
            "paid" => Some(Traits::PAID),
            "free" => Some(Traits::FREE),
            "needs account" => Some(Traits::NEEDS_ACCOUNT),
            "no account" => Some(Traits::NO_ACCOUNT),
            "local" => Some(Traits::LOCAL),
            "hosted" => Some(Traits::HOSTED),
            "open source" => Some(Traits::OPEN_SOURCE),
            "none" => Some(Traits::default()),
            _ => None,
        });
        traits.map(|one| Some(one?.0)).sum::<Option<u32>>().map(Traits)
    })
});

/// A word of a text in which phrases are looked for.
pub(crate) struct Word {
    /// In lower case, without apostrophes.
    pub(crate) text: String,
    pub(crate) range: Range<usize>,
}

/// Splits a text into words as phrases have them: apostrophes join ("don't" is `dont`), everything else separates.
pub(crate) fn phrase_words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut word = String::new();
    let mut start = 0;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_alphanumeric() {
            if word.is_empty() {
                start = at;
            }
            word.extend(c.to_lowercase());
        } else if matches!(c, '\'' | '\u{2019}') && !word.is_empty() {
            // The word goes on.
        } else if !word.is_empty() {
            found.push(Word { text: std::mem::take(&mut word), range: start..at });
        }
    }
    found
}

/// Values by phrases of lower-case words.
pub(crate) struct PhraseTable<T> {
    /// Phrases by their first word, longest first: the words after it, and the value.
    entries: FxHashMap<&'static str, Vec<(Vec<&'static str>, T)>>,
}

impl<T: Clone> PhraseTable<T> {
    /// Parses a built-in list: phrases, one a line, under headings in brackets, which `value` reads.
    ///
    /// # Panics
    /// At a heading that `value` does not know; tests parse every list.
    pub(crate) fn parse(list: &'static str, value: impl Fn(&str) -> Option<T>) -> PhraseTable<T> {
        let mut current = None;
        let mut entries = Vec::new();
        for line in entry_lines(list) {
            if let Some(heading) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                current = Some(value(heading).unwrap_or_else(|| panic!("unknown heading {heading:?}")));
            } else {
                entries.push((line, current.clone().expect("a phrase stands under a heading")));
            }
        }
        PhraseTable::new(entries)
    }
}

impl<T> PhraseTable<T> {
    pub(crate) fn new(list: impl IntoIterator<Item = (&'static str, T)>) -> PhraseTable<T> {
        let mut entries: FxHashMap<&'static str, Vec<(Vec<&'static str>, T)>> = FxHashMap::default();
        for (phrase, value) in list {
            let mut words = phrase.split(' ');
            let first = words.next().unwrap_or_default();
            entries.entry(first).or_default().push((words.collect(), value));
        }
        for phrases in entries.values_mut() {
            phrases.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len()));
        }
        PhraseTable { entries }
    }

    /// Calls `found` with the value of the longest phrase at each place, and how many words it has; a word
    /// belongs to one phrase only.
    pub(crate) fn find(&self, words: &[&str], mut found: impl FnMut(&T, usize)) {
        let mut at = 0;
        while at < words.len() {
            let phrases = self.entries.get(words[at]).map_or(&[][..], Vec::as_slice);
            let longest = phrases.iter().find(|(rest, _)| words[at + 1..].starts_with(rest));
            at += match longest {
                Some((rest, value)) => {
                    found(value, 1 + rest.len());
                    1 + rest.len()
                }
                None => 1,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_are_read_from_what_cards_say() {
        for (text, has, has_not) in [
            (
                "REST API; requires an account with billing enabled; priced per minute.",
                Traits::PAID,
                Traits::FREE,
            ),
            (
                "Free of charge. No key needed.",
                Traits(Traits::FREE.0 | Traits::NO_ACCOUNT.0),
                Traits::NEEDS_ACCOUNT,
            ),
            (
                "Runs locally, open source (MIT licence).",
                Traits(Traits::LOCAL.0 | Traits::FREE.0),
                Traits::HOSTED,
            ),
            ("Adds free text to a record.", Traits(0), Traits::FREE),
            ("Works without a subscription.", Traits::FREE, Traits::PAID),
            (
                "Cloud service; API key required.",
                Traits(Traits::HOSTED.0 | Traits::NEEDS_ACCOUNT.0),
                Traits::LOCAL,
            ),
        ] {
            let traits = Traits::of(text);
            assert!(traits.has(has) && !traits.has(has_not), "{text}: {traits:?}");
        }
    }

    #[test]
    fn languages_have_their_own_bits() {
        let mut traits = Traits::default();
        assert!(!traits.has_language());
        traits.add_language("Python");
        assert!(traits.speaks(Language::Python) && !traits.speaks(Language::Shell) && traits.has_language());
        traits.add_language("no such language");
        assert_eq!(traits, {
            let mut python = Traits::default();
            python.add_language("py");
            python
        });
    }

    #[test]
    fn the_longest_phrase_counts_and_words_are_used_once() {
        let table = PhraseTable::new([("a", 1), ("a b", 2), ("b c", 3)]);
        let mut found = Vec::new();
        table.find(&["a", "b", "c", "a"], |value, words| found.push((*value, words)));
        assert_eq!(found, [(2, 2), (1, 1)]);
    }
}
