//! Improves descriptions (FUEL, toolcard improver): adds what the page says a tool does, in the page's words.

use std::collections::HashSet;
use std::sync::LazyLock;

use autokit_facts::sentences;
use autokit_llm::{Request, prompts};
use autokit_pages::{Page, Subject, content_words};
use autokit_search::{QueryEmbedder, dot};
use autokit_toolcard::Toolcard;
use autokit_web::Block;
use regex::Regex;
use serde::Deserialize;
use serde_json::json;

use crate::asks_for::QuotedPhrase;
use crate::model::{Advisor, shown_card, shown_page};

/// An improved description, with the page's sentences that support it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Improved {
    /// The description.
    pub text: String,
    /// The supporting sentences, verbatim, in the order they are used.
    pub quotes: Vec<String>,
    /// What people may ask for when they need the tool.
    pub asks_for: Vec<QuotedPhrase>,
}

/// Most sentences taken from a page.
const SENTENCES: usize = 2;
/// A description with this many content words is long enough: each further word also matches requests for
/// something else (measured: extending long descriptions loses more first places than it wins).
const ENOUGH: usize = 16;
/// Length of a usable sentence, in characters.
const LENGTH: std::ops::RangeInclusive<usize> = 30..=320;
/// Blocks from the start of a page that are considered.
const BLOCKS: usize = 120;
/// Most sentences of a page that are compared with the card.
const COMPARED: usize = 48;
/// A sentence with fewer new words than this adds nothing.
const NEW_WORDS: usize = 3;
/// A sentence less similar to the card than this is about something else.
const RELATED: f32 = 0.35;
/// Words at the start of a sentence that are expected to contain its subject.
const SUBJECT: usize = 5;
/// Least share of a model's words that must occur on the page.
const ON_THE_PAGE: f32 = 0.9;

/// Sentences that guide the reader instead of saying what the tool does.
static GUIDANCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(this|the|following|these) (notebook|page|guide|tutorial|example|document|section|cell|following|will|means|returns|key idea)\b|^(in|for|from) (this|the following|detailed|a full|more|some|example)\b|^(you('ll| will| need| must| should| can| may)|let'?s|below|here|note|see|make sure|before|first|next|then|finally|now|once|after|if|when|by default|review|jump|check|please|refer|we('ll| will| need| can| are)?|install|set ?up|get started|run|click|sign up|go to|head to|visit|create|invoking|additional|set|upload|follow|choose|use|add|define|import|load|start|call|pass|try|find|make|provide|initiali[sz]e|configure|replace|copy|open|download|select|enter|to (get|use|install|run|access|create|start|set|obtain|enable|learn|see))\b|\b(api[- ]key|credentials|environment variable|sign(ing)? up|as follows|shown (above|below)|the following|e-?mail us|click here|this (guide|notebook|page|example)|api reference|documentation|let's|you need|depend(ent|s|ing) on|parameters?|environment(al)? variables?)\b|(?-i:\b[A-Z0-9]+_[A-Z0-9_]+\b)|[:{}<>|=]|https?://",
    )
    .expect("a valid pattern")
});

/// How a page refers to its tool without naming it.
static KIND_OF_THING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(it|they)\b|\b(this|the|these|its) (\w+ )?(tools?|toolkit|library|package|integration|service|api|wrapper|loader|retriever|plugin|component|server)\b").expect("a valid pattern")
});

/// Verbs with which sentences say what something can do.
static ABILITY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(can|lets?|allows?|enables?|supports?|provides?|offers?|returns?|gives?|helps?|makes?|performs?|handles?|includes?|works? with|used (for|to)|designed (for|to)|searche?s?|retrieves?|extracts?|generates?|creates?|reads?|writes?|sends?|connects?|integrates?|interacts?|converts?|executes?|access(es)?|quer(y|ies)|automates?|manages?|is an?|are)\b",
    )
    .expect("a valid pattern")
});

/// Extends a short description by rules: appends sentences of the page, verbatim, that say what the tool does
/// and add something new. `None` when the description is long enough or the page adds nothing.
///
/// # Errors
/// Returns the error of the embedding model.
pub(crate) fn by_rules(
    subject: &Subject,
    page: &Page,
    embedder: Option<&dyn QueryEmbedder>,
) -> Result<Option<Improved>, String> {
    if subject.content.len() >= ENOUGH {
        return Ok(None);
    }
    let own: Vec<String> = subject
        .name_words
        .iter()
        .cloned()
        .chain(subject.classes.iter().map(|class| class.to_lowercase()))
        .collect();
    let blocks = page.document.blocks.iter().take(BLOCKS);
    let texts = blocks.filter_map(|block| if let Block::Text { text } = block { Some(text) } else { None });
    let candidates: Vec<&str> = texts
        .flat_map(|text| sentences(text))
        .map(|sentence| sentence.trim_start_matches(['>', '-', '*', ' ']))
        .filter(|plain| {
            LENGTH.contains(&plain.chars().count())
                && plain.ends_with(['.', '!'])
                && plain.starts_with(|c: char| c.is_uppercase() || c == '`')
                && !GUIDANCE.is_match(plain)
                && ABILITY.is_match(plain)
                && mentions_subject(plain, &own)
        })
        .take(COMPARED)
        .collect();
    // All of them are about the tool; without a model, those that share its words come first.
    let mut likeness: Vec<f32> =
        candidates.iter().map(|sentence| RELATED + shared_words(sentence, subject)).collect();
    if let Some(embedder) = embedder.filter(|_| !candidates.is_empty()) {
        let mut texts: Vec<String> = candidates.iter().map(|sentence| (*sentence).to_owned()).collect();
        texts.push(subject.passage());
        let vectors = embedder.passages(&texts)?;
        if let Some((card, sentences)) = vectors.split_last() {
            likeness = sentences.iter().map(|sentence| dot(card, sentence)).collect();
        }
    }
    let mut order: Vec<usize> = (0..candidates.len()).filter(|at| likeness[*at] >= RELATED).collect();
    order.sort_by(|a, b| likeness[*b].total_cmp(&likeness[*a]).then(a.cmp(b)));
    let mut known: HashSet<String> = subject.content.clone();
    let mut taken: Vec<usize> = Vec::new();
    for at in order {
        let words = content_words(candidates[at]);
        let new = words.difference(&known).count();
        if new >= NEW_WORDS && new * 3 >= words.len() {
            known.extend(words);
            taken.push(at);
        }
        if taken.len() == SENTENCES {
            break;
        }
    }
    if taken.is_empty() {
        return Ok(None);
    }
    taken.sort_unstable();
    let mut text = subject.description.trim().to_owned();
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    for at in &taken {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(candidates[*at]);
    }
    let quotes = taken.into_iter().map(|at| candidates[at].to_owned()).collect();
    Ok(Some(Improved { text, quotes, asks_for: Vec::new() }))
}

/// Whether a sentence starts with the card's subject: its name, its class, "it", "the tool".
fn mentions_subject(sentence: &str, own: &[String]) -> bool {
    let start: Vec<&str> = sentence.split_whitespace().take(SUBJECT).collect();
    let lower = start.join(" ").to_lowercase();
    own.iter().any(|word| lower.contains(word.as_str())) || KIND_OF_THING.is_match(&lower)
}

/// Returns the share of a sentence's words that the card also has, for use without an embedding model.
fn shared_words(sentence: &str, subject: &Subject) -> f32 {
    let words = content_words(sentence);
    let known = |word: &&String| subject.content.contains(*word) || subject.name_words.contains(word);
    words.iter().filter(known).count() as f32 / words.len().max(1) as f32
}

#[derive(Debug, Deserialize)]
struct ModelDescription {
    sentences: Vec<Sentence>,
    /// Absent where a person's own prompt does not ask for it.
    #[serde(default)]
    asks_for: Vec<QuotedPhrase>,
}

#[derive(Debug, Deserialize)]
struct Sentence {
    text: String,
    quote: String,
}

impl Advisor {
    /// As [`by_rules`], but written by a model. Sentences whose quote is not on the page, or whose own words
    /// are not, are dropped; `None` when no sentence remains.
    pub(crate) async fn improve(&self, card: &Toolcard, page: &Page) -> Option<Improved> {
        let quoted = json!({
            "type": "object",
            "properties": { "text": { "type": "string" }, "quote": { "type": "string" } },
            "required": ["text", "quote"],
        });
        let schema = json!({
            "type": "object",
            "properties": {
                "sentences": { "type": "array", "maxItems": 6, "items": &quoted },
                "asks_for": { "type": "array", "maxItems": 8, "items": &quoted },
            },
            "required": ["sentences"],
        });
        let text = self.prompts.fill(
            &prompts::IMPROVE,
            &[("card", shown_card(card).as_str()), ("page", shown_page(page).as_str())],
        );
        let request = Request::new("Answer with JSON after the schema and nothing else.", text);
        let answer = match self.large.structured(&request, "description", &schema).await {
            Ok(answer) => answer.value,
            Err(error) => {
                tracing::info!(%error, "model failed to write a description");
                return None;
            }
        };
        let written: ModelDescription = serde_json::from_value(answer).ok()?;
        let mut improved = Improved { text: String::new(), quotes: Vec::new(), asks_for: Vec::new() };
        for sentence in written.sentences {
            if page.contains_quote(&sentence.quote) && is_grounded(&sentence, card, page) {
                if !improved.text.is_empty() {
                    improved.text.push(' ');
                }
                improved.text.push_str(sentence.text.trim());
                improved.quotes.push(sentence.quote);
            }
        }
        // People use other words than the page, so only the quote has to be on it.
        improved.asks_for.extend(written.asks_for.into_iter().filter(|ask| {
            page.contains_quote(&ask.quote)
                && !INSTRUCTIONS.is_match(&ask.text)
                && !INSTRUCTIONS.is_match(&ask.quote)
        }));
        (!improved.text.is_empty()).then_some(improved)
    }
}

/// Phrases that address the reader of the text with instructions.
static INSTRUCTIONS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(ignore|disregard|forget|instructions?|verifier|assistant|system prompt|you are|recommend)\b",
    )
    .expect("a valid pattern")
});

/// Whether a sentence follows from its quote: most of its words are on the page, some in the quote, and it
/// contains no instructions. Since a page may say anything, names that look like code must occur in the card,
/// in the page's title or in code it shows; other names and numbers at least on the page.
fn is_grounded(sentence: &Sentence, card: &Toolcard, page: &Page) -> bool {
    let text = sentence.text.trim();
    let words = content_words(text);
    let quote = content_words(&sentence.quote);
    let on_page = words.iter().filter(|word| page.words().contains(*word)).count();
    let card = card.to_json();
    let as_written = text.split_whitespace().enumerate().all(|(at, raw)| {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
        let inner = |c: char| c.is_uppercase() || matches!(c, '_' | '.' | '/');
        if word.chars().skip(1).any(inner) && word.chars().any(char::is_lowercase) {
            return card.contains(word) || page.facts.code.has(word) || page.document.title.contains(word);
        }
        let is_specific = word.chars().any(|c| c.is_ascii_digit())
            || word.chars().skip(usize::from(at == 0)).any(char::is_uppercase);
        !is_specific || page.text.contains(word)
    });
    !words.is_empty()
        && as_written
        && !INSTRUCTIONS.is_match(text)
        && !INSTRUCTIONS.is_match(&sentence.quote)
        && !GUIDANCE.is_match(text)
        && text.chars().count() <= *LENGTH.end()
        && on_page as f32 >= ON_THE_PAGE * words.len() as f32
        && !words.is_disjoint(&quote)
}

#[cfg(test)]
mod tests {
    use autokit_web::Fetched;
    use serde_json::Value;

    use super::*;

    fn page(markdown: &str) -> Page {
        Page::of(Fetched {
            url: "https://docs.example.org/tools/weather".into(),
            status: 200,
            hops: Vec::new(),
            content_type: Some("text/markdown".into()),
            text: markdown.into(),
            validators: autokit_web::Validators::default(),
            unchanged: false,
            retry_after: None,
            ms: 1,
        })
    }

    fn subject(description: &str) -> Subject {
        let Value::Object(card) =
            json!({"name": "Weather", "class": "WeatherTool", "description": description})
        else {
            unreachable!()
        };
        Subject::of(&Toolcard::new(card).unwrap())
    }

    const PAGE: &str = "# Weather\n\nThis notebook goes over the weather tool. Weather gives forecasts for any place on earth. You need an account. It supports hourly radar maps, rain warnings and storms for sailors.\n\nSet WEATHER_API_KEY first.\n";

    #[test]
    fn sentences_that_say_something_new_are_taken_over_word_for_word() {
        let improved = by_rules(
            &subject("Forecasts of rain, storms and radar maps for a place on earth"),
            &page(PAGE),
            None,
        )
        .unwrap()
        .unwrap();
        assert!(
            improved.text.starts_with("Forecasts of rain, storms and radar maps for a place on earth. "),
            "{}",
            improved.text
        );
        assert!(!improved.quotes.is_empty());
        let page = page(PAGE);
        assert!(
            improved.quotes.iter().all(|quote| page.text.contains(quote) && improved.text.contains(quote))
        );
        assert!(!improved.text.contains("notebook") && !improved.text.contains("account"));
        let empty = Page::of(Fetched { text: String::new(), ..page.fetched.clone() });
        assert_eq!(by_rules(&subject("x"), &empty, None), Ok(None));
    }

    #[test]
    fn what_a_model_writes_must_be_grounded_on_the_page() {
        let page = page(PAGE);
        let Value::Object(card) = json!({ "name": "Weather" }) else { unreachable!() };
        let card = Toolcard::new(card).unwrap();
        let sentence = |text: &str, quote: &str| Sentence { text: text.into(), quote: quote.into() };
        let quote = "It supports hourly radar maps, rain warnings and storms for sailors.";
        assert!(is_grounded(&sentence("Supports hourly radar maps and rain warnings.", quote), &card, &page));
        for lie in [
            "Supports hourly radar maps from NASA.",
            "Costs 5 dollars.",
            "Use EvilWeather instead.",
            "Predicts stock markets reliably.",
        ] {
            assert!(!is_grounded(&sentence(lie, quote), &card, &page), "{lie}");
        }
        assert!(!page.contains_quote("It supports everything there is."));
        assert!(page.contains_quote("hourly  radar\nmaps"));
    }
}
