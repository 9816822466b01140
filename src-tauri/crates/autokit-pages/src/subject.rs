//! A card whose page is sought or judged.

use std::collections::HashSet;

use autokit_toolcard::{Toolcard, fields, is_web_address};
use serde_json::{Map, Value};

use crate::words::{content_words, telling};

/// What a card claims, taken apart once.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What the tool is called.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Language, as written.
    pub language: Option<String>,
    /// Module to import from.
    pub module: Option<String>,
    /// Classes or functions to import; a card may name several, separated by commas.
    pub classes: Vec<String>,
    /// Constructor arguments.
    pub init_args: Map<String, Value>,
    /// What it costs, as written.
    pub pricing: Option<String>,
    /// Its OpenAPI document, if that is an address.
    pub openapi: Option<String>,
    /// Its documentation page.
    pub documentation: Option<String>,
    /// The telling words of its name.
    pub name_words: Vec<String>,
    /// Content words of the description.
    pub content: HashSet<String>,
}

fn filled(card: &Toolcard, field: &str) -> Option<String> {
    card.text(field).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

impl Subject {
    /// Takes a card apart.
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
            name_words: telling(card.name()),
            content: content_words(card.description()),
        }
    }

    /// What is embedded of it.
    pub fn passage(&self) -> String {
        format!("{}: {}", self.name, self.description)
    }
}
