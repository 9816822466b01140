//! Richer descriptions (FUEL, toolcard improver): what the page says a tool does, in the page's words.

use autokit_facts::sentences;
use autokit_llm::Request;
use autokit_llm::prompts;
use autokit_toolcard::Toolcard;
use autokit_web::Block;
use regex::Regex;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashSet;
use std::sync::LazyLock;

use crate::model::{Advisor, shown_card, shown_page};
use crate::reading::Reading;
use crate::subject::{Subject, content_words};

/// A better description, with the sentences of the page it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Improved {
    /// The description.
    pub text: String,
    /// Sentences of the page, as they stand there, in the order they are used.
    pub quotes: Vec<String>,
}

/// Sentences taken from a page.
const SENTENCES: usize = 3;
/// Characters of a sentence.
const LENGTH: std::ops::RangeInclusive<usize> = 30..=320;
/// Blocks from the start of a page that are looked through.
const BLOCKS: usize = 120;
/// A sentence with fewer new words than this says nothing new.
const NEW_WORDS: usize = 3;
/// Share of a model's words that the page has to have.
const ON_THE_PAGE: f32 = 0.9;

/// Sentences that guide the reader instead of saying what the tool does.
static GUIDANCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(this|the) (notebook|page|guide|tutorial|example|document|section|cell)\b|^(in|for|from) (this|the following|detailed|a full)\b|^(you('ll| will| need| must| should)|let'?s|below|here|note|see|make sure|before|first|next|then|finally|now|we('ll| will| need| can| are)?|install|set ?up|get started|run|click|sign up|go to|head to|visit|create an?|to (get|use|install|run|access|create|start|set|obtain|enable))\b|\b(api[- ]key|environment variable|sign(ing)? up|as follows|shown (above|below)|the following (code|command|cell)|e-?mail us|click here)\b|[:{}<>|=]|https?://",
    )
    .expect("a valid pattern")
});

/// Words by which sentences say what something can do.
static ABILITY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(can|lets?|allows?|enables?|supports?|provides?|offers?|returns?|gives?|helps?|makes?|performs?|handles?|includes?|works? with|used (for|to)|designed (for|to)|searche?s?|retrieves?|extracts?|generates?|creates?|reads?|writes?|sends?|connects?|integrates?|interacts?|converts?|executes?|access(es)?|quer(y|ies)|automates?|manages?|is an?|are)\b",
    )
    .expect("a valid pattern")
});

/// What the page adds to a description, by rules: sentences that say what the tool does and say something
/// new, taken over word for word. None when the page adds nothing.
pub(crate) fn by_rules(subject: &Subject, page: &Reading) -> Option<Improved> {
    let mut known: HashSet<String> = subject.content.clone();
    let own: Vec<String> = subject
        .name_words
        .iter()
        .cloned()
        .chain(subject.classes.iter().map(|class| class.to_lowercase()))
        .collect();
    let mut candidates: Vec<(f32, usize, &str)> = Vec::new();
    let blocks = page.document.blocks.iter().take(BLOCKS);
    for (at, block) in blocks.enumerate() {
        let Block::Text { text } = block else { continue };
        for sentence in sentences(text) {
            let plain = sentence.trim_start_matches(['>', '-', '*', ' ']);
            if !LENGTH.contains(&plain.chars().count())
                || !plain.ends_with(['.', '!'])
                || !plain.starts_with(|c: char| c.is_uppercase() || c == '`')
                || GUIDANCE.is_match(plain)
                || !ABILITY.is_match(plain)
            {
                continue;
            }
            let lower = plain.to_lowercase();
            let about = own.iter().any(|word| lower.contains(word.as_str()));
            let early = 1.0 / (1.0 + at as f32 / 10.0);
            candidates.push((if about { 1.0 + early } else { early }, at, plain));
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut taken: Vec<(usize, &str)> = Vec::new();
    for (_, at, sentence) in candidates {
        let words = content_words(sentence);
        let new = words.difference(&known).count();
        // Most of it is said already, or it is about nothing that was spoken of.
        let related = sentence.starts_with("It ") || words.iter().any(|word| known.contains(word));
        if new < NEW_WORDS || new * 3 < words.len() || !related {
            continue;
        }
        known.extend(words);
        taken.push((at, sentence));
        if taken.len() == SENTENCES {
            break;
        }
    }
    if taken.is_empty() {
        return None;
    }
    taken.sort_by_key(|(at, _)| *at);
    let mut text = subject.description.trim().to_owned();
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    for (_, sentence) in &taken {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(sentence);
    }
    Some(Improved { text, quotes: taken.into_iter().map(|(_, sentence)| sentence.to_owned()).collect() })
}

#[derive(Debug, Deserialize)]
struct Written {
    sentences: Vec<Sentence>,
}

#[derive(Debug, Deserialize)]
struct Sentence {
    text: String,
    quote: String,
}

impl Advisor {
    /// As [`by_rules`], written by the model. Sentences whose quote does not stand on the page, or whose
    /// own words the page does not have, are left out; none when nothing is left.
    pub(crate) async fn improve(&self, card: &Toolcard, page: &Reading) -> Option<Improved> {
        let schema = json!({
            "type": "object",
            "properties": { "sentences": { "type": "array", "maxItems": 6, "items": {
                "type": "object",
                "properties": { "text": { "type": "string" }, "quote": { "type": "string" } },
                "required": ["text", "quote"],
            } } },
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
                tracing::info!(%error, "the model wrote no description");
                return None;
            }
        };
        let written: Written = serde_json::from_value(answer).ok()?;
        let mut improved = Improved { text: String::new(), quotes: Vec::new() };
        for sentence in written.sentences {
            if page.stands(&sentence.quote) && rests_on(&sentence, page) {
                if !improved.text.is_empty() {
                    improved.text.push(' ');
                }
                improved.text.push_str(sentence.text.trim());
                improved.quotes.push(sentence.quote);
            }
        }
        (!improved.text.is_empty()).then_some(improved)
    }
}

/// Whether a sentence says what its quote says: most of its words are on the page, some in the quote, and
/// every name and number stands on the page as it is written.
fn rests_on(sentence: &Sentence, page: &Reading) -> bool {
    let text = sentence.text.trim();
    let words = content_words(text);
    let quote = content_words(&sentence.quote);
    let there = words.iter().filter(|word| page.words.contains(*word)).count();
    let as_written = text.split_whitespace().enumerate().all(|(at, raw)| {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
        let telling = word.chars().any(|c| c.is_ascii_digit() || c == '_')
            || word.chars().skip(usize::from(at == 0)).any(char::is_uppercase);
        !telling || page.text.contains(word)
    });
    !words.is_empty()
        && as_written
        && text.chars().count() <= *LENGTH.end()
        && there as f32 >= ON_THE_PAGE * words.len() as f32
        && !words.is_disjoint(&quote)
}

#[cfg(test)]
mod tests {
    use autokit_web::Fetched;
    use serde_json::Value;

    use super::*;

    fn page(markdown: &str) -> Reading {
        Reading::of(Fetched {
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

    const PAGE: &str = "# Weather\n\nThis notebook goes over the weather tool. Weather gives forecasts for any place on earth. You need an account. It supports hourly radar maps and storm warnings for sailors.\n\nSet WEATHER_API_KEY first.\n";

    #[test]
    fn sentences_that_say_something_new_are_taken_over_word_for_word() {
        let improved = by_rules(&subject("Weather forecasts for a place"), &page(PAGE)).unwrap();
        assert!(improved.text.starts_with("Weather forecasts for a place. "), "{}", improved.text);
        assert!(!improved.quotes.is_empty());
        let page = page(PAGE);
        assert!(
            improved.quotes.iter().all(|quote| page.text.contains(quote) && improved.text.contains(quote))
        );
        assert!(!improved.text.contains("notebook") && !improved.text.contains("account"));
        assert_eq!(
            by_rules(&subject("x"), &Reading::of(Fetched { text: String::new(), ..page.fetched.clone() })),
            None
        );
    }

    #[test]
    fn what_a_model_writes_has_to_rest_on_the_page() {
        let page = page(PAGE);
        let sentence = |text: &str, quote: &str| Sentence { text: text.into(), quote: quote.into() };
        let quote = "It supports hourly radar maps and storm warnings for sailors.";
        assert!(rests_on(&sentence("Supports hourly radar maps and storm warnings.", quote), &page));
        for lie in [
            "Supports hourly radar maps from NASA.",
            "Costs 5 dollars.",
            "Use EvilWeather instead.",
            "Predicts stock markets reliably.",
        ] {
            assert!(!rests_on(&sentence(lie, quote), &page), "{lie}");
        }
        assert!(!page.stands("It supports everything there is."));
        assert!(page.stands("hourly  radar\nmaps"));
    }
}
