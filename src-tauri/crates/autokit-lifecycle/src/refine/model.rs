//! The three roles of DRAFT, played by a language model (§2.2 to §2.4).

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use autokit_embed::Embedder;
use autokit_llm::prompts;
use autokit_refine::draft::{Analysis, DraftError, DraftModel, Exploring, Instance, Rewrite, Similarity};
use autokit_refine::{Outcome, ToolDocument, Trial};
use autokit_serving::recordings;
use serde_json::{Value, json};

use crate::budget::{BudgetedModel, text_of};

/// Most characters of a result or an error shown to the model.
const SHOWN: usize = 4_000;

fn shown(value: &Value) -> String {
    recordings::text_of(value).chars().take(SHOWN).collect()
}

fn shown_tool(tool: &ToolDocument) -> String {
    format!("{}\n{}\nArguments: {}", tool.name, tool.description, tool.parameters)
}

fn shown_trial(trial: &Trial) -> String {
    let outcome = match &trial.outcome {
        Outcome::Success { result } => format!("It returned: {}", shown(result)),
        Outcome::Refused { status, error } => {
            let status = status.map(|status| format!(" with status {status}")).unwrap_or_default();
            format!("It failed{status}: {}", shown(error))
        }
        Outcome::NotMade { reason } | Outcome::Unavailable { reason } => {
            format!("There was no answer: {reason}")
        }
    };
    format!("Request: {}\nArguments: {}\n{outcome}", trial.query, Value::Object(trial.arguments.clone()))
}

fn numbered(texts: impl Iterator<Item = String>) -> String {
    let mut out = String::new();
    for (at, text) in texts.enumerate() {
        let _ = writeln!(out, "{}. {text}", at + 1);
    }
    if out.is_empty() { "(none)".to_owned() } else { out }
}

#[async_trait]
impl DraftModel for BudgetedModel {
    async fn explore(&self, exploring: Exploring<'_>) -> Result<Instance, DraftError> {
        let schema = json!({
            "type": "object",
            "properties": {"query": {"type": "string"}, "arguments": {"type": "object"}},
            "required": ["query", "arguments"],
        });
        let reflection = exploring.too_similar.map_or_else(
            || "(none)".to_owned(),
            |(instance, earlier)| format!("{:?} is too similar to {earlier:?}", instance.query),
        );
        let history = numbered(exploring.history.iter().map(shown_trial));
        let slots = [
            ("tool", shown_tool(exploring.tool)),
            ("direction", exploring.direction.unwrap_or("(none)").to_owned()),
            ("history", history),
            ("reflection", reflection),
        ];
        let slots: Vec<(&str, &str)> = slots.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let answer = self.ask(&prompts::REFINE_EXPLORE, &slots, &schema).await.map_err(DraftError::Model)?;
        let arguments = answer.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Instance { query: text_of(&answer, "query"), arguments })
    }

    async fn analyze(
        &self,
        tool: &ToolDocument,
        trial: &Trial,
        versions: &[String],
    ) -> Result<Analysis, DraftError> {
        let schema = json!({
            "type": "object",
            "properties": {"suggestion": {"type": "string"}, "shows_something_new": {"type": "boolean"}},
            "required": ["suggestion", "shows_something_new"],
        });
        let (tool, trial) = (shown_tool(tool), shown_trial(trial));
        let versions = numbered(versions.iter().cloned());
        let slots = [("tool", tool.as_str()), ("call", trial.as_str()), ("versions", versions.as_str())];
        let answer = self.ask(&prompts::REFINE_ANALYZE, &slots, &schema).await.map_err(DraftError::Model)?;
        let shows_something_new = answer.get("shows_something_new").and_then(Value::as_bool).unwrap_or(false);
        Ok(Analysis { suggestion: text_of(&answer, "suggestion"), shows_something_new })
    }

    async fn rewrite(
        &self,
        tool: &ToolDocument,
        trial: &Trial,
        suggestion: &str,
        versions: &[String],
    ) -> Result<Rewrite, DraftError> {
        let schema = json!({
            "type": "object",
            "properties": {"description": {"type": "string"}, "direction": {"type": "string"}},
            "required": ["description", "direction"],
        });
        let (tool, trial) = (shown_tool(tool), shown_trial(trial));
        let versions = numbered(versions.iter().cloned());
        let slots = [
            ("tool", tool.as_str()),
            ("call", trial.as_str()),
            ("suggestion", suggestion),
            ("versions", versions.as_str()),
        ];
        let answer = self.ask(&prompts::REFINE_REWRITE, &slots, &schema).await.map_err(DraftError::Model)?;
        Ok(Rewrite { description: text_of(&answer, "description"), direction: text_of(&answer, "direction") })
    }
}

/// Compares texts with the library's embedding model.
pub(super) struct ByEmbedding(pub Arc<Embedder>);

impl Similarity for ByEmbedding {
    fn cosine(&self, a: &str, b: &str) -> Result<f64, DraftError> {
        let failed = |error: &dyn std::fmt::Display| DraftError::Embedding(error.to_string());
        let vectors = self.0.embed_passages(&[a, b]).map_err(|error| failed(&error))?;
        match vectors.as_slice() {
            // The vectors have unit length.
            [a, b] => Ok(a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum()),
            _ => Err(failed(&"two texts gave another number of vectors")),
        }
    }
}
