//! The engine as a process of its own: starts it, calls it, and starts another one if it ends.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autokit_api::Client;
use autokit_api::commands::{PROTOCOL, is_repeatable};
use autokit_api::stdio::{Call, EngineMessage};
use autokit_error::{ApiError, ErrorCode, Result};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};

/// How often the engine is started again within [`RESTART_PERIOD`].
const RESTARTS: usize = 3;
/// An engine that ends every few minutes is broken; one that was killed once is not.
const RESTART_PERIOD: Duration = Duration::from_mins(10);
/// How often a call is sent. One that ends the engine is not sent for ever.
const ATTEMPTS: u32 = 2;

/// What the engine told without being asked.
#[derive(Debug)]
pub(crate) enum Notice {
    /// The library is open. Anything may have changed since an earlier engine ended.
    Ready,
    /// An event of the library, as JSON.
    Event(Box<RawValue>),
}

/// A connection to the engine, whichever process it is.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    requests: mpsc::UnboundedSender<Request>,
    ids: Arc<Ids>,
}

/// Makes ids of calls: idempotency keys, so they do not repeat in another session.
#[derive(Debug)]
struct Ids {
    session: u64,
    count: AtomicU64,
}

impl Ids {
    fn next(&self) -> String {
        format!("{:016x}-{}", self.session, self.count.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Debug)]
enum Request {
    Call {
        call: Call,
        answer: oneshot::Sender<Result<Box<RawValue>>>,
    },
    /// Start an engine if there is none.
    Start,
    /// End the engine and start another one in its place.
    Switch {
        command: EngineCommand,
        /// Dropped once the engine before has closed its library.
        switched: oneshot::Sender<()>,
    },
    /// Dropped once the engine has closed the library.
    Close(oneshot::Sender<()>),
}

/// How the engine is started.
#[derive(Clone, Debug)]
pub(crate) struct EngineCommand {
    /// The program `autokit`.
    pub(crate) program: PathBuf,
    /// Its options before the name of the command.
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

impl Engine {
    /// Starts the engine in the background. Notices end when it is closed.
    pub(crate) fn start(command: EngineCommand) -> (Engine, mpsc::UnboundedReceiver<Notice>) {
        let (requests, received) = mpsc::unbounded_channel();
        let (notices, notified) = mpsc::unbounded_channel();
        let supervisor = Supervisor {
            command,
            requests: received,
            notices,
            pending: HashMap::new(),
            restarts: Vec::new(),
            switching: None,
            closing: None,
        };
        tauri::async_runtime::spawn(supervisor.run());
        let session = getrandom::u64().expect("the system provides random bytes");
        (Engine { requests, ids: Arc::new(Ids { session, count: AtomicU64::new(0) }) }, notified)
    }

    /// Executes a command given by name. Waits while the library is being opened.
    ///
    /// # Errors
    /// The command's own errors; the error of opening the library; `owner_unreachable` if the engine ended and it is
    /// unknown whether the command was executed.
    pub(crate) async fn call(&self, name: String, request: Box<RawValue>) -> Result<Box<RawValue>> {
        let (answer, answered) = oneshot::channel();
        let call = Call { id: self.ids.next(), name, request };
        self.requests.send(Request::Call { call, answer }).map_err(|_| ApiError::cancelled())?;
        answered.await.map_err(|_| ApiError::cancelled())?
    }

    /// Starts an engine if the one before could not be used; what was in the way may be gone.
    pub(crate) fn start_again(&self) {
        // Fails only while the window closes.
        let _ = self.requests.send(Request::Start);
    }

    /// Has the engine close its library and starts another one in its place. Calls that wait for the one before are
    /// answered with an error; later ones wait until the other library is open.
    pub(crate) async fn switch(&self, command: EngineCommand) {
        let (switched, ended) = oneshot::channel();
        if self.requests.send(Request::Switch { command, switched }).is_ok() {
            // Never sent, but dropped.
            let _ = ended.await;
        }
    }

    /// Has the engine close the library, and waits until its process has ended.
    pub(crate) async fn close(&self) {
        let (closed, ended) = oneshot::channel();
        if self.requests.send(Request::Close(closed)).is_ok() {
            // Never sent, but dropped.
            let _ = ended.await;
        }
    }
}

#[async_trait]
impl Client for Engine {
    async fn call_json(&self, name: &str, body: Value) -> Result<Value> {
        let json = |error: serde_json::Error| ApiError::internal(format!("{name}: {error}"));
        let response = self.call(name.to_owned(), to_raw_value(&body).map_err(json)?).await?;
        serde_json::from_str(response.get()).map_err(json)
    }
}

/// A call that was not answered yet.
#[derive(Debug)]
struct Pending {
    call: Call,
    answer: oneshot::Sender<Result<Box<RawValue>>>,
    attempts: u32,
}

struct Supervisor {
    command: EngineCommand,
    requests: mpsc::UnboundedReceiver<Request>,
    notices: mpsc::UnboundedSender<Notice>,
    pending: HashMap<String, Pending>,
    /// When the engine was started again.
    restarts: Vec<Instant>,
    /// While the engine closes its library to make place for another one.
    switching: Option<oneshot::Sender<()>>,
    closing: Option<oneshot::Sender<()>>,
}

/// A running engine.
struct Running {
    child: Child,
    /// Closed to end it.
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    ready: bool,
}

impl Supervisor {
    async fn run(mut self) {
        loop {
            match self.run_once().await {
                Ok(()) => return,
                Err(Ended::Lost(why)) => {
                    tracing::error!(why, "the engine ended");
                    self.settle_lost();
                    if !may_restart(&mut self.restarts, Instant::now()) {
                        let error = unusable(&format!("it ended {} times in a row: {why}", RESTARTS + 1));
                        if !self.fail_until_started(error).await {
                            return;
                        }
                    }
                }
                Err(Ended::Failed(error)) => {
                    if !self.fail_until_started(error).await {
                        return;
                    }
                }
                Err(Ended::Switched) => {
                    self.restarts.clear();
                    // They are about the library before.
                    self.fail_pending(&ApiError::cancelled());
                    self.switching = None;
                }
            }
        }
    }

    /// Answers all calls that wait with an error.
    fn fail_pending(&mut self, error: &ApiError) {
        for (_, pending) in self.pending.drain() {
            // Fails if the page is gone.
            let _ = pending.answer.send(Err(error.clone()));
        }
    }

    /// Answers all calls with an error, until another engine is to be started. Returns `false` if the window closes instead.
    async fn fail_until_started(&mut self, error: ApiError) -> bool {
        if self.switching.take().is_some() {
            // It failed while it made place for another one, which is not concerned.
            self.fail_pending(&ApiError::cancelled());
            return true;
        }
        tracing::error!(%error, "there is no engine");
        self.restarts.clear();
        self.fail_pending(&error);
        while let Some(request) = self.requests.recv().await {
            match request {
                Request::Call { answer, .. } => {
                    let _ = answer.send(Err(error.clone()));
                }
                Request::Start => return true,
                Request::Switch { command, .. } => {
                    self.command = command;
                    return true;
                }
                Request::Close(_) => return false,
            }
        }
        false
    }

    /// Whether the engine goes on; otherwise requests wait for what comes after it.
    fn takes_requests(&self) -> bool {
        self.closing.is_none() && self.switching.is_none()
    }

    /// Starts an engine and serves calls until it ends. Returns `Ok` after it was closed.
    async fn run_once(&mut self) -> Result<(), Ended> {
        let started = start(&self.command);
        let mut running = started.map_err(|error| Ended::Failed(not_started(&self.command, &error)))?;
        loop {
            tokio::select! {
                request = self.requests.recv(), if self.takes_requests() => match request {
                    Some(Request::Call { call, answer }) => {
                        let mut pending = Pending { call, answer, attempts: 0 };
                        if running.ready {
                            running.send(&mut pending).await;
                        }
                        self.pending.insert(pending.call.id.clone(), pending);
                    }
                    Some(Request::Start) => {}
                    Some(Request::Switch { command, switched }) => {
                        self.command = command;
                        self.switching = Some(switched);
                        running.input = None;
                    }
                    Some(Request::Close(closed)) => {
                        self.closing = Some(closed);
                        running.input = None;
                    }
                    None => return Ok(()),
                },
                line = running.output.next_line() => match line {
                    Ok(Some(line)) => self.hear(&mut running, &line).await?,
                    Ok(None) => break,
                    Err(error) => {
                        tracing::error!(%error, "failed to read from the engine");
                        break;
                    }
                },
            }
        }
        // Its output ended, so it has ended or can't be used; it does not outlive this.
        running.input = None;
        let ended = running.child.wait().await;
        if self.closing.is_some() {
            return Ok(());
        }
        if self.switching.is_some() {
            return Err(Ended::Switched);
        }
        let why = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
        Err(if running.ready {
            Ended::Lost(why)
        } else {
            Ended::Failed(unusable(&format!("it ended while it opened the library: {why}")))
        })
    }

    async fn hear(&mut self, running: &mut Running, line: &str) -> Result<(), Ended> {
        let message = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(error) => {
                tracing::error!(%error, "the engine sent a line that is not a message");
                return Ok(());
            }
        };
        match message {
            EngineMessage::Ready { protocol, version } if protocol != PROTOCOL => {
                running.input = None;
                let message = format!("AutoKit was updated to {version} while this window was open");
                return Err(Ended::Failed(ApiError::new(
                    ErrorCode::VersionMismatch,
                    message,
                    "Close the window and start AutoKit again.",
                )));
            }
            EngineMessage::Ready { .. } => {
                running.ready = true;
                self.notify(Notice::Ready);
                for pending in self.pending.values_mut() {
                    running.send(pending).await;
                }
            }
            EngineMessage::Failed(error) => return Err(Ended::Failed(error)),
            EngineMessage::Response { id, response } => self.answer(&id, Ok(response)),
            EngineMessage::Error { id, error } => self.answer(&id, Err(error)),
            EngineMessage::Event(event) => self.notify(Notice::Event(event)),
        }
        Ok(())
    }

    fn notify(&self, notice: Notice) {
        // Fails only while the window closes.
        let _ = self.notices.send(notice);
    }

    fn answer(&mut self, id: &str, answer: Result<Box<RawValue>>) {
        if let Some(pending) = self.pending.remove(id) {
            // Fails if the page is gone.
            let _ = pending.answer.send(answer);
        }
    }

    /// Answers the calls that must not be sent to another engine.
    fn settle_lost(&mut self) {
        let lost = self.pending.extract_if(|_, pending| {
            pending.attempts >= ATTEMPTS || (pending.attempts > 0 && !is_repeatable(&pending.call.name))
        });
        for (_, pending) in lost {
            let _ = pending.answer.send(Err(ApiError::owner_ended()));
        }
    }
}

impl Running {
    async fn send(&mut self, pending: &mut Pending) {
        pending.attempts += 1;
        let Some(input) = &mut self.input else { return };
        let mut line = serde_json::to_vec(&pending.call).unwrap_or_default();
        line.push(b'\n');
        // The engine reads all the time, so this waits for no answer. If it has ended, so does its output.
        if let Err(error) = input.write_all(&line).await {
            tracing::info!(%error, "the engine reads no more");
        }
    }
}

/// Why an engine serves no longer.
enum Ended {
    /// It ended by itself after it had opened the library.
    Lost(String),
    /// It can't be used; another one would fare the same.
    Failed(ApiError),
    /// It made place for another one.
    Switched,
}

fn start(command: &EngineCommand) -> io::Result<Running> {
    let mut process = Command::new(&command.program);
    process.args(&command.arguments).arg("engine").stdin(Stdio::piped()).stdout(Stdio::piped());
    // The window says which library is opened.
    process.env_remove("AUTOKIT_TEAM");
    #[cfg(windows)]
    {
        /// No console window beside the real one.
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        process.creation_flags(CREATE_NO_WINDOW);
    }
    let mut child = process.spawn()?;
    let input = child.stdin.take();
    let output = child.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
    Ok(Running { child, input, output: BufReader::new(output).lines(), ready: false })
}

/// Whether an engine that ended at `now` is started again, which is noted.
fn may_restart(restarts: &mut Vec<Instant>, now: Instant) -> bool {
    restarts.retain(|at| now.duration_since(*at) < RESTART_PERIOD);
    restarts.push(now);
    restarts.len() <= RESTARTS
}

/// Why the engine could not be started.
fn not_started(command: &EngineCommand, error: &io::Error) -> ApiError {
    if error.kind() == io::ErrorKind::NotFound {
        return ApiError::new(
            ErrorCode::Internal,
            format!(
                "{} is missing, without which this window can't open a library",
                command.program.display()
            ),
            "Install AutoKit again.",
        );
    }
    unusable(&format!("{}: {error}", command.program.display()))
}

fn unusable(why: &str) -> ApiError {
    ApiError::new(
        ErrorCode::Internal,
        format!("AutoKit's engine can't be used: {why}"),
        "Try again. If it keeps happening, run `autokit doctor` in a terminal.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_keeps_ending_is_not_started_for_ever() {
        let (mut restarts, now) = (Vec::new(), Instant::now());
        let at = |minutes| now + Duration::from_mins(minutes);
        assert!((0..3).all(|minute| may_restart(&mut restarts, at(minute))));
        assert!(!may_restart(&mut restarts, at(3)));
        let mut restarts = Vec::new();
        assert!((0..20).all(|day| may_restart(&mut restarts, at(day * 24 * 60))));
    }
}
