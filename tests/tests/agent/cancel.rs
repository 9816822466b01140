//! Stopping a question: at once, and the service is let go.

use std::time::Instant;

use anyhow::Result;
use autokit_agent::ask::LONGEST_SILENCE;
use autokit_api::commands::CancelSession;
use autokit_api::{SessionRef, TurnState};
use autokit_tests::Workplace;
use autokit_tests::agent::{ask, choose, last, start, told};
use autokit_tests::model::{Reply, ScriptedModel, Wanted};

use autokit_tests::calendar::{QUESTION, cards, site, stock};

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_model_is_let_go_at_once() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    // Stopped at each of the steps that ask a model.
    for step in [Wanted::Scores, Wanted::Answer, Wanted::Rewrite, Wanted::Web] {
        let model = ScriptedModel::saying(move |asked| match asked.wanted() {
            wanted if wanted == step => Reply::Never,
            Wanted::Scores => Reply::scores(asked, ""),
            Wanted::Answer => Reply::answer(None, "", "", ""),
            _ => Reply::query(QUESTION),
        })
        .await?;
        let site = site().await?;
        let node = place.node(64).await?;
        if step == Wanted::Scores {
            stock(&node, &cards()).await?;
        }
        choose(&node, Some(&model), Some(&site)).await?;
        let session = start(&node, QUESTION).await?;
        let waits = || model.asked().last().is_some_and(|asked| asked.wanted() == step);
        // Until that step is asked for: requests come and go until then.
        while !waits() {
            model.under_way.reaches(|count| count > 0).await?;
            tokio::task::yield_now().await;
        }
        let began = Instant::now();
        let stopped = node.call::<CancelSession>(SessionRef { session }).await?;
        let took = began.elapsed();
        // Not when the model would have been given up anyway. `cargo xtask bench` tells how long it takes.
        assert!(took < LONGEST_SILENCE, "stopping at {step:?} took {took:?}");
        assert_eq!(last(&stopped)?.state, TurnState::Cancelled);
        assert!(last(&stopped)?.error.is_none());
        model.under_way.reaches(|count| count == 0).await?;
        // The session goes on where it was stopped, and so does the program.
        choose(&node, None, None).await?;
        assert!(told(&ask(&node, QUESTION).await?).is_ok());
        node.close().await?;
        // Those kept for the next request are closed with the program.
        drop(node);
        model.sockets.reaches(|count| count == 0).await?;
    }
    Ok(())
}
