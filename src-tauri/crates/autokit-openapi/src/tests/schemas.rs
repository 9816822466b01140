use autokit_toolcard::Limits;
use serde_json::{Value, json};

use super::{card, parameters, read, refusal, validator, with_body};
use crate::document::{Document, MAX_CONVERTED};
use crate::import;

/// The schema of the body within the card's parameters.
fn body(version: &str, schema: &Value, components: &Value) -> Value {
    let imported = with_body(version, schema, components);
    let card = card(&imported, "x");
    validator(card);
    parameters(card)["properties"]["body"].clone()
}

#[test]
fn references_are_replaced_and_only_needed_definitions_kept() {
    let components = json!({"schemas": {
        "A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}},
        "B": {"type": "string", "x-internal": 1},
        "Unused": {"type": "null"},
    }});
    let imported = with_body("3.0.3", &json!({"$ref": "#/components/schemas/A"}), &components);
    let parameters = parameters(card(&imported, "x"));
    assert_eq!(
        parameters["properties"]["body"],
        json!({"type": "object", "properties": {"b": {"type": "string"}}})
    );
    assert_eq!(parameters.get("$defs"), None);
    assert_eq!(parameters["required"], json!(["body"]));
    assert_eq!(parameters["additionalProperties"], json!(false));
}

#[test]
fn circles_become_definitions() {
    let components = json!({"schemas": {
        "Node": {"type": "object", "required": ["value"],
            "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/components/schemas/Node"}}},
        "Tree": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}},
        "Hen": {"type": "object", "properties": {"egg": {"$ref": "#/components/schemas/Egg"}}},
        "Egg": {"type": "object", "additionalProperties": false, "properties": {"hen": {"$ref": "#/components/schemas/Hen"}}},
        "Base": {"type": "object", "properties": {"parent": {"$ref": "#/components/schemas/Derived"}}},
        "Derived": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"required": ["name"]}]},
        "Plain": {"type": "boolean"},
    }});
    let of = |name: &str| {
        let imported =
            with_body("3.0.3", &json!({"$ref": format!("#/components/schemas/{name}")}), &components);
        let card = card(&imported, "x").clone();
        let defs: Vec<String> =
            parameters(&card)["$defs"].as_object().expect("some").keys().cloned().collect();
        (validator(&card), defs)
    };
    let (node, defs) = of("Node");
    assert_eq!(defs, ["Node"]);
    assert!(node.is_valid(&json!({"body": {"value": 1, "next": {"value": 2}}})));
    assert!(!node.is_valid(&json!({"body": {"value": 1, "next": {"value": "2"}}})));
    let (tree, _) = of("Tree");
    assert!(tree.is_valid(&json!({"body": {"children": [{"children": []}]}})));
    assert!(!tree.is_valid(&json!({"body": {"children": [{"children": [3]}]}})));
    let (hen, defs) = of("Hen");
    assert_eq!(defs, ["Hen", "Egg"]);
    assert!(!hen.is_valid(&json!({"body": {"egg": {"hen": {"egg": {"shell": 1}}}}})));
    let (derived, _) = of("Derived");
    assert!(derived.is_valid(&json!({"body": {"name": 1, "parent": {"name": 2}}})));
    assert!(!derived.is_valid(&json!({"body": {"name": 1, "parent": {}}})));
}

#[test]
fn endless_circles_are_broken_with_a_note() {
    let components = json!({"schemas": {
        "Pet": {"type": "object", "oneOf": [{"$ref": "#/components/schemas/Cat"}], "discriminator": {"propertyName": "kind"}},
        "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"required": ["lives"]}]},
        "A": {"$ref": "#/components/schemas/B"},
        "B": {"$ref": "#/components/schemas/A"},
    }});
    let imported = with_body("3.0.3", &json!({"$ref": "#/components/schemas/Cat"}), &components);
    let card = card(&imported, "x");
    assert!(validator(card).is_valid(&json!({"body": {"lives": 9}})));
    assert!(!validator(card).is_valid(&json!({"body": {}})));
    assert_eq!(parameters(card)["$defs"]["Pet"]["discriminator"], json!({"propertyName": "kind"}));
    assert_eq!(parameters(card)["$defs"]["Pet"]["oneOf"], json!([{}]));
    assert_eq!(parameters(card)["$defs"]["Cat"]["allOf"][0], json!({"$ref": "#/$defs/Pet"}));
    let warnings = &imported.read.cards[0].warnings;
    assert!(warnings.iter().any(|warning| warning.reason.contains("a reference to Cat")), "{warnings:?}");

    let imported = with_body("3.1.0", &json!({"$ref": "#/components/schemas/A"}), &components);
    assert!(validator(&imported.read.cards[0].card).is_valid(&json!({"body": 1})));
    let defs = &parameters(&imported.read.cards[0].card)["$defs"];
    assert_eq!(defs, &json!({"A": {"$ref": "#/$defs/B"}, "B": {}}));
}

#[test]
fn version_3_0_becomes_2020_12() {
    let converted = body(
        "3.0.0",
        &json!({"type": "object", "properties": {
            "a": {"type": "string", "nullable": true, "example": "x"},
            "b": {"type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false},
            "c": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/C"}]},
            "d": {"type": "string", "enum": ["u"], "nullable": true},
            "e": {"$ref": "#/components/schemas/C", "description": "ignored"},
            "f": {"oneOf": [{"$ref": "#/components/schemas/C"}, {"type": "null", "nullable": false}]},
        }}),
        &json!({"schemas": {"C": {"type": "number", "xml": {"name": "c"}}}}),
    );
    assert_eq!(
        converted["properties"],
        json!({
            "a": {"type": ["string", "null"], "examples": ["x"]},
            "b": {"type": "integer", "exclusiveMinimum": 1, "maximum": 9},
            "c": {"anyOf": [{"allOf": [{"type": "number"}]}, {"type": "null"}]},
            "d": {"type": ["string", "null"], "enum": ["u", null]},
            "e": {"type": "number"},
            "f": {"oneOf": [{"type": "number"}, {"type": "null"}]},
        })
    );
}

#[test]
fn version_3_1_is_kept() {
    let converted = body(
        "3.1.1",
        &json!({"type": ["object", "null"], "properties": {
            "a": {"const": 3},
            "b": true,
            "c": {"$ref": "#/components/schemas/C", "description": "closer"},
            "d": {"$ref": "#/components/schemas/C", "minimum": 2, "allOf": [{"maximum": 3}]},
            "e": {"$ref": "#/components/schemas/C/$defs/Inner"},
            "f": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
            "$ref": {"type": "string"},
        }, "examples": [{"a": 3}], "unevaluatedProperties": false}),
        &json!({"schemas": {"C": {"type": "number", "description": "farther", "$defs": {"Inner": {"type": "boolean"}}}}}),
    );
    assert_eq!(converted["type"], json!(["object", "null"]));
    assert_eq!(converted["unevaluatedProperties"], json!(false));
    assert_eq!(
        converted["properties"],
        json!({
            "a": {"const": 3},
            "b": true,
            "c": {"type": "number", "description": "closer"},
            "d": {"minimum": 2, "allOf": [{"type": "number", "description": "farther"}, {"maximum": 3}]},
            "e": {"type": "boolean"},
            "f": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
            "$ref": {"type": "string"},
        })
    );
}

#[test]
fn read_only_properties_are_not_required() {
    let converted = body(
        "3.0.3",
        &json!({"type": "object", "required": ["id", "name", "made"], "properties": {
            "id": {"type": "string", "readOnly": true}, "name": {"type": "string"}, "made": {"$ref": "#/components/schemas/Made"}}}),
        &json!({"schemas": {"Made": {"type": "string", "readOnly": true}}}),
    );
    assert_eq!(converted["required"], json!(["name"]));
}

#[test]
fn unsupported_keywords_are_dropped_with_a_note() {
    let imported = with_body(
        "3.0.3",
        &json!({"type": "int", "required": true, "properties": {"a": {"type": "object", "minLength": -1}}, "enum": "x", "items": 3}),
        &Value::Null,
    );
    let item = &imported.read.cards[0];
    validator(&item.card);
    let told = item.warnings.iter().map(|warning| warning.reason.as_str()).collect::<Vec<_>>().join("\n");
    for keyword in ["type", "required", "minLength", "enum", "items"] {
        assert!(told.contains(&format!("`{keyword}`")), "{keyword}: {told}");
    }
}

#[test]
fn references_that_lead_nowhere_refuse_their_operation_alone() {
    let cases = [
        (json!({"$ref": "other.yaml#/A"}), "refers to another document (other.yaml#/A)"),
        (json!({"$ref": "https://e.example/a.json"}), "refers to another document"),
        (json!({"$ref": "#/components/schemas/None"}), "which is not in the document"),
        (json!({"$ref": "#anchor"}), "is not a path into the document"),
        (json!({"properties": {"a": {"$dynamicRef": "#x"}}}), "$dynamicRef"),
    ];
    for (schema, expected) in cases {
        let imported = with_body("3.1.0", &schema, &Value::Null);
        assert!(imported.read.cards.is_empty());
        let sentence = refusal(&imported, "POST /x");
        assert!(sentence.contains(expected), "{sentence}");
    }
}

#[test]
fn pointers_are_unescaped_and_may_lead_anywhere() {
    let imported = read(
        &json!({"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": "https://a.example"}], "paths": {
            "/a~b/{id}": {"post": {"operationId": "first", "description": "d", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
                "requestBody": {"content": {"application/json": {"schema": {"type": "string"}}}}}},
            "/second": {"post": {"operationId": "second", "description": "d",
                "parameters": [{"name": "q", "in": "query", "schema": {"$ref": "#/paths/~1a~0b~1%7Bid%7D/post/parameters/0/schema"}}],
                "requestBody": {"$ref": "#/paths/~1a~0b~1%7Bid%7D/post/requestBody"}}},
        }})
        .to_string(),
    );
    let properties = &parameters(card(&imported, "second"))["properties"];
    assert_eq!(properties, &json!({"q": {"type": "integer"}, "body": {"type": "string"}}));
}

#[test]
fn schemas_that_would_explode_are_shared() {
    // Each level refers to the next one twice: inlined, that would be 2^40 schemas.
    let mut schemas = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/components/schemas/L{}", level + 1)});
        schemas.insert(format!("L{level}"), json!({"type": "object", "properties": {"l": next, "r": next}}));
    }
    schemas.insert("L40".to_owned(), json!({"type": "string"}));
    let imported =
        with_body("3.0.3", &json!({"$ref": "#/components/schemas/L0"}), &json!({"schemas": schemas}));
    let card = card(&imported, "x");
    assert_eq!(parameters(card)["$defs"].as_object().map(serde_json::Map::len), Some(41));
    assert!(validator(card).is_valid(&json!({"body": {"l": {"r": {}}}})));
}

#[test]
fn too_large_cards_lose_descriptions_first_and_are_then_refused() {
    let long = "d".repeat(200 << 10);
    let described: serde_json::Map<String, Value> =
        (0..8).map(|n| (format!("p{n}"), json!({"type": "string", "description": long}))).collect();
    let imported = with_body("3.0.3", &json!({"type": "object", "properties": described}), &Value::Null);
    let item = &imported.read.cards[0];
    assert!(item.card.to_json().len() < Limits::CARD.card_bytes / 100);
    assert!(item.warnings.iter().any(|warning| warning.reason.contains("omits descriptions")));

    let values: Vec<String> = (0..8).map(|n| format!("{n}{long}")).collect();
    let imported = with_body("3.0.3", &json!({"type": "string", "enum": values}), &Value::Null);
    assert!(refusal(&imported, "POST /x").contains("bytes; the limit"));
}

#[test]
fn a_document_has_its_share_of_work_and_no_more() {
    let operation = |items: usize| {
        let schema = json!({"prefixItems": vec![json!({"type": "string"}); items]});
        json!({"get": {"summary": "s", "parameters": [{"name": "q", "in": "query", "schema": schema}]}})
    };
    let text = json!({"openapi": "3.1.0", "servers": [{"url": "https://a.example"}],
        "paths": {"/a": operation(50), "/b": operation(50), "/c": operation(50)}})
    .to_string();
    let (document, _) = Document::read(text.as_bytes(), None).expect("a document");
    document.converted.set(MAX_CONVERTED - 110);
    let imported = import(&document, Vec::new());
    assert_eq!(imported.read.cards.len(), 2);
    assert!(refusal(&imported, "GET /c").contains("split the document"));
}

#[test]
fn large_circles_are_found_or_assumed() {
    let all: serde_json::Map<String, Value> = (0..5_000)
        .map(|n| {
            (
                format!("S{n}"),
                json!({"items": {"$ref": format!("#/components/schemas/S{}", (n + 1) % 5_000)}}),
            )
        })
        .collect();
    let imported = with_body("3.0.0", &json!({"$ref": "#/components/schemas/S7"}), &json!({"schemas": all}));
    let defs = parameters(card(&imported, "x"))["$defs"].as_object().expect("some").len();
    assert_eq!(defs, 5_000);
}

#[test]
fn long_chains_on_the_same_value_are_refused_and_do_not_exhaust_the_stack() {
    let mut schemas = serde_json::Map::new();
    for n in 0..5_000 {
        let next = format!("#/components/schemas/S{}", n + 1);
        schemas.insert(format!("S{n}"), json!({"allOf": [{"$ref": next}]}));
    }
    schemas.insert("S5000".to_owned(), json!({"type": "string"}));
    let imported =
        with_body("3.0.3", &json!({"$ref": "#/components/schemas/S0"}), &json!({"schemas": schemas}));
    assert!(refusal(&imported, "POST /x").contains("too large or too deep"));
}
