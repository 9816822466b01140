//! Tools that are called to find out how they behave (DRAFT §2.2).

use autokit_api::{ToolRef, ToolSource};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::{Call, Definition, McpSessionId, Refusal, Target};
use autokit_library::CardRecord;
use autokit_openapi as openapi;
use autokit_policy::Need;
use autokit_upstream::tools::Upstream;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::manual::{ToolRuns, rejected};
use crate::plan::{Calls, TrialAnswer, TrialCall};

/// Session and client under which trial calls are recorded in the journal.
const SESSION: &str = "refine";
const CLIENT: &str = "AutoKit, trial calls";

/// A callable tool whose behaviour is to be compared with its card.
#[derive(Clone, Debug)]
pub struct ExploredTool {
    calls: Calls,
    /// With a schema that accepts everything.
    definition: Definition,
    profile: String,
    /// Whether a call may change something: a web API's method other than `GET` and `HEAD`, or a server's tool that does
    /// not say it only reads.
    pub may_change: bool,
    /// Where it is: the method and address of a web API's operation, or the name of an MCP server and its tool.
    pub place: String,
    /// Names of arguments without which no request can be written: parts of the address.
    pub in_address: Vec<String>,
}

impl ToolRuns {
    /// Returns a tool of a card by its id or name, as agents of a profile may call it.
    ///
    /// # Errors
    /// `not_found` for an unknown tool; `invalid` for one that cannot be called or is AutoKit's own.
    pub async fn explored(&self, tool: &ToolRef) -> Result<(ExploredTool, std::sync::Arc<CardRecord>)> {
        let (listed, _) = self.tool(tool).await?;
        if !matches!(listed.source, ToolSource::Server | ToolSource::Api) {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                format!("{:?} is no tool of a server or web API", listed.definition.name),
                "Choose a tool of an MCP server or an operation of a web API.",
            ));
        }
        if listed.closed {
            return Err(rejected(&listed.definition.name, true, Refusal::Rejected(String::new())));
        }
        let record = self.workspace().find_card(&listed.definition.id)?;
        let card = record.card();
        let operation = openapi::Call::from_card(&card).ok().flatten();
        let (may_change, place, in_address) = match (Upstream::of(&card), operation) {
            (None, Some(operation)) => {
                let server = operation.servers.first().map_or("", |server| server.url.as_str());
                let in_path =
                    |parameter: &&openapi::Parameter| parameter.place == openapi::ParamLocation::Path;
                (
                    !matches!(operation.method.as_str(), "GET" | "HEAD"),
                    format!("{} {server}{}", operation.method, operation.path),
                    operation.parameters.iter().filter(in_path).map(|one| one.name.clone()).collect(),
                )
            }
            (upstream, _) => {
                let hints = listed.definition.annotations.as_ref();
                let reads = hints.and_then(|hints| hints.get("readOnlyHint")).and_then(Value::as_bool);
                let place = upstream.map(|upstream| format!("{} {}", upstream.server, upstream.tool));
                (reads != Some(true), place.unwrap_or_default(), Vec::new())
            }
        };
        let mut definition = listed.definition;
        definition.schema = without_constraints(&definition.schema);
        let calls = self.calls().clone();
        let profile = tool.profile.clone();
        Ok((ExploredTool { calls, definition, profile, may_change, place, in_address }, record))
    }
}

impl ExploredTool {
    fn call_with(&self, arguments: Map<String, Value>, cancel: &CancellationToken) -> Call {
        // Nobody waits for the progress of a trial call.
        let (progress, _) = mpsc::channel(1);
        Call {
            session: McpSessionId::new(SESSION),
            client: CLIENT.to_owned(),
            profile: self.profile.clone(),
            tool: Target::Discovered(Box::new(self.definition.clone())),
            arguments,
            cancel: cancel.clone(),
            progress,
        }
    }

    /// Returns the permissions that a person has to grant before it can be called.
    ///
    /// # Errors
    /// `refused` when the rules of the profile deny it.
    pub async fn missing_grants(&self, granted: &[Need]) -> Result<Vec<Need>> {
        let call = self.call_with(Map::new(), &CancellationToken::new());
        let missing = self.calls.missing_grants(&call, granted).await;
        missing.map_err(|why| rejected(&self.definition.name, false, why))
    }

    /// Calls it with these arguments, whether or not its card allows them.
    ///
    /// # Errors
    /// Why there is no answer, or that it was not permitted.
    pub async fn call(
        &self,
        arguments: Map<String, Value>,
        granted: &[Need],
        cancel: &CancellationToken,
    ) -> std::result::Result<TrialAnswer, Refusal> {
        match self.calls.trial(self.call_with(arguments, cancel), granted).await? {
            TrialCall::Answered(answer) => Ok(answer),
            TrialCall::NeedsApproval(needs) => {
                let words: Vec<String> = needs.iter().map(Need::describe).collect();
                Err(Refusal::Rejected(format!("approval is needed {}", words.join(" and "))))
            }
        }
    }
}

/// Returns a schema that accepts every object, and says of its properties only which are secret.
fn without_constraints(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut properties = Map::new();
    for (name, own) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let is_password = own.get("format").and_then(Value::as_str) == Some("password");
        let is_secret = is_password || own.get("writeOnly") == Some(&Value::Bool(true));
        properties.insert(name.clone(), if is_secret { json!({"writeOnly": true}) } else { json!({}) });
    }
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_dropped_and_secrets_stay_secret() {
        let schema = json!({
            "type": "object",
            "required": ["q"],
            "additionalProperties": false,
            "properties": {
                "q": {"type": "string", "enum": ["a"]},
                "token": {"type": "string", "format": "password"},
            },
        });
        let free = without_constraints(schema.as_object().unwrap());
        assert_eq!(
            Value::Object(free),
            json!({"type": "object", "properties": {"q": {}, "token": {"writeOnly": true}}})
        );
    }
}
