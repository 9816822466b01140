//! Specification, code and checks, until the code works or attempts are used up.

use std::sync::Arc;

use autokit_api::{CodeAttempt, ToolSpecification};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::CardRecord;
use autokit_llm::prompts;
use autokit_sandbox::function::{
    CodeCheck, CodeCheckKind, CodeCheckState, Example, Function, FunctionLanguage, MAX_EXAMPLES, is_usable,
};
use autokit_serving::arguments;
use autokit_toolcard::{Author, CardKey, fields};
use autokit_workspace::cards::shorten;
use autokit_workspace::jobs::{Outcome, Progress};
use serde_json::{Map, Value, json};

use super::GeneratedTools;
use super::proposal::{PROVIDER, checks_in_words, written};
use crate::budget::{BudgetedModel, text_of};

/// Attempts at code that passes its checks.
const ATTEMPTS: u64 = 3;
/// Most characters of each text of a specification.
const MAX_TEXT: usize = 2_000;
/// Most bytes of the schema of a tool's arguments.
const MAX_SCHEMA: usize = 16 << 10;
/// Most characters of a tool's name.
const MAX_NAME: usize = 64;
/// Placeholder of a slot without content.
const NONE: &str = "(none)";

/// The error of a model that did not answer.
fn unanswered(message: String) -> ApiError {
    ApiError::new(
        ErrorCode::Provider,
        message,
        "Check the service and the limits in Settings, Language model.",
    )
}

fn failed(message: String) -> ApiError {
    ApiError::new(
        ErrorCode::Provider,
        message,
        "Describe the need more precisely, or choose another language model.",
    )
}

/// Whether a name can be called in every program: letters, digits and underscores.
fn is_tool_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns why something is no schema of a call's arguments, by which a call can be checked.
fn schema_problem(parameters: &Value) -> Option<String> {
    if parameters.to_string().len() > MAX_SCHEMA {
        return Some("it is too long".to_owned());
    }
    let names = parameters.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    if let Some(name) = names.into_iter().find(|name| !is_tool_name(name)) {
        return Some(format!("{name:?} is no name of an argument"));
    }
    jsonschema::validator_for(parameters).err().map(|error| error.to_string())
}

/// Reads the code that a model wrote.
fn function_in(answer: &Value, language: FunctionLanguage) -> Function {
    let examples = answer.get("examples").and_then(Value::as_array).into_iter().flatten();
    let example = |value: &Value| {
        Some(Example {
            arguments: value.get("arguments")?.as_object()?.clone(),
            result: value.get("result").cloned().unwrap_or_default(),
        })
    };
    Function {
        language,
        source: text_of(answer, "source"),
        tests: text_of(answer, "tests"),
        examples: examples.filter_map(example).take(MAX_EXAMPLES).collect(),
    }
}

impl GeneratedTools {
    /// Writes a tool and proposes it.
    ///
    /// # Errors
    /// When the model fails, or what it wrote does not pass the checks.
    pub(super) async fn write(
        &self,
        need: &str,
        language: FunctionLanguage,
        earlier: Option<(Arc<CardRecord>, Function)>,
        model: &BudgetedModel,
        progress: &Progress,
    ) -> Result<Outcome> {
        let job = progress.id();
        let language = earlier.as_ref().map_or(language, |(_, function)| function.language);
        let record = earlier.as_ref().map(|(record, _)| Arc::clone(record));
        let specification = self.specify(need, earlier.as_ref(), model).await?;
        let specification = match &record {
            Some(_) => specification,
            None => self.with_free_name(specification).await?,
        };
        self.note(&job, |generation| generation.specification = Some(specification.clone()));
        if !specification.side_effects.is_empty() {
            return Err(ApiError::new(
                ErrorCode::Refused,
                format!("the tool would need {}", specification.side_effects.join(", ")),
                "Written tools only compute. Use a tool of a server or a web API for this, or pass in what it needs.",
            ));
        }
        let mut attempt = earlier.map(|(_, function)| (function.source, String::from(NONE)));
        let mut checked = Vec::new();
        for number in 1..=ATTEMPTS {
            progress.set_done(number - 1, ATTEMPTS);
            let function = self.code(&specification, language, attempt.as_ref(), model).await?;
            let checks = if function.is_sound() {
                self.check(&specification, &function).await?
            } else {
                let output = "There is no code, or too much of it.".to_owned();
                vec![CodeCheck { kind: CodeCheckKind::Syntax, state: CodeCheckState::Failed, output }]
            };
            let (source, tests) = (function.source.clone(), function.tests.clone());
            let tried = CodeAttempt { source, tests, checks };
            self.note(&job, |generation| generation.attempts.push(tried.clone()));
            if is_usable(&tried.checks) {
                let now = self.workspace.clock.stamp();
                let record = record.as_deref();
                let draft = written(record, need, &specification, &function, &tried.checks, now);
                let proposed = self.proposals.propose(draft, &Author::autokit(), None).await?;
                let id = proposed.proposal.id;
                self.note(&job, |generation| generation.proposal = Some(id));
                progress.set_done(ATTEMPTS, ATTEMPTS);
                let summary = format!("{} is pending review", specification.name);
                return Ok(Outcome { summary, tally: None });
            }
            // Code that is too long is not sent back.
            let code = if function.is_sound() {
                format!("{}\n\nTests:\n{}", function.source, function.tests)
            } else {
                NONE.to_owned()
            };
            attempt = Some((code, checks_in_words(&tried.checks)));
            checked = tried.checks;
        }
        let why = checked.iter().find(|check| {
            check.state == CodeCheckState::Failed
                && !matches!(check.kind, CodeCheckKind::Types | CodeCheckKind::Lint)
        });
        let why = why.map_or("It was never seen to work.", |check| check.output.as_str());
        Err(failed(format!("no tool was proposed after {ATTEMPTS} attempts: {why}")))
    }

    async fn specify(
        &self,
        need: &str,
        earlier: Option<&(Arc<CardRecord>, Function)>,
        model: &BudgetedModel,
    ) -> Result<ToolSpecification> {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "purpose": {"type": "string"},
                "parameters": {"type": "object"},
                "returns": {"type": "string"},
                "limits": {"type": "string"},
                "side_effects": {"type": "array", "items": {"enum": ["files", "network", "programs"]}},
            },
            "required": ["name", "purpose", "parameters", "returns", "limits", "side_effects"],
        });
        let (mut before, mut failures) = (NONE.to_owned(), NONE.to_owned());
        if let Some((record, function)) = earlier {
            let card = record.card();
            let parameters = card.object().get(fields::PARAMETERS).cloned().unwrap_or_default();
            let description = card.description();
            before =
                format!("{}\n{description}\nArguments: {parameters}\n{}", record.key.name, function.source);
            let uses = self.uses_of(record).await?;
            let lines = uses.failed.iter().map(|(arguments, error)| format!("{arguments} → {error}"));
            let lines = lines.collect::<Vec<_>>().join("\n");
            if !lines.is_empty() {
                failures = lines;
            }
        }
        let need = if need.is_empty() { "The earlier version has to work where it failed." } else { need };
        let slots = [("need", need), ("earlier", before.as_str()), ("failed", failures.as_str())];
        let answer = model.ask(&prompts::TOOL_SPECIFY, &slots, &schema).await.map_err(unanswered)?;
        let parameters = match answer.get("parameters") {
            // A schema without a type accepts anything, and so says nothing to an agent.
            Some(Value::Object(schema)) if schema.contains_key("properties") => {
                let mut schema = schema.clone();
                schema.insert("type".to_owned(), "object".into());
                Value::Object(schema)
            }
            _ => json!({"type": "object", "properties": {}}),
        };
        let side_effects = answer.get("side_effects").and_then(Value::as_array).into_iter().flatten();
        let name = match earlier {
            Some((record, _)) => record.key.name.clone(),
            None => text_of(&answer, "name"),
        };
        if earlier.is_none() && !is_tool_name(&name) {
            return Err(failed("the language model gave the tool no usable name".to_owned()));
        }
        let text = |key: &str| shorten(&text_of(&answer, key), MAX_TEXT);
        if let Some(problem) = schema_problem(&parameters) {
            return Err(failed(format!(
                "the language model described arguments that are no schema: {problem}"
            )));
        }
        Ok(ToolSpecification {
            name,
            purpose: text("purpose"),
            parameters,
            returns: text("returns"),
            limits: text("limits"),
            side_effects: side_effects.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }

    async fn code(
        &self,
        specification: &ToolSpecification,
        language: FunctionLanguage,
        attempt: Option<&(String, String)>,
        model: &BudgetedModel,
    ) -> Result<Function> {
        let schema = json!({
            "type": "object",
            "properties": {
                "source": {"type": "string"},
                "tests": {"type": "string"},
                "examples": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"arguments": {"type": "object"}, "result": {}},
                    "required": ["arguments", "result"],
                }},
            },
            "required": ["source", "tests", "examples"],
        });
        let text = serde_json::to_string_pretty(specification).unwrap_or_default();
        let (attempt, checks) = attempt.map_or((NONE, NONE), |(code, checks)| (code, checks));
        let slots = [
            ("specification", text.as_str()),
            ("language", language.as_str()),
            ("attempt", attempt),
            ("checks", checks),
        ];
        let answer = model.ask(&prompts::TOOL_WRITE, &slots, &schema).await.map_err(unanswered)?;
        Ok(function_in(&answer, language))
    }

    /// Gives a new tool a name that no card and no other proposal of a written tool has.
    async fn with_free_name(&self, specification: ToolSpecification) -> Result<ToolSpecification> {
        let library = &self.workspace.library;
        let pending: Vec<CardKey> =
            library.pending().await?.iter().filter_map(|proposal| proposal.draft.key()).collect();
        let is_taken = |name: &str| {
            let key = CardKey::new(PROVIDER, name);
            pending.contains(&key) || library.read(|replica| replica.by_key(&key).is_some())
        };
        let name = specification.name.clone();
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name));
        Ok(ToolSpecification { name: free.unwrap_or(name), ..specification })
    }

    /// Checks code in the sandbox, and its examples against what agents will be able to call it with.
    async fn check(&self, specification: &ToolSpecification, function: &Function) -> Result<Vec<CodeCheck>> {
        let empty = Map::new();
        let schema = specification.parameters.as_object().unwrap_or(&empty);
        let unfit = function.examples.iter().find_map(|example| {
            let problem = arguments::check(schema, &example.arguments).err()?;
            let given = Value::Object(example.arguments.clone());
            Some(format!("The example {given} is no call of the tool: {problem}"))
        });
        let mut checks = self.code.check_function(function).await?;
        if let Some(problem) = unfit {
            checks.retain(|check| check.kind != CodeCheckKind::Examples);
            checks.push(CodeCheck {
                kind: CodeCheckKind::Examples,
                state: CodeCheckState::Failed,
                output: problem,
            });
        }
        Ok(checks)
    }
}
