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
mod find;
mod health;
mod import;
mod incoming;
mod indexing;
mod kept;
mod keys;
mod library_retriever;
mod market;
mod models;
mod opinions;
mod pages;
mod profiles;
mod providers;
mod review;
mod serve;
mod servers;
mod sessions;
mod subscriptions;
mod verify;

pub use doctor::bytes;
pub use import::BATCH;
pub(crate) use profiles::no_profile;
pub use serve::{Searched, Serving};

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use autokit_api::commands::{CancelJob, Context, GetStatus, Handle, ListJobs, PauseJob, WaitJob};
use autokit_api::{Event, Job, JobPause, JobRef, JobWait, ModelState, Nothing, Status};
use autokit_embed::{Embedder, ModelStore};
use autokit_error::{ApiError, Result};
use autokit_gateway::Gateway;
use autokit_library::{Clock, DataDir, Library, Ownership, Place};
use autokit_mcp_client::Limits;
use autokit_openapi::rest::Rest;
use autokit_sandbox::Sandbox;
use autokit_search::{CardIndex, Searcher};
use tokio::sync::{broadcast, watch};

use crate::jobs::Jobs;
use crate::mcp_http_server::AgentToken;

use crate::secrets::{KeyStorage, Secrets};
use api_keys::ApiKeys;
use asks::Asks;
use catalogue::ListCache;
use import::PlanCache;
use incoming::SourceCache;
use indexing::LibraryPassages;
use library_retriever::DiscoveryCache;
use market::Market;
use opinions::Opinions;
use profiles::ProfileBook;
use providers::{Services, Spending};
use review::Suspects;
use serve::{CodeRuns, Journal, Outcomes};
use servers::Servers;
use sessions::Sessions;
use subscriptions::Subscriptions;
use verify::Verifying;

/// Where vectors come from.
#[derive(Clone, Debug, Default)]
pub enum Vectors {
    /// The model the library names, from the store of models.
    #[default]
    Model,
    /// A model in a folder, whatever the library names.
    Folder {
        /// Name in the manifest.
        model: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The deterministic stand-in of tests, with vectors of this length.
    StandIn(usize),
    /// None: keywords only.
    Off,
}

/// What an engine needs to start.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Folder of downloaded models.
    pub models_dir: PathBuf,
    /// Where vectors come from.
    pub vectors: Vectors,
    /// Load the starter cards into a library that is new.
    pub starter: bool,
    /// Where the time comes from.
    pub clock: Clock,
    /// Where keys are kept; the library's own choice when not given.
    pub keep: Option<KeyStorage>,
    /// The person's configuration: the file of keys, if they are kept in one.
    pub config_dir: PathBuf,
    /// What MCP servers may take, in time and in size.
    pub servers: Limits,
    /// How long an agent that searches waits for the sources of tools.
    pub market: Duration,
}

impl EngineOptions {
    /// The person's models, the library's own choice of one, the system's clock, no starter cards.
    pub fn new() -> EngineOptions {
        EngineOptions {
            models_dir: crate::paths::models_dir(),
            vectors: Vectors::default(),
            starter: false,
            clock: Clock::system(),
            keep: None,
            config_dir: crate::paths::config_dir(),
            servers: Limits::default(),
            market: market::DEADLINE,
        }
    }
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions::new()
    }
}

/// The embedding model's standing.
#[derive(Clone, Debug)]
struct Model {
    name: String,
    state: ModelState,
    error: Option<ApiError>,
}

/// Setting: name of the model.
const MODEL_SETTING: &str = "model";
/// Setting: folder of the model's files, empty for the store of models.
const MODEL_FOLDER_SETTING: &str = "model_folder";
/// Setting: whether starter cards were offered to this library.
const STARTER_SETTING: &str = "starter";

/// Everything behind the commands.
#[derive(Debug)]
pub struct Engine {
    core: Arc<Core>,
    gateway: Gateway<Serving>,
    mcp_http: tokio::sync::Mutex<agents_http::McpHttpState>,
}

/// What jobs share with the commands.
#[derive(Debug)]
pub(crate) struct Core {
    library: Library,
    options: EngineOptions,
    models: ModelStore,
    searcher: Arc<Searcher>,
    model: watch::Sender<Model>,
    jobs: Jobs,
    events: broadcast::Sender<Event>,
    /// A commit and its way into the index are one step.
    writing: tokio::sync::Mutex<()>,
    /// One embedding job at a time.
    embedding: tokio::sync::Mutex<()>,
    services: ArcSwap<Services>,
    spending: Spending,
    memory_keys: Secrets,
    sessions: Sessions,
    discovery: DiscoveryCache,
    opinions: Opinions,
    verifying: Verifying,
    /// Proposals that wait, for the status.
    waiting: AtomicU32,
    suspects: Suspects,
    list: Mutex<ListCache>,
    sources: Mutex<SourceCache>,
    plans: Mutex<PlanCache>,
    subscribed: Subscriptions,
    servers: Servers,
    profiles: ProfileBook,
    /// Grows whenever the tools agents may call may be others.
    tools: watch::Sender<u64>,
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
        let models = ModelStore::new(&options.models_dir);
        let name = match &options.vectors {
            Vectors::Folder { model, .. } => model.clone(),
            Vectors::StandIn(_) => "stand-in".to_owned(),
            Vectors::Off => "none".to_owned(),
            Vectors::Model => {
                library.setting(MODEL_SETTING).await?.unwrap_or_else(|| models.manifest().default.clone())
            }
        };
        let first_run = library.read_only().is_none()
            && library.read(|replica| replica.cursor() == 0)
            && library.setting(STARTER_SETTING).await?.is_none();
        let passages = Arc::new(LibraryPassages(library.cards()));
        let core = Arc::new(Core {
            model: watch::Sender::new(Model { name, state: ModelState::Loading, error: None }),
            searcher: Arc::new(Searcher::new(CardIndex::new(None), passages)),
            jobs: Jobs::new(events.clone()),
            library,
            options: options.clone(),
            models,
            events,
            writing: tokio::sync::Mutex::default(),
            embedding: tokio::sync::Mutex::default(),
            services: ArcSwap::from_pointee(Services::none()?),
            spending: Spending::default(),
            memory_keys: Secrets::open(KeyStorage::Memory, &options.config_dir),
            sessions: Sessions::default(),
            discovery: DiscoveryCache::default(),
            opinions: Opinions::default(),
            verifying: Verifying::default(),
            waiting: AtomicU32::new(0),
            suspects: Suspects::default(),
            list: Mutex::default(),
            sources: Mutex::default(),
            plans: Mutex::default(),
            subscribed: Subscriptions::default(),
            servers: Servers::new(options.servers.clone()),
            profiles: ProfileBook::default(),
            tools: watch::Sender::default(),
            asks: Asks::default(),
            api_keys: ApiKeys::default(),
            agents_tokens: Arc::default(),
            rest: Rest::default(),
            sandbox: OnceLock::new(),
            code_runs: CodeRuns::default(),
            journal: Journal::default(),
            outcomes: Outcomes::default(),
            market: Market::default(),
            first_run,
        });
        core.load_spending().await?;
        core.keep_spending();
        core.load_services().await?;
        core.load_profiles().await?;
        core.tell_proposals().await?;
        let loading = Arc::clone(&core);
        tokio::spawn(async move { loading.load_model().await });
        // Read ahead: the first list or answer shall not wait for what many checks left behind.
        let warming = Arc::clone(&core);
        tokio::spawn(async move {
            if let Err(error) = warming.library.checks().await {
                tracing::warn!(%error, "the checks of cards could not be read ahead");
            }
        });
        if options.starter && first_run {
            core.library.set_setting(STARTER_SETTING, "loaded").await?;
            core.start_starter();
        }
        let gateway = Engine::gateway_of(&core);
        let engine = Engine { core, gateway, mcp_http: tokio::sync::Mutex::default() };
        engine.keep_journal();
        Ok(engine)
    }

    /// News of this library.
    pub fn events(&self) -> &broadcast::Sender<Event> {
        &self.core.events
    }

    /// Asks jobs and the agent to stop and waits until they have.
    pub async fn stop_jobs(&self) {
        self.core.sessions.stop_all().await;
        self.core.jobs.stop_all().await;
        self.core.servers.pool.stop_all().await;
    }

    /// Flushes the store and gives it up.
    ///
    /// # Errors
    /// When it could not be flushed.
    pub async fn close(&self) -> Result<()> {
        // The model may still be loading; it holds on to the library until it is done.
        self.core.model_settled().await;
        if self.core.library.read_only().is_none() {
            if let Err(error) = self.core.save_spending().await {
                tracing::error!(%error, "what was spent on language models could not be saved");
            }
            self.core.journal.close(&self.core.library, &self.core.options.clock).await?;
        }
        self.core.library.close().await.map_err(ApiError::from)
    }
}

/// Milliseconds since.
fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

impl Core {
    pub(crate) fn tell(&self, event: Event) {
        // Nobody listening is fine.
        let _ = self.events.send(event);
    }

    pub(crate) fn tell_library(&self) {
        self.tell(Event::Library { cursor: self.library.read(autokit_library::Replica::cursor) });
        self.tools_changed();
    }

    /// Has the tools of all agents' sessions looked at again, now that what they depend on has changed.
    fn tools_changed(&self) {
        self.tools.send_modify(|version| *version += 1);
    }

    fn embedder(&self) -> Option<Arc<Embedder>> {
        self.searcher.embedder()
    }

    /// The model, as what compares by meaning wants it.
    fn senses(&self) -> Option<Arc<dyn autokit_search::QueryEmbedder>> {
        self.embedder().map(|embedder| embedder as Arc<_>)
    }

    /// The model once it is loaded, missing or failed.
    async fn model_settled(&self) -> Model {
        let mut model = self.model.subscribe();
        // The sender lives as long as `self`.
        let settled = model.wait_for(|model| model.state != ModelState::Loading).await;
        settled.map_or_else(|_| self.model.borrow().clone(), |model| model.clone())
    }
}

impl Handle<GetStatus> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Status> {
        let core = &self.core;
        let model = core.model.borrow().clone();
        let undoable = core.library.undoable().await?.map(|(_, reason)| reason);
        Ok(Status {
            version: crate::VERSION.to_owned(),
            data_dir: core.library.dir().map_or_else(String::new, |dir| dir.root().display().to_string()),
            owner_pid: std::process::id(),
            cards: core.library.read(|replica| replica.len() as u32),
            embedded: core.searcher.index().embedded() as u32,
            model: model.name,
            model_state: model.state,
            model_error: model.error.map(|error| error.message),
            damage: core.damage(),
            read_only: core.why_read_only().map(str::to_owned),
            first_run: core.first_run,
            proposals: core.waiting.load(Ordering::Relaxed),
            search: core.services.load().search_name(),
            llm: core.services.load().llm_name(),
            undoable,
            cursor: core.library.read(autokit_library::Replica::cursor),
            checks: core.library.checks_version(),
            migrated_from: core.library.migrated_from().map(|path| path.display().to_string()),
        })
    }
}

/// How long an answer to `job_wait` may take before it says that nothing changed.
const JOB_PATIENCE: Duration = Duration::from_secs(10);

impl Handle<ListJobs> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<Job>> {
        Ok(self.core.jobs.list())
    }
}

impl Handle<WaitJob> for Engine {
    async fn handle(&self, _: &Context, request: JobWait) -> Result<Job> {
        self.core.jobs.wait(&request.job, request.after, JOB_PATIENCE).await
    }
}

impl Handle<PauseJob> for Engine {
    async fn handle(&self, _: &Context, request: JobPause) -> Result<Job> {
        self.core.jobs.pause(&request.job, request.paused)
    }
}

impl Handle<CancelJob> for Engine {
    async fn handle(&self, _: &Context, request: JobRef) -> Result<Job> {
        self.core.jobs.cancel(&request.job)
    }
}
