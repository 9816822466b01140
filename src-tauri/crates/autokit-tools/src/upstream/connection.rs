//! One server that runs, and the line to it.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, Implementation, InitializeRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId,
};
use rmcp::service::{NotificationContext, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt, Peer, RoleClient};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::{Limits, Reach, Told, UpstreamError};

/// Variables every program needs to find its way; nothing else of this process reaches a server.
const VARIABLES: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TZ",
    "SystemRoot",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "TEMP",
    "PATHEXT",
];

/// Bytes of a program's last words that are kept.
const LAST_WORDS: usize = 4 << 10;

/// A server that runs.
pub(super) struct Connection {
    name: String,
    pub(super) reach: Reach,
    service: tokio::sync::Mutex<RunningService<RoleClient, Listener>>,
    peer: Peer<RoleClient>,
    program: Mutex<Option<Program>>,
    used: Mutex<Instant>,
    told: Listening,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Who wants to hear of which call.
type Listening = Arc<Mutex<HashMap<ProgressToken, mpsc::UnboundedSender<Told>>>>;

/// What a server tells without being asked.
#[derive(Clone)]
struct Listener {
    name: String,
    changed: mpsc::UnboundedSender<String>,
    told: Listening,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> InitializeRequestParams {
        let mut info = InitializeRequestParams::default();
        info.client_info = Implementation::new("autokit", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        // Nobody listens while the process ends.
        let _ = self.changed.send(self.name.clone());
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let to = self.told.lock().ok().and_then(|told_to| told_to.get(&told.progress_token).cloned());
        if let Some(to) = to {
            // The call may just have ended.
            let _ = to.send(told);
        }
    }
}

/// A program that was started here. It goes with everything it started itself.
struct Program {
    child: Child,
    last_words: Arc<Mutex<Vec<u8>>>,
}

impl Program {
    /// Ends the whole group of processes: servers are often started by another program (`npx`, `uvx`).
    fn end(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id as i32)) {
            // It may have ended just now.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        let _ = self.child.start_kill();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// Hears of one call as long as it is kept.
pub(super) struct Hearing {
    token: ProgressToken,
    told: Listening,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        if let Ok(mut told) = self.told.lock() {
            told.remove(&self.token);
        }
    }
}

impl Connection {
    pub(super) async fn start(
        name: &str,
        reach: &Reach,
        limits: &Limits,
        changed: mpsc::UnboundedSender<String>,
    ) -> Result<Connection, UpstreamError> {
        let listener = Listener { name: name.to_owned(), changed, told: Listening::default() };
        let old = Connection::open(&listener, reach, limits, ClientLifecycleMode::Initialize).await;
        match old {
            Err(Opening::Refused(refused)) => {
                // It may be of the newer generation, which knows no `initialize`.
                let newest =
                    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
                match Connection::open(&listener, reach, limits, newest).await {
                    Ok(connection) => Ok(connection),
                    Err(_) => Err(not_started(name, refused)),
                }
            }
            Err(Opening::Failed(why)) => Err(not_started(name, why)),
            Ok(connection) => Ok(connection),
        }
    }

    async fn open(
        listener: &Listener,
        reach: &Reach,
        limits: &Limits,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Connection, Opening> {
        let (mut program, opening) = match reach {
            Reach::Stdio { command, args, env, folder } => {
                let mut program = start_program(command, args, env, folder.as_deref())?;
                let (stdin, stdout) = (program.child.stdin.take(), program.child.stdout.take());
                let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
                    return Err(Opening::Failed("its input and output are missing".to_owned()));
                };
                let transport =
                    AsyncRwTransport::new(stdout, stdin).with_max_line_length(limits.message_bytes);
                let shaking = listener.clone().serve_with_lifecycle(transport, lifecycle);
                (Some(program), tokio::time::timeout(limits.start, shaking).await)
            }
            Reach::Http { url, headers } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .max_sse_event_size(limits.message_bytes);
                let mut named = HashMap::new();
                for (header, value) in headers {
                    let wrong = |_| Opening::Failed(format!("the header {header:?} cannot be sent"));
                    let value =
                        http::HeaderValue::from_str(value).map_err(|error| wrong(error.to_string()))?;
                    let header = http::HeaderName::from_bytes(header.as_bytes())
                        .map_err(|error| wrong(error.to_string()))?;
                    named.insert(header, value);
                }
                config = config.custom_headers(named);
                let client = reqwest::Client::builder()
                    .connect_timeout(Duration::from_secs(10))
                    // A server that sends its caller elsewhere would get what the headers hold.
                    .redirect(reqwest::redirect::Policy::none())
                    .build()
                    .map_err(|error| Opening::Failed(error.to_string()))?;
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let shaking = listener.clone().serve_with_lifecycle(transport, lifecycle);
                (None, tokio::time::timeout(limits.start, shaking).await)
            }
        };
        let shaken = match opening {
            Ok(Ok(service)) => Ok(service),
            Ok(Err(error)) => Err(Opening::Refused(chain(&error))),
            Err(_) => {
                Err(Opening::Failed(format!("it did not answer within {} seconds", limits.start.as_secs())))
            }
        };
        let service = match shaken {
            Ok(service) => service,
            Err(error) => {
                let words = match &mut program {
                    Some(program) => last_words(program).await,
                    None => String::new(),
                };
                return Err(error.with(&words));
            }
        };
        Ok(Connection {
            name: listener.name.clone(),
            reach: reach.clone(),
            peer: service.peer().clone(),
            service: tokio::sync::Mutex::new(service),
            program: Mutex::new(program),
            used: Mutex::new(Instant::now()),
            told: Arc::clone(&listener.told),
        })
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Whether the line stands and the program runs.
    pub(super) fn lives(&self) -> bool {
        let runs = |program: &mut Program| matches!(program.child.try_wait(), Ok(None));
        let mut program = self.program.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        !self.peer.is_transport_closed() && program.as_mut().is_none_or(runs)
    }

    /// Notes that it is in use.
    pub(super) fn touch(&self) {
        *self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Instant::now();
    }

    /// How long it was not in use; not at all while a call is on its way.
    pub(super) fn idle(&self) -> Duration {
        let calls = self.told.lock().map_or(0, |told| told.len());
        if calls > 0 {
            return Duration::ZERO;
        }
        self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner).elapsed()
    }

    pub(super) fn listen(&self, token: ProgressToken, to: mpsc::UnboundedSender<Told>) -> Hearing {
        if let Ok(mut told) = self.told.lock() {
            told.insert(token.clone(), to);
        }
        Hearing { token, told: Arc::clone(&self.told) }
    }

    /// Closes the line and ends the program.
    pub(super) async fn stop(&self) {
        /// A server that was asked to end and does not is ended.
        const PATIENCE: Duration = Duration::from_secs(2);
        let closed = self.service.lock().await.close_with_timeout(PATIENCE).await;
        if let Err(error) = closed {
            tracing::debug!(server = self.name, %error, "the line to a server broke");
        }
        let program = self.program.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        drop(program);
    }

    pub(super) fn silent(&self, after: Duration) -> UpstreamError {
        UpstreamError::Silent { name: self.name.clone(), after }
    }

    /// What an error of the line means.
    pub(super) fn explain(&self, error: ServiceError, patience: Duration) -> UpstreamError {
        let name = self.name.clone();
        match error {
            ServiceError::McpError(error) => {
                UpstreamError::Answered { name, words: error.message.into_owned() }
            }
            ServiceError::Timeout { timeout } => UpstreamError::Silent { name, after: timeout.min(patience) },
            ServiceError::Cancelled { .. } => UpstreamError::Cancelled,
            error => {
                let program = self.program.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let words = program.as_ref().map(|program| said(&program.last_words)).unwrap_or_default();
                let why = if words.is_empty() { chain(&error) } else { words };
                UpstreamError::Ended { name, why }
            }
        }
    }
}

/// Tells a server that nobody waits for a call any more.
pub(super) async fn take_back(peer: &Peer<RoleClient>, id: RequestId) {
    let notification = CancelledNotification::new(CancelledNotificationParam::new(Some(id), None));
    if let Err(error) = peer.send_notification(notification.into()).await {
        tracing::debug!(%error, "a server does not hear that a call was taken back");
    }
}

/// Why there is no connection.
enum Opening {
    /// The other side answered, or ended, in the handshake.
    Refused(String),
    /// It did not come to that.
    Failed(String),
}

impl Opening {
    fn with(self, words: &str) -> Opening {
        let add = |why: String| if words.is_empty() { why } else { format!("{why}; it said: {words}") };
        match self {
            Opening::Refused(why) => Opening::Refused(add(why)),
            Opening::Failed(why) => Opening::Failed(add(why)),
        }
    }
}

fn not_started(name: &str, why: String) -> UpstreamError {
    UpstreamError::NotStarted { name: name.to_owned(), why }
}

fn start_program(
    command: &str,
    args: &[String],
    env: &std::collections::BTreeMap<String, String>,
    folder: Option<&std::path::Path>,
) -> Result<Program, Opening> {
    let mut program = Command::new(command);
    program
        .args(args)
        .env_clear()
        .envs(VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .envs(env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    program.process_group(0);
    if let Some(folder) = folder {
        program.current_dir(folder);
    } else if let Some(home) = std::env::home_dir().filter(|home| home.is_dir()) {
        program.current_dir(home);
    }
    let mut child = program.spawn().map_err(|error| {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        Opening::Failed(if missing {
            format!("there is no program {command:?} here")
        } else {
            error.to_string()
        })
    })?;
    let last_words = Arc::new(Mutex::new(Vec::new()));
    if let Some(mut stderr) = child.stderr.take() {
        let last_words = Arc::clone(&last_words);
        // Read to its end, or the program would stand still once the pipe is full.
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
                let Ok(mut words) = last_words.lock() else { return };
                words.extend_from_slice(&buffer[..read]);
                let over = words.len().saturating_sub(LAST_WORDS);
                words.drain(..over);
            }
        });
    }
    Ok(Program { child, last_words })
}

/// What a program said before it ended, once it has.
async fn last_words(program: &mut Program) -> String {
    // Its output is read by another task, which ends when the program does.
    program.end();
    let _ = program.child.wait().await;
    tokio::task::yield_now().await;
    said(&program.last_words)
}

fn said(words: &Mutex<Vec<u8>>) -> String {
    let words = words.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = String::from_utf8_lossy(&words);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let shown: String = lines[lines.len().saturating_sub(3)..].join(" / ");
    shown.chars().filter(|c| !c.is_control()).take(400).collect()
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        source = error.source();
    }
    text
}
