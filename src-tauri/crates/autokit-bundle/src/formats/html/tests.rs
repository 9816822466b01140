use serde_json::json;

use super::*;

fn card(value: Value) -> Toolcard {
    let Value::Object(object) = value else { panic!("an object") };
    Toolcard::new(object).expect("a valid card")
}

fn written(cards: &[Toolcard], title: &str) -> String {
    let about = BundleInfo {
        name: title.into(),
        author: "Ada & co".into(),
        created_at: "2026-03-01T10:00:00.000Z".parse().ok(),
        ..BundleInfo::default()
    };
    let mut out = Vec::new();
    write_html(&mut out, cards, &about).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

/// The cards as the script reads them.
fn island(page: &str) -> &str {
    let start = page.find("id=\"cards\">").expect("an island") + "id=\"cards\">".len();
    &page[start..start + page[start..].find("</script>").expect("closed")]
}

fn hostile() -> Toolcard {
    let evil =
        "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u{2028}\u{202e}&lt;{{title}}";
    card(json!({
        "name": "</title><script>alert(1)</script>", "provider": evil, "description": evil, "programming_language": evil,
        "module": evil, "class": evil, "usage": evil, "pricing": evil, "documentation": "https://e.vil/\"><script>",
        "openapi": "javascript:alert(1)", "tags": [evil], "sources": [evil], "parameters": {evil: evil}, evil: evil
    }))
}

#[test]
fn the_page_is_the_same_whatever_the_cards_say() {
    let plain = written(&[card(json!({"name": "a"}))], "T");
    let evil = written(&[hostile()], "T");
    assert_eq!(plain.replace(island(&plain), ""), evil.replace(island(&evil), ""));
    let island = island(&evil);
    assert!(!island.contains(['<', '>', '&', '\u{2028}', '\u{202e}']), "{island}");
    let back: Value = serde_json::from_str(island).expect("JSON");
    assert_eq!(back[0]["name"], "</title><script>alert(1)</script>");
    let about = back[0]["about"].as_str().expect("text");
    assert!(about.contains("‹U+2028›‹U+202E›&lt;{{title}}"), "{about}");
}

#[test]
fn only_web_addresses_are_links() {
    let page = written(&[hostile()], "T");
    let back: Value = serde_json::from_str(island(&page)).expect("JSON");
    let links: Vec<&str> =
        back[0]["facts"].as_array().expect("facts").iter().filter_map(|fact| fact["link"].as_str()).collect();
    assert_eq!(links, ["https://e.vil/%22%3E%3Cscript%3E"]);
}

#[test]
fn the_policy_names_exactly_the_script_and_the_style() {
    let page = written(&[], "T");
    let between = |start: &str, end: &str| {
        let from = page.find(start).expect("there") + start.len();
        page[from..from + page[from..].find(end).expect("closed")].to_owned()
    };
    let policy = between("Content-Security-Policy\" content=\"", "\"");
    let script = digest(&between("<script>", "</script>"));
    let style = digest(&between("<style>", "</style>"));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src 'none'; base-uri 'none'; form-action 'none'"
        )
    );
    // The page requests nothing: no sources, no imports, no URLs.
    for asks in [
        "src=",
        "url(",
        "@import",
        "http://",
        "https://",
        "fetch(",
        "innerHTML",
        "eval(",
        "style=\"",
        "onclick",
    ] {
        assert!(!page.contains(asks), "{asks}");
    }
    assert!(!page.contains("{{") && island(&page) == "[\n]");
}

#[test]
fn title_and_author_are_text() {
    let page = written(&[], "<b>\"T\"\u{202e}</b>");
    assert!(page.contains("<h1>&lt;b&gt;&quot;T&quot;‹U+202E›&lt;/b&gt;</h1>"));
    assert!(page.contains("0 tools · Ada &amp; co · 2026-03-01"));
    assert!(written(&[], " ").contains("<title>Toolcards</title>"));
}

#[test]
fn every_field_is_shown_and_the_order_is_by_name() {
    let page = written(
        &[
            card(
                json!({"name": "b", "x": {"k": 1}, "n": 5, "verified": true, "tags": ["p", "q"], "init_args": {}}),
            ),
            card(json!({"name": "A", "module": "m", "class": "C", "init_args": {"k": "v"}})),
        ],
        "T",
    );
    let back: Value = serde_json::from_str(island(&page)).expect("JSON");
    assert_eq!((back[0]["name"].as_str(), back[1]["name"].as_str()), (Some("A"), Some("b")));
    assert_eq!(back[0]["code"], "from m import C\n\ntool = C(\n    k=\"v\",\n)");
    let labels: Vec<_> =
        back[0]["facts"].as_array().expect("facts").iter().map(|f| f["label"].as_str()).collect();
    assert_eq!(labels, [Some("Module"), Some("Class")]);
    let facts: Vec<_> = back[1]["facts"]
        .as_array()
        .expect("facts")
        .iter()
        .map(|f| (f["label"].as_str(), f["text"].as_str()))
        .collect();
    assert_eq!(
        facts,
        [(Some("Tags"), Some("p, q")), (Some("x"), Some("{\n  \"k\": 1\n}")), (Some("n"), Some("5"))]
    );
    assert_eq!(
        page,
        written(
            &[
                card(json!({"name": "A", "module": "m", "class": "C", "init_args": {"k": "v"}})),
                card(
                    json!({"name": "b", "x": {"k": 1}, "n": 5, "verified": true, "tags": ["p", "q"], "init_args": {}})
                ),
            ],
            "T",
        )
    );
}
