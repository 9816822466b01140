//! The chat completions API of OpenAI (API reference, Chat), which Ollama, LM Studio, llama.cpp, vLLM and
//! OpenRouter provide too.

use serde_json::{Value, json};

use crate::client::{Draft, OnText, Progress, StreamError};
use crate::message::{Message, Part, Reply, Request, ResponseFormat, Role, StopReason, ToolCall, Usage};

pub(crate) const PATH: &str = "/chat/completions";

/// The request body.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    request.messages.iter().for_each(|one| message(one, &mut messages));
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_tokens,
        "stream": true,
        "stream_options": { "include_usage": true },
        "messages": messages,
    });
    if !request.tools.is_empty() {
        let tool = |tool: &crate::Tool| {
            let function =
                json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
            json!({ "type": "function", "function": function })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let ResponseFormat::Json { name, schema } = &request.response_format {
        body["response_format"] = json!({ "type": "json_schema", "json_schema": { "name": name, "schema": schema, "strict": false } });
    }
    body
}

/// Converts a message; each tool result becomes a message of its own.
fn message(message: &Message, out: &mut Vec<Value>) {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(words) => text.push_str(words),
            Part::Call(call) => calls.push(json!({
                "id": call.id, "type": "function",
                "function": { "name": call.name, "arguments": call.arguments },
            })),
            Part::Result { call, text, .. } => {
                out.push(json!({ "role": "tool", "tool_call_id": call, "content": text }));
            }
        }
    }
    match message.role {
        Role::User if !text.is_empty() => out.push(json!({ "role": "user", "content": text })),
        Role::Assistant if !calls.is_empty() => {
            out.push(json!({ "role": "assistant", "content": text, "tool_calls": calls }));
        }
        Role::Assistant => out.push(json!({ "role": "assistant", "content": text })),
        Role::User => {}
    }
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "length" => StopReason::Length,
        "tool_calls" | "function_call" => StopReason::Tools,
        "content_filter" => StopReason::Refused,
        _ => StopReason::End,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |name: &str| value.get(name).and_then(Value::as_u64);
    Some(Usage { input: number("prompt_tokens")?, output: number("completion_tokens").unwrap_or(0) })
}

/// Arguments are text according to the protocol; some servers send the object itself.
fn arguments(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Parses a reply that was not streamed, from servers without streaming.
pub(crate) fn parse_reply(answer: &Value) -> Result<Reply, String> {
    let choice = answer.pointer("/choices/0").ok_or("it has no choices")?;
    let mut reply = Reply {
        text: choice.pointer("/message/content").and_then(Value::as_str).unwrap_or_default().to_owned(),
        usage: answer.get("usage").and_then(usage).unwrap_or_default(),
        stop: stop(choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default()),
        ..Reply::default()
    };
    let calls = choice.pointer("/message/tool_calls").and_then(Value::as_array);
    for (index, call) in calls.into_iter().flatten().enumerate() {
        let id =
            call.get("id").and_then(Value::as_str).map_or_else(|| format!("call-{index}"), str::to_owned);
        let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        reply.calls.push(ToolCall { id, name, arguments: arguments(call.pointer("/function/arguments")) });
    }
    Ok(reply)
}

/// Processes an event of a streamed reply.
pub(crate) fn parse_event(
    draft: &mut Draft,
    data: &str,
    on_text: OnText<'_>,
) -> Result<Progress, StreamError> {
    if data.trim() == "[DONE]" {
        return Ok(Progress::Done);
    }
    let event: Value =
        serde_json::from_str(data).map_err(|error| StreamError::Unreadable(format!("an event: {error}")))?;
    if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str).or(error.as_str());
        return Err(StreamError::Reported(message.unwrap_or("unknown error").to_owned()));
    }
    if let Some(usage) = event.get("usage").and_then(usage) {
        draft.usage = usage;
    }
    let Some(choice) = event.pointer("/choices/0") else { return Ok(Progress::More) };
    if let Some(text) = choice.pointer("/delta/content").and_then(Value::as_str).filter(|t| !t.is_empty()) {
        draft.push_text(text, on_text);
    }
    let pieces = choice.pointer("/delta/tool_calls").and_then(Value::as_array);
    for (at, piece) in pieces.into_iter().flatten().enumerate() {
        let index = piece.get("index").and_then(Value::as_u64).unwrap_or(at as u64);
        let call = draft.calls.entry(index).or_insert_with(|| ToolCall {
            id: format!("call-{index}"),
            name: String::new(),
            arguments: String::new(),
        });
        if let Some(id) = piece.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()) {
            id.clone_into(&mut call.id);
        }
        if let Some(name) = piece.pointer("/function/name").and_then(Value::as_str) {
            call.name.push_str(name);
        }
        call.arguments.push_str(&arguments(piece.pointer("/function/arguments")));
    }
    if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
        draft.stop = stop(reason);
    }
    Ok(Progress::More)
}
