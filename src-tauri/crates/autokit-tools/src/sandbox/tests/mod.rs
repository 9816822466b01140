//! What a job can and cannot do, tried from inside. These tests need bubblewrap and user
//! namespaces and fail without them: a product that claims to hold code must be seen holding it.

mod calls;
mod ends;
mod files;
mod network;
mod ordinary;
mod totals;

use std::future;

use super::{Exit, Job, Language, Outcome, Sandbox};

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
    sandbox.run(job, future::pending()).await.expect("runs")
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
