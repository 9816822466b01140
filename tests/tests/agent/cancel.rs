//! Stopping a question: at once, and the service is let go.

use std::time::Instant;

use anyhow::Result;
use autokit_agent::ask::MODEL_IDLE_TIMEOUT;
use autokit_api::commands::CancelSession;
use autokit_api::{SessionRef, TurnState};
use autokit_tests::Workplace;
use autokit_tests::agent::{answer_of, ask, last_turn, set_providers, start};
use autokit_tests::model::{Reply, RequestKind, ScriptedModel};

use autokit_tests::calendar::{QUESTION, cards, site, stock};

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_model_is_abandoned_at_once() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    // Stopped at each of the steps that ask a model.
    for step in [RequestKind::Scores, RequestKind::Answer, RequestKind::Rewrite, RequestKind::Web] {
        let model = ScriptedModel::with_script(move |request| match request.kind() {
            expected if expected == step => Reply::Never,
            RequestKind::Scores => Reply::scores(request, ""),
            RequestKind::Answer => Reply::answer(None, "", "", ""),
            _ => Reply::query(QUESTION),
        })
        .await?;
        let site = site().await?;
        let node = place.node(64).await?;
        if step == RequestKind::Scores {
            stock(&node, &cards()).await?;
        }
        set_providers(&node, Some(&model), Some(&site)).await?;
        let session = start(&node, QUESTION).await?;
        let waits = || model.requests().last().is_some_and(|request| request.kind() == step);
        // Until that step is asked for: requests come and go until then.
        while !waits() {
            model.in_flight.wait_until(|count| count > 0).await?;
            tokio::task::yield_now().await;
        }
        let began = Instant::now();
        let stopped = node.call::<CancelSession>(SessionRef { session }).await?;
        let took = began.elapsed();
        // Not when the model would have been given up anyway. `cargo xtask bench` tells how long it takes.
        assert!(took < MODEL_IDLE_TIMEOUT, "stopping at {step:?} took {took:?}");
        assert_eq!(last_turn(&stopped)?.state, TurnState::Cancelled);
        assert!(last_turn(&stopped)?.error.is_none());
        model.in_flight.wait_until(|count| count == 0).await?;
        // The session goes on where it was stopped, and so does the program.
        set_providers(&node, None, None).await?;
        assert!(answer_of(&ask(&node, QUESTION).await?).is_ok());
        node.close().await?;
        // Those kept for the next request are closed with the program.
        drop(node);
        model.sockets.wait_until(|count| count == 0).await?;
    }
    Ok(())
}
