//! Validation of cards. Every problem names the field and the reason.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::card::{Kind, fields};

/// Size limits beyond which a card is refused: they protect the store, the index and the window from a record
/// that is really a file.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most characters in a name or provider.
    pub name_chars: usize,
    /// Most bytes in any string.
    pub string_bytes: usize,
    /// Most bytes of the whole card as JSON.
    pub card_bytes: usize,
    /// Deepest nesting of objects and arrays.
    pub depth: usize,
    /// Most phrases of `asks_for` that are searched; further ones are kept.
    pub asks_for: usize,
}

impl Limits {
    /// The limits for every card.
    pub const CARD: Limits =
        Limits { name_chars: 200, string_bytes: 256 << 10, card_bytes: 1 << 20, depth: 64, asks_for: 32 };
}

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The card is refused.
    Error,
    /// The card is accepted, but a person should look at it.
    Warning,
}

/// A problem with a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Problem {
    /// Field name; empty if the problem concerns the whole card.
    pub field: String,
    /// The problem, as the end of a sentence that starts with the field's name.
    pub reason: String,
    /// Whether the card is refused because of it.
    pub severity: Severity,
}

impl Problem {
    /// Creates a problem that causes the card to be refused. The reason is the end of a sentence that starts
    /// with the field.
    pub fn error(field: &str, reason: impl Into<String>) -> Problem {
        Problem { field: field.to_owned(), reason: reason.into(), severity: Severity::Error }
    }

    /// Creates a problem that a person should look at; the card is accepted.
    pub fn warning(field: &str, reason: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(field, reason) }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.field.is_empty() {
            write!(f, "the card {}", self.reason)
        } else {
            write!(f, "`{}` {}", self.field, self.reason)
        }
    }
}

/// Whether a text starts like a web address. Schemes are case-insensitive (RFC 3986, 3.1).
pub fn is_web_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
}

/// Returns all problems of an object as a card, in field order; empty for a valid card.
pub fn check(object: &Map<String, Value>) -> Vec<Problem> {
    let limits = Limits::CARD;
    let mut problems = Vec::new();
    match object.get(fields::NAME) {
        None => problems.push(Problem::error(fields::NAME, "is missing")),
        Some(Value::String(name)) => label(fields::NAME, name, limits, true, &mut problems),
        Some(other) => problems.push(wrong_type(fields::NAME, "a string", other)),
    }
    match object.get(fields::PROVIDER) {
        None | Some(Value::Null) => {}
        Some(Value::String(provider)) => label(fields::PROVIDER, provider, limits, false, &mut problems),
        Some(other) => problems.push(wrong_type(fields::PROVIDER, "a string or null", other)),
    }
    for field in
        [fields::DESCRIPTION, fields::LANGUAGE, fields::MODULE, fields::CLASS, fields::PRICING, fields::USAGE]
    {
        if let Some(value) = object.get(field).filter(|value| !value.is_null() && !value.is_string()) {
            problems.push(wrong_type(field, "a string or null", value));
        }
    }
    if object.get(fields::DESCRIPTION).and_then(Value::as_str).is_none_or(|text| text.trim().is_empty())
        && object.get(fields::DESCRIPTION).is_none_or(|value| value.is_null() || value.is_string())
    {
        problems.push(Problem::warning(fields::DESCRIPTION, "is empty, so search can only find it by name"));
    }
    match object.get(fields::KIND) {
        None | Some(Value::Null) => {}
        Some(Value::String(kind)) if Kind::parse(kind).is_some() => {}
        Some(Value::String(kind)) => {
            problems.push(Problem::warning(
                fields::KIND,
                format!("is {kind:?}, which this version treats as other"),
            ));
        }
        Some(other) => problems.push(wrong_type(fields::KIND, "a string or null", other)),
    }
    if let Some(value) = object.get(fields::INIT_ARGS).filter(|v| !v.is_null() && !v.is_object()) {
        problems.push(wrong_type(fields::INIT_ARGS, "an object or null", value));
    }
    if let Some(value) =
        object.get(fields::PARAMETERS).filter(|v| !v.is_null() && !v.is_object() && !v.is_array())
    {
        problems.push(wrong_type(fields::PARAMETERS, "a JSON Schema, a list or null", value));
    }
    if let Some(value) = object.get(fields::VERIFIED).filter(|v| !v.is_null() && !v.is_boolean()) {
        problems.push(wrong_type(fields::VERIFIED, "true, false or null", value));
    }
    let is_list = |value: &Value| {
        value.is_null() || value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
    };
    for field in [fields::TAGS, fields::SOURCES] {
        if let Some(value) = object.get(field).filter(|value| !is_list(value)) {
            problems.push(wrong_type(field, "a list of strings or null", value));
        }
    }
    // Only warnings: cards that used the names for something else were stored before they meant this.
    if object.get(fields::INSTALL).is_some_and(|value| !value.is_null() && !value.is_string()) {
        problems.push(Problem::warning(fields::INSTALL, "is not shown, because it is not a string"));
    }
    match object.get(fields::ASKS_FOR) {
        Some(value) if !is_list(value) => problems
            .push(Problem::warning(fields::ASKS_FOR, "is not searched, because it is not a list of strings")),
        Some(Value::Array(phrases)) if phrases.len() > limits.asks_for => problems.push(Problem::warning(
            fields::ASKS_FOR,
            format!("has {} phrases; only the first {} are searched", phrases.len(), limits.asks_for),
        )),
        _ => {}
    }
    documentation(object, &mut problems);
    sizes(object, limits, &mut problems);
    problems
}

fn label(field: &str, text: &str, limits: Limits, required: bool, problems: &mut Vec<Problem>) {
    if required && text.trim().is_empty() {
        problems.push(Problem::error(field, "is empty"));
    }
    let chars = text.chars().count();
    if chars > limits.name_chars {
        problems.push(Problem::error(
            field,
            format!("has {chars} characters; the limit is {}", limits.name_chars),
        ));
    }
    if text.chars().any(char::is_control) {
        problems.push(Problem::error(field, "has control characters"));
    }
}

fn documentation(object: &Map<String, Value>, problems: &mut Vec<Problem>) {
    match object.get(fields::DOCUMENTATION) {
        None | Some(Value::Null) => {}
        Some(Value::String(url)) if url.is_empty() || url.starts_with('/') => {}
        Some(Value::String(url)) => {
            // A card's link is opened by a click, so anything but web addresses is refused here.
            let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
            match scheme.as_deref() {
                Some("http" | "https") => {}
                Some(scheme) if !scheme.contains(['/', '.', ' ']) => problems.push(Problem::error(
                    fields::DOCUMENTATION,
                    format!("has the scheme {scheme:?}; only http and https are supported"),
                )),
                _ => problems.push(Problem::warning(fields::DOCUMENTATION, "is not a web address")),
            }
        }
        Some(other) => problems.push(wrong_type(fields::DOCUMENTATION, "a string or null", other)),
    }
}

fn sizes(object: &Map<String, Value>, limits: Limits, problems: &mut Vec<Problem>) {
    let mut total = 2;
    for (field, value) in object {
        let mut size = Size { bytes: field.len() + 4, longest: 0, deepest: 0 };
        size.add(value, 1);
        total += size.bytes;
        if size.longest > limits.string_bytes {
            problems.push(Problem::error(
                field,
                format!("has a text of {} bytes; the limit is {}", size.longest, limits.string_bytes),
            ));
        }
        if size.deepest > limits.depth {
            problems.push(Problem::error(
                field,
                format!("is nested {} levels deep; the limit is {}", size.deepest, limits.depth),
            ));
        }
    }
    if total > limits.card_bytes {
        problems
            .push(Problem::error("", format!("has about {total} bytes; the limit is {}", limits.card_bytes)));
    }
}

struct Size {
    bytes: usize,
    longest: usize,
    deepest: usize,
}

impl Size {
    /// Recursion is safe, because the JSON parser refuses more than 128 levels.
    fn add(&mut self, value: &Value, depth: usize) {
        self.deepest = self.deepest.max(depth);
        match value {
            Value::String(text) => {
                self.bytes += text.len() + 2;
                self.longest = self.longest.max(text.len());
            }
            Value::Array(items) => items.iter().for_each(|item| {
                self.bytes += 1;
                self.add(item, depth + 1);
            }),
            Value::Object(map) => map.iter().for_each(|(key, item)| {
                self.bytes += key.len() + 4;
                self.longest = self.longest.max(key.len());
                self.add(item, depth + 1);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.bytes += 8,
        }
    }
}

fn wrong_type(field: &str, expected: &str, found: &Value) -> Problem {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Problem::error(field, format!("is {found}; it must be {expected}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(value: Value) -> Vec<String> {
        let Value::Object(object) = value else { panic!("an object") };
        check(&object).into_iter().filter(|p| p.severity == Severity::Error).map(|p| p.to_string()).collect()
    }

    #[test]
    fn names_the_field_and_the_reason() {
        assert_eq!(errors(json!({"name": 3})), ["`name` is a number; it must be a string"]);
        assert_eq!(errors(json!({"description": "x"})), ["`name` is missing"]);
        assert_eq!(errors(json!({"name": " "})), ["`name` is empty"]);
        assert_eq!(
            errors(json!({"name": "a", "init_args": [1], "verified": "yes"})),
            [
                "`init_args` is a list; it must be an object or null",
                "`verified` is a string; it must be true, false or null"
            ]
        );
    }

    #[test]
    fn phrases_that_are_not_searched_are_named() {
        let warnings = |value: Value| {
            let card = json!({"name": "a", "description": "b", "asks_for": value});
            let Value::Object(object) = card else { panic!("an object") };
            check(&object).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(warnings(json!(null)).is_empty() && warnings(json!(vec!["x"; 32])).is_empty());
        assert_eq!(
            warnings(json!(vec!["x"; 33])),
            ["`asks_for` has 33 phrases; only the first 32 are searched"]
        );
        for other in [json!("x"), json!(["x", 1]), json!({"x": 1})] {
            assert_eq!(warnings(other), ["`asks_for` is not searched, because it is not a list of strings"]);
        }
    }

    #[test]
    fn addresses_in_capitals_are_addresses() {
        assert!(is_web_address("HTTPS://Docs.Example.ORG/x") && is_web_address("http://x"));
        assert!(!is_web_address("ftp://x") && !is_web_address("httpx.md") && !is_web_address("https"));
    }

    #[test]
    fn links_that_are_not_the_web_are_refused() {
        assert_eq!(errors(json!({"name": "a", "documentation": "javascript:alert(1)"})).len(), 1);
        assert!(errors(json!({"name": "a", "documentation": "/docs/x"})).is_empty());
        assert!(errors(json!({"name": "a", "documentation": "HTTPS://x.y/z"})).is_empty());
        assert!(errors(json!({"name": "a", "documentation": "docs.example.org:80/x"})).is_empty());
    }

    #[test]
    fn large_and_deep_fields_are_refused_by_name() {
        let ten_megabytes = "x".repeat(10 << 20);
        let found = errors(json!({"name": "a", "description": ten_megabytes}));
        assert!(found[0].starts_with("`description` has a text of 10485760 bytes"), "{found:?}");
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert!(errors(json!({"name": "a", "x": deep}))[0].contains("levels deep"));
    }
}
