//! Evaluation from files to report, with vectors of letter frequencies.

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

use std::convert::Infallible;
use std::path::Path;

use autokit_metrics::{AskSet, Embedder, EvalError, RetrievalSet, evaluate_ask, evaluate_retrieval};
use autokit_search::{Mode, ToolText};
use serde_json::json;

/// Embeds texts as letter frequencies.
#[expect(clippy::unnecessary_wraps, reason = "an embedder may fail")]
fn letters(texts: &[String]) -> Result<Vec<Vec<f32>>, Infallible> {
    let count = |text: &String| {
        let mut counts = vec![0.1f32; 26];
        for b in text.bytes().filter(u8::is_ascii_alphabetic) {
            counts[usize::from(b.to_ascii_lowercase() - b'a')] += 1.0;
        }
        counts
    };
    Ok(texts.iter().map(count).collect())
}

fn embedder() -> Embedder<'static, Infallible> {
    Embedder { passages: &letters, queries: &letters }
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn a_retrieval_set_is_read_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "tools.jsonl",
        concat!(
            r#"{"id": "a", "name": "GET_weather", "description": "Rain and wind.", "parameters": [{"name": "city", "description": "Where.", "type": "string", "required": true}], "server": "sky"}"#,
            "\n\n",
            r#"{"id": 7, "name": "send_mail", "description": null, "parameters": null, "server": null, "category": "x"}"#,
            "\n",
            r#"{"id": "c", "name": "swap", "description": "Trade tokens."}"#,
            "\n",
            r#"{"id": "c", "name": "swap again", "description": "Trade tokens."}"#,
            "\n",
        ),
    );
    write(
        folder.path(),
        "queries.jsonl",
        concat!(
            r#"{"id": 1, "query": "weather in a city", "relevant": ["a"]}"#,
            "\n",
            r#"{"query": "send mail", "relevant": [7, 7, "gone"]}"#,
            "\n",
        ),
    );
    let set = RetrievalSet::load(folder.path()).unwrap();
    assert_eq!((set.tools.len(), set.repeated_tools, set.unknown_relevant), (3, 1, 1));
    assert_eq!(set.tools[0].parameters, [("city".to_owned(), "Where.".to_owned())]);
    assert_eq!(set.queries[1].relevant, ["7", "gone"]);
    let report = evaluate_retrieval(&set, &embedder()).unwrap();
    assert_eq!(report, evaluate_retrieval(&set, &embedder()).unwrap());
    // Both first results are right; of the second query's two, one does not exist.
    let ideal = 1.0 + 1.0 / 3.0f64.log2();
    for measures in [report.keyword, report.hybrid] {
        assert!((measures.ndcg10 - f64::midpoint(1.0, 1.0 / ideal)).abs() < 1e-9, "{measures:?}");
        assert!((measures.recall10 - 0.75).abs() < 1e-9 && (measures.mrr - 1.0).abs() < 1e-9);
    }
    assert_eq!(report.best_single, Mode::Keyword);
    assert!(report.hybrid_minus_best.reaches_zero());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["best_single"], "keyword");
    assert_eq!(serde_json::from_value::<autokit_metrics::RetrievalReport>(json).unwrap(), report);
}

#[test]
fn an_ask_set_is_read_in_every_shape_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    let card = json!({
        "name": "Calendar", "provider": "acme", "description": "Plan meetings.", "module": "acme.tools", "class": "A, B",
        "init_args": {"k": 1}, "tags": ["time"], "kind": "class",
        "parameters": {"type": "object", "properties": {"day": {"description": "Which day."}}},
    });
    let other = json!({"name": "Mail", "description": "Letters."});
    write(folder.path(), "q.jsonl", "{\"q\": \"plan my meetings\", \"gold\": [\"Calendar\", \"Gone\"]}\n");
    for cards in [
        json!([card, other]),
        json!({"cards": [card, other]}),
        json!({"cards": [{"card": card}, {"card": other}]}),
    ] {
        write(folder.path(), "cards.json", &cards.to_string());
        let set = AskSet::load(&folder.path().join("cards.json"), &folder.path().join("q.jsonl")).unwrap();
        assert_eq!((set.cards.len(), set.unknown_gold), (2, 1));
        assert_eq!(
            set.cards[0],
            ToolText {
                id: "000001".into(),
                provider: "acme".into(),
                name: "Calendar".into(),
                aliases: vec!["A".into(), "B".into()],
                description: "Plan meetings.".into(),
                parameters: vec![("day".into(), "Which day.".into()), ("k".into(), String::new())],
                keywords: vec!["acme.tools".into(), "class".into(), "time".into()],
                ..ToolText::default()
            }
        );
        let report = evaluate_ask(&set, &embedder()).unwrap();
        assert!((report.hybrid.hit1 - 1.0).abs() < 1e-9 && (report.keyword.mrr - 1.0).abs() < 1e-9);
        assert_eq!(report.outcomes[0].first, ["Calendar", "Mail"]);
        assert_eq!(report.outcomes[0].hybrid, Some(1));
    }
}

#[test]
fn unreadable_input_is_reported_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let load = || RetrievalSet::load(folder.path()).unwrap_err();
    assert!(matches!(load(), EvalError::Read { path, .. } if path.ends_with("tools.jsonl")));
    write(folder.path(), "tools.jsonl", "{\"id\": \"a\", \"name\": \"x\"}\n{\"id\": \"b\"}\n");
    assert!(matches!(load(), EvalError::Format { line: 2, reason, .. } if reason.contains("name")));
    write(folder.path(), "tools.jsonl", "");
    write(folder.path(), "queries.jsonl", "");
    assert!(matches!(load(), EvalError::Empty { what: "tools", .. }));
    write(folder.path(), "tools.jsonl", "{\"id\": \"a\", \"name\": \"x\"}\n");
    assert!(matches!(load(), EvalError::Empty { what: "queries", .. }));
    write(folder.path(), "cards.json", "{\"cards\": 3}");
    let ask = || AskSet::load(&folder.path().join("cards.json"), &folder.path().join("q.jsonl")).unwrap_err();
    assert!(matches!(ask(), EvalError::Format { line: 0, .. }));
    write(folder.path(), "cards.json", "[{\"description\": \"no name\"}]");
    assert!(ask().to_string().contains("card 1 has no name"));
}

#[test]
fn a_failing_embedder_stops_the_evaluation() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "tools.jsonl", "{\"id\": \"a\", \"name\": \"x\"}\n");
    write(folder.path(), "queries.jsonl", "{\"query\": \"x\", \"relevant\": [\"a\"]}\n");
    let set = RetrievalSet::load(folder.path()).unwrap();
    let fails = |_: &[String]| Err("no model".to_owned());
    let error = evaluate_retrieval(&set, &Embedder { passages: &fails, queries: &fails }).unwrap_err();
    assert!(error.to_string().contains("no model"));
    let short = |_: &[String]| Ok::<_, String>(Vec::new());
    let error = evaluate_retrieval(&set, &Embedder { passages: &short, queries: &short }).unwrap_err();
    assert!(error.to_string().contains("1 texts gave 0 vectors"), "{error}");
}
