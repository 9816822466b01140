//! A thesaurus that maps everyday words to the terms that descriptions of tools use for the same thing.
//!
//! "Dictate a sentence" shares no word with "speech recognition", and a small embedding model does not bring
//! them together either. So terms for the same thing are grouped as a [`Concept`], which is found in cards
//! when they are indexed and in requests when they are searched for. The effect is measured in
//! `autokit_search::fusion`.
//!
//! A term is matched by the stems of its words, in order, ignoring stop words between them. A term with at
//! most one word that is not a stop word is matched including its stop words ("no code"), and a single word
//! only as it is or with an ending: "accounting" matches "accounting", not "account".

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use crate::text::{LookedUpWord, entry_lines, is_stop_word, parts};

/// The shipped list.
pub(crate) const TEXT: &str = include_str!("synonyms.txt");

/// Prefix of the index terms of concepts, so that no word is mistaken for one.
pub const MARK: char = '=';

/// A concept: one thing and its names.
#[derive(Debug)]
pub struct Concept {
    /// Its index term: [`MARK`] and its first name.
    pub term: Box<str>,
    /// Its names, the usual ones first.
    pub names: Vec<Box<str>>,
}

/// All concepts, and the terms for them.
#[derive(Debug)]
pub struct Thesaurus {
    /// The concepts, by the numbers that [`Reader`] reports.
    pub concepts: Vec<Concept>,
    /// Numbers of the words that occur in terms: stems, and stop words as they are.
    symbols: FxHashMap<Box<str>, u32>,
    /// Terms that name concepts.
    concept_names: Trie,
    /// Phrases with which people ask for concepts.
    request_phrases: Trie,
}

/// The number of a word of the thesaurus; `None` for any other word.
pub type Symbol = Option<u32>;

#[derive(Debug, Default)]
struct Trie {
    next: FxHashMap<(u32, u32), u32>,
    /// Ends of terms, by node.
    ends: Vec<Vec<End>>,
}

/// A concept whose term ends at a node.
#[derive(Debug)]
struct End {
    concept: u32,
    /// The terms that are single words: their stem is the same, but their endings differ.
    single_words: Vec<Box<str>>,
}

/// Root nodes of terms that are matched without their stop words, and of those matched with them.
const ROOTS: [u32; 2] = [0, 1];

impl Trie {
    fn add(&mut self, path: &[u32], root: u32, end: End) {
        self.ends.resize_with(self.ends.len().max(ROOTS.len()), Vec::new);
        let mut node = root;
        for &symbol in path {
            let new = self.ends.len() as u32;
            node = *self.next.entry((node, symbol)).or_insert(new);
            if node == new {
                self.ends.push(Vec::new());
            }
        }
        match self.ends[node as usize].iter_mut().find(|known| known.concept == end.concept) {
            Some(known) => known.single_words.extend(end.single_words),
            None => self.ends[node as usize].push(end),
        }
    }
}

impl Thesaurus {
    /// Builds a thesaurus of lists, one entry a line. Lines that are no entries are left out: see
    /// [`SynonymEntry`](crate::SynonymEntry) for what is one.
    pub(crate) fn parse(lists: &[&str]) -> Thesaurus {
        let mut thesaurus = Thesaurus {
            concepts: Vec::new(),
            symbols: FxHashMap::default(),
            concept_names: Trie::default(),
            request_phrases: Trie::default(),
        };
        let stemmer = Stemmer::create(Algorithm::English);
        let lines = || lists.iter().flat_map(|list| entry_lines(list));
        let mut by_name: FxHashMap<&str, u32> = FxHashMap::default();
        for group in lines().filter(|line| !line.contains("->")) {
            thesaurus.add_concept(group.split(',').map(str::trim), &mut by_name, &stemmer);
        }
        for (phrases, names) in lines().filter_map(|line| line.split_once("->")) {
            for name in names.split(',').map(str::trim) {
                let concept = match by_name.get(name) {
                    Some(&known) => known,
                    None => thesaurus.add_concept(std::iter::once(name), &mut by_name, &stemmer),
                };
                for phrase in phrases.split('|') {
                    let (path, root, single_words) = thesaurus.path(phrase, &stemmer);
                    thesaurus.request_phrases.add(&path, root, End { concept, single_words });
                }
            }
        }
        thesaurus
    }

    fn add_concept<'a>(
        &mut self,
        names: impl Iterator<Item = &'a str>,
        by_name: &mut FxHashMap<&'a str, u32>,
        stemmer: &Stemmer,
    ) -> u32 {
        let concept = self.concepts.len() as u32;
        let names: Vec<Box<str>> = names
            .map(|name| {
                let (path, root, single_words) = self.path(name, stemmer);
                self.concept_names.add(&path, root, End { concept, single_words });
                by_name.entry(name).or_insert(concept);
                name.into()
            })
            .collect();
        self.concepts.push(Concept { term: format!("{MARK}{}", names[0]).into(), names });
        concept
    }

    /// Returns a term as numbers, its root node, and the term itself if it is a single word.
    fn path(&mut self, term: &str, stemmer: &Stemmer) -> (Vec<u32>, u32, Vec<Box<str>>) {
        let words = parts(term);
        let content_words = words.iter().filter(|word| !is_stop_word(word)).count();
        let in_full = content_words < 2 && words.len() > content_words;
        let single_words =
            if let [word] = words.as_slice() { vec![word.as_str().into()] } else { Vec::new() };
        let path = words
            .iter()
            .filter(|word| in_full || !is_stop_word(word))
            .map(|word| {
                let stem = if is_stop_word(word) { word.as_str().into() } else { stemmer.stem(word) };
                let new = self.symbols.len() as u32;
                *self.symbols.entry((*stem).into()).or_insert(new)
            })
            .collect();
        (path, ROOTS[usize::from(in_full)], single_words)
    }

    /// Returns the number of a stem or stop word.
    pub fn symbol(&self, stem: &str) -> Symbol {
        self.symbols.get(stem).copied()
    }
}

/// Shortest term that also matches its singular: abbreviations end in an s for other reasons.
const SHORTEST_PLURAL: usize = 5;

/// Whether a word matches a one-word term with the same stem: it is the term, or the term with another
/// ending. "account" and "accounting" also share a stem, but are not the same thing.
fn inflects(word: &str, term: &str) -> bool {
    let is = |stem: &str, endings: &[&str]| {
        term.strip_prefix(stem).is_some_and(|ending| endings.contains(&ending))
    };
    word.len() >= term.len()
        || (term.len() >= SHORTEST_PLURAL && is(word, &["s", "es"]))
        || word.strip_suffix('e').is_some_and(|verb| is(verb, &["ion", "ation"]))
}

/// Finds concepts in a text, word by word.
#[derive(Debug)]
pub struct Reader<'t> {
    thesaurus: &'t Thesaurus,
    /// Partial matches: node, and the index of the first word. First index: names of concepts, or phrases
    /// people ask with, if those are looked for; second index: without stop words, or with them.
    partial: [[Vec<(u32, u32)>; 2]; 2],
    tries: usize,
    at: u32,
}

impl<'t> Reader<'t> {
    /// Creates a reader for cards, which looks for names of concepts.
    pub fn for_cards(thesaurus: &'t Thesaurus) -> Reader<'t> {
        Reader { thesaurus, partial: Default::default(), tries: 1, at: 0 }
    }

    /// Creates a reader for requests, which also looks for phrases people ask with.
    pub fn for_requests(thesaurus: &'t Thesaurus) -> Reader<'t> {
        Reader { tries: 2, ..Reader::for_cards(thesaurus) }
    }

    /// Starts a new text.
    pub fn start_text(&mut self) {
        self.partial.iter_mut().flatten().for_each(Vec::clear);
        self.at = 0;
    }

    /// Reads the next word, given folded and looked up. Calls `found` with each concept that ends here and
    /// the indices of its first and last word, counted from 0.
    pub fn read(&mut self, word: &str, entry: LookedUpWord, found: &mut impl FnMut(u32, u32, u32)) {
        let at = self.at;
        self.at += 1;
        for (trie, partial) in [&self.thesaurus.concept_names, &self.thesaurus.request_phrases]
            .into_iter()
            .zip(&mut self.partial)
            .take(self.tries)
        {
            for (root, partial) in ROOTS.into_iter().zip(partial) {
                if entry.term.is_none() && root == ROOTS[0] {
                    continue;
                }
                let Some(symbol) = entry.symbol else {
                    partial.clear();
                    continue;
                };
                partial.push((root, at));
                partial.retain_mut(|(node, from)| {
                    let Some(&next) = trie.next.get(&(*node, symbol)) else { return false };
                    *node = next;
                    for end in &trie.ends[next as usize] {
                        if end.single_words.is_empty()
                            || end.single_words.iter().any(|term| inflects(word, term))
                        {
                            found(end.concept, *from, at);
                        }
                    }
                    true
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::text::Analyzer;
    use crate::text::words;

    fn shipped() -> &'static Thesaurus {
        crate::Vocabulary::shipped().thesaurus()
    }

    /// Returns the names of the concepts in a text, in the order they are found.
    fn read(mut reader: Reader<'static>, text: &str) -> Vec<&'static str> {
        let mut analyzer = Analyzer::with(shipped());
        let mut found: Vec<&str> = Vec::new();
        for word in words(text).into_iter().filter(|word| !word.is_compound) {
            reader.read(&word.folded, analyzer.look_up(&word.folded), &mut |concept, _, _| {
                found.push(&shipped().concepts[concept as usize].names[0]);
            });
        }
        found
    }

    #[test]
    fn every_line_is_an_entry() {
        let mut groups: FxHashSet<&str> = FxHashSet::default();
        let mut asked: FxHashSet<&str> = FxHashSet::default();
        for line in entry_lines(TEXT) {
            let terms = |side: &'static str, by: char| side.split(by).map(str::trim).collect::<Vec<_>>();
            assert_eq!(line, line.to_lowercase());
            let names = if let Some((left, right)) = line.split_once(" -> ") {
                let new = terms(left, '|').iter().all(|phrase| !phrase.is_empty() && asked.insert(phrase));
                assert!(new, "asked for twice: {line}");
                terms(right, ',')
            } else {
                let group = terms(line, ',');
                assert!(group.len() > 1, "nothing is like it: {line}");
                assert!(group.iter().all(|term| groups.insert(term)), "in two groups: {line}");
                group
            };
            for name in names {
                let words: Vec<_> = words(name).into_iter().filter(|word| !word.is_compound).collect();
                assert!((1..=4).contains(&words.len()), "“{name}” in: {line}");
                assert!(
                    words.iter().any(|word| !is_stop_word(&word.folded)),
                    "“{name}” says nothing: {line}"
                );
            }
        }
    }

    #[test]
    fn a_term_is_found_by_its_stems_in_order() {
        let for_cards = |text| read(Reader::for_cards(shipped()), text);
        assert!(for_cards("performs speech recognition").contains(&"speech to text"));
        assert!(for_cards("Text-to-speech voices").contains(&"text to speech"));
        assert!(!for_cards("Text-to-speech voices").contains(&"speech to text"));
        assert!(!for_cards("recognition of a speech").contains(&"speech to text"));
        assert!(for_cards("a no-code builder").contains(&"no code"));
        assert!(!for_cards("a code builder").contains(&"no code"));
    }

    #[test]
    fn a_single_word_is_found_with_its_endings_only() {
        assert!(read(Reader::for_cards(shipped()), "dictate").contains(&"speech to text"));
        for (word, term) in [("invoices", "invoice"), ("dictate", "dictation"), ("theorem", "theorems")] {
            assert!(inflects(word, term), "{word} {term}");
        }
        for (word, term) in
            [("account", "accounting"), ("local", "localization"), ("present", "presentation"), ("ai", "ais")]
        {
            assert!(!inflects(word, term), "{word} {term}");
        }
    }

    #[test]
    fn every_ending_of_an_entry_is_known() {
        // "compression" and "compress" are in one entry and have one stem.
        for word in ["compression", "compress"] {
            assert!(!read(Reader::for_cards(shipped()), word).is_empty(), "{word}");
        }
    }

    #[test]
    fn request_phrases_are_matched_in_requests_only() {
        let question = "how can I text someone my address";
        assert!(read(Reader::for_requests(shipped()), question).contains(&"sms"));
        assert!(!read(Reader::for_cards(shipped()), question).contains(&"sms"));
        assert!(!read(Reader::for_requests(shipped()), "extract the text of a page").contains(&"sms"));
    }

    #[test]
    fn a_new_text_resets_the_reader() {
        let mut reader = Reader::for_cards(shipped());
        let mut analyzer = Analyzer::with(shipped());
        let mut found = 0;
        for word in ["speech", "recognition"] {
            reader.start_text();
            reader.read(word, analyzer.look_up(word), &mut |_, _, _| found += 1);
        }
        assert_eq!(found, 0);
    }
}
