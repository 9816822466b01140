use autokit_toolcard::{Toolcard, read_cards, write_cards};
use serde_json::{Value, json};

use super::{card, parameters, read, refusal, validator};
use crate::{Call, CallError, Credentials, ParamLocation, Scheme, Style, read_openapi};

fn document(paths: &Value) -> Value {
    json!({"openapi": "3.0.3", "info": {"title": "T"}, "servers": [{"url": "https://a.example/v1/"}], "paths": paths})
}

fn call(card: &Toolcard) -> Call {
    Call::from_card(card).expect("valid").expect("there")
}

fn servers(card: &Toolcard) -> Vec<String> {
    call(card).servers.into_iter().map(|server| server.url).collect()
}

#[test]
fn names_are_unique_whatever_the_document_says() {
    let imported = read(
        &document(&json!({
            "/a": {"get": {"operationId": "list"}, "post": {"operationId": "one"}},
            "/b": {"get": {"operationId": "list"}, "delete": {}},
            "/c/{id}/": {"get": {"operationId": " "}},
            "/c-{id}": {"get": {}},
            "/d": {"get": {"operationId": "n".repeat(300)}},
        }))
        .to_string(),
    );
    let names: Vec<&str> = imported.read.cards.iter().map(|item| item.card.name()).collect();
    assert_eq!(names[..6], ["list_get_a", "one", "list_get_b", "delete_b", "get_c_id", "get_c_id_2"]);
    assert_eq!(names[6].len(), 192);
    assert!(imported.read.rejected.is_empty());
}

#[test]
fn a_card_survives_a_file_and_can_be_called_there() {
    let imported = read(
        &document(&json!({"/a/{id}": {"get": {"deprecated": true, "parameters": [{"name": "id", "in": "path", "required": true, "schema": {}}]}}}))
            .to_string(),
    );
    let mut file = Vec::new();
    write_cards(&mut file, imported.read.cards.iter().map(|item| &item.card)).expect("written");
    let back = read_cards(&file[..]).expect("read");
    let card = &back.cards[0].card;
    assert_eq!(card.object().get("deprecated"), Some(&json!(true)));
    assert_eq!(call(card), call(&imported.read.cards[0].card));
    let request = call(card)
        .request(json!({"id": "z"}).as_object().expect("one"), &Credentials::default(), None)
        .expect("a request");
    assert_eq!(request.url, "https://a.example/v1/a/z");
}

#[test]
fn calls_of_other_versions_are_refused() {
    let with = |call: Value| {
        let Value::Object(object) = json!({"name": "a", "call": call}) else { panic!("an object") };
        Call::from_card(&Toolcard::new(object).expect("valid"))
    };
    assert_eq!(with(Value::Null), Ok(None));
    assert_eq!(with(json!({"version": 2})), Err(CallError::Version { version: 2 }));
    assert!(matches!(with(json!({"version": 1})), Err(CallError::Malformed { .. })));
    assert!(matches!(with(json!("GET")), Err(CallError::Malformed { .. })));
    let later = json!({"version": 1, "method": "GET", "servers": [], "path": "/", "something": "new"});
    assert!(with(later).expect("valid").is_some());
}

#[test]
fn parameters_of_the_path_are_overridden_and_names_kept_apart() {
    let imported = read(
        &json!({"openapi": "3.0.3", "info": {"title": "T"}, "servers": [{"url": "https://a.example"}],
        "paths": {"/x/{id}/{lost}": {
            "summary": "from the path",
            "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
                {"$ref": "#/components/parameters/limit"},
                {"name": "gone", "in": "path", "required": true, "schema": {}}],
            "get": {"operationId": "x", "parameters": [
                {"name": "limit", "in": "query", "required": true, "description": "nearer", "schema": {"type": "integer", "maximum": 5}},
                {"name": "id", "in": "query", "schema": {"type": "integer"}},
                {"name": "id", "in": "header", "schema": {"type": "boolean"}},
                {"name": "id", "in": "cookie", "schema": {"type": "boolean"}},
                {"name": "body", "in": "query", "schema": {}},
                {"name": "Accept", "in": "header", "required": true, "schema": {}},
                {"name": "content-type", "in": "header", "schema": {}},
                {"name": "AUTHORIZATION", "in": "header", "schema": {}},
                {"name": "Content-Length", "in": "header", "schema": {}},
                {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
                {"name": "tags", "in": "query", "style": "pipeDelimited", "schema": {"type": "array"}}],
            "requestBody": {"$ref": "#/components/requestBodies/B"}}}},
        "components": {"parameters": {"limit": {"name": "limit", "in": "query", "schema": {"type": "string"}}},
            "requestBodies": {"B": {"content": {"application/xml": {}, "application/vnd.x+json": {"schema": {"type": "array"}}}}}}})
        .to_string(),
    );
    let card = card(&imported, "x");
    validator(card);
    let parameters = parameters(card);
    let names: Vec<&String> = parameters["properties"].as_object().expect("some").keys().collect();
    assert_eq!(
        names,
        ["id", "lost", "limit", "id_query", "body_query", "filter", "tags", "id_header", "id_cookie", "body"]
    );
    assert_eq!(parameters["required"], json!(["id", "lost", "limit"]));
    assert_eq!(
        parameters["properties"]["limit"],
        json!({"type": "integer", "maximum": 5, "description": "nearer"})
    );
    let call = call(card);
    let id = call.parameters.iter().find(|one| one.name == "id_header").expect("there");
    assert_eq!((id.wire_name.as_str(), id.place), ("id", ParamLocation::Header));
    let filter = call.parameters.iter().find(|one| one.name == "filter").expect("there");
    assert_eq!(filter.content.as_deref(), Some("application/json"));
    let tags = call.parameters.iter().find(|one| one.name == "tags").expect("there");
    assert_eq!((tags.style, tags.explode), (Style::PipeDelimited, false));
    assert_eq!(call.body.expect("one").media_type, "application/vnd.x+json");
    assert_eq!(card.description(), "from the path");
    let told = format!("{:?}", imported.read.cards[0].warnings);
    for word in ["Content-Length", "gone", "{lost}"] {
        assert!(told.contains(word), "{word}: {told}");
    }
}

#[test]
fn servers_of_the_nearest_level_hold() {
    let text = json!({"openapi": "3.0.3", "info": {"title": "T"},
        "servers": [{"url": "https://{region}.a.example/{base}", "variables": {"region": {"default": "eu", "enum": ["us", "eu"]}, "base": {"default": "v2"}}}],
        "paths": {
            "/document": {"get": {"operationId": "d", "servers": []}},
            "/path": {"servers": [{"url": "https://{h}.p.example", "variables": {"h": {"default": "h"}}}], "get": {"operationId": "p"}},
            "/operation": {"servers": [{"url": "https://p.example"}], "get": {"operationId": "o", "servers": [
                {"url": "https://{port}.o.example", "variables": {"port": {"default": 8443}}},
                {"url": "https://{unknown}.o.example"}, {"url": "ftp://o.example"}, {"url": "../up", "description": "near"}]}},
            "/none": {"get": {"operationId": "n", "servers": [{"url": "https://{x}.example"}]}},
            "/relative": {"get": {"operationId": "r", "servers": [{"url": "/api"}]}},
        }})
    .to_string();
    let from =
        read_openapi(text.as_bytes(), Some("https://spec.example/docs/v3/openapi.json")).expect("read");
    assert_eq!(servers(card(&from, "d")), ["https://eu.a.example/v2", "https://us.a.example/v2"]);
    assert_eq!(servers(card(&from, "p")), ["https://h.p.example"]);
    assert_eq!(servers(card(&from, "o")), ["https://8443.o.example", "https://spec.example/docs/up"]);
    assert_eq!(servers(card(&from, "r")), ["https://spec.example/api"]);
    assert_eq!(card(&from, "r").text("openapi"), Some("https://spec.example/docs/v3/openapi.json"));
    assert!(refusal(&from, "GET /none").contains("{x}"));
    let without = read(&text);
    assert!(refusal(&without, "GET /relative").contains("relative to the document's URL"));
    assert_eq!(servers(card(&without, "o")), ["https://8443.o.example"]);
}

#[test]
fn no_server_and_no_address_refuses_every_operation_by_name() {
    let text = r#"{"openapi": "3.0.0", "paths": {"/a": {"get": {}}}}"#;
    let imported = read(text);
    assert!(imported.read.cards.is_empty());
    assert!(refusal(&imported, "GET /a").contains("has no server"));
    let imported = read_openapi(text.as_bytes(), Some("https://h.example/x/openapi.json")).expect("read");
    assert_eq!(servers(&imported.read.cards[0].card), ["https://h.example"]);
    assert_eq!(imported.read.cards[0].card.text("provider"), Some("h.example"));
}

#[test]
fn path_items_may_be_references() {
    let imported = read(
        &json!({"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": "https://a.example"}],
        "paths": {"/a": {"$ref": "#/components/pathItems/P", "parameters": [{"name": "q", "in": "query"}]},
            "/b": {"$ref": "other.json"}, "/c": {"$ref": "#/paths/~1c"}, "/d": 3, "x-e": {"get": {}}},
        "components": {"pathItems": {"P": {"get": {"operationId": "p", "responses": {"200": {"$ref": "#/components/responses/R"}}}}},
            "responses": {"R": {"content": {"text/csv": {}}}}}})
        .to_string(),
    );
    let card = card(&imported, "p");
    assert_eq!(parameters(card)["properties"], json!({"q": {}}));
    assert_eq!(call(card).accept.as_deref(), Some("text/csv, */*;q=0.5"));
    assert!(refusal(&imported, "/b").contains("another document"));
    assert!(refusal(&imported, "/c").contains("circular"));
    assert!(refusal(&imported, "/d").contains("not an object"));
    assert_eq!(imported.read.cards.len(), 1);
}

#[test]
fn unsupported_operations_are_refused_by_name_and_others_are_kept() {
    let imported = read(
        &document(&json!({
            "/good": {"get": {"operationId": "good"}},
            "/style": {"get": {"parameters": [{"name": "a", "in": "path", "style": "form"}]}},
            "/place": {"get": {"parameters": [{"name": "a", "in": "body"}]}},
            "/nameless": {"get": {"parameters": [{"in": "query"}]}},
            "/reference": {"put": {"parameters": [{"$ref": "#/nowhere"}]}},
            "/body": {"put": {"requestBody": {"$ref": "b.yaml"}}},
        }))
        .to_string(),
    );
    assert_eq!(imported.read.cards.len(), 1);
    for (label, reason) in [
        ("GET /style", "style \"form\""),
        ("GET /place", "in body"),
        ("GET /nameless", "without a name"),
        ("PUT /reference", "#/nowhere"),
        ("PUT /body", "b.yaml"),
    ] {
        assert!(refusal(&imported, label).contains(reason), "{}", refusal(&imported, label));
    }
}

#[test]
fn security_is_carried_over() {
    let imported = read(
        &json!({"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": "https://a.example"}],
        "security": [{"key": []}],
        "paths": {
            "/own": {"get": {"operationId": "own", "security": [{"app": ["read"], "basic": []}, {"cert": []}, {"lost": []}, {}]}},
            "/all": {"get": {"operationId": "all", "parameters": [{"name": "x-key", "in": "header", "required": true}]}},
            "/free": {"get": {"operationId": "free", "security": []}}},
        "components": {"securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"}, "basic": {"type": "http", "scheme": "Basic"},
            "app": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://a.example/token", "scopes": {}}, "authorizationCode": {}}},
            "cert": {"type": "mutualTLS"}}}})
        .to_string(),
    );
    let own = call(card(&imported, "own")).security;
    assert_eq!(own.len(), 4);
    assert_eq!(own[0][0].key, "app");
    let Scheme::Oauth2 { token_url, scopes, flows } = &own[0][0].scheme else { panic!("{own:?}") };
    assert_eq!((token_url.as_deref(), scopes.len(), flows.len()), (Some("https://a.example/token"), 1, 2));
    assert_eq!(own[0][1].scheme, Scheme::Basic);
    assert!(matches!(own[1][0].scheme, Scheme::Unsupported { .. }));
    assert!(matches!(own[2][0].scheme, Scheme::Unsupported { .. }));
    assert!(own[3].is_empty());
    let all = call(card(&imported, "all"));
    assert_eq!(
        all.security[0][0].scheme,
        Scheme::ApiKey { place: ParamLocation::Header, name: "X-Key".to_owned() }
    );
    assert!(all.parameters.is_empty(), "the key is no argument");
    assert!(call(card(&imported, "free")).security.is_empty());
}

#[test]
fn documentation_comes_from_the_nearest_place() {
    let mut text = document(&json!({
        "/a": {"get": {"operationId": "a", "externalDocs": {"url": "https://d.example/a"}, "tags": ["t"]}},
        "/b": {"get": {"operationId": "b", "tags": ["none", "t"]}},
        "/c": {"get": {"operationId": "c"}},
        "/d": {"get": {"operationId": "d", "externalDocs": {"url": "javascript:alert(1)"}}},
    }));
    text["tags"] = json!([{"name": "t", "externalDocs": {"url": "https://d.example/t"}}]);
    text["externalDocs"] = json!({"url": "https://d.example"});
    let imported = read(&text.to_string());
    let page = |name| card(&imported, name).text("documentation").map(str::to_owned);
    assert_eq!(page("a").as_deref(), Some("https://d.example/a"));
    assert_eq!(page("b").as_deref(), Some("https://d.example/t"));
    assert_eq!(page("c").as_deref(), Some("https://d.example"));
    assert_eq!(page("d"), None);
}

#[test]
fn long_descriptions_are_truncated_with_a_note() {
    let imported = read(&document(&json!({"/a": {"get": {"description": "ü".repeat(200_000)}}})).to_string());
    let item = &imported.read.cards[0];
    assert_eq!(item.card.description().len(), 256 << 10);
    assert!(item.warnings.iter().any(|warning| warning.reason.contains("cut to")));
}
