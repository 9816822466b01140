//! Several processes, one library: whoever owns it may end in any way, the others go on.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use autokit_api::commands::PROTOCOL;
use autokit_api::commands::{CreateCard, GetStatus, ListCards, SetProfile};
use autokit_api::{CardCreate, CardList, CardsQuery, Event, Nothing, Profile, Role, Setting};
use autokit_app::ErrorCode;
use autokit_app::engine::{EngineOptions, Vectors};
use autokit_app::host::Endpoint;
use autokit_app::node::{Node, NodeOptions, Purpose};
use autokit_library::DataDir;
use autokit_tests::{Workplace, made_up_cards};
use serde_json::{Value, json};

fn options(place: &Workplace, purpose: Purpose) -> NodeOptions {
    NodeOptions {
        data_dir: place.data_dir(),
        engine: EngineOptions { vectors: Vectors::StandIn(64), ..EngineOptions::new() },
        purpose,
        author: "tester".into(),
    }
}

fn card(name: &str) -> CardCreate {
    let Some(Value::Object(mut fields)) = made_up_cards(1).pop() else { unreachable!("cards are objects") };
    fields.insert("name".into(), name.into());
    CardCreate { fields, reason: String::new(), flagged_too: false }
}

async fn names(node: &Node) -> Result<Vec<String>> {
    let page =
        node.call::<ListCards>(CardList { query: CardsQuery::default(), offset: 0, limit: 100 }).await?;
    Ok(page.rows.into_iter().map(|row| row.name).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_is_killed_and_a_client_takes_over() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let owner = place.serve()?;
    let node = Node::open(options(&place, Purpose::Process)).await?;
    assert_eq!(node.role().await, Role::Client);
    node.call::<CreateCard>(card("before")).await?;
    owner.kill()?;
    // The call is answered by whoever takes over; `cargo xtask bench` tells how long that takes.
    assert_eq!(names(&node).await?, ["before"]);
    assert_eq!(node.role().await, Role::Owner);
    node.call::<CreateCard>(card("after")).await?;
    // A newcomer finds the new owner.
    let listed = place.json(&["cards", "list"])?;
    assert_eq!(listed["total"], 2, "{listed}");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_survives_a_killed_client() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = Node::open(options(&place, Purpose::Process)).await?;
    assert_eq!(node.role().await, Role::Owner);
    let client = place.serve()?;
    client.kill()?;
    node.call::<CreateCard>(card("one")).await?;
    assert_eq!(names(&node).await?, ["one"]);
    // And in the other order: this owner goes, a second process that stood by has it all.
    let heir = place.serve()?;
    node.close().await?;
    let listed = place.json(&["cards", "list"])?;
    assert_eq!(listed["total"], 1, "{listed}");
    heir.stop()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_changes_reach_the_other_processes() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let _owner = place.serve()?;
    let (window, terminal) = (
        Node::open(options(&place, Purpose::Process)).await?,
        Node::open(options(&place, Purpose::Command)).await?,
    );
    let mut news = window.events();
    let heard = async {
        loop {
            // The line to the owner may not be open yet.
            terminal.call::<SetProfile>(Profile { name: "shop".into(), ..Profile::default() }).await?;
            let result = tokio::time::timeout(Duration::from_millis(300), news.recv()).await;
            if matches!(result, Ok(Ok(Event::Setting { setting: Setting::Profiles }))) {
                return Ok(());
            }
        }
    };
    tokio::time::timeout(Duration::from_mins(1), heard).await.context("it is told")?
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_asked_twice_happens_once() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let owner = place.serve()?;
    let endpoint = Endpoint::read(&DataDir::new(place.data_dir()).endpoint_file()).context("an endpoint")?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let ask = |endpoint: Endpoint, request: &'static str| {
        client
            .post(format!("{}/v1/call/cards_create", endpoint.base()))
            .bearer_auth(&endpoint.token)
            .header("x-autokit-protocol", PROTOCOL)
            .header("x-autokit-request", request)
            .json(&card("once"))
            .send()
    };
    let first: Value = ask(endpoint.clone(), "key-1").await?.error_for_status()?.json().await?;
    // The same owner, and the next one after a crash, answer the same again.
    let second: Value = ask(endpoint.clone(), "key-1").await?.error_for_status()?.json().await?;
    assert_eq!(first, second);
    owner.kill()?;
    let heir = place.serve()?;
    let endpoint = Endpoint::read(&DataDir::new(place.data_dir()).endpoint_file()).context("an endpoint")?;
    let third: Value = ask(endpoint.clone(), "key-1").await?.error_for_status()?.json().await?;
    assert_eq!(first["summary"]["id"], third["summary"]["id"]);
    // Another key is another request, and this card is there already.
    let other = ask(endpoint, "key-2").await?;
    assert_eq!(other.status(), 409);
    heir.stop()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unauthorized_and_incompatible_clients_are_refused() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let _owner = place.serve()?;
    let file = DataDir::new(place.data_dir()).endpoint_file();
    let endpoint = Endpoint::read(&file).context("an endpoint")?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let url = format!("{}/v1/call/status_get", endpoint.base());
    let plain = client.post(&url).json(&Nothing {}).send().await?;
    assert_eq!(plain.status(), 401);
    let wrong = client.post(&url).bearer_auth("0".repeat(64)).json(&Nothing {}).send().await?;
    assert_eq!(wrong.status(), 401);
    let rebound = client
        .post(&url)
        .header("host", "evil.example")
        .bearer_auth(&endpoint.token)
        .json(&Nothing {})
        .send()
        .await?;
    assert_eq!(rebound.status(), 403);
    let older = client
        .post(&url)
        .bearer_auth(&endpoint.token)
        .header("x-autokit-protocol", PROTOCOL + 1)
        .json(&Nothing {})
        .send()
        .await?;
    assert_eq!(older.status(), 426);
    let error: autokit_app::ApiError = older.json().await?;
    assert_eq!(error.code, ErrorCode::VersionMismatch);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file)?.permissions().mode();
        assert_eq!(mode & 0o077, 0, "the token must be the person's alone, mode {mode:o}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_endpoint_of_a_dead_owner_is_ignored() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let owner = place.serve()?;
    owner.kill()?;
    assert!(DataDir::new(place.data_dir()).endpoint_file().exists());
    let node = Node::open(options(&place, Purpose::Command)).await?;
    assert_eq!(node.role().await, Role::Owner);
    assert_eq!(node.call::<GetStatus>(Nothing {}).await?.cards, 0);
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_starts_while_the_owner_ends_waits() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let dir = DataDir::new(place.data_dir());
    let owner = Node::open(options(&place, Purpose::Command)).await?;
    assert!(dir.endpoint_file().exists());
    owner.close().await?;
    assert!(!dir.endpoint_file().exists(), "whoever reads it would ask a process that is gone");
    // Owned, and nothing published: as by a process that is starting or ending.
    let ownership = dir.try_own()?;
    let mut newcomer = tokio::spawn(Node::open(options(&place, Purpose::Command)));
    let early = tokio::time::timeout(Duration::from_secs(1), &mut newcomer).await;
    assert!(early.is_err(), "{early:?}");
    drop(ownership);
    let node = newcomer.await??;
    assert_eq!(node.role().await, Role::Owner);
    node.close().await?;
    Ok(())
}

/// An engine as the window starts it.
struct PipedEngine {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl PipedEngine {
    fn start(place: &Workplace) -> Result<PipedEngine> {
        let mut command = place.command(&["engine"])?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take().context("a pipe")?, child.stdout.take().context("a pipe")?);
        Ok(PipedEngine { child, input, output: BufReader::new(output) })
    }

    /// The next message, by its kind.
    fn message(&mut self) -> Result<(String, Value)> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the engine ended: {}", self.child.wait()?);
        }
        let Value::Object(message) = serde_json::from_str(&line)? else { bail!("not a message: {line}") };
        message.into_iter().next().with_context(|| format!("no kind: {line}"))
    }

    fn send(&mut self, id: &str, name: &str, request: &Value) -> Result<()> {
        let call = json!({ "id": id, "name": name, "request": request });
        writeln!(self.input, "{call}")?;
        Ok(())
    }

    /// What ends the call of this id; events in between are collected.
    fn end_of(&mut self, id: &str, events: &mut Vec<Value>) -> Result<(String, Value)> {
        loop {
            match self.message()? {
                (kind, event) if kind == "event" => events.push(event),
                (kind, body) if body["id"] == id => return Ok((kind, body)),
                other => bail!("answers something else: {other:?}"),
            }
        }
    }

    /// Ends as the window does.
    fn close(self) -> Result<std::process::ExitStatus> {
        let PipedEngine { mut child, input, output } = self;
        drop((input, output));
        Ok(child.wait()?)
    }
}

#[test]
fn the_window_is_served_over_standard_input_and_output() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let mut engine = PipedEngine::start(&place)?;
    // Sent while the library is being opened.
    engine.send("1", "cards_create", &json!(card("one")))?;
    let (kind, ready) = engine.message()?;
    assert_eq!((kind.as_str(), &ready["protocol"]), ("ready", &json!(PROTOCOL)));
    let mut events = Vec::new();
    let (kind, created) = engine.end_of("1", &mut events)?;
    assert_eq!((kind.as_str(), &created["response"]["summary"]["name"]), ("response", &json!("one")));
    // A call that waits does not hold others up.
    engine.send("now", "approvals_wait", &json!({ "after": 0 }))?;
    let (_, asks) = engine.end_of("now", &mut events)?;
    engine.send("2", "approvals_wait", &json!({ "after": asks["response"]["version"] }))?;
    engine.send("3", "cards_create", &json!(card("one")))?;
    let (kind, refused) = engine.end_of("3", &mut events)?;
    assert_eq!((kind.as_str(), &refused["error"]["code"]), ("error", &json!("duplicate")));
    assert!(events.iter().any(|event| event["event"] == "library"), "{events:?}");
    // Others reach the library through it meanwhile.
    assert_eq!(place.json(&["cards", "list"])?["total"], 1);
    assert!(engine.close()?.success());
    assert!(!DataDir::new(place.data_dir()).endpoint_file().exists(), "it was closed");
    Ok(())
}

#[test]
fn a_call_sent_again_to_the_next_engine_happens_once() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let mut engine = PipedEngine::start(&place)?;
    engine.message()?;
    engine.send("key", "cards_create", &json!(card("once")))?;
    let (_, first) = engine.end_of("key", &mut Vec::new())?;
    engine.child.kill()?;
    engine.child.wait()?;
    let mut engine = PipedEngine::start(&place)?;
    engine.message()?;
    engine.send("key", "cards_create", &json!(card("once")))?;
    let (_, second) = engine.end_of("key", &mut Vec::new())?;
    assert_eq!(first["response"]["summary"]["id"], second["response"]["summary"]["id"]);
    assert!(engine.close()?.success());
    assert_eq!(place.json(&["cards", "list"])?["total"], 1);
    Ok(())
}

#[test]
fn a_library_that_cannot_be_opened_is_reported_to_the_window() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    std::fs::write(place.data_dir(), "not a folder")?;
    let mut engine = PipedEngine::start(&place)?;
    let (kind, error) = engine.message()?;
    assert_eq!(kind, "failed");
    assert!(!error["message"].as_str().unwrap_or_default().is_empty(), "{error}");
    assert!(engine.message().is_err(), "the only message");
    Ok(())
}
