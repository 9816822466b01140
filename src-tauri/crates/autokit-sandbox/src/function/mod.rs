//! Tools that are functions: JSON in, JSON out, and nothing else (Elyra, bootstrapping: code and its validation).
//!
//! A function is called by a harness in its own language, in a job of its own. The harness ends it where it reaches for
//! files, the network or other programs, and says which; without it, the sandbox would deny the same without saying so.
//! What the harness reports is the function's own doing: code that means to deceive could write a report itself, which
//! is why results of examples are compared outside the sandbox, its own tests alone are never enough, and a person reads
//! the code before it can be called.

mod check;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use ts_rs::TS;

use crate::{Exit, Job, Language, Limits, Outcome, Sandbox, SandboxError};

pub use check::{CodeCheck, CodeCheckKind, CodeCheckState, is_usable};

/// Most bytes of the code of a function, and of its tests.
const MAX_CODE: usize = 64 << 10;
/// Most examples of a function.
pub const MAX_EXAMPLES: usize = 20;
/// Most characters of what a program said on standard error.
const SAID: usize = 600;

/// A language functions can be written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum FunctionLanguage {
    /// Python 3: `def run(…)`, called with keyword arguments.
    #[default]
    Python,
    /// JavaScript: `function run({…})`, called with one object; it may be `async`.
    JavaScript,
}

impl FunctionLanguage {
    /// Returns its name as permissions and cards spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            FunctionLanguage::Python => "python",
            FunctionLanguage::JavaScript => "javascript",
        }
    }

    fn language(self) -> Language {
        match self {
            FunctionLanguage::Python => Language::Python,
            FunctionLanguage::JavaScript => Language::JavaScript,
        }
    }

    fn harness(self) -> &'static str {
        match self {
            FunctionLanguage::Python => include_str!("harness.py"),
            FunctionLanguage::JavaScript => include_str!("harness.js"),
        }
    }

    fn extension(self) -> &'static str {
        match self {
            FunctionLanguage::Python => "py",
            FunctionLanguage::JavaScript => "js",
        }
    }
}

/// A call of a function and what it has to return.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// The result.
    pub result: Value,
}

/// A tool that is a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Its language.
    pub language: FunctionLanguage,
    /// Code that defines `run`.
    pub source: String,
    /// Code that defines functions whose names start with `test`; they call `run` and fail by an exception.
    #[serde(default)]
    pub tests: String,
    /// Calls that it has to answer as given.
    #[serde(default)]
    pub examples: Vec<Example>,
}

/// What a call led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    /// It returned this.
    Returned(Value),
    /// It failed: the error, with the line of code where there is one.
    Raised(String),
    /// It was stopped where it reached for something: "opens the file '/etc/passwd'".
    Reached(String),
    /// It was stopped at a limit, or ended without a result.
    Stopped(String),
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    /// What it led to.
    pub called: Called,
    /// Time from the start of the set-up to the end.
    pub wall: Duration,
    /// Most memory it used, with its interpreter, in KiB; 0 if unknown.
    pub kibibytes: u64,
}

/// What the harness does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Call,
    Tests,
}

impl Function {
    /// Returns whether it has code, and not too much of anything.
    pub fn is_sound(&self) -> bool {
        !self.source.trim().is_empty()
            && self.source.len() <= MAX_CODE
            && self.tests.len() <= MAX_CODE
            && self.examples.len() <= MAX_EXAMPLES
    }

    fn file(&self, name: &str) -> String {
        format!("{name}.{}", self.language.extension())
    }

    fn job(&self, mode: Mode, arguments: &Map<String, Value>) -> Job {
        let mode_name = if mode == Mode::Call { "call" } else { "tests" };
        let mut job = Job::new(self.language.language(), self.language.harness());
        job.stdin = json!({"mode": mode_name, "arguments": arguments}).to_string().into_bytes();
        job.files = vec![
            (self.file("tool"), self.source.as_bytes().to_vec()),
            (self.file("tests"), self.tests.as_bytes().to_vec()),
        ];
        job
    }
}

impl Sandbox {
    /// Calls a function.
    ///
    /// # Errors
    /// When the job could not be run. A function that fails or is stopped is no error.
    pub async fn call_function(
        &self,
        function: &Function,
        arguments: &Map<String, Value>,
        cancel: impl Future<Output = ()>,
    ) -> Result<FunctionCall, SandboxError> {
        let job = function.job(Mode::Call, arguments);
        let limits = job.limits;
        Ok(read_outcome(&self.run(job, cancel).await?, limits))
    }
}

/// Reads what the harness reported, or why it could not.
fn read_outcome(outcome: &Outcome, limits: Limits) -> FunctionCall {
    let stopped =
        |why: String| FunctionCall { called: Called::Stopped(why), wall: outcome.wall, kibibytes: 0 };
    match outcome.exit {
        Exit::Code(0) => {}
        Exit::Code(code) => {
            return stopped(format!("ended with exit code {code}{}", said(outcome)));
        }
        Exit::Signal(signal) => return stopped(format!("was ended by signal {signal}{}", said(outcome))),
        Exit::TimedOut => return stopped(format!("did not end within {} s", limits.wall.as_secs())),
        Exit::OutOfMemory => {
            return stopped(format!("used more than {} MiB of memory", limits.memory_bytes >> 20));
        }
        Exit::TooManyProcesses => {
            return stopped(format!("started more than {} processes", limits.processes));
        }
        Exit::TooMuchOutput => return stopped("wrote without end".to_owned()),
        Exit::Cancelled => return stopped("was cancelled".to_owned()),
    }
    let stdout = outcome.stdout.text();
    let report: Option<Value> = match stdout.trim_end().lines().last() {
        Some(line) if outcome.stdout.cut == 0 => serde_json::from_str(line).ok(),
        _ => None,
    };
    let Some(Value::Object(mut report)) = report else {
        return match outcome.stdout.cut {
            0 => stopped("ended without a result".to_owned()),
            _ => stopped(format!("returned more than {} KiB", limits.output_bytes >> 10)),
        };
    };
    let text = |key: &str| report.get(key).and_then(Value::as_str).map(|text| shortened(text).into_owned());
    let called = match (text("access"), text("error"), report.shift_remove("value")) {
        (Some(reached), _, _) => Called::Reached(reached),
        (None, Some(error), _) => Called::Raised(error),
        (None, None, Some(value)) => Called::Returned(value),
        (None, None, None) => Called::Stopped("ended without a result".to_owned()),
    };
    let kibibytes = report.get("kibibytes").and_then(Value::as_u64).unwrap_or_default();
    FunctionCall { called, wall: outcome.wall, kibibytes }
}

fn said(outcome: &Outcome) -> String {
    let text = outcome.stderr.text();
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!(": {}", last_chars(text, SAID)) }
}

/// Returns the start of a text.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SAID) {
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
        None => Cow::Borrowed(text),
    }
}

/// Returns the end of a text, where programs say what was wrong.
fn last_chars(text: &str, most: usize) -> &str {
    let from = text.char_indices().rev().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
    &text[from..]
}
