//! The engine: executes all commands, in the process that owns the library's store.

mod assistant;
mod backups;
mod doctor;
mod routes;
#[cfg(test)]
mod tests;

pub use autokit_serving::{Searched, Serving};
pub use autokit_workspace::models::BATCH;
pub use autokit_workspace::options::{EngineOptions, Vectors};

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use autokit_agent::rerank::Reranker;
use autokit_api::commands::{Context, GetStatus, Handle};
use autokit_api::{Event, JobRef, Nothing, Status};
use autokit_documents::Reader;
use autokit_error::{ApiError, Result};
use autokit_features::agent::Agent;
use autokit_features::catalogue::Catalogue;
use autokit_features::decide::Decisions;
use autokit_features::duplicates::Duplicates;
use autokit_features::edit::Editing;
use autokit_features::export::Exports;
use autokit_features::import::Imports;
use autokit_features::keys::BundleKeys;
use autokit_features::market::Market;
use autokit_features::pages::Pages;
use autokit_features::review::Proposals;
use autokit_features::servers::Servers;
use autokit_features::sources::Sources;
use autokit_features::subscriptions::Subscriptions;
use autokit_features::verify::Checking;
use autokit_features::vocabulary::NamesAndSynonyms;
use autokit_federation::federation::Federation;
use autokit_gateway::Gateway;
use autokit_library::{DataDir, Library, Ownership, Replica, Staged, Storage};
use autokit_lifecycle::code_cards::CodeCards;
use autokit_lifecycle::duplicates::LibraryDuplicates;
use autokit_lifecycle::generated::GeneratedTools;
use autokit_lifecycle::macros::Macros;
use autokit_lifecycle::refine::Refining;
use autokit_lifecycle::variants::DescriptionVariants;
use autokit_membership::others::{NoOtherLibraries, OtherLibraries};
use autokit_membership::replica::TeamReplica;
use autokit_membership::teams::Teams;
use autokit_memory::Memory;
use autokit_personalization::Learning;
use autokit_serving::address::AgentHttpServer;
use autokit_serving::approvals::Approvals;
use autokit_serving::assistant::Assistant;
use autokit_serving::builtin::Builtins;
use autokit_serving::clients::Clients;
use autokit_serving::code_runs::CodeRunner;
use autokit_serving::external::ExternalTools;
use autokit_serving::find::ToolSearch;
use autokit_serving::journal::Journal;
use autokit_serving::manual::ToolRuns;
use autokit_serving::own::OwnTools;
use autokit_serving::plan::{Calls, Executors};
use autokit_serving::profiles::AgentProfiles;
use autokit_serving::report::Activity;
use autokit_serving::rest::RestCalls;
use autokit_serving::tokens::AgentTokens;
use autokit_serving::tools::CallableTools;
use autokit_serving::variants::Variants;
use autokit_upstream::api_keys::ApiKeys;
use autokit_upstream::servers::KnownServers;
use autokit_workspace::collections::Collections;
use autokit_workspace::models::{Models, ProbableModel};
use autokit_workspace::providers::Providers;
use autokit_workspace::search::Search;
use autokit_workspace::workspace::Workspace;
use futures_util::future::BoxFuture;
use rmcp::model::Tool;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::{CancellationToken, DropGuard};

use assistant::{AddedMemory, Features};
use backups::Backups;
use doctor::Diagnostics;

/// Setting: whether the starter cards were offered to this library.
const STARTER_SETTING: &str = "starter";

/// Everything behind the commands: all features, wired together.
#[derive(Debug)]
pub struct Engine {
    workspace: Workspace,
    models: Models,
    providers: Providers,
    asking: Asking,
    cards: Cards,
    review: Review,
    exchange: Exchange,
    connections: Connections,
    mcp: Mcp,
    lifecycle: Lifecycle,
    maintenance: Maintenance,
    /// Ends background tasks when the engine is dropped.
    _background: DropGuard,
}

/// Answers to requests, and what is learned from their use.
#[derive(Debug)]
struct Asking {
    search: Search,
    agent: Agent,
    memory: Memory,
    learning: Learning,
    federation: Federation,
}

/// Tools that get better by use.
#[derive(Debug)]
struct Lifecycle {
    refining: Refining,
    macros: Macros,
    code_cards: CodeCards,
    generated: GeneratedTools,
    variants: DescriptionVariants,
}

/// Cards, their pages and their checks.
#[derive(Debug)]
struct Cards {
    catalogue: Catalogue,
    collections: Collections,
    duplicates: LibraryDuplicates,
    editing: Editing,
    pages: Pages,
    checking: Checking,
}

/// Proposals, and decisions on them.
#[derive(Debug)]
struct Review {
    proposals: Proposals,
    decisions: Decisions,
}

/// Exchange of cards with other libraries.
#[derive(Debug)]
struct Exchange {
    imports: Imports,
    exports: Exports,
    subscriptions: Subscriptions,
    bundle_keys: BundleKeys,
    vocabulary: NamesAndSynonyms,
    teams: Teams,
    team: TeamReplica,
}

/// Where callable tools come from.
#[derive(Debug)]
struct Connections {
    servers: Servers,
    market: Market,
    api_keys: ApiKeys,
}

/// What agents reach over MCP, and what they may do.
#[derive(Debug)]
struct Mcp {
    gateway: Gateway,
    profiles: AgentProfiles,
    approvals: Approvals,
    address: AgentHttpServer,
    clients: Clients,
    tool_runs: ToolRuns,
    activity: Activity,
    journal: Journal,
}

/// Diagnostics and backups.
#[derive(Debug)]
struct Maintenance {
    diagnostics: Diagnostics,
    backups: Backups,
    /// What is told to clients that connect, if the library was opened after a backup replaced it.
    restored: OnceLock<Event>,
}

impl Engine {
    /// Opens the library and starts loading the model. Other libraries are searched with `others`.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub async fn start(
        owned: Ownership,
        options: &EngineOptions,
        events: broadcast::Sender<Event>,
        others: Arc<dyn OtherLibraries>,
    ) -> Result<Arc<Engine>> {
        Engine::open_with(Storage::Disk(owned), options, events, others).await
    }

    /// As [`Engine::start`], for any storage and no other libraries.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub async fn open(
        storage: Storage,
        options: &EngineOptions,
        events: broadcast::Sender<Event>,
    ) -> Result<Arc<Engine>> {
        Engine::open_with(storage, options, events, Arc::new(NoOtherLibraries)).await
    }

    fn open_with(
        storage: Storage,
        options: &EngineOptions,
        events: broadcast::Sender<Event>,
        others: Arc<dyn OtherLibraries>,
    ) -> BoxFuture<'_, Result<Arc<Engine>>> {
        Box::pin(async move {
            let model = ProbableModel::load(options);
            let library = Library::open(storage, options.clock.clone()).await?;
            Engine::from_library(library, model, options, events, others).await
        })
    }

    /// Opens a copy of a library whose directory cannot be written. The engine answers queries and rejects
    /// every change. The caller ensures that no process owns the store.
    ///
    /// # Errors
    /// If the copy cannot be made or opened.
    pub fn open_read_only<'a>(
        dir: &'a DataDir,
        full: bool,
        options: &'a EngineOptions,
        events: broadcast::Sender<Event>,
        others: Arc<dyn OtherLibraries>,
    ) -> BoxFuture<'a, Result<Arc<Engine>>> {
        Box::pin(async move {
            let model = ProbableModel::load(options);
            let library = Library::open_read_only(dir, full, options.clock.clone()).await?;
            Engine::from_library(library, model, options, events, others).await
        })
    }

    fn from_library(
        library: Library,
        model: Option<ProbableModel>,
        options: &EngineOptions,
        events: broadcast::Sender<Event>,
        others: Arc<dyn OtherLibraries>,
    ) -> BoxFuture<'_, Result<Arc<Engine>>> {
        Box::pin(async move {
            let first_run = library.read_only().is_none()
                && library.read(|replica| replica.cursor() == 0)
                && library.setting(STARTER_SETTING).await?.is_none();
            let workspace = Workspace::new(library, options.clock.clone(), events, first_run);
            let models = Models::open(workspace.clone(), options, model).await?;
            let providers = Providers::new(workspace.clone(), options)?;
            let search = Search::new(workspace.clone(), models.clone());
            let learning = Learning::new(workspace.clone(), models.clone(), search.clone());
            let known_servers =
                KnownServers::new(workspace.clone(), providers.clone(), options.server_limits.clone());
            let duplicates = Duplicates::new(workspace.clone(), models.clone());
            let pages = Pages::new(workspace.clone(), models.clone(), providers.clone());
            let proposals =
                Proposals::new(workspace.clone(), models.clone(), duplicates.clone(), providers.clone());
            let review = Review {
                decisions: Decisions::new(
                    workspace.clone(),
                    models.clone(),
                    proposals.clone(),
                    pages.clone(),
                    known_servers.clone(),
                ),
                proposals,
            };
            let collections = Collections::new(workspace.clone());
            let catalogue = Catalogue::new(workspace.clone(), collections.clone());
            let cards = Cards {
                duplicates: LibraryDuplicates::new(
                    workspace.clone(),
                    models.clone(),
                    known_servers.clone(),
                    collections.clone(),
                ),
                collections,
                editing: Editing::new(
                    workspace.clone(),
                    models.clone(),
                    duplicates.clone(),
                    known_servers.clone(),
                ),
                checking: Checking::new(
                    workspace.clone(),
                    models.clone(),
                    providers.clone(),
                    review.proposals.clone(),
                    catalogue.clone(),
                ),
                catalogue,
                pages,
            };
            let reader = Reader::new(options.document_reader.clone(), &["read-document"]);
            let memory = Memory::new(workspace.clone(), models.clone(), providers.clone(), reader);
            let agent = Agent::new(
                workspace.clone(),
                models.clone(),
                search.clone(),
                providers.clone(),
                review.proposals.clone(),
                Arc::new(AddedMemory(memory.clone())),
            );
            let bundle_keys = BundleKeys::new(workspace.clone(), providers.clone());
            let sources = Sources::new(workspace.clone(), providers.clone(), bundle_keys.clone());
            let vocabulary = NamesAndSynonyms::new(workspace.clone(), models.clone());
            let imports = Imports::new(
                workspace.clone(),
                models.clone(),
                duplicates,
                sources.clone(),
                known_servers.clone(),
                vocabulary.clone(),
            );
            let exchange = Exchange {
                exports: Exports::new(
                    workspace.clone(),
                    models.clone(),
                    cards.catalogue.clone(),
                    sources.clone(),
                ),
                subscriptions: Subscriptions::new(workspace.clone(), imports.clone(), sources),
                imports,
                bundle_keys,
                vocabulary,
                teams: Teams::new(workspace.clone(), providers.clone(), options, Arc::clone(&others)),
                team: TeamReplica::new(workspace.clone(), models.clone(), options)?,
            };
            let connections = Connections {
                servers: Servers::new(workspace.clone(), known_servers.clone(), exchange.imports.clone()),
                market: Market::new(
                    workspace.clone(),
                    models.clone(),
                    providers.clone(),
                    known_servers.clone(),
                    options,
                ),
                api_keys: ApiKeys::new(workspace.clone(), providers.clone()),
            };
            let federation =
                Federation::new(workspace.clone(), search.clone(), connections.market.clone(), others);
            let tokens = AgentTokens::new(providers.clone());
            let profiles = AgentProfiles::new(workspace.clone(), tokens.clone());
            let approvals = Approvals::new(workspace.clone(), profiles.clone());
            let journal = Journal::new(workspace.clone());
            let tools = CallableTools::new(workspace.clone(), known_servers, profiles.clone());
            let assistant: Arc<dyn Assistant> = Arc::new(Features {
                agent: agent.clone(),
                memory: memory.clone(),
                proposals: review.proposals.clone(),
                market: connections.market.clone(),
                providers: providers.clone(),
                reranker: Reranker::default(),
            });
            let code = CodeRunner::default();
            let executors = Executors {
                own: OwnTools::new(
                    workspace.clone(),
                    profiles.clone(),
                    Arc::clone(&assistant),
                    search.clone(),
                ),
                builtins: Builtins::new(
                    workspace.clone(),
                    search.clone(),
                    Arc::clone(&assistant),
                    ExternalTools::new(providers.clone(), code.clone()),
                ),
                rest: RestCalls::new(providers.clone(), connections.api_keys.clone()),
            };
            let variants = Variants::new(workspace.clone());
            let calls = Calls::new(tools.clone(), approvals.clone(), executors, journal.clone());
            let serving = Serving::new(
                tools.clone(),
                ToolSearch::new(tools.clone(), search.clone(), models.clone(), Arc::clone(&assistant)),
                assistant,
                calls.clone(),
                journal.clone(),
                variants.clone(),
            );
            let clock = workspace.clock.clone();
            let gateway = Gateway::new(serving, Arc::new(move || clock.now()));
            let activity = Activity::new(workspace.clone(), journal.clone(), tools.clone(), gateway.clone());
            let tool_runs = ToolRuns::new(workspace.clone(), tools.clone(), calls.clone());
            let engine = Arc::new(Engine {
                lifecycle: Lifecycle {
                    code_cards: CodeCards::new(workspace.clone(), review.proposals.clone()),
                    macros: Macros::new(review.proposals.clone(), calls.clone()),
                    generated: GeneratedTools::new(
                        workspace.clone(),
                        models.clone(),
                        providers.clone(),
                        review.proposals.clone(),
                        code,
                        activity.clone(),
                    ),
                    variants: DescriptionVariants::new(
                        workspace.clone(),
                        review.proposals.clone(),
                        variants,
                        tools.clone(),
                    ),
                    refining: Refining::new(
                        workspace.clone(),
                        models.clone(),
                        providers.clone(),
                        review.proposals.clone(),
                        tool_runs.clone(),
                    ),
                },
                mcp: Mcp {
                    address: AgentHttpServer::new(
                        workspace.clone(),
                        profiles.clone(),
                        tokens,
                        gateway.clone(),
                    ),
                    clients: Clients::new(workspace.clone()),
                    tool_runs,
                    activity,
                    gateway,
                    profiles,
                    approvals,
                    journal,
                },
                maintenance: Maintenance {
                    diagnostics: Diagnostics::new(workspace.clone(), models.clone(), providers.clone()),
                    backups: Backups::new(workspace.clone()),
                    restored: OnceLock::new(),
                },
                _background: workspace.shutdown_guard(),
                workspace,
                models,
                providers,
                asking: Asking { search, agent, memory, learning, federation },
                cards,
                review,
                exchange,
                connections,
            });
            engine.initialize(options).await?;
            Ok(engine)
        })
    }

    /// Loads what is needed immediately, and starts background tasks.
    async fn initialize(&self, options: &EngineOptions) -> Result<()> {
        self.providers.load_spending().await?;
        self.providers.start_saving_spending();
        self.providers.load().await?;
        self.mcp.profiles.load().await?;
        self.workspace.notify_proposals_changed().await?;
        let models = self.models.clone();
        tokio::spawn(async move { models.load().await });
        // Preloaded, so that the first list or answer does not wait for the results of many checks.
        let library = Arc::clone(&self.workspace.library);
        tokio::spawn(async move {
            if let Err(error) = library.checks().await {
                tracing::warn!(%error, "failed to preload check results");
            }
        });
        if options.starter && self.workspace.first_run() {
            self.workspace.library.set_setting(STARTER_SETTING, "loaded").await?;
            self.exchange.imports.start_starter();
        }
        self.mcp.journal.start_writing(self.mcp.profiles.clone());
        Ok(())
    }

    /// Returns the outcome of restoring a backup, if the library was opened after that.
    pub(crate) fn restored(&self) -> Option<&Event> {
        self.maintenance.restored.get()
    }

    /// Sets the outcome of restoring a backup, once.
    pub(crate) fn set_restored(&self, outcome: Event) {
        self.maintenance.restored.get_or_init(|| outcome);
    }

    /// Returns the channel of this library's events.
    pub fn events(&self) -> &broadcast::Sender<Event> {
        self.workspace.events()
    }

    /// Starts the background work of a long-running process: checks cards, watches MCP servers, makes
    /// backups, and compares the library with its change log.
    pub fn start_background_tasks(&self) {
        self.cards.checking.start_background_checks(self.exchange.subscriptions.clone());
        self.connections.servers.watch_servers();
        self.follow_team();
        let memory = self.asking.memory.clone();
        tokio::spawn(async move { memory.refresh_and_watch().await });
        self.asking.learning.start();
        self.maintenance.backups.verify_later();
        self.maintenance.backups.start_daily_backups();
    }

    /// Keeps the library in step with its team, if it is a team's.
    pub(crate) fn follow_team(&self) {
        self.exchange.team.start();
    }

    /// Opens the HTTP server for agents if it is switched on. A failure is stored and reported by its
    /// status.
    pub(crate) async fn open_agent_server(&self) {
        self.mcp.address.open().await;
    }

    /// Closes the HTTP server for agents for the rest of this process.
    pub(crate) async fn close_agent_server(&self) {
        self.mcp.address.close().await;
    }

    /// Returns a token that is cancelled when this engine begins to stop.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.workspace.stopping().child_token()
    }

    /// Returns what serves agents over MCP.
    pub(crate) fn gateway(&self) -> &Gateway {
        &self.mcp.gateway
    }

    /// Starts importing the tools of servers as if the servers were trusted. The servers are configured
    /// from then on, but never started.
    pub fn start_tool_import(&self, servers: BTreeMap<String, Vec<Tool>>) -> JobRef {
        self.connections.servers.start_tool_import(servers)
    }

    /// Returns why search uses keywords only, if there is no model.
    pub fn keyword_only_reason(&self) -> Option<String> {
        self.models.keyword_only_reason()
    }

    /// Runs one search as an agent would, in a new session.
    ///
    /// # Errors
    /// If the search fails.
    pub async fn search_as_agent(&self, query: &str) -> Result<Searched> {
        self.mcp.activity.search_as_agent(query).await
    }

    /// Returns the tokens of the tools that every agent session has.
    pub fn own_tokens(&self) -> u64 {
        self.mcp.activity.own_tokens()
    }

    /// Returns the tokens it would take to list every callable tool, as without a search.
    pub async fn static_tokens(&self) -> u64 {
        self.mcp.activity.static_tokens().await
    }

    /// Checks whether even the smallest change would be rejected now.
    ///
    /// # Errors
    /// `disk_full` or `read_only`.
    pub fn ensure_writable(&self) -> Result<()> {
        Ok(self.workspace.library.ensure_writable()?)
    }

    /// Cancels jobs and agent sessions, waits until they have stopped, and stops MCP servers. What is started from then on
    /// is cancelled as well.
    pub async fn stop_jobs(&self) {
        self.workspace.begin_shutdown();
        self.asking.agent.sessions.stop_all().await;
        self.workspace.jobs.stop_all().await;
        self.connections.servers.stop_all().await;
    }

    /// Returns a future that is true once a backup is to replace the library, and false when the engine is dropped.
    pub(crate) fn restore_request(&self) -> impl Future<Output = bool> + use<> {
        self.maintenance.backups.restore_request()
    }

    /// Returns the backup that is to replace the library, once.
    pub(crate) async fn take_staged(&self) -> Option<Staged> {
        self.maintenance.backups.take_staged().await
    }

    /// Flushes the store and closes it. Another process may own the directory as soon as the ownership is dropped.
    ///
    /// # Errors
    /// If the store cannot be flushed.
    pub fn close(&self) -> BoxFuture<'_, Result<Option<Ownership>>> {
        Box::pin(async move {
            self.asking.federation.close().await;
            // The model may still be loading, which keeps the library open.
            self.models.wait_until_ready().await;
            if self.workspace.library.read_only().is_none() {
                if let Err(error) = self.providers.save_spending().await {
                    tracing::error!(%error, "failed to save the spending on language models");
                }
                self.mcp.journal.close().await?;
                if let Err(error) = self.models.write_snapshots().await {
                    tracing::warn!(%error, "failed to write snapshots");
                }
            }
            self.workspace.library.close().await.map_err(ApiError::from)
        })
    }
}

#[async_trait]
impl Handle<GetStatus> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Status> {
        let model = self.models.model();
        let undoable = self.workspace.library.undoable().await?.map(|(_, reason)| reason);
        Ok(Status {
            version: crate::VERSION.to_owned(),
            data_dir: self
                .workspace
                .library
                .dir()
                .map_or_else(String::new, |dir| dir.root().display().to_string()),
            owner_pid: std::process::id(),
            cards: self.workspace.library.read(|replica| replica.len() as u32),
            embedded: self.models.searcher().index().embedded_count() as u32,
            model: model.name,
            model_state: model.state,
            model_error: model.error.map(|error| error.message),
            damage: self.workspace.damage(),
            read_only: self.workspace.read_only_reason().map(str::to_owned),
            first_run: self.workspace.first_run(),
            proposals: self.workspace.pending_proposals(),
            search: self.providers.services().search_name(),
            llm: self.providers.services().llm_name(),
            undoable,
            cursor: self.workspace.library.read(Replica::cursor),
            checks: self.workspace.library.checks_version(),
            migrated_from: self.workspace.library.migrated_from().map(|path| path.display().to_string()),
        })
    }
}

/// Returns the next event; [`Event::Missed`] if some were lost, and `None` once there are no more.
pub(crate) async fn next_event(events: &mut broadcast::Receiver<Event>) -> Option<Event> {
    match events.recv().await {
        Err(RecvError::Closed) => None,
        missed_or_next => Some(missed_or_next.unwrap_or(Event::Missed)),
    }
}
