//! Waiting for a job with its progress on the terminal.

use autokit_app::ApiError;
use autokit_app::api::{Job, JobRef, JobState, JobWait};
use autokit_app::commands::{CancelJob, WaitJob};
use autokit_app::node::Node;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Result;
use crate::output::{Output, printable};

/// Follows a job to its end. Interrupting stops the job, not only the view of it.
pub(crate) async fn watch(node: &Node, out: &Output, job: &str) -> Result<Job> {
    let bar = ProgressBar::with_draw_target(
        None,
        // Indicatif draws nothing where stderr is no terminal.
        if out.json() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
    );
    let mut seen = 0;
    let end = loop {
        let next = node.call::<WaitJob>(JobWait { job: job.to_owned(), after: seen });
        let state = tokio::select! {
            state = next => state?,
            _ = tokio::signal::ctrl_c() => {
                node.call::<CancelJob>(JobRef { job: job.to_owned() }).await?;
                continue;
            }
        };
        seen = state.version;
        draw(&bar, &state);
        if state.state != JobState::Running {
            break state;
        }
    };
    bar.finish_and_clear();
    match &end.error {
        Some(error) => Err(error.clone().into()),
        None if end.state == JobState::Cancelled => Err(ApiError::cancelled().into()),
        None => Ok(end),
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
    bar.set_message(printable(&job.title));
    bar.set_length(job.total);
    bar.set_position(job.done);
}
