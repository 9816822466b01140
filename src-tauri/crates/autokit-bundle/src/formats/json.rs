//! Parses JSON one level at a time, so that a single entry can be rejected on its own and a duplicate key
//! stays visible.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The entries of an object in file order, with unparsed values.
pub(super) struct Entries<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'a> Entries<'a> {
    /// The value of a key; the first one if the key is repeated.
    pub(super) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// The value of a key, if it is an object.
    pub(super) fn object(&self, key: &str) -> Option<Entries<'a>> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// The elements of a key's value, if it is a list.
    pub(super) fn list(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = access.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Pairs).map(Entries)
    }
}

/// The JSON type of a text, for a message.
pub(super) fn type_name(text: &str) -> &'static str {
    match text.trim_start().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        Some(_) => "a number",
        None => "nothing",
    }
}

/// The text of the first of these keys that has one; `null` and other types do not count.
pub(super) fn text<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| object.get(*key)?.as_str()).filter(|text| !text.trim().is_empty())
}

/// The list under the first of these keys that has one, or nothing.
pub(super) fn list<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> &'a [Value] {
    keys.iter().find_map(|key| object.get(*key)?.as_array()).map_or(&[], Vec::as_slice)
}

/// The boolean under the first of these keys that has one, or `false`.
pub(super) fn flag(object: &Map<String, Value>, keys: &[&str]) -> bool {
    keys.iter().find_map(|key| object.get(*key)?.as_bool()).unwrap_or(false)
}
