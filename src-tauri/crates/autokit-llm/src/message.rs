//! What is said to a model and what it says.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person, or this program on their behalf.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text(String),
    /// The model wants a tool called.
    Call(ToolCall),
    /// What the tool said.
    Result {
        /// Id of the call.
        call: String,
        /// Its outcome.
        text: String,
        /// The call failed.
        failed: bool,
    },
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub parts: Vec<Part>,
}

impl Message {
    /// Words of the person.
    pub fn user(text: impl Into<String>) -> Message {
        Message { role: Role::User, parts: vec![Part::Text(text.into())] }
    }

    /// Words of the model.
    pub fn assistant(text: impl Into<String>) -> Message {
        Message { role: Role::Assistant, parts: vec![Part::Text(text.into())] }
    }
}

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// When and how to use it.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub schema: Value,
}

/// A call as the model wrote it. Nothing in it is checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Names the call in its result.
    pub id: String,
    /// Tool asked for; may not exist.
    pub name: String,
    /// Arguments as text; may be no JSON.
    pub arguments: String,
}

/// The form of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Form {
    /// Words.
    #[default]
    Text,
    /// JSON after a schema.
    Json {
        /// Name of what is asked for.
        name: String,
        /// JSON Schema, an object.
        schema: Value,
    },
}

/// What is asked of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Standing instructions.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tools it may call.
    pub tools: Vec<Tool>,
    /// Form of the answer.
    pub form: Form,
    /// Longest answer, in tokens.
    pub max_tokens: u32,
}

impl Request {
    /// A question with standing instructions.
    pub fn new(system: impl Into<String>, question: impl Into<String>) -> Request {
        Request {
            system: system.into(),
            messages: vec![Message::user(question)],
            max_tokens: 1024,
            ..Request::default()
        }
    }
}

/// Tokens used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read by the model.
    pub input: u64,
    /// Written by it.
    pub output: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input += other.input;
        self.output += other.output;
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It was complete.
    #[default]
    End,
    /// The model wants tools called.
    Tools,
    /// It hit [`Request::max_tokens`].
    Length,
    /// The model or its keeper refused.
    Refused,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Words.
    pub text: String,
    /// Calls asked for.
    pub calls: Vec<ToolCall>,
    /// Tokens used; zeros where the service does not say.
    pub usage: Usage,
    /// Why it ended.
    pub stop: Stop,
    /// Milliseconds from request to end.
    pub ms: u64,
}

impl Reply {
    /// The answer as a turn of the conversation.
    pub fn message(&self) -> Message {
        let mut parts = Vec::new();
        if !self.text.is_empty() {
            parts.push(Part::Text(self.text.clone()));
        }
        parts.extend(self.calls.iter().cloned().map(Part::Call));
        Message { role: Role::Assistant, parts }
    }
}
