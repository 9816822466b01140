//! The card: a JSON object kept as written, with typed accessors.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::identity::CardKey;
use crate::validate::{Problem, Severity, check};

/// Names of the fields that AutoKit interprets. All other fields are kept and ignored.
pub mod fields {
    /// The tool's name; together with [`PROVIDER`] its identity.
    pub const NAME: &str = "name";
    /// Who offers the tool: a vendor, a package, an MCP server. The original format has no such field.
    pub const PROVIDER: &str = "provider";
    /// Description of what the tool does, in prose.
    pub const DESCRIPTION: &str = "description";
    /// What people ask for when they need the tool, in their words: a list of phrases. Requests are compared with
    /// each of them.
    pub const ASKS_FOR: &str = "asks_for";
    /// Programming language of the stub, e.g. `python`.
    pub const LANGUAGE: &str = "programming_language";
    /// Module or package to import from.
    pub const MODULE: &str = "module";
    /// Class or function to import.
    pub const CLASS: &str = "class";
    /// Constructor arguments with placeholder values.
    pub const INIT_ARGS: &str = "init_args";
    /// OpenAPI document or its URL.
    pub const OPENAPI: &str = "openapi";
    /// Pricing, in words.
    pub const PRICING: &str = "pricing";
    /// URL of the documentation page.
    pub const DOCUMENTATION: &str = "documentation";
    /// Whether FUEL has verified the card against its page.
    pub const VERIFIED: &str = "verified";
    /// Kind of tool, see [`Kind`](super::Kind).
    pub const KIND: &str = "kind";
    /// JSON Schema of the call's arguments.
    pub const PARAMETERS: &str = "parameters";
    /// JSON Schema of what a call returns.
    pub const RETURNS: &str = "returns";
    /// Free labels.
    pub const TAGS: &str = "tags";
    /// One or two lines that call the tool, for tools that are not a class.
    pub const USAGE: &str = "usage";
    /// The command that installs what the tool needs, e.g. `pip install langchain-tavily`. It is shown, never run.
    pub const INSTALL: &str = "install";
    /// Sources of the facts on the card (URLs or words).
    pub const SOURCES: &str = "sources";
    /// Code of the tool itself, which AutoKit runs in its sandbox. It is written by machines, and so not one of
    /// [`ALL`].
    pub const FUNCTION: &str = "function";
    /// A request to a web API, which AutoKit sends.
    pub const CALL: &str = "call";
    /// A tool of an MCP server, which AutoKit calls.
    pub const UPSTREAM: &str = "upstream";
    /// Calls of other tools, which AutoKit makes in turn.
    pub const MACRO: &str = "macro";

    /// The fields that store a call, one per kind of tool that AutoKit calls.
    pub const CALLS: [&str; 4] = [UPSTREAM, CALL, MACRO, FUNCTION];

    /// All fields in reading order.
    pub const ALL: [&str; 19] = [
        NAME,
        PROVIDER,
        KIND,
        DESCRIPTION,
        ASKS_FOR,
        LANGUAGE,
        MODULE,
        CLASS,
        INIT_ARGS,
        PARAMETERS,
        RETURNS,
        INSTALL,
        USAGE,
        OPENAPI,
        PRICING,
        DOCUMENTATION,
        TAGS,
        SOURCES,
        VERIFIED,
    ];
}

/// Kind of tool that a card describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A class to import and construct (the original AutoKit card).
    Class,
    /// One operation of a REST API.
    RestOperation,
    /// A tool of an MCP server.
    McpTool,
    /// A command-line program.
    Cli,
    /// Anything else.
    Other,
}

impl Kind {
    /// Every kind, in display order.
    pub const ALL: [Kind; 5] = [Kind::Class, Kind::RestOperation, Kind::McpTool, Kind::Cli, Kind::Other];

    /// Returns the name used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Class => "class",
            Kind::RestOperation => "rest_operation",
            Kind::McpTool => "mcp_tool",
            Kind::Cli => "cli",
            Kind::Other => "other",
        }
    }

    /// Parses the name used in files.
    pub fn parse(text: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A card that passed [`check`]. The object is kept exactly as it was read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Toolcard {
    object: Map<String, Value>,
}

impl Toolcard {
    /// Validates an object as a card.
    ///
    /// # Errors
    /// Returns every problem of severity [`Severity::Error`], in field order.
    pub fn new(object: Map<String, Value>) -> Result<Toolcard, Vec<Problem>> {
        let mut problems = check(&object);
        problems.retain(|problem| problem.severity == Severity::Error);
        if problems.is_empty() { Ok(Toolcard { object }) } else { Err(problems) }
    }

    /// Parses and validates the JSON text of a card.
    ///
    /// # Errors
    /// As [`Toolcard::new`]; text that is not a JSON object is a problem of the whole card.
    pub fn from_json(text: &str) -> Result<Toolcard, Vec<Problem>> {
        Toolcard::new(parse(text).map_err(|problem| vec![problem])?)
    }

    /// Parses the JSON text of a card that was valid when it was stored. Only what identifies a card is
    /// required, so that a library opens although this version has stricter rules than the one that wrote it.
    ///
    /// # Errors
    /// When the text is not a JSON object, or the card has no name.
    pub fn from_stored(text: &str) -> Result<Toolcard, Problem> {
        let card = Toolcard { object: parse(text)? };
        if card.name().trim().is_empty() { Err(Problem::error(fields::NAME, "is missing")) } else { Ok(card) }
    }

    /// Returns the card as compact JSON, which is byte-identical for equal cards.
    pub fn to_json(&self) -> String {
        Value::Object(self.object.clone()).to_string()
    }

    /// Returns the object as read.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }

    /// Unwraps the object.
    pub fn into_object(self) -> Map<String, Value> {
        self.object
    }

    /// Returns the card's identity.
    pub fn key(&self) -> CardKey {
        CardKey::new(self.text(fields::PROVIDER).unwrap_or(""), self.name())
    }

    /// Returns the text of a string field; `None` if it is missing, `null` or not a string.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.object.get(field)?.as_str()
    }

    /// Returns the tool's name, which is never empty.
    pub fn name(&self) -> &str {
        self.text(fields::NAME).unwrap_or("")
    }

    /// Returns the card under another name.
    #[must_use]
    pub fn renamed(&self, name: &str) -> Toolcard {
        let mut object = self.object.clone();
        object.insert(fields::NAME.to_owned(), name.into());
        Toolcard { object }
    }

    /// Returns the description, or an empty string.
    pub fn description(&self) -> &str {
        self.text(fields::DESCRIPTION).unwrap_or("")
    }

    /// Whether the card is marked as verified.
    pub fn verified(&self) -> bool {
        self.object.get(fields::VERIFIED).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns the kind of tool: as written on the card, else inferred from the fields that are filled in.
    pub fn kind(&self) -> Kind {
        if let Some(kind) = self.text(fields::KIND).and_then(Kind::parse) {
            return kind;
        }
        let filled = |field| self.object.get(field).is_some_and(|v: &Value| !v.is_null());
        if filled(fields::CLASS) || filled(fields::MODULE) {
            Kind::Class
        } else if filled(fields::OPENAPI) {
            Kind::RestOperation
        } else {
            Kind::Other
        }
    }

    /// Returns whether the card stores a call, so that AutoKit can make it. Whether it may and its server is connected is
    /// decided when it does.
    pub fn has_call(&self) -> bool {
        fields::CALLS.iter().any(|field| self.object.get(*field).is_some_and(Value::is_object))
    }

    /// Iterates over the card's tags.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.strings(fields::TAGS)
    }

    /// Iterates over what people ask for when they need the tool.
    pub fn asks_for(&self) -> impl Iterator<Item = &str> {
        self.strings(fields::ASKS_FOR).filter(|ask| !ask.trim().is_empty())
    }

    /// Iterates over the strings of a list.
    fn strings(&self, field: &str) -> impl Iterator<Item = &str> {
        self.object.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }
}

fn parse(text: &str) -> Result<Map<String, Value>, Problem> {
    serde_json::from_str(text).map_err(|error| Problem::error("", format!("is not a JSON object: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(json: &str) -> Toolcard {
        Toolcard::from_json(json).expect("a valid card")
    }

    #[test]
    fn keeps_unknown_fields_order_and_null() {
        let text =
            r#"{"zeta":1,"name":"A","init_args":{"b":"2","a":null},"openapi":null,"alpha":[1.5,{"k":"v"}]}"#;
        assert_eq!(card(text).to_json(), text);
    }

    #[test]
    fn a_stored_card_needs_only_a_name() {
        for text in [r#"{"name":"A","verified":"yes"}"#, r#"{"name":"A","documentation":7}"#] {
            assert!(Toolcard::from_json(text).is_err(), "{text}");
            assert_eq!(Toolcard::from_stored(text).expect("a card").to_json(), text);
        }
        for text in ["", "[]", "{}", r#"{"name":" "}"#, r#"{"name":7}"#] {
            assert!(Toolcard::from_stored(text).is_err(), "{text}");
        }
    }

    #[test]
    fn kind_is_written_or_inferred() {
        assert_eq!(card(r#"{"name":"A","class":"B"}"#).kind(), Kind::Class);
        assert_eq!(card(r#"{"name":"A","openapi":"https://a.b/c.json"}"#).kind(), Kind::RestOperation);
        assert_eq!(card(r#"{"name":"A","class":"B","kind":"cli"}"#).kind(), Kind::Cli);
        assert_eq!(card(r#"{"name":"A"}"#).kind(), Kind::Other);
    }
}
