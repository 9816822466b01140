use autokit_policy::Secret;
use serde_json::{Value, json};

use crate::rapidapi::{RAPIDAPI_KEY, is_rapidapi, read_rapidapi};
use crate::{Call, Credential, Credentials, SpecError};

fn api() -> Value {
    json!({"tool_name": "Weather", "tool_description": "Forecasts.", "home_url": "https://rapidapi.com/w/api/weather/",
    "host": "weather.p.rapidapi.com", "pricing": "FREEMIUM", "api_list": [
        {"name": "By city", "url": "https://weather.p.rapidapi.com/city/{city}", "description": "Of a city.", "method": "GET",
            "required_parameters": [{"name": "city", "type": "STRING", "description": "", "default": "Oslo"}],
            "optional_parameters": [{"name": "days", "type": "NUMBER", "description": "How many", "default": ""}]},
        {"name": "Add", "url": "/add", "method": "POST", "required_parameters": [{"name": "text", "type": "STRING"}], "optional_parameters": []},
        {"name": "No address", "method": "GET"},
    ]})
}

#[test]
fn one_card_an_endpoint() {
    let read = read_rapidapi(api().to_string().as_bytes()).expect("read");
    assert_eq!(read.cards.len(), 2);
    assert_eq!(read.rejected[0].name.as_deref(), Some("No address"));
    assert_eq!(read.rejected[0].position, 3);
    let card = &read.cards[0].card;
    assert_eq!(card.text("provider"), Some("Weather"));
    assert_eq!(
        card.object()["parameters"],
        json!({"type": "object", "properties": {
            "city": {"type": "string", "examples": ["Oslo"]}, "days": {"type": "number", "description": "How many"}},
            "required": ["city"], "additionalProperties": false})
    );
    let credentials =
        Credentials::from([(RAPIDAPI_KEY.to_owned(), Credential::ApiKey(Secret::new("planted")))]);
    let request = |index: usize, arguments: Value| {
        let call = Call::from_card(&read.cards[index].card).expect("valid").expect("there");
        call.request(arguments.as_object().expect("one"), &credentials, None).expect("a request")
    };
    let get = request(0, json!({"city": "São Paulo", "days": 3}));
    assert_eq!(get.url, "https://weather.p.rapidapi.com/city/S%C3%A3o%20Paulo?days=3");
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert!(get.headers.contains(&header("X-RapidAPI-Key", "planted")));
    assert!(get.headers.contains(&header("X-RapidAPI-Host", "weather.p.rapidapi.com")));
    let post = request(1, json!({"body": {"text": "x"}}));
    assert_eq!(post.url, "https://weather.p.rapidapi.com/add");
    assert_eq!(post.body.as_deref(), Some(&br#"{"text":"x"}"#[..]));
}

#[test]
fn it_is_distinguished_from_other_files() {
    let both = json!([api(), api()]).to_string();
    assert!(is_rapidapi(api().to_string().as_bytes()) && is_rapidapi(both.as_bytes()));
    for other in [
        "{",
        "[]",
        r#"{"api_list": []}"#,
        r#"{"api_list": [{"name": "x"}]}"#,
        r#"[{"name": "api_list", "description": "Names \"api_list\"."}]"#,
    ] {
        assert!(!is_rapidapi(other.as_bytes()), "{other}");
    }
}

#[test]
fn the_key_is_sent_to_the_gateway_alone() {
    for url in [
        "https://evil.example/a",
        "http://weather.p.rapidapi.com/a",
        "https://weather.p.rapidapi.com.evil.example/a",
        "https://weather.p.rapidapi.com@evil.example/a",
        "https://weather.p.rapidapi.com:8443/a",
        "https://evilrapidapi.com/a",
    ] {
        let mut api = api();
        api["api_list"] = json!([{"name": "x", "url": url, "method": "GET"}]);
        let read = read_rapidapi(api.to_string().as_bytes()).expect("read");
        assert!(
            read.cards.is_empty() && read.rejected[0].problems[0].reason.contains("the key may be sent"),
            "{url}"
        );
    }
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(read_rapidapi(&b"{}"[..]), Err(SpecError::NotRapidApi)));
    assert!(matches!(read_rapidapi(&b"[]"[..]), Err(SpecError::NotRapidApi)));
    assert!(matches!(read_rapidapi(&b"x"[..]), Err(SpecError::Syntax { .. })));
}
