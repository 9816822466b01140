//! Tests of what a job can and cannot do, from inside. They need bubblewrap and user namespaces and fail
//! without them, so that the isolation is never just assumed.

mod calls;
mod ends;
mod files;
mod network;
mod ordinary;
mod totals;

use std::future;
use std::time::Duration;

use super::{Exit, Job, Language, Limits, Outcome, Sandbox};

/// Wall time of jobs in tests that are not about time: jobs have low priority, so on a busy machine the
/// default of ten seconds may be too little even for a quick program.
pub(super) const WALL: Duration = Duration::from_mins(5);
/// How long a test waits for something that has to happen, so that a failing one does not hang.
pub(super) const TIMEOUT: Duration = Duration::from_mins(2);

/// Returns the sandbox of this machine.
pub(super) fn sandbox() -> Sandbox {
    match Sandbox::available() {
        Ok(sandbox) => sandbox,
        Err(error) => panic!("{error}. {}", error.remedy()),
    }
}

/// Returns the same without control groups: per-process limits and the sampler only.
pub(super) fn sampled() -> Sandbox {
    Sandbox { inner: std::sync::Arc::new(sandbox().inner.without_groups()) }
}

/// Runs a job without cancelling it.
pub(super) async fn run(job: Job) -> Outcome {
    run_in(&sandbox(), job).await
}

/// Runs a job in this sandbox.
pub(super) async fn run_in(sandbox: &Sandbox, job: Job) -> Outcome {
    sandbox.run(patient(job), future::pending()).await.expect("runs")
}

/// Sets the wall time to [`WALL`], unless the job has one of its own.
pub(super) fn patient(mut job: Job) -> Job {
    if job.limits.wall == Limits::default().wall {
        job.limits.wall = WALL;
    }
    job
}

/// Runs Python code that must succeed, and returns what it printed.
pub(super) async fn python(code: &str) -> String {
    let outcome = run(Job::new(Language::Python, code)).await;
    assert_eq!(outcome.exit, Exit::Code(0), "{}", outcome.stderr.text());
    outcome.stdout.text().into_owned()
}

/// Returns the command lines on this machine that contain `mark`.
pub(super) fn processes_with(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("a /proc");
    let lines = entries.flatten().filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(mark)).collect()
}
