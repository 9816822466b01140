//! Tests with documents that are awkward on purpose.

mod cards;
mod documents;
mod github;
mod rapid;
mod schemas;

use autokit_toolcard::Toolcard;
use serde_json::Value;

use super::{Imported, SpecError, read_openapi};

/// Reads a document without a source URL.
fn read(text: &str) -> Imported {
    read_openapi(text.as_bytes(), None).expect("a document")
}

fn refused(text: &str) -> SpecError {
    read_openapi(text.as_bytes(), None).expect_err("refused")
}

/// The card of this name.
fn card<'i>(imported: &'i Imported, name: &str) -> &'i Toolcard {
    let found = imported.read.cards.iter().find(|item| item.card.name() == name);
    &found.unwrap_or_else(|| panic!("{name} in {imported:?}")).card
}

/// The rejection with this label, as a single sentence.
fn refusal(imported: &Imported, label: &str) -> String {
    let found = imported.read.rejected.iter().find(|rejected| rejected.name.as_deref() == Some(label));
    let found = found.unwrap_or_else(|| panic!("{label} in {:?}", imported.read.rejected));
    found.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn parameters(card: &Toolcard) -> &Value {
    &card.object()["parameters"]
}

/// A validator for a card's arguments; fails when the schema is not valid 2020-12 or has external references.
fn validator(card: &Toolcard) -> jsonschema::Validator {
    let schema = parameters(card);
    assert!(jsonschema::draft202012::meta::is_valid(schema), "{schema:#}");
    jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{error}: {schema:#}"))
}

/// A document with one operation, `POST /x`, whose JSON body has this schema.
fn with_body(version: &str, schema: &Value, components: &Value) -> Imported {
    let document = serde_json::json!({
        "openapi": version,
        "info": {"title": "T", "version": "1"},
        "servers": [{"url": "https://a.example"}],
        "paths": {"/x": {"post": {"operationId": "x", "summary": "s",
            "requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}}}},
        "components": components,
    });
    read(&document.to_string())
}
