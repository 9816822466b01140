//! What of a request is searched for.

use crate::text::{QueryTerm, is_stop_word, query_terms, words};

/// Clauses from which on a request is also searched for piece by piece. Two halves joined by an
/// "and" are usually one thing ("read and write files").
const MIN_CLAUSES: usize = 3;

/// Clauses searched for; those beyond are joined to the last.
const MAX_CLAUSES: usize = 8;

/// Content words that make a clause.
const MIN_CLAUSE_WORDS: usize = 2;

/// A request taken apart. Embed [`QueryPlan::texts_to_embed`] as queries and hand the vectors to
/// [`Query`](crate::Query) in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryPlan {
    text: String,
    clauses: Vec<String>,
    pub(crate) terms: Vec<QueryTerm>,
    pub(crate) clause_terms: Vec<Vec<QueryTerm>>,
}

impl QueryPlan {
    /// Takes a request apart.
    pub fn new(text: &str) -> QueryPlan {
        let mut clauses = clauses(text);
        if clauses.len() < MIN_CLAUSES {
            clauses.clear();
        }
        if clauses.len() > MAX_CLAUSES {
            let rest = clauses.split_off(MAX_CLAUSES - 1).join(", ");
            clauses.push(rest);
        }
        QueryPlan {
            text: text.to_owned(),
            terms: query_terms(text),
            clause_terms: clauses.iter().map(|clause| query_terms(clause)).collect(),
            clauses,
        }
    }

    /// The request as given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its clauses when there are several, else none.
    pub fn clauses(&self) -> &[String] {
        &self.clauses
    }

    /// The whole request, then each clause.
    pub fn texts_to_embed(&self) -> Vec<String> {
        std::iter::once(&self.text).chain(&self.clauses).cloned().collect()
    }
}

/// Splits a request at the ends of sentences, at commas and at conjunctions. A piece with fewer
/// than [`MIN_CLAUSE_WORDS`] content words stays with the piece before it, or else after it.
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
    words(text).iter().filter(|word| !word.whole && !is_stop_word(&word.folded)).count()
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

/// Pieces between `, ` and conjunctions that stand as words.
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
        assert_eq!(plan.texts_to_embed().len(), 5);
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
            assert_eq!(QueryPlan::new(text).texts_to_embed(), [text]);
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
