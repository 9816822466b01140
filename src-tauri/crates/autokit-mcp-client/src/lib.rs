//! MCP servers behind AutoKit: started when they are needed, shared by all agents, stopped when idle.
//!
//! A server is somebody else's program. It gets only the environment variables meant for it, its messages
//! are limited in size, and when it ends or hangs, running calls fail; the next call starts it again. Both
//! generations of the protocol are supported: `initialize` is tried first, because most servers know
//! nothing else, then `server/discover`.

mod connection;
mod error;
mod listed;
pub mod market;
mod program;
mod progress;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ListToolsRequest,
    PaginatedRequestParams, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use self::connection::Connection;
// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

pub use self::error::UpstreamError;
use self::listed::Page;
pub use self::listed::{ServerTools, SkippedTool};

/// How a server is reached, with all secrets filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "transport", rename_all = "snake_case")]
pub enum ResolvedTransport {
    /// A program that is started here and communicates over standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Environment variables it gets besides the few that every program needs.
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// Its working directory; the home directory if `None`.
        #[serde(default)]
        folder: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// URL of its endpoint.
        url: String,
        /// Headers sent with every request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// Limits on time and size.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Time from starting a server to its first response; its package may have to be downloaded first.
    pub start: Duration,
    /// Time a call may take without any progress.
    pub call: Duration,
    /// Total time of a call.
    pub call_total: Duration,
    /// Time to list all tools.
    pub list: Duration,
    /// Time without calls after which a server is stopped.
    pub idle: Duration,
    /// Most bytes of one message.
    pub message_bytes: usize,
    /// Most tools of one server.
    pub tools: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            start: Duration::from_mins(1),
            call: Duration::from_mins(1),
            call_total: Duration::from_mins(10),
            list: Duration::from_mins(1),
            idle: Duration::from_mins(10),
            message_bytes: 64 << 20,
            tools: 10_000,
        }
    }
}

/// A server's progress notification for a call.
pub type Progress = rmcp::model::ProgressNotificationParam;

/// The running servers.
#[derive(Debug)]
pub struct Pool {
    limits: Limits,
    /// One entry per server; whoever starts a server holds the lock of its entry.
    servers: Mutex<HashMap<String, Slot>>,
    changed: mpsc::UnboundedSender<String>,
}

type Slot = Arc<Mutex<Option<Arc<Connection>>>>;

impl Pool {
    /// Creates an empty pool. The channel receives the names of servers whose list of tools changed.
    pub fn new(limits: Limits) -> (Pool, mpsc::UnboundedReceiver<String>) {
        let (changed, changes) = mpsc::unbounded_channel();
        (Pool { limits, servers: Mutex::default(), changed }, changes)
    }

    /// Lists all tools of a server that can be parsed; the others are listed as skipped.
    ///
    /// # Errors
    /// If the server cannot be started or reached, does not respond, or has more tools than allowed.
    pub fn tools<'a>(
        &'a self,
        name: &'a str,
        reach: &'a ResolvedTransport,
    ) -> BoxFuture<'a, Result<ServerTools, UpstreamError>> {
        Box::pin(async move {
            let connection = self.connect(name, reach).await?;
            let all = async {
                let (mut tools, mut cursor) = (ServerTools::default(), None);
                loop {
                    let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
                    let request = ListToolsRequest { params: Some(params), ..Default::default() };
                    let page = connection.peer().send_request(ClientRequest::ListToolsRequest(request)).await;
                    let page = page
                        .and_then(|page| Page::from_response(page).ok_or(ServiceError::UnexpectedResponse));
                    let page = match page {
                        Ok(page) => page,
                        Err(error) => {
                            return Err(connection.to_upstream_error(error, self.limits.list).await);
                        }
                    };
                    tools.add(page.tools);
                    if tools.tools.len() + tools.skipped.len() > self.limits.tools {
                        return Err(UpstreamError::TooManyTools {
                            name: name.to_owned(),
                            most: self.limits.tools,
                        });
                    }
                    // A repeated cursor would never end.
                    if page.next.is_none() || page.next == cursor {
                        return Ok(tools);
                    }
                    cursor = page.next;
                }
            };
            tokio::time::timeout(self.limits.list, all)
                .await
                .unwrap_or_else(|_| Err(connection.timeout_error(self.limits.list)))
        })
    }

    /// Calls a tool of a server. Its progress goes to `progress`, and is dropped while that is full.
    ///
    /// # Errors
    /// If the server cannot be started or reached, ends or hangs during the call, or responds with a
    /// protocol error; or if `cancel` is cancelled, of which the server is notified.
    pub fn call<'a>(
        &'a self,
        name: &'a str,
        reach: &'a ResolvedTransport,
        tool: &'a str,
        arguments: Map<String, Value>,
        progress: &'a mpsc::Sender<Progress>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallToolResult, UpstreamError>> {
        Box::pin(async move {
            let connecting = self.connect(name, reach);
            let connection = tokio::select! {
                () = cancel.cancelled() => return Err(UpstreamError::Cancelled),
                connection = connecting => connection?,
            };
            let mut params = CallToolRequestParams::new(tool.to_owned());
            params.arguments = Some(arguments);
            let mut request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
            let subscription = connection.subscribe(progress.clone());
            subscription.mark(&mut request);
            let mut options = PeerRequestOptions::with_timeout(self.limits.call);
            options.reset_timeout_on_progress = true;
            options.max_total_timeout = Some(self.limits.call_total);
            let sent = connection.peer().send_cancellable_request(request, options).await;
            let handle = match sent {
                Ok(handle) => handle,
                Err(error) => return Err(connection.to_upstream_error(error, self.limits.call).await),
            };
            let id = handle.id.clone();
            // At its own time limit, it first notifies the server, which may never read that.
            let total = self.limits.call_total + self.limits.call;
            let answer = tokio::select! {
                biased;
                answer = tokio::time::timeout(total, handle.await_response()) => answer,
                () = cancel.cancelled() => {
                    connection.notify_cancelled(id).await;
                    return Err(UpstreamError::Cancelled);
                }
            };
            let Ok(answer) = answer else {
                connection.stop().await;
                return Err(connection.timeout_error(total));
            };
            connection.touch();
            match answer {
                Ok(ServerResult::CallToolResult(result)) => Ok(result),
                Ok(ServerResult::InputRequiredResult(_)) => Err(UpstreamError::ErrorResponse {
                    name: name.to_owned(),
                    message: "it asked for user input, which is not supported".to_owned(),
                }),
                Ok(_) => Err(connection
                    .to_upstream_error(ServiceError::UnexpectedResponse, self.limits.call)
                    .await),
                Err(error) => Err(connection.to_upstream_error(error, self.limits.call).await),
            }
        })
    }

    /// Announces that the list of tools of a server changed.
    pub fn announce_tools_changed(&self, name: &str) {
        // A short-lived process has no receiver.
        let _ = self.changed.send(name.to_owned());
    }

    /// Stops a server, if it is running.
    pub async fn stop(&self, name: &str) {
        let slot = self.servers.lock().await.remove(name);
        if let Some(slot) = slot
            && let Some(connection) = slot.lock().await.take()
        {
            connection.stop().await;
        }
    }

    /// Stops all servers.
    pub async fn stop_all(&self) {
        let names: Vec<String> = self.servers.lock().await.keys().cloned().collect();
        for name in names {
            self.stop(&name).await;
        }
    }

    /// Stops idle servers; returns when to check again.
    pub async fn stop_idle(&self) -> Duration {
        let mut idle = Vec::new();
        for (name, slot) in &*self.servers.lock().await {
            // A server that is being started or stopped is not idle.
            if let Ok(slot) = slot.try_lock()
                && slot.as_ref().is_some_and(|connection| connection.idle() >= self.limits.idle)
            {
                idle.push(name.clone());
            }
        }
        for name in idle {
            self.stop(&name).await;
        }
        self.limits.idle / 4
    }

    /// Returns the names of the running servers.
    pub async fn running(&self) -> Vec<String> {
        let mut running = Vec::new();
        for (name, slot) in &*self.servers.lock().await {
            if slot.try_lock().is_ok_and(|slot| slot.as_ref().is_some_and(|one| one.is_open())) {
                running.push(name.clone());
            }
        }
        running.sort();
        running
    }

    /// Returns the connection to a server, starting it if it is not running, or restarting it if `reach`
    /// changed.
    async fn connect(&self, name: &str, reach: &ResolvedTransport) -> Result<Arc<Connection>, UpstreamError> {
        let slot = Arc::clone(self.servers.lock().await.entry(name.to_owned()).or_default());
        let mut slot = slot.lock().await;
        if let Some(connection) = &*slot {
            if connection.is_open() && connection.reach == *reach {
                connection.touch();
                return Ok(Arc::clone(connection));
            }
            connection.stop().await;
        }
        *slot = None;
        let connection = Connection::start(name, reach, &self.limits, self.changed.clone()).await?;
        let connection = Arc::new(connection);
        *slot = Some(Arc::clone(&connection));
        Ok(connection)
    }
}
