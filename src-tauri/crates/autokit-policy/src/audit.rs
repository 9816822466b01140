//! Arguments for the audit log, with secrets redacted and long values shortened.

use serde_json::{Map, Value};

/// Most characters of a text that are kept.
const TEXT: usize = 200;
/// Most items of a list, and fields of an object, that are kept.
const ITEMS: usize = 20;
/// Maximum depth of nested objects and lists that is kept.
const DEPTH: usize = 8;
/// Most bytes of a text that is parsed as JSON.
const JSON: usize = 20_000;
/// Placeholder for a secret.
pub const REDACTED: &str = "(redacted)";

/// Returns the arguments of a call for the audit log.
///
/// A value is redacted if the schema marks it as secret (`writeOnly`, `format: password`), or if
/// `is_secret` says so of its name and text. Long texts, lists and objects are shortened, with a mark that
/// says so.
pub fn redacted(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
    is_secret: &dyn Fn(&str, &str) -> bool,
) -> Value {
    let root = Value::Object(schema.clone());
    Redaction { root: &root, is_secret }.object(Some(&root), &[], arguments, DEPTH)
}

struct Redaction<'a> {
    root: &'a Value,
    is_secret: &'a dyn Fn(&str, &str) -> bool,
}

impl<'a> Redaction<'a> {
    fn object(
        &self,
        schema: Option<&'a Value>,
        under: &[&str],
        map: &Map<String, Value>,
        depth: usize,
    ) -> Value {
        // {"name": "X-Api-Key", "value": …}
        let named_by = ["name", "key", "header", "variable"].iter().find_map(|name| map.get(*name)?.as_str());
        let mut kept = Map::new();
        for (name, value) in map.iter().take(ITEMS) {
            let effective_name = if name == "value" { named_by.unwrap_or(name) } else { name };
            let names = [under, &[effective_name]].concat();
            let shown = if (self.is_secret)("", scanned_prefix(name)) {
                REDACTED.to_owned()
            } else {
                shortened(name)
            };
            kept.insert(shown, self.value(self.property(schema, name), &names, value, depth));
        }
        if map.len() > ITEMS {
            kept.insert("…".to_owned(), format!("{} more", map.len() - ITEMS).into());
        }
        Value::Object(kept)
    }

    /// Returns whether a text is secret by its looks, or by any of the names it belongs to.
    fn looks_secret(&self, names: &[&str], text: &str) -> bool {
        let text = scanned_prefix(text);
        // --token=X
        let option = text.split_once('=').filter(|(name, _)| name.starts_with('-'));
        names.iter().any(|name| (self.is_secret)(name, text))
            || option.is_some_and(|(name, value)| (self.is_secret)(name, value))
    }

    fn value(&self, schema: Option<&'a Value>, names: &[&str], value: &Value, depth: usize) -> Value {
        if value.is_null() || value.is_boolean() {
            return value.clone();
        }
        if schema.is_some_and(|schema| self.is_marked_secret(schema, DEPTH)) {
            return REDACTED.into();
        }
        match value {
            Value::String(text) => match embedded_json(text).filter(|_| depth > 0) {
                // A JSON value in a text.
                Some(inner) => {
                    let kept = self.value(None, names, &inner, depth - 1);
                    if kept == inner { shortened(text).into() } else { shortened(&kept.to_string()).into() }
                }
                None if self.looks_secret(names, text) => REDACTED.into(),
                None => shortened(text).into(),
            },
            Value::Number(number) if self.looks_secret(names, &number.to_string()) => REDACTED.into(),
            Value::Array(_) | Value::Object(_) if depth == 0 => "…".into(),
            Value::Array(items) => {
                let schema = schema.and_then(|schema| self.resolve(schema).get("items"));
                let (mut kept, mut before): (Vec<Value>, _) = (Vec::new(), "");
                for item in items.iter().take(ITEMS) {
                    // ["--password", "X"]: an option names the text after it.
                    let option = before.starts_with('-') && !before.contains('=');
                    let names = if option { [names, &[before]].concat() } else { names.to_vec() };
                    kept.push(self.value(schema, &names, item, depth - 1));
                    before = item.as_str().unwrap_or_default();
                }
                if items.len() > ITEMS {
                    kept.push(format!("… {} more", items.len() - ITEMS).into());
                }
                kept.into()
            }
            Value::Object(map) => self.object(schema, names, map, depth - 1),
            Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
        }
    }

    /// Returns the schema of a property; of several alternatives, the first that has the property.
    fn property(&self, schema: Option<&'a Value>, name: &str) -> Option<&'a Value> {
        self.property_within(schema?, name, DEPTH)
    }

    fn property_within(&self, schema: &'a Value, name: &str, depth: usize) -> Option<&'a Value> {
        let schema = self.resolve(schema);
        if let Some(found) = schema.get("properties").and_then(|all| all.get(name)) {
            return Some(found);
        }
        let more = depth.checked_sub(1)?;
        let parts = ["allOf", "oneOf", "anyOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
        let within = parts.flatten().find_map(|part| self.property_within(part, name, more));
        within.or_else(|| schema.get("additionalProperties").filter(|schema| schema.is_object()))
    }

    fn is_marked_secret(&self, schema: &'a Value, depth: usize) -> bool {
        let schema = self.resolve(schema);
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        if schema.get("writeOnly") == Some(&Value::Bool(true)) || text("format") == Some("password") {
            return true;
        }
        let Some(more) = depth.checked_sub(1) else { return false };
        let mut parts = ["allOf", "oneOf", "anyOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
        parts.any(|parts| parts.iter().any(|part| self.is_marked_secret(part, more)))
    }

    /// Follows references within the schema, up to a maximum depth in case they are circular.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let mut at = schema;
        for _ in 0..DEPTH {
            let Some(pointer) = at.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'))
            else {
                return at;
            };
            let Some(next) = self.root.pointer(pointer) else { return at };
            at = next;
        }
        at
    }
}

/// Parses a text that is a JSON object or list, unless it is long.
fn embedded_json(text: &str) -> Option<Value> {
    let start = text.trim_start().starts_with(['{', '[']);
    let value: Value = (start && text.len() <= JSON).then(|| serde_json::from_str(text).ok())??;
    (value.is_object() || value.is_array()).then_some(value)
}

/// Returns the part of a text that is searched for secrets: more than is kept, so that no secret is missed
/// because it was cut in two, but not all of a long text.
fn scanned_prefix(text: &str) -> &str {
    let end = text.char_indices().nth(TEXT * 4).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn shortened(text: &str) -> String {
    let all = text.chars().count();
    if all <= TEXT {
        return text.to_owned();
    }
    let start: String = text.chars().take(TEXT).collect();
    format!("{start}… ({all} characters)")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn audit(schema: &Value, arguments: &Value) -> Value {
        let object = |value: &Value| value.as_object().cloned().expect("an object");
        let by_name = |name: &str, text: &str| name == "api_key" || text.starts_with("sk-");
        redacted(&object(schema), &object(arguments), &by_name)
    }

    #[test]
    fn values_marked_secret_in_the_schema_are_redacted() {
        let schema = json!({
            "type": "object",
            "properties": {
                "user": {"type": "string"},
                "pin": {"type": "integer", "writeOnly": true},
                "word": {"$ref": "#/$defs/Word"},
                "login": {"allOf": [{"type": "object"}, {"properties": {"pass": {"format": "password"}}}]},
                "many": {"type": "array", "items": {"properties": {"key": {"anyOf": [{"writeOnly": true}]}}}},
                "loop": {"$ref": "#/properties/loop"}
            },
            "$defs": {"Word": {"type": "string", "format": "password"}}
        });
        let given = json!({
            "user": "me", "pin": 1234, "word": "w", "login": {"name": "n", "pass": "p"},
            "many": [{"key": "k", "n": 1}], "loop": {"x": 1}
        });
        assert_eq!(
            audit(&schema, &given),
            json!({
                "user": "me", "pin": REDACTED, "word": REDACTED, "login": {"name": "n", "pass": REDACTED},
                "many": [{"key": REDACTED, "n": 1}], "loop": {"x": 1}
            })
        );
    }

    #[test]
    fn values_that_look_secret_are_redacted_without_a_schema() {
        let given = json!({"api_key": "abc", "deep": [{"note": "sk-1"}], "flag": true, "none": null});
        let kept = json!({"api_key": REDACTED, "deep": [{"note": REDACTED}], "flag": true, "none": null});
        assert_eq!(audit(&json!({}), &given), kept);
    }

    #[test]
    fn secrets_are_found_where_arguments_carry_them() {
        let given = json!({
            "headers": [{"name": "api_key", "value": "abc"}, {"name": "Accept", "value": "text"}],
            "args": ["--verbose", "--api_key", "abc", "--api_key=abc", "--out=file"],
            "api_key": {"deep": ["abc"], "number": 7},
            "body": "{\"api_key\": \"abc\", \"q\": 1}",
            "note": "{not json",
            "sk-as-a-name": 1
        });
        // By name alone, as the strictest `is_secret` does.
        let object = given.as_object().expect("an object");
        let judge = |name: &str, text: &str| name.ends_with("api_key") || text.starts_with("sk-");
        let kept = redacted(&Map::new(), object, &judge);
        assert_eq!(
            kept,
            json!({
                "headers": [{"name": "api_key", "value": REDACTED}, {"name": "Accept", "value": "text"}],
                "args": ["--verbose", "--api_key", REDACTED, REDACTED, "--out=file"],
                "api_key": {"deep": [REDACTED], "number": REDACTED},
                "body": "{\"api_key\":\"(redacted)\",\"q\":1}",
                "note": "{not json",
                "(redacted)": 1
            })
        );
    }

    #[test]
    fn long_values_are_shortened_with_a_note() {
        let mut deep = json!("end");
        for _ in 0..20 {
            deep = json!([deep]);
        }
        let given = json!({"text": "x".repeat(1_000), "list": vec![1; 50], "deep": deep});
        let kept = audit(&json!({}), &given);
        assert!(kept["text"].as_str().is_some_and(|text| text.ends_with("… (1000 characters)")));
        assert_eq!(
            (kept["list"].as_array().map(Vec::len), &kept["list"][20]),
            (Some(21), &json!("… 30 more"))
        );
        assert!(kept.to_string().len() < 600, "{kept}");
        let many: Map<String, Value> = (0..30).map(|n| (format!("n{n:02}"), json!(n))).collect();
        assert_eq!(audit(&json!({}), &Value::Object(many))["…"], json!("10 more"));
    }
}
