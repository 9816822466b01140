//! Progress of a download.

use std::ops::ControlFlow;

use serde::Serialize;
use ts_rs::TS;

/// Progress callback while a model is fetched; `Break` cancels the work and keeps what was downloaded.
pub type OnPull<'a> = &'a (dyn Fn(PullProgress) -> ControlFlow<()> + Send + Sync);

/// Progress of fetching one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct PullProgress {
    /// Name of the file.
    pub file: String,
    /// Bytes downloaded so far.
    #[ts(type = "number")]
    pub done_bytes: u64,
    /// Its size in bytes.
    #[ts(type = "number")]
    pub total_bytes: u64,
}
