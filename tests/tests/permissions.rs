//! What agents may do, seen from an agent: each scope allowed, asked for and denied; keys and files stay
//! where they belong; all of it is written down.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};
use autokit_api::commands::{
    AnswerApproval, GetActivity, GetAudit, GetCard, GetTool, ListApiKeys, ListProfiles, ListTools,
    RemoveApiKey, RemoveProfile, RunTool, SetAgentSessions, SetApiKey, SetProfile, WaitApprovals,
};
use autokit_api::{
    ActivityQuery, AgentSessions, Allowlist, ApiKeyRef, ApiKeySet, ApiSecret, ApprovalAnswer,
    ApprovalDecision, ApprovalRequest, ApprovalsWait, AuditLog, AuditQuery, CallOutcome, CardRef, DecidedBy,
    Nothing, Profile, ToolBlock, ToolOutcome, ToolRef, ToolRun, ToolRunStart, ToolSource, ToolsQuery,
};
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_app::{ErrorCode, Need, Permission, Permissions, Policy};
use autokit_tests::Workplace;
use autokit_tests::mcp::{Agent, Generation, add_server};
use autokit_tests::tools::{call_by_hand, node_with_api};
use axum::Router;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A web API and some pages, on this machine.
#[derive(Clone, Default)]
struct Site {
    /// Requests for the weather.
    asked: Arc<AtomicUsize>,
}

impl Site {
    async fn serve(&self) -> Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let at = listener.local_addr()?;
        let elsewhere = format!("http://localhost:{}/page", at.port());
        let app = Router::new()
            .route("/weather", get(weather))
            .route("/page", get(|| async { axum::response::Html("<h1>Kettles</h1><p>They boil water.</p>") }))
            .route("/on", get(move || async move { Redirect::temporary(&elsewhere) }))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(at)
    }
}

async fn weather(
    State(site): State<Site>,
    Query(query): Query<std::collections::BTreeMap<String, String>>,
    headers: HeaderMap,
) -> impl IntoResponse {
    site.asked.fetch_add(1, Ordering::SeqCst);
    let key = headers.get("x-key").and_then(|key| key.to_str().ok()).unwrap_or("none").to_owned();
    axum::Json(json!({"city": query.get("city"), "let_in": key == "s3cr3t-key-0123"}))
}

fn specification(at: SocketAddr) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Skies", "version": "1"},
        "servers": [{"url": format!("http://{at}")}],
        "security": [{"sky_key": []}],
        "components": {"securitySchemes": {"sky_key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
        "paths": {"/weather": {"get": {
            "operationId": "getWeather",
            "summary": "Tells the weather of a city.",
            "parameters": [
                {"name": "city", "in": "query", "required": true, "schema": {"type": "string"}},
                {"name": "pin", "in": "query", "schema": {"type": "string", "format": "password"}}
            ],
            "responses": {"200": {"description": "It"}}
        }}}
    })
}

/// The process that owns the library, with the API's operation as a card and this machine's site open.
async fn owner(place: &Workplace, at: SocketAddr) -> Result<Node> {
    let hosts = vec![at.to_string(), format!("localhost:{}", at.port())];
    node_with_api(place, &specification(at).to_string(), hosts).await
}

async fn profile(node: &Node, name: &str, change: impl FnOnce(&mut Profile)) -> Result<()> {
    let mut profile = Profile { name: name.to_owned(), ..Profile::default() };
    change(&mut profile);
    node.call::<SetProfile>(profile).await?;
    Ok(())
}

async fn word(node: &Node, change: impl FnOnce(&mut Permissions)) -> Result<()> {
    profile(node, "", |profile| change(&mut profile.permissions)).await
}

async fn key(node: &Node, origin: String) -> Result<()> {
    let secret = ApiSecret::Key { key: "s3cr3t-key-0123".to_owned() };
    let (scheme, place) = ("sky_key".to_owned(), "header X-Key".to_owned());
    node.call::<SetApiKey>(ApiKeySet { origin, scheme, place, secret }).await?;
    Ok(())
}

async fn audit(node: &Node) -> Result<AuditLog> {
    Ok(node.call::<GetAudit>(AuditQuery { days: 1, limit: 100 }).await?)
}

async fn refused(agent: &Agent, tool: &str, arguments: Value, words: &str) -> Result<()> {
    let (text, failed) = agent.use_tool(tool, arguments).await?;
    ensure!(failed && text.contains(words), "{tool}: {text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_is_called_with_the_key_of_its_origin() -> Result<()> {
    let (place, site) = (Workplace::with_stand_in()?, Site::default());
    let at = site.serve().await?;
    let node = owner(&place, at).await?;
    let expected = node.call::<ListApiKeys>(Nothing {}).await?;
    ensure!(expected.len() == 1 && expected[0].origin == format!("http://{at}"), "{expected:?}");
    ensure!(
        expected[0].scheme == "sky_key" && !expected[0].here && expected[0].operations == 1,
        "{expected:?}"
    );
    let report = node.call::<GetActivity>(ActivityQuery { days: 1 }).await?;
    ensure!(report.static_tokens > 0, "an operation is a tool that can be called: {report:?}");
    for generation in Generation::BOTH {
        let mut agent = Agent::over_stdio(&place, generation).await?;
        let found = agent.search("weather").await?;
        ensure!(found["results"][0]["callable"] == true, "{found}");
        let tool = found["results"][0]["name"].as_str().context("a name")?.to_owned();
        // Each time another one, which is no loop.
        let mut number = 0;
        let mut city = || {
            number += 1;
            json!({"city": format!("Ulm {number}")})
        };
        refused(&agent, &tool, city(), "sky_key").await?;
        // A key of another origin of the same provider is not sent here.
        key(&node, format!("http://localhost:{}", at.port())).await?;
        refused(&agent, &tool, city(), "sky_key").await?;
        key(&node, format!("http://{at}")).await?;
        let (text, failed) = agent.use_tool(&tool, city()).await?;
        ensure!(!failed && text == r#"{"city":"Ulm 3","let_in":true}"#, "{text}");
        refused(&agent, &tool, json!({}), "required").await?;
        // Each scope by itself.
        let origin = Need::Secret { of: format!("http://{at}") };
        let id =
            node.call::<GetCard>(CardRef { card: "getWeather".to_owned() }).await?.summary.id.to_string();
        let provider = found["results"][0]["provider"].as_str().unwrap_or_default().to_owned();
        let calling = Need::Tool { id, name: "getWeather".to_owned(), provider };
        for (need, words) in [
            (Need::Host { host: at.to_string() }, "not permitted to reach"),
            (origin, "not permitted to use the API key"),
            (calling, "no longer be called"),
        ] {
            let before = site.asked.load(Ordering::SeqCst);
            word(&node, |permissions| permissions.set(&need, Permission::Deny)).await?;
            refused(&agent, &tool, city(), words).await?;
            ensure!(site.asked.load(Ordering::SeqCst) == before, "nothing was sent: {need:?}");
            word(&node, |_| {}).await?;
        }
        // What a person denied is not found either.
        word(&node, |permissions| permissions.tools.otherwise = Some(Permission::Deny)).await?;
        ensure!(agent.search("weather").await?["results"] == json!([]));
        word(&node, |_| {}).await?;
        agent.disconnect().await?;
        for origin in [format!("http://{at}"), format!("http://localhost:{}", at.port())] {
            let (scheme, place) = ("sky_key".to_owned(), String::new());
            node.call::<RemoveApiKey>(ApiKeyRef { origin, scheme, place }).await?;
        }
    }
    let log = serde_json::to_string(&audit(&node).await?)?;
    ensure!(!log.contains("s3cr3t") && log.contains("to use the API key for http://127.0.0.1"), "{log}");
    node.close().await?;
    Ok(())
}

fn text_of(outcome: &ToolOutcome) -> &str {
    match outcome.blocks.first() {
        Some(ToolBlock::Text { text }) => text,
        _ => "",
    }
}

/// The registry: listed, looked at and called by name, by the same rules as agents.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_calls_tools_by_name() -> Result<()> {
    let (place, site) = (Workplace::with_stand_in()?, Site::default());
    let at = site.serve().await?;
    let node = owner(&place, at).await?;
    let all = async |text: &str| {
        let query = ToolsQuery {
            text: text.to_owned(),
            sources: Vec::new(),
            profile: String::new(),
            offset: 0,
            limit: 100,
        };
        node.call::<ListTools>(query).await
    };
    let listed = all("").await?;
    let of = |name: &str| listed.tools.iter().find(|tool| tool.name == name).cloned().context("a tool");
    ensure!(listed.total as usize == listed.tools.len() && listed.total == 16, "{listed:?}");
    ensure!(of("ask")?.source == ToolSource::Session && of("ask")?.permission == Permission::Allow);
    ensure!(of("code_exec")?.source == ToolSource::Builtin);
    ensure!(of("getWeather")?.source == ToolSource::Api, "{listed:?}");
    ensure!(all("WEATHER").await?.total == 1);
    let view = node.call::<GetTool>(ToolRef { tool: "getWeather".into(), profile: String::new() }).await?;
    ensure!(view.example.contains_key("city") && view.schema["required"] == json!(["city"]), "{view:?}");

    let time = call_by_hand(&node, "get_time", json!({"zone": "Europe/Berlin"}), Vec::new()).await?;
    ensure!(!time.failed && text_of(&time).contains("Europe/Berlin"), "{time:?}");
    key(&node, format!("http://{at}")).await?;
    let weather = call_by_hand(&node, "getWeather", json!({"city": "Ulm"}), Vec::new()).await?;
    ensure!(!weather.failed && text_of(&weather) == r#"{"city":"Ulm","let_in":true}"#, "{weather:?}");

    // What has to be asked for is told, and nothing is done before it is granted.
    // Programs give way to everything else: on a busy machine the time they have unasked may be too short.
    let code = json!({"language": "python", "code": "print(6 * 7)", "seconds": 60});
    let run = ToolRun {
        tool: "code_exec".into(),
        profile: String::new(),
        arguments: code.as_object().cloned().context("an object")?,
        granted: vec![Need::Code { language: "shell".into() }],
    };
    let ToolRunStart::Asks { needs, words } = node.call::<RunTool>(run.clone()).await? else {
        anyhow::bail!("it is asked for");
    };
    ensure!(words == ["to run code in python"], "{words:?}");
    let ran = call_by_hand(&node, "code_exec", code, needs.clone()).await?;
    ensure!(!ran.failed && text_of(&ran).contains("42"), "{ran:?}");
    // A grant opens nothing that is denied.
    word(&node, |permissions| permissions.set(&needs[0], Permission::Deny)).await?;
    let denied = node.call::<RunTool>(ToolRun { granted: needs, ..run }).await;
    ensure!(denied.as_ref().is_err_and(|error| error.code == ErrorCode::Refused), "{denied:?}");
    word(&node, |permissions| permissions.tools.otherwise = Some(Permission::Deny)).await?;
    ensure!(all("getWeather").await?.tools[0].permission == Permission::Deny);
    let before = site.asked.load(Ordering::SeqCst);
    let closed = call_by_hand(&node, "getWeather", json!({"city": "Ulm"}), Vec::new()).await;
    ensure!(closed.as_ref().is_err_and(|error| error.to_string().contains("rules deny it")), "{closed:?}");
    ensure!(site.asked.load(Ordering::SeqCst) == before, "nothing was sent");
    word(&node, |_| {}).await?;

    let wrong = call_by_hand(&node, "getWeather", json!({}), Vec::new()).await;
    ensure!(wrong.as_ref().is_err_and(|error| error.to_string().contains("required")), "{wrong:?}");
    let none = node.call::<GetTool>(ToolRef { tool: "none".into(), profile: String::new() }).await;
    ensure!(none.is_err_and(|error| error.code == ErrorCode::NotFound));
    let log = audit(&node).await?;
    let by_hand: Vec<(&str, CallOutcome, DecidedBy)> = log
        .entries
        .iter()
        .filter(|entry| entry.client == "AutoKit, by hand")
        .map(|entry| (entry.name.as_str(), entry.outcome, entry.decided))
        .collect();
    ensure!(
        by_hand
            == [
                // The arguments do not fit, and before that the rules closed it.
                ("getWeather", CallOutcome::Refused, DecidedBy::Nobody),
                ("getWeather", CallOutcome::Refused, DecidedBy::Rules),
                ("code_exec", CallOutcome::Refused, DecidedBy::Rules),
                ("code_exec", CallOutcome::Done, DecidedBy::Person),
                ("getWeather", CallOutcome::Done, DecidedBy::Rules),
                ("get_time", CallOutcome::Done, DecidedBy::Rules),
            ],
        "{by_hand:?}"
    );
    let log_text = serde_json::to_string(&log)?;
    ensure!(!log_text.contains("s3cr3t"), "{log_text}");
    node.close().await?;
    Ok(())
}

/// Waits for the call that waits for a person.
async fn waiting(node: &Node) -> Result<ApprovalRequest> {
    let mut after = 0;
    loop {
        let asks = node.call::<WaitApprovals>(ApprovalsWait { after }).await?;
        if let Some(ask) = asks.asks.into_iter().next() {
            return Ok(ask);
        }
        after = asks.version;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_and_the_call_waits() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node_with(Vectors::StandIn(32), KeyStorage::Memory).await?;
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    let found = agent.search("run python code").await?;
    ensure!(found["results"][0]["name"] == "code_exec", "{found}");
    // Programs give way to everything else: on a busy machine the time they have unasked may be too short.
    let code = |text: &str| json!({"language": "python", "code": text, "seconds": 60});
    // Nobody is there: it is refused at once, with what a person can do.
    refused(&agent, "code_exec", code("print(6 * 7)"), "window is not open").await?;
    let answer = async |args: Value, reply: ApprovalDecision| -> Result<(ApprovalRequest, String, bool)> {
        // Somebody looks from now on.
        node.call::<WaitApprovals>(ApprovalsWait { after: 0 }).await?;
        let replying = async {
            let ask = waiting(&node).await?;
            node.call::<AnswerApproval>(ApprovalAnswer { id: ask.id.clone(), reply }).await?;
            Ok::<_, anyhow::Error>(ask)
        };
        let (given, ask) = tokio::join!(agent.use_tool("code_exec", args), replying);
        let (text, failed) = given?;
        Ok((ask?, text, failed))
    };
    let (ask, text, failed) = answer(code("print(6 * 7)"), ApprovalDecision::Once).await?;
    ensure!(!failed && text.contains(r#""stdout":"42\n""#), "{text}");
    ensure!(ask.until > ask.at, "{ask:?}");
    ensure!(ask.words == ["to run code in python"] && ask.client == "test agent 1.0", "{ask:?}");
    ensure!(ask.arguments == code("print(6 * 7)") && ask.name == "code_exec", "{ask:?}");
    let (_, text, failed) = answer(code("print(1)"), ApprovalDecision::No).await?;
    ensure!(failed && text.contains("user denied"), "{text}");
    // For the session: the next one is not asked for; another language is.
    let (_, _, failed) = answer(code("print(2)"), ApprovalDecision::Session).await?;
    ensure!(!failed);
    ensure!(!agent.use_tool("code_exec", code("print(3)")).await?.1);
    let shell = json!({"language": "shell", "code": "echo 4", "seconds": 60});
    let (ask, text, failed) = answer(shell, ApprovalDecision::Never).await?;
    ensure!(failed && text.contains("user denied"), "{text}");
    let saved = node.call::<ListProfiles>(Nothing {}).await?.profiles;
    let everybody = Policy::everybody(Arc::new(saved[0].permissions.clone()));
    ensure!(everybody.permission_for(&ask.needs[0]) == Permission::Deny, "{saved:?}");
    refused(&agent, "code_exec", json!({"language": "shell", "code": "echo 5"}), "not permitted").await?;
    // Another session is asked again, and a word for always is kept.
    let mut other = Agent::over_stdio(&place, Generation::Stateless).await?;
    other.search("run python code").await?;
    node.call::<WaitApprovals>(ApprovalsWait { after: 0 }).await?;
    let replying = async {
        let ask = waiting(&node).await?;
        let always = ApprovalAnswer { id: ask.id, reply: ApprovalDecision::Always };
        Ok::<_, anyhow::Error>(node.call::<AnswerApproval>(always).await?)
    };
    let (given, asks) = tokio::join!(other.use_tool("code_exec", code("print(7)")), replying);
    ensure!(!given?.1 && asks?.asks.is_empty());
    ensure!(!other.use_tool("code_exec", code("print(8)")).await?.1);
    // A call that waits when its agent goes does not wait any more, and cannot be answered.
    word(&node, |permissions| permissions.code.otherwise = Some(Permission::Ask)).await?;
    let mut last = Agent::over_stdio(&place, Generation::Session).await?;
    last.search("run python code").await?;
    node.call::<WaitApprovals>(ApprovalsWait { after: 0 }).await?;
    let ask = {
        let calling = last.use_tool("code_exec", code("print(9)"));
        tokio::pin!(calling);
        tokio::select! {
            ask = waiting(&node) => ask?,
            given = &mut calling => anyhow::bail!("it did not wait: {given:?}"),
        }
    };
    last.disconnect().await?;
    let mut after = 0;
    loop {
        let asks = node.call::<WaitApprovals>(ApprovalsWait { after }).await?;
        if asks.asks.is_empty() {
            break;
        }
        after = asks.version;
    }
    let once = ApprovalAnswer { id: ask.id, reply: ApprovalDecision::Once };
    let late = node.call::<AnswerApproval>(once).await;
    ensure!(late.is_err_and(|error| error.message.contains("no longer waiting")));
    // It is written down when the last of it is gone.
    let log = loop {
        let log = audit(&node).await?;
        if log.entries.iter().any(|entry| entry.outcome == CallOutcome::Cancelled) {
            break log;
        }
        tokio::task::yield_now().await;
    };
    let decided = |by, outcome| {
        log.entries.iter().filter(|entry| entry.decided == by && entry.outcome == outcome).count()
    };
    ensure!(
        decided(DecidedBy::Nobody, CallOutcome::Refused) == 1
            && decided(DecidedBy::Person, CallOutcome::Refused) == 2,
        "{log:?}"
    );
    ensure!(
        decided(DecidedBy::Person, CallOutcome::Done) == 4
            && decided(DecidedBy::Rules, CallOutcome::Refused) == 1,
        "{log:?}"
    );
    ensure!(
        decided(DecidedBy::Rules, CallOutcome::Done) == 1
            && decided(DecidedBy::Nobody, CallOutcome::Cancelled) == 1,
        "{log:?}"
    );
    agent.disconnect().await?;
    other.disconnect().await?;
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_below_folders_that_were_opened() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node_with(Vectors::StandIn(32), KeyStorage::Memory).await?;
    let project = place.path("project");
    std::fs::create_dir_all(project.join("private"))?;
    std::fs::write(project.join("notes.txt"), "one\ntwo\nthree\n")?;
    std::fs::write(project.join("private/diary.txt"), "mine")?;
    let outside = place.path("outside.txt");
    std::fs::write(&outside, "not yours")?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, project.join("link.txt"))?;
    #[cfg(unix)]
    std::os::unix::fs::symlink("private", project.join("open"))?;
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    agent.search("read a file of the project").await?;
    let read = async |path: &str| agent.use_tool("read_project_file", json!({"path": path})).await;
    let (text, failed) = read("notes.txt").await?;
    ensure!(failed && text.contains("no folder is open"), "{text}");
    let folder = |path: &Path| Need::Files { folder: path.display().to_string() };
    word(&node, |permissions| {
        permissions.set(&folder(&project), Permission::Allow);
        permissions.set(&folder(&project.join("private")), Permission::Deny);
    })
    .await?;
    let (text, failed) = read("notes.txt").await?;
    ensure!(!failed && text.contains(r#""text":"one\ntwo\nthree\n""#), "{text}");
    let (text, failed) = read("").await?;
    ensure!(!failed && text.contains("notes.txt") && text.contains("private"), "{text}");
    let full = project.join("notes.txt").display().to_string();
    ensure!(!read(&full).await?.1);
    for path in ["private/diary.txt", "./private/../private/diary.txt"] {
        let (text, failed) = read(path).await?;
        ensure!(failed && text.contains("not permitted") && !text.contains("mine"), "{path}: {text}");
    }
    // Nor by a link that stays within the folder, which is fine where nothing in it is closed.
    #[cfg(unix)]
    {
        let (text, failed) = read("open/diary.txt").await?;
        ensure!(failed && !text.contains("mine"), "{text}");
        word(&node, |permissions| permissions.set(&folder(&project), Permission::Allow)).await?;
        ensure!(!read("open/diary.txt").await?.1);
    }
    for path in ["../outside.txt", "link.txt", &outside.display().to_string(), "private/../../outside.txt"] {
        let (text, failed) = read(path).await?;
        ensure!(failed && !text.contains("not yours"), "{path}: {text}");
    }
    agent.disconnect().await?;
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_read_from_hosts_that_are_open() -> Result<()> {
    let (place, site) = (Workplace::with_stand_in()?, Site::default());
    let at = site.serve().await?;
    let node = owner(&place, at).await?;
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    agent.search("open a web page").await?;
    let page = json!({"url": format!("http://{at}/page")});
    let (text, failed) = agent.use_tool("browse_page", page.clone()).await?;
    ensure!(!failed && text.contains("They boil water."), "{text}");
    let on = json!({"url": format!("http://{at}/on")});
    ensure!(!agent.use_tool("browse_page", on.clone()).await?.1);
    // A redirect leads nowhere the agent could not have gone itself.
    let other = Need::Host { host: format!("localhost:{}", at.port()) };
    word(&node, |permissions| permissions.set(&other, Permission::Ask)).await?;
    refused(&agent, "browse_page", on, "localhost is not allowed").await?;
    word(&node, |permissions| permissions.set(&Need::Host { host: at.to_string() }, Permission::Deny))
        .await?;
    refused(&agent, "browse_page", page, "not permitted to reach").await?;
    // Private networks are closed besides, unless the network settings name them.
    word(&node, |_| {}).await?;
    let metadata = json!({"url": "http://169.254.169.254/latest/meta-data"});
    refused(&agent, "browse_page", metadata, "private network").await?;
    agent.search("search the web").await?;
    refused(&agent, "web_search", json!({"query": "kettles"}), "No search service is configured").await?;
    agent.disconnect().await?;
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_finds_its_own_cards_first_and_no_others_than_it_may() -> Result<()> {
    let (place, site) = (Workplace::with_stand_in()?, Site::default());
    let at = site.serve().await?;
    add_server(&place, "fixture", &[], true)?;
    let node = owner(&place, at).await?;
    let echo = node.call::<GetCard>(CardRef { card: "echo".to_owned() }).await?.summary.id;
    profile(&node, "keeper", |profile| {
        profile.cards = vec![echo.clone()];
        profile.only = Some(Allowlist::default());
        profile.always = vec!["get_time".to_owned()];
        profile.permissions.tools.set("autokit:code_exec", Permission::Deny);
    })
    .await?;
    let mut agent = Agent::with_profile(&place, Generation::Session, "keeper").await?;
    ensure!(agent.tools().await?.last().is_some_and(|last| last == "get_time"));
    let found = agent.search("echo").await?;
    let first = &found["results"][0];
    ensure!(first["tier"] == "expert" && first["score"] == 1.0 && first["name"] == "echo", "{found}");
    ensure!(found["results"].as_array().map(Vec::len) == Some(1), "{found}");
    ensure!(!agent.use_tool("echo", json!({"text": "hi"})).await?.1);
    for hidden in ["count", "weather", "run python code", "get_time"] {
        let found = agent.search(hidden).await?;
        let names: Vec<&str> = found["results"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|hit| hit["name"].as_str())
            .collect();
        ensure!(names.iter().all(|name| *name == "echo"), "{hidden}: {found}");
    }
    // Everybody else finds them all.
    let mut other = Agent::over_stdio(&place, Generation::Session).await?;
    ensure!(other.search("echo").await?["results"][0]["tier"] == "library");
    // A profile that is taken away lets nothing be done in its name, nor does one that never was.
    node.call::<RemoveProfile>(autokit_api::ProfileRef { name: "keeper".to_owned() }).await?;
    refused(&agent, "search_tools", json!({"query": "echo"}), "Profile \"keeper\" not found").await?;
    refused(&agent, "echo", json!({"text": "hi"}), "Profile \"keeper\" not found").await?;
    for generation in Generation::BOTH {
        let stranger = Agent::with_profile(&place, generation, "nobody").await;
        ensure!(stranger.is_err(), "{generation:?}: nobody was served");
    }
    let output = place.run(&["mcp", "--profile", "nobody"])?;
    let output_text = String::from_utf8_lossy(&output.stderr);
    ensure!(
        !output.status.success() && output_text.to_lowercase().contains("profile \"nobody\" not found"),
        "{output_text}"
    );
    for agent in [agent, other] {
        agent.disconnect().await?;
    }
    node.close().await?;
    Ok(())
}

#[test]
fn rules_that_are_set_at_the_same_time_all_hold() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let owner = place.serve()?;
    let hosts: Vec<String> = (0..12).map(|number| format!("h{number}.example")).collect();
    let denials: Result<Vec<_>> = hosts
        .iter()
        .map(|host| {
            let mut command = place.command(&["profiles", "deny", "host", host])?;
            Ok(command.stdout(std::process::Stdio::null()).spawn()?)
        })
        .collect();
    for mut denial in denials? {
        ensure!(denial.wait()?.success());
    }
    let listed = place.json(&["profiles", "list"])?.to_string();
    let missing: Vec<&String> =
        hosts.iter().filter(|host| !listed.contains(&format!("\"{host}\""))).collect();
    ensure!(missing.is_empty(), "{missing:?} are gone");
    // Forgetting what holds for hosts in general leaves the rules for some of them.
    place.json(&["profiles", "ask", "host"])?;
    place.json(&["profiles", "forget", "host"])?;
    ensure!(place.json(&["profiles", "list"])?.to_string().contains("\"h0.example\""));
    let (code, error) = place.failure(&["profiles", "forget", "host", "nobody.example"])?;
    ensure!(code == 3 || error["code"] == "not_found", "{error}");
    owner.stop()
}

#[test]
fn a_rule_for_a_key_may_be_written_as_people_write_addresses() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["profiles", "allow", "key", "HTTPS://API.Example.org/"])?;
    let profiles = place.json(&["profiles", "list"])?;
    ensure!(profiles.to_string().contains("\"https://api.example.org\""), "{profiles}");
    let (_, error) = place.failure(&["profiles", "allow", "key", "https://api.example.org/v1"])?;
    ensure!(
        error["message"]
            .as_str()
            .is_some_and(|output_text| output_text.contains("is not a valid API key destination")),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_rule_names_a_folder_without_detours() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let folder = place.path("open");
    std::fs::create_dir_all(folder.join("within"))?;
    let detour = folder.join("within/..").display().to_string();
    let profiles = place.json(&["profiles", "allow", "folder", &detour])?;
    let real = serde_json::to_string(&folder.canonicalize()?)?;
    ensure!(profiles.to_string().contains(&format!("\"of\":{real}")), "{profiles}");
    let (_, error) = place.failure(&["profiles", "allow", "folder", "/nowhere/../nowhere"])?;
    ensure!(
        error["message"].as_str().is_some_and(|output_text| output_text.contains("no such file or folder")),
        "{error}"
    );
    Ok(())
}

#[test]
fn allowing_what_everybody_is_denied_is_told_to_change_nothing() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["profiles", "add", "writer"])?;
    place.json(&["profiles", "deny", "host", "api.example.org"])?;
    place.json(&["profiles", "deny", "host", "*.example.net"])?;
    place.json(&["profiles", "deny", "folder", "/srv"])?;
    let output_text = |scope: &str, of: &str| -> Result<String> {
        let allowed = place.run(&["profiles", "allow", scope, of, "--profile", "writer"])?;
        ensure!(allowed.status.success(), "{allowed:?}");
        Ok(String::from_utf8_lossy(&allowed.stderr).into_owned())
    };
    for (scope, of) in [("host", "api.example.org"), ("host", "api.example.net"), ("folder", "/srv/app")] {
        ensure!(output_text(scope, of)?.contains("It stays denied"), "{scope} {of}");
    }
    // Closed unless a rule opens it, which a profile may.
    for (scope, of) in [("host", "www.example.org"), ("folder", "/home")] {
        ensure!(output_text(scope, of)?.is_empty(), "{scope} {of}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_cannot_grant_itself_permissions() -> Result<()> {
    let (place, site) = (Workplace::with_stand_in()?, Site::default());
    let at = site.serve().await?;
    let node = owner(&place, at).await?;
    key(&node, format!("http://{at}")).await?;
    let mut fields = node.call::<GetCard>(CardRef { card: "getWeather".to_owned() }).await?.fields;
    // The same origin and scheme, and another place: there the key could be read by everybody.
    let mut other = specification(at);
    other["info"]["title"] = json!("Clouds");
    other["components"]["securitySchemes"]["sky_key"] =
        json!({"type": "apiKey", "in": "query", "name": "comment"});
    let file = place.path("clouds.json");
    std::fs::write(&file, other.to_string())?;
    place.json(&["import", &file.display().to_string()])?;
    // A card that calls itself AutoKit's, where those alone may be called.
    fields["name"] = json!("peek_skies");
    fields["provider"] = json!("AutoKit");
    let imitation = place.cards_file("imitation.json", &[Value::Object(fields)])?;
    place.json(&["import", &imitation.display().to_string()])?;
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    let found = agent.search("getWeather").await?;
    let named = |provider: &str| {
        let rows = found["results"].as_array().into_iter().flatten();
        rows.filter(|row| row["provider"] == provider).find_map(|row| row["name"].as_str()).map(str::to_owned)
    };
    let before = site.asked.load(Ordering::SeqCst);
    let clouds = named("Clouds").with_context(|| found.to_string())?;
    refused(&agent, &clouds, json!({"city": "Ulm"}), "sky_key").await?;
    ensure!(site.asked.load(Ordering::SeqCst) == before, "the key was sent elsewhere");
    word(&node, |permissions| {
        permissions.tools.otherwise = Some(Permission::Ask);
        permissions.tools.set("AutoKit/*", Permission::Allow);
    })
    .await?;
    let found = agent.search("peek_skies").await?;
    ensure!(found["results"][0]["name"] == "peek_skies", "{found}");
    refused(&agent, "peek_skies", json!({"city": "Ulm"}), "AutoKit (according to its card)").await?;
    // A session is one profile's, whoever named it first.
    profile(&node, "strict", |profile| profile.permissions.tools.otherwise = Some(Permission::Deny)).await?;
    let loose = Agent::over_stdio(&place, Generation::Stateless).await?;
    let strict = Agent::with_profile(&place, Generation::Stateless, "strict").await?;
    word(&node, |_| {}).await?;
    let report = json!({"tool": "peek_skies", "task": "t", "worked": true});
    ensure!(!loose.call("report_outcome", report.clone()).await?.1);
    let (text, failed) = strict.call("report_outcome", report).await?;
    ensure!(failed && text.contains("not permitted"), "{text}");
    for agent in [agent, loose, strict] {
        agent.disconnect().await?;
    }
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn code_runs_have_a_budget_and_arguments_are_logged_without_secrets() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    add_server(&place, "fixture", &[], true)?;
    let node = place.node_with(Vectors::StandIn(32), KeyStorage::Memory).await?;
    let mut sessions = AgentSessions::default();
    sessions.budgets.insert("test agent".to_owned(), 500);
    node.call::<SetAgentSessions>(sessions.clone()).await?;
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    let found = agent.search("text of echo, count and the others").await?;
    let tokens = found.to_string().chars().count().div_ceil(4);
    ensure!(tokens <= 700, "{tokens} tokens: {found}");
    sessions.budgets.insert("test agent".to_owned(), 10);
    let least = node.call::<SetAgentSessions>(sessions).await;
    ensure!(least.is_err_and(|error| error.message.contains("500 tokens")));
    agent.search("echo").await?;
    let planted = "sk-ant-api03-PLANTEDabcdefghijklmnopqrstuvwxyz0123456789";
    let (text, failed) = agent.use_tool("echo", json!({"text": planted})).await?;
    ensure!(!failed && text.contains(planted), "{text}");
    let log = audit(&node).await?;
    ensure!(log.entries[0].name == "echo" && log.entries[0].arguments["text"] == "(redacted)", "{log:?}");
    agent.disconnect().await?;
    node.close().await?;
    Ok(())
}
