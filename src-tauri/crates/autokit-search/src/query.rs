//! Query planning: what to search for, given a request.

use std::borrow::Cow;

use autokit_vocabulary::Vocabulary;
use autokit_vocabulary::synonyms::{Reader, Thesaurus};
use autokit_vocabulary::text::{Analyzer, QueryTerm, Word, is_stop_word, parts, query_terms, words};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::constraints::{Constraint, ParsedRequest, is_company};
use crate::directions::{DirectionReader, Directions};

/// Number of clauses from which on a request is also searched for clause by clause. Two halves joined by an
/// "and" are usually one thing ("read and write files").
const MIN_CLAUSES: usize = 3;

/// Most clauses; further ones are joined to the last.
const MAX_CLAUSES: usize = 8;

/// Fewest content words of a clause.
const MIN_CLAUSE_WORDS: usize = 2;

/// Names of a concept that are added to a text before embedding it. The usual ones come first.
const NAMES_ADDED: usize = 2;

/// Names are only added to texts with at most this many words, because a model reads hardly more.
const MAX_EXPANDED_WORDS: usize = 128;

/// Weight, in a vector, of the text with added names; the rest is that of the text as it is.
const EXPANSION_SHARE: f32 = 0.5;

/// A concept that words of a request mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QueryConcept {
    /// Its term in the index.
    pub(crate) concept: Box<str>,
    /// Indices of the request's terms that mean it; never empty.
    pub(crate) terms: Vec<usize>,
}

/// A parsed request. Embed [`QueryPlan::texts_to_embed`] as queries and pass the vectors to
/// [`Query`](crate::Query) in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryPlan {
    /// What the request is about: without the names it excludes.
    text: String,
    constraints: Vec<Constraint>,
    directions: Directions,
    clauses: Vec<String>,
    /// The whole request and each clause with the names of their concepts added, where that adds something.
    expansions: Vec<Option<String>>,
    pub(crate) terms: Vec<QueryTerm>,
    pub(crate) clause_terms: Vec<Vec<QueryTerm>>,
    pub(crate) concepts: Vec<QueryConcept>,
}

impl QueryPlan {
    /// Parses a request on its own; [`SearchIndex::plan`](crate::SearchIndex::plan) also knows the names in an
    /// index.
    pub fn new(request: &str) -> QueryPlan {
        QueryPlan::parse(request, Vocabulary::shipped(), |name, _| is_company(name))
    }

    /// Parses a request. `is_name` says whether words, joined by spaces, are a name that a request can exclude;
    /// its second argument is whether the request asks for something in its place.
    pub(crate) fn parse(
        request: &str,
        vocabulary: &Vocabulary,
        is_name: impl Fn(&str, bool) -> bool,
    ) -> QueryPlan {
        let ParsedRequest { topic, constraints } = ParsedRequest::new(request, vocabulary, is_name);
        let thesaurus = vocabulary.thesaurus();
        let text = topic.as_str();
        let mut clauses = clauses(text);
        if clauses.len() < MIN_CLAUSES {
            clauses.clear();
        }
        if clauses.len() > MAX_CLAUSES {
            let rest = clauses.split_off(MAX_CLAUSES - 1).join(", ");
            clauses.push(rest);
        }
        let terms = query_terms(text);
        let (concepts, directions) = concepts(text, &terms, thesaurus);
        QueryPlan {
            constraints,
            directions,
            expansions: std::iter::once(text)
                .chain(clauses.iter().map(String::as_str))
                .map(|text| expand(text, thesaurus))
                .collect(),
            concepts,
            terms,
            clause_terms: clauses.iter().map(|clause| query_terms(clause)).collect(),
            clauses,
            text: topic,
        }
    }

    /// Returns what the request is about: the request without the names it excludes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what the request demands of a tool besides what it is to do.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Returns what it wants turned into what.
    pub(crate) fn directions(&self) -> &Directions {
        &self.directions
    }

    /// Returns its clauses if there are several, else an empty slice.
    pub fn clauses(&self) -> &[String] {
        &self.clauses
    }

    /// Returns the texts to embed: the whole request, then each clause, then those of them whose concepts
    /// have other names, with these names added.
    pub fn texts_to_embed(&self) -> Vec<String> {
        self.texts().cloned().collect()
    }

    /// As [`QueryPlan::texts_to_embed`].
    pub(crate) fn texts(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.text).chain(&self.clauses).chain(self.expansions.iter().flatten())
    }

    /// Combines the vectors of [`QueryPlan::texts_to_embed`], or the one of the whole request, into one
    /// vector for the whole request and one for each clause.
    pub(crate) fn vectors<'a>(&self, embedded: &'a [Vec<f32>]) -> Vec<Cow<'a, [f32]>> {
        let texts = 1 + self.clauses.len();
        let (plain, mut expanded) = embedded.split_at(texts.min(embedded.len()));
        let mut vectors: Vec<Cow<'a, [f32]>> =
            plain.iter().map(|vector| Cow::Borrowed(&vector[..])).collect();
        for (vector, text) in vectors.iter_mut().zip(&self.expansions) {
            if text.is_some()
                && let Some((with, rest)) = expanded.split_first()
            {
                expanded = rest;
                *vector = Cow::Owned(interpolate(vector, with));
            }
        }
        vectors
    }
}

/// Returns the unit vector between two unit vectors.
fn interpolate(plain: &[f32], expanded: &[f32]) -> Vec<f32> {
    let mix = |(plain, expanded): (&f32, &f32)| plain + EXPANSION_SHARE * (expanded - plain);
    let mut mixed: Vec<f32> = plain.iter().zip(expanded).map(mix).collect();
    let length = mixed.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        for x in &mut mixed {
            *x /= length;
        }
        mixed
    } else {
        // Opposite vectors have none between them.
        plain.to_vec()
    }
}

/// Calls `found` with each concept of a request and the words that express it.
fn for_each_concept(text: &str, thesaurus: &Thesaurus, mut found: impl FnMut(u32, &[Word])) {
    let words: Vec<Word> = words(text).into_iter().filter(|word| !word.is_compound).collect();
    let mut analyzer = Analyzer::with(thesaurus);
    let mut reader = Reader::for_requests(thesaurus);
    for word in &words {
        reader.read(&word.folded, analyzer.look_up(&word.folded), &mut |concept, from, to| {
            found(concept, &words[from as usize..=to as usize]);
        });
    }
}

/// Returns the concepts that a request means, and the directions of its words and of the concepts' names.
fn concepts(text: &str, terms: &[QueryTerm], thesaurus: &Thesaurus) -> (Vec<QueryConcept>, Directions) {
    let position_of: FxHashMap<&str, usize> =
        terms.iter().zip(0..).map(|(term, at)| (&*term.term, at)).collect();
    let mut analyzer = Analyzer::new();
    let mut reader = DirectionReader::default();
    let mut directions = Directions::default();
    reader.read(text, &mut analyzer, &mut directions);
    let mut found: FxHashSet<QueryConcept> = FxHashSet::default();
    for_each_concept(text, thesaurus, |concept, words| {
        reader.read_concept(concept, thesaurus, &mut analyzer, &mut directions);
        let mut terms: Vec<usize> =
            words.iter().filter_map(|word| position_of.get(analyzer.term(&word.folded)?).copied()).collect();
        terms.sort_unstable();
        terms.dedup();
        if !terms.is_empty() {
            let concept = thesaurus.concepts[concept as usize].term.clone();
            found.insert(QueryConcept { concept, terms });
        }
    });
    let mut found: Vec<QueryConcept> = found.into_iter().collect();
    // Of several sets of words for a concept, only the minimal ones count: a card that matches one word need
    // not have the others.
    found.sort_unstable_by(|a, b| {
        (&a.concept, a.terms.len(), &a.terms).cmp(&(&b.concept, b.terms.len(), &b.terms))
    });
    let mut minimal: Vec<QueryConcept> = Vec::with_capacity(found.len());
    for candidate in found {
        let within = |shorter: &QueryConcept| shorter.terms.iter().all(|term| candidate.terms.contains(term));
        if !minimal.iter().rev().take_while(|other| other.concept == candidate.concept).any(within) {
            minimal.push(candidate);
        }
    }
    (minimal, directions)
}

/// Returns a text with names of its concepts that it does not contain, if there are any. Long texts are left
/// as they are.
fn expand(text: &str, thesaurus: &Thesaurus) -> Option<String> {
    let spaced = |text: &str| {
        let words = parts(text);
        (words.len() <= MAX_EXPANDED_WORDS).then(|| format!(" {} ", words.join(" ")))
    };
    let request = spaced(text)?;
    let mut names: Vec<&str> = Vec::new();
    for_each_concept(text, thesaurus, |concept, _| {
        for name in thesaurus.concepts[concept as usize].names.iter().take(NAMES_ADDED) {
            let new = spaced(name).is_some_and(|name| !request.contains(&name));
            if new && !names.contains(&&**name) {
                names.push(name);
            }
        }
    });
    (!names.is_empty()).then(|| format!("{text} ({})", names.join(", ")))
}

/// Splits a request at ends of sentences, commas and conjunctions. A piece with fewer than
/// [`MIN_CLAUSE_WORDS`] content words is joined to the one before it, or else after it.
fn clauses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for sentence in sentences(text) {
        let mut pieces: Vec<String> = Vec::new();
        for piece in pieces_of(sentence) {
            let piece = piece.trim_matches(|c: char| c.is_whitespace() || ".,!?;".contains(c));
            if piece.is_empty() {
                continue;
            }
            match pieces.last_mut() {
                Some(last) if content_words(piece) < MIN_CLAUSE_WORDS => {
                    last.push_str(" and ");
                    last.push_str(piece);
                }
                _ => pieces.push(piece.to_owned()),
            }
        }
        if pieces.len() > 1 && content_words(&pieces[0]) < MIN_CLAUSE_WORDS {
            let first = pieces.remove(0);
            pieces[0] = format!("{first}, {}", pieces[0]);
        }
        found.append(&mut pieces);
    }
    found
}

fn content_words(text: &str) -> usize {
    words(text).iter().filter(|word| !word.is_compound && !is_stop_word(&word.folded)).count()
}

fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        if c == '\n' || (c.is_whitespace() && ".!?;".contains(previous)) {
            found.push(&text[start..at]);
            start = at + c.len_utf8();
        }
        previous = c;
    }
    found.push(&text[start..]);
    found
}

/// Splits a sentence at `, ` and at conjunctions that are separate words.
fn pieces_of(sentence: &str) -> Vec<&str> {
    const CONJUNCTIONS: [&str; 5] = ["and", "then", "but", "also", "plus"];
    let mut found = Vec::new();
    let mut start = 0;
    let mut word_start = 0;
    for (at, c) in sentence.char_indices().chain([(sentence.len(), ' ')]) {
        if !c.is_whitespace() {
            continue;
        }
        let word = &sentence[word_start..at];
        if word.ends_with(',') {
            found.push(&sentence[start..at]);
            start = at;
        } else if CONJUNCTIONS.contains(&word) && word_start > 0 && at < sentence.len() {
            found.push(&sentence[start..word_start]);
            start = at;
        }
        word_start = at + c.len_utf8();
    }
    found.push(&sentence[start.min(sentence.len())..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_requests_are_split() {
        let plan = QueryPlan::new(
            "I'm hosting a movie night. Search for horror videos on Vimeo, fetch people in the cinema category and give me a streaming link.",
        );
        assert_eq!(
            plan.clauses(),
            [
                "I'm hosting a movie night",
                "Search for horror videos on Vimeo",
                "fetch people in the cinema category",
                "give me a streaming link"
            ]
        );
        assert_eq!(plan.texts_to_embed()[..5].to_vec(), [&[plan.text().to_owned()], plan.clauses()].concat());
    }

    #[test]
    fn requests_are_expanded_with_names_of_their_concepts() {
        let plan = QueryPlan::new("dictate a sentence");
        assert_eq!(
            plan.texts_to_embed(),
            ["dictate a sentence", "dictate a sentence (speech to text, speech recognition)"]
        );
        let meant: Vec<_> =
            plan.concepts.iter().map(|meant| (&*meant.concept, meant.terms.as_slice())).collect();
        assert_eq!(meant, [("=speech to text", &[0][..])]);
        let vector = vec![1.0, 0.0];
        assert_eq!(*plan.vectors(&[vector.clone(), vec![0.0, 1.0]])[0], [0.5f32.sqrt(); 2]);
        assert_eq!(*plan.vectors(std::slice::from_ref(&vector))[0], vector);
        assert_eq!(
            *plan.vectors(&[vector.clone(), vec![-1.0, 0.0]])[0],
            vector,
            "nothing lies between opposites"
        );
        assert!(plan.vectors(&[]).is_empty());
    }

    #[test]
    fn the_fewest_words_that_express_a_concept_count() {
        let plan = QueryPlan::new("online payment processing");
        let payment: Vec<_> = plan.concepts.iter().filter(|meant| &*meant.concept == "=payment").collect();
        assert_eq!(payment.len(), 1);
        assert_eq!(payment[0].terms.len(), 1, "{payment:?}");
    }

    #[test]
    fn words_already_in_the_request_are_not_added() {
        assert_eq!(QueryPlan::new("oncology, or cancer").texts_to_embed()[1..], [""; 0]);
    }

    #[test]
    fn short_requests_stay_whole() {
        for text in [
            "read and write files in a folder on disk",
            "recipes don't matter, I need nutrition labels",
            "",
            "and",
            ", ,",
        ] {
            assert_eq!(QueryPlan::new(text).texts_to_embed()[0], text);
            assert!(QueryPlan::new(text).clauses().is_empty());
        }
    }

    #[test]
    fn nothing_is_lost_beyond_the_last_clause() {
        let text = (0..20).map(|i| format!("translate document{i} quickly")).collect::<Vec<_>>().join(". ");
        let plan = QueryPlan::new(&text);
        assert_eq!(plan.clauses().len(), MAX_CLAUSES);
        assert!((0..20).all(|i| plan.clauses().iter().any(|c| c.contains(&format!("document{i}")))));
    }
}
