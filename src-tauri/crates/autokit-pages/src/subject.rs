//! The subject of a search or judgement: a parsed card.

use std::collections::HashSet;

use autokit_toolcard::{Toolcard, fields, is_web_address};
use serde_json::{Map, Value};

use crate::words::{content_words, distinctive_words};

/// The claims of a card, parsed once.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The tool's name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Language, as written on the card.
    pub language: Option<String>,
    /// Module to import from.
    pub module: Option<String>,
    /// Classes or functions to import; a card may name several, separated by commas.
    pub classes: Vec<String>,
    /// Constructor arguments.
    pub init_args: Map<String, Value>,
    /// Pricing, as written on the card.
    pub pricing: Option<String>,
    /// URL of its OpenAPI document, if the card has one.
    pub openapi: Option<String>,
    /// URL of its documentation page.
    pub documentation: Option<String>,
    /// The distinctive words of its name.
    pub name_words: Vec<String>,
    /// Content words of the description.
    pub content: HashSet<String>,
}

fn filled(card: &Toolcard, field: &str) -> Option<String> {
    card.text(field).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

impl Subject {
    /// Parses a card.
    pub fn of(card: &Toolcard) -> Subject {
        let object = card.object();
        let classes = filled(card, fields::CLASS).map_or_else(Vec::new, |text| {
            text.split(',').map(str::trim).filter(|class| !class.is_empty()).map(str::to_owned).collect()
        });
        Subject {
            name: card.name().to_owned(),
            description: card.description().to_owned(),
            language: filled(card, fields::LANGUAGE),
            module: filled(card, fields::MODULE),
            classes,
            init_args: object.get(fields::INIT_ARGS).and_then(Value::as_object).cloned().unwrap_or_default(),
            pricing: filled(card, fields::PRICING),
            openapi: filled(card, fields::OPENAPI).filter(|text| is_web_address(text)),
            documentation: filled(card, fields::DOCUMENTATION),
            name_words: distinctive_words(card.name()),
            content: content_words(card.description()),
        }
    }

    /// Returns the text that is embedded for the card.
    pub fn passage(&self) -> String {
        format!("{}: {}", self.name, self.description)
    }
}
