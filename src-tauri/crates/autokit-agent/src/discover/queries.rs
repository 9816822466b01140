//! Builds the search queries for a need.

use autokit_search::is_stop_word;

use autokit_search::dot;

/// Number of related words added as a query.
const RELATED_WORDS: usize = 12;
/// Of these, the number that names the subject of a need.
const SUBJECT_WORDS: usize = 4;

/// Words about tools with their vectors, for expanding a need whose own words find little.
///
/// The words of a need ("will it rain") are often not those of the page ("weather"). On 165 everyday
/// questions over a site of 596 pages, the right page is among the first ten for 58 % of the questions as
/// they are, and for 81 % with a second query of the twelve nearest words of the starter cards and a third of
/// the titles found. With the 20,000 words of the model's vocabulary instead: 78 %.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    words: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

impl Vocabulary {
    /// Returns the distinct words of some texts that have four letters or more, sorted.
    pub fn words_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let mut words: Vec<String> = texts
            .into_iter()
            .flat_map(|text| text.split(|c: char| !c.is_alphabetic()))
            .filter(|word| word.chars().count() >= 4)
            .map(str::to_lowercase)
            .filter(|word| !is_stop_word(word))
            .collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// Creates a vocabulary from words and their vectors, one per word.
    pub fn new(words: Vec<String>, vectors: Vec<Vec<f32>>) -> Vocabulary {
        debug_assert_eq!(words.len(), vectors.len());
        Vocabulary { words, vectors }
    }

    /// Returns the words closest to a need.
    pub fn nearest(&self, need: &[f32]) -> Vec<&str> {
        let mut ranked: Vec<(f32, &str)> =
            self.vectors.iter().zip(&self.words).map(|(v, word)| (dot(v, need), word.as_str())).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        ranked.into_iter().take(RELATED_WORDS).map(|(_, word)| word).collect()
    }
}

/// Returns the content words of a need, in order.
pub(crate) fn content(need: &str) -> String {
    let words: Vec<&str> = need
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '?' | '!' | '(' | ')' | '"'))
        .map(|word| word.trim_matches(['.', '\'', '’']))
        .filter(|word| !word.is_empty() && !is_stop_word(&word.to_lowercase().replace(['\'', '’'], "")))
        .collect();
    words.join(" ")
}

/// Builds the query for a preferred source: the content words of the need and the name of the source.
pub(crate) fn at_source(need: &str, source: &str) -> String {
    format!("{} {source}", content(need))
}

/// Builds queries for something to use in place of a tool that does not exist: libraries and commands for the subject.
pub(crate) fn substitutes(need: &str, related: &[&str]) -> Vec<String> {
    let content = content(need);
    let mut queries = vec![format!("{content} library"), format!("{content} command line")];
    if !related.is_empty() {
        queries.push(format!("{} library", related[..related.len().min(SUBJECT_WORDS)].join(" ")));
    }
    queries
}

/// Builds the queries of the first round: the need as it is, its content words, the names in it, and related words.
pub(crate) fn first_round(need: &str, names: &[Vec<String>], related: &[&str]) -> Vec<String> {
    let content = content(need);
    let mut queries = vec![need.trim().to_owned(), content];
    queries.extend(names.iter().map(|name| format!("{} tool", name.join(" "))));
    if !related.is_empty() {
        queries.push(related.join(" "));
    }
    let mut seen = std::collections::HashSet::new();
    queries.retain(|query| !query.is_empty() && seen.insert(query.to_lowercase()));
    queries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_become_queries() {
        assert_eq!(
            content("I want a tool that can send an e-mail, with attachments?"),
            "tool send e-mail attachments"
        );
        assert_eq!(at_source("find a weather api", "LangChain"), "weather api LangChain");
        let queries = first_round("find a weather api", &[], &["forecast", "climate"]);
        assert_eq!(queries, ["find a weather api", "weather api", "forecast climate"]);
        assert_eq!(
            first_round("ask You.com", &[vec!["you.com".into()]], &[]),
            ["ask You.com", "you.com tool"]
        );
        assert_eq!(
            substitutes("mow the lawn", &["garden", "robot"]),
            ["mow lawn library", "mow lawn command line", "garden robot library"]
        );
    }

    #[test]
    fn related_words_are_the_nearest() {
        let words = Vocabulary::words_of(["Weather forecasts, and the weather.", "Invoices"]);
        assert_eq!(words, ["forecasts", "invoices", "weather"]);
        let vocabulary = Vocabulary::new(words, vec![vec![0.9, 0.1], vec![0.0, 1.0], vec![1.0, 0.0]]);
        assert_eq!(vocabulary.nearest(&[1.0, 0.0]), ["weather", "forecasts", "invoices"]);
    }
}
