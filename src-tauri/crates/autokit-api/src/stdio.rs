//! Messages between the window and its engine, a process of its own (`autokit engine`): one JSON object per line, calls
//! on its standard input, the other messages on its standard output.

use autokit_error::ApiError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A command to execute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    /// Names the call in the message that ends it, and is its idempotency key: an engine that is started in place of one
    /// that ended gets the same calls again.
    pub id: String,
    /// Name of the command.
    pub name: String,
    /// The request, as the command defines it.
    pub request: Box<RawValue>,
}

/// What the engine sends.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineMessage {
    /// The library is open: the first message. The engine reads no calls before it.
    Ready {
        /// [`PROTOCOL`](crate::commands::PROTOCOL) of the engine.
        protocol: u32,
        /// Version of AutoKit.
        version: String,
    },
    /// The library could not be opened: the only message.
    Failed(ApiError),
    /// A call was executed.
    Response {
        /// [`Call::id`].
        id: String,
        /// The response, as the command defines it.
        response: Box<RawValue>,
    },
    /// A call failed.
    Error {
        /// [`Call::id`].
        id: String,
        /// The command's error.
        error: ApiError,
    },
    /// An [`Event`](crate::Event).
    Event(Box<RawValue>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_contain_responses_as_they_are() {
        let response = RawValue::from_string(r#"{"b":1, "a":[1.50]}"#.to_owned()).expect("JSON");
        let message = EngineMessage::Response { id: "x".to_owned(), response };
        let line = serde_json::to_string(&message).expect("JSON");
        assert_eq!(line, r#"{"response":{"id":"x","response":{"b":1, "a":[1.50]}}}"#);
        let read = serde_json::from_str(&line).expect("read back");
        assert!(matches!(read, EngineMessage::Response { response, .. } if response.get().contains("1.50")));
    }
}
