//! Whose turn it is: checks of named cards beside runs, the same run once, runs broken off, owners that end.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{CancelJob, ListJobs, PauseJob, SetCheckSettings, StartVerify, WaitJob};
use autokit_api::{
    CheckSettings, Job, JobId, JobKind, JobPause, JobRef, JobState, JobWait, Nothing, VerifyScope,
    VerifyStart,
};
use autokit_app::ErrorCode;
use autokit_app::node::Node;
use autokit_tests::Workplace;
use autokit_tests::agent::wait_for_job;
use tokio::sync::Semaphore;

use crate::place::{Ahead, open};
use crate::runs::{CARDS, library, until};

async fn start(node: &Node, scope: VerifyScope, anew: bool) -> Result<JobId> {
    Ok(node.call::<StartVerify>(VerifyStart { scope, improve: false, anew }).await?.job)
}

async fn look(node: &Node, job: &JobId) -> Result<Job> {
    let jobs = node.call::<ListJobs>(Nothing {}).await?;
    jobs.into_iter().find(|one| one.id == *job).context("it is known")
}

/// The job once it is over, however it ended.
async fn end(node: &Node, job: &JobId) -> Result<Job> {
    let wait = async {
        let mut after = 0;
        loop {
            let state = node.call::<WaitJob>(JobWait { job: job.clone(), after }).await?;
            if state.state != JobState::Running {
                return anyhow::Ok(state);
            }
            after = state.version;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), wait).await.context("the job did not end")?
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_run_does_not_block_named_checks() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = open(&place, &Ahead::default(), false).await?;
    let gate = Arc::new(Semaphore::new(0));
    let (_site, ids) = library(&node, &gate).await?;
    let run = start(&node, VerifyScope::All, false).await?;
    gate.add_permits(2);
    until(&node, &run, |job| job.done == 2).await?;
    node.call::<PauseJob>(JobPause { job: run.clone(), paused: true }).await?;
    gate.add_permits(8);
    until(&node, &run, |job| job.paused == Some(true)).await?;

    // The same run is not begun twice; another one waits, says so, and can be let wait and stopped.
    ensure!(start(&node, VerifyScope::All, false).await? == run);
    let other = start(&node, VerifyScope::Older { days: 3 }, false).await?;
    let queued = until(&node, &other, |job| job.note.is_some()).await?;
    ensure!(queued.note.as_deref() == Some("Waiting for another run"), "{queued:?}");
    node.call::<PauseJob>(JobPause { job: other.clone(), paused: true }).await?;
    until(&node, &other, |job| job.paused == Some(true)).await?;
    node.call::<CancelJob>(JobRef { job: other.clone() }).await?;
    ensure!(end(&node, &other).await?.state == JobState::Cancelled);

    // By name: at once, and once for all who ask.
    gate.add_permits(100);
    let named = VerifyScope::Cards { cards: vec![ids[0].to_string()] };
    let one = start(&node, named, false).await?;
    let end = tokio::time::timeout(Duration::from_mins(2), wait_for_job(&node, &one))
        .await
        .context("it waits")??;
    ensure!(end.done == 1, "{end:?}");
    ensure!(look(&node, &run).await?.paused == Some(true));
    node.call::<PauseJob>(JobPause { job: run.clone(), paused: false }).await?;
    ensure!(wait_for_job(&node, &run).await?.done == CARDS as u64);
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_run_resumes_when_started_again() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let ahead = Ahead::default();
    let node = open(&place, &ahead, false).await?;
    let gate = Arc::new(Semaphore::new(0));
    let (_site, _) = library(&node, &gate).await?;
    let stop = async |permits: usize| -> Result<()> {
        ahead.hours(1);
        let run = start(&node, VerifyScope::All, true).await?;
        gate.add_permits(permits);
        until(&node, &run, |job| job.done == permits as u64).await?;
        node.call::<CancelJob>(JobRef { job: run.clone() }).await?;
        ensure!(end(&node, &run).await?.state == JobState::Cancelled);
        Ok(())
    };
    stop(4).await?;
    gate.add_permits(1_000);
    ahead.hours(2);
    let run = start(&node, VerifyScope::All, false).await?;
    let end = wait_for_job(&node, &run).await?;
    let note = end.note.clone().context("it says that it goes on")?;
    ensure!(note.starts_with("Resuming the run from ") && note.contains("of 12 done"), "{note}");
    ensure!(end.total < CARDS as u64, "{end:?}");
    // It came to its end: the next one is another.
    ahead.hours(1);
    let end = wait_for_job(&node, &start(&node, VerifyScope::All, false).await?).await?;
    ensure!(end.total == CARDS as u64 && end.note.is_none(), "{end:?}");

    // From the beginning where that is wanted, and where a day lies in between.
    for (hours, anew) in [(1, true), (30, false)] {
        gate.forget_permits(10_000);
        stop(3).await?;
        gate.add_permits(1_000);
        ahead.hours(hours);
        let end = wait_for_job(&node, &start(&node, VerifyScope::All, anew).await?).await?;
        ensure!(end.total == CARDS as u64, "{end:?}");
    }
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_terminal_continues_the_run_of_a_closed_one() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = open(&place, &Ahead::default(), false).await?;
    let gate = Arc::new(Semaphore::new(0));
    node.call::<SetCheckSettings>(CheckSettings { every_days: 0, new_cards: false }).await?;
    let (_site, _) = library(&node, &gate).await?;
    let mut other = place.command(&["verify", "--all"])?;
    let other = other.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let wait = async {
        loop {
            let jobs = node.call::<ListJobs>(Nothing {}).await?;
            if let Some(job) = jobs.iter().find(|job| job.kind == JobKind::Verify) {
                return anyhow::Ok(job.id.clone());
            }
            tokio::task::yield_now().await;
        }
    };
    let run = tokio::time::timeout(Duration::from_mins(2), wait).await.context("it did not begin")??;
    gate.add_permits(4);
    until(&node, &run, |job| job.done == 4).await?;
    node.close().await?;
    drop(node);
    gate.add_permits(1_000);
    let end = tokio::task::spawn_blocking(move || other.wait_with_output()).await??;
    let message = String::from_utf8_lossy(&end.stdout).into_owned();
    let complained = String::from_utf8_lossy(&end.stderr).into_owned();
    ensure!(end.status.success(), "{message}{complained}");
    ensure!(message.contains("verified"), "{message}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_run_resumes_when_started_again() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = open(&place, &Ahead::default(), false).await?;
    let gate = Arc::new(Semaphore::new(0));
    let (_site, _) = library(&node, &gate).await?;
    node.close().await?;
    drop(node);
    let mut owner =
        place.command(&["verify", "--all"])?.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let wait = async {
        // Owned by that process by the time a run is known.
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if !place.data_dir().join("endpoint.json").exists() {
                continue;
            }
            let node = open(&place, &Ahead::default(), false).await?;
            let jobs = node.call::<ListJobs>(Nothing {}).await?;
            if let Some(job) = jobs.iter().find(|job| job.kind == JobKind::Verify) {
                return anyhow::Ok((job.id.clone(), node));
            }
            node.close().await?;
        }
    };
    let (run, node) = tokio::time::timeout(Duration::from_mins(2), wait).await.context("no run")??;
    gate.add_permits(4);
    until(&node, &run, |job| job.done == 4).await?;
    owner.kill()?;
    owner.wait()?;
    node.close().await?;
    drop(node);
    gate.add_permits(1_000);
    let again = place.run(&["verify", "--all"])?;
    let message = String::from_utf8_lossy(&again.stdout).into_owned();
    ensure!(again.status.success(), "{message}{}", String::from_utf8_lossy(&again.stderr));
    ensure!(message.contains("Resuming the run from") && message.contains("4 of 12 done"), "{message}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn implausible_numbers_of_days_are_refused() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = open(&place, &Ahead::default(), false).await?;
    let settings = CheckSettings { every_days: 4_000_000_000, new_cards: true };
    let refused = node.call::<SetCheckSettings>(settings).await.err().context("refused")?;
    ensure!(refused.code == ErrorCode::Invalid && refused.remedy.contains("3650"), "{refused:?}");
    ensure!(start(&node, VerifyScope::Older { days: 9_999 }, false).await.is_err());
    node.close().await?;
    ensure!(place.run(&["checks", "set", "--every", "99999"])?.status.code() == Some(2));
    for yes in ["YES", "no", "true", "False"] {
        let set = place.run(&["checks", "set", "--new-cards", yes])?;
        ensure!(set.status.success(), "{yes}: {}", String::from_utf8_lossy(&set.stderr));
    }
    let neither = place.run(&["checks", "set"])?;
    let message = String::from_utf8_lossy(&neither.stderr).into_owned();
    ensure!(message.contains("--every") && message.contains("--new-cards"), "{message}");
    Ok(())
}
