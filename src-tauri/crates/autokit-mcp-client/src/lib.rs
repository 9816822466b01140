//! MCP servers behind AutoKit: started when they are needed, shared by all agents, stopped when idle.
//!
//! A server is somebody else's program. It gets only the variables that are meant for it, its messages are
//! bounded, and when it ends or hangs, the calls that were on their way say so; the next one starts it
//! anew. Both generations of the protocol are spoken to it (`initialize` first, for most servers know
//! nothing else, then `server/discover`).

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

/// How a server is reached, with everything that is secret filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "transport", rename_all = "snake_case")]
pub enum Reach {
    /// A program that is started here and spoken to by its input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Variables it gets besides the few that every program needs.
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// Folder it is started in; the person's home if there is none.
        #[serde(default)]
        folder: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// Address of its one endpoint.
        url: String,
        /// Headers of every request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// How long things may take and how large they may be.
#[derive(Clone, Debug)]
pub struct Limits {
    /// From the start of a server to its first answer: a package may have to be fetched first.
    pub start: Duration,
    /// Without any sign of life from a call.
    pub call: Duration,
    /// Of a call in all.
    pub call_in_all: Duration,
    /// Of a list of tools.
    pub list: Duration,
    /// Without any call, after which a server is stopped.
    pub idle: Duration,
    /// Bytes of one message.
    pub message_bytes: usize,
    /// Tools of one server.
    pub tools: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            start: Duration::from_mins(1),
            call: Duration::from_mins(1),
            call_in_all: Duration::from_mins(10),
            list: Duration::from_mins(1),
            idle: Duration::from_mins(10),
            message_bytes: 64 << 20,
            tools: 10_000,
        }
    }
}

/// A word of a server on how far a call has come.
pub type Progress = rmcp::model::ProgressNotificationParam;

/// The servers that run.
#[derive(Debug)]
pub struct Pool {
    limits: Limits,
    /// One entry a server; whoever starts it holds the lock of its entry.
    servers: Mutex<HashMap<String, Slot>>,
    changed: mpsc::UnboundedSender<String>,
}

type Slot = Arc<Mutex<Option<Arc<Connection>>>>;

impl Pool {
    /// No server runs yet. The names of servers whose list of tools changed come through the channel.
    pub fn new(limits: Limits) -> (Pool, mpsc::UnboundedReceiver<String>) {
        let (changed, changes) = mpsc::unbounded_channel();
        (Pool { limits, servers: Mutex::default(), changed }, changes)
    }

    /// All tools of a server that can be read; one that cannot is left out and named.
    ///
    /// # Errors
    /// When it cannot be started or reached, does not answer, or has more tools than it may.
    pub async fn tools(&self, name: &str, reach: &Reach) -> Result<ServerTools, UpstreamError> {
        let connection = self.connect(name, reach).await?;
        let all = async {
            let (mut tools, mut cursor) = (ServerTools::default(), None);
            loop {
                let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
                let request = ListToolsRequest { params: Some(params), ..Default::default() };
                let page = connection.peer().send_request(ClientRequest::ListToolsRequest(request)).await;
                let page = page.and_then(|page| Page::of(page).ok_or(ServiceError::UnexpectedResponse));
                let page = match page {
                    Ok(page) => page,
                    Err(error) => return Err(connection.explain(error, self.limits.list).await),
                };
                tools.add(page.tools);
                if tools.tools.len() + tools.skipped.len() > self.limits.tools {
                    return Err(UpstreamError::TooManyTools {
                        name: name.to_owned(),
                        most: self.limits.tools,
                    });
                }
                // The same page again would never end.
                if page.next.is_none() || page.next == cursor {
                    return Ok(tools);
                }
                cursor = page.next;
            }
        };
        tokio::time::timeout(self.limits.list, all)
            .await
            .unwrap_or_else(|_| Err(connection.silent(self.limits.list)))
    }

    /// Calls a tool of a server. What it tells on the way goes to `progress`, and is left out while that is full.
    ///
    /// # Errors
    /// When the server cannot be started or reached, ends or hangs meanwhile, answers with an error of the
    /// protocol, or `cancel` is cancelled; the server is told then.
    pub async fn call(
        &self,
        name: &str,
        reach: &Reach,
        tool: &str,
        arguments: Map<String, Value>,
        progress: &mpsc::Sender<Progress>,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, UpstreamError> {
        let connecting = self.connect(name, reach);
        let connection = tokio::select! {
            () = cancel.cancelled() => return Err(UpstreamError::Cancelled),
            connection = connecting => connection?,
        };
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let mut options = PeerRequestOptions::with_timeout(self.limits.call);
        options.reset_timeout_on_progress = true;
        options.max_total_timeout = Some(self.limits.call_in_all);
        let sent = connection.peer().send_cancellable_request(request, options).await;
        let handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(connection.explain(error, self.limits.call).await),
        };
        let (peer, id) = (handle.peer.clone(), handle.id.clone());
        let _listening = connection.listen(handle.progress_token.clone(), progress.clone());
        let answer = tokio::select! {
            biased;
            answer = handle.await_response() => answer,
            () = cancel.cancelled() => {
                connection::take_back(&peer, id).await;
                return Err(UpstreamError::Cancelled);
            }
        };
        connection.touch();
        match answer {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(ServerResult::InputRequiredResult(_)) => Err(UpstreamError::Answered {
                name: name.to_owned(),
                words: "it wants to ask a person something, which is not possible here".to_owned(),
            }),
            Ok(_) => Err(connection.explain(ServiceError::UnexpectedResponse, self.limits.call).await),
            Err(error) => Err(connection.explain(error, self.limits.call).await),
        }
    }

    /// Tells whoever follows the changes that a server says something else than was known of it.
    pub fn tell_changed(&self, name: &str) {
        // Nobody follows where a process ends soon.
        let _ = self.changed.send(name.to_owned());
    }

    /// Stops a server, if it runs.
    pub async fn stop(&self, name: &str) {
        let slot = self.servers.lock().await.remove(name);
        if let Some(slot) = slot
            && let Some(connection) = slot.lock().await.take()
        {
            connection.stop().await;
        }
    }

    /// Stops all of them.
    pub async fn stop_all(&self) {
        let names: Vec<String> = self.servers.lock().await.keys().cloned().collect();
        for name in names {
            self.stop(&name).await;
        }
    }

    /// Stops those without a call for too long; gives when to look again.
    pub async fn stop_idle(&self) -> Duration {
        let mut idle = Vec::new();
        for (name, slot) in &*self.servers.lock().await {
            // One that is being started or stopped is not idle.
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

    /// Names of the servers that run.
    pub async fn running(&self) -> Vec<String> {
        let mut running = Vec::new();
        for (name, slot) in &*self.servers.lock().await {
            if slot.try_lock().is_ok_and(|slot| slot.as_ref().is_some_and(|connection| connection.lives())) {
                running.push(name.clone());
            }
        }
        running.sort();
        running
    }

    /// The connection to a server; started if it does not run, or runs otherwise than it should.
    async fn connect(&self, name: &str, reach: &Reach) -> Result<Arc<Connection>, UpstreamError> {
        let slot = Arc::clone(self.servers.lock().await.entry(name.to_owned()).or_default());
        let mut slot = slot.lock().await;
        if let Some(connection) = &*slot {
            if connection.lives() && connection.reach == *reach {
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
