//! Many questions at once and one after the other: all end, all can be stopped, nothing is left over.
#![cfg(target_os = "linux")]

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use autokit_agent::ask::Verdict;
use autokit_api::commands::{CancelSession, CreateCard, ListSessions};
use autokit_api::{CardCreate, Nothing, SessionRef, TurnState};
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_tests::agent::{answer_of, ask, last_turn, set_providers, start, wait_for_session};
use autokit_tests::growth::{ROUNDS, ensure_steady};
use autokit_tests::model::{ModelRequest, Reply, RequestKind, ScriptedModel};
use autokit_tests::{Workplace, made_up_cards};
use autokit_toolcard::SessionId;
use serde_json::Value;
use tokio::task::JoinSet;

const AT_ONCE: usize = 50;
/// What one reply takes.
const SLOW: Duration = Duration::from_millis(150);
/// Asks until caches, pools, the store's tables and the sessions kept in memory are full.
const WARM_UP: usize = 1000;
const ASKS: usize = 1000;

/// One test at a time: they measure this process.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Recommends whatever ranks first.
fn agreeable(request: &ModelRequest) -> Reply {
    match request.kind() {
        RequestKind::Scores => Reply::scores(request, ""),
        RequestKind::Answer => {
            let facts = request.facts();
            let first = facts.first().and_then(|fact| fact["id"].as_str());
            Reply::answer(first, "It is a tool.", "It serves.", "")
        }
        _ => Reply::grade(true, "it serves"),
    }
}

async fn library(place: &Workplace) -> Result<Node> {
    stocked(place.node(64).await?).await
}

async fn stocked(node: Node) -> Result<Node> {
    for card in made_up_cards(60) {
        let Value::Object(fields) = card else { unreachable!("cards are objects") };
        node.call::<CreateCard>(CardCreate { fields, reason: String::new(), flagged_too: false }).await?;
    }
    Ok(node)
}

fn question(number: usize) -> String {
    let action = ["export", "list", "archive", "translate"][number % 4];
    format!("{action} photos of account {number}")
}

async fn all_at_once(node: &Node) -> Result<Vec<SessionId>> {
    let mut starting = JoinSet::new();
    for number in 0..AT_ONCE {
        let node = node.clone();
        starting.spawn(async move { start(&node, &question(number)).await });
    }
    starting.join_all().await.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_all_end() -> Result<()> {
    let _alone = ALONE.lock().await;
    let place = Workplace::with_stand_in()?;
    let model = ScriptedModel::with_script(|request| agreeable(request).after(SLOW)).await?;
    let node = library(&place).await?;
    set_providers(&node, Some(&model), None).await?;
    let mut resting = JoinSet::new();
    for session in all_at_once(&node).await? {
        let node = node.clone();
        resting.spawn(async move { wait_for_session(&node, &session).await });
    }
    for session in resting.join_all().await {
        let session = session?;
        let result = answer_of(&session)?;
        ensure!(result.verdict == Verdict::Answered, "{result:?}");
    }
    // One after the other there would never be two. How many there are depends on how busy the machine is.
    ensure!(model.in_flight.peak() > 1, "they waited for each other");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_are_all_stopped() -> Result<()> {
    let _alone = ALONE.lock().await;
    let place = Workplace::with_stand_in()?;
    // A silent one would be given up for the first question before the last one has come on a busy machine.
    let model = ScriptedModel::with_script(|_| Reply::Endless).await?;
    let node = library(&place).await?;
    set_providers(&node, Some(&model), None).await?;
    let sessions = all_at_once(&node).await?;
    model.sockets.wait_until(|count| count == AT_ONCE).await?;
    model.in_flight.wait_until(|count| count == AT_ONCE).await?;
    ensure!(model.sockets.current() == AT_ONCE, "{} connections", model.sockets.current());
    let mut stopping = JoinSet::new();
    for session in sessions {
        let node = node.clone();
        stopping.spawn(async move { node.call::<CancelSession>(SessionRef { session }).await });
    }
    for session in stopping.join_all().await {
        ensure!(last_turn(&session?)?.state == TurnState::Cancelled);
    }
    // Each connection waited for an answer, so none of them is of use to another question.
    model.in_flight.wait_until(|count| count == 0).await?;
    model.sockets.wait_until(|count| count == 0).await?;
    // The program goes on.
    set_providers(&node, None, None).await?;
    ensure!(answer_of(&ask(&node, &question(0)).await?)?.tool.is_some());
    node.close().await?;
    let node = place.node(64).await?;
    ensure!(node.call::<ListSessions>(Nothing {}).await?.len() == AT_ONCE + 1, "all are kept");
    node.close().await?;
    Ok(())
}

/// Resident memory of this process, in KiB.
fn resident_kib() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim_end().parse()?)
}

/// With the model a person would have: it is most of what the process holds. What is kept of a session
/// goes into the store's write buffer, which is emptied at 64 MiB (`autokit-library/src/store.rs`), after
/// some 13,000 asks: it grows by what is written and no further, and is part of what is measured.
#[tokio::test(flavor = "multi_thread")]
async fn memory_grows_at_most_a_twentieth_over_a_thousand_asks() -> Result<()> {
    let _alone = ALONE.lock().await;
    let place = Workplace::with_model()?;
    let model = ScriptedModel::with_script(agreeable).await?;
    let node = stocked(place.node_with(Vectors::Model, KeyStorage::Memory).await?).await?;
    set_providers(&node, Some(&model), None).await?;
    let mut sizes = Vec::new();
    for number in 0..WARM_UP + ASKS {
        if number >= WARM_UP && (number - WARM_UP).is_multiple_of(ASKS / ROUNDS) {
            sizes.push(resident_kib()?);
        }
        let session = ask(&node, &question(number)).await?;
        ensure!(answer_of(&session)?.tool.is_some(), "ask {number}");
    }
    sizes.push(resident_kib()?);
    node.close().await?;
    ensure_steady(&sizes)
}
