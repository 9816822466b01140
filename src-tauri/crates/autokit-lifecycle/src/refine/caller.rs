//! Calling a tool for a run, and what its answers mean.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autokit_gateway::Refusal;
use autokit_policy::Need;
use autokit_refine::{Outcome, ToolCaller};
use autokit_serving::explored::ExploredTool;
use autokit_serving::plan::TrialAnswer;
use autokit_serving::recordings::{json_or_text, text_value_of, value_of};
use autokit_workspace::jobs::Progress;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::document::nested;

/// Longest time a tool may ask to wait before the next call, in seconds.
const LONGEST_WAIT: u64 = 60;
/// How often one call is made again after such a wait.
const WAITS: usize = 3;

/// Calls a tool of a run. The call ends when the run is cancelled, because its future is dropped then.
pub(super) struct Caller<'a> {
    pub tool: &'a ExploredTool,
    pub granted: &'a [Need],
    pub progress: &'a Progress,
    /// Calls made so far, for the run's note.
    pub calls: AtomicU32,
}

#[async_trait]
impl ToolCaller for Caller<'_> {
    async fn call(&self, arguments: &Map<String, Value>) -> Outcome {
        if self.progress.wait_while_paused().await.is_err() {
            return Outcome::Unavailable { reason: "the run was stopped".to_owned() };
        }
        if let Some(part) = self.tool.in_address.iter().find(|name| !arguments.contains_key(*name)) {
            return Outcome::NotMade { reason: format!("the address needs `{part}`") };
        }
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        self.progress.set_note(&format!("Call {calls} of {}", self.tool.place));
        let cancel = CancellationToken::new();
        let mut waits = 0;
        loop {
            let answer = self.tool.call(nested(arguments), self.granted, &cancel).await;
            if let Ok(TrialAnswer::Http(answer)) = &answer
                && matches!(answer.status, 429 | 503)
                && let Some(seconds) = answer.retry_after.filter(|seconds| *seconds <= LONGEST_WAIT)
                && waits < WAITS
            {
                // The server said when to come back.
                waits += 1;
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                continue;
            }
            return outcome(answer);
        }
    }
}

fn outcome(answer: Result<TrialAnswer, Refusal>) -> Outcome {
    match answer {
        Ok(TrialAnswer::NotMade(reason)) => Outcome::NotMade { reason },
        Ok(TrialAnswer::Http(answer)) => {
            let text = answer.text().unwrap_or_default();
            match answer.status {
                // Half of a response says nothing about its shape.
                200..300 if answer.cut => {
                    Outcome::Unavailable { reason: "the response is too long to be compared".to_owned() }
                }
                200..300 => Outcome::Success { result: json_or_text(&text) },
                // These are about who calls and how often, not about the arguments.
                401 | 402 | 403 | 407 | 408 | 425 | 429 => {
                    Outcome::Unavailable { reason: format!("the API answered with status {}", answer.status) }
                }
                400..500 => Outcome::Refused { status: Some(answer.status), error: json_or_text(&text) },
                status => Outcome::Unavailable { reason: format!("the API answered with status {status}") },
            }
        }
        Ok(TrialAnswer::Tool(result)) if result.is_error == Some(true) => {
            Outcome::Refused { status: None, error: text_value_of(&result) }
        }
        Ok(TrialAnswer::Tool(result)) => Outcome::Success { result: value_of(&result) },
        Err(Refusal::Cancelled) => Outcome::Unavailable { reason: "the call was stopped".to_owned() },
        Err(Refusal::Rejected(reason) | Refusal::Failed(reason)) => Outcome::Unavailable { reason },
    }
}

#[cfg(test)]
mod tests {
    use autokit_web::ApiAnswer;
    use serde_json::json;

    use super::*;

    fn http(status: u16, body: &str) -> Outcome {
        outcome(Ok(TrialAnswer::Http(ApiAnswer {
            status,
            url: "https://api.example.org".to_owned(),
            content_type: Some("application/json".to_owned()),
            redirected_to: None,
            retry_after: None,
            body: body.as_bytes().to_vec(),
            cut: false,
        })))
    }

    #[test]
    fn answers_are_told_apart_by_what_they_say_about_arguments() {
        assert_eq!(http(200, "{\"a\":1}"), Outcome::Success { result: json!({"a": 1}) });
        assert_eq!(http(422, "no"), Outcome::Refused { status: Some(422), error: json!("no") });
        for status in [302, 401, 403, 429, 500, 503] {
            assert!(matches!(http(status, "{}"), Outcome::Unavailable { .. }), "{status}");
        }
        let refused = Refusal::Rejected("approval is needed".to_owned());
        assert!(matches!(outcome(Err(refused)), Outcome::Unavailable { .. }));
    }
}
