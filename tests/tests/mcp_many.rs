//! Many agents at once: every call is answered once, with its own answer, and memory stays what it was.

use anyhow::{Result, ensure};
use autokit_tests::Workplace;
use autokit_tests::mcp::{Agent, Generation, add_server};
use futures_util::future::try_join_all;
use serde_json::json;

const SESSIONS: usize = 100;
const CALLS: usize = 50;
/// Rounds of calls after which memory has to have stopped growing.
const ROUNDS: usize = 8;

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
    let mut rounds = 0;
    #[cfg(target_os = "linux")]
    let mut sizes = vec![(owner.resident_kib()?, place.log_kib()?)];
    loop {
        let round = rounds.to_string();
        let each = agents.iter().enumerate();
        try_join_all(each.map(|(session, agent)| work(agent, session, &round, CALLS))).await?;
        rounds += 1;
        // Buffers, threads and the allocator's arenas grow to their size, sooner or later; what is lost with
        // each call grows in every round alike. Each call is recorded, and the store holds its newest records
        // in memory until it writes them into a table.
        #[cfg(target_os = "linux")]
        {
            sizes.push((owner.resident_kib()?, place.log_kib()?));
            let [(before, logged), (after, log)] = [sizes[rounds - 1], sizes[rounds]];
            let records = log.saturating_sub(logged);
            if after > before + before / 50 + records * 3 / 2 {
                let calls = SESSIONS * CALLS;
                ensure!(rounds < ROUNDS, "KiB in memory and in the log after each {calls} calls: {sizes:?}");
                continue;
            }
        }
        break;
    }
    // The server behind saw each call once.
    let (count, _) = {
        let mut agent = Agent::over_http(&place, Generation::Session).await?;
        agent.search("count").await?;
        agent.use_tool("count", json!({})).await?
    };
    ensure!(count.parse::<usize>()? == rounds * SESSIONS * CALLS + 1, "{count}");
    owner.stop()
}
