//! Example arguments for a call, from the JSON Schema of its parameters.

use serde_json::{Map, Value};

/// Maximum depth of an example, because a schema may be recursive.
const MAX_EXAMPLE_DEPTH: usize = 4;

/// Builds arguments that fit a JSON Schema as far as possible: the schema's own example, or else the required ones from
/// defaults, examples and first choices, otherwise empty.
pub fn example_arguments(schema: &Map<String, Value>) -> Map<String, Value> {
    match example_value(&Value::Object(schema.clone()), schema, MAX_EXAMPLE_DEPTH) {
        Value::Object(example) => example,
        _ => Map::new(),
    }
}

fn example_value(schema: &Value, root: &Map<String, Value>, depth: usize) -> Value {
    let known = |value: &&Value| !value.is_null();
    let value = ["default", "const", "example"].iter().find_map(|key| schema.get(*key).filter(known));
    let first = |key: &str| schema.get(key).and_then(|all| all.get(0));
    if let Some(value) = value.or_else(|| first("examples")).or_else(|| first("enum")) {
        return value.clone();
    }
    if depth == 0 {
        return Value::Null;
    }
    if let Some(path) = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix("#/")) {
        let mut parts = path.split('/');
        let start = parts.next().and_then(|part| root.get(part));
        let target = parts.fold(start, |at, part| at?.get(part.replace("~1", "/").replace("~0", "~")));
        return target.map_or(Value::Null, |target| example_value(target, root, depth - 1));
    }
    let several = ["oneOf", "anyOf", "allOf"].iter().find_map(|key| first(key));
    if let (Some(one), None) = (several, schema.get("properties")) {
        return example_value(one, root, depth - 1);
    }
    let kind = schema.get("type");
    let kind = kind.and_then(Value::as_str).or_else(|| kind?.get(0)?.as_str());
    match kind {
        Some("string") => Value::from(""),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| Value::from(0)),
        Some("boolean") => Value::from(false),
        // An empty list is left out of a request.
        Some("array") => {
            let item = schema.get("items").map(|items| example_value(items, root, depth - 1));
            Value::Array(item.filter(|item| !item.is_null()).into_iter().collect())
        }
        Some("object") | None if schema.get("properties").is_some() || kind.is_some() => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let property = |name: &str| schema.get("properties").and_then(|all| all.get(name));
            let each = required.filter_map(Value::as_str);
            Value::Object(
                each.map(|name| {
                    let value =
                        property(name).map_or(Value::Null, |schema| example_value(schema, root, depth - 1));
                    (name.to_owned(), value)
                })
                .collect(),
            )
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn examples_fit_what_a_schema_requires() {
        let schema = json!({
            "type": "object",
            "required": ["path", "size", "kind", "to", "tree", "at", "loose"],
            "properties": {
                "path": {"type": "string"},
                "size": {"type": "integer", "minimum": 1},
                "kind": {"enum": ["a", "b"]},
                "to": {"$ref": "#/$defs/Person"},
                "tree": {"$ref": "#/$defs/Tree"},
                "at": {"type": ["string", "null"], "default": "now"},
                "loose": {},
                "left_out": {"type": "string"}
            },
            "$defs": {
                "Person": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
                "Tree": {"type": "object", "required": ["of"], "properties": {"of": {"$ref": "#/$defs/Tree"}}}
            }
        });
        let built = example_arguments(schema.as_object().expect("an object"));
        let mut tree = &built["tree"];
        let mut depth = 0;
        while let Some(of) = tree.get("of") {
            (tree, depth) = (of, depth + 1);
        }
        assert!(depth < 10 && tree.is_null());
        let mut flat = built.clone();
        flat.shift_remove("tree");
        assert_eq!(
            Value::Object(flat),
            json!({"path": "", "size": 1, "kind": "a", "to": {"name": ""}, "at": "now", "loose": null})
        );
        assert!(example_arguments(&Map::new()).is_empty());
        let listed = json!({
            "type": "object", "required": ["of"],
            "properties": {"of": {"type": "array", "items": {"enum": ["a", "b"]}, "default": null}}
        });
        let built = example_arguments(listed.as_object().expect("an object"));
        assert_eq!(Value::Object(built), json!({"of": ["a"]}));
        let own = json!({"type": "object", "required": ["q"], "examples": [{"q": "tea", "limit": 3}]});
        let built = example_arguments(own.as_object().expect("an object"));
        assert_eq!(Value::Object(built), json!({"q": "tea", "limit": 3}));
    }
}
