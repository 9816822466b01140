//! Conversion of text to index terms.
//!
//! A term is a lower-case word, stemmed (Snowball English), that is not a stop word. Identifiers are split at
//! `_`, at camel case boundaries and between letters and digits, and are also kept whole without separators,
//! so `create_issue`, `createIssue` and `Create Issue` share `creat` and `issu`, and the first two share
//! `createissu` as well.

use std::borrow::Cow;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::synonyms::{Symbol, Thesaurus};

/// Words that say nothing about what a tool does: function words, and the light verbs and placeholders of
/// requests ("I need something that lets me ...").
const STOP_WORDS: &str = "a about above after again against all also am an and any anyone anything \
are as at be because been before being below between both but by can could did do does doing down \
during each few find finds finding for from further get gets getting give gives got had has have \
having he help helps her here hers herself him himself his how i if in into is it its itself just \
know let lets like look looking looks make makes making me more most my myself need needed needs no \
nor not now of off on once one ones only or other our ours ourselves out over own please put same \
she should show so some somebody someone something such take takes tell than that the their theirs \
them themselves then there these they thing things this those through to too try under until up us \
use used uses using very want wants was way ways we were what when where which while who whom why \
will with would able you your yours yourself yourselves";

/// Words for what every card is. They are searched for like others, but names that differ only in these words
/// are considered the same.
const GENERIC_WORDS: [&str; 20] = [
    "agent",
    "api",
    "apis",
    "app",
    "client",
    "connector",
    "function",
    "integration",
    "library",
    "mcp",
    "method",
    "plugin",
    "sdk",
    "server",
    "service",
    "services",
    "tool",
    "toolkit",
    "tools",
    "wrapper",
];

/// Whether a lower-case word is a stop word: common in requests and never distinctive for a tool.
pub fn is_stop_word(word: &str) -> bool {
    use std::sync::OnceLock;
    static SET: OnceLock<rustc_hash::FxHashSet<&'static str>> = OnceLock::new();
    SET.get_or_init(|| STOP_WORDS.split(' ').collect()).contains(word)
}

/// Whether a lower-case word is a generic word for a kind of software.
pub fn is_generic_word(word: &str) -> bool {
    GENERIC_WORDS.binary_search(&word).is_ok()
}

/// Whether a character is of a script written without spaces, which is indexed by pairs of characters.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

/// Folds a word: lower case, without accents and compatibility forms.
pub fn fold(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        if word.bytes().any(|b| b.is_ascii_uppercase()) {
            Cow::Owned(word.to_ascii_lowercase())
        } else {
            Cow::Borrowed(word)
        }
    } else {
        Cow::Owned(word.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect())
    }
}

/// Returns the byte ranges of the words of an identifier without separators: `getHTTPStatus` is `get`,
/// `HTTP`, `Status`; `office365` is `office`, `365` (a letter part of fewer than three letters, as in `mp3`,
/// stays joined to its digits).
pub fn camel_case_words(run: &str) -> Vec<Range<usize>> {
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    let mut cuts = Vec::new();
    for i in 1..chars.len() {
        let (before, current) = (chars[i - 1].1, chars[i].1);
        let hump = current.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || chars.get(i + 1).is_some_and(|(_, c)| c.is_lowercase()));
        let start = cuts.last().copied().unwrap_or(0);
        let digits = before.is_alphabetic()
            && current.is_numeric()
            && run[start..chars[i].0].chars().filter(|c| c.is_alphabetic()).count() >= 3;
        if (hump && before.is_alphanumeric()) || digits {
            cuts.push(chars[i].0);
        }
    }
    let mut ranges = Vec::with_capacity(cuts.len() + 1);
    let mut start = 0;
    for cut in cuts {
        ranges.push(start..cut);
        start = cut;
    }
    ranges.push(start..run.len());
    ranges
}

/// Calls `found` with the byte range of every run of letters, digits and underscores.
fn each_run(text: &str, mut found: impl FnMut(Range<usize>)) {
    let mut start = None;
    for (at, c) in text.char_indices() {
        let inside = if c.is_ascii() {
            c.is_ascii_alphanumeric() || c == '_'
        } else {
            c.is_alphanumeric() || (start.is_some() && is_combining_mark(c))
        };
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found(from..at);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        found(from..text.len());
    }
}

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its byte range in the text.
    pub range: Range<usize>,
    /// Folded text, not stemmed.
    pub folded: String,
    /// Whether this is a whole identifier, whose parts are words as well.
    pub is_compound: bool,
}

/// Returns the words of a text in order, including stop words. Possessive and contracted endings (`'s`,
/// `'re`) are not words.
pub fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    each_word(text, |folded, range, is_compound| {
        found.push(Word { range, folded: folded.to_owned(), is_compound });
    });
    found
}

/// Calls `found` with every word of a text: folded, its byte range, and whether it is a whole identifier.
pub fn each_word(text: &str, mut found: impl FnMut(&str, Range<usize>, bool)) {
    each_run(text, |run| {
        let word = &text[run.clone()];
        if word.bytes().all(|b| b.is_ascii_lowercase()) {
            if !is_contracted_ending(text, &run) {
                found(word, run, false);
            }
            return;
        }
        if word.len() > 1
            && word.is_ascii()
            && word.bytes().skip(1).all(|b| b.is_ascii_lowercase())
            && !word.starts_with(|c: char| c == '_' || c.is_ascii_digit())
        {
            found(&word.to_ascii_lowercase(), run, false);
            return;
        }
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut at = run.start;
        for piece in word.split('_') {
            for hump in camel_case_words(piece) {
                if !hump.is_empty() {
                    parts.push(at + hump.start..at + hump.end);
                }
            }
            at += piece.len() + 1;
        }
        for part in &parts {
            each_in_part(text, part, &mut found);
        }
        if parts.len() > 1 {
            let folded: String = parts.iter().map(|p| fold(&text[p.clone()])).collect();
            found(&folded, run, true);
        }
    });
}

fn is_contracted_ending(text: &str, run: &Range<usize>) -> bool {
    if !matches!(&text[run.clone()], "s" | "m" | "re" | "ve" | "ll" | "d" | "t") {
        return false;
    }
    let before = &text[..run.start];
    before.strip_suffix(['\'', '\u{2019}']).is_some_and(|word| word.ends_with(char::is_alphanumeric))
}

/// Calls `found` with a word without separators, or with its pairs of characters if the script has no spaces.
fn each_in_part(text: &str, part: &Range<usize>, found: &mut impl FnMut(&str, Range<usize>, bool)) {
    let word = &text[part.clone()];
    if !word.is_ascii() && word.chars().any(is_unspaced) {
        let at: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
        if at.len() > 3 {
            for pair in at.windows(3) {
                let range = part.start + pair[0]..part.start + pair[2];
                found(&fold(&text[range.clone()]), range, false);
            }
            return;
        }
    }
    found(&fold(word), part.clone(), false);
}

/// A word looked up.
#[derive(Clone, Copy, Debug)]
pub struct LookedUpWord {
    /// Number of its term; `None` for a stop word.
    pub term: Option<u32>,
    /// Its number in the thesaurus.
    pub symbol: Symbol,
}

/// Turns words into terms and caches their stems.
///
/// Terms are numbered in the order of their first occurrence.
#[allow(missing_debug_implementations, reason = "the stemmer has none")]
pub struct Analyzer<'t> {
    stemmer: Stemmer,
    thesaurus: Option<&'t Thesaurus>,
    known: FxHashMap<Box<str>, LookedUpWord>,
    by_term: FxHashMap<Box<str>, u32>,
    terms: Vec<Box<str>>,
}

impl Default for Analyzer<'_> {
    fn default() -> Self {
        Analyzer::new()
    }
}

impl<'t> Analyzer<'t> {
    /// Creates an analyzer that looks up no synonyms: no word has a symbol.
    pub fn new() -> Analyzer<'t> {
        Analyzer {
            stemmer: Stemmer::create(Algorithm::English),
            thesaurus: None,
            known: FxHashMap::default(),
            by_term: FxHashMap::default(),
            terms: Vec::new(),
        }
    }

    /// Creates an analyzer that also looks up the symbols of words.
    pub fn with(thesaurus: &'t Thesaurus) -> Analyzer<'t> {
        Analyzer { thesaurus: Some(thesaurus), ..Analyzer::new() }
    }

    /// Looks up a folded word.
    pub fn look_up(&mut self, folded: &str) -> LookedUpWord {
        if let Some(&known) = self.known.get(folded) {
            return known;
        }
        let symbol = |stem: &str| self.thesaurus.and_then(|thesaurus| thesaurus.symbol(stem));
        let entry = if is_stop_word(folded) {
            LookedUpWord { term: None, symbol: symbol(folded) }
        } else {
            let stem = self.stemmer.stem(folded);
            LookedUpWord { symbol: symbol(&stem), term: Some(self.term_id(&stem)) }
        };
        self.known.insert(folded.into(), entry);
        entry
    }

    /// Returns the number of a term, assigning one if it is new.
    pub fn term_id(&mut self, term: &str) -> u32 {
        if let Some(&number) = self.by_term.get(term) {
            return number;
        }
        let number = self.terms.len() as u32;
        self.terms.push(term.into());
        self.by_term.insert(term.into(), number);
        number
    }

    /// Returns the term of a folded word; `None` for a stop word.
    pub fn term(&mut self, folded: &str) -> Option<&str> {
        let number = self.look_up(folded).term?;
        Some(&self.terms[number as usize])
    }

    /// Returns the terms in the order of their numbers.
    pub fn into_terms(self) -> Vec<Box<str>> {
        self.terms
    }
}

/// A term of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// The stem.
    pub term: String,
    /// The word as typed, at its first occurrence.
    pub word: String,
    /// How often it occurs.
    pub count: f32,
    /// A whole identifier: it counts if the index has it and is ignored otherwise.
    pub is_compound: bool,
}

/// Returns the distinct terms of a query, in the order of their first occurrence.
pub fn query_terms(text: &str) -> Vec<QueryTerm> {
    let mut analyzer = Analyzer::new();
    let mut terms: Vec<QueryTerm> = Vec::new();
    let mut index_of: FxHashMap<String, usize> = FxHashMap::default();
    for word in words(text) {
        let Some(term) = analyzer.term(&word.folded) else { continue };
        if let Some(&at) = index_of.get(term) {
            terms[at].count += 1.0;
            terms[at].is_compound &= word.is_compound;
        } else {
            index_of.insert(term.to_owned(), terms.len());
            terms.push(QueryTerm {
                term: term.to_owned(),
                word: text[word.range].to_owned(),
                count: 1.0,
                is_compound: word.is_compound,
            });
        }
    }
    terms
}

/// Returns the folded words of a text, including stop words, with identifiers split into parts.
pub fn parts(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| !word.is_compound).map(|word| word.folded).collect()
}

/// Iterates over the lines of a built-in list, without comments and empty lines.
pub fn entry_lines(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the words of a name separated by spaces: `GET_movie_id` is `GET movie id`, `PowerBI` is `Power
/// BI`.
pub fn name_words(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    each_run(name, |run| {
        for piece in name[run].split('_') {
            let mut start = 0;
            let chars: Vec<(usize, char)> = piece.char_indices().collect();
            let mut push = |part: &str| {
                if !part.is_empty() {
                    if !out.is_empty() {
                        out.push(' ');
                    }
                    out.push_str(part);
                }
            };
            for i in 1..chars.len() {
                let (before, current) = (chars[i - 1].1, chars[i].1);
                if current.is_uppercase()
                    && (before.is_lowercase()
                        || before.is_numeric()
                        || (before.is_uppercase() && chars.get(i + 1).is_some_and(|(_, c)| c.is_lowercase())))
                {
                    push(&piece[start..chars[i].0]);
                    start = chars[i].0;
                }
            }
            push(&piece[start..]);
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        query_terms(text).into_iter().map(|t| t.term).collect()
    }

    #[test]
    fn word_lists_are_sorted_where_searched_by_halving() {
        assert!(GENERIC_WORDS.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn identifiers_yield_their_parts_and_themselves() {
        assert_eq!(terms("create_issue"), ["creat", "issu", "createissu"]);
        assert_eq!(terms("createIssue"), terms("create_issue"));
        assert_eq!(terms("getHTTPStatus"), ["http", "status", "gethttpstatus"]);
        assert_eq!(terms("Office365 mp3"), ["offic", "365", "office365", "mp3"]);
    }

    #[test]
    fn stop_words_and_contractions_are_ignored() {
        assert!(terms("I'd like something that doesn't do what I've got").iter().all(|t| t == "doesn"));
        assert_eq!(terms("today's movies"), ["today", "movi"]);
    }

    #[test]
    fn accents_case_and_scripts_are_folded() {
        assert_eq!(terms("CAFÉ"), terms("cafe"));
        assert_eq!(terms("東京都の天気"), ["東京", "京都", "都の", "の天", "天気"]);
    }

    #[test]
    fn names_are_spaced() {
        assert_eq!(name_words("GET_movie_movie_id"), "GET movie movie id");
        assert_eq!(name_words("PowerBI Toolkit"), "Power BI Toolkit");
        assert_eq!(name_words("SQLDatabase"), "SQL Database");
        assert_eq!(name_words("Office365"), "Office365");
    }
}
