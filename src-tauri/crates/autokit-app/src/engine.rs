//! How commands are carried out, by the process that owns the store.

mod agent;
mod agents_http;
mod api_keys;
mod asks;
mod background;
mod backups;
mod cards;
mod catalogue;
mod clients;
mod decide;
mod doctor;
mod duplicates;
mod edit;
mod export;
mod flagged;
mod health;
mod import;
mod incoming;
mod indexing;
mod keys;
mod library_retriever;
mod market;
mod models;
mod options;
mod page_vectors;
mod pages;
mod profiles;
mod providers;
mod review;
mod routes;
mod search;
mod serve;
mod servers;
mod sessions;
mod sources;
mod subscriptions;
mod verify;
mod workspace;

pub use doctor::bytes;
pub use models::BATCH;
pub use options::{EngineOptions, Vectors};
pub(crate) use profiles::no_profile;
pub use serve::{Searched, Serving};

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use autokit_api::commands::{CancelJob, Context, GetStatus, Handle, ListJobs, PauseJob, WaitJob};
use autokit_api::{Event, Job, JobPause, JobRef, JobWait, Nothing, Status};
use autokit_error::{ApiError, Result};
use autokit_gateway::Gateway;
use autokit_library::{DataDir, Library, Ownership, Place, Replica};
use autokit_openapi::rest::Rest;
use autokit_sandbox::Sandbox;
use rmcp::model::Tool;
use tokio::sync::broadcast;
use tokio_util::sync::DropGuard;

use crate::mcp_http_server::AgentToken;

use agent::Agent;
use api_keys::ApiKeys;
use asks::Asks;
use catalogue::Catalogue;
use decide::Decisions;
use duplicates::Duplicates;
use edit::Editing;
use export::Exports;
use import::Imports;
use keys::BundleKeys;
use market::Market;
use models::Models;
use pages::Pages;
use profiles::ProfileBook;
use providers::Providers;
use review::Proposals;
use search::Search;
use serve::{CodeRuns, Journal, Outcomes};
use servers::Servers;
use servers::known::KnownServers;
use sources::Sources;
use subscriptions::Subscriptions;
use verify::Checking;
use workspace::Workspace;

/// Setting: whether starter cards were offered to this library.
const STARTER_SETTING: &str = "starter";

/// Everything behind the commands.
#[derive(Debug)]
pub struct Engine {
    core: Arc<Core>,
    gateway: Gateway<Serving>,
    mcp_http: tokio::sync::Mutex<agents_http::McpHttpState>,
    /// Ends what goes on in the background when nobody needs the engine any more.
    _background: DropGuard,
}

/// What jobs share with the commands.
#[derive(Debug)]
pub(crate) struct Core {
    workspace: Workspace,
    models: Models,
    providers: Providers,
    search: Search,
    pages: Pages,
    agent: Agent,
    checking: Checking,
    catalogue: Catalogue,
    editing: Editing,
    proposals: Proposals,
    decisions: Decisions,
    known_servers: KnownServers,
    servers: Servers,
    imports: Imports,
    exports: Exports,
    bundle_keys: BundleKeys,
    subscriptions: Subscriptions,
    profiles: ProfileBook,
    asks: Asks,
    api_keys: ApiKeys,
    /// The tokens that let agents in over HTTP.
    agents_tokens: Arc<ArcSwap<Vec<AgentToken>>>,
    rest: Rest,
    /// Proven when it is first needed.
    sandbox: OnceLock<Sandbox>,
    code_runs: CodeRuns,
    journal: Journal,
    outcomes: Outcomes,
    market: Market,
    first_run: bool,
}

impl Engine {
    /// Opens the library and begins to load the model.
    ///
    /// # Errors
    /// What kept the store from opening.
    pub async fn start(
        owned: Ownership,
        options: &EngineOptions,
        events: broadcast::Sender<Event>,
    ) -> Result<Engine> {
        // The engine is large while it is made.
        Box::pin(Engine::open(Place::Disk(owned), options, events)).await
    }

    /// As [`Engine::start`], for a library anywhere.
    ///
    /// # Errors
    /// What kept the store from opening.
    pub async fn open(
        place: Place,
        options: &EngineOptions,
        events: broadcast::Sender<Event>,
    ) -> Result<Engine> {
        let library = Library::open(place, options.clock.clone()).await?;
        Box::pin(Engine::with(library, options, events)).await
    }

    /// An engine over a copy of a library whose directory cannot be written: it answers, and refuses every
    /// change. The caller sees to it that no process owns the store.
    ///
    /// # Errors
    /// What kept the copy from being made or opened.
    pub async fn open_read_only(
        dir: &DataDir,
        full: bool,
        options: &EngineOptions,
        events: broadcast::Sender<Event>,
    ) -> Result<Engine> {
        let library = Library::open_read_only(dir, full, options.clock.clone()).await?;
        Box::pin(Engine::with(library, options, events)).await
    }

    async fn with(
        library: Library,
        options: &EngineOptions,
        events: broadcast::Sender<Event>,
    ) -> Result<Engine> {
        let first_run = library.read_only().is_none()
            && library.read(|replica| replica.cursor() == 0)
            && library.setting(STARTER_SETTING).await?.is_none();
        let workspace = Workspace::new(library, options.clock.clone(), events);
        let models = Models::open(workspace.clone(), options).await?;
        let providers = Providers::new(workspace.clone(), options)?;
        let pages = Pages::new(workspace.clone(), models.clone(), providers.clone());
        let duplicates = Duplicates::new(workspace.clone(), models.clone());
        let catalogue = Catalogue::new(workspace.clone());
        let bundle_keys = BundleKeys::new(workspace.clone(), providers.clone());
        let sources = Sources::new(workspace.clone(), providers.clone(), bundle_keys.clone());
        let known_servers = KnownServers::new(workspace.clone(), providers.clone(), options.servers.clone());
        let imports = Imports::new(
            workspace.clone(),
            models.clone(),
            duplicates.clone(),
            sources.clone(),
            known_servers.clone(),
        );
        let proposals =
            Proposals::new(workspace.clone(), models.clone(), duplicates.clone(), providers.clone());
        let search = Search::new(workspace.clone(), models.clone());
        let core = Arc::new(Core {
            agent: Agent::new(
                workspace.clone(),
                models.clone(),
                search.clone(),
                providers.clone(),
                proposals.clone(),
            ),
            checking: Checking::new(
                workspace.clone(),
                models.clone(),
                providers.clone(),
                proposals.clone(),
                catalogue.clone(),
            ),
            api_keys: ApiKeys::new(workspace.clone(), providers.clone()),
            market: Market::new(
                workspace.clone(),
                models.clone(),
                providers.clone(),
                known_servers.clone(),
                options,
            ),
            search,
            editing: Editing::new(workspace.clone(), models.clone(), duplicates, known_servers.clone()),
            decisions: Decisions::new(
                workspace.clone(),
                models.clone(),
                proposals.clone(),
                pages.clone(),
                known_servers.clone(),
            ),
            servers: Servers::new(workspace.clone(), known_servers.clone(), imports.clone()),
            exports: Exports::new(workspace.clone(), models.clone(), catalogue.clone(), sources.clone()),
            subscriptions: Subscriptions::new(workspace.clone(), imports.clone(), sources),
            pages,
            catalogue,
            proposals,
            known_servers,
            imports,
            bundle_keys,
            profiles: ProfileBook::default(),
            asks: Asks::default(),
            agents_tokens: Arc::default(),
            rest: Rest::default(),
            sandbox: OnceLock::new(),
            code_runs: CodeRuns::default(),
            journal: Journal::default(),
            outcomes: Outcomes::default(),
            first_run,
            workspace,
            models,
            providers,
        });
        core.providers.load_spending().await?;
        core.providers.keep_spending();
        core.providers.load().await?;
        core.load_profiles().await?;
        core.workspace.tell_proposals().await?;
        let loading = core.models.clone();
        tokio::spawn(async move { loading.load().await });
        // Read ahead: the first list or answer shall not wait for what many checks left behind.
        let library = Arc::clone(&core.workspace.library);
        tokio::spawn(async move {
            if let Err(error) = library.checks().await {
                tracing::warn!(%error, "the checks of cards could not be read ahead");
            }
        });
        if options.starter && first_run {
            core.workspace.library.set_setting(STARTER_SETTING, "loaded").await?;
            core.imports.start_starter();
        }
        let gateway = Engine::gateway_of(&core);
        let engine = Engine {
            _background: core.workspace.guard(),
            core,
            gateway,
            mcp_http: tokio::sync::Mutex::default(),
        };
        engine.keep_journal();
        Ok(engine)
    }

    /// News of this library.
    pub fn events(&self) -> &broadcast::Sender<Event> {
        self.core.workspace.events()
    }

    /// Keeps cards checked while this process lives.
    pub(crate) fn keep_checking(&self) {
        self.core.checking.keep_checking(self.core.subscriptions.clone());
    }

    /// Follows the servers while this process lives.
    pub(crate) fn keep_servers(&self) {
        self.core.servers.keep_looking();
    }

    /// Puts the tools of servers into the library in the background, as if they were trusted. The servers
    /// are known from then on and never started.
    pub fn start_offering(&self, servers: BTreeMap<String, Vec<Tool>>) -> JobRef {
        self.core.servers.start_offering(servers)
    }

    /// Asks jobs and the agent to stop and waits until they have.
    pub async fn stop_jobs(&self) {
        self.core.agent.sessions.stop_all().await;
        self.core.workspace.jobs.stop_all().await;
        self.core.known_servers.pool().stop_all().await;
    }

    /// Flushes the store and gives it up.
    ///
    /// # Errors
    /// When it could not be flushed.
    pub async fn close(&self) -> Result<()> {
        // The model may still be loading; it holds on to the library until it is done.
        self.core.models.settled().await;
        if self.core.workspace.library.read_only().is_none() {
            if let Err(error) = self.core.providers.save_spending().await {
                tracing::error!(%error, "what was spent on language models could not be saved");
            }
            self.core.journal.close(&self.core.workspace.library, &self.core.workspace.clock).await?;
        }
        self.core.workspace.library.close().await.map_err(ApiError::from)
    }
}

/// Milliseconds since.
fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

impl Handle<GetStatus> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Status> {
        let core = &self.core;
        let model = core.models.model();
        let undoable = core.workspace.library.undoable().await?.map(|(_, reason)| reason);
        Ok(Status {
            version: crate::VERSION.to_owned(),
            data_dir: core
                .workspace
                .library
                .dir()
                .map_or_else(String::new, |dir| dir.root().display().to_string()),
            owner_pid: std::process::id(),
            cards: core.workspace.library.read(|replica| replica.len() as u32),
            embedded: core.models.searcher().index().embedded() as u32,
            model: model.name,
            model_state: model.state,
            model_error: model.error.map(|error| error.message),
            damage: core.damage(),
            read_only: core.why_read_only().map(str::to_owned),
            first_run: core.first_run,
            proposals: core.workspace.proposals_waiting(),
            search: core.providers.services().search_name(),
            llm: core.providers.services().llm_name(),
            undoable,
            cursor: core.workspace.library.read(Replica::cursor),
            checks: core.workspace.library.checks_version(),
            migrated_from: core.workspace.library.migrated_from().map(|path| path.display().to_string()),
        })
    }
}

/// How long an answer to `job_wait` may take before it says that nothing changed.
const JOB_PATIENCE: Duration = Duration::from_secs(10);

impl Handle<ListJobs> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<Job>> {
        Ok(self.core.workspace.jobs.list())
    }
}

impl Handle<WaitJob> for Engine {
    async fn handle(&self, _: &Context, request: JobWait) -> Result<Job> {
        self.core.workspace.jobs.wait(&request.job, request.after, JOB_PATIENCE).await
    }
}

impl Handle<PauseJob> for Engine {
    async fn handle(&self, _: &Context, request: JobPause) -> Result<Job> {
        self.core.workspace.jobs.pause(&request.job, request.paused)
    }
}

impl Handle<CancelJob> for Engine {
    async fn handle(&self, _: &Context, request: JobRef) -> Result<Job> {
        self.core.workspace.jobs.cancel(&request.job)
    }
}
