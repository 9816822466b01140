//! Has a language model choose among the passages. It returns numbers of passages and words to search for; nothing that
//! it writes becomes part of the summary.

use autokit_llm::prompts::{self, Prompts};
use autokit_llm::{Model, Usage};
use serde::Deserialize;
use serde_json::json;

use super::{MAX_SENTENCES, Research, ResearchPassage};
use crate::ask::model::structured;
use crate::outlier::is_outlier;

/// Passages shown to the model.
const SHOWN: usize = 24;
/// Longest passage shown, in characters.
const MAX_CHARS: usize = 600;
/// Most searches it may suggest for a round.
const QUERIES: usize = 3;
/// Longest of them, in characters.
const MAX_QUERY: usize = 200;

/// What the model chose.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// Indexes of passages, in the order in which they are to be read.
    pub(super) passages: Vec<u32>,
    /// Whether they answer the question.
    pub(super) complete: bool,
    /// What to search for next.
    pub(super) queries: Vec<String>,
}

#[derive(Deserialize)]
struct Chosen {
    passages: Vec<i64>,
    complete: bool,
    queries: Vec<String>,
}

/// Asks the model. Numbers that were not shown are ignored, as are passages far from the question: a model that was
/// talked into one by a page does not get it into the summary.
///
/// # Errors
/// When the request fails or the reply does not match the schema.
pub(super) async fn choose(
    model: &Model,
    prompts: &Prompts,
    question: &str,
    state: &Research,
) -> autokit_llm::Result<(Choice, Usage)> {
    let source_of = |passage: &ResearchPassage| state.sources.get(passage.source as usize);
    // A person's documents and code stay on this machine.
    let public: Vec<usize> = (0..state.passages.len())
        .filter(|&at| source_of(&state.passages[at]).is_some_and(|source| source.kind.is_public()))
        .take(SHOWN)
        .collect();
    let shown: Vec<String> = public
        .iter()
        .zip(1..)
        .map(|(&at, number)| {
            let passage = &state.passages[at];
            let title = source_of(passage).map_or("", |source| source.title.as_str());
            let text: String = passage.text.chars().take(MAX_CHARS).collect();
            let outdated = if passage.outdated { " (outdated page)" } else { "" };
            format!("[{number}] {title} > {}{outdated}\n{text}", passage.heading.join(" > "))
        })
        .collect();
    let tried = if state.queries.is_empty() { "nothing yet".to_owned() } else { state.queries.join("\n") };
    let prompt = prompts.fill(
        &prompts::RESEARCH,
        &[("question", question), ("passages", &shown.join("\n\n")), ("tried", &tried)],
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "passages": { "type": "array", "items": { "type": "integer" }, "maxItems": MAX_SENTENCES },
            "complete": { "type": "boolean" },
            "queries": { "type": "array", "items": { "type": "string" }, "maxItems": QUERIES },
        },
        "required": ["passages", "complete", "queries"],
        "additionalProperties": false,
    });
    let (chosen, usage): (Chosen, Usage) = structured(model, prompt, "research", &schema).await?;
    let best = state.passages.first().map_or(0.0, |best| best.score);
    let mut passages: Vec<u32> = Vec::new();
    for number in chosen.passages {
        let Some(&at) = number.checked_sub(1).and_then(|at| public.get(usize::try_from(at).ok()?)) else {
            continue;
        };
        let passage = &state.passages[at];
        if !is_outlier(passage.score, best) && !passages.contains(&(at as u32)) {
            passages.push(at as u32);
        }
    }
    passages.truncate(MAX_SENTENCES);
    let queries = chosen.queries.into_iter().take(QUERIES);
    let queries = queries.map(|query| query.split_whitespace().collect::<Vec<_>>().join(" "));
    let queries = queries.map(|query| query.chars().take(MAX_QUERY).collect()).collect();
    Ok((Choice { passages, complete: chosen.complete, queries }, usage))
}
