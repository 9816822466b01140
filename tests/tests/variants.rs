//! Descriptions of one tool that compete: given to agents, counted by the outcomes of their calls, withdrawn and proposed.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use autokit_api::commands::{AddVariant, EndVariants, GetCard, GetProposal, ListVariants, SetVariant};
use autokit_api::{
    CardRef, Nothing, ProposalGet, VariantAdd, VariantContest, VariantSet, VariantWithdrawal, VariantsEnd,
};
use autokit_app::ErrorCode;
use autokit_app::node::Node;
use autokit_tests::Workplace;
use autokit_tests::mcp::{Agent, Generation};
use autokit_tests::tools::node_with_api;
use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::routing::get;
use serde_json::json;
use tokio::net::TcpListener;

/// A web API that never does what it is asked.
async fn broken() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let at = listener.local_addr()?;
    let app =
        Router::new().route("/hours", get(|| async { (StatusCode::BAD_REQUEST, "no").into_response() }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(at)
}

async fn owner(place: &Workplace, at: SocketAddr) -> Result<Node> {
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": format!("http://{at}")}],
        "paths": {"/hours": {"get": {
            "operationId": "openingHours",
            "summary": "Lists opening hours.",
            "parameters": [{"name": "day", "in": "query", "schema": {"type": "string"}}],
            "responses": {"200": {"description": "It"}}
        }}}
    });
    node_with_api(place, &document.to_string(), vec![at.to_string()]).await
}

async fn contest(node: &Node) -> Result<VariantContest> {
    let all = node.call::<ListVariants>(Nothing {}).await?;
    all.contests.into_iter().next().context("a contest")
}

fn add(description: &str) -> VariantAdd {
    VariantAdd { card: "openingHours".to_owned(), description: description.to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_description_whose_calls_fail_is_withdrawn() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = owner(&place, broken().await?).await?;
    node.call::<AddVariant>(add("Says when the shop is open on a day.")).await?;
    let mut agent = Agent::over_stdio(&place, Generation::BOTH[0]).await?;
    let mut calls = 0;
    // Either description fails; ten failures withdraw the first one that has them.
    let withdrawn = loop {
        ensure!(calls < 40, "nothing is withdrawn after {calls} calls: {:?}", contest(&node).await?);
        let found = agent.search("openingHours").await?;
        let tool = found["results"][0]["name"].as_str().context("a name")?.to_owned();
        // Other arguments each time: this is no loop.
        let (text, failed) = agent.use_tool(&tool, json!({"day": format!("day {calls}")})).await?;
        ensure!(failed, "{text}");
        calls += 1;
        if let Some(gone) = contest(&node).await?.variants.into_iter().find(|one| one.withdrawn.is_some()) {
            break gone;
        }
    };
    ensure!(withdrawn.withdrawn == Some(VariantWithdrawal::Fails), "{withdrawn:?}");
    ensure!(withdrawn.successes == 0 && withdrawn.failures == 10, "{withdrawn:?}");
    let now = contest(&node).await?;
    let counted: u64 = now.variants.iter().map(|one| one.successes + one.failures).sum();
    ensure!(counted == calls, "every call is counted once: {counted} of {calls}");
    agent.disconnect().await?;
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contest_ends_with_a_proposal() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = owner(&place, broken().await?).await?;
    let better = "Says when the shop is open on a day.";
    node.call::<AddVariant>(add(better)).await?;
    let twice = node.call::<AddVariant>(add(better)).await.err().context("refused")?;
    ensure!(twice.code == ErrorCode::BadRequest, "{twice:?}");
    let same = node.call::<AddVariant>(add("Lists opening hours.")).await.err().context("refused")?;
    ensure!(same.code == ErrorCode::BadRequest, "{same:?}");
    let now = contest(&node).await?;
    let ids: Vec<&str> = now.variants.iter().map(|one| one.id.as_str()).collect();
    ensure!(ids == ["current", "v2"], "{now:?}");
    ensure!(now.variants[0].description.contains("Lists opening hours."), "{now:?}");

    let set = |withdrawn| VariantSet { card: "openingHours".to_owned(), variant: "v2".to_owned(), withdrawn };
    node.call::<SetVariant>(set(true)).await?;
    ensure!(contest(&node).await?.variants[1].withdrawn == Some(VariantWithdrawal::Person));
    node.call::<SetVariant>(set(false)).await?;
    ensure!(contest(&node).await?.variants[1].withdrawn.is_none());

    let end =
        |propose: &str| VariantsEnd { card: "openingHours".to_owned(), propose: Some(propose.to_owned()) };
    let unknown = node.call::<EndVariants>(end("v9")).await.err().context("refused")?;
    ensure!(unknown.code == ErrorCode::NotFound, "{unknown:?}");
    let ended = node.call::<EndVariants>(end("v2")).await?;
    let detail = node.call::<GetProposal>(ProposalGet::from(ended.proposal.context("a proposal")?)).await?;
    ensure!(detail.proposal.draft.fields[0].value == Some(json!(better)), "{detail:?}");
    ensure!(node.call::<ListVariants>(Nothing {}).await?.contests.is_empty());
    // Nothing is changed before a person accepts it.
    let card = node.call::<GetCard>(CardRef { card: "openingHours".to_owned() }).await?;
    ensure!(card.fields.get("description") != Some(&json!(better)));
    node.close().await?;
    Ok(())
}
