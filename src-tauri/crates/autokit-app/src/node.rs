//! How a process takes part: it owns the store, or it talks to the process that does.
//!
//! The first process takes the lock and publishes an endpoint; the others connect to it. An owner that
//! ends withdraws the endpoint first. When it has ended, however it did, the system frees the lock and
//! whoever asks first takes over. Calls that were on their way are asked again under the same key, so
//! nothing happens twice.

mod patience;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use autokit_api::commands::{Command, Context, RunTool, dispatch};
use autokit_api::{Event, Role};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{DataDir, LibraryError, Ownership};
use serde_json::Value;
use tokio::sync::{Mutex, RwLock, broadcast};

use crate::engine::{Engine, EngineOptions};
use crate::host::{Endpoint, Host};
use crate::mcp::AnyLine;
use crate::remote::{CallError, Remote};
use patience::Patience;

/// Commands that reach out of the library: where nobody knows whether one was carried out, it is not asked for
/// again.
const ONCE: [&str; 1] = [RunTool::NAME];

/// How long between looks at the endpoint file while an owner starts up.
const RETRY: Duration = Duration::from_millis(20);

/// How a process takes part.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// The data directory.
    pub data_dir: PathBuf,
    /// What the engine needs if this process becomes the owner.
    pub engine: EngineOptions,
    /// Take the store over as soon as its owner ends. For processes that stay; a command that
    /// ends soon takes it only when it has to.
    pub standby: bool,
    /// Name to sign changes with.
    pub author: String,
}

/// This process's link to the library.
#[derive(Clone, Debug)]
pub struct Node {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: NodeOptions,
    dir: DataDir,
    state: RwLock<State>,
    /// One reconnection at a time.
    turning: Mutex<()>,
    /// The store, won by the thread that stands by and not yet opened.
    won: std::sync::Mutex<Option<Ownership>>,
    events: broadcast::Sender<Event>,
}

#[derive(Debug)]
enum State {
    Owner {
        engine: Arc<Engine>,
        host: Host,
    },
    /// Nobody owns the store, and its directory cannot be written: a copy answers.
    ReadOnly {
        engine: Arc<Engine>,
    },
    Client(Remote),
    Closed,
}

impl Node {
    /// Takes the store or connects to its owner.
    ///
    /// # Errors
    /// What kept the store from opening, `version_mismatch`, or `owner_unreachable` when an owner
    /// holds the store but does not answer.
    pub async fn open(options: NodeOptions) -> Result<Node> {
        let (events, _) = broadcast::channel(1024);
        let dir = DataDir::new(&options.data_dir);
        let inner = Arc::new(Inner {
            options,
            dir,
            state: RwLock::new(State::Closed),
            turning: Mutex::default(),
            won: std::sync::Mutex::default(),
            events,
        });
        let node = Node { inner };
        node.inner.attach().await?;
        if node.inner.options.standby {
            node.stand_by();
        }
        Ok(node)
    }

    /// Carries out a command, here or at the owner.
    ///
    /// # Errors
    /// The command's own, or `owner_unreachable`.
    pub async fn call<C: Command>(&self, request: C::Request) -> Result<C::Response> {
        let body = serde_json::to_value(request).map_err(|error| ApiError::internal(error.to_string()))?;
        let value = self.call_json(C::NAME, body).await?;
        serde_json::from_value(value).map_err(|error| ApiError::internal(format!("{}: {error}", C::NAME)))
    }

    /// Carries out a command given by name.
    ///
    /// # Errors
    /// As [`Node::call`].
    pub async fn call_json(&self, name: &str, body: Value) -> Result<Value> {
        let request = autokit_workspace::token(16);
        let author = self.inner.options.author.clone();
        let mut patience = Patience::default();
        loop {
            let missed = match &*self.inner.state.read().await {
                State::Owner { engine, .. } => {
                    let context = Context { request: Some(request), author };
                    // On the heap: the future of every command there is would weigh on each caller.
                    return Box::pin(dispatch(&**engine, &context, name, body)).await;
                }
                State::ReadOnly { engine } => {
                    let context = Context { request: Some(request.clone()), author: author.clone() };
                    let answer = Box::pin(dispatch(&**engine, &context, name, body.clone())).await;
                    match answer {
                        Err(error) if is_unwritable(error.code) => Missed::Write(error),
                        answer => return answer,
                    }
                }
                State::Client(remote) => match remote.call(name, &body, &request, &author).await {
                    Ok(value) => return Ok(value),
                    Err(CallError::Answered(error)) => return Err(error),
                    Err(CallError::Unanswered(_)) if ONCE.contains(&name) => {
                        return Err(ApiError::owner_ended());
                    }
                    Err(CallError::Lost(reason) | CallError::Unanswered(reason)) => {
                        Missed::Owner(remote.endpoint().clone(), reason)
                    }
                },
                State::Closed => return Err(ApiError::cancelled()),
            };
            match missed {
                Missed::Owner(lost, why) => self.find_another(&mut patience, (lost, why)).await?,
                // There may be room by now.
                Missed::Write(error) => Box::pin(self.inner.own_after_all()).await.map_err(|_| error)?,
            }
        }
    }

    /// A line to the MCP server of the library, whoever owns it. `connection` names the agent's session,
    /// also after the line was lost.
    ///
    /// # Errors
    /// When no owner answers.
    pub async fn mcp_line(&self, connection: &str, profile: &str) -> Result<AnyLine> {
        let mut patience = Patience::default();
        loop {
            let lost = match &*self.inner.state.read().await {
                State::Owner { engine, .. } | State::ReadOnly { engine } => {
                    return Ok(Box::pin(engine.line(connection, profile)));
                }
                State::Client(remote) => match remote.mcp_line(connection, profile).await {
                    Ok(line) => return Ok(line),
                    Err(CallError::Answered(error)) => return Err(error),
                    Err(CallError::Lost(reason) | CallError::Unanswered(reason)) => {
                        (remote.endpoint().clone(), reason)
                    }
                },
                State::Closed => return Err(ApiError::cancelled()),
            };
            self.find_another(&mut patience, lost).await?;
        }
    }

    /// Finds an owner in place of one that was lost, as long as there is patience left.
    async fn find_another(&self, patience: &mut Patience, (lost, why): (Endpoint, String)) -> Result<()> {
        if patience.is_over(Instant::now(), Some(&lost)) {
            return Err(unreachable(self.inner.dir.root(), &why));
        }
        Box::pin(self.inner.replace(&lost)).await
    }

    /// News of this library, whoever owns it.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.inner.events.subscribe()
    }

    /// What this process is now.
    pub async fn role(&self) -> Role {
        match &*self.inner.state.read().await {
            State::Owner { .. } => Role::Owner,
            State::ReadOnly { .. } | State::Client(_) | State::Closed => Role::Client,
        }
    }

    /// How to reach the owner.
    ///
    /// # Errors
    /// `disk_full` or `read_only` where the library has no owner for that reason.
    pub async fn endpoint(&self) -> Result<Endpoint> {
        match &*self.inner.state.read().await {
            State::Owner { host, .. } => Ok(host.endpoint.clone()),
            State::Client(remote) => Ok(remote.endpoint().clone()),
            State::ReadOnly { engine } => {
                engine.writable()?;
                Err(ApiError::internal("the library is read from a copy"))
            }
            State::Closed => Err(ApiError::cancelled()),
        }
    }

    /// Lets go: jobs stop at a safe point, the store is flushed and given up.
    ///
    /// # Errors
    /// When the store could not be flushed.
    pub async fn close(&self) -> Result<()> {
        let state = std::mem::replace(&mut *self.inner.state.write().await, State::Closed);
        match state {
            State::Owner { engine, host } => {
                // Who comes now waits for the next owner.
                host.withdraw();
                // Each may take a while: where ending takes long, the log tells what is waited for.
                tracing::info!("stopping jobs and servers");
                engine.stop_jobs().await;
                tracing::info!("closing the endpoints");
                engine.close_agents_address().await;
                host.stop().await;
                tracing::info!("closing the library");
                engine.close().await
            }
            State::ReadOnly { engine } => {
                engine.stop_jobs().await;
                engine.close().await
            }
            State::Client(_) | State::Closed => Ok(()),
        }
    }

    /// Waits in the background for the owner to end and takes over.
    fn stand_by(&self) {
        let inner = Arc::downgrade(&self.inner);
        let dir = self.inner.dir.clone();
        let runtime = tokio::runtime::Handle::current();
        // A thread of its own: the system offers no way to wait for a file lock without blocking.
        let started = std::thread::Builder::new().name("autokit-standby".into()).spawn(move || {
            let waited = dir.wait_to_own();
            let Some(inner) = inner.upgrade() else { return };
            match waited {
                Ok(owned) => *inner.won.lock().expect("no holder panics") = Some(owned),
                Err(error) => tracing::error!(%error, "cannot stand by for the library"),
            }
            runtime.block_on(inner.succeed());
        });
        if let Err(error) = started {
            tracing::error!(%error, "no thread to stand by with");
        }
    }
}

impl Inner {
    /// Becomes the owner or finds one that answers.
    async fn attach(self: &Arc<Self>) -> Result<()> {
        let mut patience = Patience::default();
        loop {
            if let Some(owned) = self.won() {
                return self.own_or_read(owned).await;
            }
            let mut unwritable = None;
            match self.dir.try_own() {
                Ok(owned) => return self.own_or_read(owned).await,
                Err(LibraryError::Owned { .. }) => {}
                Err(error) => {
                    let error = ApiError::from(error);
                    if !is_unwritable(error.code) {
                        return Err(error);
                    }
                    // Somebody who may write may own it all the same.
                    unwritable = Some(error);
                }
            }
            let published = Endpoint::read(&self.dir.endpoint_file());
            let mut reason = String::from("it is still starting or ending");
            if let Some(endpoint) = &published {
                match Remote::connect(endpoint.clone()).await {
                    Ok(remote) => {
                        self.follow(remote.clone());
                        *self.state.write().await = State::Client(remote);
                        // Nobody listening is fine.
                        let _ = self.events.send(Event::Owner { role: Role::Client });
                        return Ok(());
                    }
                    Err(CallError::Answered(error)) => return Err(error),
                    Err(CallError::Lost(why) | CallError::Unanswered(why)) => reason = why,
                }
            }
            if let Some(error) = unwritable.filter(|_| !self.dir.is_owned()) {
                return self.read_only(error).await;
            }
            if patience.is_over(Instant::now(), published.as_ref()) {
                return Err(unreachable(self.dir.root(), &reason));
            }
            // The owner is between taking the lock and publishing its endpoint, or between withdrawing
            // it and the system freeing the lock. Neither can be waited for.
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Takes the store, or reads a copy of it where its directory cannot be written.
    async fn own_or_read(self: &Arc<Self>, owned: Ownership) -> Result<()> {
        match self.own(owned).await {
            Err(error) if is_unwritable(error.code) => self.read_only(error).await,
            owned => owned,
        }
    }

    /// Reads a copy of the store; `why` is what keeps it from being owned, and is told when there is no copy.
    async fn read_only(self: &Arc<Self>, why: ApiError) -> Result<()> {
        tracing::warn!(error = %why, "the library can only be read");
        let full = why.code == ErrorCode::DiskFull;
        let opened =
            Box::pin(Engine::open_read_only(&self.dir, full, &self.options.engine, self.events.clone()))
                .await;
        let engine = opened.map_err(|error| match error.code {
            ErrorCode::Damaged => error,
            _ => why,
        })?;
        *self.state.write().await = State::ReadOnly { engine };
        // Nobody listening is fine.
        let _ = self.events.send(Event::Owner { role: Role::Client });
        Ok(())
    }

    /// Takes the store in place of the copy that is being read.
    async fn own_after_all(self: &Arc<Self>) -> Result<()> {
        let _turn = self.turning.lock().await;
        if !matches!(*self.state.read().await, State::ReadOnly { .. }) {
            return Ok(());
        }
        let owned = self.dir.try_own()?;
        self.own(owned).await
    }

    async fn own(self: &Arc<Self>, owned: Ownership) -> Result<()> {
        // Of an owner that was killed: opening the store may take longer than anyone waits for it to answer.
        Endpoint::withdraw(&self.dir.endpoint_file());
        let engine = Engine::start(owned, &self.options.engine, self.events.clone()).await?;
        let host = match Host::start(Arc::clone(&engine), &self.dir.endpoint_file()).await {
            Ok(host) => host,
            Err(error) => {
                // A copy may be read instead, and must not be made of a store that is open.
                engine.stop_jobs().await;
                if let Err(error) = engine.close().await {
                    tracing::warn!(%error, "the library could not be closed");
                }
                return Err(error);
            }
        };
        if self.options.standby {
            engine.keep_up();
            // A process that ends soon would only be in the way of one that stays.
            engine.open_agents_address().await;
        }
        *self.state.write().await = State::Owner { engine, host };
        // Nobody listening is fine.
        let _ = self.events.send(Event::Owner { role: Role::Owner });
        Ok(())
    }

    fn won(&self) -> Option<Ownership> {
        self.won.lock().expect("no holder panics").take()
    }

    /// Opens the store this process won while it was a client, unless a call did so already.
    async fn succeed(self: &Arc<Self>) {
        let _turn = self.turning.lock().await;
        let client = matches!(*self.state.read().await, State::Client(_));
        if let Some(owned) = self.won().filter(|_| client)
            && let Err(error) = self.own(owned).await
        {
            tracing::error!(%error, "the library could not be taken over");
        }
    }

    /// Finds a new owner in place of one that stopped answering.
    async fn replace(self: &Arc<Self>, lost: &Endpoint) -> Result<()> {
        let _turn = self.turning.lock().await;
        match &*self.state.read().await {
            State::Client(remote) if remote.endpoint() == lost => {}
            // Someone else of this process was quicker.
            _ => return Ok(()),
        }
        self.attach().await
    }

    /// Passes the owner's news on as long as it lives.
    fn follow(&self, remote: Remote) {
        let events = self.events.clone();
        tokio::spawn(async move { remote.forward_events(&events).await });
    }
}

/// What a call came to that has to be made again.
enum Missed {
    /// The owner is gone: how it was reached, and what was seen of its end.
    Owner(Endpoint, String),
    /// The copy that is being read takes no changes.
    Write(ApiError),
}

fn is_unwritable(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::ReadOnly | ErrorCode::DiskFull)
}

fn unreachable(root: &Path, reason: &str) -> ApiError {
    ApiError::new(
        ErrorCode::OwnerUnreachable,
        format!("the process that owns the library in {} does not answer: {reason}", root.display()),
        "Wait a moment and try again, or end the other AutoKit process.",
    )
}
