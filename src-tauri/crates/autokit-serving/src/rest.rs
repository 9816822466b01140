//! Calls of web API operations by agents.

use std::sync::Arc;

use autokit_error::Result as ApiResult;
use autokit_gateway::Refusal;
use autokit_openapi as openapi;
use autokit_openapi::rest::{Keys, RestClient, RestError};
use autokit_upstream::api_keys::ApiKeys;
use autokit_web::ApiAnswer;
use autokit_workspace::providers::Providers;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Calls operations. Clones share the rate limits of each API.
#[derive(Clone, Debug)]
pub struct RestCalls {
    providers: Providers,
    api_keys: ApiKeys,
    rest: Arc<RestClient>,
}

impl RestCalls {
    /// Creates a caller with these API keys.
    pub fn new(providers: Providers, api_keys: ApiKeys) -> RestCalls {
        RestCalls { providers, api_keys, rest: Arc::default() }
    }

    /// Returns the saved keys that an operation needs.
    pub(crate) async fn keys_for(&self, operation: &openapi::Call) -> ApiResult<Keys> {
        self.api_keys.keys_for(operation).await
    }

    /// Calls an operation with these keys.
    pub(crate) async fn call(
        &self,
        operation: &openapi::Call,
        keys: &Keys,
        arguments: &Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, Refusal> {
        self.answer(operation, keys, arguments, cancel).await.map(|answer| result(&answer))
    }

    /// Calls an operation and returns the response as it came.
    pub(crate) async fn answer(
        &self,
        operation: &openapi::Call,
        keys: &Keys,
        arguments: &Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<ApiAnswer, Refusal> {
        let fetcher = self.providers.services().fetcher.clone();
        match self.rest.call(&fetcher, operation, arguments, keys, cancel).await {
            Ok(answer) => Ok(answer),
            Err(RestError::Cancelled) => Err(Refusal::Cancelled),
            Err(error @ RestError::Call(openapi::CallError::MissingCredentials { .. })) => {
                Err(Refusal::Rejected(format!("{error}. The user can add it in Settings, Web API keys.")))
            }
            Err(error) if error.is_temporary() => Err(Refusal::Failed(error.to_string())),
            Err(error) => Err(Refusal::Rejected(error.to_string())),
        }
    }
}

/// Converts a response to a tool result: texts and images as they are, anything else as a description.
pub(crate) fn result(answer: &ApiAnswer) -> CallToolResult {
    let kind = answer.content_type.as_deref().unwrap_or("").split(';').next().unwrap_or("").trim();
    let good = (200..300).contains(&answer.status);
    let mut content = Vec::new();
    if !good {
        let mut message = vec![format!("The API returned status {}.", answer.status)];
        message.extend(
            answer
                .redirected_to
                .iter()
                .map(|elsewhere| format!("It redirected to {elsewhere}, which was not followed.")),
        );
        message.extend(answer.retry_after.map(|seconds| format!("Retry after {seconds} s.")));
        content.push(ContentBlock::text(message.join(" ")));
    }
    if answer.body.is_empty() {
        if good {
            content.push(ContentBlock::text(format!("Done (status {}, no content).", answer.status)));
        }
    } else if let Some(text) = answer.text() {
        content.push(ContentBlock::text(text));
    } else if kind.starts_with("image/") && !answer.cut {
        content.push(ContentBlock::image(STANDARD.encode(&answer.body), kind.to_owned()));
    } else {
        let (bytes, more) = (answer.body.len(), if answer.cut { " or more" } else { "" });
        let kind = if kind.is_empty() { "binary data" } else { kind };
        content.push(ContentBlock::text(format!("{bytes} bytes{more} of {kind}, which cannot be shown.")));
    }
    if answer.cut && answer.text().is_some() {
        content.push(ContentBlock::text("The response was truncated: only its beginning was read."));
    }
    if good { CallToolResult::success(content) } else { CallToolResult::error(content) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, kind: &str, body: &[u8]) -> ApiAnswer {
        ApiAnswer {
            status,
            url: "https://api.example.org/x".to_owned(),
            content_type: Some(kind.to_owned()),
            redirected_to: None,
            retry_after: None,
            body: body.to_vec(),
            cut: false,
        }
    }

    fn texts(result: &CallToolResult) -> Vec<&str> {
        result.content.iter().filter_map(|block| block.as_text().map(|text| text.text.as_str())).collect()
    }

    #[test]
    fn responses_become_results() {
        let good = result(&answer(200, "application/json; charset=utf-8", b"{\"a\":1}"));
        assert_eq!((texts(&good), good.is_error), (vec!["{\"a\":1}"], Some(false)));
        let empty = result(&answer(204, "", b""));
        assert_eq!(texts(&empty), ["Done (status 204, no content)."]);
        let mut missing = answer(404, "application/json", b"{\"message\":\"Not Found\"}");
        missing.retry_after = Some(3);
        let missing = result(&missing);
        let message = "The API returned status 404. Retry after 3 s.";
        assert_eq!(
            (texts(&missing), missing.is_error),
            (vec![message, "{\"message\":\"Not Found\"}"], Some(true))
        );
        let picture = result(&answer(200, "image/png", b"\x89PNG\r\n\x1a\n\0"));
        assert!(picture.content[0].as_image().is_some_and(|image| image.mime_type == "image/png"));
        let archive = result(&answer(200, "application/zip", b"PK\x03\x04\0\0"));
        assert_eq!(texts(&archive), ["6 bytes of application/zip, which cannot be shown."]);
    }
}
