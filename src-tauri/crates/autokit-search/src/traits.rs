//! Traits of tools that requests set conditions on: what a tool costs, where it runs, what it asks for, and from
//! which language it is used; read from the words of a card.

use std::ops::Range;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A set of traits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
        let name = name.to_lowercase();
        let known = Language::CARD_NAMES.iter().find(|(_, names)| names.contains(&name.as_str()));
        if let Some((language, _)) = known {
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

    /// Phrases of requests that demand a language.
    pub(crate) const NAMES: &[(Language, &[&str])] = &[
        (
            Language::Python,
            &[
                "in python",
                "with python",
                "from python",
                "for python",
                "using python",
                "python only",
                "only python",
                "python library",
                "python package",
                "python module",
                "python class",
                "python function",
            ],
        ),
        (
            Language::JavaScript,
            &[
                "in javascript",
                "in typescript",
                "in node",
                "in nodejs",
                "from node",
                "with node",
                "for node",
                "node only",
                "javascript only",
                "javascript library",
                "typescript library",
                "npm package",
                "with javascript",
                "from javascript",
            ],
        ),
        (Language::Rust, &["in rust", "from rust", "rust crate", "rust library", "rust only", "for rust"]),
        (Language::Go, &["in golang", "golang", "go library", "from golang"]),
        (Language::Java, &["in java", "from java", "java library", "java only", "for java"]),
        (Language::CSharp, &["in c sharp", "csharp", "in dotnet", "dotnet library"]),
        (Language::Ruby, &["in ruby", "ruby gem", "from ruby", "ruby only"]),
        (Language::Php, &["in php", "from php", "php library", "php only"]),
        (
            Language::Shell,
            &[
                "on the command line",
                "from the command line",
                "command line tool",
                "command line program",
                "in the terminal",
                "from the terminal",
                "in the shell",
                "from the shell",
                "in bash",
                "shell command",
            ],
        ),
    ];

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

/// Phrases of cards. The longest phrase at a place counts; those without a trait shield phrases that only look
/// like one ("free text").
static PHRASES: LazyLock<PhraseTable<Traits>> = LazyLock::new(|| {
    let list: [(Traits, &[&str]); 9] = [
        (
            Traits::PAID,
            &[
                "priced per",
                "price per",
                "charged per",
                "charged by",
                "billed per",
                "billed by",
                "billed monthly",
                "billed annually",
                "billing enabled",
                "billing account",
                "billing required",
                "paid",
                "paid plan",
                "paid service",
                "pay per use",
                "pay as you go",
                "subscription",
                "subscription required",
                "monthly fee",
                "monthly subscription",
                "yearly contract",
                "annual contract",
                "yearly fee",
                "licence fee",
                "license fee",
                "commercial licence",
                "commercial license",
                "credit card required",
                "requires a credit card",
                "free trial",
                "trial period",
            ],
        ),
        (
            Traits::FREE,
            &[
                "free",
                "free of charge",
                "for free",
                "free tier",
                "free plan",
                "free quota",
                "no cost",
                "at no cost",
                "no charge",
                "costs nothing",
                "without payment",
                "no subscription",
                "without a subscription",
                "without subscription",
                "gratis",
                "no fees",
                "not paid",
            ],
        ),
        (
            Traits::NEEDS_ACCOUNT,
            &[
                "api key",
                "api keys",
                "api token",
                "access token",
                "bearer token",
                "subscription key",
                "key required",
                "requires a key",
                "needs a key",
                "account required",
                "requires an account",
                "needs an account",
                "account and key",
                "account is required",
                "requires a google account",
                "requires authentication",
                "authentication required",
                "sign up required",
                "registration required",
                "credentials",
                "oauth",
                "oauth2",
                "logged in",
            ],
        ),
        (
            Traits::NO_ACCOUNT,
            &[
                "no key",
                "no keys",
                "no api key",
                "no api keys",
                "without key",
                "without a key",
                "without api key",
                "without an api key",
                "no account",
                "without an account",
                "without account",
                "no registration",
                "without registration",
                "no sign up",
                "no signup",
                "without signing up",
                "no login",
                "no authentication",
                "without authentication",
                "needs neither key nor account",
                "no credentials",
                "no token",
                "key not required",
                "no access token",
            ],
        ),
        (
            Traits::LOCAL,
            &[
                "offline",
                "locally",
                "local machine",
                "local files",
                "local file",
                "local model",
                "local models",
                "on your machine",
                "on your own machine",
                "on this machine",
                "on this computer",
                "on your computer",
                "on your own server",
                "on your own hardware",
                "on own server",
                "on own hardware",
                "own server",
                "on device",
                "self hosted",
                "self hosting",
                "self host",
                "no network",
                "without network",
                "without a network",
                "no internet",
                "without internet",
                "without an internet connection",
                "runs on the cpu",
                "standard library",
            ],
        ),
        (
            Traits::HOSTED,
            &[
                "cloud",
                "in the cloud",
                "cloud api",
                "cloud service",
                "rest api",
                "hosted",
                "hosted service",
                "hosted api",
                "saas",
                "web service",
                "remote api",
                "managed service",
            ],
        ),
        (
            Traits(Traits::FREE.0 | Traits::OPEN_SOURCE.0),
            &[
                "open source",
                "opensource",
                "free and open source",
                "free software",
                "mit licence",
                "mit license",
                "mit licensed",
                "apache licence",
                "apache license",
                "apache 2 0",
                "bsd licence",
                "bsd license",
                "gpl",
                "agpl",
                "gplv3",
                "lgpl",
                "public domain",
            ],
        ),
        (
            Traits(0),
            &[
                "free up",
                "free space",
                "free disk",
                "free memory",
                "free text",
                "free form",
                "free slot",
                "free slots",
                "free busy",
                "free of",
                "ad free",
                "royalty free",
                "toll free",
                "sugar free",
                "gluten free",
                "free time",
                "paid invoices",
                "paid invoice",
                "as paid",
                "unpaid and paid",
                "to a subscription",
                "create subscription",
                "cancel subscription",
                "webhook subscription",
                "event subscription",
            ],
        ),
        (
            Traits(Traits::FREE.0 | Traits::NO_ACCOUNT.0),
            &["free without key", "free and without key", "free no key"],
        ),
    ];
    PhraseTable::new(
        list.into_iter().flat_map(|(traits, phrases)| phrases.iter().map(move |phrase| (*phrase, traits))),
    )
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
