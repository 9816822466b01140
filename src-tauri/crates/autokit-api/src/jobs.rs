//! Work that goes on in the background.

use autokit_error::ApiError;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Cards from a file or text.
    Import,
    /// The cards AutoKit comes with.
    Starter,
    /// Vectors for cards.
    Embed,
    /// A model's files.
    Download,
    /// Documentation pages.
    Pages,
    /// Proposals accepted together.
    Review,
    /// Cards against their pages.
    Verify,
    /// A tool, called by the person.
    Call,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// At work.
    Running,
    /// Finished.
    Done,
    /// Ended by an error.
    Failed,
    /// Stopped by the person.
    Cancelled,
}

/// What a finished job did to the library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct JobTally {
    /// Cards added.
    pub added: u32,
    /// Cards changed.
    pub changed: u32,
    /// Cards that were as in the file.
    pub unchanged: u32,
    /// Cards refused.
    pub rejected: u32,
    /// Proposals left to decide in Review.
    #[serde(default)]
    pub proposed: u32,
    /// Of the cards added, those that may be there already under another name.
    #[serde(default)]
    pub similar: u32,
    /// The change to undo, if there was one.
    pub change: Option<String>,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Job {
    /// Id.
    pub id: String,
    /// What it does.
    pub kind: JobKind,
    /// In words.
    pub title: String,
    /// Where it stands.
    pub state: JobState,
    /// What it waits for, or what it goes on with, in a sentence.
    #[serde(default)]
    pub note: Option<String>,
    /// It is at work and waits until the person lets it go on; none for a job that cannot wait.
    pub paused: Option<bool>,
    /// Grows with every change of this job.
    #[ts(type = "number")]
    pub version: u64,
    /// Units done.
    #[ts(type = "number")]
    pub done: u64,
    /// Units in all; 0 while unknown.
    #[ts(type = "number")]
    pub total: u64,
    /// What a unit is: `cards`, `bytes`.
    pub unit: String,
    /// Milliseconds left at the present pace, once there is one.
    #[ts(type = "number | null")]
    pub eta_ms: Option<u64>,
    /// Milliseconds since it began (until it ended).
    #[ts(type = "number")]
    pub elapsed_ms: u64,
    /// What it did, when it is over.
    pub summary: Option<String>,
    /// Counts, when it changed cards.
    pub tally: Option<JobTally>,
    /// Why it failed.
    pub error: Option<ApiError>,
}

/// Names a job.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobRef {
    /// Id.
    pub job: String,
}

/// Waits for news of a job.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobWait {
    /// Id.
    pub job: String,
    /// Answer once the job's version is above this, or after ten seconds.
    #[ts(type = "number")]
    pub after: u64,
}

/// Lets a job wait or go on.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobPause {
    /// Id.
    pub job: String,
    /// It is to wait.
    pub paused: bool,
}
