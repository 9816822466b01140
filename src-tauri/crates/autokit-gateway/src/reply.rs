//! The response to a search: all results, with the schemas of callable ones, within a token budget.

use serde_json::{Map, Value, json};

use crate::schema::without_explanations;
use crate::session::McpSessionId;
use crate::tokens;
use crate::toolbox::{Hit, HitKind};

/// The response to a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// JSON for the model.
    pub text: String,
    /// Its size in tokens.
    pub tokens: u32,
}

/// Builds the response. `names` are the names by which the callable results can be called, in order.
/// `handle` is the context they were bound in, if the agent has to name it.
///
/// The best callable result has its full schema, unless that alone exceeds the budget. The others have
/// theirs while the budget lasts: in full, then without explanations, then not at all, which a note says.
pub fn build(
    hits: &[Hit],
    names: &[String],
    handle: Option<&McpSessionId>,
    notes: &[String],
    budget: u32,
) -> Reply {
    let mut names = names.iter();
    let mut remaining =
        i64::from(budget) - notes.iter().map(|note| i64::from(tokens::of_text(note))).sum::<i64>();
    let mut rows = Vec::new();
    let (mut shortened, mut left_out) = (Vec::new(), Vec::new());
    let mut first = true;
    for hit in hits {
        let mut row = Map::new();
        let mut put = |key: &str, value: Value| row.insert(key.to_owned(), value);
        let callable = match &hit.kind {
            HitKind::Callable(definition) => names.next().map(|name| (name, definition)),
            HitKind::Reference { .. } | HitKind::Installable { .. } => None,
        };
        put("name", callable.map_or(hit.name.as_str(), |(name, _)| name).into());
        put("id", hit.id.as_str().into());
        if !hit.provider.is_empty() {
            put("provider", hit.provider.as_str().into());
        }
        put("about", hit.summary.as_str().into());
        put("tier", json!(hit.tier));
        put("score", json!((f64::from(hit.score) * 100.0).round() / 100.0));
        put("callable", callable.is_some().into());
        match &hit.kind {
            HitKind::Callable(_) => {}
            HitKind::Reference { stub, documentation } => {
                put("reference", true.into());
                let mut some = |key: &str, text: &Option<String>| {
                    if let Some(text) = text {
                        put(key, text.as_str().into());
                    }
                };
                some("stub", stub);
                some("documentation", documentation);
            }
            HitKind::Installable { facts } => {
                put("installable", true.into());
                for (key, value) in facts {
                    if key != "name" {
                        put(key, value.clone());
                    }
                }
            }
        }
        remaining -= cost(&Value::Object(row.clone()));
        if let Some((name, definition)) = callable {
            let full = Value::Object(definition.schema.clone());
            let bare = without_explanations(&full);
            if cost(&full) <= remaining || (first && cost(&full) <= i64::from(budget)) {
                remaining -= cost(&full);
                row.insert("input_schema".to_owned(), full);
            } else if cost(&bare) <= remaining || (first && cost(&bare) <= i64::from(budget)) {
                remaining -= cost(&bare);
                row.insert("input_schema".to_owned(), bare);
                shortened.push(name.as_str());
            } else {
                left_out.push(name.as_str());
            }
            first = false;
        }
        rows.push(Value::Object(row));
    }
    let mut notes = notes.to_vec();
    if !shortened.is_empty() {
        notes.push(format!("Descriptions omitted from the schemas of: {}.", shortened.join(", ")));
    }
    if !left_out.is_empty() {
        notes.push(format!(
            "No space for the schemas of: {}. Search for a tool by name to see its schema.",
            left_out.join(", ")
        ));
    }
    if rows.is_empty() {
        notes.push("No matching tools. Rephrase what the tool should do.".to_owned());
    }
    let mut answer = Map::new();
    if let Some(handle) = handle {
        answer.insert("context".to_owned(), handle.as_str().into());
    }
    answer.insert("results".to_owned(), rows.into());
    if !notes.is_empty() {
        answer.insert("notes".to_owned(), notes.into());
    }
    let text = Value::Object(answer).to_string();
    Reply { tokens: tokens::of_text(&text), text }
}

fn cost(value: &Value) -> i64 {
    i64::from(tokens::of_text(&value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Definition;
    use crate::toolbox::Tier;

    fn hit(name: &str, schema: &Value) -> Hit {
        let definition = Definition {
            id: format!("id-{name}"),
            name: name.to_owned(),
            provider: "Acme".to_owned(),
            description: "Does it.".to_owned(),
            schema: schema.as_object().cloned().unwrap_or_default(),
            annotations: None,
        };
        Hit {
            id: definition.id.clone(),
            name: name.to_owned(),
            provider: "Acme".to_owned(),
            summary: "Does it.".to_owned(),
            tier: Tier::Library,
            score: 0.734_5,
            kind: HitKind::Callable(Box::new(definition)),
        }
    }

    fn schema(length: usize) -> Value {
        json!({"type": "object", "properties": {"description": {"type": "string", "description": "x".repeat(length)}}})
    }

    fn read(reply: &Reply) -> Value {
        serde_json::from_str(&reply.text).expect("JSON")
    }

    #[test]
    fn results_state_how_they_can_be_used() {
        let reference = Hit {
            kind: HitKind::Reference { stub: Some("import x".to_owned()), documentation: None },
            ..hit("book", &json!({}))
        };
        let reply = build(
            &[hit("send", &schema(10)), reference],
            &["send_2".to_owned()],
            Some(&McpSessionId::new("ctx_1")),
            &[],
            1_000,
        );
        assert_eq!(
            read(&reply),
            json!({"context": "ctx_1", "results": [
                {"name": "send_2", "id": "id-send", "provider": "Acme", "about": "Does it.", "tier": "library",
                    "score": 0.73, "callable": true, "input_schema": schema(10)},
                {"name": "book", "id": "id-book", "provider": "Acme", "about": "Does it.", "tier": "library",
                    "score": 0.73, "callable": false, "reference": true, "stub": "import x"},
            ]})
        );
        assert_eq!(reply.tokens as usize, reply.text.chars().count().div_ceil(4));
        let nothing = read(&build(&[], &[], None, &[], 1_000));
        assert!(nothing["notes"][0].as_str().is_some_and(|note| note.contains("Rephrase")));
    }

    #[test]
    fn schemas_are_shortened_to_fit_the_budget_with_a_note() {
        let hits: Vec<Hit> = ["a", "b", "c", "d"].map(|name| hit(name, &schema(800))).into();
        let names: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
        let bare = json!({"type": "object", "properties": {"description": {"type": "string"}}});
        let full = read(&build(&hits, &names, None, &[], 10_000));
        assert!(full.get("notes").is_none() && full["results"][3]["input_schema"] == schema(800));
        let reply = build(&hits, &names, None, &[], 400);
        let shortened = read(&reply);
        assert_eq!(shortened["results"][0]["input_schema"], schema(800));
        assert_eq!(shortened["results"][1]["input_schema"], bare);
        assert!(shortened["notes"][0].as_str().is_some_and(|note| note.contains("of: b, c")), "{shortened}");
        let tight = read(&build(&hits, &names, None, &[], 60));
        assert_eq!(tight["results"][0]["input_schema"], bare);
        assert!(tight["results"][1].get("input_schema").is_none());
        assert!(tight["notes"][1].as_str().is_some_and(|note| note.contains("b, c, d")), "{tight}");
        // However large a schema is, the response stays within a small multiple of the budget.
        let huge: Vec<Hit> = ["a", "b", "c", "d"].map(|name| hit(name, &schema(1_000_000))).into();
        assert!(build(&huge, &names, None, &[], 400).tokens < 800);
    }
}
