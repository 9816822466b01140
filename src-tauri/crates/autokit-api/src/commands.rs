//! The list of commands.
//!
//! Each line gives the name of a command with its request and its response. The list generates the marker
//! types, [`dispatch`] for the hosts (which compiles only if the engine handles every command) and the
//! TypeScript declarations of the window.

use async_trait::async_trait;
use autokit_error::{ApiError, ErrorCode, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ts_rs::{Config, TS};

use crate::{
    AcceptPreview, ActivityQuery, ActivityReport, AddFinding, AgentClient, AgentQuestion, AgentSessions,
    AgentsHttp, AgentsHttpRef, AgentsHttpSet, Answer, ApiKey, ApiKeyRef, ApiKeySet, ApprovalAnswer,
    ApprovalRequests, ApprovalsWait, AskRequest, AuditLog, AuditQuery, Backup, BackupContents, BackupRef,
    BundlePath, CardChange, CardCheck, CardCreate, CardDescribe, CardDetail, CardList, CardPage, CardRef,
    CardRestore, CardSharing, CardUpdate, CardVerification, CardsDelete, CardsEdit, CardsMerge, CardsPage,
    CardsQuery, CheckSettings, ClientConnected, CodeTools, CodeToolsPropose, CodeToolsQuery, Collection,
    CollectionChange, CollectionRef, CollectionRename, ConnectClient, Doctor, DoctorRequest, Duplicates,
    Event, ExportOutcome, ExportPreview, ExportRequest, Facets, FeedbackRequest, GenerateRequest,
    GeneratedToolList, Generation, GenerationRef, ImportPreview, ImportPreviewRequest, ImportRef,
    ImportRequest, ImportView, Job, JobPause, JobRef, JobWait, KeyRef, KeyTrust, LanguageModelsQuery,
    LibrariesFound, LibrariesQuery, LibraryEntry, LibraryHealth, LibrarySet, MacroPropose, MacroProposed,
    MarketFound, MarketInstall, MarketQuery, MarketRef, MarketSource, MarketSourceAdd, MarketSourceRef,
    MemoryAdd, MemoryFound, MemoryListQuery, MemoryQuery, MemorySourceRef, MemorySources, MergePreview,
    MergeQuery, ModelChoice, Models, NewCards, Nothing, PagesFetch, PairRef, Personalization,
    PersonalizationExport, PersonalizationProfiles, PersonalizationSet, Profile, ProfileChange, ProfileRef,
    Profiles, ProposalAccept, ProposalAssign, ProposalComment, ProposalDetail, ProposalGet, ProposalRef,
    ProposalReject, Proposals, ProposalsAccept, ProposalsQuery, ProposalsRef, ProviderSettings, Providers,
    RecordedCalls, RedoRequest, RefineRequest, RefineStart, RefineState, ResearchRequest, RetirementProposed,
    ReviewPolicy, RevisionView, SearchRequest, SearchResponse, SecretSet, Server, ServerAdd, ServerRef,
    ServersRead, ServersText, Session, SessionNote, SessionRef, SessionWait, SessionsDelete, ShareCards,
    SigningKeys, Starter, Status, Subscription, SubscriptionAdd, SubscriptionRef, TeamActivityEntry,
    TeamActivityRequest, TeamAuditEntry, TeamAuditRequest, TeamCards, TeamCreate, TeamDirectory, TeamEntry,
    TeamFileOutcome, TeamFileRequest, TeamInvitation, TeamInvite, TeamJoin, TeamKept, TeamMemberChange,
    TeamMembers, TeamMove, TeamPolicy, TeamRef, TeamState, TeamUnsent, TeamUpgrade, TestOutcome, TestRequest,
    ToolList, ToolOutcome, ToolRef, ToolRun, ToolRunStart, ToolView, ToolsQuery, UndoOutcome, UndoRequest,
    VariantAdd, VariantContests, VariantSet, VariantsEnd, VariantsEnded, VerifyStart, VocabularyChanged,
    VocabularyList, VocabularyQuery, VocabularyRemove, VocabularyRemoved, VocabularySet,
};

/// Version of the protocol between processes. Incremented when a command changes its shape.
pub const PROTOCOL: u32 = 27;

/// Returns whether a command may be executed again when it is unknown whether it was. Those with effects outside the library
/// may not; changes of the library are recognized by their idempotency key.
pub fn is_repeatable(name: &str) -> bool {
    name != RunTool::NAME
}

/// Command in the list.
pub trait Command: Send + Sync + 'static {
    /// Name of the command in the protocol.
    const NAME: &'static str;
    /// Type of its request.
    type Request: Serialize + DeserializeOwned + TS + Send + 'static;
    /// Type of its response.
    type Response: Serialize + DeserializeOwned + TS + Send + 'static;

    /// Converts a request to JSON.
    ///
    /// # Errors
    /// `internal` if it has no JSON form.
    fn request_to_json(request: &Self::Request) -> Result<Value>;

    /// Reads a request from JSON.
    ///
    /// # Errors
    /// `bad_request` if the JSON has another shape.
    fn request_from_json(json: Value) -> Result<Self::Request>;

    /// Converts a response to JSON.
    ///
    /// # Errors
    /// `internal` if it has no JSON form.
    fn response_to_json(response: &Self::Response) -> Result<Value>;

    /// Reads a response from JSON.
    ///
    /// # Errors
    /// `internal` if the JSON has another shape.
    fn response_from_json(json: Value) -> Result<Self::Response>;
}

/// Caller of a command.
#[derive(Clone, Debug)]
pub struct Context {
    /// Idempotency key. A host that repeats a request after a lost connection sends the same key, and gets
    /// the first result instead of a second change.
    pub request: Option<String>,
    /// Author recorded for changes.
    pub author: String,
}

/// Handler of one command.
///
/// The future is boxed, so that its code is generated in the crate of the handler and not once more in every
/// crate that calls it.
#[async_trait]
pub trait Handle<C: Command> {
    /// Runs the command.
    async fn handle(&self, context: &Context, request: C::Request) -> Result<C::Response>;
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

                // Here and not in provided methods, so that the code of each type is generated in this crate.
                fn request_to_json(request: &$request) -> Result<Value> {
                    serde_json::to_value(request).map_err(|error| no_json($name, &error))
                }

                fn request_from_json(json: Value) -> Result<$request> {
                    serde_json::from_value(json).map_err(|error| wrong_request($name, &error))
                }

                fn response_to_json(response: &$response) -> Result<Value> {
                    serde_json::to_value(response).map_err(|error| no_json($name, &error))
                }

                fn response_from_json(json: Value) -> Result<$response> {
                    serde_json::from_value(json).map_err(|error| no_json($name, &error))
                }
            }
        )+

        /// Names of all commands.
        pub const NAMES: &[&str] = &[$($name),+];

        /// Runs the command of this name with a JSON request. Every host calls the engine through this
        /// function.
        ///
        /// # Errors
        /// The command's own error, or `bad_request` for an unknown name or a request of the wrong shape.
        pub async fn dispatch<H>(host: &H, context: &Context, name: &str, body: Value) -> Result<Value>
        where
            H: $(Handle<$command> +)+ Sync,
        {
            match name {
                $($name => answer::<$command, H>(host, context, body).await,)+
                _ => Err(ApiError::new(
                    ErrorCode::BadRequest,
                    format!("unknown command {name:?}"),
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
    /// Returns the status of the program.
    GetStatus = "status_get" (Nothing) -> Status;
    /// Returns the tools that best match a question, with reasons.
    Ask = "answers_get" (AskRequest) -> Answer;
    /// Returns ranked cards with the components of their scores.
    Search = "cards_search" (SearchRequest) -> SearchResponse;
    /// Returns the libraries that can be searched together, the open one first.
    ListLibraries = "libraries_list" (Nothing) -> Vec<LibraryEntry>;
    /// Includes a library in searches of all libraries, or not.
    SetLibrarySearched = "libraries_set" (LibrarySet) -> Vec<LibraryEntry>;
    /// Returns results from all included libraries in one ranking.
    SearchLibraries = "libraries_search" (LibrariesQuery) -> LibrariesFound;
    /// Returns a page of the list of cards.
    ListCards = "cards_list" (CardList) -> CardsPage;
    /// Returns the available filter values with their counts.
    GetFacets = "cards_facets" (CardsQuery) -> Facets;
    /// Returns all fields of a card.
    GetCard = "cards_get" (CardRef) -> CardDetail;
    /// Returns code with which a program starts to use a card's tool: what to install, which variables to set, and one
    /// call.
    GetStarter = "cards_starter" (CardRef) -> Option<Starter>;
    /// Validates the fields of a card without saving them.
    CheckCard = "cards_validate" (CardCheck) -> Vec<autokit_toolcard::Problem>;
    /// Adds a card.
    CreateCard = "cards_create" (CardCreate) -> CardDetail;
    /// Replaces the fields of a card.
    UpdateCard = "cards_update" (CardUpdate) -> CardDetail;
    /// Edits several cards in one change, which can be undone.
    EditCards = "cards_edit" (CardsEdit) -> CardChange;
    /// Deletes cards in one change, which can be undone.
    DeleteCards = "cards_delete" (CardsDelete) -> CardChange;
    /// Starts looking for cards that may describe the same tool, by what they share and by meaning.
    FindDuplicates = "duplicates_find" (Nothing) -> JobRef;
    /// Returns the pairs of cards that the newest search found, without those that were dismissed.
    ListDuplicates = "duplicates_list" (Nothing) -> Duplicates;
    /// Stores that two cards are different tools, or that they may be one.
    DismissDuplicates = "duplicates_dismiss" (PairRef) -> Nothing;
    /// Returns two cards and what merging them would save.
    PreviewMerge = "cards_merge_preview" (MergeQuery) -> MergePreview;
    /// Merges a card into another one, in one change that can be undone. Collections of the removed card contain the
    /// other one from then on.
    MergeCards = "cards_merge" (CardsMerge) -> CardChange;
    /// Returns the revisions of a card with their changes, newest first.
    GetHistory = "cards_history" (CardRef) -> Vec<RevisionView>;
    /// Restores a revision of a card, or a deleted card.
    RestoreCard = "cards_restore" (CardRestore) -> CardDetail;
    /// Returns the favorites and the other collections of cards.
    ListCollections = "collections_list" (Nothing) -> Vec<Collection>;
    /// Adds cards to a collection, or takes them out of it.
    ChangeCollection = "collections_change" (CollectionChange) -> Vec<Collection>;
    /// Renames a collection.
    RenameCollection = "collections_rename" (CollectionRename) -> Vec<Collection>;
    /// Removes a collection. Its cards are kept.
    RemoveCollection = "collections_remove" (CollectionRef) -> Vec<Collection>;
    /// Undoes a change, or the newest one that is not an import.
    Undo = "changes_undo" (UndoRequest) -> UndoOutcome;
    /// Redoes a change that was undone, or the newest one.
    Redo = "changes_redo" (RedoRequest) -> UndoOutcome;
    /// Returns a preview of an import.
    PreviewImport = "imports_preview" (ImportPreviewRequest) -> ImportPreview;
    /// Imports cards in the background, in one change, which can be undone.
    StartImport = "imports_start" (ImportRequest) -> JobRef;
    /// Imports the starter cards that ship with AutoKit.
    LoadStarter = "starter_load" (Nothing) -> JobRef;
    /// Returns past imports, newest first.
    ListImports = "imports_list" (Nothing) -> Vec<ImportView>;
    /// Undoes an import, including the decisions made about it since.
    UndoImport = "imports_undo" (ImportRef) -> UndoOutcome;
    /// Returns a preview of an export.
    PreviewExport = "exports_preview" (ExportRequest) -> ExportPreview;
    /// Exports cards as a bundle or in another format.
    Export = "exports_write" (ExportRequest) -> ExportOutcome;
    /// Returns the subscriptions to bundles.
    ListSubscriptions = "subscriptions_list" (Nothing) -> Vec<Subscription>;
    /// Subscribes to a bundle: checks it for newer versions at once and regularly.
    AddSubscription = "subscriptions_add" (SubscriptionAdd) -> Vec<Subscription>;
    /// Unsubscribes from a bundle. Cards that came from it are kept.
    RemoveSubscription = "subscriptions_remove" (SubscriptionRef) -> Vec<Subscription>;
    /// Checks all subscriptions now.
    CheckSubscriptions = "subscriptions_check" (Nothing) -> JobRef;
    /// Signs an existing bundle with the person's own key.
    SignBundle = "bundles_sign" (BundlePath) -> ExportOutcome;
    /// Returns the keys that sign bundles: the person's own, and known keys of others.
    ListKeys = "bundle_keys_list" (Nothing) -> SigningKeys;
    /// Creates the person's own key, if there is none.
    MakeKey = "bundle_keys_create" (Nothing) -> SigningKeys;
    /// Marks a key as trusted or not trusted.
    SetKeyTrust = "bundle_keys_trust" (KeyTrust) -> SigningKeys;
    /// Deletes a known key.
    ForgetKey = "bundle_keys_forget" (KeyRef) -> SigningKeys;
    /// Returns running and recent jobs, newest first.
    ListJobs = "jobs_list" (Nothing) -> Vec<Job>;
    /// Waits until a job changes.
    WaitJob = "jobs_wait" (JobWait) -> Job;
    /// Cancels a job.
    CancelJob = "jobs_cancel" (JobRef) -> Job;
    /// Pauses or resumes a job.
    PauseJob = "jobs_pause" (JobPause) -> Job;
    /// Checks cards against their pages in the background. Corrections wait in Review.
    StartVerify = "checks_start" (VerifyStart) -> JobRef;
    /// Returns the last check of a card.
    GetVerification = "checks_get" (CardRef) -> CardVerification;
    /// Returns the settings of automatic checks.
    GetCheckSettings = "check_settings_get" (Nothing) -> CheckSettings;
    /// Changes the settings of automatic checks.
    SetCheckSettings = "check_settings_set" (CheckSettings) -> CheckSettings;
    /// Returns the available embedding models.
    ListModels = "models_list" (Nothing) -> Models;
    /// Downloads a model in the background.
    PullModel = "models_pull" (ModelChoice) -> JobRef;
    /// Switches to a model. Cards are embedded again in the background; the old embeddings are used until
    /// then.
    UseModel = "models_use" (ModelChoice) -> JobRef;
    /// Asks the agent: the library first, then the web if the library has no answer.
    StartAsk = "sessions_ask" (AgentQuestion) -> SessionRef;
    /// Searches the web for a tool, without the library.
    StartDiscover = "sessions_discover" (AgentQuestion) -> SessionRef;
    /// Researches a question over the library, documents, code and the web, or continues a research.
    StartResearch = "sessions_research" (ResearchRequest) -> SessionRef;
    /// Waits until a session changes.
    WaitSession = "sessions_wait" (SessionWait) -> Session;
    /// Cancels the running turn of a session.
    CancelSession = "sessions_cancel" (SessionRef) -> Session;
    /// Returns the current state of a session, or a past one.
    GetSession = "sessions_get" (SessionRef) -> Session;
    /// Returns past sessions, newest first.
    ListSessions = "sessions_list" (Nothing) -> Vec<SessionNote>;
    /// Deletes past sessions and returns the others. What search learned from feedback on them is kept.
    DeleteSessions = "sessions_delete" (SessionsDelete) -> Vec<SessionNote>;
    /// Records whether the last answer of a session helped: if so, starter code is generated, otherwise the
    /// question is asked again.
    GiveFeedback = "sessions_feedback" (FeedbackRequest) -> Session;
    /// Proposes a tool found on the web as a card.
    ProposeFinding = "findings_propose" (AddFinding) -> ProposalDetail;
    /// Proposes a card drafted from a description.
    DescribeCard = "cards_describe" (CardDescribe) -> ProposalDetail;
    /// Returns the review queue.
    ListProposals = "proposals_list" (ProposalsQuery) -> Proposals;
    /// Returns the details of a proposal.
    GetProposal = "proposals_get" (ProposalGet) -> ProposalDetail;
    /// Accepts a proposal, in whole or in part.
    AcceptProposal = "proposals_accept" (ProposalAccept) -> ProposalDetail;
    /// Rejects a proposal.
    RejectProposal = "proposals_reject" (ProposalReject) -> ProposalDetail;
    /// Undoes the decision on a proposal.
    ReopenProposal = "proposals_reopen" (ProposalRef) -> ProposalDetail;
    /// Adds a comment to a proposal.
    CommentProposal = "proposals_comment" (ProposalComment) -> ProposalDetail;
    /// Says who reviews a proposal of a team.
    AssignProposal = "proposals_assign" (ProposalAssign) -> ProposalDetail;
    /// Returns a preview of accepting those of several proposals that are safe.
    PreviewAccept = "proposals_preview" (ProposalsRef) -> AcceptPreview;
    /// Accepts the previewed proposals in the background, in one change, which can be undone.
    AcceptProposals = "proposals_accept_safe" (ProposalsAccept) -> JobRef;
    /// Returns the review policy.
    GetReviewPolicy = "review_policy_get" (Nothing) -> ReviewPolicy;
    /// Changes the review policy.
    SetReviewPolicy = "review_policy_set" (ReviewPolicy) -> ReviewPolicy;
    /// Returns the number of cards that are verified, stale, broken, unreachable or never checked, with the
    /// trend.
    GetHealth = "health_get" (Nothing) -> LibraryHealth;
    /// Fetches documentation pages of cards in the background.
    FetchPages = "pages_fetch" (PagesFetch) -> JobRef;
    /// Returns the documentation page of a card, as last fetched.
    GetPage = "pages_get" (CardRef) -> CardPage;
    /// Adds documents or code, and reads them in the background.
    AddMemory = "memory_add" (MemoryAdd) -> JobRef;
    /// Lists the documents and code that were added.
    ListMemory = "memory_list" (MemoryListQuery) -> MemorySources;
    /// Reads a source again in the background; files that did not change are skipped.
    RefreshMemory = "memory_refresh" (MemorySourceRef) -> JobRef;
    /// Removes a source with all that was read from it.
    RemoveMemory = "memory_remove" (MemorySourceRef) -> Nothing;
    /// Searches documents or code.
    SearchMemory = "memory_search" (MemoryQuery) -> MemoryFound;
    /// Lists the public functions and commands of a repository that the library has no card for.
    ListCodeTools = "code_tools_list" (CodeToolsQuery) -> CodeTools;
    /// Proposes cards for the public functions and commands of a repository.
    ProposeCodeTools = "code_tools_propose" (CodeToolsPropose) -> JobRef;
    /// Lists recent calls of which one tool can be made.
    ListRecordedCalls = "macros_list" (Nothing) -> RecordedCalls;
    /// Proposes a tool made of recorded calls.
    ProposeMacro = "macros_propose" (MacroPropose) -> MacroProposed;
    /// Returns needs, and the tools that were composed or written for them.
    ListGeneratedTools = "generated_list" (Nothing) -> GeneratedToolList;
    /// Has a tool written by a language model, checked in the sandbox and proposed.
    GenerateTool = "generated_start" (GenerateRequest) -> JobRef;
    /// Returns what was written, and its checks.
    GetGeneration = "generated_get" (GenerationRef) -> Generation;
    /// Proposes that a composed or written tool can no longer be called.
    RetireTool = "generated_retire" (CardRef) -> RetirementProposed;
    /// Returns the descriptions of tools that compete.
    ListVariants = "variants_list" (Nothing) -> VariantContests;
    /// Lets another description of a tool compete with its own.
    AddVariant = "variants_add" (VariantAdd) -> Nothing;
    /// Withdraws a description from a contest, or lets it compete again.
    SetVariant = "variants_set" (VariantSet) -> Nothing;
    /// Ends a contest, and proposes one of the descriptions for the card.
    EndVariants = "variants_end" (VariantsEnd) -> VariantsEnded;
    /// Refines the documentation of tools by trial calls, or returns what would be called.
    StartRefine = "refine_start" (RefineRequest) -> RefineStart;
    /// Returns what an interrupted run of trial calls has left.
    GetRefineState = "refine_get" (Nothing) -> RefineState;
    /// Returns the settings and status of services.
    GetProviders = "providers_get" (Nothing) -> Providers;
    /// Changes the settings of services, with immediate effect.
    SetProviders = "providers_set" (ProviderSettings) -> Providers;
    /// Resets the spending on language models to zero.
    ResetSpending = "spending_reset" (Nothing) -> Providers;
    /// Sets or removes an API key.
    SetSecret = "secrets_set" (SecretSet) -> Providers;
    /// Returns the names of the models that a service offers, sorted.
    ListLanguageModels = "providers_models" (LanguageModelsQuery) -> Vec<String>;
    /// Tests a connection with one real request.
    TestConnection = "providers_test" (TestRequest) -> TestOutcome;
    /// Returns the MCP servers behind AutoKit.
    ListServers = "servers_list" (Nothing) -> Vec<Server>;
    /// Adds or changes an MCP server and scans its tools, which wait in Review unless the server is
    /// trusted.
    AddServer = "servers_add" (ServerAdd) -> JobRef;
    /// Returns the MCP servers in the settings of a client program, as they would be added.
    ReadServers = "servers_read" (ServersText) -> ServersRead;
    /// Stops and removes an MCP server. The cards of its tools are kept.
    RemoveServer = "servers_remove" (ServerRef) -> Vec<Server>;
    /// Scans the tools of an MCP server again.
    RefreshServer = "servers_refresh" (ServerRef) -> JobRef;
    /// Returns the sources of tools that can be installed.
    ListMarketSources = "market_sources_list" (Nothing) -> Vec<MarketSource>;
    /// Adds a source: a registry of MCP servers, or a published bundle. Search terms are sent to
    /// registries, including those of agents.
    AddMarketSource = "market_sources_add" (MarketSourceAdd) -> Vec<MarketSource>;
    /// Removes a source. Tools installed from it are kept.
    RemoveMarketSource = "market_sources_remove" (MarketSourceRef) -> Vec<MarketSource>;
    /// Searches all sources for tools.
    SearchMarket = "market_search" (MarketQuery) -> MarketFound;
    /// Returns a preview of an installation as a request to confirm. Nothing is installed.
    InstallFromMarket = "market_install" (MarketRef) -> MarketInstall;
    /// Returns a report on agents' activity: sessions, searches, calls, latency and tokens.
    GetActivity = "activity_get" (ActivityQuery) -> ActivityReport;
    /// Returns the audit log: agents' calls, who allowed them, and their outcome.
    GetAudit = "audit_list" (AuditQuery) -> AuditLog;
    /// Returns the profiles of agents and the settings of their sessions.
    ListProfiles = "profiles_list" (Nothing) -> Profiles;
    /// Adds a profile, or replaces the one of the same name.
    SetProfile = "profiles_set" (Profile) -> Profiles;
    /// Changes a profile that is still as it was read; `conflict` otherwise.
    ChangeProfile = "profiles_change" (ProfileChange) -> Profiles;
    /// Removes a profile. Agents that name it are refused from then on.
    RemoveProfile = "profiles_remove" (ProfileRef) -> Profiles;
    /// Changes the settings of agents' sessions.
    SetAgentSessions = "agent_sessions_set" (AgentSessions) -> Profiles;
    /// Waits until the list of calls that wait for approval changes.
    WaitApprovals = "approvals_wait" (ApprovalsWait) -> ApprovalRequests;
    /// Approves or refuses a call that waits for approval.
    AnswerApproval = "approvals_answer" (ApprovalAnswer) -> ApprovalRequests;
    /// Returns the callable tools and whether agents may call them.
    ListTools = "tools_list" (ToolsQuery) -> ToolList;
    /// Returns a callable tool with its parameters.
    GetTool = "tools_get" (ToolRef) -> ToolView;
    /// Calls a tool for the person, or returns the permissions to grant first.
    RunTool = "tools_run" (ToolRun) -> ToolRunStart;
    /// Returns the result of a tool call whose job is done.
    GetToolOutcome = "tools_outcome" (JobRef) -> ToolOutcome;
    /// Returns names of products, or synonyms, that search knows.
    ListVocabulary = "vocabulary_list" (VocabularyQuery) -> VocabularyList;
    /// Adds a name or synonym, or replaces one that was added. Search knows it when this returns.
    SetVocabulary = "vocabulary_set" (VocabularySet) -> VocabularyChanged;
    /// Removes names or synonyms that were added.
    RemoveVocabulary = "vocabulary_remove" (VocabularyRemove) -> VocabularyRemoved;
    /// Returns what search learned from use.
    GetPersonalization = "personalization_get" (Nothing) -> Personalization;
    /// Switches learning from use, and what was learned, on or off.
    SetPersonalization = "personalization_set" (PersonalizationSet) -> Personalization;
    /// Learns from all use until now, instead of in the background.
    LearnPersonalization = "personalization_learn" (Nothing) -> JobRef;
    /// Forgets what was learned; what happened until now is not learned from again.
    ResetPersonalization = "personalization_reset" (PersonalizationProfiles) -> Personalization;
    /// Returns what was learned, as a file.
    ExportPersonalization = "personalization_export" (PersonalizationProfiles) -> PersonalizationExport;
    /// Returns the credentials for web APIs: those stored, and those that operations in the library need.
    ListApiKeys = "api_keys_list" (Nothing) -> Vec<ApiKey>;
    /// Stores a credential for a web API.
    SetApiKey = "api_keys_set" (ApiKeySet) -> Vec<ApiKey>;
    /// Removes a credential for a web API.
    RemoveApiKey = "api_keys_remove" (ApiKeyRef) -> Vec<ApiKey>;
    /// Returns the client programs of agents, and the changes to their settings that would connect AutoKit.
    ListClients = "clients_list" (Nothing) -> Vec<AgentClient>;
    /// Adds AutoKit to the MCP servers of a client program, as previewed. A backup of the file is kept.
    ConnectAgent = "clients_connect" (ConnectClient) -> ClientConnected;
    /// Removes AutoKit from the MCP servers of a client program, as previewed. A backup of the file is
    /// kept.
    DisconnectAgent = "clients_disconnect" (ConnectClient) -> ClientConnected;
    /// Returns the status of the HTTP server for agents.
    GetAgentsHttp = "mcp_http_get" (AgentsHttpRef) -> AgentsHttp;
    /// Switches the HTTP server for agents on or off, or changes its port.
    SetAgentsHttp = "mcp_http_set" (AgentsHttpSet) -> AgentsHttp;
    /// Replaces the token of the HTTP server for agents. Clients using the current token are rejected.
    RenewAgentsHttp = "mcp_http_renew" (AgentsHttpRef) -> AgentsHttp;
    /// Returns the backups of this library, newest first.
    ListBackups = "backups_list" (Nothing) -> Vec<Backup>;
    /// Creates and verifies a backup.
    CreateBackup = "backups_create" (Nothing) -> Backup;
    /// Compares a backup with the library, to show what restoring it would change.
    InspectBackup = "backups_inspect" (BackupRef) -> BackupContents;
    /// Verifies a backup, then replaces the library with it as soon as running commands have ended. The outcome is
    /// sent as the event `restored`. The replaced library is kept next to the backups.
    RestoreBackup = "backups_restore" (BackupRef) -> Backup;
    /// Accepts the loss of acknowledged changes that are missing, so that they are no longer reported.
    AcceptMissingChanges = "missing_changes_accept" (Nothing) -> Nothing;
    /// Returns the teams that this person belongs to on this machine.
    ListTeams = "teams_list" (Nothing) -> Vec<TeamEntry>;
    /// Creates a team on a server, and becomes its first administrator.
    CreateTeam = "teams_create" (TeamCreate) -> TeamEntry;
    /// Joins a team, or signs in to it on another machine, and makes the folder of its replica.
    JoinTeam = "teams_join" (TeamJoin) -> TeamEntry;
    /// Counts what is lost when a team whose library is not open is left.
    CountUnsent = "teams_unsent" (TeamRef) -> TeamUnsent;
    /// Removes the replica of a team's library and the password from this machine.
    LeaveTeam = "teams_leave" (TeamRef) -> TeamEntry;
    /// Uses a team at another address from now on.
    MoveTeam = "teams_move" (TeamMove) -> TeamEntry;
    /// Writes everything of a team to a file, from which it can be made anew at another server.
    ExportTeam = "teams_export" (TeamFileRequest) -> TeamFileOutcome;
    /// Makes a team of an exported one.
    ImportTeam = "teams_import" (TeamFileRequest) -> TeamFileOutcome;
    /// Brings the tables of a team up to date and makes new keys for signing tokens.
    UpgradeTeam = "teams_upgrade" (TeamUpgrade) -> Nothing;
    /// Returns how this library and its team's stand; `null` if it is not the replica of one.
    GetTeam = "team_get" (Nothing) -> Option<TeamState>;
    /// Sends and receives changes now.
    SyncTeam = "team_sync" (Nothing) -> TeamState;
    /// Chooses which of the team's cards the replica is made of.
    SetTeamCards = "team_cards_set" (TeamCards) -> TeamKept;
    /// Returns which of the team's cards are kept on this machine.
    GetTeamCards = "team_cards_get" (Nothing) -> TeamKept;
    /// Returns the members of the team.
    ListMembers = "team_members" (Nothing) -> TeamMembers;
    /// Invites somebody to the team.
    InviteMember = "team_invite" (TeamInvite) -> TeamInvitation;
    /// Changes the role, the groups or the password of a member, removes or restores them.
    ChangeMember = "team_member_change" (TeamMemberChange) -> TeamMembers;
    /// Returns how many reviewers the team requires.
    GetTeamPolicy = "team_policy_get" (Nothing) -> TeamPolicy;
    /// Sets how many reviewers the team requires. For administrators.
    SetTeamPolicy = "team_policy_set" (TeamPolicy) -> TeamPolicy;
    /// Returns who can be chosen in the team; `null` if this library is not the replica of one.
    GetTeamDirectory = "team_directory" (Nothing) -> Option<TeamDirectory>;
    /// Returns who sees a card.
    GetCardSharing = "team_sharing_get" (CardRef) -> CardSharing;
    /// Changes who sees cards: sent at the next synchronization.
    ShareCardsWith = "team_share" (ShareCards) -> Nothing;
    /// Chooses who sees cards that are added on this machine.
    SetNewCards = "team_new_cards_set" (NewCards) -> TeamDirectory;
    /// Returns what happened in the library lately, newest first.
    ListTeamActivity = "team_activity" (TeamActivityRequest) -> Vec<TeamActivityEntry>;
    /// Returns what was done in the team, newest first. For administrators.
    ListTeamAudit = "team_audit" (TeamAuditRequest) -> Vec<TeamAuditEntry>;
    /// Runs diagnostics of the installation.
    RunDoctor = "diagnostics_run" (DoctorRequest) -> Doctor;
}

async fn answer<C: Command, H: Handle<C>>(host: &H, context: &Context, body: Value) -> Result<Value> {
    C::response_to_json(&host.handle(context, C::request_from_json(body)?).await?)
}

fn wrong_request(command: &str, error: &serde_json::Error) -> ApiError {
    ApiError::new(
        ErrorCode::BadRequest,
        format!("invalid request for {command}: {error}"),
        "Use the same version of AutoKit everywhere.",
    )
}

fn no_json(command: &str, error: &serde_json::Error) -> ApiError {
    ApiError::internal(format!("{command}: {error}"))
}

/// TypeScript declarations, collected while the list of commands is written.
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

    /// Declares a named type of this workspace and every named type it refers to. Types without a name are
    /// not followed, because JSON values contain themselves.
    fn declare<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        let docs = T::docs().unwrap_or_default();
        let declaration = format!("{docs}export {}", T::decl_concrete(&self.config));
        if let Some(known) = self.declarations.get(&name) {
            assert!(*known == declaration, "two types are named {name}; rename one of them for TypeScript");
            return;
        }
        self.declarations.insert(name, declaration);
        T::visit_dependencies(&mut Visit(self));
        T::visit_generics(&mut Visit(self));
    }
}

/// Visits the types a type refers to.
struct Visit<'a>(&'a mut TypeScript);

impl ts_rs::TypeVisitor for Visit<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.0.declare::<T>();
    }
}

/// Returns the TypeScript declarations of all commands and the types they use, as committed in `ui/`.
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
        serde_json::to_string_pretty(&AgentSessions::default())
            .expect("numbers and strings serialize to JSON")
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
