//! Sessions are kept as they were.

use std::time::Duration;

use anyhow::{Context, Result};
use autokit_api::commands::{GetSession, ListSessions, StartAsk};
use autokit_api::{AgentQuestion, Nothing, SessionRef, TurnState};
use autokit_app::ErrorCode;
use autokit_tests::Workplace;
use autokit_tests::agent::{
    answer_of, ask, give_feedback, last_turn, set_providers, start, wait_for_session,
};
use autokit_tests::model::{Reply, ScriptedModel};

use autokit_tests::calendar::{NEED, cards, node_and_site, stock};

#[tokio::test(flavor = "multi_thread")]
async fn a_past_session_is_unchanged() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (node, _site) = node_and_site(&place).await?;
    let session = ask(&node, NEED).await?;
    assert!(!answer_of(&session)?.findings.is_empty(), "{:?}", answer_of(&session)?);
    give_feedback(&node, &session.id, false, "not that one").await?;
    let answered = ask(&node, "NewsAPI: finds news by words").await?;
    give_feedback(&node, &answered.id, true, "a morning letter").await?;
    let ids = [session.id, answered.id];
    let mut before = Vec::new();
    for id in &ids {
        before.push(node.call::<GetSession>(SessionRef { session: id.clone() }).await?);
    }
    node.close().await?;

    let node = place.node(1024).await?;
    for (id, before) in ids.iter().zip(&before) {
        let after = node.call::<GetSession>(SessionRef { session: id.clone() }).await?;
        assert_eq!(&after, before);
        assert_eq!(serde_json::to_string(&after)?, serde_json::to_string(before)?, "to the letter");
    }
    let listed = node.call::<ListSessions>(Nothing {}).await?;
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[0].question, "NewsAPI: finds news by words", "the newest first");
    // It goes on where it was left.
    let request =
        AgentQuestion { question: "paint a picture".into(), session: Some(ids[0].clone()), limit: None };
    node.call::<StartAsk>(request).await?;
    let more = wait_for_session(&node, &ids[0]).await?;
    assert_eq!(more.turns[..2], before[0].turns[..]);
    assert_eq!(more.turns.len(), 3);
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_session_is_saved_as_stopped_when_the_program_ends() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let model = ScriptedModel::with_script(|_| Reply::Never).await?;
    let node = place.node(64).await?;
    stock(&node, &cards()).await?;
    set_providers(&node, Some(&model), None).await?;
    let session = start(&node, "find news").await?;
    model.in_flight.wait_until(|count| count == 1).await?;
    node.close().await?;
    let node = place.node(64).await?;
    let saved = node.call::<GetSession>(SessionRef { session }).await?;
    assert_eq!(last_turn(&saved)?.state, TurnState::Cancelled);
    assert!(!last_turn(&saved)?.events.is_empty(), "with what was done until then");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_concurrent_request_continues_a_session() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let model =
        ScriptedModel::with_script(|_| Reply::status(400, "no").after(Duration::from_millis(50))).await?;
    let node = place.node(64).await?;
    stock(&node, &cards()).await?;
    let session = ask(&node, "find news").await?;
    set_providers(&node, Some(&model), None).await?;
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let request =
            AgentQuestion { question: "paint".into(), session: Some(session.id.clone()), limit: None };
        let node = node.clone();
        asking.spawn(async move { node.call::<StartAsk>(request).await });
    }
    let outcomes = asking.join_all().await;
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    assert!(refused.clone().all(|error| error.code == ErrorCode::Conflict), "{outcomes:?}");
    let taken = outcomes.len() - refused.count();
    let session = wait_for_session(&node, &session.id).await?;
    assert_eq!(session.turns.len(), 1 + taken, "each turn was asked for by one");
    assert!(session.turns.iter().all(|turn| turn.state == TurnState::Done), "{session:?}");
    session.turns.last().context("a turn")?;
    node.close().await?;
    Ok(())
}
