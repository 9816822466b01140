//! The searchable text of a card.

use autokit_vocabulary::Vocabulary;
use serde_json::{Map, Value};

use crate::document::{Document, Parameter, Vectors};

/// Most phrases of `asks_for` that are searched; each costs a vector.
pub const MAX_ASKS_FOR: usize = 32;

/// The searchable text of a tool, as owned strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolText {
    /// Its id.
    pub id: String,
    /// Vendor, package or server, or an empty string.
    pub provider: String,
    /// Tool name.
    pub name: String,
    /// Other exact names.
    pub aliases: Vec<String>,
    /// Description.
    pub description: String,
    /// Parameters: name and description.
    pub parameters: Vec<(String, String)>,
    /// Further searchable text.
    pub keywords: Vec<String>,
    /// What people ask for when they need it, at most [`MAX_ASKS_FOR`].
    pub asks_for: Vec<String>,
    /// What it costs, in words.
    pub pricing: String,
    /// The programming language it is used from.
    pub language: String,
}

impl ToolText {
    /// Extracts the searchable text of a card in AutoKit's format: `provider`, `name`, `description`; `class`
    /// as aliases; properties of the JSON Schema in `parameters` (or its items, if it is a list) and keys of
    /// `init_args` as parameters; `module`, `tags` and `kind` as keywords; `asks_for`, `pricing` and
    /// `programming_language`.
    pub fn from_card(id: String, card: &Map<String, Value>) -> ToolText {
        let text = |field: &str| card.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut parameters = card.get("parameters").map(parameter_texts).unwrap_or_default();
        if let Some(Value::Object(arguments)) = card.get("init_args") {
            parameters.extend(arguments.keys().map(|name| (name.clone(), String::new())));
        }
        let mut keywords: Vec<String> =
            [text("module"), text("kind")].into_iter().filter(|text| !text.is_empty()).collect();
        let list = |field: &str| {
            let items = card.get(field).and_then(Value::as_array).into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned)
        };
        keywords.extend(list("tags"));
        ToolText {
            id,
            provider: text("provider"),
            name: text("name"),
            aliases: text("class")
                .split(',')
                .map(str::trim)
                .filter(|c| !c.is_empty())
                .map(str::to_owned)
                .collect(),
            description: text("description"),
            parameters,
            keywords,
            asks_for: list("asks_for").filter(|ask| !ask.trim().is_empty()).take(MAX_ASKS_FOR).collect(),
            pricing: text("pricing"),
            language: text("programming_language"),
        }
    }

    /// Returns the texts to embed as passages: the tool itself ([`Document::dense_text`]), then each phrase of
    /// `asks_for`.
    pub fn passages(&self, vocabulary: &Vocabulary) -> Vec<String> {
        std::iter::once(self.document(None).dense_text(vocabulary))
            .chain(self.asks_for.iter().cloned())
            .collect()
    }

    /// Returns the document to index, with its vectors if there are any.
    pub fn document<'a>(&'a self, vectors: Option<Vectors<'a>>) -> Document<'a> {
        Document {
            id: &self.id,
            provider: &self.provider,
            name: &self.name,
            aliases: self.aliases.iter().map(String::as_str).collect(),
            description: &self.description,
            parameters: self
                .parameters
                .iter()
                .map(|(name, description)| Parameter { name, description })
                .collect(),
            keywords: self.keywords.iter().map(String::as_str).collect(),
            asks_for: self.asks_for.iter().map(String::as_str).collect(),
            pricing: &self.pricing,
            language: &self.language,
            vectors,
        }
    }
}

/// Returns names and descriptions of the parameters in a JSON Schema, or in a list of parameters.
pub fn parameter_texts(parameters: &Value) -> Vec<(String, String)> {
    let text =
        |value: &Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    match parameters {
        Value::Object(schema) => match schema.get("properties") {
            Some(Value::Object(properties)) => properties
                .iter()
                .map(|(name, property)| (name.clone(), text(property, "description")))
                .collect(),
            _ => Vec::new(),
        },
        Value::Array(items) => {
            items.iter().map(|item| (text(item, "name"), text(item, "description"))).collect()
        }
        _ => Vec::new(),
    }
}
