//! A connection to one running server.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, Implementation, InitializeRequestParams,
    ProtocolVersion, RequestId,
};
use rmcp::service::{NotificationContext, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt, Peer, RoleClient};
use tokio::sync::mpsc;

use super::error::{describe_handshake_error, describe_service_error, is_closed};
use super::program::Program;
use super::progress::{OrderedProgress, ProgressSubscribers, ProgressSubscription};
use super::{Limits, Progress, ResolvedTransport, UpstreamError};

/// A running server.
pub(super) struct Connection {
    name: String,
    pub(super) reach: ResolvedTransport,
    service: tokio::sync::Mutex<RunningService<RoleClient, Listener>>,
    peer: Peer<RoleClient>,
    program: Mutex<Option<Program>>,
    used: Mutex<Instant>,
    stopped: AtomicBool,
    subscribers: ProgressSubscribers,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Receives a server's notifications.
#[derive(Clone)]
struct Listener {
    name: String,
    changed: mpsc::UnboundedSender<String>,
    subscribers: ProgressSubscribers,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> InitializeRequestParams {
        let mut info = InitializeRequestParams::default();
        info.client_info = Implementation::new("autokit", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        // Fails only while the process shuts down.
        let _ = self.changed.send(self.name.clone());
    }
}

impl Connection {
    pub(super) async fn start(
        name: &str,
        reach: &ResolvedTransport,
        limits: &Limits,
        changed: mpsc::UnboundedSender<String>,
    ) -> Result<Connection, UpstreamError> {
        let listener =
            Listener { name: name.to_owned(), changed, subscribers: ProgressSubscribers::default() };
        let connection = Connection::open(&listener, reach, limits, ClientLifecycleMode::Initialize).await;
        match connection {
            Err(OpenError::Refused(why)) => {
                // It may be of the newer generation, which does not support `initialize`.
                let newest =
                    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
                match Connection::open(&listener, reach, limits, newest).await {
                    Ok(connection) => Ok(connection),
                    Err(_) => Err(not_started(name, why)),
                }
            }
            Err(OpenError::Failed(why)) => Err(not_started(name, why)),
            Ok(connection) => Ok(connection),
        }
    }

    async fn open(
        listener: &Listener,
        reach: &ResolvedTransport,
        limits: &Limits,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Connection, OpenError> {
        let (mut program, opened) = match reach {
            ResolvedTransport::Stdio { command, args, env, folder } => {
                let mut program =
                    Program::start(command, args, env, folder.as_deref()).map_err(OpenError::Failed)?;
                let (stdin, stdout) = (program.child.stdin.take(), program.child.stdout.take());
                let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
                    return Err(OpenError::Failed("its input and output are missing".to_owned()));
                };
                let transport =
                    AsyncRwTransport::new(stdout, stdin).with_max_line_length(limits.message_bytes);
                let transport = OrderedProgress { transport, subscribers: listener.subscribers.clone() };
                let handshake = listener.clone().serve_with_lifecycle(transport, lifecycle);
                (Some(program), tokio::time::timeout(limits.start, handshake).await)
            }
            ResolvedTransport::Http { url, headers } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .max_sse_event_size(limits.message_bytes);
                let mut header_map = HashMap::new();
                for (header, value) in headers {
                    let wrong = |_| OpenError::Failed(format!("the header {header:?} is not valid"));
                    let value =
                        http::HeaderValue::from_str(value).map_err(|error| wrong(error.to_string()))?;
                    let header = http::HeaderName::from_bytes(header.as_bytes())
                        .map_err(|error| wrong(error.to_string()))?;
                    header_map.insert(header, value);
                }
                config = config.custom_headers(header_map);
                let client = reqwest::Client::builder()
                    .connect_timeout(Duration::from_secs(10))
                    // A redirect would send the secrets in the headers to another server.
                    .redirect(reqwest::redirect::Policy::none())
                    .build()
                    .map_err(|error| OpenError::Failed(error.to_string()))?;
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let transport = OrderedProgress { transport, subscribers: listener.subscribers.clone() };
                let handshake = listener.clone().serve_with_lifecycle(transport, lifecycle);
                (None, tokio::time::timeout(limits.start, handshake).await)
            }
        };
        let handshake = match opened {
            Ok(Ok(service)) => Ok(service),
            Ok(Err(error)) => Err((is_closed(&error), OpenError::Refused(describe_handshake_error(&error)))),
            Err(_) => {
                let why = format!("it did not respond within {} seconds", limits.start.as_secs());
                Err((false, OpenError::Failed(why)))
            }
        };
        let service = match handshake {
            Ok(service) => service,
            Err((closed, error)) => {
                return Err(match &mut program {
                    Some(program) => {
                        let ended = if closed { program.exit_description().await } else { None };
                        error.with_program_output(ended, &program.stderr_tail().await)
                    }
                    None => error,
                });
            }
        };
        Ok(Connection {
            name: listener.name.clone(),
            reach: reach.clone(),
            peer: service.peer().clone(),
            service: tokio::sync::Mutex::new(service),
            program: Mutex::new(program),
            used: Mutex::new(Instant::now()),
            stopped: AtomicBool::new(false),
            subscribers: listener.subscribers.clone(),
        })
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Returns whether the connection is open and the program is running.
    pub(super) fn is_open(&self) -> bool {
        let runs = |program: &mut Program| matches!(program.child.try_wait(), Ok(None));
        let mut program = self.program.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        !self.stopped.load(Ordering::Relaxed)
            && !self.peer.is_transport_closed()
            && program.as_mut().is_none_or(runs)
    }

    /// Marks the connection as used now.
    pub(super) fn touch(&self) {
        *self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Instant::now();
    }

    /// Returns how long the connection has been idle; zero during a call.
    pub(super) fn idle(&self) -> Duration {
        if self.subscribers.len() > 0 {
            return Duration::ZERO;
        }
        self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner).elapsed()
    }

    /// Forwards the progress of a call that is about to be made.
    pub(super) fn subscribe(&self, sender: mpsc::Sender<Progress>) -> ProgressSubscription {
        self.subscribers.subscribe(sender)
    }

    /// Closes the connection and ends the program.
    pub(super) async fn stop(&self) {
        /// How long a server may take to end before it is killed.
        const STOP_TIMEOUT: Duration = Duration::from_secs(2);
        self.stopped.store(true, Ordering::Relaxed);
        let closed = self.service.lock().await.close_with_timeout(STOP_TIMEOUT).await;
        if let Err(error) = closed {
            tracing::debug!(server = self.name, %error, "failed to close an MCP server connection cleanly");
        }
        let program = self.program.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        drop(program);
    }

    /// Notifies the server that a call was cancelled. One that does not even read is stopped: whatever is sent to it after
    /// this would wait as well.
    pub(super) async fn notify_cancelled(&self, id: RequestId) {
        /// How long a server may take to read a notification.
        const READ_TIMEOUT: Duration = Duration::from_secs(2);
        let notification = CancelledNotification::new(CancelledNotificationParam::new(Some(id), None));
        match tokio::time::timeout(READ_TIMEOUT, self.peer().send_notification(notification.into())).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::debug!(%error, "failed to notify an MCP server of a cancelled call");
            }
            Err(_) => {
                tracing::warn!(server = self.name, "stopping an MCP server that does not read");
                self.stop().await;
            }
        }
    }

    pub(super) fn timeout_error(&self, after: Duration) -> UpstreamError {
        UpstreamError::Timeout { name: self.name.clone(), after }
    }

    /// Converts an error of the connection.
    pub(super) async fn to_upstream_error(&self, error: ServiceError, limit: Duration) -> UpstreamError {
        let name = self.name.clone();
        match error {
            ServiceError::McpError(error) => {
                UpstreamError::ErrorResponse { name, message: error.message.into_owned() }
            }
            ServiceError::Timeout { timeout } => UpstreamError::Timeout { name, after: timeout.min(limit) },
            ServiceError::Cancelled { .. } => UpstreamError::Cancelled,
            error => {
                let stderr = {
                    let program = self.program.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    program.as_ref().map(Program::stderr)
                };
                let output = match stderr {
                    Some(stderr) => stderr.last_lines().await,
                    None => String::new(),
                };
                let why = if output.is_empty() { describe_service_error(&error) } else { output };
                UpstreamError::Ended { name, why }
            }
        }
    }
}

/// Why a connection could not be opened.
enum OpenError {
    /// The server responded with an error, or ended, during the handshake.
    Refused(String),
    /// It failed before the handshake.
    Failed(String),
}

impl OpenError {
    /// Adds what is known of the program: how it ended, if it did so itself, and its last output.
    fn with_program_output(self, ended: Option<String>, output: &str) -> OpenError {
        let add = |why: String| {
            let why = ended.unwrap_or(why);
            if output.is_empty() { why } else { format!("{why}; its output: {output}") }
        };
        match self {
            OpenError::Refused(why) => OpenError::Refused(add(why)),
            OpenError::Failed(why) => OpenError::Failed(add(why)),
        }
    }
}

fn not_started(name: &str, why: String) -> UpstreamError {
    UpstreamError::NotStarted { name: name.to_owned(), why }
}
