//! Checking a function before a person reads it (Elyra, bootstrapping: validation).

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    Called, Function, FunctionCall, FunctionLanguage, Mode, SAID, last_chars, read_outcome, shortened,
};
use crate::{Exit, Job, Language, Limits, Sandbox, SandboxError};

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CodeCheckKind {
    /// Whether it can be read as code and defines `run`.
    Syntax,
    /// Whether it leaves files, the network and other programs alone.
    Access,
    /// Whether its examples return what they should.
    Examples,
    /// Whether its own tests pass.
    Tests,
    /// Whether every call kept its time and memory.
    Limits,
    /// What a type checker finds. Only told.
    Types,
    /// What a linter finds. Only told.
    Lint,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CodeCheckState {
    /// As it should.
    Passed,
    /// Otherwise.
    Failed,
    /// There was nothing to check, or nothing to check it with.
    NotRun,
}

/// A check with what it showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeCheck {
    /// What was checked.
    pub kind: CodeCheckKind,
    /// How it ended.
    pub state: CodeCheckState,
    /// What it showed, in words.
    pub output: String,
}

/// Limits of type checkers and linters, which are slower than what they check.
const CHECKER_LIMITS: (Duration, u64) = (Duration::from_mins(1), 1 << 30);

/// Returns whether a function with these checks may be proposed: nothing failed that says something about what it does,
/// and its examples were answered. They are compared outside the sandbox, while its own tests are reported from inside,
/// where the code could write the report. Types and style are for the reader.
pub fn is_usable(checks: &[CodeCheck]) -> bool {
    let failed = |check: &CodeCheck| {
        check.state == CodeCheckState::Failed
            && !matches!(check.kind, CodeCheckKind::Types | CodeCheckKind::Lint)
    };
    let answered =
        |check: &CodeCheck| check.kind == CodeCheckKind::Examples && check.state == CodeCheckState::Passed;
    !checks.iter().any(failed) && checks.iter().any(answered)
}

/// What a checker is called, and the command that runs it on `tool.py` or `tool.js`.
fn checkers(language: FunctionLanguage) -> [(CodeCheckKind, &'static str, &'static str); 2] {
    match language {
        FunctionLanguage::Python => [
            (CodeCheckKind::Types, "mypy", "mypy --no-error-summary --cache-dir=/dev/null tool.py"),
            (CodeCheckKind::Lint, "pyflakes3", "pyflakes3 tool.py"),
        ],
        FunctionLanguage::JavaScript => [
            (CodeCheckKind::Types, "tsc", "tsc --allowJs --checkJs --noEmit --target esnext tool.js"),
            (CodeCheckKind::Lint, "eslint", "eslint --no-config-lookup tool.js"),
        ],
    }
}

/// What the runs of one check add up to.
#[derive(Debug, Default)]
struct Runs {
    slowest: Duration,
    kibibytes: u64,
    reached: Option<String>,
    stopped: Option<String>,
}

impl Runs {
    fn add(&mut self, call: &FunctionCall) {
        self.slowest = self.slowest.max(call.wall);
        self.kibibytes = self.kibibytes.max(call.kibibytes);
        match &call.called {
            Called::Reached(what) => self.reached = self.reached.take().or_else(|| Some(what.clone())),
            Called::Stopped(why) => self.stopped = self.stopped.take().or_else(|| Some(why.clone())),
            Called::Returned(_) | Called::Raised(_) => {}
        }
    }
}

fn check(kind: CodeCheckKind, passed: bool, output: impl Into<String>) -> CodeCheck {
    let state = if passed { CodeCheckState::Passed } else { CodeCheckState::Failed };
    CodeCheck { kind, state, output: output.into() }
}

fn not_run(kind: CodeCheckKind, why: impl Into<String>) -> CodeCheck {
    CodeCheck { kind, state: CodeCheckState::NotRun, output: why.into() }
}

fn in_words(called: &Called) -> String {
    match called {
        Called::Returned(value) => format!("returned {}", shortened(&value.to_string())),
        Called::Raised(error) => format!("failed: {error}"),
        Called::Reached(what) => format!("was stopped: it {what}"),
        Called::Stopped(why) => why.clone(),
    }
}

/// Whether two results are the same to a reader: numbers by value, so that 2 is 2.0, and decimals up to rounding.
fn is_same(one: &serde_json::Value, other: &serde_json::Value) -> bool {
    use serde_json::Value;
    match (one, other) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| is_same(value, other)))
        }
        _ => one == other,
    }
}

impl Sandbox {
    /// Checks a function: its examples are called, its tests run, and the checkers that are installed look at it.
    ///
    /// # Errors
    /// When a job could not be run.
    pub async fn check_function(&self, function: &Function) -> Result<Vec<CodeCheck>, SandboxError> {
        let mut runs = Runs::default();
        let never = std::future::pending::<()>;
        // Loads the code alone: what is wrong with it would otherwise be told by every example.
        let alone = Function { tests: String::new(), ..function.clone() };
        let job = alone.job(Mode::Tests, &serde_json::Map::new());
        let limits = job.limits;
        let loaded = read_outcome(&self.run(job, never()).await?, limits);
        runs.add(&loaded);
        let mut checks = Vec::new();
        match &loaded.called {
            Called::Raised(error) => {
                checks.push(check(CodeCheckKind::Syntax, false, error.clone()));
                return Ok(checks);
            }
            _ => checks.push(check(CodeCheckKind::Syntax, true, "The code can be read.")),
        }
        let is_loaded = matches!(loaded.called, Called::Returned(_));
        let examples = self.check_examples(function, is_loaded, &mut runs).await?;
        let tests = self.check_tests(function, is_loaded, &mut runs).await?;
        checks.push(match &runs.reached {
            Some(what) => check(CodeCheckKind::Access, false, format!("The code {what}.")),
            None => {
                check(CodeCheckKind::Access, true, "No use of files, the network or other programs was seen.")
            }
        });
        checks.extend([examples, tests]);
        checks.push(match &runs.stopped {
            Some(why) => check(CodeCheckKind::Limits, false, format!("The code {why}.")),
            None => check(
                CodeCheckKind::Limits,
                true,
                format!(
                    "Slowest call {} ms, most memory {} MiB, with the start of the interpreter.",
                    runs.slowest.as_millis(),
                    runs.kibibytes.div_ceil(1024)
                ),
            ),
        });
        for (kind, program, command) in checkers(function.language) {
            checks.push(self.run_checker(function, kind, program, command).await?);
        }
        Ok(checks)
    }

    async fn check_examples(
        &self,
        function: &Function,
        is_loaded: bool,
        runs: &mut Runs,
    ) -> Result<CodeCheck, SandboxError> {
        if !is_loaded {
            return Ok(not_run(CodeCheckKind::Examples, "The code was stopped before."));
        }
        if function.examples.is_empty() {
            return Ok(check(CodeCheckKind::Examples, false, "There are no examples."));
        }
        let (mut right, mut output) = (0, String::new());
        // What always returns the same would pass one of them.
        let first = &function.examples[0].result;
        let is_enough = function.examples.iter().all(|example| example.arguments.is_empty())
            || function.examples.iter().any(|example| !is_same(&example.result, first));
        if !is_enough {
            output.push_str("\nTwo examples with different results are needed.");
        }
        for example in &function.examples {
            let call = self.call_function(function, &example.arguments, std::future::pending()).await?;
            runs.add(&call);
            if matches!(&call.called, Called::Returned(value) if is_same(value, &example.result)) {
                right += 1;
            } else {
                let arguments = serde_json::Value::Object(example.arguments.clone());
                let outcome = in_words(&call.called);
                let (arguments, expected) = (arguments.to_string(), example.result.to_string());
                let (arguments, expected) = (shortened(&arguments), shortened(&expected));
                let _ = write!(output, "\nrun({arguments}) {outcome}; expected {expected}");
            }
            // The others would wait for the same limit.
            if runs.stopped.is_some() {
                break;
            }
        }
        let all = function.examples.len();
        Ok(check(
            CodeCheckKind::Examples,
            right == all && is_enough,
            format!("{right} of {all} returned what they should.{output}"),
        ))
    }

    async fn check_tests(
        &self,
        function: &Function,
        is_loaded: bool,
        runs: &mut Runs,
    ) -> Result<CodeCheck, SandboxError> {
        if function.tests.trim().is_empty() || !is_loaded {
            let why = if is_loaded { "There are no tests." } else { "The code was stopped before." };
            return Ok(not_run(CodeCheckKind::Tests, why));
        }
        let job = function.job(Mode::Tests, &serde_json::Map::new());
        let limits = job.limits;
        let call = read_outcome(&self.run(job, std::future::pending()).await?, limits);
        runs.add(&call);
        let Called::Returned(results) = &call.called else {
            return Ok(check(
                CodeCheckKind::Tests,
                false,
                format!("The tests did not run: {}.", in_words(&call.called)),
            ));
        };
        let results = results.as_array().map(Vec::as_slice).unwrap_or_default();
        let (mut passed, mut output) = (0, String::new());
        for result in results {
            match result["error"].as_str() {
                None => passed += 1,
                // The first ones tell what is wrong.
                Some(_) if output.len() > 4 * SAID => {}
                Some(error) => {
                    let name = result["name"].as_str().unwrap_or_default();
                    let _ = write!(output, "\n{}: {}", shortened(name), shortened(error));
                }
            }
        }
        if results.is_empty() {
            return Ok(check(CodeCheckKind::Tests, false, "No function starts with `test`."));
        }
        let all = results.len();
        Ok(check(CodeCheckKind::Tests, passed == all, format!("{passed} of {all} passed.{output}")))
    }

    async fn run_checker(
        &self,
        function: &Function,
        kind: CodeCheckKind,
        program: &str,
        command: &str,
    ) -> Result<CodeCheck, SandboxError> {
        // 127 is what the shell itself reports for a program that is not there.
        let mut job = Job::new(
            Language::Shell,
            format!("command -v {program} >/dev/null || exit 127\nexec {command} 2>&1\n"),
        );
        job.files = vec![(function.file("tool"), function.source.as_bytes().to_vec())];
        let (wall, memory_bytes) = CHECKER_LIMITS;
        job.limits = Limits { wall, cpu: wall, memory_bytes, ..Limits::default() };
        let outcome = self.run(job, std::future::pending()).await?;
        let text = outcome.stdout.text();
        let text = last_chars(text.trim(), SAID);
        Ok(match outcome.exit {
            Exit::Code(127) => not_run(kind, format!("`{program}` is not installed.")),
            Exit::Code(0) => check(kind, true, format!("`{program}` found nothing.")),
            Exit::Code(_) => check(kind, false, text),
            _ => not_run(kind, format!("`{program}` did not come to an end.")),
        })
    }
}
