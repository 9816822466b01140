//! Parsing of MCP messages before the SDK sees them. The SDK does not name the request in its errors and
//! does not support batches (JSON-RPC 2.0, section 6), which revision 2025-03-26 requires and no other has.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Most bytes of one message; enough for arguments that contain a file.
pub const MESSAGE_BYTES: usize = 16 << 20;

/// The only protocol revision with batches.
pub const BATCH_VERSION: &str = "2025-03-26";

/// JSON-RPC 2.0, section 5.1.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC 2.0, section 5.1.
pub const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;
/// One of the codes that servers may define.
pub const SERVER_BUSY: i32 = -32000;

/// A message, parsed as far as needed here.
#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    #[serde(default)]
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "deserialize_present")]
    id: Option<Value>,
    #[serde(default)]
    method: Option<Value>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

/// Deserializes an id so that `null` counts as present.
fn deserialize_present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// The parameters used here.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Params<'a> {
    /// Name of the tool that is called.
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    /// Id of the request that is cancelled.
    pub request_id: Option<Value>,
}

/// The body of a client's request.
#[derive(Debug)]
pub enum ParsedBody<'a> {
    /// A single message.
    Single(Box<Message<'a>>),
    /// The messages of a batch, unparsed.
    Batch(Vec<&'a str>),
}

/// Builds a JSON-RPC error response.
pub fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// Parses the body of a client's request.
///
/// # Errors
/// The error response if it is not a JSON-RPC message.
pub fn parse(text: &[u8]) -> Result<ParsedBody<'_>, Value> {
    let parse_error = |message: &str| error(&Value::Null, PARSE_ERROR, message);
    let text = std::str::from_utf8(text).map_err(|_| parse_error("invalid UTF-8"))?;
    match text.trim_start().chars().next() {
        Some('[') => {
            let parts: Vec<&RawValue> =
                serde_json::from_str(text).map_err(|_| parse_error("invalid JSON"))?;
            Ok(ParsedBody::Batch(parts.into_iter().map(RawValue::get).collect()))
        }
        Some('{') => serde_json::from_str(text)
            .map(|message| ParsedBody::Single(Box::new(message)))
            .map_err(|_| parse_error("invalid JSON")),
        _ if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => {
            Err(error(&Value::Null, INVALID_REQUEST, "a message must be an object"))
        }
        _ => Err(parse_error("invalid JSON")),
    }
}

/// Parses one message of a batch.
///
/// # Errors
/// As [`parse`], and for a nested batch.
pub fn parse_one(text: &str) -> Result<Message<'_>, Value> {
    match parse(text.as_bytes())? {
        ParsedBody::Single(message) => Ok(*message),
        ParsedBody::Batch(_) => Err(error(&Value::Null, INVALID_REQUEST, "a batch cannot contain batches")),
    }
}

impl Message<'_> {
    /// Returns the id; `None` if it is missing or invalid.
    pub fn id(&self) -> Option<&Value> {
        self.id.as_ref().filter(|id| id.is_string() || id.is_i64() || id.is_u64())
    }

    /// Returns the method; empty for a response.
    pub fn method(&self) -> &str {
        self.method.as_ref().and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns whether the message expects a response.
    pub fn is_request(&self) -> bool {
        self.method.is_some() && self.id.is_some()
    }

    /// Returns the parameters used here.
    pub fn params(&self) -> Params<'_> {
        self.params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default()
    }

    /// Returns the error response for an invalid message; `None` for a valid one.
    pub fn validation_error(&self) -> Option<Value> {
        let wrong = |code, message: &str| Some(error(self.id().unwrap_or(&Value::Null), code, message));
        if self.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
            return wrong(INVALID_REQUEST, "`jsonrpc` must be \"2.0\"");
        }
        if self.result.is_some() || self.error.is_some() {
            return None;
        }
        if self.id.is_some() && self.id().is_none() {
            return wrong(INVALID_REQUEST, "`id` must be a string or an integer");
        }
        if self.method.as_ref().is_none_or(|method| !method.is_string()) {
            return wrong(INVALID_REQUEST, "`method` must be a string");
        }
        let params = self.params.map(|params| params.get().trim_start());
        if params.is_some_and(|params| !params.starts_with('{') && params != "null") {
            return wrong(INVALID_PARAMS, "`params` must be an object");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> (Value, Value) {
        let answer = match parse(text.as_bytes()) {
            Ok(ParsedBody::Single(message)) => message.validation_error().unwrap_or_default(),
            Ok(ParsedBody::Batch(_)) => Value::Null,
            Err(answer) => answer,
        };
        (answer["error"]["code"].clone(), answer["id"].clone())
    }

    #[test]
    fn errors_name_the_request_if_it_is_known() {
        for (text, code_, id) in [
            ("{invalid JSON", json!(-32700), Value::Null),
            ("\"text\"", json!(-32600), Value::Null),
            (r#"{"id":1,"method":"ping"}"#, json!(-32600), json!(1)),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, json!(-32600), json!("a")),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!(-32600), Value::Null),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(-32600), Value::Null),
            (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[1]}"#, json!(-32602), json!(3)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#, Value::Null, Value::Null),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, Value::Null, Value::Null),
            (r#"{"jsonrpc":"2.0","id":3,"result":{}}"#, Value::Null, Value::Null),
        ] {
            assert_eq!(code(text), (code_, id), "{text}");
        }
    }

    #[test]
    fn a_batch_is_split_into_messages() {
        let Ok(ParsedBody::Batch(parts)) = parse(br#" [{"jsonrpc":"2.0","id":1,"method":"ping"}, 7]"#) else {
            panic!("a batch");
        };
        assert_eq!(parts, [r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "7"]);
        assert_eq!(parse_one(parts[0]).expect("a message").method(), "ping");
        assert_eq!(parse_one(parts[1]).expect_err("no message")["error"]["code"], INVALID_REQUEST);
    }
}
