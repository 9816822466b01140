use serde_json::json;

use super::*;
use crate::content::BundleInfo;

fn fields(card: &Value) -> Vec<String> {
    let card = Toolcard::from_json(&card.to_string()).expect("a card");
    secrets_in(&card).into_iter().map(|(field, _)| field).collect()
}

/// Builds a key at run time, so that no file of this project appears to contain one.
fn made(prefix: &str, length: usize) -> String {
    let letters = "a8Bq2ZxK7mP4wR9tYc3L";
    prefix.chars().chain(letters.chars().cycle().take(length)).collect()
}

#[test]
fn keys_are_found_everywhere() {
    let github = made("ghp_", 36);
    let model = made("sk-", 40);
    let card = json!({
        "name": "a",
        "description": format!("Use {github} to log in."),
        "init_args": {"api_key": "a8Bq2ZxK7mP4wR9tYc3L", "deep": [{"x": model}]},
        "usage": format!("client = Client(api_key=\"{}\")", made("", 24)),
        "openapi": "https://me:hunter2pass@example.org/openapi.json",
        "headers": {"Authorization": format!("Bearer {}", made("", 30))},
    });
    assert_eq!(
        fields(&card),
        [
            "description",
            "init_args.api_key",
            "init_args.deep[0].x",
            "usage",
            "openapi",
            "headers.Authorization"
        ]
    );
}

#[test]
fn placeholders_from_documentation_are_not_secrets() {
    let card = json!({
        "name": "a",
        "description": "Needs an API key: set the environment variable OPENAI_API_KEY. Password required.",
        "init_args": {
            "api_key": "YOUR_API_KEY", "token": "${TOKEN}", "secret": "str", "password": "<password>",
            "openai_api_key": "OPENAI_API_KEY", "api_token": "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
            "access_key": "AKIAIOSFODNN7EXAMPLE", "max_token": "4096", "api-key": "required",
            "key": "os.environ['KEY_1234567890']", "credentials": "credentials.json",
        },
        "usage": "os.environ[\"TAVILY_API_KEY\"] = getpass.getpass()\nTool(api_key=os.environ[\"KEY\"], token=\"...\")",
        "documentation": "https://docs.example.org/en/v1.2.3/token/authentication-1234567890",
        "parameters": {"properties": {"token": {"type": "string", "description": "token: the page token of 2024"}}},
    });
    assert_eq!(fields(&card), Vec::<String>::new());
}

#[test]
fn values_are_recognized_by_their_context() {
    let letters = "abcdefghijkl";
    for args in [
        json!(["--api-key", letters]),
        json!(["--header", "Authorization: Basic bWU6aHVudGVyMg=="]),
        json!(["-H", "X-Api-Key: 4711081547110815"]),
        json!(["--token=correcthorse"]),
        json!([format!("run --api-key {}", made("", 12))]),
        json!([{"name": "API_KEY", "value": letters}]),
        json!([{"header": "Authorization", "value": "Bearer abcdefghijkl"}]),
        json!([{"key": "DB_PASSWORD", "value": "hunter2"}]),
        json!([{"token": {"value": letters}}]),
    ] {
        assert_eq!(fields(&json!({"name": "a", "init_args": {"args": args}})).len(), 1, "{args}");
    }
}

#[test]
fn names_of_fields_say_what_their_values_are() {
    for name in [
        "bearerToken",
        "accessToken",
        "GITHUB_PAT",
        "cookie",
        "set-cookie",
        "authorization",
        "private_key",
        "client_secret",
        "password",
        "passwd",
        "pwd",
        "passphrase",
        "connection_string",
        "apiKey",
        "X-API-Key",
    ] {
        for value in [
            json!("1234567890"),
            json!("abcdefghijkl"),
            json!("correct horse battery staple"),
            json!(1_234_567_890),
        ] {
            let card = json!({"name": "a", "init_args": {name: value}});
            assert_eq!(fields(&card), [format!("init_args.{name}")], "{card}");
        }
        for value in [
            json!(""),
            json!(null),
            json!(true),
            json!("YOUR_API_KEY"),
            json!("<token>"),
            json!("${TOKEN}"),
            json!("sk-..."),
            json!("xxxxxxxxxxxx"),
            json!("The key of your account"),
            json!("/run/secrets/key.pem"),
            json!("your-key-here"),
            json!("Bearer ${input:token}"),
        ] {
            let card = json!({"name": "a", "init_args": {name: value}});
            assert_eq!(fields(&card), Vec::<String>::new(), "{card}");
        }
    }
    let card = json!({
        "name": "a",
        "init_args": {
            "max_tokens": 4096, "token_count": 123_456_789, "tokenizer": "cl100k_base_2024", "key": "id",
            "primary_key": "customer_id_2", "eos_token": "<|endoftext|>", "next_page_token": "CAUQAA12345678",
            "auth": "oauth2", "sort_key": "created_at",
        },
        "credential": "DefaultAzureCredential()",
        "token": "settings.access_token",
        "secret": "AWS Secrets Manager",
        "commit": "3f786850e387550fdab836ed7e6dc881de23001b",
        "checksum": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "uuid": "0a1b2c3d-1111-4222-8333-444455556666",
    });
    assert_eq!(fields(&card), Vec::<String>::new());
}

#[test]
fn urls_are_searched_for_secrets() {
    let key = made("", 20);
    for address in [
        "redis://:hunter2@cache.host:6379".to_owned(),
        "POSTGRESQL://me:hunter2pass@db.host/x".to_owned(),
        format!("https://{key}@git.host/x"),
        format!("https://h.io/x?q=1&api_key={key}"),
        format!("https://h.io/x?key={key}"),
        format!("https://h.io/x?SIG={key}&se=1"),
        "https://h.io/x?access_token=abcdefghijklmnopq".to_owned(),
        "amqp://me:p@ssw0rd@mq.host/".to_owned(),
        "https://h.io/x?password=hunter2hunter2".to_owned(),
        "to log in, password: Tr0ub4dor&3xyz!".to_owned(),
        "Server=db;User=me;Password=Sup3r;Encrypt=yes".replace("Sup3r", "Sup3rS4fe!"),
    ] {
        assert_eq!(fields(&json!({"name": "a", "x": address})), ["x"], "{address}");
    }
    for address in [
        "https://h.io/x?key=id&token=abc",
        "https://h.io/x?api_key=YOUR_API_KEY",
        "https://h.io/x?token=${TOKEN}",
        "postgresql://user:password@localhost/db",
        "postgres://postgres:postgres@localhost",
        "git@github.com:a/b.git",
        "https://esm.sh/@scope/pkg",
        "ssh://git@github.com/a/b",
        "https://h.io/x?key=getting-started-with-tools",
        "postgresql://${USER}:${PASSWORD}@host/db",
        "https://me@h.io",
    ] {
        assert_eq!(fields(&json!({"name": "a", "x": address})), Vec::<String>::new(), "{address}");
    }
}

#[test]
fn services_mark_their_keys() {
    let hex = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";
    for key in [
        format!("SG.{}.{}", made("", 22), made("", 43)),
        format!("shpat_{hex}"),
        format!("SK{hex}"),
        format!("DefaultEndpointsProtocol=https;AccountKey={}==", made("", 86)),
        made("123456789:", 35),
        made("https://api.telegram.org/bot123456789:", 35),
        made("https://discord.com/api/webhooks/123456789012345678/", 60),
        format!("{}.{}.{}", made("M", 23), made("", 6), made("", 38)),
        made("ghp_", 36),
        made("github_pat_", 60),
        made("glpat-", 20),
        made("xoxb-", 30),
        "AKIAQ7Z3M2K9P4T8W6XY".to_owned(),
        made("AIza", 35),
        made("sk_live_", 24),
        made("npm_", 36),
        made("pypi-", 60),
        format!("{}.{}.{}", made("eyJ", 20), made("eyJ", 20), made("", 20)),
        "-----BEGIN OPENSSH PRIVATE KEY-----".to_owned(),
    ] {
        assert_eq!(fields(&json!({"name": "a", "x": format!("see {key} there")})), ["x"], "{key}");
        let hidden: String = key.chars().flat_map(|c| [c, '\u{200b}']).collect();
        assert_eq!(fields(&json!({"name": "a", "x": hidden})), ["x"], "{key}");
    }
}

#[test]
fn a_word_within_a_key_makes_it_no_placeholder() {
    for word in ["your", "insert", "test", "here"] {
        let key = format!("ghp_a8Bq2ZxK7mP4wR9tYc3L{word}a8Bq2ZxK7mP4wR9tYc3L");
        assert_eq!(fields(&json!({"name": "a", "x": key})), ["x"], "{key}");
        let card = json!({"name": "a", "api_key": format!("a8Bq2ZxK7mP4-{word}-R9tYc3LxQ2w")});
        assert_eq!(fields(&card), ["api_key"], "{card}");
        let key = format!("sk-{word}-a8Bq2ZxK7mP4wR9tYc3L");
        assert_eq!(fields(&json!({"name": "a", "x": key})), ["x"], "{key}");
    }
}

#[test]
fn metadata_of_cards_is_searched_for_secrets() {
    let key = made("ghp_", 36);
    let about = BundleInfo {
        note: format!("log in with {key}"),
        licence: Some(key.clone()),
        ..BundleInfo::default()
    };
    let contents =
        BundleContents { about, synonyms: vec![format!("token {key}")], ..BundleContents::default() };
    let found: Vec<String> =
        secrets_outside_cards(&contents).into_iter().map(|secret| secret.field).collect();
    assert_eq!(found, ["licence", "note", "synonyms"]);
    let refused = refuse_secrets(&contents).expect_err("refused").to_string();
    assert!(refused.starts_with("found a key or password in") && !refused.contains(&key), "{refused}");
    let card = Toolcard::from_json(r#"{"name": "a"}"#).expect("a card");
    let item = autokit_toolcard::ReadItem { position: 1, card, warnings: Vec::new() };
    let at = "2026-01-01T00:00:00.000Z".parse().expect("a time");
    let mut entry = BundleCard::from_item(item, &autokit_toolcard::Author(key.clone()), at);
    entry.provenance.licence = Some(key);
    let found: Vec<String> = secrets_of(&[entry]).into_iter().map(|secret| secret.field).collect();
    assert_eq!(found, ["author", "provenance.author", "provenance.licence"]);
}

#[test]
fn the_cards_autokit_comes_with_hold_no_secret() {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let folder = std::path::Path::new(&own).join("../autokit-features/starter");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("the starter cards") {
        let text = std::fs::read_to_string(file.expect("read").path()).expect("text");
        for card in serde_json::from_str::<Vec<Value>>(&text).expect("cards") {
            assert_eq!(fields(&card), Vec::<String>::new(), "{card}");
            seen += 1;
        }
    }
    assert!(seen > 10);
}
