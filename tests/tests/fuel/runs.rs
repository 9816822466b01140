//! Runs of checks: paused, stopped, taken up again; asking goes on meanwhile.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{
    Ask, CancelJob, GetHealth, ListJobs, PauseJob, SetCheckSettings, StartVerify, WaitJob,
};
use autokit_api::{
    AskRequest, CheckSettings, Job, JobId, JobKind, JobPause, JobRef, JobState, JobWait, Nothing,
    VerifyScope, VerifyStart,
};
use autokit_app::node::Node;
use autokit_tests::Workplace;
use autokit_tests::agent::{set_providers, wait_for_job};
use autokit_tests::site::{Page, Site};
use autokit_toolcard::CardId;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::place::{Ahead, add, checked, open};

/// Cards of a run.
pub(crate) const CARDS: usize = 12;

fn page(at: usize) -> Page {
    let code = format!("from kit{at} import Kit{at}Tool\n\ntool = Kit{at}Tool()");
    Page::new(&format!("Kit{at}"))
        .paragraph(&format!("Kit{at} counts sheep in meadow {at}."))
        .code("python", &code)
}

/// A library of cards whose pages come one by one, as the gate lets them.
pub(crate) async fn library(node: &Node, gate: &Arc<Semaphore>) -> Result<(Site, Vec<CardId>)> {
    let site = Site::serve([]).await?;
    set_providers(node, None, Some(&site)).await?;
    let mut ids = Vec::new();
    for at in 0..CARDS {
        site.hold(&format!("/kit{at}"), page(at), gate);
        let card = json!({
            "name": format!("Kit{at}"), "description": format!("Counts sheep in meadow {at}."),
            "programming_language": "python", "module": format!("kit{at}"), "class": format!("Kit{at}Tool"),
            "documentation": site.url(&format!("/kit{at}")),
        });
        ids.push(add(node, &card).await?);
    }
    Ok((site, ids))
}

/// Waits until a job is as wanted.
pub(crate) async fn until(node: &Node, job: &JobId, expected: impl Fn(&Job) -> bool) -> Result<Job> {
    let wait = async {
        let mut after = 0;
        loop {
            let state = node.call::<WaitJob>(JobWait { job: job.clone(), after }).await?;
            if expected(&state) {
                return Ok(state);
            }
            ensure!(state.state == JobState::Running, "it ended: {state:?}");
            after = state.version;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), wait).await.context("the job did not come that far")?
}

async fn start(node: &Node) -> Result<JobId> {
    Ok(node
        .call::<StartVerify>(VerifyStart { scope: VerifyScope::All, improve: false, anew: false })
        .await?
        .job)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_pauses_for_questions_and_resumes() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = open(&place, &Ahead::default(), false).await?;
    let gate = Arc::new(Semaphore::new(0));
    let (_site, ids) = library(&node, &gate).await?;
    let job = start(&node).await?;
    gate.add_permits(3);
    until(&node, &job, |job| job.done == 3).await?;
    // Pages are awaited, and none comes before the gate is opened again: asking does not wait for them.
    let answer = node
        .call::<Ask>(AskRequest {
            question: "count sheep in meadow 5".into(),
            limit: Some(3),
            ..AskRequest::default()
        })
        .await?;
    assert!(!answer.candidates.is_empty());
    let jobs = node.call::<ListJobs>(Nothing {}).await?;
    let meanwhile = jobs.into_iter().find(|one| one.id == job).context("it is known")?;
    assert_eq!((meanwhile.state, meanwhile.done), (JobState::Running, 3));
    node.call::<PauseJob>(JobPause { job: job.clone(), paused: true }).await?;
    // Those under way are finished, then all wait.
    gate.add_permits(CARDS);
    let waiting = until(&node, &job, |job| job.paused == Some(true)).await?;
    assert_eq!(waiting.state, JobState::Running);
    node.call::<PauseJob>(JobPause { job: job.clone(), paused: false }).await?;
    let end = wait_for_job(&node, &job).await?;
    assert_eq!((end.done, end.total), (CARDS as u64, CARDS as u64));
    for id in &ids {
        checked(&node, id).await?;
    }
    let health = node.call::<GetHealth>(Nothing {}).await?;
    assert_eq!((health.verified as usize, health.never_checked), (CARDS, 0));
    assert_eq!(health.trend.len(), 1);
    node.close().await?;
    Ok(())
}

/// The health of the library is recorded every hundred cards, while other checks wait to write to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_over_hundreds_of_cards_ends() -> Result<()> {
    const MANY: usize = 350;
    let place = Workplace::with_stand_in()?;
    let node = open(&place, &Ahead::default(), false).await?;
    for at in 0..MANY {
        let card =
            json!({ "name": format!("Sheep {at}"), "description": format!("Counts sheep in meadow {at}.") });
        add(&node, &card).await?;
    }
    let job = start(&node).await?;
    let end = until(&node, &job, |job| job.state != JobState::Running).await?;
    assert_eq!((end.state, end.done, end.total), (JobState::Done, MANY as u64, MANY as u64));
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_resumes_after_a_restart_unless_stopped_by_a_person() -> Result<()> {
    for stopped_by_hand in [false, true] {
        let place = Workplace::with_stand_in()?;
        let ahead = Ahead::default();
        let gate = Arc::new(Semaphore::new(0));
        let node = open(&place, &ahead, false).await?;
        node.call::<SetCheckSettings>(CheckSettings { every_days: 0, new_cards: false }).await?;
        let (site, ids) = library(&node, &gate).await?;
        let job = start(&node).await?;
        gate.add_permits(4);
        until(&node, &job, |job| job.done == 4).await?;
        if stopped_by_hand {
            node.call::<CancelJob>(JobRef { job: job.clone() }).await?;
            until(&node, &job, |job| job.state == JobState::Cancelled).await?;
        }
        let before: usize = (0..CARDS).map(|at| site.statuses(&format!("/kit{at}")).len()).sum();
        node.close().await?;
        drop(node);

        gate.add_permits(100);
        ahead.hours(1);
        let node = open(&place, &ahead, true).await?;
        if stopped_by_hand {
            // A look at what is due is over once the next command is answered.
            let jobs = node.call::<ListJobs>(Nothing {}).await?;
            assert!(jobs.iter().all(|job| job.kind != JobKind::Verify), "{jobs:?}");
        } else {
            let wait = async {
                loop {
                    let jobs = node.call::<ListJobs>(Nothing {}).await?;
                    if let Some(job) = jobs.iter().find(|job| job.kind == JobKind::Verify) {
                        return wait_for_job(&node, &job.id).await;
                    }
                    tokio::task::yield_now().await;
                }
            };
            let end =
                tokio::time::timeout(Duration::from_mins(2), wait).await.context("no run was taken up")??;
            // Only those that were left.
            assert!(end.total < CARDS as u64, "{end:?}");
            for id in &ids {
                checked(&node, id).await?;
            }
            let all: usize = (0..CARDS).map(|at| site.statuses(&format!("/kit{at}")).len()).sum();
            assert!(all - before <= CARDS, "{all} requests after {before}");
        }
        node.close().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_running_process_checks_new_cards() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let ahead = Ahead::default();
    let gate = Arc::new(Semaphore::new(100));
    let node = open(&place, &ahead, false).await?;
    let (_site, ids) = library(&node, &gate).await?;
    // The allowed host and the search are settings of the library; they are there after a restart.
    node.close().await?;
    drop(node);
    let node = open(&place, &ahead, true).await?;
    let wait = async {
        while node.call::<GetHealth>(Nothing {}).await?.never_checked > 0 {
            tokio::task::yield_now().await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(Duration::from_mins(2), wait).await.context("new cards were not checked")??;
    for id in &ids {
        checked(&node, id).await?;
    }
    node.close().await?;
    Ok(())
}
