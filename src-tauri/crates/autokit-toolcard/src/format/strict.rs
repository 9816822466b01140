//! Strict parsing of JSON objects: a repeated key, or a number that cannot be represented exactly, is refused
//! instead of being changed silently.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Parses one object.
///
/// # Errors
/// Returns the reason, as the end of a sentence that starts with "the card".
pub(super) fn object(text: &str) -> Result<Map<String, Value>, String> {
    match value(text)? {
        Value::Object(object) => Ok(object),
        Value::Null => Err("is null; a card is an object".into()),
        Value::Bool(_) => Err("is true or false; a card is an object".into()),
        Value::Number(_) => Err("is a number; a card is an object".into()),
        Value::String(_) => Err("is a string; a card is an object".into()),
        Value::Array(_) => Err("is a list; a card is an object".into()),
    }
}

/// Parses one value of any type.
///
/// # Errors
/// As [`object`].
pub(super) fn value(text: &str) -> Result<Value, String> {
    if let Some(number) = text_numbers(text).find(|number| !is_exact(number)) {
        return Err(format!("has the number {number}, which needs more than 64 bits"));
    }
    let Strict(value) = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        // The position is relative to the card and would be misleading.
        let reason = message.split(" at line ").next().unwrap_or(&message);
        if reason.starts_with("has the key") {
            reason.to_owned()
        } else {
            format!("cannot be read: {reason}")
        }
    })?;
    Ok(value)
}

/// Whether a number is kept exactly: integers must fit into 64 bits; fractions are doubles, as in JSON
/// readers everywhere.
fn is_exact(number: &str) -> bool {
    if number.contains(['.', 'e', 'E']) {
        number.parse::<f64>().is_ok_and(f64::is_finite)
    } else {
        number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()
    }
}

/// Iterates over the number tokens of valid JSON text.
fn text_numbers(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            match bytes[at] {
                b'"' => {
                    at += 1;
                    while at < bytes.len() && bytes[at] != b'"' {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                    at += 1;
                }
                b'-' | b'0'..=b'9' => {
                    let start = at;
                    while at < bytes.len()
                        && matches!(bytes[at], b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
                    {
                        at += 1;
                    }
                    return Some(&text[start..at]);
                }
                _ => at += 1,
            }
        }
        None
    })
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let Strict(value) = access.next_value()?;
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("has the key {key:?} twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
