//! The cost of a search for an agent, measured at the gateway.

use std::collections::BTreeSet;

use autokit_error::{ApiError, Result};
use autokit_gateway::tokens;
use serde_json::{Map, Value};

use crate::report::{Activity, own_tokens};

/// The result of one search by an agent.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Tokens of the response.
    pub reply_tokens: u32,
    /// Tokens of the tool definitions the session lists after the search.
    pub listed_tokens: u64,
    /// Provider and name of each result.
    pub names: BTreeSet<(String, String)>,
}

impl Activity {
    /// Runs one search in a new session.
    pub async fn search_as_agent(&self, query: &str) -> Result<Searched> {
        let session = self.gateway.session(&autokit_workspace::token(8), "", "report", "").await;
        let arguments = Map::from_iter([("query".to_owned(), Value::from(query))]);
        let response = self.gateway.search(&session, &arguments, false).await;
        let text: String =
            response.result.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
        if response.result.is_error == Some(true) {
            return Err(ApiError::internal(text));
        }
        let reply: Value =
            serde_json::from_str(&text).map_err(|error| ApiError::internal(error.to_string()))?;
        let results = reply["results"].as_array().cloned().unwrap_or_default();
        let ids = results.iter().filter_map(|row| row["id"].as_str());
        let names = ids
            .filter_map(|id| self.workspace.find_card(id).ok())
            .map(|record| (record.key.provider.clone(), record.key.name.clone()))
            .collect();
        let listed = own_tokens(&self.gateway.tools(&session).await) - self.own_tokens();
        Ok(Searched { reply_tokens: tokens::of_text(&text), listed_tokens: listed, names })
    }
}
