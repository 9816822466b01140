use std::fmt::Write;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{card, read, refused, validator};
use crate::{Call, SpecError, read_openapi};

#[test]
fn other_documents_are_named() {
    assert!(matches!(refused(r#"{"swagger": "2.0"}"#), SpecError::Swagger { .. }));
    assert!(refused("swagger: 2.0").to_string().ends_with("is Swagger 2.0"));
    assert!(refused("swagger: 2.0").remedy().starts_with("Convert it"));
    assert!(matches!(refused("openapi: 4.0.0"), SpecError::Version { .. }));
    assert!(matches!(refused("openapi: 3.10.0"), SpecError::Version { .. }));
    assert!(matches!(refused("{}"), SpecError::NotOpenApi { .. }));
    assert!(matches!(refused("[1]"), SpecError::NotOpenApi { found: "a list" }));
    assert!(matches!(refused("<html>"), SpecError::NotOpenApi { found: "a single value" }));
    assert!(matches!(refused("asyncapi: 3.0.0"), SpecError::NotOpenApi { found: "an AsyncAPI document" }));
    assert!(matches!(refused(" \n"), SpecError::Empty));
    assert!(matches!(refused("{\"openapi\": \"3.0.0\","), SpecError::Syntax { format: "JSON", .. }));
    assert!(matches!(refused("openapi: 3.0.0\n  a: [b"), SpecError::Syntax { format: "YAML", .. }));
    let not_text = read_openapi(&b"openapi: \xff"[..], None).expect_err("refused");
    assert!(matches!(not_text, SpecError::NotUtf8 { offset: 9 }));
    assert!(matches!(read_openapi(std::io::repeat(b' '), None), Err(SpecError::TooLarge)));
    for source in ["file:///etc/x", "openapi.yaml"] {
        assert!(matches!(read_openapi(&b"openapi: 3.0.0"[..], Some(source)), Err(SpecError::Source { .. })));
    }
}

#[test]
fn documents_without_operations_say_so() {
    let imported = read(r#"{"openapi": "3.1.0", "info": {"title": "T"}, "webhooks": {"a": {}}}"#);
    assert!(imported.read.cards.is_empty());
    assert_eq!(imported.notes.len(), 2, "{:?}", imported.notes);
}

#[test]
fn bombs_are_refused() {
    let mut aliases = "openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        writeln!(aliases, "a{level}: &a{level} [{before}]").expect("a text");
    }
    let limit = |text: &str, reason: &str| {
        let error = refused(text);
        assert!(matches!(error, SpecError::Limit { .. }) && error.to_string().contains(reason), "{error}");
    };
    limit(&aliases, "grows beyond 64 MiB or 4 million values");
    // A single long text that is repeated.
    let long = "x".repeat(1 << 20);
    let text = format!("openapi: 3.0.0\na: &a {long}\nb: [{}]\n", "*a, ".repeat(10_000));
    limit(&text, "grows beyond 64 MiB or 4 million values");
    let deep = format!("{{\"openapi\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(refused(&deep), SpecError::Syntax { .. }));
    limit(&format!("openapi: 3.0.0\na: {}1{}", "[".repeat(100_000), "]".repeat(100_000)), "128 levels deep");
    limit(&format!("openapi: 3.0.0\na:\n {}x", "- ".repeat(50_000)), "128 levels deep");
}

#[test]
fn yaml_is_read_as_documents_mean_it() {
    let imported = read(
        r#"
openapi: 3.0.3
info: {title: Dates, version: 2024-01-01}
servers: [{url: "https://a.example/"}]
x-shared: &page
  name: page
  in: query
  schema: {type: integer, example: 010}
paths:
  /days/{day}:
    get:
      operationId: getDay
      summary: One day
      description: |
        Gives a day.
        Two lines.
      parameters:
        - *page
        - name: day
          in: path
          required: true
          schema: {type: string, format: date, example: 2024-02-03}
        - name: country
          in: query
          schema: {type: string, enum: [no, se, on, yes]}
      responses:
        200:
          description: fine
          content: {text/plain: {}, application/json: {}}
        default: {description: else}
  /more:
    get:
      <<: {summary: Merged, tags: [a, a, b]}
      parameters: [*page]
"#,
    );
    let day = card(&imported, "getDay");
    assert_eq!(day.description(), "One day\n\nGives a day.\nTwo lines.");
    assert_eq!(day.text("provider"), Some("Dates"));
    assert_eq!(day.text("usage"), Some("GET https://a.example/days/{day}"));
    let properties = &day.object()["parameters"]["properties"];
    assert_eq!(properties["day"]["examples"], json!(["2024-02-03"]));
    assert_eq!(properties["country"]["enum"], json!(["no", "se", "on", "yes"]));
    let call = Call::from_card(day).expect("valid").expect("there");
    assert_eq!(call.accept.as_deref(), Some("application/json, */*;q=0.5"));
    let more = card(&imported, "get_more");
    assert_eq!(more.description(), "Merged");
    assert_eq!(more.tags().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn repeated_keys_are_reported() {
    let imported = read(
        r#"{"openapi": "3.0.0", "info": {"title": "a", "title": "b"}, "servers": [{"url": "https://a.b"}], "paths": {"/x": {"get": {"summary": "s"}}}}"#,
    );
    assert_eq!(imported.read.cards.len(), 1);
    assert!(
        imported.notes[0].contains("twice") && imported.notes[0].contains("the last one"),
        "{:?}",
        imported.notes
    );
    assert!(matches!(refused("openapi: 3.0.0\nopenapi: 3.0.0"), SpecError::Syntax { .. }));
}

#[test]
fn deep_documents_that_are_allowed_are_read() {
    for levels in [20, 55] {
        let schema = format!("{}{{type: string}}{}", "{items: ".repeat(levels), "}".repeat(levels));
        let imported = read(&format!(
            "openapi: 3.1.0\ninfo: {{title: T}}\nservers: [{{url: 'https://a.example'}}]\npaths:\n  /x:\n    get:\n      parameters: [{{name: q, in: query, schema: {schema}}}]\n"
        ));
        assert_eq!(imported.read.cards.len(), 1, "{levels}: {imported:?}");
    }
    let schema = format!("{}{{type: string}}{}", "{items: ".repeat(110), "}".repeat(110));
    let imported = read(&format!(
        "openapi: 3.1.0\ninfo: {{title: T}}\nservers: [{{url: 'https://a.example'}}]\npaths:\n  /x:\n    get:\n      parameters: [{{name: q, in: query, schema: {schema}}}]\n"
    ));
    assert!(super::refusal(&imported, "GET /x").contains("levels deep"));
}

/// Generates something that looks like part of a document, valid or not.
fn fragment() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        prop::sample::select(vec![
            "a",
            "",
            "get",
            "path",
            "query",
            "object",
            "string",
            "/x/{a}",
            "deepObject",
            "#/components/schemas/A",
            "#/components/schemas/B",
            "#/components/parameters/A",
            "#/paths/~1x/get",
        ])
        .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "$ref",
        "A",
        "B",
        "a",
        "type",
        "properties",
        "items",
        "allOf",
        "required",
        "parameters",
        "schema",
        "name",
        "in",
        "style",
        "content",
        "application/json",
        "multipart/form-data",
        "requestBody",
        "get",
        "servers",
        "url",
        "nullable",
        "minimum",
        "exclusiveMinimum",
        "security",
        "operationId",
        "encoding",
        "example",
        "$defs",
    ]);
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|all| all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_openapi(&bytes[..], None).map(|imported| imported.read.cards.len());
    }

    #[test]
    fn arbitrary_documents_give_valid_cards_or_refusals(
        old: bool, item in fragment(), operation in fragment(), schema in fragment(), schemas in fragment(), parameters in fragment(),
    ) {
        let mut item = item;
        if let Value::Object(item) = &mut item {
            item.insert("get".to_owned(), operation);
            item.insert("put".to_owned(), json!({"requestBody": {"content": {"application/json": {"schema": schema}}}}));
        }
        let document = json!({
            "openapi": if old { "3.0.3" } else { "3.1.0" },
            "servers": [{"url": "https://a.example"}],
            "paths": {"/x": item, "/y": {"get": {"parameters": parameters}}},
            "components": {"schemas": {"A": schemas, "B": {"$ref": "#/components/schemas/A"}}},
        });
        let imported = read(&document.to_string());
        for item in &imported.read.cards {
            validator(&item.card);
            prop_assert!(Call::from_card(&item.card).is_ok_and(|call| call.is_some()));
        }
        for rejected in &imported.read.rejected {
            prop_assert!(rejected.name.is_some() && !rejected.problems.is_empty());
        }
    }
}
