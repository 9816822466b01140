//! Many agents at once: every call is answered once, with its own answer, and memory stays what it was.

use anyhow::{Result, ensure};
use autokit_tests::Workplace;
use autokit_tests::mcp::{Agent, Generation, add_server};
use futures_util::future::try_join_all;
use serde_json::json;

const SESSIONS: usize = 100;
const CALLS: usize = 50;

/// Calls one after the other; each is answered with what it asked, which no other asks.
async fn work(agent: &Agent, session: usize, round: &str, calls: usize) -> Result<()> {
    for call in 0..calls {
        let text = format!("{round} {session} {call}");
        let (answer, failed) = agent.use_tool("echo", json!({ "text": text })).await?;
        let own = json!({ "text": text }).to_string();
        ensure!(!failed && answer == own, "{text:?} was answered {answer:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_sessions_of_fifty_calls() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    add_server(&place, "fixture", &[], true)?;
    let owner = place.serve()?;
    let agents = try_join_all((0..SESSIONS).map(|session| {
        let place = &place;
        async move {
            let generation = Generation::BOTH[session % 2];
            let mut agent = Agent::over_http(place, generation).await?;
            agent.search("echo").await?;
            anyhow::Ok(agent)
        }
    }))
    .await?;
    let all = |round: &'static str, calls: usize| {
        try_join_all(
            agents.iter().enumerate().map(move |(session, agent)| work(agent, session, round, calls)),
        )
    };
    // Buffers grow to their size first.
    all("before", CALLS).await?;
    #[cfg(target_os = "linux")]
    let before = owner.resident_kib()?;
    all("counted", CALLS).await?;
    #[cfg(target_os = "linux")]
    {
        let after = owner.resident_kib()?;
        ensure!(after * 100 <= before * 105, "{before} KiB became {after} KiB");
    }
    // The server behind saw each call once.
    let (count, _) = {
        let mut agent = Agent::over_http(&place, Generation::Session).await?;
        agent.search("count").await?;
        agent.use_tool("count", json!({})).await?
    };
    ensure!(count.parse::<usize>()? == 2 * SESSIONS * CALLS + 1, "{count}");
    owner.stop()
}
