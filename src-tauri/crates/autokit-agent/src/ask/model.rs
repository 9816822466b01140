//! The requests to language models, and which parts of their responses are used.

use std::sync::Arc;

use autokit_llm::{Model, Request, Usage};
use autokit_toolcard::Stub;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Ranked, Retrieved};
use autokit_llm::prompts::{self, Prompts};

type ModelResult<T> = autokit_llm::Result<(T, Usage)>;

/// Most characters of a card or a chunk of a page shown to a model.
const MAX_CHARS: usize = 2000;

fn truncate(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}

async fn structured<T: serde::de::DeserializeOwned>(
    model: &Model,
    prompt: String,
    name: &str,
    schema: &Value,
) -> ModelResult<T> {
    let request = Request::new("Answer with JSON after the schema and nothing else.", prompt);
    let answer = model.structured(&request, name, schema).await?;
    let value = serde_json::from_value(answer.value)
        .map_err(|error| autokit_llm::Error::Unstructured { problems: vec![error.to_string()] })?;
    Ok((value, answer.usage))
}

#[derive(Deserialize)]
struct Scores {
    scores: Vec<Score>,
}

#[derive(Deserialize)]
struct Score {
    id: String,
    #[serde(rename = "score")]
    value: f32,
    justification: String,
}

/// Reranks candidates by scores from a model (AutoAgent: score 0–1 and justification). Unknown ids are
/// dropped; candidates the model left out keep their order after those it scored.
pub(super) async fn rerank(
    model: &Model,
    prompts: &Prompts,
    question: &str,
    candidates: &[Ranked],
) -> ModelResult<Vec<Ranked>> {
    let shown: Vec<Value> = candidates
        .iter()
        .map(|card| json!({ "id": card.id, "name": card.name, "description": card.description }))
        .collect();
    let prompt = prompts
        .fill(&prompts::RERANK, &[("question", question), ("candidates", &Value::from(shown).to_string())]);
    let schema = json!({
        "type": "object",
        "properties": { "scores": { "type": "array", "items": {
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "score": { "type": "number", "minimum": 0, "maximum": 1 },
                "justification": { "type": "string" },
            },
            "required": ["id", "score", "justification"],
            "additionalProperties": false,
        } } },
        "required": ["scores"],
        "additionalProperties": false,
    });
    let (scores, usage): (Scores, Usage) = structured(model, prompt, "scores", &schema).await?;
    Ok((by_scores(candidates, scores.scores), usage))
}

fn by_scores(candidates: &[Ranked], scores: Vec<Score>) -> Vec<Ranked> {
    let mut ranked = candidates.to_vec();
    for score in scores {
        // If the model scores a candidate twice, the first score counts.
        if let Some(card) =
            ranked.iter_mut().find(|card| card.id.as_str() == score.id && card.judged.is_none())
        {
            card.judged = Some(score.value.clamp(0.0, 1.0));
            card.justification = Some(score.justification.chars().take(200).collect());
        }
    }
    // The sort is stable: equal scores, and cards without one, keep the order of the ranking.
    ranked.sort_by(|a, b| b.judged.unwrap_or(-1.0).total_cmp(&a.judged.unwrap_or(-1.0)));
    ranked
}

/// An answer as written by a model.
#[derive(Debug, Deserialize)]
pub(super) struct Written {
    pub(super) tool: Option<String>,
    pub(super) sentence: String,
    pub(super) why: String,
    pub(super) code: String,
}

pub(super) async fn answer(
    model: &Model,
    prompts: &Prompts,
    question: &str,
    cards: &[Arc<Retrieved>],
    correction: &str,
) -> ModelResult<Written> {
    let facts: Vec<Value> = cards
        .iter()
        .map(|card| {
            let page =
                card.cited.as_ref().map(|cited| json!({ "url": cited.url, "text": truncate(&cited.text) }));
            json!({ "id": card.id, "card": truncate(&card.body), "documentation": page })
        })
        .collect();
    let prompt = prompts.fill(
        &prompts::ANSWER,
        &[("question", question), ("tools", &Value::from(facts).to_string()), ("correction", correction)],
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "tool": { "type": ["string", "null"] },
            "sentence": { "type": "string" },
            "why": { "type": "string" },
            "code": { "type": "string" },
        },
        "required": ["tool", "sentence", "why", "code"],
        "additionalProperties": false,
    });
    structured(model, prompt, "answer", &schema).await
}

pub(super) async fn grade(
    model: &Model,
    prompts: &Prompts,
    question: &str,
    answer: &str,
) -> autokit_llm::Result<(bool, String, Usage)> {
    #[derive(Deserialize)]
    struct Grade {
        answers: bool,
        reason: String,
    }
    let prompt = prompts.fill(&prompts::GRADE, &[("question", question), ("answer", answer)]);
    let schema = json!({
        "type": "object",
        "properties": { "answers": { "type": "boolean" }, "reason": { "type": "string" } },
        "required": ["answers", "reason"],
        "additionalProperties": false,
    });
    let (grade, usage): (Grade, Usage) = structured(model, prompt, "grade", &schema).await?;
    Ok((grade.answers, grade.reason.chars().take(200).collect(), usage))
}

pub(super) async fn rewrite(
    model: &Model,
    prompts: &Prompts,
    question: &str,
    tried: &str,
    reason: &str,
) -> ModelResult<String> {
    #[derive(Deserialize)]
    struct Rewritten {
        query: String,
    }
    let prompt =
        prompts.fill(&prompts::REWRITE, &[("question", question), ("tried", tried), ("reason", reason)]);
    let schema = json!({
        "type": "object",
        "properties": { "query": { "type": "string" } },
        "required": ["query"],
        "additionalProperties": false,
    });
    let (rewritten, usage): (Rewritten, Usage) = structured(model, prompt, "query", &schema).await?;
    Ok((rewritten.query.chars().take(300).collect(), usage))
}

pub(super) async fn starter(
    model: &Model,
    prompts: &Prompts,
    use_case: &str,
    card: &str,
    documentation: &str,
) -> ModelResult<Stub> {
    let prompt = prompts
        .fill(&prompts::STARTER, &[("use_case", use_case), ("tool", card), ("documentation", documentation)]);
    let schema = json!({
        "type": "object",
        "properties": { "code": { "type": "string" }, "language": { "type": "string" } },
        "required": ["code", "language"],
        "additionalProperties": false,
    });
    structured(model, prompt, "starter", &schema).await
}

#[cfg(test)]
mod tests {
    use autokit_search::ScoreParts;
    use autokit_toolcard::CardId;

    use super::*;

    #[test]
    fn unknown_ids_are_dropped_and_unscored_cards_keep_their_order() {
        let card = |id: &str| Ranked {
            id: CardId::new(id),
            name: id.into(),
            description: String::new(),
            score: 0.5,
            parts: ScoreParts::default(),
            judged: None,
            justification: None,
        };
        let score = |id: &str, value| Score { id: id.into(), value, justification: "because".into() };
        let ranked = by_scores(
            &[card("a"), card("b"), card("c"), card("d")],
            vec![score("c", 0.4), score("nobody", 1.0), score("d", 0.9), score("d", 0.0)],
        );
        let ids: Vec<&str> = ranked.iter().map(|card| card.id.as_str()).collect();
        assert_eq!(ids, ["d", "c", "a", "b"]);
        assert_eq!((ranked[0].judged, ranked[3].judged), (Some(0.9), None));
    }
}
