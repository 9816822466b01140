//! Reason, act, observe (Yao et al., "ReAct", ICLR 2023): a model works with tools until it submits an answer
//! or reaches a limit.
//!
//! The answer is submitted by calling an additional tool, so that it is validated against a schema like any
//! other call. Each mistake of the model becomes an observation that it can learn from, up to a limit.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::client::Model;
use crate::error::{Error, Result};
use crate::message::{Message, Part, Reply, Request, Role, Tool, ToolCall, Usage};
use crate::structured::{json_in, problems_of};

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The text for the model.
    pub text: String,
    /// Whether the call failed.
    pub failed: bool,
}

/// The tools available in a run.
pub trait Toolbox: Sync {
    /// The tools; the same on every call.
    fn tools(&self) -> Vec<Tool>;
    /// Calls a tool. The arguments match its schema.
    fn call(&self, name: &str, arguments: Value) -> impl Future<Output = Observation> + Send;
}

/// A step of a run, reported as it happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The model's reasoning.
    Thought(String),
    /// A tool call by the model.
    Action {
        /// Name of the tool, as the model wrote it.
        tool: String,
        /// Arguments, as the model wrote them.
        arguments: String,
    },
    /// The result of the call.
    Observation(Observation),
}

/// Why a run ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// The maximum number of steps was reached.
    Steps,
    /// The model repeatedly failed to make a valid tool call.
    Confused,
    /// The model repeated the same call too often.
    Circling,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunOutcome {
    /// With an answer that matches the schema.
    Answer(Value),
    /// Without an answer.
    GaveUp(GaveUp),
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct React {
    /// Maximum number of replies of the model.
    pub steps: usize,
    /// Maximum number of consecutive mistakes.
    pub mistakes: usize,
    /// How often the same call is executed; after that its last result is repeated.
    pub repeats: usize,
    /// Maximum length of an observation for the model, in characters.
    pub observation: usize,
    /// Maximum number of calls taken from a single reply.
    pub calls: usize,
}

impl Default for React {
    fn default() -> React {
        React { steps: 12, mistakes: 3, repeats: 1, observation: 8000, calls: 8 }
    }
}

impl React {
    /// Lets the model work on `request` with the tools until it calls `finish`. Returns how the run ended and
    /// the tokens used.
    ///
    /// # Errors
    /// [`Error`] when the model cannot be queried.
    pub async fn run<T: Toolbox>(
        self,
        model: &Model,
        mut request: Request,
        toolbox: &T,
        finish: &Tool,
        mut on_step: impl FnMut(Step) + Send,
    ) -> Result<(RunOutcome, Usage)> {
        let mut tools = toolbox.tools();
        tools.push(finish.clone());
        let mut validators = HashMap::new();
        for tool in &tools {
            let validator = jsonschema::validator_for(&tool.schema)
                .map_err(|error| Error::BadRequest { host: tool.name.clone(), reason: error.to_string() })?;
            validators.insert(tool.name.clone(), validator);
        }
        let native = model.config().tools;
        if native {
            request.tools.clone_from(&tools);
        } else {
            request.system.push_str(&text_tool_prompt(&tools));
        }
        let mut usage = Usage::default();
        let mut mistakes = 0;
        let mut asked: HashMap<(String, String), (usize, Observation)> = HashMap::new();
        for _ in 0..self.steps {
            let mut reply = model.chat(&request, &mut |_| {}).await?;
            usage += reply.usage;
            // Excess calls and text are dropped, since they would be resent with every further request.
            reply.calls.truncate(self.calls);
            if native {
                reply.text = truncated(&reply.text, self.observation);
            }
            let (thought, calls) =
                if native { (reply.text.clone(), reply.calls.clone()) } else { from_text(&reply) };
            if !thought.trim().is_empty() {
                on_step(Step::Thought(thought.trim().to_owned()));
            }
            if calls.is_empty() {
                mistakes += 1;
                if mistakes >= self.mistakes {
                    return Ok((RunOutcome::GaveUp(GaveUp::Confused), usage));
                }
                let text = if reply.text.is_empty() { "(nothing)".to_owned() } else { reply.text };
                request.messages.push(Message::assistant(truncated(&text, self.observation)));
                request.messages.push(Message::user(format!(
                    "Call one of the tools: {}. Hand in the answer with {}.",
                    names(&tools),
                    finish.name
                )));
                continue;
            }
            request.messages.push(if native {
                reply.message()
            } else {
                Message::assistant(truncated(&reply.text, self.observation))
            });
            let mut results = Vec::new();
            for call in calls {
                on_step(Step::Action { tool: call.name.clone(), arguments: call.arguments.clone() });
                let checked = check(&call, &validators, &tools);
                let observation = match checked {
                    Err(problem) => {
                        mistakes += 1;
                        Observation { text: problem, failed: true }
                    }
                    Ok(arguments) if call.name == finish.name => {
                        return Ok((RunOutcome::Answer(arguments), usage));
                    }
                    Ok(arguments) => {
                        mistakes = 0;
                        let key = (call.name.clone(), arguments.to_string());
                        match asked.get_mut(&key) {
                            Some((times, before)) if *times >= self.repeats => {
                                *times += 1;
                                if *times > self.repeats + self.mistakes {
                                    return Ok((RunOutcome::GaveUp(GaveUp::Circling), usage));
                                }
                                let text = format!(
                                    "You asked this before; the answer was the same: {}",
                                    before.text
                                );
                                Observation { text, failed: before.failed }
                            }
                            _ => {
                                let observation = toolbox.call(&call.name, arguments).await;
                                let observation = Observation {
                                    text: truncated(&observation.text, self.observation),
                                    failed: observation.failed,
                                };
                                let times = asked.get(&key).map_or(0, |(times, _)| *times) + 1;
                                asked.insert(key, (times, observation.clone()));
                                observation
                            }
                        }
                    }
                };
                on_step(Step::Observation(observation.clone()));
                results.push((call.id, observation));
                if mistakes >= self.mistakes {
                    return Ok((RunOutcome::GaveUp(GaveUp::Confused), usage));
                }
            }
            request.messages.push(observation_message(native, results));
        }
        Ok((RunOutcome::GaveUp(GaveUp::Steps), usage))
    }
}

/// The arguments of a valid call, or what is wrong with it.
fn check(
    call: &ToolCall,
    validators: &HashMap<String, jsonschema::Validator>,
    tools: &[Tool],
) -> std::result::Result<Value, String> {
    let Some(validator) = validators.get(&call.name) else {
        let asked: String = call.name.chars().take(80).collect();
        return Err(format!("There is no tool {asked:?}. There are: {}.", names(tools)));
    };
    let arguments: Value = serde_json::from_str(&call.arguments)
        .map_err(|error| format!("The arguments are not valid JSON ({error}). Write one JSON object."))?;
    let problems = problems_of(validator, &arguments);
    if problems.is_empty() {
        Ok(arguments)
    } else {
        Err(format!("The arguments do not fit: {}.", problems.join("; ")))
    }
}

fn names(tools: &[Tool]) -> String {
    tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn truncated(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((at, _)) => {
            format!("{}\n(cut off here; {} characters in all)", &text[..at], text.chars().count())
        }
    }
}

fn observation_message(native: bool, results: Vec<(String, Observation)>) -> Message {
    if native {
        let part =
            |(call, seen): (String, Observation)| Part::Result { call, text: seen.text, failed: seen.failed };
        return Message { role: Role::User, parts: results.into_iter().map(part).collect() };
    }
    let text: Vec<String> =
        results.into_iter().map(|(_, seen)| format!("Observation: {}", seen.text)).collect();
    Message::user(text.join("\n\n"))
}

/// Instructions for a model without tool support on how to call the tools.
fn text_tool_prompt(tools: &[Tool]) -> String {
    let list: Vec<Value> = tools
        .iter()
        .map(|tool| json!({ "tool": tool.name, "description": tool.description, "arguments": tool.schema }))
        .collect();
    format!(
        "\n\nYou work with tools. Answer every time with one JSON object and nothing else: \
         {{\"thought\": \"why\", \"tool\": \"name\", \"arguments\": {{}}}}. \
         You are told what the tool said and go on from there. The tools, with the schema of their arguments:\n{}",
        json!(list)
    )
}

fn from_text(reply: &Reply) -> (String, Vec<ToolCall>) {
    let Some(value) = json_in(&reply.text) else { return (String::new(), Vec::new()) };
    let thought = value.get("thought").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(name) = value.get("tool").and_then(Value::as_str) else { return (thought, Vec::new()) };
    let arguments = value.get("arguments").map_or_else(|| "{}".to_owned(), Value::to_string);
    (thought, vec![ToolCall { id: "call".into(), name: name.to_owned(), arguments }])
}
