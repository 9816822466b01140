//! The models a service offers, to choose from.

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::client::{Model, PROBE, Protocol};
use crate::error::Result;

/// Most bytes of a list; services with thousands of models stay far below.
const MAX_BYTES: usize = 4 << 20;
/// Models in a page of Anthropic's list, its maximum. There are far fewer.
const ANTHROPIC_PAGE: &str = "/v1/models?limit=1000";

impl Model {
    /// Returns the names of the models that the service of this one offers, sorted (OpenAI API reference, Models, which
    /// Ollama, LM Studio, llama.cpp and vLLM provide too; Anthropic API reference, Models).
    ///
    /// # Errors
    /// As [`Model::probe`]; [`crate::Error::BadReply`] for something else than a list of models.
    pub async fn list(&self) -> Result<Vec<String>> {
        let path = match self.config().protocol {
            Protocol::Anthropic => ANTHROPIC_PAGE,
            Protocol::Openai => "/models",
        };
        let url = format!("{}{path}", self.base);
        let deadline = Instant::now() + PROBE;
        let response = timeout_at(deadline, self.http.get(&url).send())
            .await
            .map_err(|_| self.timeout_error())?
            .map_err(|error| self.connection_error(&error))?;
        if !response.status().is_success() {
            return Err(self.status_error(&url, response, deadline).await);
        }
        let text = self.read(response, MAX_BYTES, deadline).await?;
        let json: Value = serde_json::from_str(&text).map_err(|error| self.unreadable(&error.to_string()))?;
        let Some(listed) = json.get("data").and_then(Value::as_array) else {
            return Err(self.unreadable("it is not a list of models"));
        };
        let name = |model: &Value| model.get("id").and_then(Value::as_str).map(str::to_owned);
        let mut names: Vec<String> = listed.iter().filter_map(name).filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}
