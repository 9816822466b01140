//! One tool made of three recorded calls: recorded, proposed, accepted, called by an agent, and never more permitted
//! than its calls.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};
use autokit_api::commands::{
    AcceptProposal, GetAudit, GetCard, ListRecordedCalls, ProposeMacro, RunTool, SetProfile,
};
use autokit_api::{
    AuditQuery, CardRef, JobState, MacroPropose, Nothing, Profile, ProposalAccept, ToolOutcome, ToolRun,
    ToolRunStart,
};
use autokit_app::node::Node;
use autokit_app::{ErrorCode, Need, Permission};
use autokit_tests::Workplace;
use autokit_tests::agent::job_end;
use autokit_tests::mcp::{Agent, Generation};
use autokit_tests::tools::{call_by_hand, node_with_api};
use axum::extract::{Query, State};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

type Parameters = Query<BTreeMap<String, String>>;

async fn serve(asked: Arc<AtomicUsize>) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let at = listener.local_addr()?;
    let people = async |State(asked): State<Arc<AtomicUsize>>, Query(query): Parameters| {
        asked.fetch_add(1, Ordering::SeqCst);
        let id = if query.get("q").map(String::as_str) == Some("Ada") { 7101 } else { 7202 };
        Json(json!({"results": [{"id": id}]}))
    };
    let films = async |Query(query): Parameters| {
        let person = query.get("person").cloned().unwrap_or_default();
        Json(json!({"films": [{"film_id": format!("film-of-{person}")}]}))
    };
    let posters = async |Query(query): Parameters| {
        Json(json!({"poster": format!("poster of {}", query.get("film").cloned().unwrap_or_default())}))
    };
    let app = Router::new()
        .route("/people", get(people))
        .route("/films", get(films))
        .route("/posters", get(posters))
        .with_state(asked);
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(at)
}

fn operation(id: &str, summary: &str, parameter: &str) -> Value {
    json!({"get": {
        "operationId": id,
        "summary": summary,
        "parameters": [{"name": parameter, "in": "query", "required": true, "schema": {"type": "string"}}],
        "responses": {"200": {"description": "It"}}
    }})
}

async fn owner(place: &Workplace, at: SocketAddr) -> Result<Node> {
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Films", "version": "1"},
        "servers": [{"url": format!("http://{at}")}],
        "paths": {
            "/people": operation("findPeople", "Finds people by name.", "q"),
            "/films": operation("listFilms", "Lists the films of a person.", "person"),
            "/posters": operation("getPoster", "Returns the poster of a film.", "film")
        }
    });
    node_with_api(place, &document.to_string(), vec![at.to_string()]).await
}

async fn call(node: &Node, tool: &str, arguments: Value) -> Result<ToolOutcome> {
    call_by_hand(node, tool, arguments, Vec::new()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn three_recorded_calls_become_one_tool() -> Result<()> {
    let (place, asked) = (Workplace::with_stand_in()?, Arc::new(AtomicUsize::new(0)));
    let at = serve(Arc::clone(&asked)).await?;
    let node = owner(&place, at).await?;
    call(&node, "findPeople", json!({"q": "Ada"})).await?;
    call(&node, "listFilms", json!({"person": "7101"})).await?;
    call(&node, "getPoster", json!({"film": "film-of-7101"})).await?;

    let recorded = node.call::<ListRecordedCalls>(Nothing {}).await?;
    let names: Vec<&str> = recorded.calls.iter().map(|call| call.name.as_str()).collect();
    ensure!(names == ["getPoster", "listFilms", "findPeople"], "{recorded:?}");
    ensure!(recorded.calls[0].uses == [recorded.calls[1].number], "{recorded:?}");
    let calls: Vec<u64> = recorded.calls.iter().map(|call| call.number).collect();
    let request = MacroPropose { calls, name: "posterOf".to_owned(), description: String::new() };
    let proposed = node.call::<ProposeMacro>(request).await?;
    // Nothing can be called before a person accepted it.
    ensure!(node.call::<GetCard>(CardRef { card: "posterOf".to_owned() }).await.is_err());
    let accept = ProposalAccept { id: proposed.proposal, ..ProposalAccept::default() };
    node.call::<AcceptProposal>(accept).await?;

    let outcome = call(&node, "posterOf", json!({"q": "Bo"})).await?;
    ensure!(!outcome.failed, "{outcome:?}");
    ensure!(serde_json::to_string(&outcome.blocks)?.contains("poster of film-of-7202"), "{outcome:?}");
    for generation in Generation::BOTH {
        let mut agent = Agent::over_stdio(&place, generation).await?;
        let found = agent.search("posterOf").await?;
        ensure!(found["results"][0]["callable"] == true, "{found}");
        let tool = found["results"][0]["name"].as_str().context("a name")?.to_owned();
        // Without arguments, those of the recorded calls are used.
        let (text, failed) = agent.use_tool(&tool, json!({})).await?;
        ensure!(!failed && text.contains("poster of film-of-7101"), "{text}");
        agent.disconnect().await?;
    }
    // Each of its calls is in the audit log.
    let log = node.call::<GetAudit>(AuditQuery { days: 1, limit: 100 }).await?;
    let made = |name: &str| log.entries.iter().filter(|entry| entry.name == name).count();
    ensure!(made("posterOf") == 3 && made("listFilms") == 4, "{log:?}");

    // What a call may not do, the macro may not do either.
    let id = node.call::<GetCard>(CardRef { card: "findPeople".to_owned() }).await?.summary.id.to_string();
    let need = Need::Tool { id, name: "findPeople".to_owned(), provider: "Films".to_owned() };
    let mut profile = Profile::default();
    profile.permissions.set(&need, Permission::Deny);
    node.call::<SetProfile>(profile).await?;
    let before = asked.load(Ordering::SeqCst);
    let refused = call(&node, "posterOf", json!({})).await;
    ensure!(refused.is_err() && asked.load(Ordering::SeqCst) == before, "{refused:?}");
    // Where the rules ask, all that its calls need is asked for at once.
    let mut profile = Profile::default();
    profile.permissions.set(&need, Permission::Ask);
    node.call::<SetProfile>(profile).await?;
    let run = ToolRun {
        tool: "posterOf".to_owned(),
        profile: String::new(),
        arguments: serde_json::Map::new(),
        granted: Vec::new(),
    };
    let asks = node.call::<RunTool>(run.clone()).await?;
    let ToolRunStart::Asks { needs, .. } = asks else { anyhow::bail!("it asks") };
    ensure!(needs == [need], "{needs:?}");
    let started = node.call::<RunTool>(ToolRun { granted: needs, ..run }).await?;
    let ToolRunStart::Started { job } = started else { anyhow::bail!("it was granted") };
    let state = job_end(&node, &job).await?.state;
    ensure!(state == JobState::Done && asked.load(Ordering::SeqCst) == before + 1);

    let gone = MacroPropose { calls: vec![9_999], name: String::new(), description: String::new() };
    let error = node.call::<ProposeMacro>(gone).await.err().context("refused")?;
    ensure!(error.code == ErrorCode::NotFound, "{error:?}");
    node.close().await?;
    Ok(())
}
