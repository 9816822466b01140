use autokit_policy::Secret;
use serde_json::json;

use super::{call, object, plain};
use crate::call::{ParamLocation, Requirement, Scheme, Style};
use crate::{CallError, Credential, Credentials, client_credentials_form};

fn requirement(key: &str, scheme: Scheme) -> Requirement {
    Requirement { key: key.into(), scheme }
}

fn key(place: ParamLocation, name: &str) -> Scheme {
    Scheme::ApiKey { place, name: name.into() }
}

fn oauth(token_url: Option<&str>) -> Scheme {
    Scheme::Oauth2 {
        token_url: token_url.map(str::to_owned),
        scopes: Vec::new(),
        flows: vec!["implicit".into()],
    }
}

fn known() -> Credentials {
    Credentials::from([
        ("key".into(), Credential::ApiKey(Secret::new("planted&1"))),
        ("basic".into(), Credential::Basic { user: "u".into(), password: Secret::new("planted-2") }),
        ("token".into(), Credential::Token(Secret::new("planted-3"))),
    ])
}

#[test]
fn each_scheme_is_sent_at_its_place() {
    let sent = |scheme: Scheme, name: &str| {
        let mut call = plain("GET", "/a");
        call.security = vec![vec![requirement(name, scheme)]];
        let request = call.request(&object(&json!({})), &known(), None).expect("a request");
        assert!(!format!("{request:?}").contains("planted"));
        let headers: Vec<String> =
            request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        format!("{} {}", request.url.rsplit('/').next().unwrap_or_default(), headers.join(", "))
    };
    assert_eq!(sent(key(ParamLocation::Header, "X-Key"), "key"), "a X-Key: planted&1");
    assert_eq!(sent(key(ParamLocation::Query, "k"), "key"), "a?k=planted%261 ");
    assert_eq!(sent(key(ParamLocation::Cookie, "k"), "key"), "a Cookie: k=planted&1");
    assert_eq!(sent(Scheme::Basic, "basic"), "a Authorization: Basic dTpwbGFudGVkLTI=");
    assert_eq!(sent(Scheme::Bearer, "token"), "a Authorization: Bearer planted-3");
    assert_eq!(sent(oauth(None), "token"), "a Authorization: Bearer planted-3");
}

#[test]
fn the_first_alternative_that_can_be_met_is_taken() {
    let unsupported = || requirement("cert", Scheme::Unsupported { reason: "a client certificate".into() });
    let mut call = plain("GET", "/a");
    call.security = vec![
        vec![requirement("key", key(ParamLocation::Query, "k")), requirement("lost", Scheme::Bearer)],
        Vec::new(),
        vec![unsupported()],
        vec![requirement("key", key(ParamLocation::Query, "k")), requirement("token", Scheme::Bearer)],
    ];
    let none = object(&json!({}));
    let request = call.request(&none, &known(), None).expect("a request");
    assert!(request.url.ends_with("?k=planted%261"));
    assert_eq!(request.headers.len(), 1);
    let anonymous = call.request(&none, &Credentials::new(), None).expect("a request");
    assert!(anonymous.headers.is_empty() && anonymous.url.ends_with("/a"));

    call.security.remove(1);
    let error = call.request(&none, &Credentials::new(), None).expect_err("refused").to_string();
    assert_eq!(
        error,
        "credentials are missing; needed: key (an API key) and lost (a token), or key (an API key) and token (a token); add them to the settings under these names"
    );
    call.security = vec![vec![unsupported()]];
    let error = call.request(&none, &known(), None).expect_err("refused").to_string();
    assert!(error.contains("cert (a client certificate)"), "{error}");
    // A credential of the wrong kind does not count.
    call.security = vec![vec![requirement("token", key(ParamLocation::Header, "X"))]];
    assert!(matches!(call.request(&none, &known(), None), Err(CallError::MissingCredentials { .. })));
}

#[test]
fn an_argument_does_not_replace_a_credential() {
    let mut call = call(ParamLocation::Header, Style::Simple, false);
    call.parameters[0].wire_name = "authorization".into();
    call.security = vec![vec![requirement("token", Scheme::Bearer)]];
    let request = call.request(&object(&json!({"color": "mine"})), &known(), None).expect("a request");
    assert_eq!(request.headers, [("Authorization".to_owned(), "Bearer planted-3".to_owned())]);
}

#[test]
fn secrets_that_would_break_a_header_are_refused_without_being_shown() {
    let mut call = plain("GET", "/a");
    call.security = vec![vec![requirement("token", Scheme::Bearer)]];
    let bad = Credentials::from([("token".to_owned(), Credential::Token(Secret::new("planted\r\nx: y")))]);
    let error = call.request(&object(&json!({})), &bad, None).expect_err("refused");
    assert!(!format!("{error} {error:?} {bad:?}").contains("planted"));
}

#[test]
fn only_the_servers_of_the_card_are_used() {
    let mut call = plain("GET", "/a");
    let none = object(&json!({}));
    let to = |call: &crate::Call, server: &str| call.request(&none, &Credentials::new(), Some(server));
    assert_eq!(to(&call, "https://h.example/v1/").expect("a request").url, "https://h.example/v1/a");
    assert!(matches!(to(&call, "https://evil.example"), Err(CallError::UnknownServer { .. })));
    call.servers[0].url = "file:///etc".into();
    assert!(matches!(to(&call, "file:///etc"), Err(CallError::Url { .. })));
    call.servers.clear();
    assert_eq!(call.request(&none, &Credentials::new(), None), Err(CallError::NoServer));
}

#[test]
fn a_token_is_asked_for_as_rfc_6749_has_it() {
    let secret = Secret::new("p:w d");
    let scopes = ["read".to_owned(), "a&b".to_owned()];
    let request =
        client_credentials_form("https://a.example/token", "me ü", &secret, &scopes).expect("a request");
    assert_eq!((request.method.as_str(), request.url.as_str()), ("POST", "https://a.example/token"));
    // me+%C3%BC:p%3Aw+d
    assert_eq!(request.headers[0].1, "Basic bWUrJUMzJUJDOnAlM0F3K2Q=");
    assert_eq!(request.body.as_deref(), Some(&b"grant_type=client_credentials&scope=read+a%26b"[..]));
    assert!(client_credentials_form("http://a.example/token", "me", &secret, &[]).is_err());
    assert!(client_credentials_form("http://127.0.0.1:1/token", "me", &secret, &[]).is_ok());
    assert_eq!(format!("{secret:?}"), "Secret(…)");
}
