//! Whether a page documents a tool for a need.

use autokit_facts::{alike, distinctive, opening, words};
use autokit_search::{Hit, QueryEmbedder};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Candidate, Finding};

/// What speaks for a page. The score is a weighted sum, see [`Marks::score`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[allow(clippy::struct_excessive_bools, reason = "each is a mark of its own; none excludes another")]
pub struct Marks {
    /// Score of the ranking by words and meaning, 0 to 1.
    pub rank: f32,
    /// Closest piece of the page, or its opening: cosine with the need.
    pub cosine: f32,
    /// BM25 score of the need.
    pub bm25: f32,
    /// Share of the need's information the page has.
    pub coverage: f32,
    /// How high the search services put it: sum of 1 / (10 + rank) over the queries.
    pub found: f32,
    /// Its address names tools.
    pub tool_address: bool,
    /// It shows how to import something that looks like a tool.
    pub tool_code: bool,
    /// Its opening speaks of a tool.
    pub tool_words: bool,
    /// Share of the title's telling words that the need has.
    pub named: f32,
    /// The need names the product this page is about.
    pub the_named: bool,
    /// The need names a product, and this page is not about it.
    pub another: bool,
    /// A card of the library names this page.
    pub known: bool,
}

/// Names of products in a need, each as its words in lower case.
///
/// A word is part of a name when it is written like one: a capital inside a sentence or inside the
/// word, or a capital on a word the language does not have. Words all in capitals are mostly
/// abbreviations of common things (JWT, CRM), and several common words after "the" or before "of"
/// mostly name an institution; neither tells which product is meant, and taking them for one would
/// turn right pages away.
pub(super) fn names_in(need: &str, embedder: Option<&dyn QueryEmbedder>) -> Vec<Vec<String>> {
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
    for raw in need.split_whitespace() {
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

/// Whether all names in a need are single common words, such as "Linear" or "Turtle": products, or
/// things of a trade.
pub(super) fn doubtful(names: &[Vec<String>], embedder: Option<&dyn QueryEmbedder>) -> bool {
    names.iter().all(|name| name.len() == 1 && embedder.is_some_and(|embedder| embedder.is_word(&name[0])))
}

/// A page that ranks this high is about the need even if it does not have a doubtful name. Pages of a
/// named product's rivals stay below: 0.67 is the highest seen.
const STRONG: f32 = 0.7;

/// Names that are no products: languages of people and of programs.
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
/// Letters by which the same word may be longer in another place.
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
    // At the start of a sentence every word has a capital; one that the language lacks is a name.
    let made_up = || embedder.is_some_and(|embedder| !embedder.is_word(&lower));
    inner || (capital && (!start || made_up()))
}

impl Marks {
    pub(super) fn of(
        need: &str,
        names: &[Vec<String>],
        doubtful: bool,
        found: f32,
        page: &Candidate,
        hit: &Hit,
    ) -> Marks {
        let asked = words(need);
        let has = |word: &String| asked.iter().any(|other| alike(other, word, ENDING));
        let title = distinctive(&page.facts.name);
        let named = if title.is_empty() {
            0.0
        } else {
            title.iter().filter(|word| has(word)).count() as f32 / title.len() as f32
        };
        let import = page.facts.import.as_ref();
        let address = page.url().to_lowercase();
        let start = opening(&page.document, OPENING).to_lowercase();
        let about = names.iter().any(|name| is_about(page, name));
        Marks {
            rank: hit.score,
            cosine: hit.parts.cosine.unwrap_or(0.0),
            bm25: hit.parts.bm25,
            coverage: hit.parts.coverage,
            found,
            tool_address: address.split('/').rev().take(2).any(|part| part.contains("tool")),
            tool_code: import.is_some_and(|import| {
                let path = import.value.0.to_lowercase();
                ["tool", "utilit", "agent"].iter().any(|part| path.contains(part))
            }),
            tool_words: start.contains("tool") || page.facts.name.to_lowercase().contains("tool"),
            named,
            the_named: about,
            another: !(names.is_empty() || about || doubtful && hit.score >= STRONG),
            known: false,
        }
    }

    /// How sure it is that the page documents a tool for the need, 0 to 1.
    pub fn score(&self) -> f32 {
        let flag = |mark: bool, weight: f32| if mark { weight } else { 0.0 };
        let sum = self.rank
            + 0.2 * self.found
            + flag(self.tool_address, 0.08)
            + flag(self.tool_code, 0.06)
            + flag(self.tool_words, 0.04)
            + 0.15 * self.named;
        let sum = if self.another { 0.5 * sum } else { sum };
        1.0 - 0.25f32.powf(sum.max(0.0))
    }
}

/// Whether a page is about what a name names: it stands in the title, the address or the import.
/// Other places name what a tool works with.
fn is_about(page: &Candidate, name: &[String]) -> bool {
    let mut text = format!("{} {}", page.facts.name, page.url());
    if let Some(import) = &page.facts.import {
        text = format!("{text} {} {}", import.value.0, import.value.1);
    }
    let words = words(&text);
    let name: String = name.concat().chars().filter(|c| c.is_alphanumeric()).collect();
    // "Power BI" is PowerBI: names are compared without what stands between their words.
    (0..words.len()).any(|from| {
        let mut joined = String::new();
        words[from..].iter().any(|word| {
            joined.push_str(word);
            joined == name
        })
    })
}

/// A first candidate whose words and meaning rank below this is no answer.
///
/// What a page is (its address, its code) says which of several pages is the tool's, not whether any
/// is: 18 of 100 points went to every page of a tool. By the rank alone, of the right pages for 30
/// needs that name no product nearly all reach 0.34, as do 4 of 35 needs no page answers; from 0.33
/// to 0.38 neither count moves by more than two.
const GOOD: f32 = 0.34;
/// Others beside a good first one may rank this much lower.
const SLACK: f32 = 0.1;
/// As [`GOOD`] when the need names the product and the page is about it.
const GOOD_NAMED: f32 = 0.2;
/// Candidates this much behind the first are other things.
const MARGIN: f32 = 0.2;

/// How many of the findings, best first, are handed on.
pub(super) fn good_enough(findings: &[Finding]) -> usize {
    let good = |finding: &Finding, slack: f32| {
        let marks = &finding.marks;
        !marks.another && marks.rank >= if marks.the_named { GOOD_NAMED } else { GOOD - slack }
    };
    let Some(best) = findings.first().filter(|best| good(best, 0.0)) else { return 0 };
    findings.iter().take_while(|finding| good(finding, SLACK) && finding.score >= best.score - MARGIN).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A language of a few words.
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

    fn names(need: &str) -> Vec<String> {
        names_in(need, Some(&Few)).iter().map(|name| name.join(" ")).collect()
    }

    #[test]
    fn products_are_names_and_abbreviations_places_of_work_and_languages_are_not() {
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
