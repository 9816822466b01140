//! Waits for jobs and shows their progress in the terminal.

use autokit_api::Client;
use autokit_api::commands::{CancelJob, WaitJob};
use autokit_api::{Job, JobId, JobRef, JobState, JobWait};
use autokit_error::{ApiError, ErrorCode};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::outcome::Result;
use crate::output::{Output, printable};

/// How waiting for a job ended.
pub(crate) enum JobEnd {
    /// The job ended.
    Finished(Box<Job>),
    /// The process that ran it exited; the new owner of the library does not know the job.
    Lost,
}

/// Waits until a job ends. Ctrl-C cancels the job.
pub(crate) async fn watch(library: &dyn Client, out: &Output, job: &JobId) -> Result<Job> {
    match follow(library, out, job).await? {
        JobEnd::Finished(job) => Ok(*job),
        JobEnd::Lost => Err(ApiError::owner_ended().into()),
    }
}

/// Like [`watch`], but reports when the process that ran the job exited, so that the caller can restart it.
pub(crate) async fn follow(library: &dyn Client, out: &Output, job: &JobId) -> Result<JobEnd> {
    let bar = ProgressBar::with_draw_target(
        None,
        // Indicatif draws nothing if stderr is not a terminal.
        if out.json() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
    );
    let (mut seen, mut interrupted) = (0, false);
    let end = loop {
        let next = library.call::<WaitJob>(JobWait { job: job.clone(), after: seen });
        let state = tokio::select! {
            state = next => state,
            _ = tokio::signal::ctrl_c() => {
                interrupted = true;
                match library.call::<CancelJob>(JobRef { job: job.clone() }).await {
                    Err(error) if error.code != ErrorCode::NotFound => return Err(error.into()),
                    _ => continue,
                }
            }
        };
        let state = match state {
            // The job existed when it was started, so its process exited.
            Err(error) if error.code == ErrorCode::NotFound && !interrupted => return Ok(JobEnd::Lost),
            Err(error) if error.code == ErrorCode::NotFound => return Err(ApiError::cancelled().into()),
            state => state?,
        };
        seen = state.version;
        draw(&bar, &state);
        if state.state != JobState::Running {
            break state;
        }
    };
    bar.finish_and_clear();
    match &end.error {
        Some(_) if interrupted && end.state == JobState::Cancelled => Err(ApiError::cancelled().into()),
        Some(error) if error.code == ErrorCode::OwnerUnreachable && end.state == JobState::Cancelled => {
            Ok(JobEnd::Lost)
        }
        Some(error) => Err(error.clone().into()),
        None if end.state == JobState::Cancelled => Err(ApiError::cancelled().into()),
        None => Ok(JobEnd::Finished(Box::new(end))),
    }
}

fn draw(bar: &ProgressBar, job: &Job) {
    let template = if job.total == 0 {
        "{spinner:.cyan} {msg}"
    } else if job.unit == "bytes" {
        "{msg} {bar:24.cyan/dim} {bytes}/{total_bytes} {bytes_per_sec} eta {eta}"
    } else {
        "{msg} {bar:24.cyan/dim} {pos}/{len} eta {eta}"
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    let paused = if job.paused == Some(true) { Some("waits") } else { None };
    let parts = [Some(job.title.as_str()), job.note.as_deref(), paused];
    bar.set_message(printable(&parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")));
    bar.set_length(job.total);
    bar.set_position(job.done);
}
