//! The one list of commands.
//!
//! Each line names a command, what it takes and what it gives. From the list come the marker
//! types, [`dispatch`] for the hosts (which does not compile unless the engine handles every
//! command) and the TypeScript the window is built against.

use std::future::Future;

use autokit_error::{ApiError, ErrorCode, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ts_rs::{Config, TS};

use crate::{
    AcceptPreview, ActivityQuery, ActivityReport, AddFinding, AgentAsks, AgentClient, AgentQuestion,
    AgentSessions, AgentsHttp, AgentsHttpRef, AgentsHttpSet, Answer, ApiKey, ApiKeyRef, ApiKeySet, AskAnswer,
    AskRequest, AsksWait, AuditLog, AuditQuery, Backup, BundlePath, CardChange, CardCheck, CardCreate,
    CardDescribe, CardDetail, CardList, CardPage, CardRef, CardRestore, CardUpdate, CardVerification,
    CardsDelete, CardsPage, CardsQuery, CheckSettings, ClientConnected, ConnectClient, Doctor, DoctorRequest,
    Event, ExportOutcome, ExportPreview, ExportRequest, Facets, FeedbackRequest, ImportPreview,
    ImportPreviewRequest, ImportRef, ImportRequest, ImportView, Job, JobPause, JobRef, JobWait, KeyRef,
    KeyTrust, LibraryHealth, MarketFound, MarketInstall, MarketQuery, MarketRef, MarketSource,
    MarketSourceAdd, MarketSourceRef, ModelChoice, Models, Nothing, PagesFetch, Profile, ProfileChange,
    ProfileRef, Profiles, ProposalAccept, ProposalComment, ProposalDetail, ProposalLook, ProposalRef,
    ProposalReject, Proposals, ProposalsAccept, ProposalsQuery, ProposalsRef, ProviderSettings, Providers,
    ReviewPolicy, RevisionView, SearchRequest, SearchResponse, Server, ServerAdd, ServerRef, ServersRead,
    ServersText, Session, SessionNote, SessionRef, SessionWait, SetSecret, SigningKeys, Status, Subscribe,
    Subscription, SubscriptionRef, TestOutcome, TestRequest, ToolList, ToolOutcome, ToolRef, ToolRun,
    ToolRunStart, ToolView, ToolsQuery, UndoOutcome, VerifyStart,
};

/// Version of the protocol between processes. Raised when a command changes its shape.
pub const PROTOCOL: u32 = 8;

/// One entry of the list.
pub trait Command: Send + Sync + 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it takes.
    type Request: Serialize + DeserializeOwned + TS + Send + 'static;
    /// What it gives.
    type Response: Serialize + DeserializeOwned + TS + Send + 'static;
}

/// Who asks.
#[derive(Clone, Debug)]
pub struct Context {
    /// Key of this request: a host that asks again after losing the connection uses the same key
    /// and gets the first outcome instead of a second change.
    pub request: Option<String>,
    /// Who is making changes.
    pub author: String,
}

/// Carries out one command.
pub trait Handle<C: Command> {
    /// Carries it out.
    fn handle(
        &self,
        context: &Context,
        request: C::Request,
    ) -> impl Future<Output = Result<C::Response>> + Send;
}

macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $command:ident = $name:literal ($request:ty) -> $response:ty;)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug)]
            pub struct $command;
            impl Command for $command {
                const NAME: &'static str = $name;
                type Request = $request;
                type Response = $response;
            }
        )+

        /// The names of all commands.
        pub const NAMES: &[&str] = &[$($name),+];

        /// Carries out a command given by name and JSON: the one way into a host.
        ///
        /// # Errors
        /// The command's own error, or `bad_request` when the name or the body does not fit.
        pub async fn dispatch<H>(host: &H, context: &Context, name: &str, body: Value) -> Result<Value>
        where
            H: $(Handle<$command> +)+ Sync,
        {
            match name {
                $($name => answer::<$command, H>(host, context, body).await,)+
                _ => Err(ApiError::new(
                    ErrorCode::BadRequest,
                    format!("there is no command {name:?}"),
                    "Use the same version of AutoKit everywhere.",
                )),
            }
        }

        fn typescript_of_commands(types: &mut TypeScript) -> String {
            let mut lines = String::new();
            $(
                lines.push_str(&format!("  /**{} */\n", concat!($($doc),+)));
                lines.push_str(&format!(
                    "  {}: {{ request: {}; response: {} }};\n",
                    $name,
                    types.name::<$request>(),
                    types.name::<$response>(),
                ));
            )+
            lines
        }
    };
}

commands! {
    /// What the shell shows.
    GetStatus = "status_get" (Nothing) -> Status;
    /// The best tools for a request in words, with why.
    Ask = "answers_get" (AskRequest) -> Answer;
    /// Ranked cards with the parts of their scores.
    Search = "cards_search" (SearchRequest) -> SearchResponse;
    /// A window into the list of cards.
    ListCards = "cards_list" (CardList) -> CardsPage;
    /// What can be filtered by.
    GetFacets = "cards_facets" (CardsQuery) -> Facets;
    /// Everything about one card.
    GetCard = "cards_get" (CardRef) -> CardDetail;
    /// What is wrong with fields as a card, before they are saved.
    CheckCard = "cards_validate" (CardCheck) -> Vec<autokit_toolcard::Problem>;
    /// Adds a card.
    CreateCard = "cards_create" (CardCreate) -> CardDetail;
    /// Replaces the fields of a card.
    UpdateCard = "cards_update" (CardUpdate) -> CardDetail;
    /// Removes cards in one undoable change.
    DeleteCards = "cards_delete" (CardsDelete) -> CardChange;
    /// The revisions of a card, newest first, each with what it changed.
    GetHistory = "cards_history" (CardRef) -> Vec<RevisionView>;
    /// Brings a revision back; also revives a deleted card.
    RestoreCard = "cards_restore" (CardRestore) -> CardDetail;
    /// Takes the newest change back.
    Undo = "changes_undo" (Nothing) -> UndoOutcome;
    /// What an import would do.
    PreviewImport = "imports_preview" (ImportPreviewRequest) -> ImportPreview;
    /// Imports cards in the background, as one undoable change.
    StartImport = "imports_start" (ImportRequest) -> JobRef;
    /// Loads the cards AutoKit comes with.
    LoadStarter = "starter_load" (Nothing) -> JobRef;
    /// The imports that were made, newest first.
    ListImports = "imports_list" (Nothing) -> Vec<ImportView>;
    /// Takes an import back, with everything that was decided about it since.
    UndoImport = "imports_undo" (ImportRef) -> UndoOutcome;
    /// What would leave with an export.
    PreviewExport = "exports_preview" (ExportRequest) -> ExportPreview;
    /// Writes cards as a bundle or a file of another format.
    Export = "exports_write" (ExportRequest) -> ExportOutcome;
    /// Bundles that are looked at for newer versions.
    ListSubscriptions = "subscriptions_list" (Nothing) -> Vec<Subscription>;
    /// Looks at a bundle for newer versions from now on, and at once.
    AddSubscription = "subscriptions_add" (Subscribe) -> Vec<Subscription>;
    /// Looks at it no more; what came from it stays.
    RemoveSubscription = "subscriptions_remove" (SubscriptionRef) -> Vec<Subscription>;
    /// Looks at all of them now.
    CheckSubscriptions = "subscriptions_check" (Nothing) -> JobRef;
    /// Signs a bundle that is there, with one's own key.
    SignBundle = "bundles_sign" (BundlePath) -> ExportOutcome;
    /// The keys that sign bundles: one's own, and those that were seen.
    ListKeys = "bundle_keys_list" (Nothing) -> SigningKeys;
    /// Makes a key of one's own, if there is none.
    MakeKey = "bundle_keys_create" (Nothing) -> SigningKeys;
    /// Says whether somebody's key counts.
    SetKeyTrust = "bundle_keys_trust" (KeyTrust) -> SigningKeys;
    /// Forgets a key that was seen.
    ForgetKey = "bundle_keys_forget" (KeyRef) -> SigningKeys;
    /// Jobs at work and lately finished, newest first.
    ListJobs = "jobs_list" (Nothing) -> Vec<Job>;
    /// Waits for news of a job.
    WaitJob = "jobs_wait" (JobWait) -> Job;
    /// Stops a job.
    CancelJob = "jobs_cancel" (JobRef) -> Job;
    /// Lets a job wait or go on.
    PauseJob = "jobs_pause" (JobPause) -> Job;
    /// Checks cards against their pages in the background; what should change waits in Review.
    StartVerify = "checks_start" (VerifyStart) -> JobRef;
    /// The newest check of a card.
    GetVerification = "checks_get" (CardRef) -> CardVerification;
    /// When cards are checked without being asked to.
    GetCheckSettings = "check_settings_get" (Nothing) -> CheckSettings;
    /// Sets when cards are checked without being asked to.
    SetCheckSettings = "check_settings_set" (CheckSettings) -> CheckSettings;
    /// The embedding models on offer.
    ListModels = "models_list" (Nothing) -> Models;
    /// Fetches a model's files in the background.
    PullModel = "models_pull" (ModelChoice) -> JobRef;
    /// Switches to a model: vectors are made in the background, the old ones serve until then.
    UseModel = "models_use" (ModelChoice) -> JobRef;
    /// Asks the agent: the library first, the web when the library has nothing.
    StartAsk = "sessions_ask" (AgentQuestion) -> SessionRef;
    /// Looks for a tool on the web alone.
    StartDiscover = "sessions_discover" (AgentQuestion) -> SessionRef;
    /// Waits for news of a session.
    WaitSession = "sessions_wait" (SessionWait) -> Session;
    /// Stops what a session is at.
    CancelSession = "sessions_cancel" (SessionRef) -> Session;
    /// A session as it stands, also a past one.
    GetSession = "sessions_get" (SessionRef) -> Session;
    /// Past sessions, newest first.
    ListSessions = "sessions_list" (Nothing) -> Vec<SessionNote>;
    /// Says whether the last answer of a session helps: yes gives starter code, no asks again.
    GiveFeedback = "sessions_feedback" (FeedbackRequest) -> Session;
    /// Proposes a tool found on the web as a card.
    ProposeFinding = "findings_propose" (AddFinding) -> ProposalDetail;
    /// Proposes a card made from words that describe a tool.
    DescribeCard = "cards_describe" (CardDescribe) -> ProposalDetail;
    /// The review queue.
    ListProposals = "proposals_list" (ProposalsQuery) -> Proposals;
    /// Everything about a proposal.
    GetProposal = "proposals_get" (ProposalLook) -> ProposalDetail;
    /// Takes a proposal over, whole or in part.
    AcceptProposal = "proposals_accept" (ProposalAccept) -> ProposalDetail;
    /// Turns a proposal down.
    RejectProposal = "proposals_reject" (ProposalReject) -> ProposalDetail;
    /// Takes the decision on a proposal back.
    ReopenProposal = "proposals_reopen" (ProposalRef) -> ProposalDetail;
    /// Says something about a proposal, which decides nothing.
    CommentProposal = "proposals_comment" (ProposalComment) -> ProposalDetail;
    /// What accepting the safe ones among some proposals would change.
    PreviewAccept = "proposals_preview" (ProposalsRef) -> AcceptPreview;
    /// Accepts the safe ones in the background, as previewed and as one undoable change.
    AcceptProposals = "proposals_accept_safe" (ProposalsAccept) -> JobRef;
    /// How this library is reviewed.
    GetReviewPolicy = "review_policy_get" (Nothing) -> ReviewPolicy;
    /// Chooses how this library is reviewed.
    SetReviewPolicy = "review_policy_set" (ReviewPolicy) -> ReviewPolicy;
    /// How many cards are verified, stale, broken, unreachable or never checked, and the trend.
    GetHealth = "health_get" (Nothing) -> LibraryHealth;
    /// Reads documentation pages of cards in the background.
    FetchPages = "pages_fetch" (PagesFetch) -> JobRef;
    /// The documentation page of a card as last read.
    GetPage = "pages_get" (CardRef) -> CardPage;
    /// The services in use.
    GetProviders = "providers_get" (Nothing) -> Providers;
    /// Chooses services; takes effect at once.
    SetProviders = "providers_set" (ProviderSettings) -> Providers;
    /// Begins the count of what language models cost anew.
    ResetSpending = "spending_reset" (Nothing) -> Providers;
    /// Keeps a key, or takes it away.
    KeepSecret = "secrets_set" (SetSecret) -> Providers;
    /// Tries a connection with one real request.
    TestConnection = "providers_test" (TestRequest) -> TestOutcome;
    /// The MCP servers behind AutoKit.
    ListServers = "servers_list" (Nothing) -> Vec<Server>;
    /// Adds an MCP server, or changes one, and looks at its tools: they wait in Review unless it is trusted.
    AddServer = "servers_add" (ServerAdd) -> JobRef;
    /// The MCP servers in the settings of a program, as they would be added.
    ReadServers = "servers_read" (ServersText) -> ServersRead;
    /// Stops an MCP server and forgets it; the cards of its tools stay.
    RemoveServer = "servers_remove" (ServerRef) -> Vec<Server>;
    /// Looks again at the tools of an MCP server.
    RefreshServer = "servers_refresh" (ServerRef) -> JobRef;
    /// Where tools are looked for that are not here yet.
    ListMarketSources = "market_sources_list" (Nothing) -> Vec<MarketSource>;
    /// Looks for tools there from now on: a registry of MCP servers, or a published bundle. The words that are
    /// searched for are sent there, also those of agents.
    AddMarketSource = "market_sources_add" (MarketSourceAdd) -> Vec<MarketSource>;
    /// Looks there no more; what was installed from it stays.
    RemoveMarketSource = "market_sources_remove" (MarketSourceRef) -> Vec<MarketSource>;
    /// What the sources have for a request in words.
    SearchMarket = "market_search" (MarketQuery) -> MarketFound;
    /// What installing would do, as a request to confirm; nothing is done.
    InstallFromMarket = "market_install" (MarketRef) -> MarketInstall;
    /// What agents did: sessions, searches, calls, how long they took, what they cost.
    GetActivity = "activity_get" (ActivityQuery) -> ActivityReport;
    /// What agents called, who let them, and what came of it.
    GetAudit = "audit_list" (AuditQuery) -> AuditLog;
    /// The profiles of agents, and how their sessions are kept.
    ListProfiles = "profiles_list" (Nothing) -> Profiles;
    /// Adds a profile, or replaces the one of its name.
    SetProfile = "profiles_set" (Profile) -> Profiles;
    /// Changes a profile that is still what it was when it was looked at; `conflict` when it is not.
    ChangeProfile = "profiles_change" (ProfileChange) -> Profiles;
    /// Removes a profile; agents that name it are refused from then on.
    RemoveProfile = "profiles_remove" (ProfileRef) -> Profiles;
    /// Sets how the sessions of agents are kept.
    SetAgentSessions = "agent_sessions_set" (AgentSessions) -> Profiles;
    /// Waits for calls of agents that need a person's word.
    WaitAsks = "approvals_wait" (AsksWait) -> AgentAsks;
    /// Gives a person's word on a call of an agent.
    AnswerAsk = "approvals_answer" (AskAnswer) -> AgentAsks;
    /// The tools that can be called from here, with whether agents may.
    ListTools = "tools_list" (ToolsQuery) -> ToolList;
    /// One of them, with what it takes.
    GetTool = "tools_get" (ToolRef) -> ToolView;
    /// Calls one for the person, or says what has to be allowed first.
    RunTool = "tools_run" (ToolRun) -> ToolRunStart;
    /// What a tool answered whose job is done.
    GetToolOutcome = "tools_outcome" (JobRef) -> ToolOutcome;
    /// The keys for web APIs: those that are kept, and those that operations in the library want.
    ListApiKeys = "api_keys_list" (Nothing) -> Vec<ApiKey>;
    /// Keeps a key for a web API.
    SetApiKey = "api_keys_set" (ApiKeySet) -> Vec<ApiKey>;
    /// Forgets a key for a web API.
    RemoveApiKey = "api_keys_remove" (ApiKeyRef) -> Vec<ApiKey>;
    /// The programs agents run in, and what connecting AutoKit would change in their settings.
    ListClients = "clients_list" (Nothing) -> Vec<AgentClient>;
    /// Puts AutoKit among the MCP servers of a program, as previewed; the file as it was is kept beside.
    ConnectAgent = "clients_connect" (ConnectClient) -> ClientConnected;
    /// Takes AutoKit out of the MCP servers of a program, as previewed; the file as it was is kept beside.
    DisconnectAgent = "clients_disconnect" (ConnectClient) -> ClientConnected;
    /// The address for agents that cannot start a program.
    GetAgentsHttp = "mcp_http_get" (AgentsHttpRef) -> AgentsHttp;
    /// Switches it on or off, or gives it another port.
    SetAgentsHttp = "mcp_http_set" (AgentsHttpSet) -> AgentsHttp;
    /// Gives it another token; who has the one before is refused from then on.
    RenewAgentsHttp = "mcp_http_renew" (AgentsHttpRef) -> AgentsHttp;
    /// The backups of this library, newest first.
    ListBackups = "backups_list" (Nothing) -> Vec<Backup>;
    /// Makes a backup and verifies it.
    CreateBackup = "backups_create" (Nothing) -> Backup;
    /// Goes on without the acknowledged changes that are missing: they are reported no more.
    AcceptMissingChanges = "missing_changes_accept" (Nothing) -> Nothing;
    /// Looks the installation over.
    RunDoctor = "diagnostics_run" (DoctorRequest) -> Doctor;
}

async fn answer<C: Command, H: Handle<C>>(host: &H, context: &Context, body: Value) -> Result<Value> {
    let request: C::Request = serde_json::from_value(body).map_err(|error| {
        ApiError::new(
            ErrorCode::BadRequest,
            format!("the request for {} does not fit: {error}", C::NAME),
            "Use the same version of AutoKit everywhere.",
        )
    })?;
    let response = host.handle(context, request).await?;
    serde_json::to_value(response).map_err(|error| ApiError::internal(error.to_string()))
}

/// Collects declarations while the list is written out.
struct TypeScript {
    config: Config,
    declarations: std::collections::BTreeMap<String, String>,
}

impl TypeScript {
    fn name<T: TS + 'static>(&mut self) -> String {
        self.add::<T>();
        T::name(&self.config)
    }

    fn add<T: TS + 'static>(&mut self) {
        self.declare::<T>();
        T::visit_dependencies(&mut Visit(self));
        T::visit_generics(&mut Visit(self));
    }

    /// Declares a named type of ours and every named type it uses. Types without a name end the
    /// walk: JSON values contain themselves.
    fn declare<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        let docs = T::docs().unwrap_or_default();
        let declaration = format!("{docs}export {}", T::decl_concrete(&self.config));
        if let Some(known) = self.declarations.get(&name) {
            assert!(
                *known == declaration,
                "two types are called {name}; give one another name for TypeScript"
            );
            return;
        }
        self.declarations.insert(name, declaration);
        T::visit_dependencies(&mut Visit(self));
        T::visit_generics(&mut Visit(self));
    }
}

/// Walks from a type to those it uses.
struct Visit<'a>(&'a mut TypeScript);

impl ts_rs::TypeVisitor for Visit<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.0.declare::<T>();
    }
}

/// The TypeScript of every command and every type it uses, as committed in the window's sources.
pub fn typescript() -> String {
    let mut types = TypeScript { config: Config::default(), declarations: std::collections::BTreeMap::new() };
    let commands = typescript_of_commands(&mut types);
    types.add::<Event>();
    types.add::<ApiError>();
    let mut out = format!(
        "// Written by `cargo xtask bindings` from the list of commands in autokit-api. Do not edit.\n\n\
         /** Version of the protocol of the loopback host. */\nexport const PROTOCOL = {};\n\n\
         /** How the sessions of agents are kept where nobody said otherwise. */\nexport const SESSION_DEFAULTS: AgentSessions = {};\n\n",
        PROTOCOL,
        serde_json::to_string_pretty(&AgentSessions::default()).expect("numbers and texts are JSON")
    );
    for declaration in types.declarations.values() {
        out.push_str(declaration);
        out.push_str("\n\n");
    }
    out.push_str(
        "/** Every command by name, with what it takes and gives. */\nexport interface Commands {\n",
    );
    out.push_str(&commands);
    out.push_str("}\n");
    out
}
