//! Sources of a model's files.

pub(crate) mod folder;
pub(crate) mod hub;
pub(crate) mod wheel;

use std::future::Future;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Attempt, Error};
use crate::manifest::ModelFile;
use crate::progress::{OnPull, PullProgress};

/// How often the caller can cancel while a source is silent.
const TICK: Duration = Duration::from_millis(200);

/// Why a source failed.
pub(crate) enum Failure {
    /// Another source may succeed.
    TryNext {
        /// Entry for the list of attempts.
        attempt: Attempt,
        /// The error to report if this is the only source.
        error: Option<Error>,
    },
    /// No other source would help: cancelled, disk full, no permission.
    Stop(Error),
}

impl Failure {
    fn next(source: &str, reason: impl Into<String>) -> Self {
        Self::TryNext { attempt: Attempt { source: source.to_owned(), reason: reason.into() }, error: None }
    }

    /// A source delivered something else than the manifest specifies.
    fn mismatch(source: &str, error: Error) -> Self {
        Self::TryNext {
            attempt: Attempt { source: source.to_owned(), reason: error.to_string() },
            error: Some(error),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Stop(error)
    }
}

/// Returns the path of a file while it is incomplete.
fn part_path(folder: &Path, file: &ModelFile) -> PathBuf {
    folder.join(format!("{}.part", file.name))
}

/// How a wait ended.
enum Waited<T> {
    Done(T),
    Stalled,
    Cancelled,
}

/// Waits for `work`, at most `limit`, reporting `progress` repeatedly so that the caller can cancel.
async fn wait<T>(
    work: impl Future<Output = T>,
    limit: Duration,
    progress: &PullProgress,
    on_progress: OnPull<'_>,
) -> Waited<T> {
    let mut work = std::pin::pin!(work);
    let deadline = tokio::time::sleep(limit);
    let mut deadline = std::pin::pin!(deadline);
    let mut tick = tokio::time::interval(TICK);
    tick.tick().await; // the first is immediate
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Waited::Done(done),
            () = &mut deadline => return Waited::Stalled,
            _ = tick.tick() => {
                if let ControlFlow::Break(()) = on_progress(progress.clone()) {
                    return Waited::Cancelled;
                }
            }
        }
    }
}
