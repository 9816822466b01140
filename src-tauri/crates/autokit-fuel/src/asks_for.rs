//! Adds to a card what people ask for when they need it: questions it answered, and phrases a model wrote from the
//! page.

use autokit_toolcard::{Limits, Toolcard, fields};
use serde::Deserialize;

/// A phrase written by a model, with the page's words it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct QuotedPhrase {
    /// What somebody may ask for.
    pub text: String,
    /// The words of the page that say the tool can do it, verbatim.
    pub quote: String,
}

/// A longer list of phrases for a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExtendedPhrases {
    /// All phrases, those of the card first.
    pub(crate) phrases: Vec<String>,
    /// What supports the new ones, as far as they come from the page.
    pub(crate) quotes: Vec<String>,
}

/// Most characters of a phrase; a longer question says more than what was needed.
const MAX_CHARS: usize = 120;

/// Adds phrases to those of the card: first questions, then what a model wrote. Returns `None` if there is nothing
/// new, or if the card uses the field for something else.
pub(crate) fn with_more(
    card: &Toolcard,
    questions: &[String],
    written: &[QuotedPhrase],
) -> Option<ExtendedPhrases> {
    let is_list = card.object().get(fields::ASKS_FOR).is_none_or(|value| value.is_null() || value.is_array());
    let mut phrases: Vec<String> = card.asks_for().map(str::to_owned).collect();
    let before = phrases.len();
    let mut quotes = Vec::new();
    let from_questions = questions.iter().map(|question| (question.as_str(), None));
    let from_page = written.iter().map(|ask| (ask.text.as_str(), Some(&ask.quote)));
    for (text, quote) in from_questions.chain(from_page) {
        let text = text.trim();
        let is_known = phrases.iter().any(|known| comparable(known) == comparable(text));
        let is_phrase = text.chars().any(char::is_alphabetic)
            && !text.contains('\n')
            && text.chars().count() <= MAX_CHARS;
        if is_phrase && !is_known && phrases.len() < Limits::CARD.asks_for {
            phrases.push(text.to_owned());
            quotes.extend(quote.cloned());
        }
    }
    (is_list && phrases.len() > before).then_some(ExtendedPhrases { phrases, quotes })
}

/// Returns a phrase without what makes no difference between two of them.
fn comparable(phrase: &str) -> String {
    let plain: String =
        phrase.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect::<String>().to_lowercase();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn card(asks_for: &Value) -> Toolcard {
        Toolcard::from_json(&json!({"name": "Taxi", "asks_for": asks_for}).to_string()).unwrap()
    }

    #[test]
    fn new_phrases_are_added_once() {
        let questions = ["A ride home!", "a cab, now", "x\ny", "?", &"long ".repeat(30)].map(str::to_owned);
        let written = ["Cab now", "a lift to the airport"]
            .map(|text| QuotedPhrase { text: text.into(), quote: format!("It can: {text}.") });
        let longer = with_more(&card(&json!(["a ride home"])), &questions, &written).unwrap();
        assert_eq!(longer.phrases, ["a ride home", "a cab, now", "Cab now", "a lift to the airport"]);
        assert_eq!(longer.quotes, ["It can: Cab now.", "It can: a lift to the airport."]);
        assert_eq!(with_more(&card(&json!(["a ride home"])), &questions[..1], &[]), None);
    }

    #[test]
    fn the_list_stays_within_what_is_searched_and_other_uses_of_the_field_are_left_alone() {
        let many: Vec<String> = (0..Limits::CARD.asks_for - 1).map(|at| format!("ask {at}")).collect();
        let questions = ["one".to_owned(), "two".to_owned()];
        let longer = with_more(&card(&json!(many)), &questions, &[]).unwrap();
        assert_eq!(longer.phrases.len(), Limits::CARD.asks_for);
        assert_eq!(longer.phrases.last().map(String::as_str), Some("one"));
        assert_eq!(with_more(&card(&json!("a text")), &questions, &[]), None);
    }
}
