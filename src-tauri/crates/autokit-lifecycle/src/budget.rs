//! A language model that stops when a budget is used up.

use autokit_error::{ApiError, ErrorCode};
use autokit_llm::prompts::{Prompt, Prompts};
use autokit_llm::{Model, Request};
use autokit_workspace::providers::Providers;
use serde_json::Value;

/// Checks what language models may cost, in US dollars.
///
/// # Errors
/// `bad_request` for what is no amount of money.
pub(crate) fn check_budget(budget: Option<f64>) -> autokit_error::Result<()> {
    if budget.is_none_or(|budget| budget.is_finite() && budget >= 0.0) {
        return Ok(());
    }
    let message = "the budget is not an amount of money";
    Err(ApiError::new(ErrorCode::BadRequest, message, "Enter US dollars, e.g. 0.50."))
}

const SYSTEM: &str = "Answer with JSON after the schema and nothing else.";

/// The large model, with the person's prompts.
pub(crate) struct BudgetedModel {
    pub model: Model,
    pub prompts: Prompts,
    pub providers: Providers,
    /// What models may have cost in total when the work has to stop, in US dollars.
    pub limit: Option<f64>,
}

impl BudgetedModel {
    /// Returns the chosen large model, which may cost `budget` more; `None` if none is chosen.
    pub(crate) fn new(providers: &Providers, budget: Option<f64>) -> Option<BudgetedModel> {
        let services = providers.services();
        Some(BudgetedModel {
            model: services.large.clone()?,
            prompts: services.prompts.clone(),
            providers: providers.clone(),
            limit: budget.map(|budget| providers.spent() + budget.max(0.0)),
        })
    }

    /// Asks for JSON after a schema.
    ///
    /// # Errors
    /// Returns why there is no answer.
    pub(crate) async fn ask(
        &self,
        prompt: &Prompt,
        slots: &[(&str, &str)],
        schema: &Value,
    ) -> Result<Value, String> {
        if self.limit.is_some_and(|limit| self.providers.spent() >= limit) {
            return Err("the budget of this run is used up".to_owned());
        }
        let request = Request::new(SYSTEM, self.prompts.fill(prompt, slots));
        let answer = self.model.structured(&request, prompt.name, schema).await;
        answer.map(|answer| answer.value).map_err(|error| error.to_string())
    }
}

/// Returns the text of a field of an answer, without blanks around it.
pub(crate) fn text_of(answer: &Value, field: &str) -> String {
    answer.get(field).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
}
