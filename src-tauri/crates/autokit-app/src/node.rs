//! A process's access to the library: it owns the store, or connects to the process that does.
//!
//! The first process takes the lock and publishes an endpoint; the others connect to it. An owner that ends
//! withdraws the endpoint first. When it has ended, in whatever way, the system releases the lock, and the
//! first process that asks takes over. Calls that were running are repeated with the same idempotency key,
//! so nothing happens twice.

mod owner_timeout;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autokit_api::commands::{Command, Context, dispatch, is_repeatable};
use autokit_api::{Client, Event, Role};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::transport::BoxedStream;
use autokit_library::{DataDir, LibraryError, Ownership, StoreError, place_backup};
use autokit_membership::others::OtherLibraries;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::{Mutex, RwLock, broadcast};

use crate::backups::to_api;
use crate::engine::{Engine, EngineOptions};
use crate::host::{Endpoint, Host};
use crate::others::OpenBeside;
use crate::program_file::ProgramFile;
use crate::remote::{CallError, Remote};
use owner_timeout::OwnerTimeout;

/// Time between attempts while an owner starts up or ends.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Time between attempts to hear an owner's events again.
const EVENTS_RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Options of a [`Node`].
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// The data directory.
    pub data_dir: PathBuf,
    /// Options of the engine, if this process becomes the owner.
    pub engine: EngineOptions,
    /// What the library is opened for.
    pub purpose: Purpose,
    /// The author of this process's changes.
    pub author: String,
}

/// What a library is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A short command: takes over only if it has to, and does nothing in the background.
    Command,
    /// A long-running process: takes over as soon as the owner ends, and works in the background.
    Process,
    /// To be searched beside another library: takes over only if it has to, and keeps in step with its team.
    Search,
}

/// This process's connection to the library.
#[derive(Clone, Debug)]
pub struct Node {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: NodeOptions,
    dir: DataDir,
    state: RwLock<State>,
    /// Serializes changes of the state, such as reconnecting.
    transition: Mutex<()>,
    /// The ownership acquired by the standby thread, until the store is opened.
    acquired: std::sync::Mutex<Option<Ownership>>,
    events: broadcast::Sender<Event>,
    program: Option<ProgramFile>,
}

#[derive(Debug)]
enum State {
    Owner {
        engine: Arc<Engine>,
        host: Host,
    },
    /// Nobody owns the store, and its directory cannot be written: queries are answered from a copy.
    ReadOnly {
        engine: Arc<Engine>,
    },
    Client(Remote),
    Closed,
    /// The library could not be opened again after a backup was restored.
    Failed(ApiError),
}

impl Node {
    /// Takes the store or connects to its owner.
    ///
    /// # Errors
    /// If the store cannot be opened; `version_mismatch`; `owner_unreachable` if an owner holds the store
    /// but does not respond.
    pub fn open<'a>(options: NodeOptions) -> BoxFuture<'a, Result<Node>> {
        Box::pin(async move {
            let (events, _) = broadcast::channel(1024);
            let dir = DataDir::new(&options.data_dir);
            let inner = Arc::new(Inner {
                options,
                dir,
                state: RwLock::new(State::Closed),
                transition: Mutex::default(),
                acquired: std::sync::Mutex::default(),
                events,
                program: ProgramFile::current(),
            });
            let node = Node { inner };
            let state = node.inner.attach().await?;
            node.inner.enter(state).await;
            if node.inner.options.purpose == Purpose::Process {
                node.start_standby_thread();
            }
            Ok(node)
        })
    }

    /// Executes a command, here or at the owner.
    ///
    /// # Errors
    /// The command's own errors, or `owner_unreachable`.
    pub async fn call<C: Command>(&self, request: C::Request) -> Result<C::Response> {
        (self as &dyn Client).call::<C>(request).await
    }

    /// Executes a command given by name.
    ///
    /// # Errors
    /// As [`Node::call`].
    pub fn call_json<'a>(&'a self, name: &'a str, body: Value) -> BoxFuture<'a, Result<Value>> {
        self.call_once(autokit_workspace::token(16), name, body)
    }

    /// Executes a command given by name and idempotency key: with the key of a call that was executed, it returns the first
    /// result.
    ///
    /// # Errors
    /// As [`Node::call`].
    pub(crate) fn call_once<'a>(
        &'a self,
        request: String,
        name: &'a str,
        body: Value,
    ) -> BoxFuture<'a, Result<Value>> {
        Box::pin(async move {
            let author = self.inner.options.author.clone();
            let mut timeout = OwnerTimeout::default();
            loop {
                let retry_reason = match &*self.inner.state.read().await {
                    State::Owner { engine, .. } => {
                        let context = Context { request: Some(request), author };
                        return dispatch(&**engine, &context, name, body).await;
                    }
                    State::ReadOnly { engine } => {
                        let context = Context { request: Some(request.clone()), author: author.clone() };
                        let answer = dispatch(&**engine, &context, name, body.clone()).await;
                        match answer {
                            Err(error) if is_unwritable(error.code) => RetryReason::Write(error),
                            answer => return answer,
                        }
                    }
                    State::Client(remote) => match remote.call(name, &body, &request, &author).await {
                        Ok(value) => return Ok(value),
                        Err(CallError::Answered(error)) => return Err(error),
                        Err(CallError::Unanswered(_)) if !is_repeatable(name) => {
                            return Err(ApiError::owner_ended());
                        }
                        Err(CallError::Lost(reason) | CallError::Unanswered(reason)) => {
                            RetryReason::Owner(remote.endpoint().clone(), reason)
                        }
                    },
                    State::Closed => return Err(ApiError::cancelled()),
                    State::Failed(error) => return Err(error.clone()),
                };
                match retry_reason {
                    RetryReason::Owner(lost, why) => self.find_new_owner(&mut timeout, (lost, why)).await?,
                    // The disk may have room by now.
                    RetryReason::Write(error) => {
                        Box::pin(self.inner.retry_ownership()).await.map_err(|_| error)?;
                    }
                }
            }
        })
    }

    /// Opens a byte stream to the library's MCP server, whoever owns the library. `connection` names the
    /// agent's session and stays the same across reconnections.
    ///
    /// # Errors
    /// If no owner responds.
    pub fn mcp_stream<'a>(
        &'a self,
        connection: &'a str,
        profile: &'a str,
    ) -> BoxFuture<'a, Result<BoxedStream>> {
        Box::pin(async move {
            let mut timeout = OwnerTimeout::default();
            loop {
                let lost = match &*self.inner.state.read().await {
                    State::Owner { engine, .. } | State::ReadOnly { engine } => {
                        let stream: BoxedStream = Box::pin(engine.open_mcp_stream(connection, profile));
                        return Ok(stream);
                    }
                    State::Client(remote) => match remote.mcp_stream(connection, profile).await {
                        Ok(stream) => return Ok(stream),
                        Err(CallError::Answered(error)) => return Err(error),
                        Err(CallError::Lost(reason) | CallError::Unanswered(reason)) => {
                            (remote.endpoint().clone(), reason)
                        }
                    },
                    State::Closed => return Err(ApiError::cancelled()),
                    State::Failed(error) => return Err(error.clone()),
                };
                self.find_new_owner(&mut timeout, lost).await?;
            }
        })
    }

    /// Finds another owner after one was lost, until the timeout has passed.
    async fn find_new_owner(
        &self,
        timeout: &mut OwnerTimeout,
        (lost, why): (Endpoint, String),
    ) -> Result<()> {
        if timeout.is_over(Instant::now(), Some(&lost)) {
            return Err(unreachable(self.inner.dir.root(), &why));
        }
        Box::pin(self.inner.reconnect(&lost)).await
    }

    /// Subscribes to the events of this library, whoever owns it.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.inner.events.subscribe()
    }

    /// Returns the current role of this process.
    pub async fn role(&self) -> Role {
        match &*self.inner.state.read().await {
            State::Owner { .. } => Role::Owner,
            State::ReadOnly { .. } | State::Client(_) | State::Closed | State::Failed(_) => Role::Client,
        }
    }

    /// Returns how to reach the owner.
    ///
    /// # Errors
    /// `disk_full` or `read_only` if that is why the library has no owner.
    pub async fn endpoint(&self) -> Result<Endpoint> {
        match &*self.inner.state.read().await {
            State::Owner { host, .. } => Ok(host.endpoint.clone()),
            State::Client(remote) => Ok(remote.endpoint().clone()),
            State::ReadOnly { engine } => {
                engine.ensure_writable()?;
                Err(ApiError::internal("the library is read from a copy"))
            }
            State::Closed => Err(ApiError::cancelled()),
            State::Failed(error) => Err(error.clone()),
        }
    }

    /// Closes the library: as the owner, stops jobs at a safe point, flushes the store and releases it.
    ///
    /// # Errors
    /// If the store cannot be flushed.
    pub fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.inner.stop_jobs().await;
            tracing::info!("waiting for commands");
            let state = std::mem::replace(&mut *self.inner.state.write().await, State::Closed);
            match state {
                State::Owner { engine, host } => close_owned(&engine, host).await.map(drop),
                State::ReadOnly { engine } => {
                    engine.stop_jobs().await;
                    engine.close().await.map(drop)
                }
                State::Client(_) | State::Closed | State::Failed(_) => Ok(()),
            }
        })
    }

    /// Waits in the background for the owner to end, and takes over.
    fn start_standby_thread(&self) {
        let inner = Arc::downgrade(&self.inner);
        let dir = self.inner.dir.clone();
        let runtime = tokio::runtime::Handle::current();
        // On a thread of its own, because systems offer no non-blocking way to wait for a file lock.
        let started = std::thread::Builder::new().name("autokit-standby".into()).spawn(move || {
            let waited = dir.wait_to_own();
            let Some(inner) = inner.upgrade() else { return };
            match waited {
                Ok(owned) => *inner.acquired.lock().expect("no holder panics") = Some(owned),
                Err(error) => tracing::error!(%error, "failed to wait for ownership of the library"),
            }
            runtime.block_on(inner.take_over());
        });
        if let Err(error) = started {
            tracing::error!(%error, "failed to start the standby thread");
        }
    }
}

#[async_trait]
impl Client for Node {
    async fn call_json(&self, name: &str, body: Value) -> Result<Value> {
        Node::call_json(self, name, body).await
    }
}

impl Inner {
    /// Sets the state after the library was opened or an owner was found.
    async fn enter(&self, state: State) {
        let mut current = self.state.write().await;
        self.enter_locked(&mut current, state);
    }

    fn enter_locked(&self, current: &mut State, state: State) {
        let role = if matches!(state, State::Owner { .. }) { Role::Owner } else { Role::Client };
        *current = state;
        // Fails only if nobody listens.
        let _ = self.events.send(Event::Owner { role });
    }

    /// Becomes the owner, or connects to one.
    async fn attach(self: &Arc<Self>) -> Result<State> {
        let mut timeout = OwnerTimeout::default();
        loop {
            self.check_program()?;
            if let Some(owned) = self.take_acquired() {
                return self.own_or_open_read_only(owned, None).await;
            }
            let mut unwritable = None;
            match self.dir.try_own() {
                Ok(owned) => return self.own_or_open_read_only(owned, None).await,
                Err(StoreError::Owned { .. }) => {}
                Err(error) => {
                    let error = ApiError::from(LibraryError::from(error));
                    if !is_unwritable(error.code) {
                        return Err(error);
                    }
                    // A process that may write can own it all the same.
                    unwritable = Some(error);
                }
            }
            let published = Endpoint::read(&self.dir.endpoint_file());
            let mut reason = String::from("it is still starting or shutting down");
            if let Some(endpoint) = &published {
                match Remote::connect(endpoint.clone()).await {
                    Ok(remote) => {
                        self.start_forwarding_events(remote.clone());
                        return Ok(State::Client(remote));
                    }
                    Err(CallError::Answered(error)) => return Err(error),
                    Err(CallError::Lost(why) | CallError::Unanswered(why)) => reason = why,
                }
            }
            if let Some(error) = unwritable.filter(|_| !self.dir.is_owned()) {
                return self.open_read_only(error).await;
            }
            if timeout.is_over(Instant::now(), published.as_ref()) {
                return Err(unreachable(self.dir.root(), &reason));
            }
            // The owner is between taking the lock and publishing its endpoint, or between withdrawing the
            // endpoint and the system releasing the lock. Neither can be waited for, so this polls.
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// Takes the store, or reads a copy of it if its directory cannot be written.
    async fn own_or_open_read_only(
        self: &Arc<Self>,
        owned: Ownership,
        stopped: Option<&Endpoint>,
    ) -> Result<State> {
        match self.take_ownership(owned, stopped).await {
            Err(error) if is_unwritable(error.code) => self.open_read_only(error).await,
            owned => owned,
        }
    }

    /// Reads a copy of the store. `why` is the error that prevents owning it, and is returned if there is
    /// no copy either.
    async fn open_read_only(self: &Arc<Self>, why: ApiError) -> Result<State> {
        tracing::warn!(error = %why, "opening the library read-only");
        let full = why.code == ErrorCode::DiskFull;
        let opened =
            Engine::open_read_only(&self.dir, full, &self.options.engine, self.events.clone(), self.others());
        let opened = Box::pin(opened).await;
        let engine = opened.map_err(|error| match error.code {
            ErrorCode::Damaged => error,
            _ => why,
        })?;
        Ok(State::ReadOnly { engine })
    }

    /// Takes the store in place of the copy that is being read.
    async fn retry_ownership(self: &Arc<Self>) -> Result<()> {
        let _transition = self.transition.lock().await;
        if !matches!(*self.state.read().await, State::ReadOnly { .. }) {
            return Ok(());
        }
        let owned = self.dir.try_own().map_err(LibraryError::from)?;
        let state = self.take_ownership(owned, None).await?;
        self.enter(state).await;
        Ok(())
    }

    /// Opens the store. `stopped` is the endpoint of this process that was closed to restore a backup.
    async fn take_ownership(self: &Arc<Self>, owned: Ownership, stopped: Option<&Endpoint>) -> Result<State> {
        // Left over from an owner that was killed. Opening the store may take longer than clients wait for
        // an endpoint to respond.
        Endpoint::unpublish(&self.dir.endpoint_file());
        let engine = Engine::start(owned, &self.options.engine, self.events.clone(), self.others()).await?;
        let host = match Host::start(Arc::clone(&engine), &self.dir.endpoint_file(), stopped).await {
            Ok(host) => host,
            Err(error) => {
                // A copy may be read instead, which must not be made of an open store.
                engine.stop_jobs().await;
                if let Err(error) = engine.close().await {
                    tracing::warn!(%error, "failed to close the library");
                }
                return Err(error);
            }
        };
        match self.options.purpose {
            Purpose::Command => {}
            Purpose::Process => {
                engine.start_background_tasks();
                // Only in a long-running process: a short one would just block the port.
                engine.open_agent_server().await;
            }
            Purpose::Search => engine.follow_team(),
        }
        self.start_restoring(&engine);
        Ok(State::Owner { engine, host })
    }

    /// Restores a backup once the engine was asked to.
    fn start_restoring(self: &Arc<Self>, engine: &Arc<Engine>) {
        let (inner, engine) = (Arc::downgrade(self), Arc::downgrade(engine));
        tokio::spawn(async move {
            let Some(asked) = engine.upgrade().map(|engine| engine.restore_request()) else { return };
            // Ends with the engine if nobody asks.
            if !asked.await {
                return;
            }
            if let Some(inner) = inner.upgrade() {
                inner.restore().await;
            }
        });
    }

    /// Replaces the library, which this process owns, with the staged backup, and opens it again. Calls wait
    /// meanwhile.
    async fn restore(self: &Arc<Self>) {
        let _transition = self.transition.lock().await;
        self.stop_jobs().await;
        let mut current = self.state.write().await;
        let (engine, host) = match std::mem::replace(&mut *current, State::Closed) {
            State::Owner { engine, host } => (engine, host),
            // Closed meanwhile.
            other => {
                *current = other;
                return;
            }
        };
        let endpoint = host.endpoint.clone();
        let staged = engine.take_staged().await;
        let closed = close_owned(&engine, host).await;
        drop(engine);
        let mut restored = None;
        let state = match closed {
            Ok(Some(owned)) => {
                restored = staged.map(|staged| {
                    let backup = to_api(staged.backup.clone());
                    (backup, place_backup(&owned, staged, &self.options.engine.clock).map_err(ApiError::from))
                });
                self.own_or_open_read_only(owned, Some(&endpoint)).await
            }
            Ok(None) => self.attach().await,
            Err(error) => {
                tracing::error!(%error, "failed to close the library");
                restored = staged.map(|staged| (to_api(staged.backup), Err(error)));
                self.attach().await
            }
        };
        let state = state.unwrap_or_else(|error| {
            tracing::error!(%error, "failed to open the library after restoring a backup");
            State::Failed(error)
        });
        let restored = restored.map(|(backup, outcome)| {
            let (replaced, error) = match outcome {
                Ok(restored) => (Some(restored.replaced.display().to_string()), None),
                Err(error) => (None, Some(error)),
            };
            Event::Restored { backup, replaced, error }
        });
        if let (State::Owner { engine, .. }, Some(restored)) = (&state, &restored) {
            engine.set_restored(restored.clone());
        }
        self.enter_locked(&mut current, state);
        drop(current);
        if let Some(restored) = restored {
            // Fails only if nobody listens.
            let _ = self.events.send(restored);
        }
    }

    /// Ends what commands wait for while they hold the state: jobs and approvals.
    async fn stop_jobs(&self) {
        match &*self.state.read().await {
            State::Owner { engine, host } => {
                // New clients wait for the next owner from here on.
                host.unpublish();
                // Each step may take a while; the log shows which one shutdown waits for.
                tracing::info!("stopping jobs and servers");
                engine.stop_jobs().await;
            }
            State::ReadOnly { engine } => engine.stop_jobs().await,
            State::Client(_) | State::Closed | State::Failed(_) => {}
        }
    }

    /// Checks that AutoKit was not updated since this process started: an owner of the old version would keep the new
    /// one from opening the library.
    fn check_program(&self) -> Result<()> {
        if self.program.as_ref().is_some_and(ProgramFile::is_replaced) {
            return Err(ApiError::new(
                ErrorCode::VersionMismatch,
                "AutoKit was updated since this process was started",
                "Start it again. An agent starts it again with its next session.",
            ));
        }
        Ok(())
    }

    /// Opens libraries beside this one.
    fn others(&self) -> Arc<dyn OtherLibraries> {
        Arc::new(OpenBeside::new(&self.options.engine))
    }

    fn take_acquired(&self) -> Option<Ownership> {
        self.acquired.lock().expect("no holder panics").take()
    }

    /// Opens the store that this process acquired on standby, unless a call did so already.
    async fn take_over(self: &Arc<Self>) {
        let _transition = self.transition.lock().await;
        let client = matches!(*self.state.read().await, State::Client(_));
        // Left to a process of the new version, which may be waiting for it.
        let replaced = self.check_program().is_err();
        if let Some(owned) = self.take_acquired().filter(|_| client && !replaced) {
            match self.take_ownership(owned, None).await {
                Ok(state) => self.enter(state).await,
                Err(error) => tracing::error!(%error, "failed to take over the library"),
            }
        }
    }

    /// Connects to another owner, or takes over, after one stopped responding.
    async fn reconnect(self: &Arc<Self>, lost: &Endpoint) -> Result<()> {
        let _transition = self.transition.lock().await;
        match &*self.state.read().await {
            State::Client(remote) if remote.endpoint() == lost => {}
            // Another task of this process was faster.
            _ => return Ok(()),
        }
        let state = self.attach().await?;
        self.enter(state).await;
        Ok(())
    }

    /// Forwards the owner's events until another one is found.
    fn start_forwarding_events(self: &Arc<Self>, remote: Remote) {
        let (inner, events) = (Arc::downgrade(self), self.events.clone());
        tokio::spawn(async move {
            loop {
                remote.forward_events(&events).await;
                // An owner that restores a backup has the same endpoint afterwards, so that no call fails and looks for
                // another one.
                tokio::time::sleep(EVENTS_RETRY_INTERVAL).await;
                let Some(inner) = inner.upgrade() else { return };
                let state = inner.state.read().await;
                if !matches!(&*state, State::Client(current) if current.endpoint() == remote.endpoint()) {
                    return;
                }
            }
        });
    }
}

/// Closes the endpoints and the library of a process that owns it, and returns the ownership.
async fn close_owned(engine: &Engine, host: Host) -> Result<Option<Ownership>> {
    // A command that ended meanwhile may have started some.
    engine.stop_jobs().await;
    tracing::info!("closing the endpoints");
    engine.close_agent_server().await;
    host.stop().await;
    tracing::info!("closing the library");
    engine.close().await
}

/// Why a call has to be repeated.
enum RetryReason {
    /// The owner is gone: its endpoint, and the error.
    Owner(Endpoint, String),
    /// The copy that is being read rejects changes.
    Write(ApiError),
}

fn is_unwritable(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::ReadOnly | ErrorCode::DiskFull)
}

fn unreachable(root: &Path, reason: &str) -> ApiError {
    ApiError::new(
        ErrorCode::OwnerUnreachable,
        format!("the process that owns the library in {} is not responding: {reason}", root.display()),
        "Wait a moment and try again, or end the other AutoKit process.",
    )
}
