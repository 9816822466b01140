use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn card(value: Value) -> Toolcard {
    let Value::Object(object) = value else { panic!("an object") };
    Toolcard::new(object).expect("a valid card")
}

fn written(cards: &[Toolcard]) -> String {
    let about = BundleInfo {
        name: "My tools".into(),
        author: "Ada".into(),
        created_at: "2026-03-01T10:00:00.000Z".parse().ok(),
        ..BundleInfo::default()
    };
    let mut out = Vec::new();
    write_markdown(&mut out, cards, &about).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn a_catalogue() {
    let cards = [
        card(json!({"name": "jq", "kind": "cli", "usage": "jq .", "description": "Filters JSON."})),
        card(
            json!({"name": "Search", "description": "Finds\nthings.\n\n\nAnd more.", "programming_language": "python",
            "module": "pkg.tools", "class": "Search", "provider": "pkg", "documentation": "https://a.b/c_d?e=1&f=2", "tags": ["web", "x y"]}),
        ),
    ];
    assert_eq!(
        written(&cards),
        "# My tools\n\n2 tools · Ada · 2026-03-01\n\n## Contents\n\n\
         **Classes** (1)\n\n- [Search (pkg)](#card-062c58e81fb2)\n\n\
         **Command-line programs** (1)\n\n- [jq](#card-dceb73ce22cc)\n\n\
         ## Classes\n\n<a id=\"card-062c58e81fb2\"></a>\n\n### Search\n\nFinds\nthings.\n\nAnd more.\n\n\
         - Provider: pkg\n- Language: `python`\n- Module: `pkg.tools`\n- Class: `Search`\n\
         - Documentation: [https\\://a.b/c\\_d?e=1\\&f=2](<https://a.b/c_d?e=1&amp;f=2>)\n- Tags: `web`, `x y`\n\n\
         ```python\nfrom pkg.tools import Search\n\ntool = Search()\n```\n\n\
         ## Command-line programs\n\n<a id=\"card-dceb73ce22cc\"></a>\n\n### jq\n\nFilters JSON.\n\n```shell\njq .\n```\n"
    );
    let backwards: Vec<Toolcard> = cards.iter().rev().cloned().collect();
    assert_eq!(written(&backwards), written(&cards));
    assert!(written(&[]).ends_with("0 tools · Ada · 2026-03-01\n"));
}

#[test]
fn blocks_do_not_start_in_a_description() {
    let text = "Title\n===\n---\n# h\n> q\n- l\n+ l\n1. l\n2) l\n    code\n\tcode\n```\n~~~\n| a | b |\n|---|---|\n: d\n<script>\n[x]: https://e.vil";
    assert_eq!(
        block(text),
        "Title\n\\===\n\\---\n\\# h\n\\> q\n\\- l\n\\+ l\n1\\. l\n2\\) l\ncode\ncode\n\\`\\`\\`\n\\~\\~\\~\n\
         \\| a \\| b \\|\n\\|---\\|---\\|\n\\: d\n\\<script\\>\n\\[x\\]: https\\://e.vil"
    );
    assert_eq!(line("a\nb *c* ![x](y) www.e.vil &lt; \\"), "a b \\*c\\* !\\[x\\](y) www\\.e.vil \\&lt; \\\\");
    assert_eq!(block("1.\t\tx\n2)\n3.5 y"), "1\\.\t\tx\n2\\)\n3.5 y");
    assert_eq!(block("a\rb\u{202e}\r\nc"), "a‹U+000D›b‹U+202E›\nc");
}

#[test]
fn code_stays_in_its_fence() {
    let fenced = written(&[card(
        json!({"name": "a", "programming_language": "py\n# h", "usage": "x\n````\n# out\n```\n\u{202e}"}),
    )]);
    assert!(fenced.contains("\n`````\nx\n````\n# out\n```\n‹U+202E›\n`````\n"), "{fenced}");
    assert_eq!(code("a`b``c"), "```a`b``c```");
    assert_eq!(code("`x\n`"), "`` `x ` ``");
}

#[test]
fn links_lead_to_the_web_alone() {
    assert_eq!(linked("https://a.b/>)](x)"), "[https\\://a.b/\\>)\\](x)](<https://a.b/%3E%29]%28x%29>)");
    assert_eq!(linked("/docs/`x`"), "`` /docs/`x` ``");
    let page = written(&[card(json!({"name": "a", "openapi": "javascript:alert(1)"}))]);
    assert!(page.contains("- OpenAPI: `javascript:alert(1)`\n"), "{page}");
}

/// Every Markdown special character, all kinds of line endings, and invisible characters.
fn markup() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-#>*_`~=+|<&\\[\\]()!:1.\\\\ \t\r\n{}a\u{202e}\u{2028}]{0,24}",
        Just("<script>alert(1)</script>".to_owned()),
        Just("[x](javascript:alert(1))".to_owned()),
        Just("\n\n# Heading\n".to_owned()),
        Just("https://e.vil".to_owned()),
    ]
}

proptest! {
    #[test]
    fn no_field_starts_anything(texts in prop::collection::vec(markup(), 8)) {
        let mut object = serde_json::Map::new();
        object.insert("name".into(), "tool".into());
        for (field, text) in ["description", "programming_language", "module", "class", "pricing", "openapi", "usage"].into_iter().zip(&texts) {
            object.insert(field.into(), text.as_str().into());
        }
        object.insert("tags".into(), vec![texts[7].clone()].into());
        let page = written(&[Toolcard::new(object).expect("valid")]);
        let unseen = ['\u{202e}', '\u{2028}', '\r'];
        prop_assert!(!page.contains(unseen));
        // Outside of fences the page has only its own headings, fences and anchors.
        let (mut fence, mut headings, mut fences) = (None::<String>, 0, 0);
        for row in page.lines() {
            let ticks: String = row.chars().take_while(|c| *c == '`').collect();
            match &fence {
                Some(open) if row == open => fence = None,
                Some(_) => {}
                None if ticks.len() >= 3 && !row[ticks.len()..].contains('`') => { fence = Some(ticks); fences += 1; }
                None => {
                    headings += usize::from(row.starts_with('#'));
                    prop_assert!(!row.starts_with([' ', '\t', '>', '=', '+', '~', '|']), "{row:?}");
                    prop_assert!(!row.contains("<script") || row.contains("\\<script") || row.contains('`'), "{row:?}");
                    prop_assert!(!row.replace("\\]", "").contains("](java") || row.contains('`'), "{row:?}");
                }
            }
        }
        prop_assert_eq!(fence, None);
        prop_assert_eq!(headings, 4);
        prop_assert!(fences <= 1);
    }
}
