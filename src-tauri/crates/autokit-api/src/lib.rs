//! The commands of the engine with their requests and responses: the types shared with the window (as
//! TypeScript) and with other processes (as JSON).
//!
//! | module | contents |
//! |---|---|
//! | [`commands`] | the list of commands, dispatch by name, TypeScript |
//! | `client` | sending commands to wherever the library is open |
//! | [`stdio`] | messages between the window and its engine |
//! | [`paths`] | default folders |
//! | the others | requests and responses, one module per area |
//!
//! Errors are [`autokit_error::ApiError`]s. This crate depends on neither the database nor candle.

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

mod agent;
mod ask;
mod cards;
mod client;
mod collections;
pub mod commands;
mod duplicates;
mod federation;
mod generated;
mod health;
mod jobs;
mod macros;
mod market;
mod memory;
mod models;
mod pages;
pub mod paths;
mod personalization;
mod profiles;
mod providers;
mod refine;
mod review;
mod serve;
mod sharing;
pub mod stdio;
mod system;
mod team;
mod tools;
mod transfer;
mod variants;
mod verify;
mod vocabulary;

pub use agent::{
    AddFinding, AgentQuestion, AnswerFeedback, FeedbackRequest, ResearchRequest, Session, SessionNote,
    SessionRef, SessionWait, SessionsDelete, Starter, Turn, TurnKind, TurnState,
};
pub use ask::{Answer, AskRequest, Candidate, SearchHit, SearchRequest, SearchResponse, Verdict};
pub use cards::{
    CardChange, CardCheck, CardCreate, CardDetail, CardList, CardRef, CardRestore, CardSummary, CardUpdate,
    CardsDelete, CardsEdit, CardsPage, CardsQuery, Facet, Facets, HealthFilter, RedoRequest, RevisionView,
    Sort, UndoOutcome, UndoRequest,
};
pub use client::Client;
pub use collections::{Collection, CollectionChange, CollectionRef, CollectionRename, FAVORITES};
pub use duplicates::{
    CardsMerge, DuplicateCard, DuplicatePair, DuplicateReason, Duplicates, MergePreview, MergeQuery, PairRef,
};
pub use federation::{
    LibrariesFound, LibrariesQuery, LibraryEntry, LibraryHit, LibraryKind, LibraryOutcome, LibrarySet,
    LibraryState,
};
pub use generated::{
    CodeAttempt, CodeCheck, CodeCheckKind, CodeCheckState, FunctionLanguage, GenerateRequest, GeneratedTool,
    GeneratedToolList, Generation, GenerationRef, RepeatedCardEdit, RetirementProposed, ToolAdvice,
    ToolSpecification, UnansweredNeed,
};
pub use health::{HealthPoint, LibraryHealth};
pub use jobs::{Job, JobId, JobKind, JobPause, JobRef, JobState, JobTally, JobWait};
pub use macros::{MacroPropose, MacroProposed, RecordedCall, RecordedCalls, RepeatedCalls};
pub use market::{
    MarketFound, MarketInput, MarketInstall, MarketKind, MarketOffer, MarketQuery, MarketRef, MarketSource,
    MarketSourceAdd, MarketSourceRef,
};
pub use memory::{
    CodeTool, CodeTools, CodeToolsPropose, CodeToolsQuery, MemoryAdd, MemoryFound, MemoryHit, MemoryKind,
    MemoryListQuery, MemoryProblem, MemoryQuery, MemorySource, MemorySourceRef, MemorySources, MemorySymbol,
};
pub use models::{ModelChoice, ModelEntry, Models};
pub use pages::{CardPage, PagePiece, PageView, PagesFetch};
pub use personalization::{
    LearningComparison, LearningState, PersonalProfile, Personalization, PersonalizationExport,
    PersonalizationProfiles, PersonalizationSet,
};
pub use profiles::{
    AgentSessions, Allowlist, ApiKey, ApiKeyRef, ApiKeySet, ApiSecret, ApprovalAnswer, ApprovalDecision,
    ApprovalRequest, ApprovalRequests, ApprovalsWait, AuditEntry, AuditLog, AuditQuery, CallOutcome,
    DecidedBy, Profile, ProfileChange, ProfileRef, Profiles,
};
pub use providers::{
    Connection, KeyName, KeyState, KeyStorage, LanguageModelsQuery, LlmKind, LlmSettings, NetworkSettings,
    ProviderSettings, Providers, SearchKind, SearchSettings, SecretSet, ShippedPrompt, TestOutcome,
    TestRequest,
};
pub use refine::{RefinePlan, RefineRequest, RefineScope, RefineStart, RefineState};
pub use review::{
    AcceptPreview, AcceptRule, CardDescribe, FieldSide, FlaggedText, ProposalAccept, ProposalAssign,
    ProposalComment, ProposalDetail, ProposalGet, ProposalRef, ProposalReject, ProposalRow, Proposals,
    ProposalsAccept, ProposalsQuery, ProposalsRef, ReviewPolicy, SafeProposal, TeamReviewer, UnsafeProposal,
};
pub use serve::{
    ActivityDay, ActivityQuery, ActivityReport, AgentClient, AgentsHttp, AgentsHttpRef, AgentsHttpSet,
    ChangedLine, ClientConnected, ConnectClient, Latency, LineChange, PreloadingReplay, ReplayedMeasure,
    Server, ServerAdd, ServerRef, ServerTransport, ServersRead, ServersText, TierLatency, ToolUse,
};
pub use sharing::{
    CardSharing, CardVisibility, DirectoryMember, NewCards, ShareCards, TeamActivityEntry,
    TeamActivityRequest, TeamAuditEntry, TeamAuditRequest, TeamDirectory, TeamFileOutcome, TeamFileRequest,
    TeamMove, TeamNotice, TeamNoticeKind, TeamServer, TeamUpgrade,
};
pub use system::{
    Backup, BackupContents, BackupRef, CardNames, Check, CheckState, Doctor, DoctorRequest, Event,
    ModelState, Nothing, Role, Setting, Status,
};
pub use team::{
    TeamCards, TeamCreate, TeamEntry, TeamInvitation, TeamInvite, TeamJoin, TeamKept, TeamMember,
    TeamMemberChange, TeamMembers, TeamPolicy, TeamRef, TeamRole, TeamState, TeamUnsent,
};
pub use tools::{
    ToolBlock, ToolEntry, ToolList, ToolOutcome, ToolRef, ToolRun, ToolRunStart, ToolSource, ToolView,
    ToolsQuery,
};
pub use transfer::{
    BundlePath, ExistingCards, ExportOutcome, ExportPreview, ExportRequest, FieldConflict, Format,
    ImportItem, ImportNote, ImportPreview, ImportPreviewRequest, ImportRef, ImportRequest, ImportSource,
    ImportView, ItemChoice, ItemStatus, KeyRef, KeyTrust, KnownKeyView, Landing, SecretFound, SignatureView,
    SigningKeys, SourceInfo, Subscription, SubscriptionAdd, SubscriptionRef, Trust,
};
pub use variants::{
    Variant, VariantAdd, VariantContest, VariantContests, VariantSet, VariantWithdrawal, VariantsEnd,
    VariantsEnded,
};
pub use verify::{CardVerification, CheckSettings, LatestCheck, VerifyScope, VerifyStart};
pub use vocabulary::{
    AddedEntry, EntryKind, VocabularyChanged, VocabularyItem, VocabularyList, VocabularyQuery,
    VocabularyRemove, VocabularyRemoved, VocabularySet,
};
