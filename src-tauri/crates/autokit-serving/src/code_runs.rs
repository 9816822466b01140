//! Code that agents wrote and functions of cards, run in the sandbox, a few at a time.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use autokit_error::{ApiError, ErrorCode};
use autokit_gateway::Refusal;
use autokit_sandbox::function::{Called, CodeCheck, Function};
use autokit_sandbox::{Exit, Job, Language, Limits, Output, Sandbox, SandboxError};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::external::{ToolOutput, number, text};
use crate::recordings::text_of;

/// Runs code. Clones share the sandbox and its slots.
#[derive(Clone, Debug, Default)]
pub struct CodeRunner {
    /// Tested when it is first needed.
    sandbox: Arc<OnceLock<Sandbox>>,
    runs: Arc<CodeRuns>,
}

impl CodeRunner {
    /// Runs the code that an agent wrote, as the tool `code_exec`. The call must be permitted.
    pub(crate) async fn run(&self, arguments: &Map<String, Value>, cancel: &CancellationToken) -> ToolOutput {
        let sandbox = self.tested_sandbox().await.map_err(|error| sandbox_refused(&error))?;
        let _permit = self.runs.acquire().await.ok_or_else(too_many_runs)?;
        let mut job = Job::new(language(text(arguments, "language")), text(arguments, "code"));
        job.stdin = text(arguments, "stdin").as_bytes().to_vec();
        if let Some(seconds) = number(arguments, "seconds") {
            let wall = Duration::from_secs(seconds);
            job.limits = Limits { wall, cpu: wall, ..Limits::default() };
        }
        let limits = job.limits;
        let outcome = sandbox.run(job, cancel.cancelled()).await.map_err(|error| sandbox_refused(&error))?;
        let stream = |output: &Output| {
            let text = output.text();
            if output.cut > 0 {
                format!("{text}\n… {} more bytes truncated", output.cut)
            } else {
                text.into_owned()
            }
        };
        let ended = match outcome.exit {
            Exit::Code(code) => format!("exit code {code}"),
            Exit::Signal(signal) => format!("ended by signal {signal}"),
            Exit::TimedOut => format!("stopped after {} s", limits.wall.as_secs()),
            Exit::OutOfMemory => format!("stopped: over {} MiB of memory", limits.memory_bytes >> 20),
            Exit::TooManyProcesses => format!("stopped: over {} processes", limits.processes),
            Exit::TooMuchOutput => "stopped: too much output".to_owned(),
            Exit::Cancelled => return Err(Refusal::Cancelled),
        };
        let answer = json!({
            "ended": ended, "stdout": stream(&outcome.stdout), "stderr": stream(&outcome.stderr),
            "ms": outcome.wall.as_millis() as u64,
        });
        Ok(answer.to_string())
    }

    /// Calls a function. The call must be permitted.
    pub(crate) async fn call_function(
        &self,
        function: &Function,
        arguments: &Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, Refusal> {
        let sandbox = self.tested_sandbox().await.map_err(|error| sandbox_refused(&error))?;
        let _permit = self.runs.acquire().await.ok_or_else(too_many_runs)?;
        let call = sandbox.call_function(function, arguments, cancel.cancelled()).await;
        let called = call.map_err(|error| sandbox_refused(&error))?.called;
        let error_of = |why: String| CallToolResult::error(vec![ContentBlock::text(why)]);
        Ok(match called {
            Called::Returned(value) => CallToolResult::success(vec![ContentBlock::text(text_of(&value))]),
            Called::Stopped(_) if cancel.is_cancelled() => return Err(Refusal::Cancelled),
            Called::Raised(error) => error_of(error),
            Called::Reached(what) => error_of(format!("the tool was stopped: it {what}")),
            Called::Stopped(why) => error_of(format!("the tool {why}")),
        })
    }

    /// Checks a function in the sandbox.
    ///
    /// # Errors
    /// `provider` where code cannot be isolated, and when a run failed.
    pub async fn check_function(&self, function: &Function) -> autokit_error::Result<Vec<CodeCheck>> {
        let sandbox = self.tested_sandbox().await.map_err(|error| failed(&error))?;
        // One slot for all runs of a check, which follow each other.
        let _permit = self.runs.acquire().await.ok_or_else(|| {
            let message = "too many code runs are in progress";
            ApiError::new(ErrorCode::Conflict, message, "Try again later.")
        })?;
        sandbox.check_function(function).await.map_err(|error| failed(&error))
    }

    /// Tells whether code can be isolated on this system.
    ///
    /// # Errors
    /// `provider` with the reason, if it cannot.
    pub async fn ensure_sandbox(&self) -> autokit_error::Result<()> {
        self.tested_sandbox().await.map(drop).map_err(|error| failed(&error))
    }

    /// Returns the sandbox of this system, testing it on first use.
    async fn tested_sandbox(&self) -> Result<Sandbox, SandboxError> {
        if let Some(sandbox) = self.sandbox.get() {
            return Ok(sandbox.clone());
        }
        let tested = tokio::task::spawn_blocking(Sandbox::available).await;
        let sandbox = match tested {
            Ok(tested) => tested?,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        };
        Ok(self.sandbox.get_or_init(|| sandbox).clone())
    }
}

/// The error of the sandbox for people.
fn failed(error: &SandboxError) -> ApiError {
    ApiError::new(ErrorCode::Provider, error.to_string(), error.remedy())
}

fn sandbox_refused(error: &SandboxError) -> Refusal {
    Refusal::Rejected(format!("{error}. {}", error.remedy()))
}

fn too_many_runs() -> Refusal {
    Refusal::Failed("too many code runs are in progress; try again later".to_owned())
}

fn language(name: &str) -> Language {
    match name {
        "javascript" => Language::JavaScript,
        "shell" => Language::Shell,
        _ => Language::Python,
    }
}

/// Most programs that wait for a slot.
const MAX_WAITING: usize = 16;

/// Limits how many programs agents run at a time, and how many wait. Each may take a core and a quarter of
/// a gigabyte of memory.
#[derive(Debug)]
struct CodeRuns {
    running: Semaphore,
    /// Programs that run or wait.
    taken: Semaphore,
}

/// A slot to run a program in, freed on drop.
#[derive(Debug)]
struct CodeRunPermit<'a> {
    _running: SemaphorePermit<'a>,
    _taken: SemaphorePermit<'a>,
}

impl Default for CodeRuns {
    fn default() -> CodeRuns {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        CodeRuns::new(cores.clamp(1, 4), MAX_WAITING)
    }
}

impl CodeRuns {
    fn new(running: usize, waiting: usize) -> CodeRuns {
        CodeRuns { running: Semaphore::new(running), taken: Semaphore::new(running + waiting) }
    }

    /// Waits for a slot; `None` if too many programs wait.
    async fn acquire(&self) -> Option<CodeRunPermit<'_>> {
        let taken = self.taken.try_acquire().ok()?;
        let running = self.running.acquire().await.ok()?;
        Some(CodeRunPermit { _running: running, _taken: taken })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn programs_wait_for_a_slot_up_to_a_limit() {
        let runs = CodeRuns::new(1, 2);
        let first = runs.acquire().await.expect("a permit");
        let (mut second, mut third) = (Box::pin(runs.acquire()), Box::pin(runs.acquire()));
        let waits =
            |waiting: &mut std::pin::Pin<Box<_>>| futures_util::FutureExt::now_or_never(waiting).is_none();
        assert!(waits(&mut second) && waits(&mut third));
        assert!(runs.acquire().await.is_none(), "a fourth is refused at once");
        drop(first);
        let second = second.await.expect("a permit");
        assert!(waits(&mut third));
        // Dropping a waiting future frees its slot.
        drop(third);
        let mut fourth = Box::pin(runs.acquire());
        assert!(waits(&mut fourth));
        drop(second);
        assert!(fourth.await.is_some());
    }
}
