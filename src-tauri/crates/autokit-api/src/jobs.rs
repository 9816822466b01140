//! Background jobs.

use autokit_error::ApiError;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

autokit_toolcard::text_id! {
    /// Id of a background job, unique among the jobs of a process.
    JobId
}

/// Kind of job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Import of cards from a source.
    Import,
    /// Import of the starter cards that ship with AutoKit.
    Starter,
    /// Embedding of cards.
    Embed,
    /// Download of a model's files.
    Download,
    /// Fetching of documentation pages.
    Pages,
    /// Reading of documents or code.
    Memory,
    /// Acceptance of several proposals.
    Review,
    /// Search for cards that describe the same tool.
    Duplicates,
    /// Check of cards against their pages.
    Verify,
    /// Call of a tool by a person.
    Call,
    /// Learning from use.
    Learn,
    /// Trial calls of tools, which refine their documentation.
    Refine,
    /// Writing of a tool by a language model.
    Generate,
}

/// State of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// In progress, or paused.
    Running,
    /// Completed.
    Done,
    /// Ended by an error.
    Failed,
    /// Cancelled by a person, or by the shutdown of the process.
    Cancelled,
}

/// Effect of a completed job on the library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct JobTally {
    /// Number of cards added.
    pub added: u32,
    /// Number of cards changed.
    pub changed: u32,
    /// Number of cards that were identical to the source.
    pub unchanged: u32,
    /// Number of cards rejected.
    pub rejected: u32,
    /// Number of cards that only wait in Review, as proposals.
    #[serde(default)]
    pub proposed: u32,
    /// How many of the changed cards have fields in conflict that wait in Review as well.
    #[serde(default)]
    pub conflicting: u32,
    /// Number of added cards that may duplicate an existing card under another name.
    #[serde(default)]
    pub similar: u32,
    /// Id of the change, for undo, if there was one.
    pub change: Option<String>,
}

/// Background job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Job {
    /// Job id.
    pub id: JobId,
    /// Kind of job.
    pub kind: JobKind,
    /// Title for people.
    pub title: String,
    /// Current state.
    pub state: JobState,
    /// What the job waits for or continues with, as a sentence.
    #[serde(default)]
    pub note: Option<String>,
    /// Whether the running job is paused; `null` for a job that cannot be paused.
    pub paused: Option<bool>,
    /// Version number, incremented with every change.
    #[ts(type = "number")]
    pub version: u64,
    /// Number of units completed.
    #[ts(type = "number")]
    pub done: u64,
    /// Total number of units; 0 while unknown.
    #[ts(type = "number")]
    pub total: u64,
    /// Unit of `done` and `total`, e.g. `cards` or `bytes`.
    pub unit: String,
    /// Estimated remaining time in milliseconds; `null` until the first unit is completed.
    #[ts(type = "number | null")]
    pub eta_ms: Option<u64>,
    /// Time in milliseconds since the start, until the end of the job.
    #[ts(type = "number")]
    pub elapsed_ms: u64,
    /// Result of the job for people, once it is completed.
    pub summary: Option<String>,
    /// Number of cards affected, for a job that changed cards.
    pub tally: Option<JobTally>,
    /// Error that ended the job.
    pub error: Option<ApiError>,
}

/// Reference to a job.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobRef {
    /// Job id.
    pub job: JobId,
}

/// Request to wait until a job changes.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobWait {
    /// Job id.
    pub job: JobId,
    /// Version the caller knows. The response is sent once the job's version is higher, or after ten
    /// seconds.
    #[ts(type = "number")]
    pub after: u64,
}

/// Request to pause or resume a job.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobPause {
    /// Job id.
    pub job: JobId,
    /// Whether the job is to be paused.
    pub paused: bool,
}
