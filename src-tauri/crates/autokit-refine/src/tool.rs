//! A tool as documented, and calling it.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What is documented of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolDocument {
    /// Its name.
    pub name: String,
    /// What it does, in prose.
    pub description: String,
    /// JSON Schema of its arguments: an object with `properties` and `required`.
    pub parameters: Value,
    /// JSON Schema of what it returns, if documented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
}

impl ToolDocument {
    /// Returns the documented parameters with their schemas, in order.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &Value)> {
        let properties = self.parameters.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
    }

    /// Returns the schema of a parameter.
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.parameters.get("properties")?.get(name)
    }

    /// Whether a parameter is documented as required.
    pub fn is_required(&self, name: &str) -> bool {
        let required = self.parameters.get("required").and_then(Value::as_array);
        required.into_iter().flatten().any(|required| required.as_str() == Some(name))
    }
}

/// What came back from a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The tool did it.
    Success {
        /// What it returned; text that is not JSON as a string.
        result: Value,
    },
    /// The tool refused the arguments, or they name something that does not exist. With HTTP: a status of 400 to 499
    /// except those of [`Outcome::Unavailable`].
    Refused {
        /// HTTP status, where there is one.
        status: Option<u16>,
        /// What it said; text that is not JSON as a string.
        error: Value,
    },
    /// The call cannot be made at all, which says nothing about the tool: a part of its address is missing.
    NotMade {
        /// Why.
        reason: String,
    },
    /// The call says nothing about the documentation: no connection, no permission, too many requests, a failure of the
    /// server.
    Unavailable {
        /// Why.
        reason: String,
    },
}

impl Outcome {
    /// Whether the tool did it.
    pub fn is_success(&self) -> bool {
        matches!(self, Outcome::Success { .. })
    }

    /// Whether the tool refused the arguments.
    pub fn is_refused(&self) -> bool {
        matches!(self, Outcome::Refused { .. })
    }

    /// Returns what a successful call returned.
    pub fn result(&self) -> Option<&Value> {
        match self {
            Outcome::Success { result } => Some(result),
            _ => None,
        }
    }
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What was to be found out, or the request a model had in mind.
    pub query: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// What came back.
    pub outcome: Outcome,
}

/// Calls the tool that is explored.
#[async_trait]
pub trait ToolCaller: Send + Sync {
    /// Calls the tool. Errors are outcomes.
    async fn call(&self, arguments: &Map<String, Value>) -> Outcome;
}
