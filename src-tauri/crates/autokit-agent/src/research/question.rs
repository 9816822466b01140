//! What a question asks for: its words, its names, and the kind of answer it expects.

use std::collections::HashSet;

use autokit_pages::ParsedRequest;
use autokit_search::QueryEmbedder;
use autokit_vocabulary::text::{QueryTerm, query_terms};

use super::passages::Candidate;
use crate::discover::content;

/// Headings of the closest passages that become queries of a later round.
const HEADINGS: usize = 2;

/// Kind of answer that a question expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// An amount, a limit, a version.
    Number,
    /// A length of time.
    Duration,
    /// A price.
    Price,
    /// A date or a year.
    Date,
    /// Anything else.
    Any,
}

/// A question, parsed.
#[derive(Clone, Debug)]
pub(super) struct ResearchQuestion {
    /// The question as asked.
    pub(super) text: String,
    /// Its content words, as stems.
    pub(super) terms: Vec<QueryTerm>,
    /// Names in it, each as its words in lower case.
    pub(super) names: Vec<Vec<String>>,
    pub(super) expected: Expected,
    /// Its vector, if there is a model.
    pub(super) vector: Option<Vec<f32>>,
}

/// What kind of answer words ask for; the first that occurs decides.
const EXPECTED: &[(&[&str], Expected)] = &[
    (
        &[
            "how much does",
            "how much is",
            "how much do",
            "price",
            "cost",
            "pricing",
            "fee",
            "fees",
            "expensive",
            "charge for",
        ],
        Expected::Price,
    ),
    (
        &["how long", "how often", "how many days", "how many hours", "how many minutes", "how many weeks"],
        Expected::Duration,
    ),
    (
        &[
            "when will",
            "when was",
            "when were",
            "when did",
            "when does",
            "when is",
            "when are",
            "what year",
            "which year",
            "what date",
            "since when",
            "release date",
        ],
        Expected::Date,
    ),
    (
        &[
            "how many",
            "how much",
            "how big",
            "how large",
            "how fast",
            "how high",
            "how old",
            "how far",
            "limit",
            "limits",
            "maximum",
            "max",
            "minimum",
            "min",
            "timeout",
            "port",
            "size",
            "number of",
            "rate",
            "quota",
            "version",
            "ttl",
        ],
        Expected::Number,
    ),
];

impl ResearchQuestion {
    /// Parses and embeds a question.
    ///
    /// # Errors
    /// The message of the embedding model.
    pub(super) fn of(text: &str, embedder: Option<&dyn QueryEmbedder>) -> Result<ResearchQuestion, String> {
        let text = text.trim();
        let terms: Vec<QueryTerm> = query_terms(text).into_iter().filter(|term| !term.is_compound).collect();
        let vector = match embedder {
            Some(embedder) => embedder.queries(&[text.to_owned()])?.pop(),
            None => None,
        };
        Ok(ResearchQuestion {
            names: ParsedRequest::of(text, embedder).names,
            expected: expected(text),
            terms,
            vector,
            text: text.to_owned(),
        })
    }

    /// Returns the queries of the first round: the question as it is and its content words.
    pub(super) fn first_queries(&self) -> Vec<String> {
        vec![self.text.clone(), content(&self.text)]
    }

    /// Returns queries in other words: the names with the headings of the closest passages, and without the words
    /// that no passage has.
    pub(super) fn other_queries(&self, found: &[Candidate], round: u32) -> Vec<String> {
        let names: String = self.names.iter().map(|name| name.join(" ")).collect::<Vec<_>>().join(" ");
        let mut queries = Vec::new();
        let mut seen = HashSet::new();
        // Headings of a person's documents and code must not leave this machine.
        let public = found.iter().filter(|candidate| candidate.is_public());
        let headings = public.filter_map(|candidate| candidate.heading.last());
        let headings = headings.filter(|heading| seen.insert(heading.to_lowercase()));
        // Each later round uses the next headings.
        for heading in headings.skip(HEADINGS * (round as usize - 1)).take(HEADINGS) {
            queries.push(format!("{names} {heading}").trim().to_owned());
        }
        let known: Vec<&str> = self
            .terms
            .iter()
            .filter(|term| found.iter().any(|candidate| candidate.stems().contains(&term.term)))
            .map(|term| term.word.as_str())
            .collect();
        if known.len() < self.terms.len() {
            queries.push(known.join(" "));
        }
        if !names.is_empty() {
            queries.push(names);
        }
        queries
    }
}

/// Returns what kind of answer a question expects.
fn expected(text: &str) -> Expected {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let padded = format!(" {} ", words.join(" "));
    EXPECTED
        .iter()
        .find(|(phrases, _)| phrases.iter().any(|phrase| padded.contains(&format!(" {phrase} "))))
        .map_or(Expected::Any, |(_, expected)| *expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_expect_a_kind_of_answer() {
        assert_eq!(expected("How much does the team plan cost?"), Expected::Price);
        assert_eq!(expected("when was version 2 released"), Expected::Date);
        assert_eq!(expected("what happens when the card expires"), Expected::Any);
        assert_eq!(expected("request limit per minute"), Expected::Number);
        assert_eq!(expected("How long are backups kept?"), Expected::Duration);
        assert_eq!(expected("How do I rotate a key?"), Expected::Any);
    }

    #[test]
    fn later_rounds_use_the_words_of_the_closest_passages() {
        let question = ResearchQuestion::of("What is the throttle of Larkspur requests?", None).unwrap();
        assert!(question.first_queries()[1].contains("throttle"));
        let found = [
            Candidate::for_test("Requests are limited to 120 a minute.", &["Larkspur", "Rate limits"]),
            Candidate::for_test("Requests need a key.", &["Larkspur", "Keys"]),
        ];
        let queries = question.other_queries(&found, 1);
        assert!(queries.iter().any(|query| query.ends_with("Rate limits")), "{queries:?}");
        assert!(
            queries.iter().any(|query| !query.contains("throttle") && query.contains("requests")),
            "{queries:?}"
        );
    }
}
