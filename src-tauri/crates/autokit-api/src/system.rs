//! Status, events, diagnostics and backups.

use autokit_error::ApiError;
use autokit_toolcard::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::sharing::TeamNotice;

use super::jobs::Job;

/// Empty request or response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Nothing {}

/// Role of this process: it owns the store or talks to the process that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Owns the store.
    Owner,
    /// Sends requests to the owner.
    Client,
}

/// State of the embedding model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// No model on this machine; only keyword search works.
    Missing,
    /// Loading.
    Loading,
    /// Ready.
    Ready,
    /// Its files cannot be used; see `model_error`.
    Failed,
}

/// Status of the program, as shown by the shell.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Status {
    /// AutoKit version.
    pub version: String,
    /// Data directory.
    pub data_dir: String,
    /// Process id of the owner of the store.
    pub owner_pid: u32,
    /// Number of cards in the library.
    pub cards: u32,
    /// Number of cards with embeddings, which semantic search can find.
    pub embedded: u32,
    /// Name of the embedding model.
    pub model: String,
    /// State of the embedding model.
    pub model_state: ModelState,
    /// Why the model cannot be used.
    pub model_error: Option<String>,
    /// What is missing or altered in the library, as a sentence.
    pub damage: Option<String>,
    /// Why the library is read-only, as a sentence; `null` if it is writable.
    pub read_only: Option<String>,
    /// Whether this start created the library, so that the first-run tour is shown.
    pub first_run: bool,
    /// Number of proposals that wait in Review.
    pub proposals: u32,
    /// Display name of the configured search service.
    pub search: Option<String>,
    /// Display name of the configured language model.
    pub llm: Option<String>,
    /// Description of the change that `changes_undo` would undo.
    pub undoable: Option<String>,
    /// Position in the change log; increases with every change to a card.
    #[ts(type = "number")]
    pub cursor: u64,
    /// Version of the check results; increases with every stored check.
    #[serde(default)]
    #[ts(type = "number")]
    pub checks: u64,
    /// Folder of the backup made because this start migrated the schema.
    pub migrated_from: Option<String>,
}

/// Setting stored in the library, by its key in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// HTTP server for agents.
    AgentsHttp,
    /// List of credentials for web APIs; the secrets are stored elsewhere.
    ApiKeys,
    /// Known keys that signed bundles.
    BundleKeys,
    /// Settings of automatic checks.
    Checks,
    /// Collections of cards.
    Collections,
    /// Pairs of cards that are not duplicates.
    Duplicates,
    /// Libraries that searches of all libraries include.
    Libraries,
    /// Sources of tools that can be installed.
    MarketSources,
    /// MCP servers behind AutoKit.
    McpServers,
    /// What search learned from use.
    Personalization,
    /// Profiles of agents, and settings of their sessions.
    Profiles,
    /// Interrupted run of trial calls.
    RefineRun,
    /// Review policy.
    Review,
    /// Usage of language models.
    Spending,
    /// Subscriptions to bundles.
    Subscriptions,
    /// Descriptions of tools that compete.
    Variants,
    /// Run of checks in progress.
    VerifyRun,
    /// Bindings of cards to tools of servers.
    VouchedTools,
}

/// Notification from the engine to its clients.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A job started, progressed or ended.
    Job {
        /// Current state of the job.
        job: Box<Job>,
    },
    /// Cards changed.
    Library {
        /// Position in the change log.
        #[ts(type = "number")]
        cursor: u64,
    },
    /// The model was loaded, switched or failed, or more cards were embedded.
    Model {
        /// Current state.
        state: ModelState,
    },
    /// An agent session changed.
    Session {
        /// Session id.
        session: SessionId,
        /// Current version.
        #[ts(type = "number")]
        version: u64,
    },
    /// Proposals were created or decided.
    Proposals {
        /// Number of pending proposals.
        waiting: u32,
    },
    /// The settings of services changed.
    Providers,
    /// The replica of a team's library sent or received something, or its connection changed.
    Team,
    /// Somebody in the team asks this member for a review or mentions them.
    TeamNotice {
        /// What they are told.
        notice: TeamNotice,
    },
    /// Another setting of the library changed.
    Setting {
        /// The setting.
        setting: Setting,
    },
    /// Notifications were dropped because this client was slow to receive them: anything may have changed.
    Missed,
    /// The library was replaced with a backup, or that failed. Anything may have changed.
    Restored {
        /// The backup.
        backup: Backup,
        /// The folder with the replaced library; `None` if the library was not replaced.
        replaced: Option<String>,
        /// Why the library was not replaced.
        error: Option<ApiError>,
    },
    /// This process or another one became the owner of the store.
    Owner {
        /// Current role of this process.
        role: Role,
    },
}

/// Result of one diagnostic check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// No problem.
    Good,
    /// Works, but requires attention.
    Warning,
    /// Does not work.
    Bad,
}

/// Diagnostic check.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// Result.
    pub state: CheckState,
    /// Finding, in words.
    pub detail: String,
    /// What to do about it, unless the result is good.
    pub remedy: Option<String>,
}

/// Request to run diagnostics.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, TS)]
pub struct DoctorRequest {
    /// Whether to compare the whole library with its change log, which takes seconds for a large library.
    /// Otherwise the last known result is reported.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub verify: bool,
}

/// Diagnostics of the installation.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Doctor {
    /// Checks, in order.
    pub checks: Vec<Check>,
    /// Whether acknowledged changes are or may be missing from the store, and the loss has not been
    /// accepted yet.
    pub can_accept_losses: bool,
}

/// Request that names a backup.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BackupRef {
    /// Name of the backup.
    pub name: String,
}

/// Cards of which a list shows the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CardNames {
    /// Number of cards.
    pub count: u32,
    /// Names of the first hundred in alphabetical order, with their providers.
    pub first: Vec<String>,
}

/// What restoring a backup would change.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BackupContents {
    /// The backup.
    pub backup: Backup,
    /// Problems that verifying it found. A backup with problems cannot be restored.
    pub problems: Vec<String>,
    /// Cards that only the backup has.
    pub added: CardNames,
    /// Cards that only the library has.
    pub removed: CardNames,
    /// Cards that differ.
    pub changed: CardNames,
    /// Number of pending proposals in the backup.
    pub proposals: u32,
    /// Number of changes that were made to the library since.
    #[ts(type = "number")]
    pub later_changes: u64,
}

/// Backup of the library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Backup {
    /// Name by which it is verified and restored.
    pub name: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Number of cards.
    #[ts(type = "number")]
    pub cards: u64,
    /// Number of the last commit it contains.
    #[ts(type = "number")]
    pub commit: u64,
    /// Size on disk in bytes.
    #[ts(type = "number")]
    pub bytes: u64,
}
