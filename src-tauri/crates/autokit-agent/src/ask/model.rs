//! The requests to language models, and which parts of their responses are used.

use std::sync::Arc;

use autokit_llm::prompts::{self, Prompts};
use autokit_llm::{Model, Request, Usage};
use autokit_toolcard::Stub;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Ranked, Retrieved};
use crate::rerank::{self, Candidate};

type ModelResult<T> = autokit_llm::Result<(T, Usage)>;

/// Most characters of a card or a chunk of a page shown to a model.
const MAX_CHARS: usize = 2000;

fn truncate(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}

pub(crate) async fn structured<T: serde::de::DeserializeOwned>(
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

/// Reranks candidates by a model's scores; `None` if it turned them upside down, see [`rerank::order`].
pub(super) async fn rerank(
    model: &Model,
    prompts: &Prompts,
    question: &str,
    ranked: &[Ranked],
) -> ModelResult<Option<Vec<Ranked>>> {
    let candidates: Vec<Candidate> = ranked
        .iter()
        .map(|card| Candidate {
            id: card.id.to_string(),
            name: card.name.clone(),
            description: card.description.clone(),
            score: card.score,
        })
        .collect();
    let (judged, usage) = rerank::judge(model, prompts, question, &candidates).await?;
    let reranked = rerank::order(&candidates, &judged).map(|order| {
        let card = |at: usize| Ranked {
            judged: judged[at].as_ref().map(|one| one.score),
            justification: judged[at].as_ref().map(|one| one.justification.clone()),
            ..ranked[at].clone()
        };
        order.into_iter().map(card).collect()
    });
    Ok((reranked, usage))
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
