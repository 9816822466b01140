//! How well a passage fits a question.
//!
//! Constants were chosen on the open half of the questions in `tests/fixtures/research-web`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use autokit_search::{QueryEmbedder, dot};

use super::passages::{Candidate, needs_context, stems};
use super::question::{Expected, ResearchQuestion};

/// Most passages embedded at once; more are ranked by their words alone.
const MAX_EMBEDDED: usize = 600;
/// Share of meaning in the score, the rest being words.
const MEANING: f32 = 0.5;
const WORDS: f32 = 0.4;
/// Added when the passage has what the question asks for, such as a number.
const EXPECTED: f32 = 0.05;
/// Taken when it lacks what the question asks for.
const UNEXPECTED: f32 = 0.1;
/// Taken from passages that only say where something is to be found.
const POINTER: f32 = 0.08;
/// Taken from passages of pages that say they are outdated.
const OUTDATED: f32 = 0.15;
/// Factor for passages of pages that do not mention a name in the question.
const UNNAMED: f32 = 0.6;
/// Score from which on the search ends early.
const ENOUGH: f32 = 0.56;
/// Score from which on a passage answers the question.
const ANSWER: f32 = 0.4;
/// How far below the best passage the others of a summary may be.
pub(super) const SUMMARY_MARGIN: f32 = 0.2;
/// How much a word counts that only the link to the page has.
const VIA: f32 = 0.5;
/// Share of common words from which on two passages say the same.
const REPEATED: f32 = 0.75;

/// Scores passages and sorts them, best first.
///
/// # Errors
/// The message of the embedding model.
pub(super) fn rank(
    question: &ResearchQuestion,
    found: &mut [Candidate],
    embedder: Option<&dyn QueryEmbedder>,
) -> Result<(), String> {
    let weights = weights(question, found);
    let pages = page_matches(question, found);
    // A misspelt name that no page mentions would exclude them all.
    let known: Vec<usize> =
        (0..question.names.len()).filter(|&at| pages.values().any(|page| page.names[at])).collect();
    let words: Vec<f32> = found
        .iter()
        .map(|candidate| words(question, &weights, candidate, page_of(&pages, candidate)))
        .collect();
    if let Some(embedder) = embedder {
        let mut missing: Vec<usize> = (0..found.len()).filter(|&at| found[at].vector.is_none()).collect();
        missing.sort_by(|a, b| words[*b].total_cmp(&words[*a]));
        missing.truncate(MAX_EMBEDDED);
        let texts: Vec<String> = missing.iter().map(|&at| found[at].embedded_text()).collect();
        for (at, vector) in missing.into_iter().zip(embedder.passages(&texts)?) {
            found[at].vector = Some(vector);
        }
        embed_headings(found, embedder)?;
    }
    for (candidate, words) in found.iter_mut().zip(words) {
        let on_page = page_of(&pages, candidate);
        let named = known.iter().all(|&at| {
            on_page.is_some_and(|page| page.names[at]) || mentions(&candidate.via.text, &question.names[at])
        });
        candidate.score = score(question, candidate, words, named).max(candidate.floor);
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.source.location.cmp(&b.source.location)));
    Ok(())
}

/// Whether the search can end.
pub(super) fn is_enough(found: &[Candidate]) -> bool {
    found.first().is_some_and(|best| best.score >= ENOUGH)
}

/// Whether the best passage answers the question.
pub(super) fn is_answer(found: &[Candidate]) -> bool {
    found.first().is_some_and(|best| best.score >= ANSWER)
}

/// Whether two passages say the same in nearly the same words.
pub(super) fn repeats(a: &str, b: &str) -> bool {
    let (a, b) = (stems(a), stems(b));
    let common = a.intersection(&b).count() as f32;
    let all = a.union(&b).count().max(1) as f32;
    common / all >= REPEATED
}

fn score(question: &ResearchQuestion, candidate: &Candidate, words: f32, named: bool) -> f32 {
    let meaning = match (&question.vector, &candidate.vector) {
        (Some(question), Some(vector)) => {
            let own = dot(question, vector).max(0.0);
            // A heading that asks the question is answered by what stands below it.
            let heading = candidate.heading_vector.as_deref().map_or(0.0, |heading| dot(question, heading));
            own.max(f32::midpoint(own, heading))
        }
        // Without a model, words decide alone.
        _ => words,
    };
    let mut score = MEANING * meaning + WORDS * words;
    match has_expected(question.expected, &candidate.text) {
        Some(true) => score += EXPECTED,
        Some(false) => score -= UNEXPECTED,
        None => {}
    }
    if candidate.points_elsewhere {
        score -= POINTER;
    }
    if candidate.outdated {
        score -= OUTDATED;
    }
    if !named {
        score *= UNNAMED;
    }
    score.clamp(0.0, 1.0)
}

/// Weighs the words of a question by how rare they are among the passages. A word that no passage has counts half as
/// much as the rarest: it may be said in another way.
fn weights(question: &ResearchQuestion, found: &[Candidate]) -> Vec<f32> {
    let total = found.len() as f32;
    let mut count: HashMap<&str, f32> = HashMap::new();
    for candidate in found {
        for term in &question.terms {
            // A word of the headings is no news of a passage below them: the name of the product is everywhere.
            if candidate.stems().contains(&term.term) || candidate.heading_stems().contains(&term.term) {
                *count.entry(term.term.as_str()).or_default() += 1.0;
            }
        }
    }
    let weight = |count: f32| (1.0 + total / count).ln();
    let of = |term: &str| count.get(term).map_or(0.5 * weight(1.0), |&count| weight(count));
    question.terms.iter().map(|term| of(&term.term)).collect()
}

/// Share of the question's words that a passage has, weighed; words above or before it count less.
fn words(
    question: &ResearchQuestion,
    weights: &[f32],
    candidate: &Candidate,
    on_page: Option<&PageMatch>,
) -> f32 {
    let all: f32 = weights.iter().sum();
    if all <= 0.0 {
        return 0.0;
    }
    let close = if candidate.code || needs_context(&candidate.text) { 0.8 } else { 0.4 };
    let share = |term: &str| {
        if candidate.stems().contains(term) {
            1.0
        } else if candidate.heading_stems().contains(term) {
            0.75
        } else if candidate.stems_before().contains(term) {
            close
        } else if candidate.via.stems.contains(term) {
            VIA
        } else if on_page.is_some_and(|page| page.terms.contains(term)) {
            0.2
        } else {
            0.0
        }
    };
    let had: f32 = question.terms.iter().zip(weights).map(|(term, weight)| weight * share(&term.term)).sum();
    had / all
}

/// What of a question a page has somewhere.
struct PageMatch {
    /// Its words, as stems.
    terms: HashSet<String>,
    /// Whether it mentions each of the names.
    names: Vec<bool>,
}

/// Compares each page with the question once, not for each of its sentences. By the address of its text.
fn page_matches(question: &ResearchQuestion, found: &[Candidate]) -> HashMap<*const u8, PageMatch> {
    let mut pages = HashMap::new();
    for candidate in found {
        pages.entry(candidate.page.as_ptr()).or_insert_with(|| {
            let terms = question.terms.iter().map(|term| &term.term);
            PageMatch {
                terms: terms.filter(|term| candidate.page.contains(term.as_str())).cloned().collect(),
                names: question.names.iter().map(|name| mentions(&candidate.page, name)).collect(),
            }
        });
    }
    pages
}

fn page_of<'a>(pages: &'a HashMap<*const u8, PageMatch>, candidate: &Candidate) -> Option<&'a PageMatch> {
    pages.get(&candidate.page.as_ptr())
}

/// Whether a page mentions a name, written apart or as one word.
fn mentions(page: &str, name: &[String]) -> bool {
    page.contains(&name.join(" ")) || page.contains(&name.concat()) || page.contains(&name.join("-"))
}

/// Embeds the headings, each once.
fn embed_headings(found: &mut [Candidate], embedder: &dyn QueryEmbedder) -> Result<(), String> {
    let mut known: HashMap<String, Arc<Vec<f32>>> = HashMap::new();
    for candidate in found.iter() {
        if let Some(vector) = &candidate.heading_vector {
            known.insert(candidate.embedded_heading(), Arc::clone(vector));
        }
    }
    let mut texts: Vec<String> = found
        .iter()
        .filter(|candidate| candidate.vector.is_some() && candidate.heading_vector.is_none())
        .map(Candidate::embedded_heading)
        .filter(|heading| !known.contains_key(heading))
        .collect();
    texts.sort();
    texts.dedup();
    for (text, vector) in texts.iter().zip(embedder.passages(&texts)?) {
        known.insert(text.clone(), Arc::new(vector));
    }
    for candidate in found.iter_mut().filter(|candidate| candidate.vector.is_some()) {
        candidate.heading_vector = known.get(&candidate.embedded_heading()).cloned();
    }
    Ok(())
}

/// Whether a passage has the kind of answer that is expected; `None` if anything may be the answer.
fn has_expected(expected: Expected, text: &str) -> Option<bool> {
    let digit = text.contains(|c: char| c.is_ascii_digit());
    let words = |list: &[&str]| {
        let text = text.to_lowercase();
        text.split(|c: char| !c.is_alphanumeric()).any(|word| list.contains(&word))
    };
    match expected {
        Expected::Any => None,
        Expected::Number => Some(digit || words(NUMBERS)),
        Expected::Duration => Some((digit || words(NUMBERS)) && words(UNITS_OF_TIME)),
        Expected::Price => {
            Some(digit && (text.contains(['$', '€', '£', '¥']) || words(CURRENCIES)) || words(&["free"]))
        }
        Expected::Date => Some(digit && (words(MONTHS) || has_year(text))),
    }
}

const NUMBERS: &[&str] = &[
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "twelve",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "hundred",
    "thousand",
    "unlimited",
    "once",
    "twice",
    "daily",
    "weekly",
    "hourly",
];
const UNITS_OF_TIME: &[&str] = &[
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "ms",
    "milliseconds",
    "quarter",
    "night",
    "nights",
    "daily",
    "weekly",
    "hourly",
    "monthly",
    "yearly",
    "forever",
];
const CURRENCIES: &[&str] = &[
    "usd", "eur", "gbp", "chf", "dollar", "dollars", "euro", "euros", "pounds", "cents", "credits", "francs",
];
const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
];

fn has_year(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit())
        .any(|digits| digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(question: &str, passages: &[(&str, &[&str])]) -> Vec<Candidate> {
        let question = ResearchQuestion::of(question, None).unwrap();
        let mut found: Vec<Candidate> =
            passages.iter().map(|(text, heading)| Candidate::for_test(text, heading)).collect();
        rank(&question, &mut found, None).unwrap();
        found
    }

    #[test]
    fn the_passage_with_the_words_and_the_number_comes_first() {
        let found = ranked(
            "How many requests a minute does Larkspur allow?",
            &[
                ("Larkspur serves requests from three regions.", &["Larkspur", "Regions"]),
                ("Larkspur allows 120 requests a minute.", &["Larkspur", "Limits"]),
                ("Tidewater allows 500 requests a minute.", &["Tidewater", "Limits"]),
            ],
        );
        assert_eq!(found[0].text, "Larkspur allows 120 requests a minute.");
        assert!(found[0].score > found[1].score + 0.1, "{found:?}");
    }

    #[test]
    fn a_page_that_says_it_is_outdated_comes_later() {
        let question = ResearchQuestion::of("request limit of Larkspur", None).unwrap();
        let mut found = vec![
            Candidate::for_test("The request limit is 60.", &["Larkspur"]),
            Candidate::for_test("The request limit is 120.", &["Larkspur"]),
        ];
        found[0].outdated = true;
        rank(&question, &mut found, None).unwrap();
        assert_eq!(found[0].text, "The request limit is 120.");
    }

    #[test]
    fn expected_kinds_are_recognized() {
        assert_eq!(has_expected(Expected::Price, "The team plan is $12 a month."), Some(true));
        assert_eq!(has_expected(Expected::Price, "The team plan has 12 seats."), Some(false));
        assert_eq!(has_expected(Expected::Date, "Released on 4 March 2024."), Some(true));
        assert_eq!(has_expected(Expected::Date, "It has 4 modes."), Some(false));
        assert_eq!(has_expected(Expected::Duration, "It is kept for 45 days."), Some(true));
        assert_eq!(has_expected(Expected::Duration, "On 6 March it went away."), Some(false));
        assert_eq!(has_expected(Expected::Any, "Hold the button."), None);
    }
}
