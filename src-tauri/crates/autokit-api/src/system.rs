//! The state of the program as a whole.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::jobs::Job;

/// For commands that take or give nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Nothing {}

/// Whether this process has the store or talks to the one that has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It has the store.
    Owner,
    /// It asks the owner.
    Client,
}

/// Whether meaning can be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// No model on this machine: keywords only.
    Missing,
    /// Being loaded.
    Loading,
    /// Ready.
    Ready,
    /// Its files do not serve; see `model_error`.
    Failed,
}

/// What the shell shows.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Status {
    /// Version of AutoKit.
    pub version: String,
    /// The data directory.
    pub data_dir: String,
    /// Process id of the store's owner.
    pub owner_pid: u32,
    /// Cards in the library.
    pub cards: u32,
    /// Cards that can be found by meaning.
    pub embedded: u32,
    /// The model in use.
    pub model: String,
    /// Whether it works.
    pub model_state: ModelState,
    /// Why it does not.
    pub model_error: Option<String>,
    /// What is missing or altered in the library, in a sentence.
    pub damage: Option<String>,
    /// Why nothing can be changed, in a sentence.
    pub read_only: Option<String>,
    /// Whether the library was created by this start, so that the first-run tour fits.
    pub first_run: bool,
    /// Proposals that wait for a person.
    pub proposals: u32,
    /// The search service in use, for people.
    pub search: Option<String>,
    /// The language model in use, for people.
    pub llm: Option<String>,
    /// What `undo` would take back.
    pub undoable: Option<String>,
    /// Position in the journal; changes with every change to a card.
    #[ts(type = "number")]
    pub cursor: u64,
    /// Grows with every check of a card that is kept.
    #[serde(default)]
    #[ts(type = "number")]
    pub checks: u64,
    /// Folder of the backup made because this start moved the schema forward.
    pub migrated_from: Option<String>,
}

/// What a library keeps beside its cards, by the name it has in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The address at which agents reach it over HTTP.
    AgentsHttp,
    /// Which keys for web APIs there are.
    ApiKeys,
    /// Keys that signed bundles.
    BundleKeys,
    /// How cards are checked.
    Checks,
    /// Where tools are looked for.
    MarketSources,
    /// The MCP servers.
    McpServers,
    /// Profiles of agents, and how their sessions are kept.
    Profiles,
    /// The rules of review.
    Review,
    /// What language models were used for.
    Spending,
    /// Bundles that are followed.
    Subscriptions,
    /// A run of checks that is not over.
    VerifyRun,
    /// Which cards stand for tools of servers.
    VouchedTools,
}

/// News a host passes on.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A job began, moved or ended.
    Job {
        /// Its state now.
        job: Box<Job>,
    },
    /// Cards changed.
    Library {
        /// Position in the journal.
        #[ts(type = "number")]
        cursor: u64,
    },
    /// The model was loaded, switched or failed, or more cards can be found by meaning.
    Model {
        /// Its state now.
        state: ModelState,
    },
    /// A session with the agent went on.
    Session {
        /// Id.
        session: String,
        /// Its version now.
        #[ts(type = "number")]
        version: u64,
    },
    /// Proposals were made or decided.
    Proposals {
        /// How many wait.
        waiting: u32,
    },
    /// Services were chosen anew.
    Providers,
    /// Something else that the library keeps was changed.
    Setting {
        /// What.
        setting: Setting,
    },
    /// Another process took the store over, or this one did.
    Owner {
        /// What this process is now.
        role: Role,
    },
}

/// How one check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it should be.
    Good,
    /// Works, but a person should know.
    Warning,
    /// Does not work.
    Bad,
}

/// One thing looked at.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// How it came out.
    pub state: CheckState,
    /// What was seen.
    pub detail: String,
    /// What to do, when not good.
    pub remedy: Option<String>,
}

/// How closely the installation is looked at.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, TS)]
pub struct DoctorRequest {
    /// Compares everything in the library with its log of changes, which takes seconds where there are
    /// many cards. Else what is known since the last time is told.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub verify: bool,
}

/// The state of the installation.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Doctor {
    /// What was looked at, in order.
    pub checks: Vec<Check>,
    /// Acknowledged changes are missing from the store, or may be, and nobody has gone on without them yet.
    pub can_accept_losses: bool,
}

/// A backup that is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Backup {
    /// Its name, by which it is verified and restored.
    pub name: String,
    /// When it was made, RFC 3339 in UTC.
    pub created_at: String,
    /// Cards in it.
    #[ts(type = "number")]
    pub cards: u64,
    /// The newest change in it.
    #[ts(type = "number")]
    pub commit: u64,
    /// Bytes on the disk.
    #[ts(type = "number")]
    pub bytes: u64,
}
