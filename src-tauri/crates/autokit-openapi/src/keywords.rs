//! The keywords of JSON Schema 2020-12 and their valid values.
//!
//! Hand-written documents contain keywords with values that no validator accepts (`type: int`, `required:
//! true`). A single one would make the whole card uncallable, so it is left out instead.

use std::collections::HashSet;

use serde_json::Value;

/// The kind of value a keyword takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// Schemas by name.
    NamedSchemas,
    /// A value that this function accepts.
    Plain(fn(&Value) -> bool),
    /// A text for people, which may be dropped to save space.
    Description,
    /// Written differently in OpenAPI 3.0.
    Legacy,
    /// Has no meaning outside the document.
    Dropped,
    /// Not part of JSON Schema; validators ignore it.
    Unknown,
}

impl PartialEq for Shape {
    fn eq(&self, other: &Shape) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// The kind of value a keyword takes. `$defs` is dropped because references into it are resolved; `xml` and
/// extensions (`x-…`) say nothing about what may be sent.
pub(super) fn shape(keyword: &str) -> Shape {
    match keyword {
        "not"
        | "if"
        | "then"
        | "else"
        | "items"
        | "contains"
        | "additionalProperties"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "propertyNames"
        | "contentSchema" => Shape::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" => Shape::NamedSchemas,
        "type" => Shape::Plain(is_type),
        "enum" => Shape::Plain(Value::is_array),
        "required" => Shape::Plain(is_names),
        "dependentRequired" => {
            Shape::Plain(|value| value.as_object().is_some_and(|map| map.values().all(is_names)))
        }
        "multipleOf" => Shape::Plain(|value| value.as_f64().is_some_and(|number| number > 0.0)),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Shape::Plain(Value::is_u64),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Shape::Plain(Value::is_boolean),
        "pattern" | "format" | "contentEncoding" | "contentMediaType" | "title" => {
            Shape::Plain(Value::is_string)
        }
        "discriminator" => Shape::Plain(Value::is_object),
        "description" | "externalDocs" | "$comment" => Shape::Description,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "nullable" | "example"
        | "examples" => Shape::Legacy,
        "$ref" | "$id" | "id" | "$schema" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor"
        | "$vocabulary" | "$defs" | "definitions" | "xml" => Shape::Dropped,
        _ if keyword.starts_with("x-") => Shape::Dropped,
        _ => Shape::Unknown,
    }
}

/// Whether a keyword describes without constraining, so that it can override the same keyword of the
/// referenced schema.
pub(super) fn describes(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "examples"
            | "externalDocs"
    )
}

fn is_type(value: &Value) -> bool {
    let known = |value: &Value| {
        value.as_str().is_some_and(|name| {
            matches!(name, "null" | "boolean" | "object" | "array" | "number" | "string" | "integer")
        })
    };
    match value {
        Value::Array(types) => {
            let distinct: HashSet<&str> = types.iter().filter_map(Value::as_str).collect();
            !types.is_empty() && distinct.len() == types.len() && types.iter().all(known)
        }
        one => known(one),
    }
}

/// A list of distinct strings.
fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| {
        let distinct: HashSet<&str> = names.iter().filter_map(Value::as_str).collect();
        distinct.len() == names.len()
    })
}
