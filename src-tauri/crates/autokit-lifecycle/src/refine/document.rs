//! A card as the documentation that trial calls are compared with.
//!
//! The fields of a JSON body are explored like any other argument, so they stand beside the others as `body.field`.

use autokit_refine::ToolDocument;
use autokit_toolcard::{Toolcard, fields};
use serde_json::{Map, Value, json};

/// The argument that holds a request's body, see `autokit_openapi::BODY_ARGUMENT`.
const BODY: &str = "body";
/// What the names of fields of the body start with.
const PREFIX: &str = "body.";

/// Returns what a card documents.
pub(super) fn document_of(card: &Toolcard) -> ToolDocument {
    let object = card.object();
    let parameters = object.get(fields::PARAMETERS).filter(|schema| schema.is_object());
    ToolDocument {
        name: card.name().to_owned(),
        description: card.description().to_owned(),
        parameters: flattened(&parameters.cloned().unwrap_or_else(|| json!({"type": "object"}))),
        returns: object.get(fields::RETURNS).filter(|schema| schema.is_object()).cloned(),
    }
}

fn names(schema: &Value) -> Vec<String> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Puts the fields of a body beside the other arguments.
fn flattened(schema: &Value) -> Value {
    let Some(fields) = schema.pointer("/properties/body/properties").and_then(Value::as_object) else {
        return schema.clone();
    };
    let mut flat = schema.clone();
    let Some(properties) = flat.get_mut("properties").and_then(Value::as_object_mut) else { return flat };
    let body = properties.shift_remove(BODY).unwrap_or_default();
    for (name, own) in fields {
        properties.insert(format!("{PREFIX}{name}"), own.clone());
    }
    let mut required = names(schema);
    if required.iter().any(|name| name == BODY) {
        required.retain(|name| name != BODY);
        required.extend(names(&body).iter().map(|name| format!("{PREFIX}{name}")));
    }
    flat["required"] = json!(required);
    flat
}

/// Writes the fields of a body back to where they belong. `before` is the schema on the card.
pub(super) fn unflattened(flat: &Value, before: &Value) -> Value {
    if before.pointer("/properties/body/properties").is_none() {
        return flat.clone();
    }
    let mut schema = before.clone();
    let body_is_required = names(before).iter().any(|name| name == BODY);
    let (mut outer, mut inner): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for name in names(flat) {
        match name.strip_prefix(PREFIX) {
            Some(field) => inner.push(field.to_owned()),
            None => outer.push(name),
        }
    }
    if body_is_required || !inner.is_empty() {
        outer.push(BODY.to_owned());
    }
    for (name, own) in flat.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let (at, name) = match name.strip_prefix(PREFIX) {
            Some(field) => ("/properties/body/properties", field),
            None => ("/properties", name.as_str()),
        };
        if let Some(properties) = schema.pointer_mut(at).and_then(Value::as_object_mut) {
            properties.insert(name.to_owned(), own.clone());
        }
    }
    if !outer.is_empty() || before.get("required").is_some() {
        schema["required"] = json!(outer);
    }
    // Where the body may be left out, what it requires was not explored.
    if let Some(body) = schema.pointer_mut("/properties/body").filter(|_| body_is_required)
        && (!inner.is_empty() || body.get("required").is_some())
    {
        body["required"] = json!(inner);
    }
    schema
}

/// Puts the fields of a body into it, for a call.
pub(super) fn nested(arguments: &Map<String, Value>) -> Map<String, Value> {
    let mut nested = Map::new();
    for (name, value) in arguments {
        match name.strip_prefix(PREFIX) {
            Some(field) => {
                let body = nested.entry(BODY).or_insert_with(|| json!({}));
                if let Some(body) = body.as_object_mut() {
                    body.insert(field.to_owned(), value.clone());
                }
            }
            None => {
                nested.insert(name.clone(), value.clone());
            }
        }
    }
    nested
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["id", "body"],
            "properties": {
                "id": {"type": "string"},
                "body": {
                    "type": "object",
                    "required": ["title"],
                    "properties": {"title": {"type": "string"}, "price": {"type": "number"}},
                },
            },
        })
    }

    #[test]
    fn fields_of_a_body_are_explored_like_arguments() {
        let flat = flattened(&schema());
        assert_eq!(flat["required"], json!(["id", "body.title"]));
        assert!(
            flat.pointer("/properties/body.price").is_some() && flat.pointer("/properties/body").is_none()
        );
        assert_eq!(unflattened(&flat, &schema()), schema());
        let arguments = json!({"id": "a", "body.title": "b"});
        assert_eq!(
            Value::Object(nested(arguments.as_object().unwrap())),
            json!({"id": "a", "body": {"title": "b"}})
        );
    }

    #[test]
    fn what_was_found_of_a_field_is_written_into_the_body() {
        let mut flat = flattened(&schema());
        flat["properties"]["body.price"]["minimum"] = json!(0);
        flat["required"] = json!(["id", "body.title", "body.price"]);
        let written = unflattened(&flat, &schema());
        assert_eq!(written.pointer("/properties/body/properties/price/minimum"), Some(&json!(0)));
        assert_eq!(written.pointer("/properties/body/required"), Some(&json!(["title", "price"])));
        assert_eq!(written["required"], json!(["id", "body"]));
    }
}
