//! Converts argument values in code to JSON.

use serde_json::{Map, Value};
use tree_sitter::Node;

/// Maximum nesting of values; deeper ones become placeholders.
const DEEPEST: usize = 6;

/// The JSON value of an expression. Anything but a literal becomes a placeholder such as `${API_KEY}`, named
/// after the environment variable that is read, or else after the argument.
pub(crate) fn value_of(name: &str, node: Node<'_>, source: &str) -> Value {
    read(node, source, DEEPEST)
        .or_else(|| environment(&source[node.byte_range()]).map(Value::from))
        .unwrap_or_else(|| Value::from(format!("${{{}}}", name.to_uppercase())))
}

/// Suffixes of arguments that select a mode; their values are keywords of the tool, not example data.
const OPTIONS: &[&str] = &["format", "mode", "backend", "engine"];

/// Whether a value selects a mode: `output_format="list"`.
fn is_option(name: &str, value: &str) -> bool {
    let name = name.to_lowercase();
    OPTIONS.iter().any(|option| name.ends_with(option))
        && !value.is_empty()
        && value.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '-'))
}

/// Turns shown arguments into those of a card. Values on a page are examples (`city="Paris"`), which must not
/// become defaults: each becomes a placeholder named after its argument. Values read from the environment
/// keep their variable, modes keep their keyword, and objects keep their structure. Arguments shown as `None`
/// or `null` are left out.
pub fn placeholders(arguments: &Map<String, Value>) -> Map<String, Value> {
    let placeholder = |name: &str, value: &Value| match value {
        Value::Object(inner) if !inner.is_empty() => Value::Object(placeholders(inner)),
        Value::String(text) if text.starts_with("${") && text.ends_with('}') => value.clone(),
        Value::String(text) if is_option(name, text) => value.clone(),
        _ => Value::from(format!("${{{}}}", name.to_uppercase())),
    };
    let given = arguments.iter().filter(|(_, value)| !value.is_null());
    given.map(|(name, value)| (name.clone(), placeholder(name, value))).collect()
}

/// The named arguments of a call.
pub(crate) fn named_arguments(arguments: Node<'_>, source: &str, depth: usize) -> Map<String, Value> {
    let mut found = Map::new();
    let mut cursor = arguments.walk();
    for argument in arguments.named_children(&mut cursor) {
        match argument.kind() {
            "keyword_argument" => pair(argument, "name", "value", source, depth, &mut found),
            // A JavaScript constructor takes its named arguments in an object.
            "object" => object(argument, source, depth, &mut found),
            _ => {}
        }
    }
    found
}

fn object(node: Node<'_>, source: &str, depth: usize, into: &mut Map<String, Value>) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "pair" => pair(child, "key", "value", source, depth, into),
            "shorthand_property_identifier" => {
                let name = &source[child.byte_range()];
                into.insert(name.to_owned(), Value::from(format!("${{{}}}", name.to_uppercase())));
            }
            _ => {}
        }
    }
}

fn pair(node: Node<'_>, key: &str, value: &str, source: &str, depth: usize, into: &mut Map<String, Value>) {
    let (Some(key), Some(value)) = (node.child_by_field_name(key), node.child_by_field_name(value)) else {
        return;
    };
    let name = match text(key, source) {
        Some(text) => text,
        None if matches!(key.kind(), "identifier" | "property_identifier") => {
            source[key.byte_range()].to_owned()
        }
        None => return,
    };
    let value = match depth {
        0 => Value::from(format!("${{{}}}", name.to_uppercase())),
        _ => read(value, source, depth - 1)
            .or_else(|| environment(&source[value.byte_range()]).map(Value::from))
            .unwrap_or_else(|| Value::from(format!("${{{}}}", name.to_uppercase()))),
    };
    into.insert(name, value);
}

fn read(node: Node<'_>, source: &str, depth: usize) -> Option<Value> {
    let text_of_node = &source[node.byte_range()];
    match node.kind() {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "none" | "null" | "undefined" => Some(Value::Null),
        "integer" | "float" | "number" | "unary_operator" | "unary_expression" => {
            serde_json::from_str(&text_of_node.replace('_', "")).ok().filter(Value::is_number)
        }
        "string" => text(node, source).map(Value::from),
        "list" | "array" | "tuple" if depth > 0 => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).map(|child| read(child, source, depth - 1)).collect()
        }
        "dictionary" | "object" if depth > 0 => {
            let mut found = Map::new();
            object(node, source, depth, &mut found);
            Some(Value::Object(found))
        }
        // An object constructed in place becomes its named arguments.
        "call" | "new_expression" if depth > 0 => {
            let arguments = node.child_by_field_name("arguments")?;
            let found = named_arguments(arguments, source, depth - 1);
            let whole = arguments.named_child_count() == found.len() || node.kind() == "new_expression";
            (whole && !found.is_empty() && environment(text_of_node).is_none())
                .then_some(Value::Object(found))
        }
        _ => None,
    }
}

/// The text of a plain string literal; `None` if it is interpolated.
fn text(node: Node<'_>, source: &str) -> Option<String> {
    if node.kind() != "string" {
        return None;
    }
    let mut found = String::new();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "string_content" | "string_fragment" | "escape_sequence" => {
                found.push_str(&source[child.byte_range()]);
            }
            "interpolation" => return None,
            _ => {}
        }
    }
    Some(found)
}

/// Returns `${NAME}` if the code reads an environment variable.
fn environment(code: &str) -> Option<String> {
    let rest = ["environ[", "environ.get(", "getenv(", "process.env.", "process.env["]
        .iter()
        .find_map(|accessor| code.split_once(accessor))?
        .1;
    let name: String = rest
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then(|| format!("${{{name}}}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_examples_become_placeholders() {
        let Value::Object(shown) = json!({
            "api_key": "sk-1234", "token": "${WEATHER_TOKEN}", "city": "Paris", "days": 3, "safe": true, "proxy": null,
            "output_format": "list", "mode": "Paris", "wrapper": { "k": 5, "region": "eu" }, "tags": ["a"],
        }) else {
            unreachable!()
        };
        assert_eq!(
            Value::Object(placeholders(&shown)),
            json!({
                "api_key": "${API_KEY}", "token": "${WEATHER_TOKEN}", "city": "${CITY}", "days": "${DAYS}",
                "safe": "${SAFE}", "output_format": "list", "mode": "${MODE}",
                "wrapper": { "k": "${K}", "region": "${REGION}" }, "tags": "${TAGS}",
            })
        );
    }
}
