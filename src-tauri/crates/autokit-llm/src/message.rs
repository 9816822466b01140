//! Requests to a model and its replies.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user, or AutoKit on their behalf.
    User,
    /// The model.
    Assistant,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(String),
    /// A tool call by the model.
    Call(ToolCall),
    /// The result of a tool call.
    Result {
        /// Id of the call.
        call: String,
        /// The result as text.
        text: String,
        /// Whether the call failed.
        failed: bool,
    },
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The sender.
    pub role: Role,
    /// The content.
    pub parts: Vec<Part>,
}

impl Message {
    /// A text message from the user.
    pub fn user(text: impl Into<String>) -> Message {
        Message { role: Role::User, parts: vec![Part::Text(text.into())] }
    }

    /// A text message from the model.
    pub fn assistant(text: impl Into<String>) -> Message {
        Message { role: Role::Assistant, parts: vec![Part::Text(text.into())] }
    }
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// Tells the model when and how to use the tool.
    pub description: String,
    /// JSON Schema of its arguments, of type object.
    pub schema: Value,
}

/// A tool call as the model wrote it, not validated yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Identifies the call in its result.
    pub id: String,
    /// Name of the requested tool, which may not exist.
    pub name: String,
    /// The arguments as text, which may not be valid JSON.
    pub arguments: String,
}

/// The format of a reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ResponseFormat {
    /// Plain text.
    #[default]
    Text,
    /// JSON that matches a schema.
    Json {
        /// Name of the requested object.
        name: String,
        /// JSON Schema of type object.
        schema: Value,
    },
}

/// A request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// System prompt.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tools that the model may call.
    pub tools: Vec<Tool>,
    /// Format of the reply.
    pub response_format: ResponseFormat,
    /// Maximum length of the reply, in tokens.
    pub max_tokens: u32,
}

impl Request {
    /// A question with a system prompt.
    pub fn new(system: impl Into<String>, question: impl Into<String>) -> Request {
        Request {
            system: system.into(),
            messages: vec![Message::user(question)],
            max_tokens: 1024,
            ..Request::default()
        }
    }
}

/// Number of tokens used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input += other.input;
        self.output += other.output;
    }
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was complete.
    #[default]
    End,
    /// The model requested tool calls.
    Tools,
    /// It hit [`Request::max_tokens`].
    Length,
    /// The model or its provider refused to reply.
    Refused,
}

/// A reply of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// The requested tool calls.
    pub calls: Vec<ToolCall>,
    /// Tokens used; zero if the service does not report them.
    pub usage: Usage,
    /// Why it ended.
    pub stop: StopReason,
    /// Milliseconds from the request to the end of the reply.
    pub ms: u64,
}

impl Reply {
    /// The reply as a message of the conversation.
    pub fn message(&self) -> Message {
        let mut parts = Vec::new();
        if !self.text.is_empty() {
            parts.push(Part::Text(self.text.clone()));
        }
        parts.extend(self.calls.iter().cloned().map(Part::Call));
        Message { role: Role::Assistant, parts }
    }
}
