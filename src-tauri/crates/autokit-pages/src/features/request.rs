//! Compares a page with a request in a person's words.

use autokit_facts::{distinctive, opening, same_stem, words};
use autokit_search::{Hit, QueryEmbedder};

use crate::features::{PageFeature, PageFeatures};
use crate::reader::Page;

/// A parsed request.
#[derive(Clone, Debug)]
pub struct ParsedRequest {
    /// The request in a person's words.
    pub text: String,
    /// Product names in it, each as its words in lower case.
    pub names: Vec<Vec<String>>,
    /// Whether every name is a single common word, such as "Linear" or "Turtle", and may not be a product.
    doubtful: bool,
}

impl ParsedRequest {
    /// Parses a request. The embedder recognizes words of the language.
    pub fn of(text: &str, embedder: Option<&dyn QueryEmbedder>) -> ParsedRequest {
        let names = names_in(text, embedder);
        let common = |name: &Vec<String>| embedder.is_some_and(|embedder| embedder.is_word(&name[0]));
        let doubtful = names.iter().all(|name| name.len() == 1 && common(name));
        ParsedRequest { text: text.to_owned(), names, doubtful }
    }
}

/// Returns the product names in a request, each as its words in lower case.
///
/// A word is part of a name when it is written like one: with a capital inside a sentence or inside the word,
/// or with a capital on a word that the language does not have. Words in all capitals are mostly
/// abbreviations of common things (JWT, CRM), and several common words after "the" or before "of" mostly name
/// an institution. Neither tells which product is meant, and treating them as product names would reject
/// right pages.
fn names_in(request: &str, embedder: Option<&dyn QueryEmbedder>) -> Vec<Vec<String>> {
    let mut names: Vec<Vec<String>> = Vec::new();
    let mut run: Vec<String> = Vec::new();
    let mut start = true;
    let mut before = String::new();
    let common = |word: &String| {
        word.chars().all(char::is_alphabetic) && embedder.is_none_or(|embedder| embedder.is_word(word))
    };
    let mut institution = false;
    let mut end = |run: &mut Vec<String>, before: &str, after: &str| {
        let goes_on = institution && before == "of";
        institution = run.iter().all(common)
            && (goes_on || after == "of" || run.len() > 1 && before.eq_ignore_ascii_case("the"));
        if !run.is_empty() && !institution {
            names.push(std::mem::take(run));
        }
        run.clear();
    };
    for raw in request.split_whitespace() {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
        let plain = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        let number = !plain.is_empty() && plain.chars().all(|c| c.is_ascii_digit());
        if is_name(plain, start, embedder) || (number && !run.is_empty()) {
            run.push(plain.to_lowercase());
        } else {
            if !run.is_empty() {
                end(&mut run, &before, plain);
            }
            plain.clone_into(&mut before);
        }
        start = raw.ends_with(['.', '!', '?', ':']);
        if start || raw.ends_with([',', ';']) {
            end(&mut run, &before, "");
        }
    }
    end(&mut run, &before, "");
    names
}

/// A page with at least this rank is about the request even if it lacks a doubtful name. Pages of a named
/// product's rivals stay below; the highest seen is 0.67.
const STRONG: f32 = 0.7;

/// Names of human and programming languages, which are not products.
const LANGUAGES: &[&str] = &[
    "python",
    "java",
    "javascript",
    "typescript",
    "rust",
    "go",
    "english",
    "german",
    "french",
    "spanish",
    "chinese",
    "japanese",
    "italian",
    "portuguese",
    "russian",
    "arabic",
    "hindi",
    "korean",
    "dutch",
];

/// Characters at the start of a page that say what it is about.
const OPENING: usize = 400;
/// Letters by which two forms of the same word may differ in length.
const ENDING: usize = 3;

fn is_name(word: &str, start: bool, embedder: Option<&dyn QueryEmbedder>) -> bool {
    let letters: Vec<char> = word.chars().filter(|c| c.is_alphabetic()).collect();
    let lower = word.to_lowercase();
    if letters.len() < 2 || word.contains(['\'', '’', '/']) || LANGUAGES.contains(&lower.as_str()) {
        return false;
    }
    if !letters.iter().any(|c| c.is_lowercase()) {
        return false;
    }
    let inner = word.chars().skip(1).any(char::is_uppercase);
    let capital = word.chars().next().is_some_and(char::is_uppercase);
    // At the start of a sentence every word is capitalized; only one that the language lacks is a name.
    let made_up = || embedder.is_some_and(|embedder| !embedder.is_word(&lower));
    inner || (capital && (!start || made_up()))
}

impl PageFeatures {
    /// Compares a request with a page. `found` is the page's value in the search results, `hit` its ranking
    /// among the library's cards and the pages read.
    pub fn of_request(request: &ParsedRequest, page: &Page, found: f32, hit: &Hit) -> PageFeatures {
        let request_words = words(&request.text);
        let has = |word: &String| request_words.iter().any(|other| same_stem(other, word, ENDING));
        let title = distinctive(&page.facts.name);
        let named = if title.is_empty() {
            0.0
        } else {
            title.iter().filter(|word| has(word)).count() as f32 / title.len() as f32
        };
        let import = page.facts.import.as_ref();
        let address = page.fetched.url.to_lowercase();
        let start = opening(&page.document, OPENING).to_lowercase();
        let about = request.names.iter().any(|name| is_about(page, name));
        let tool_code = import.is_some_and(|import| {
            let path = import.value.0.to_lowercase();
            ["tool", "utilit", "agent"].iter().any(|part| path.contains(part))
        });
        let mut features = PageFeatures::default();
        features.set(PageFeature::Rank, hit.score);
        features.set(PageFeature::Meaning, hit.parts.cosine.unwrap_or(0.0));
        features.set(PageFeature::Bm25, hit.parts.bm25);
        features.set(PageFeature::Wording, hit.parts.coverage);
        features.set(PageFeature::Found, found);
        let in_address = address.split('/').rev().take(2).any(|part| part.contains("tool"));
        features.flag(PageFeature::ToolAddress, in_address);
        features.flag(PageFeature::ToolCode, tool_code);
        features.flag(
            PageFeature::ToolWords,
            start.contains("tool") || page.facts.name.to_lowercase().contains("tool"),
        );
        features.set(PageFeature::Named, named);
        features.flag(PageFeature::TheNamed, about);
        let another = !(request.names.is_empty() || about || request.doubtful && hit.score >= STRONG);
        features.flag(PageFeature::Another, another);
        features
    }
}

/// Whether a page is about a named product: the name is in the title, the URL or the import. Elsewhere, pages
/// mention products that a tool works with.
fn is_about(page: &Page, name: &[String]) -> bool {
    let mut text = format!("{} {}", page.facts.name, page.fetched.url);
    if let Some(import) = &page.facts.import {
        text = format!("{text} {} {}", import.value.0, import.value.1);
    }
    let words = words(&text);
    let name: String = name.concat().chars().filter(|c| c.is_alphanumeric()).collect();
    // "Power BI" matches PowerBI: names are compared without separators.
    (0..words.len()).any(|from| {
        let mut joined = String::new();
        words[from..].iter().any(|word| {
            joined.push_str(word);
            joined == name
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A language of a few words, for tests.
    #[derive(Debug)]
    struct Few;

    impl QueryEmbedder for Few {
        fn queries(&self, _: &[String]) -> Result<Vec<Vec<f32>>, String> {
            Ok(Vec::new())
        }

        fn passages(&self, _: &[String]) -> Result<Vec<Vec<f32>>, String> {
            Ok(Vec::new())
        }

        fn is_word(&self, word: &str) -> bool {
            !["zendesk", "elevenlabs", "figma"].contains(&word)
        }
    }

    fn names(request: &str) -> Vec<String> {
        names_in(request, Some(&Few)).iter().map(|name| name.join(" ")).collect()
    }

    #[test]
    fn only_products_are_names_not_abbreviations_employers_or_languages() {
        assert_eq!(names("Zendesk tickets answered"), ["zendesk"]);
        assert_eq!(names("Send messages to Slack, then to Figma"), ["slack", "figma"]);
        assert_eq!(names("mail in our Office 365 tenant"), ["office 365"]);
        assert_eq!(names("events of Google Calendar for me"), ["google calendar"]);
        assert_eq!(names("speech from ElevenLabs for it"), ["elevenlabs"]);
        for none in [
            "I'd like a CI/CD build",
            "validate the caller's JWT",
            "Block what the LLM says in German",
            "search the National Library",
            "the National Library of Health",
            "Send it",
        ] {
            assert_eq!(names(none), [""; 0], "{none}");
        }
    }
}
