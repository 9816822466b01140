//! Converts schemas of the document into self-contained JSON Schema 2020-12.
//!
//! References are replaced by their targets. A schema that refers to itself is put under `$defs` once; if
//! inlining would make a card too large, so is every referenced schema.

use std::collections::{BTreeSet, HashSet, VecDeque};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::document::{Dialect, Document, RefError};
use super::keywords::{self, Shape};
use super::loops;

/// How much of a schema is inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// References are inlined, except circular ones.
    Inline,
    /// Every referenced schema is put under `$defs` once.
    Shared,
    /// Like [`Detail::Shared`], without descriptions and examples.
    Bare,
}

impl Detail {
    /// Maximum number of schemas in a card. Inlined schemas are read by people and models, who are better
    /// served by names past a few thousand; more than the second limit do not fit on a card.
    fn max_schemas(self) -> usize {
        if self == Detail::Inline { 4_000 } else { 30_000 }
    }

    /// Maximum nesting of schemas. The first limit is below what a card may nest, the second above what a
    /// document can.
    fn max_depth(self) -> usize {
        if self == Detail::Inline { 24 } else { 160 }
    }
}

/// Why a schema could not be converted, as the end of a sentence whose subject is the holder of the schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SchemaError {
    #[error(transparent)]
    Reference(#[from] RefError),
    /// It exceeds the limits of [`Detail`].
    #[error("has a schema that grows too large or too deep when its references are followed")]
    TooLarge,
    /// Earlier operations used up the work allowed for a document.
    #[error("comes after operations with too many repeated schemas; split the document")]
    Exhausted,
    #[error("has a schema with {0}, which cards do not support")]
    Unsupported(&'static str),
}

impl SchemaError {
    /// The error for the holder of the schema; `holder` is a sentence up to "that".
    pub(super) fn within(self, holder: &str) -> ConvertError {
        match self {
            SchemaError::TooLarge => ConvertError::TooLarge,
            SchemaError::Exhausted => ConvertError::Other(self.to_string()),
            other => ConvertError::Other(format!("{holder} {other}")),
        }
    }
}

/// Why an operation does not become a card.
#[derive(Debug)]
pub(super) enum ConvertError {
    /// It may fit with less [`Detail`].
    TooLarge,
    /// The reason, as the end of a sentence.
    Other(String),
}

impl From<String> for ConvertError {
    fn from(reason: String) -> ConvertError {
        ConvertError::Other(reason)
    }
}

/// Collects the schemas of a card.
pub(super) struct Schemas<'d> {
    document: &'d Document,
    detail: Detail,
    count: usize,
    /// Name under `$defs`, by JSON pointer into the document.
    names: IndexMap<String, String>,
    taken: HashSet<String>,
    waiting: VecDeque<(String, String)>,
    notes: BTreeSet<String>,
}

impl<'d> Schemas<'d> {
    pub(super) fn new(document: &'d Document, detail: Detail) -> Schemas<'d> {
        Schemas {
            document,
            detail,
            count: 0,
            names: IndexMap::new(),
            taken: HashSet::new(),
            waiting: VecDeque::new(),
            notes: BTreeSet::new(),
        }
    }

    /// Converts a schema.
    pub(super) fn add(&mut self, schema: &Value) -> Result<Value, SchemaError> {
        self.convert(schema, 0)
    }

    /// The entries of `$defs` that were referred to, and notes about what was left out.
    pub(super) fn finish(mut self) -> Result<(Map<String, Value>, Vec<String>), SchemaError> {
        let mut defs = Map::new();
        while let Some((pointer, name)) = self.waiting.pop_front() {
            let target = self.document.at(&pointer)?;
            let schema = self.convert(target, 0)?;
            defs.insert(name, schema);
        }
        for name in loops::break_circles(&mut defs).ok_or(SchemaError::TooLarge)? {
            self.notes.insert(format!("omits a reference to {name} that refers back to itself"));
        }
        Ok((defs, self.notes.into_iter().collect()))
    }

    fn convert(&mut self, schema: &Value, depth: usize) -> Result<Value, SchemaError> {
        if !self.document.may_convert() {
            return Err(SchemaError::Exhausted);
        }
        self.count += 1;
        if self.count > self.detail.max_schemas() || depth > self.detail.max_depth() {
            return Err(SchemaError::TooLarge);
        }
        match schema {
            Value::Bool(_) => Ok(schema.clone()),
            Value::Object(map) => match map.get("$ref") {
                Some(Value::String(reference)) => self.reference(reference, map, depth),
                _ => self.keywords(map, depth),
            },
            _ => {
                self.notes.insert("omits a schema that is neither an object nor true or false".to_owned());
                Ok(Value::Bool(true))
            }
        }
    }

    fn reference(
        &mut self,
        reference: &str,
        map: &Map<String, Value>,
        depth: usize,
    ) -> Result<Value, SchemaError> {
        let pointer = self.document.pointer(reference)?;
        let target = self.document.at(&pointer)?;
        // OpenAPI 3.0, Reference Object: keywords beside a reference are ignored.
        let siblings = if self.document.dialect == Dialect::V30 || map.len() == 1 {
            Map::new()
        } else {
            match self.keywords(map, depth + 1)? {
                Value::Object(siblings) => siblings,
                _ => Map::new(),
            }
        };
        if self.detail != Detail::Inline || self.document.circular(&pointer) {
            let mut out = Map::new();
            out.insert("$ref".to_owned(), format!("#/$defs/{}", self.name(&pointer)).into());
            out.extend(siblings);
            return Ok(Value::Object(out));
        }
        match self.convert(target, depth + 1)? {
            out if siblings.is_empty() => Ok(out),
            Value::Object(mut out) if siblings.keys().all(|key| keywords::describes(key)) => {
                out.extend(siblings);
                Ok(Value::Object(out))
            }
            out => {
                let mut both = Map::new();
                let mut all = vec![out];
                for (key, value) in siblings {
                    match (key.as_str(), value) {
                        ("allOf", Value::Array(items)) => all.extend(items),
                        (_, value) => {
                            both.insert(key, value);
                        }
                    }
                }
                both.insert("allOf".to_owned(), all.into());
                Ok(Value::Object(both))
            }
        }
    }

    fn name(&mut self, pointer: &str) -> String {
        if let Some(name) = self.names.get(pointer) {
            return name.clone();
        }
        let last = pointer.rsplit('/').next().unwrap_or(pointer);
        let last = last.replace("~1", "_").replace("~0", "_");
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let base: String = last.chars().map(|c| if plain(c) { c } else { '_' }).collect();
        let base = if base.is_empty() { "Schema".to_owned() } else { base };
        let mut name = base.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        self.names.insert(pointer.to_owned(), name.clone());
        self.waiting.push_back((pointer.to_owned(), name.clone()));
        name
    }

    fn keywords(&mut self, map: &Map<String, Value>, depth: usize) -> Result<Value, SchemaError> {
        if map.contains_key("$dynamicRef") || map.contains_key("$recursiveRef") {
            return Err(SchemaError::Unsupported("$dynamicRef"));
        }
        if self.document.dialect == Dialect::V31 && map.get("$id").is_some_and(Value::is_string) {
            // References within it would be relative to that name.
            return Err(SchemaError::Unsupported("a name of its own ($id)"));
        }
        let mut out = Map::new();
        for (key, value) in map {
            let kept = match keywords::shape(key) {
                Shape::Dropped => continue,
                Shape::Description if self.detail == Detail::Bare => continue,
                Shape::Schema => match value {
                    Value::Object(_) | Value::Bool(_) => Some(self.convert(value, depth + 1)?),
                    _ => None,
                },
                Shape::Schemas => match value {
                    Value::Array(items) if !items.is_empty() => Some(self.list(items, depth)?),
                    _ => None,
                },
                Shape::NamedSchemas => match value {
                    Value::Object(named) => {
                        let mut converted = Map::new();
                        for (name, schema) in named {
                            converted.insert(name.clone(), self.convert(schema, depth + 1)?);
                        }
                        Some(Value::Object(converted))
                    }
                    _ => None,
                },
                Shape::Legacy => self.convert_legacy(key, value, map, &mut out),
                Shape::Plain(valid) => valid(value).then(|| value.clone()),
                Shape::Description | Shape::Unknown => Some(value.clone()),
            };
            match kept {
                Some(Value::Null) if keywords::shape(key) == Shape::Legacy => {}
                Some(kept) => {
                    out.insert(key.clone(), kept);
                }
                None => {
                    self.notes.insert(format!("omits `{key}` in a schema, whose value is not valid"));
                }
            }
        }
        self.drop_read_only_required(map, &mut out);
        Ok(if self.document.dialect == Dialect::V30 && map.get("nullable") == Some(&Value::Bool(true)) {
            nullable(out)
        } else {
            Value::Object(out)
        })
    }

    fn list(&mut self, items: &[Value], depth: usize) -> Result<Value, SchemaError> {
        let converted: Result<Vec<Value>, _> =
            items.iter().map(|item| self.convert(item, depth + 1)).collect();
        Ok(converted?.into())
    }

    /// Converts keywords that 3.0 writes differently. Returns the new value of the keyword itself, null to
    /// remove it, or `None` when the value is invalid.
    fn convert_legacy(
        &self,
        key: &str,
        value: &Value,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Option<Value> {
        match (key, value) {
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(exclusive)) => {
                let bound = if key == "exclusiveMinimum" { "minimum" } else { "maximum" };
                match map.get(bound).filter(|bound| bound.is_number()) {
                    Some(limit) if *exclusive => Some(limit.clone()),
                    _ => Some(Value::Null),
                }
            }
            ("minimum" | "maximum", Value::Number(_)) => {
                let other = if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
                // Written as the exclusive bound instead, whichever comes first in the document.
                let replaced = map.get(other) == Some(&Value::Bool(true));
                Some(if replaced { Value::Null } else { value.clone() })
            }
            ("nullable", Value::Bool(_)) => Some(Value::Null),
            ("example", _) => {
                if self.detail != Detail::Bare && !map.contains_key("examples") {
                    out.insert("examples".to_owned(), json!([value]));
                }
                Some(Value::Null)
            }
            ("examples", _) if self.detail == Detail::Bare => Some(Value::Null),
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) | ("examples", Value::Array(_)) => {
                Some(value.clone())
            }
            _ => None,
        }
    }

    /// Properties that a server only returns are not required in a request (OpenAPI 3, `readOnly`).
    fn drop_read_only_required(&self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let Some(properties) = map.get("properties").and_then(Value::as_object) else { return };
        let read_only = |name: &str| {
            properties.get(name).is_some_and(|property| {
                let marked = |schema: &Value| schema.get("readOnly") == Some(&Value::Bool(true));
                marked(property) || self.document.resolve(property).is_ok_and(marked)
            })
        };
        let Some(Value::Array(required)) = out.get_mut("required") else { return };
        required.retain(|name| !name.as_str().is_some_and(read_only));
        if required.is_empty() {
            out.shift_remove("required");
        }
    }
}

/// Converts `nullable: true` of 3.0. Version 3.0.3 says that it has no effect without `type` and does not add
/// null to an `enum`; authors who write it there mean that null may be sent.
fn nullable(mut out: Map<String, Value>) -> Value {
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let combined = ["allOf", "anyOf", "oneOf"].iter().any(|key| out.contains_key(*key));
    match out.get_mut("type") {
        Some(Value::Array(types)) => {
            types.retain(|one| one != "null");
            types.push(json!("null"));
        }
        Some(one) => *one = json!([one.clone(), "null"]),
        None if combined => return json!({"anyOf": [out, {"type": "null"}]}),
        None => {}
    }
    Value::Object(out)
}
