//! What a job can and cannot do, tried from inside. These tests need bubblewrap and user
//! namespaces and fail without them: a product that claims to hold code must be seen holding it.

mod calls;
mod ends;
mod files;
mod network;
mod ordinary;
mod totals;

use std::future;
use std::time::Duration;

use super::{Exit, Job, Language, Limits, Outcome, Sandbox};

/// How long a job may take that is not about how long it may take: jobs give way to everything else, and on a
/// busy machine the ten seconds they have otherwise may be too few even for what is done at once.
pub(super) const WALL: Duration = Duration::from_mins(5);
/// Longest a test waits for something that has to come: only so that one that fails does not hang.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);

/// The sandbox of this machine.
pub(super) fn sandbox() -> Sandbox {
    match Sandbox::available() {
        Ok(sandbox) => sandbox,
        Err(error) => panic!("{error}. {}", error.remedy()),
    }
}

/// The same with nothing but each process's limits and the sampler.
pub(super) fn sampled() -> Sandbox {
    Sandbox { inner: std::sync::Arc::new(sandbox().inner.without_groups()) }
}

/// Runs a job nobody cancels.
pub(super) async fn run(job: Job) -> Outcome {
    run_in(&sandbox(), job).await
}

/// Runs it in this sandbox.
pub(super) async fn run_in(sandbox: &Sandbox, job: Job) -> Outcome {
    sandbox.run(patient(job), future::pending()).await.expect("runs")
}

/// The job with [`WALL`], unless it has a time of its own.
pub(super) fn patient(mut job: Job) -> Job {
    if job.limits.wall == Limits::default().wall {
        job.limits.wall = WALL;
    }
    job
}

/// Runs Python that must end well, and what it printed.
pub(super) async fn python(code: &str) -> String {
    let outcome = run(Job::new(Language::Python, code)).await;
    assert_eq!(outcome.exit, Exit::Code(0), "{}", outcome.stderr.text());
    outcome.stdout.text().into_owned()
}

/// The processes of this machine whose command line holds `mark`.
pub(super) fn processes_with(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("a /proc");
    let lines = entries.flatten().filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(mark)).collect()
}
