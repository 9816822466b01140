//! Calls that find out how a tool behaves (DRAFT §2.2). What its card says is in question, so the card's schema is not
//! enforced; permissions are.

use autokit_gateway::{Call, Refusal};
use autokit_openapi as openapi;
use autokit_openapi::{ParamLocation, Parameter};
use autokit_policy::Need;
use autokit_web::ApiAnswer;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};

use super::{CallRecorder, Calls, Executor, PreparedCall};
use crate::rest;

/// What a trial call brought.
#[derive(Debug)]
pub enum TrialAnswer {
    /// The response of a web API.
    Http(ApiAnswer),
    /// The result of a tool of an MCP server.
    Tool(CallToolResult),
    /// Nothing was sent, because these arguments cannot be written into a request; with the reason.
    NotMade(String),
}

/// The outcome of a trial call.
pub(crate) enum TrialCall {
    /// These permissions have to be granted first; nothing was called.
    NeedsApproval(Vec<Need>),
    /// The tool was called.
    Answered(TrialAnswer),
}

impl Calls {
    /// Makes a call to find out how the tool behaves.
    pub(crate) async fn trial(&self, call: Call, granted: &[Need]) -> Result<TrialCall, Refusal> {
        let PreparedCall { executor, request } = self.prepare(&call).await?;
        let decided = match self.decide_manual(&request, &call, granted)? {
            Ok(decided) => decided,
            Err(needs) => return Ok(TrialCall::NeedsApproval(needs)),
        };
        let recorder = CallRecorder::start(&self.journal, &call, request.audit(&call, decided));
        let answer = match executor {
            Executor::Rest(operation, keys) => {
                let operation = relaxed(&operation, &call.arguments);
                // Checked before, because a refusal does not say whether something was sent.
                if let Err(error) = writable(&operation, &call.arguments) {
                    recorder.finish(Err(Refusal::Rejected(error.clone()))).ok();
                    return Ok(TrialCall::Answered(TrialAnswer::NotMade(error)));
                }
                let rest = &self.executors.rest;
                let answer = rest.answer(&operation, &keys, &call.arguments, &call.cancel).await;
                recorder.finish(answer.as_ref().map(rest::result).map_err(Refusal::clone))?;
                TrialAnswer::Http(answer?)
            }
            Executor::Upstream(server, upstream) => {
                let result = self.call_upstream(&server, &upstream, call).await;
                TrialAnswer::Tool(recorder.finish(result)?)
            }
            Executor::Own(_) | Executor::Builtin(..) | Executor::Macro(..) | Executor::Function(_) => {
                let why = "only tools of servers and web APIs are explored".to_owned();
                return Err(recorder.refused(Refusal::Rejected(why)));
            }
        };
        Ok(TrialCall::Answered(answer))
    }

    /// Returns the permissions that a person has to grant before a call can be made.
    pub(crate) async fn missing_grants(&self, call: &Call, granted: &[Need]) -> Result<Vec<Need>, Refusal> {
        let PreparedCall { request, .. } = self.prepare(call).await?;
        Ok(self.decide_manual(&request, call, granted)?.err().unwrap_or_default())
    }
}

/// Checks that arguments can be written into a request.
fn writable(operation: &openapi::Call, arguments: &Map<String, Value>) -> Result<(), String> {
    let anonymous = openapi::Call { security: Vec::new(), ..operation.clone() };
    anonymous
        .request(arguments, &openapi::Credentials::new(), None)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

/// Returns the operation without what it requires, and with arguments it does not know, which are sent in the query.
fn relaxed(operation: &openapi::Call, arguments: &Map<String, Value>) -> openapi::Call {
    let mut relaxed = operation.clone();
    for parameter in &mut relaxed.parameters {
        parameter.required = false;
    }
    if let Some(body) = &mut relaxed.body {
        body.required = false;
    }
    let body = relaxed.body.as_ref().map(|body| body.argument.clone());
    for name in arguments.keys() {
        let known = relaxed.parameters.iter().any(|parameter| parameter.name == *name);
        if !known && body.as_ref() != Some(name) {
            relaxed.parameters.push(Parameter {
                name: name.clone(),
                wire_name: name.clone(),
                place: ParamLocation::Query,
                style: ParamLocation::Query.style(),
                explode: true,
                allow_reserved: false,
                required: false,
                content: None,
            });
        }
    }
    relaxed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_required_may_be_omitted_and_unknown_arguments_are_sent() {
        let operation: openapi::Call = serde_json::from_value(json!({
            "version": openapi::CALL_VERSION,
            "method": "GET",
            "servers": [{"url": "https://api.example.org"}],
            "path": "/things/{id}",
            "parameters": [
                {"name": "id", "wire_name": "id", "in": "path", "style": "simple", "explode": false, "required": true},
                {"name": "limit", "wire_name": "limit", "in": "query", "style": "form", "explode": true, "required": true},
            ],
        }))
        .unwrap();
        let arguments = json!({"id": 1, "colour": "red"});
        let arguments = arguments.as_object().unwrap();
        let relaxed = relaxed(&operation, arguments);
        let request = relaxed.request(arguments, &openapi::Credentials::new(), None).unwrap();
        assert_eq!(request.url, "https://api.example.org/things/1?colour=red");
        // Without a part of the path there is no request.
        assert!(writable(&relaxed, &Map::new()).is_err());
    }
}
