//! Queries that name a tool.
//!
//! A query that is a tool's name, or contains one in quotes or as an identifier, should return that tool
//! first, whatever else matches. A sentence in which a tool's name happens to occur as a common word should
//! not.

use std::collections::BTreeMap;

use rapidfuzz::distance::osa::{Args, BatchComparator};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use autokit_vocabulary::text::{is_generic_word, is_stop_word, parts};

/// How a query names a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum NameMatch {
    /// By its name except for a letter or two, in a word that no card has.
    Typo,
    /// By its name except for words such as "tool" and "API".
    Near,
    /// By its name or an alias, in any spelling, with or without the provider.
    Exact,
}

impl NameMatch {
    /// Returns the base score of such a match. The rest of the score fills what is left up to 1, at most nine
    /// tenths of it, so that no tier reaches the next.
    pub(crate) fn boost(self) -> f32 {
        match self {
            NameMatch::Typo => 0.9,
            NameMatch::Near => 0.99,
            NameMatch::Exact => 0.9995,
        }
    }
}

/// A query with more words than this is a sentence, not a name with its provider.
const NAME_WORDS: usize = 16;

/// A query with more content words than this is not checked for typos.
const TYPO_WORDS: usize = 6;

/// A normalized spelling of names: letters and digits in lower case.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Spelling {
    slots: Vec<u32>,
    /// The set of its letters and digits, hashed to 64 bits.
    letters: u64,
}

/// Spellings by their number of characters, so that those near a misspelled one are found without a look at all.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Spellings(BTreeMap<usize, FxHashMap<Box<str>, Spelling>>);

impl Spellings {
    fn get(&self, spelling: &str) -> Option<&Spelling> {
        self.0.get(&spelling.chars().count())?.get(spelling)
    }

    fn insert(&mut self, spelling: &str, slot: u32) {
        let same_length = self.0.entry(spelling.chars().count()).or_default();
        let new = || Spelling { slots: Vec::new(), letters: letters(spelling) };
        same_length.entry(spelling.into()).or_insert_with(new).slots.push(slot);
    }

    fn remove(&mut self, spelling: &str, slot: u32) {
        let Some(same_length) = self.0.get_mut(&spelling.chars().count()) else { return };
        let Some(found) = same_length.get_mut(spelling) else { return };
        found.slots.retain(|&other| other != slot);
        if found.slots.is_empty() {
            same_length.remove(spelling);
        }
    }

    /// Returns the spellings that are at most `by` characters longer or shorter than `chars`.
    fn about(&self, chars: usize, by: usize) -> impl Iterator<Item = (&str, &Spelling)> {
        let lengths = self.0.range(chars.saturating_sub(by)..=chars + by);
        lengths.flat_map(|(_, same_length)| same_length).map(|(name, spelling)| (&**name, spelling))
    }
}

/// The names of a card.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CardNames {
    /// As written, for matching quotations.
    name: Box<str>,
    provider: Box<str>,
    exact: Box<[Box<str>]>,
    bare: Box<[Box<str>]>,
}

/// Cards by the spelling of their names.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NameIndex {
    exact: Spellings,
    /// Spellings without generic words.
    bare: FxHashMap<Box<str>, Vec<u32>>,
    /// How many cards each provider has, by its spelling without generic words.
    providers: FxHashMap<Box<str>, u32>,
    cards: Vec<CardNames>,
}

/// Returns a name without its generic words and without an HTTP method in front.
fn bare(name: &str) -> String {
    let parts = parts(name);
    let method = name.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    let skip = usize::from(
        parts.len() > 1 && matches!(method, "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD"),
    );
    parts.into_iter().skip(skip).filter(|word| !is_generic_word(word)).collect()
}

fn letters(spelling: &str) -> u64 {
    spelling.chars().fold(0, |set, c| set | 1 << (c as u32 % 64))
}

impl NameIndex {
    pub(crate) fn insert(&mut self, slot: u32, provider: &str, name: &str, aliases: &[&str]) {
        let mut exact: Vec<Box<str>> = Vec::new();
        let mut bare_names: Vec<Box<str>> = Vec::new();
        for text in std::iter::once(&name).chain(aliases) {
            let spelling = parts(text).concat();
            let bare = bare(text);
            if !spelling.is_empty() {
                exact.push(spelling.into());
            }
            if !bare.is_empty() {
                bare_names.push(bare.into());
            }
        }
        exact.sort_unstable();
        exact.dedup();
        bare_names.sort_unstable();
        bare_names.dedup();
        for spelling in &exact {
            self.exact.insert(spelling, slot);
        }
        for spelling in &bare_names {
            self.bare.entry(spelling.clone()).or_default().push(slot);
        }
        let provider_spelling = bare(provider);
        if !provider_spelling.is_empty() {
            *self.providers.entry(provider_spelling.into()).or_default() += 1;
        }
        if self.cards.len() <= slot as usize {
            self.cards.resize_with(slot as usize + 1, CardNames::default);
        }
        self.cards[slot as usize] = CardNames {
            name: name.into(),
            provider: provider.into(),
            exact: exact.into(),
            bare: bare_names.into(),
        };
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let Some(card) = self.cards.get_mut(slot as usize).map(std::mem::take) else { return };
        if let Some(count) = self.providers.get_mut(bare(&card.provider).as_str()) {
            *count -= 1;
            if *count == 0 {
                self.providers.remove(bare(&card.provider).as_str());
            }
        }
        for spelling in &card.exact {
            self.exact.remove(spelling, slot);
        }
        for spelling in &card.bare {
            if let Some(slots) = self.bare.get_mut(spelling) {
                slots.retain(|&other| other != slot);
                if slots.is_empty() {
                    self.bare.remove(spelling);
                }
            }
        }
    }

    /// Whether words, joined by spaces, are a provider's name.
    pub(crate) fn is_provider(&self, words: &str) -> bool {
        self.providers.contains_key(bare(words).as_str())
    }

    /// Whether words, joined by spaces, are a card's name.
    pub(crate) fn is_card(&self, words: &str) -> bool {
        let spelling = bare(words);
        !is_stop_word(&spelling) && self.bare.contains_key(spelling.as_str())
    }

    /// Returns the cards that a query names. `known` tells whether some card has a word.
    pub(crate) fn matches(&self, query: &str, known: impl Fn(&str) -> bool) -> FxHashMap<u32, NameMatch> {
        let mut found: FxHashMap<u32, NameMatch> = FxHashMap::default();
        let mut add = |slots: &[u32], how: NameMatch| {
            for &slot in slots {
                let best = found.entry(slot).or_insert(how);
                *best = (*best).max(how);
            }
        };
        let all = parts(query);
        let content: Vec<&str> = all.iter().map(String::as_str).filter(|word| !is_stop_word(word)).collect();
        let specific: String = content.iter().copied().filter(|word| !is_generic_word(word)).collect();

        if let Some(entry) = self.exact.get(all.concat().as_str()) {
            add(&entry.slots, NameMatch::Exact);
        }
        for spelling in [content.concat(), specific.clone()] {
            if let Some(slots) = self.bare.get(spelling.as_str()) {
                add(slots, NameMatch::Near);
            }
        }
        for (slot, how) in self.find_within(&all) {
            add(&[slot], how);
        }
        add(&self.listed(query), NameMatch::Exact);
        for quoted in quotes(query) {
            add(&self.quoted(&quoted), NameMatch::Exact);
        }
        for token in query.split_whitespace() {
            let token = token.trim_matches(|c: char| !c.is_alphanumeric());
            if is_identifier(token) {
                let parts = parts(token);
                if let Some(entry) = self.exact.get(parts.concat().as_str()) {
                    add(&entry.slots, NameMatch::Exact);
                } else {
                    for (slot, how) in self.find_within(&parts) {
                        add(&[slot], how);
                    }
                }
            }
        }
        if found.is_empty() && content.len() <= TYPO_WORDS && content.iter().any(|word| !known(word)) {
            let slots = self.misspelled(&[all.concat(), content.concat(), specific]);
            found.extend(slots.into_iter().map(|slot| (slot, NameMatch::Typo)));
        }
        found
    }

    /// Returns cards whose name occurs among the words, if all other words are the provider's (an exact
    /// match) or are stop words and generic words (a near match). A name of stop words alone has to be the
    /// whole query.
    fn find_within(&self, words: &[String]) -> Vec<(u32, NameMatch)> {
        let mut found = Vec::new();
        if words.len() > NAME_WORDS {
            return found;
        }
        for from in 0..words.len() {
            let mut spelling = String::new();
            for to in from..words.len() {
                spelling.push_str(&words[to]);
                let Some(entry) = self.exact.get(spelling.as_str()) else { continue };
                if words[from..=to].iter().all(|word| is_stop_word(word)) {
                    continue;
                }
                let others: Vec<&str> = words[..from]
                    .iter()
                    .chain(&words[to + 1..])
                    .map(String::as_str)
                    .filter(|word| !is_stop_word(word) && !is_generic_word(word))
                    .collect();
                if others.is_empty() {
                    found.extend(entry.slots.iter().map(|&slot| (slot, NameMatch::Near)));
                    continue;
                }
                for &slot in &entry.slots {
                    let provider: FxHashSet<String> =
                        autokit_vocabulary::text::words(&self.cards[slot as usize].provider)
                            .into_iter()
                            .map(|w| w.folded)
                            .collect();
                    if others.iter().all(|word| provider.contains(*word))
                        || provider.contains(&others.concat())
                    {
                        found.push((slot, NameMatch::Exact));
                    }
                }
            }
        }
        found
    }

    /// Returns the cards named in a list: "Slack, Google Calendar and send_mail". A single plain word counts
    /// only if every item is a name, because lists of plain words occur in any request.
    fn listed(&self, query: &str) -> Vec<u32> {
        let pieces: Vec<&str> = query
            .split([',', ';', '\n'])
            .flat_map(|piece| piece.split(" and "))
            .map(str::trim)
            .filter(|piece| piece.chars().any(char::is_alphanumeric))
            .collect();
        if pieces.len() < 2 {
            return Vec::new();
        }
        let mut found: Vec<(&str, &[u32])> = Vec::new();
        for piece in &pieces {
            let piece = piece.strip_prefix("and ").unwrap_or(piece);
            let words = parts(piece);
            if let Some(entry) = self.exact.get(words.concat().as_str())
                && words.iter().any(|word| !is_stop_word(word))
            {
                found.push((piece, &entry.slots));
            }
        }
        let all = found.len() == pieces.len();
        let is_name = |piece: &str| all || is_identifier(piece) || parts(piece).len() > 1;
        found
            .iter()
            .filter(|(piece, _)| is_name(piece))
            .flat_map(|(_, slots)| slots.iter().copied())
            .collect()
    }

    /// Returns the cards named by a quotation: an identifier or several words in any spelling, a single word
    /// only as the card spells it. "'documentary' films" does not name the tool `Documentary`.
    fn quoted(&self, quoted: &Quoted<'_>) -> Vec<u32> {
        let parts = parts(quoted.text);
        let Some(entry) = self.exact.get(parts.concat().as_str()) else { return Vec::new() };
        if quoted.code || parts.len() > 1 {
            return entry.slots.clone();
        }
        let proper = quoted.text.chars().any(|c| !c.is_lowercase());
        entry
            .slots
            .iter()
            .copied()
            .filter(|&slot| proper && &*self.cards[slot as usize].name == quoted.text)
            .collect()
    }

    /// Returns the cards whose name is within one edit of a spelling, or two from nine letters on; only the
    /// nearest.
    fn misspelled(&self, spellings: &[String]) -> Vec<u32> {
        let mut best = usize::MAX;
        let mut found = Vec::new();
        for (at, spelling) in spellings.iter().enumerate() {
            let chars = spelling.chars().count();
            let allowed = match chars {
                5..=8 => 1,
                9..=64 => 2,
                _ => continue,
            };
            if spellings[..at].contains(spelling) {
                continue;
            }
            let (typed, set) = (BatchComparator::new(spelling.chars()), letters(spelling));
            for (name, entry) in self.exact.about(chars, allowed) {
                // Inserting, deleting or replacing a letter changes the set of letters by at most two.
                if (entry.letters ^ set).count_ones() as usize > 2 * allowed {
                    continue;
                }
                let bound = Args::default().score_cutoff(best.min(allowed));
                let Some(distance) = typed.distance_with_args(name.chars(), &bound) else { continue };
                if distance < best {
                    best = distance;
                    found.clear();
                }
                found.extend_from_slice(&entry.slots);
            }
        }
        found
    }

    /// Returns the memory in bytes, up to allocator rounding.
    pub(crate) fn memory(&self) -> usize {
        let card = |c: &CardNames| {
            size_of::<CardNames>()
                + c.name.len()
                + c.provider.len()
                + 2 * c.exact.iter().chain(&c.bare).map(|s| s.len() + 48).sum::<usize>()
        };
        self.cards.iter().map(card).sum()
    }
}

struct Quoted<'a> {
    text: &'a str,
    /// Whether it is in backticks.
    code: bool,
}

/// Returns the texts in quotation marks or backticks. An apostrophe inside a word is not a quotation mark.
fn quotes(text: &str) -> Vec<Quoted<'_>> {
    const PAIRS: [(char, char); 6] = [
        ('`', '`'),
        ('"', '"'),
        ('\'', '\''),
        ('\u{201c}', '\u{201d}'),
        ('\u{2018}', '\u{2019}'),
        ('\u{ab}', '\u{bb}'),
    ];
    let mut found = Vec::new();
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut i = 0;
    while i < chars.len() {
        let (at, c) = chars[i];
        let starts = i == 0 || !chars[i - 1].1.is_alphanumeric();
        if let Some(&(_, close)) = PAIRS.iter().find(|(open, _)| *open == c)
            && starts
            && let Some(end) = (i + 1..chars.len()).find(|&j| {
                chars[j].1 == close && chars.get(j + 1).is_none_or(|(_, next)| !next.is_alphanumeric())
            })
        {
            found.push(Quoted { text: &text[at + c.len_utf8()..chars[end].0], code: c == '`' });
            i = end;
        }
        i += 1;
    }
    found
}

/// Whether a token is spelled as only identifiers are: `create_issue`, `createIssue`, `BingSearchWrapper`,
/// `github.create_issue`, `fs::read`; not `YouTube`, `iPhone`, `e.g.`.
fn is_identifier(token: &str) -> bool {
    let inner = |c: char| token.trim_matches(c).contains(c);
    if inner('_') || token.contains("::") {
        return true;
    }
    token.split(['.', '/', ':']).any(|piece| {
        let ranges = autokit_vocabulary::text::camel_case_words(piece);
        let words = ranges.iter().filter(|h| piece[(*h).clone()].chars().all(char::is_alphabetic)).count();
        let long = ranges.iter().all(|h| piece[h.clone()].chars().count() >= 2);
        let lower = piece.starts_with(char::is_lowercase);
        long && ((lower && words >= 2) || words >= 3) && piece.chars().all(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_its_misspellings_but_not_by_other_words() {
        let mut index = NameIndex::default();
        for (slot, name) in ["calendar", "wikipedia", "kitten"].into_iter().enumerate() {
            index.insert(slot as u32, "", name, &[]);
        }
        let slots = |query: &str| {
            let mut slots: Vec<u32> = index.matches(query, |_| false).into_keys().collect();
            slots.sort_unstable();
            slots
        };
        assert_eq!(slots("calender"), [0]);
        // Two neighbouring letters changed places: one edit.
        assert_eq!(slots("wikipeida"), [1]);
        assert_eq!(slots("kiten"), [2]);
        assert!(slots("sitting").is_empty());
        assert!(index.matches("calender", |_| true).is_empty(), "a word that a card has is spelled right");
    }

    #[test]
    fn identifiers_are_distinguished_from_brands() {
        for yes in ["create_issue", "createIssue", "BingSearchWrapper", "github.create_issue", "fs::read"] {
            assert!(is_identifier(yes), "{yes}");
        }
        for no in ["YouTube", "iPhone", "e.g", "GitHub", "search", "self-managed", "node.js", "and/or", "_x"]
        {
            assert!(!is_identifier(no), "{no}");
        }
    }

    #[test]
    fn quotations() {
        let texts = |t| quotes(t).into_iter().map(|q| q.text).collect::<Vec<_>>();
        assert_eq!(texts("run `a b` and \"c\" or 'd'"), ["a b", "c", "d"]);
        assert!(texts("don't can't").is_empty());
        assert!(texts("`open").is_empty());
    }
}
