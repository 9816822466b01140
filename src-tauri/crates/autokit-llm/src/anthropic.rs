//! Anthropic's Messages API (docs.anthropic.com, API reference, Messages and streaming).

use serde_json::{Value, json};

use crate::client::{Draft, OnText, Progress, StreamError};
use crate::message::{Message, Part, Reply, Request, ResponseFormat, Role, StopReason, ToolCall, Usage};

pub(crate) const PATH: &str = "/v1/messages";
pub(crate) const VERSION: &str = "2023-06-01";

/// The request body. A reply in JSON is requested as a single tool that the model has to call.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_tokens,
        "stream": true,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
    });
    if !request.system.is_empty() {
        body["system"] = json!(request.system);
    }
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(
            |tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema }),
        )
        .collect();
    if let ResponseFormat::Json { name, schema } = &request.response_format {
        tools.push(json!({ "name": name, "description": "Gives the answer.", "input_schema": schema }));
        body["tool_choice"] = json!({ "type": "tool", "name": name });
    }
    if !tools.is_empty() {
        body["tools"] = json!(tools);
    }
    body
}

fn message(message: &Message) -> Value {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content: Vec<Value> = message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({ "type": "text", "text": text }),
            Part::Call(call) => {
                // Arguments that were not a JSON object are shown to the model as text.
                let input = serde_json::from_str::<Value>(&call.arguments)
                    .ok()
                    .filter(Value::is_object)
                    .unwrap_or_else(|| json!({ "text": call.arguments }));
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
            }
            Part::Result { call, text, failed } => {
                json!({ "type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed })
            }
        })
        .collect();
    json!({ "role": role, "content": content })
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "max_tokens" => StopReason::Length,
        "tool_use" => StopReason::Tools,
        "refusal" => StopReason::Refused,
        _ => StopReason::End,
    }
}

fn usage(value: &Value, usage: &mut Usage) {
    let number = |name: &str| value.get(name).and_then(Value::as_u64);
    if let Some(input) = number("input_tokens") {
        // Tokens read from or written to the cache are reported separately, but are input as well.
        let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"];
        usage.input = input + cached.iter().filter_map(|name| number(name)).sum::<u64>();
    }
    if let Some(output) = number("output_tokens") {
        usage.output = output;
    }
}

/// Parses a reply that was not streamed.
pub(crate) fn parse_reply(answer: &Value) -> Result<Reply, String> {
    let content = answer.get("content").and_then(Value::as_array).ok_or("it has no content")?;
    let mut reply = Reply::default();
    for block in content {
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match block.get("type").and_then(Value::as_str) {
            Some("text") => reply.text.push_str(&text("text")),
            Some("tool_use") => reply.calls.push(ToolCall {
                id: text("id"),
                name: text("name"),
                arguments: block.get("input").map(Value::to_string).unwrap_or_default(),
            }),
            _ => {}
        }
    }
    usage(answer.get("usage").unwrap_or(&Value::Null), &mut reply.usage);
    reply.stop = stop(answer.get("stop_reason").and_then(Value::as_str).unwrap_or_default());
    Ok(reply)
}

/// Processes an event of a streamed reply.
pub(crate) fn parse_event(
    draft: &mut Draft,
    data: &str,
    on_text: OnText<'_>,
) -> Result<Progress, StreamError> {
    let event: Value =
        serde_json::from_str(data).map_err(|error| StreamError::Unreadable(format!("an event: {error}")))?;
    let string =
        |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
    match event.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message_start" => {
            usage(event.pointer("/message/usage").unwrap_or(&Value::Null), &mut draft.usage);
        }
        "content_block_start" if string("/content_block/type") == "tool_use" => {
            let call = ToolCall {
                id: string("/content_block/id"),
                name: string("/content_block/name"),
                arguments: String::new(),
            };
            draft.calls.insert(index, call);
        }
        "content_block_delta" => match string("/delta/type").as_str() {
            "text_delta" => {
                draft.push_text(&string("/delta/text"), on_text);
            }
            "input_json_delta" => {
                if let Some(call) = draft.calls.get_mut(&index) {
                    call.arguments.push_str(&string("/delta/partial_json"));
                }
            }
            _ => {}
        },
        "message_delta" => {
            usage(event.get("usage").unwrap_or(&Value::Null), &mut draft.usage);
            if event.pointer("/delta/stop_reason").is_some_and(Value::is_string) {
                draft.stop = stop(&string("/delta/stop_reason"));
            }
        }
        "message_stop" => return Ok(Progress::Done),
        "error" => return Err(StreamError::Reported(string("/error/message"))),
        _ => {}
    }
    Ok(Progress::More)
}
