use serde_json::json;

use super::*;

fn read(value: &Value) -> ReadCards {
    read_server_json(value.to_string().as_bytes()).expect("a server.json")
}

fn only(value: &Value) -> Value {
    let read = read(value);
    assert!(read.rejected.is_empty() && read.cards.len() == 1, "{read:?}");
    Value::Object(read.cards[0].card.object().clone())
}

fn weather() -> Value {
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json",
        "name": "io.github.user/weather", "title": "Weather", "description": "Forecasts.", "version": "1.0.2",
        "repository": {"url": "https://github.com/user/weather", "source": "github"},
        "packages": [{
            "registryType": "npm", "identifier": "@user/weather", "version": "1.0.2", "transport": {"type": "stdio"},
            "environmentVariables": [{"name": "API_KEY", "isRequired": true, "isSecret": true, "default": "planted"}],
            "packageArguments": [
                {"type": "positional", "valueHint": "city", "isRequired": true},
                {"type": "named", "name": "--units", "value": "metric"},
                {"type": "named", "name": "--token", "isRequired": true, "isSecret": true, "value": "planted"},
                {"type": "named", "name": "--verbose", "default": "no"}
            ]
        }],
        "remotes": [{"type": "streamable-http", "url": "https://w.example.com/mcp", "headers": [{"name": "X-Key", "value": "planted"}]}]
    })
}

#[test]
fn a_typical_published_server_is_read() {
    let card = only(&weather());
    assert_eq!(
        card,
        json!({"name": "weather", "provider": "io.github.user", "kind": "mcp_tool", "description": "Forecasts.",
            "usage": "npx -y @user/weather@1.0.2 '<city>' --units metric --token '<secret>'",
            "documentation": "https://github.com/user/weather", "repository": "https://github.com/user/weather",
            "title": "Weather", "version": "1.0.2", "transport": "stdio",
            "packages": [{"registry": "npm", "identifier": "@user/weather", "version": "1.0.2"}],
            "remotes": [{"type": "streamable-http", "url": "https://w.example.com/mcp"}],
            "env": ["API_KEY"], "headers": ["X-Key"]})
    );
    assert!(!card.to_string().contains("planted"));
}

#[test]
fn every_registry_has_its_way_to_run() {
    let usage = |package: Value| {
        only(&json!({"name": "a/b", "description": "x", "packages": [package]}))["usage"].clone()
    };
    assert_eq!(usage(json!({"registryType": "pypi", "identifier": "srv", "version": "2.0"})), "uvx srv@2.0");
    assert_eq!(
        usage(json!({"registryType": "oci", "identifier": "ghcr.io/a/b:1.2", "version": "1.2",
            "environmentVariables": [{"name": "TOKEN"}], "runtimeArguments": [{"type": "named", "name": "--network", "value": "host"}]})),
        "docker run -i --rm -e TOKEN --network host ghcr.io/a/b:1.2"
    );
    assert_eq!(
        usage(json!({"registryType": "oci", "identifier": "a/b", "version": "1"})),
        "docker run -i --rm a/b:1"
    );
    assert_eq!(
        usage(json!({"registryType": "nuget", "identifier": "A.B", "version": "1"})),
        "dnx A.B@1 --yes"
    );
    assert_eq!(usage(json!({"registryType": "npm", "identifier": "x", "runtimeHint": "bunx"})), "bunx x");
    assert_eq!(usage(json!({"registryType": "npm", "identifier": "x; rm -rf ~"})), "npx -y 'x; rm -rf ~'");
    for none in [
        json!({"registryType": "mcpb", "identifier": "https://a.b/c.mcpb"}),
        json!({"registryType": "npm", "identifier": "--eval=1"}),
        json!({"registryType": "npm"}),
        json!({"registryType": 7, "identifier": ["x"]}),
    ] {
        assert_eq!(usage(none.clone()), Value::Null, "{none}");
    }
}

#[test]
fn earlier_drafts_are_read() {
    let card = only(&json!({
        "name": "io.github.user/old", "description": "x", "version_detail": {"version": "0.1"},
        "packages": [{"registry_name": "pypi", "name": "old-server", "version": "0.1",
            "environment_variables": [{"name": "A"}, {"name": "A"}],
            "package_arguments": [{"type": "positional", "value_hint": "dir", "is_required": true}]}],
        "remotes": [{"transport_type": "sse", "url": "https://a.b/sse"}], "website_url": "https://old.example.com"
    }));
    assert_eq!(card["usage"], "uvx old-server@0.1 '<dir>'");
    assert_eq!((&card["version"], &card["env"]), (&json!("0.1"), &json!(["A"])));
    assert_eq!(card["remotes"][0]["type"], "sse");
    assert_eq!(card["documentation"], "https://old.example.com");
}

#[test]
fn an_answer_of_the_registry() {
    let entry = |version: &str, latest: bool, status: &str| {
        let mut server = weather();
        server["version"] = version.into();
        json!({"server": server, "_meta": {OFFICIAL: {"isLatest": latest, "status": status}}})
    };
    let answer = json!({
        "servers": [entry("1.0", false, "active"), entry("1.1", true, "deprecated"), 7, {"server": []},
            {"server": {"name": "no-namespace", "description": "d", "websiteUrl": "javascript:alert(1)"}},
            {"name": "flat/old", "description": "d", "packages": []}, {"server": {"description": "nameless"}},
            {"server": {"name": ["x"]}}, entry("1.1", true, "active")],
        "metadata": {"nextCursor": "abc", "count": 9}
    });
    let read = read(&answer);
    let names: Vec<_> = read.cards.iter().map(|item| (item.position, item.card.key().to_string())).collect();
    assert_eq!(
        names,
        [(2, "io.github.user / weather".into()), (5, "no-namespace".into()), (6, "flat / old".to_owned())]
    );
    assert_eq!(read.cards[0].card.text("version"), Some("1.1"));
    assert_eq!(read.cards[0].warnings[0].reason, "is listed as \"deprecated\" by the registry");
    assert_eq!(read.cards[1].card.text("documentation"), None);
    assert!(read.cards[1].warnings.iter().any(|warning| warning.field == "websiteUrl"));
    let refused: Vec<_> = read.rejected.iter().map(|r| (r.position, r.problems[0].to_string())).collect();
    assert_eq!(refused[0], (1, "the card is an older version of item 2".to_owned()));
    assert_eq!(refused[3], (7, "`name` is missing".to_owned()));
    assert_eq!(refused[5], (9, "the card repeats item 2: same provider and name".to_owned()));
    let one = json!({"server": weather(), "_meta": {}});
    assert_eq!(only(&one)["name"], "weather");
}

#[test]
fn a_page_that_is_not_the_last_says_so() {
    let page =
        |cursor: Value| json!({"servers": [{"server": weather()}], "metadata": {"nextCursor": cursor}});
    assert!(read(&page("abc".into())).cards[0].warnings[0].reason.contains("next page"));
    assert!(read(&page("".into())).cards[0].warnings.is_empty());
    assert!(read(&page(Value::Null)).cards[0].warnings.is_empty());
}

#[test]
fn other_files_say_what_they_are() {
    let error = |text: &str| read_server_json(text.as_bytes()).expect_err("refused");
    assert!(matches!(error("[]"), FormatError::NoServerJson { found: "a list" }));
    assert!(matches!(error("{\"servers\": {}}"), FormatError::NoServerJson { .. }));
    assert!(matches!(error("{\"name\": "), FormatError::Syntax(_)));
    let deep = format!(
        "{{\"servers\": [{{\"name\":\"a/b\",\"x\":{}}}, {{\"name\":\"c/d\"}}]}}",
        "[".repeat(5000) + &"]".repeat(5000)
    );
    let read = read_server_json(deep.as_bytes()).expect("readable");
    assert_eq!((read.cards.len(), read.rejected.len()), (1, 1));
}
