//! Several calls as one tool.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool made of calls of other tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Macro {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// The calls, in order.
    pub steps: Vec<MacroStep>,
}

/// A call of a macro.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MacroStep {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments by name.
    pub arguments: Vec<(String, Argument)>,
}

/// Where an argument comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// A value.
    Constant(Value),
    /// An argument of the macro.
    Parameter(String),
    /// What an earlier step returned.
    Result {
        /// The step, from 0.
        step: usize,
        /// JSON pointer into the result (RFC 6901).
        pointer: String,
        /// Whether a number there is passed on as a text: one tool returns `"id": 7` and the next one takes `"7"`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_text: bool,
    },
}

/// Why a macro did not come to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MacroError {
    /// A parameter is missing.
    #[error("the argument “{0}” is missing")]
    Missing(String),
    /// An earlier step did not return what a later one needs.
    #[error("step {step} ({tool}) returned nothing at {pointer}")]
    NothingThere {
        /// The step that returned something else, from 1.
        step: usize,
        /// Its tool.
        tool: String,
        /// Where something was expected.
        pointer: String,
    },
    /// A call failed.
    #[error("step {step} ({tool}) failed: {reason}")]
    Step {
        /// The step, from 1.
        step: usize,
        /// Its tool.
        tool: String,
        /// Why.
        reason: String,
    },
}

/// Calls the tools of a macro, with the permissions of whoever runs it.
#[async_trait]
pub trait StepRunner: Send + Sync {
    /// Calls a tool.
    ///
    /// # Errors
    /// Returns why it failed.
    async fn run(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Value, String>;
}

impl Macro {
    /// Runs the calls in order and returns what the last one returned. Nothing is undone if one fails.
    ///
    /// # Errors
    /// Returns the first step that failed, or what it lacks.
    pub async fn run(
        &self,
        arguments: &Map<String, Value>,
        runner: &dyn StepRunner,
    ) -> Result<Value, MacroError> {
        let mut results: Vec<Value> = Vec::with_capacity(self.steps.len());
        for (at, step) in self.steps.iter().enumerate() {
            let mut own = Map::new();
            for (name, argument) in &step.arguments {
                own.insert(name.clone(), self.value(argument, arguments, &results)?);
            }
            let result = runner.run(&step.tool, &own).await.map_err(|reason| MacroError::Step {
                step: at + 1,
                tool: step.tool.clone(),
                reason,
            })?;
            results.push(result);
        }
        Ok(results.pop().unwrap_or(Value::Null))
    }

    fn value(
        &self,
        argument: &Argument,
        arguments: &Map<String, Value>,
        results: &[Value],
    ) -> Result<Value, MacroError> {
        match argument {
            Argument::Constant(value) => Ok(value.clone()),
            Argument::Parameter(name) => {
                let default = || self.parameters.get("properties")?.get(name)?.get("default").cloned();
                let value = arguments.get(name).cloned().or_else(default);
                value.ok_or_else(|| MacroError::Missing(name.clone()))
            }
            Argument::Result { step, pointer, as_text } => {
                let found = results.get(*step).and_then(|result| result.pointer(pointer)).cloned();
                let found = found.map(|value| match value {
                    Value::Number(number) if *as_text => Value::String(number.to_string()),
                    other => other,
                });
                found.ok_or_else(|| MacroError::NothingThere {
                    step: step + 1,
                    tool: self.steps.get(*step).map(|step| step.tool.clone()).unwrap_or_default(),
                    pointer: pointer.clone(),
                })
            }
        }
    }

    /// Checks that every step only uses parameters that are declared and results of earlier steps.
    pub fn is_sound(&self) -> bool {
        let properties = self.parameters.get("properties").and_then(Value::as_object);
        self.steps.iter().enumerate().all(|(at, step)| {
            step.arguments.iter().all(|(_, argument)| match argument {
                Argument::Constant(_) => true,
                Argument::Parameter(name) => properties.is_some_and(|known| known.contains_key(name)),
                Argument::Result { step, .. } => *step < at,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    #[derive(Default)]
    struct Tools(Mutex<Vec<String>>);

    #[async_trait]
    impl StepRunner for Tools {
        async fn run(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Value, String> {
            self.0.lock().unwrap().push(format!("{tool} {}", Value::Object(arguments.clone())));
            match tool {
                "search" if arguments["q"] == "nobody" => Ok(json!({"results": []})),
                "search" => Ok(json!({"results": [{"id": 7}]})),
                "films" => Ok(json!({"titles": ["A"]})),
                other => Err(format!("no tool {other}")),
            }
        }
    }

    fn films() -> Macro {
        let result = Argument::Result { step: 0, pointer: "/results/0/id".to_owned(), as_text: false };
        Macro {
            name: "films_of".to_owned(),
            description: String::new(),
            parameters: json!({"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}),
            steps: vec![
                MacroStep {
                    tool: "search".to_owned(),
                    arguments: vec![("q".to_owned(), Argument::Parameter("who".to_owned()))],
                },
                MacroStep {
                    tool: "films".to_owned(),
                    arguments: vec![
                        ("person".to_owned(), result),
                        ("limit".to_owned(), Argument::Constant(json!(5))),
                    ],
                },
            ],
        }
    }

    fn arguments(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[tokio::test]
    async fn results_flow_into_later_calls() {
        let tools = Tools::default();
        let result = films().run(&arguments(&json!({"who": "Ada"})), &tools).await;
        assert_eq!(result, Ok(json!({"titles": ["A"]})));
        assert_eq!(*tools.0.lock().unwrap(), [r#"search {"q":"Ada"}"#, r#"films {"person":7,"limit":5}"#]);
    }

    #[tokio::test]
    async fn what_fails_is_told() {
        let tools = Tools::default();
        let run = |given: Value| async move {
            films().run(&arguments(&given), &Tools::default()).await.unwrap_err().to_string()
        };
        assert_eq!(run(json!({})).await, "the argument “who” is missing");
        assert_eq!(run(json!({"who": "nobody"})).await, "step 1 (search) returned nothing at /results/0/id");
        let mut broken = films();
        broken.steps[1].tool = "gone".to_owned();
        let error = broken.run(&arguments(&json!({"who": "Ada"})), &tools).await.unwrap_err();
        assert_eq!(error.to_string(), "step 2 (gone) failed: no tool gone");
    }

    #[test]
    fn soundness_is_checked() {
        let mut one = films();
        assert!(one.is_sound());
        one.steps.swap(0, 1);
        assert!(!one.is_sound());
        let mut two = films();
        two.parameters = json!({"type": "object"});
        assert!(!two.is_sound());
    }
}
