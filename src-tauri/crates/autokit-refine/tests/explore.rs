//! Exploring small tools whose documentation is wrong in one place each, or in none.

use std::collections::BTreeSet;

use async_trait::async_trait;
use autokit_refine::explore::{ExploreOptions, Stop, explore};
use autokit_refine::{Finding, Outcome, ToolCaller, ToolDocument, ValuePool};
use serde_json::{Map, Value, json};

type Arguments = Map<String, Value>;

/// A tool that behaves as a function says.
struct Tool<F>(F);

#[async_trait]
impl<F: Fn(&Arguments) -> Result<Value, (u16, Value)> + Send + Sync> ToolCaller for Tool<F> {
    async fn call(&self, arguments: &Arguments) -> Outcome {
        match (self.0)(arguments) {
            Ok(result) => Outcome::Success { result },
            Err((status, error)) => Outcome::Refused { status: Some(status), error },
        }
    }
}

fn document(parameters: Value) -> ToolDocument {
    ToolDocument {
        name: "search_books".to_owned(),
        description: "Searches books. Errors have status 400 or 404.".to_owned(),
        parameters,
        returns: None,
    }
}

/// Explores a tool and returns what was found but for the example, and checks that every finding names its calls.
async fn found(
    tool: &ToolDocument,
    behaviour: impl Fn(&Arguments) -> Result<Value, (u16, Value)> + Send + Sync,
) -> Vec<Finding> {
    let exploration =
        explore(tool, &Tool(behaviour), &mut ValuePool::default(), ExploreOptions::default(), &|_| {}).await;
    assert_eq!(exploration.stopped, None);
    for observation in &exploration.observations {
        assert!(!observation.trials.is_empty(), "{observation:?}");
        assert!(observation.trials.iter().all(|at| *at < exploration.trials.len()), "{observation:?}");
        assert!(!observation.finding.sentence().is_empty());
    }
    exploration
        .observations
        .into_iter()
        .map(|observation| observation.finding)
        .filter(|finding| !matches!(finding, Finding::Example { replaces_documented: false, .. }))
        .collect()
}

fn refuse<T>(error: Value) -> Result<T, (u16, Value)> {
    Err((400, error))
}

fn integer(arguments: &Arguments, name: &str) -> Option<i64> {
    arguments.get(name).and_then(Value::as_i64)
}

#[tokio::test]
async fn a_truthful_tool_yields_nothing() {
    let tool = document(json!({
        "type": "object",
        "properties": {
            "q": {"type": "string", "maxLength": 20},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "page": {"type": "integer", "minimum": 1},
            "sort": {"type": "string", "enum": ["title", "year"]},
            "since": {"type": "string", "format": "date"},
        },
        "required": ["q"],
    }));
    let behaviour = |arguments: &Arguments| {
        let Some(q) = arguments.get("q").and_then(Value::as_str) else {
            return refuse(json!({"error": "missing required parameter q"}));
        };
        if q.len() > 20 {
            return refuse(json!({"error": "q is longer than 20 characters"}));
        }
        let limit = integer(arguments, "limit").unwrap_or(10);
        if !(1..=50).contains(&limit) {
            return refuse(json!({"error": "limit must be between 1 and 50"}));
        }
        let page = integer(arguments, "page").unwrap_or(1);
        if page < 1 {
            return refuse(json!({"error": "page must be at least 1"}));
        }
        if page > 3 {
            return Err((404, json!({"error": format!("page {page} does not exist")})));
        }
        if let Some(sort) = arguments.get("sort")
            && sort != "title"
            && sort != "year"
        {
            return refuse(json!({"error": "sort must be one of: title, year"}));
        }
        if let Some(since) = arguments.get("since").and_then(Value::as_str)
            && (since.len() != 10 || since.as_bytes()[4] != b'-')
        {
            return refuse(json!({"error": "since must be a date"}));
        }
        let items: Vec<Value> = (0..limit).map(|at| json!({"id": 400 + at})).collect();
        Ok(json!({"items": items, "total": 150}))
    };
    assert_eq!(found(&tool, behaviour).await, []);
}

#[tokio::test]
async fn what_is_required_is_found_whether_documented_or_not() {
    let tool = document(json!({
        "type": "object",
        "properties": {"q": {"type": "string"}, "region": {"type": "string", "example": "eu"}, "old": {"type": "integer"}},
        "required": ["q", "old"],
    }));
    let behaviour = |arguments: &Arguments| {
        for name in ["region", "format"] {
            if !arguments.contains_key(name) {
                return refuse(json!({"detail": [{"loc": ["query", name], "msg": "field required"}]}));
            }
        }
        if !arguments.contains_key("q") {
            return refuse(json!("Missing parameter: q"));
        }
        Ok(json!({"items": []}))
    };
    let mut found = found(&tool, behaviour).await;
    found.sort_by_key(|finding| finding.parameter().map(str::to_owned));
    assert_eq!(
        found,
        [
            Finding::Required { parameter: "format".into(), example: json!("test"), is_documented: false },
            Finding::Optional { parameter: "old".into() },
            Finding::Required { parameter: "region".into(), example: json!("eu"), is_documented: true },
        ]
    );
}

#[tokio::test]
async fn values_are_found() {
    let tool = document(json!({
        "type": "object",
        "properties": {
            "sort": {"type": "string", "enum": ["asc", "desc", "rank"]},
            "kind": {"type": "string"},
        },
    }));
    let behaviour = |arguments: &Arguments| {
        let check = |name: &str, allowed: &[&str]| match arguments.get(name).and_then(Value::as_str) {
            Some(value) if !allowed.contains(&value) => {
                refuse(json!({"message": format!("{name} must be one of {}", allowed.join(", "))}))
            }
            _ => Ok(()),
        };
        check("sort", &["asc", "desc", "year"])?;
        check("kind", &["novel", "poem"])?;
        Ok(json!([]))
    };
    let found: BTreeSet<String> = found(&tool, behaviour).await.iter().map(Finding::sentence).collect();
    let expected =
        ["`kind` accepts `novel` and `poem`.", "`sort` accepts `year`.", "`sort` does not accept `rank`."];
    assert_eq!(found, expected.into_iter().map(str::to_owned).collect());
}

#[tokio::test]
async fn limits_are_found_whether_errors_name_them_or_not() {
    let tool = document(json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "maximum": 100},
            "radius": {"type": "integer"},
            "size": {"type": "integer"},
            "note": {"type": "string"},
        },
    }));
    let behaviour = |arguments: &Arguments| {
        if integer(arguments, "limit").is_some_and(|limit| limit > 50) {
            return refuse(json!({"error": "limit is too large"}));
        }
        if integer(arguments, "radius").is_some_and(|radius| !(5..=300).contains(&radius)) {
            return refuse(
                json!({"error": {"param": "radius", "message": "Only 5 to 300 kilometres: out of range"}}),
            );
        }
        if arguments.get("note").and_then(Value::as_str).is_some_and(|note| note.len() > 140) {
            return refuse(json!({"error": "note: at most 140 characters"}));
        }
        let size = integer(arguments, "size").unwrap_or(20).clamp(0, 40);
        Ok(json!({"items": vec![json!({"a": 1}); size as usize], "total": 90}))
    };
    let found: BTreeSet<String> = found(&tool, behaviour).await.iter().map(Finding::sentence).collect();
    for sentence in [
        "`limit` is at most 50.",
        "`radius` is at most 300.",
        "`radius` is at least 5.",
        "`note` has at most 140 characters.",
        "At most 40 items are returned, whatever `size` asks for.",
    ] {
        assert!(found.contains(sentence), "{sentence}: {found:#?}");
    }
    assert_eq!(found.len(), 5, "{found:#?}");
}

#[tokio::test]
async fn relations_formats_and_defaults_are_found() {
    let tool = document(json!({
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "integer"},
            "lat": {"type": "number"},
            "lon": {"type": "number"},
            "since": {"type": "string", "format": "date"},
            "order": {"type": "string", "enum": ["up", "down"], "default": "up"},
            "gone": {"type": "string"},
        },
    }));
    let behaviour = |arguments: &Arguments| {
        let has = |name: &str| arguments.contains_key(name);
        if has("a") && has("b") {
            return refuse(json!({"error": "a and b are mutually exclusive"}));
        }
        if has("lat") != has("lon") {
            return refuse(json!({"error": "lat requires lon, lon requires lat"}));
        }
        if has("gone") {
            return refuse(json!({"error": "unknown parameter 'gone'"}));
        }
        if let Some(since) = arguments.get("since").and_then(Value::as_str)
            && !since.contains('.')
        {
            return refuse(json!({"error": "since has the wrong format"}));
        }
        let order = arguments.get("order").and_then(Value::as_str).unwrap_or("down");
        Ok(json!({"items": if order == "up" { [1, 2] } else { [2, 1] }}))
    };
    let found: BTreeSet<String> = found(&tool, behaviour).await.iter().map(Finding::sentence).collect();
    for sentence in [
        "`a` and `b` cannot be used together.",
        "`lat` is only accepted together with `lon`.",
        "`lon` is only accepted together with `lat`.",
        "`gone` is not accepted.",
        "`since` has the format DD.MM.YYYY, e.g. `15.01.2024`.",
        "Without `order`, `down` is used.",
    ] {
        assert!(found.contains(sentence), "{sentence}: {found:#?}");
    }
    assert_eq!(found.len(), 6, "{found:#?}");
}

#[tokio::test]
async fn results_and_errors_are_compared_with_what_is_documented() {
    let tool = ToolDocument {
        description: "Searches books.".to_owned(),
        returns: Some(json!({
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": {"type": "object", "properties": {
                    "id": {"type": "integer"}, "title": {"type": "string"}, "year": {"type": "integer"},
                }}},
                "next": {"type": "string"},
            },
        })),
        ..document(json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}))
    };
    let behaviour = |arguments: &Arguments| {
        if !arguments.contains_key("q") {
            return Err((422, json!({"error": {"code": 7, "message": "q is required"}})));
        }
        let item = json!({"id": "b1", "book_title": "A", "year": 1900});
        Ok(json!({"items": [item, item], "total": 2, "page": 1}))
    };
    let found: BTreeSet<String> = found(&tool, behaviour).await.iter().map(Finding::sentence).collect();
    let expected = [
        "If `q` is missing, the call fails with status 422; the message is in `error.message`.",
        "The result also has `page` (integer).",
        "The result also has `total` (integer).",
        "The result has `items[].book_title` instead of `items[].title`.",
        "The result has no `next`.",
        "`items[].id` in the result is of type string, not integer.",
    ];
    assert_eq!(found, expected.into_iter().map(str::to_owned).collect());
}

#[tokio::test]
async fn an_exploration_ends_within_its_calls_and_without_a_tool() {
    struct Away;
    #[async_trait]
    impl ToolCaller for Away {
        async fn call(&self, _: &Arguments) -> Outcome {
            Outcome::Unavailable { reason: "no connection".to_owned() }
        }
    }
    let tool = document(json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
    let mut pool = ValuePool::default();
    let away = explore(&tool, &Away, &mut pool, ExploreOptions::default(), &|_| {}).await;
    assert_eq!(away.stopped, Some(Stop::Unavailable { reason: "no connection".to_owned() }));
    assert_eq!((away.trials.len(), away.observations.len()), (2, 0));
    let options = ExploreOptions { calls: 3 };
    let few = explore(&tool, &Tool(|_: &Arguments| Ok(json!([]))), &mut pool, options, &|_| {}).await;
    assert_eq!((few.stopped, few.trials.len()), (Some(Stop::OutOfCalls), 3));
    let never = |_: &Arguments| refuse(json!({"error": "Bad request"}));
    let none = explore(&tool, &Tool(never), &mut pool, ExploreOptions::default(), &|_| {}).await;
    assert_eq!((none.stopped, none.observations.len()), (Some(Stop::NoWorkingCall), 0));
}
