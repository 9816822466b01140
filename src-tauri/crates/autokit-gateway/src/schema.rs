//! Schemas of arguments, reduced to what a call needs.

use serde_json::Value;

/// Keywords of a schema that only explain; a call can be written without them.
const EXPLAINING: [&str; 7] =
    ["description", "title", "examples", "example", "$comment", "default", "deprecated"];

/// Removes the keywords that only explain. Properties that happen to be called `description` stay.
pub(crate) fn without_explanations(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let kept = map.iter().filter(|(key, _)| !EXPLAINING.contains(&key.as_str()));
    let inner = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                Value::Object(named),
            ) => Value::Object(
                named.iter().map(|(name, schema)| (name.clone(), without_explanations(schema))).collect(),
            ),
            ("enum" | "const" | "required", value) => value.clone(),
            (_, Value::Array(items)) => Value::Array(items.iter().map(without_explanations).collect()),
            (_, value) => without_explanations(value),
        };
        (key.clone(), value)
    };
    Value::Object(kept.map(inner).collect())
}
