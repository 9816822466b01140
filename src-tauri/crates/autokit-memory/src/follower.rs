//! Who follows what is being read, and stops it.

use std::future::Future;

use autokit_error::{ApiError, Result};
use autokit_workspace::jobs::Progress;
use tokio_util::sync::CancellationToken;

/// What a job says while it waits for another one to finish.
const QUEUED_NOTE: &str = "Waiting for other documents or code";

/// Follows what is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Follower<'a> {
    /// A job, which shows the progress and may be cancelled.
    Job(&'a Progress),
    /// Nobody looks on, as after a file has changed; the token stops it.
    Nobody(&'a CancellationToken),
}

impl Follower<'_> {
    /// Reports how many of how many files are done.
    pub(crate) fn set_done(self, done: u64, total: u64) {
        if let Follower::Job(progress) = self {
            progress.set_done(done, total);
        }
    }

    /// Says what is being done.
    pub(crate) fn set_note(self, note: &str) {
        if let Follower::Job(progress) = self {
            progress.set_note(note);
        }
    }

    /// Waits until it is to stop.
    pub(crate) async fn stopped(self) {
        match self {
            Follower::Job(progress) => progress.wait_until_cancelled().await,
            Follower::Nobody(stop) => stop.cancelled().await,
        }
    }

    /// Returns an error if it is to stop.
    ///
    /// # Errors
    /// `cancelled`
    pub(crate) fn check_stopped(self) -> Result<()> {
        match self {
            Follower::Job(progress) => progress.check_cancelled(),
            Follower::Nobody(stop) if stop.is_cancelled() => Err(ApiError::cancelled()),
            Follower::Nobody(_) => Ok(()),
        }
    }

    /// Waits for `turn`.
    ///
    /// # Errors
    /// `cancelled` if it is to stop before.
    pub(crate) async fn wait_for_turn<T, F: Future<Output = T>>(self, turn: impl Fn() -> F) -> Result<T> {
        match self {
            Follower::Job(progress) => progress.wait_for_turn(QUEUED_NOTE, turn).await,
            Follower::Nobody(stop) => {
                tokio::select! {
                    value = turn() => Ok(value),
                    () = stop.cancelled() => Err(ApiError::cancelled()),
                }
            }
        }
    }
}
