//! Tests agents of both generations against the server over a pipe, with fake tools.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autokit_gateway::{
    Call, CallOutcome, Definition, Event, Gateway, Hit, HitKind, McpSessionId, Refusal, Search,
    SearchResults, Server, SessionRecord, Settings, Target, Tier, Toolbox,
};
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, Implementation, InitializeRequestParams,
    ProtocolVersion, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::watch;

/// Tools whose names say what they do.
#[derive(Default)]
struct Fake {
    /// Saved sessions, in place of a library.
    saved: Mutex<HashMap<McpSessionId, SessionRecord>>,
    events: Mutex<Vec<Event>>,
    /// Ids of deleted cards.
    gone: Mutex<Vec<String>>,
    /// Appears in every description; increased to simulate an update.
    edition: AtomicI64,
    changes: watch::Sender<u64>,
}

impl Fake {
    fn definition(&self, name: &str) -> Definition {
        let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
        Definition {
            id: format!("card-{name}"),
            name: name.to_owned(),
            provider: "Acme".to_owned(),
            description: format!("Does {name}, edition {}.", self.edition.load(Ordering::Relaxed)),
            schema: schema.as_object().cloned().unwrap_or_default(),
            annotations: None,
        }
    }
}

#[derive(Clone)]
struct Toolkit(Arc<Fake>);

#[async_trait]
impl Toolbox for Toolkit {
    fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    fn check_profile(&self, _: &str) -> Result<(), Refusal> {
        Ok(())
    }

    fn own_tools(&self, _: &str) -> Vec<Definition> {
        vec![Definition { id: "ask".to_owned(), ..self.0.definition("ask") }]
    }

    fn settings(&self, profile: &str, _: &str) -> Arc<Settings> {
        let always = if profile == "expert" { vec!["card-core".to_owned()] } else { Vec::new() };
        let preload = if profile == "habits" { 3 } else { 0 };
        Arc::new(Settings { capacity: 3, always, preload, ..Settings::default() })
    }

    async fn always(&self, profile: &str) -> Vec<Definition> {
        if profile == "expert" { vec![self.0.definition("core")] } else { Vec::new() }
    }

    async fn preload(&self, profile: &str, query: Option<&str>, limit: usize) -> Vec<Definition> {
        let names: &[&str] = match (profile, query) {
            ("habits", None) => &["usual"],
            ("habits", Some(_)) => &["usual", "next"],
            _ => &[],
        };
        names.iter().take(limit).map(|name| self.0.definition(name)).collect()
    }

    /// Every word of the query finds a tool; "book" finds one that cannot be called.
    async fn search(&self, search: Search) -> Result<SearchResults, Refusal> {
        let hit = |name: &str| {
            let definition = self.0.definition(name);
            let kind = if name == "book" {
                HitKind::Reference { stub: Some("import book".to_owned()), documentation: None }
            } else {
                HitKind::Callable(Box::new(definition.clone()))
            };
            let summary = definition.description.clone();
            Hit {
                id: definition.id,
                name: name.to_owned(),
                provider: String::new(),
                summary,
                tier: Tier::Library,
                score: 0.5,
                kind,
            }
        };
        let known = |word: &&str| *word != "nothing" && !search.always.contains(&format!("card-{word}"));
        let words = search.query.split_whitespace().filter(known);
        Ok(SearchResults { hits: words.take(search.limit).map(hit).collect(), ..SearchResults::default() })
    }

    async fn resolve(&self, definition: &Definition, _: &str) -> Result<Option<Definition>, Refusal> {
        let gone = self.0.gone.lock().unwrap().contains(&definition.id);
        Ok((!gone).then(|| self.0.definition(&definition.name)))
    }

    async fn call(&self, call: Call) -> Result<CallToolResult, Refusal> {
        let name = match &call.tool {
            Target::Own(name) => name.clone(),
            Target::Discovered(definition) => definition.name.clone(),
        };
        match name.as_str() {
            "flaky" => Err(Refusal::Failed("the line is dead".to_owned())),
            "slow" => {
                call.cancel.cancelled().await;
                Err(Refusal::Cancelled)
            }
            name => {
                let text = format!("{name} {}", Value::Object(call.arguments));
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                // As a server of the older generation returns it.
                result.result_type = None;
                Ok(result)
            }
        }
    }

    async fn alternatives(&self, _: &Definition, _: &str) -> Vec<String> {
        vec!["another_tool".to_owned()]
    }

    fn record_event(&self, _: &McpSessionId, event: Event) {
        self.0.events.lock().unwrap().push(event);
    }

    fn save_session(&self, session: SessionRecord, _: bool) {
        self.0.saved.lock().unwrap().insert(session.id.clone(), session);
    }

    async fn load_session(&self, id: &McpSessionId) -> Option<SessionRecord> {
        self.0.saved.lock().unwrap().get(id).cloned()
    }
}

/// A client that counts how often it is notified of changed tools.
#[derive(Clone)]
struct Agent(Arc<watch::Sender<u32>>);

impl ClientHandler for Agent {
    fn get_info(&self) -> InitializeRequestParams {
        let mut info = InitializeRequestParams::default();
        info.client_info = Implementation::new("test agent", "1");
        info
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send_modify(|times| *times += 1);
    }
}

struct Connection {
    client: RunningService<RoleClient, Agent>,
    notified: watch::Receiver<u32>,
}

impl Connection {
    async fn new(gateway: &Gateway, id: &str, newest: bool) -> Connection {
        Connection::of(gateway, id, newest, "").await
    }

    async fn of(gateway: &Gateway, id: &str, newest: bool, profile: &str) -> Connection {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let server = Server::new(gateway.clone(), id.to_owned(), profile.to_owned());
        tokio::spawn(async move {
            let served = server.serve(ours).await.expect("a handshake");
            served.waiting().await.expect("an orderly end")
        });
        let (sender, notified) = watch::channel(0);
        let lifecycle = if newest {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        } else {
            ClientLifecycleMode::Initialize
        };
        let client =
            Agent(Arc::new(sender)).serve_with_lifecycle(theirs, lifecycle).await.expect("a handshake");
        Connection { client, notified }
    }

    async fn names(&self) -> Vec<String> {
        let tools = self.client.list_all_tools().await.expect("a list");
        tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    async fn call(&self, name: &str, arguments: Value) -> (String, bool) {
        let mut params = CallToolRequestParams::new(name.to_owned());
        params.arguments = arguments.as_object().cloned();
        let result = self.client.call_tool(params).await.expect("a result");
        let texts: Vec<&str> = result
            .content
            .iter()
            .filter_map(|block| block.as_text().map(|text| text.text.as_str()))
            .collect();
        (texts.join("\n"), result.is_error == Some(true))
    }

    async fn search(&self, query: &str) -> Value {
        let (text, failed) = self.call("search_tools", json!({"query": query})).await;
        assert!(!failed, "{text}");
        serde_json::from_str(&text).expect("JSON")
    }
}

fn gateway(toolkit: &Toolkit) -> Gateway {
    let second = Arc::new(AtomicI64::new(1_700_000_000));
    let now = move || jiff::Timestamp::from_second(second.fetch_add(1, Ordering::Relaxed)).expect("a time");
    Gateway::new(toolkit.clone(), Arc::new(now))
}

fn toolkit() -> Toolkit {
    Toolkit(Arc::new(Fake::default()))
}

#[tokio::test]
async fn a_session_gets_the_tools_it_searches_for() {
    let toolkit = toolkit();
    let gateway = gateway(&toolkit);
    let mut agent = Connection::new(&gateway, "s1", false).await;
    assert_eq!(agent.names().await, ["search_tools", "call_tool", "ask"]);
    let found = agent.search("send book").await;
    assert_eq!(found["results"][0]["name"], "send");
    assert_eq!(found["results"][0]["input_schema"]["type"], "object");
    assert_eq!(
        (&found["results"][1]["callable"], &found["results"][1]["stub"]),
        (&json!(false), &json!("import book"))
    );
    assert!(found.get("context").is_none(), "the connection is the context");
    agent.notified.wait_for(|times| *times == 1).await.expect("notified");
    assert_eq!(agent.names().await, ["search_tools", "call_tool", "ask", "send"]);
    // By its own name, and by `call_tool` for clients that ignore changed lists.
    assert_eq!(agent.call("send", json!({"x": 1})).await, ("send {\"x\":1}".to_owned(), false));
    assert_eq!(
        agent.call("call_tool", json!({"name": "send", "arguments": {"x": 2}})).await,
        ("send {\"x\":2}".to_owned(), false)
    );
    // A repeated search changes nothing, and a note says so.
    let again = agent.search("send book").await;
    assert!(again["notes"][0].as_str().is_some_and(|note| note.contains("same results")), "{again}");
    // The capacity is three: the least recently used tool is evicted.
    agent.search("a b c").await;
    agent.notified.wait_for(|times| *times == 2).await.expect("notified");
    assert_eq!(agent.names().await, ["search_tools", "call_tool", "ask", "a", "b", "c"]);
    let (message, failed) = agent.call("send", json!({})).await;
    assert!(failed && message.contains("search_tools"), "{message}");
    // Another session has none of these tools.
    let other = Connection::new(&gateway, "s2", false).await;
    assert_eq!(other.names().await.len(), 3);
    // The first session is resumed after a reconnection, also after a restart.
    drop(agent);
    let again = Connection::new(&self::gateway(&toolkit), "s1", false).await;
    assert_eq!(again.names().await, ["search_tools", "call_tool", "ask", "a", "b", "c"]);
    let record = toolkit.0.saved.lock().unwrap()[&McpSessionId::new("s1")].clone();
    assert_eq!((record.accuracy(), record.client.as_str()), (Some(0.25), "test agent 1"));
}

#[tokio::test]
async fn pinned_tools_are_always_bound() {
    let gateway = gateway(&toolkit());
    let agent = Connection::of(&gateway, "s", false, "expert").await;
    assert_eq!(agent.names().await, ["search_tools", "call_tool", "ask", "core"]);
    agent.search("a b c").await;
    let found = agent.search("core d").await;
    assert_eq!(found["results"].as_array().map(Vec::len), Some(1), "a bound tool is no result: {found}");
    assert_eq!(agent.names().await[3..], ["core", "b", "c", "d"]);
    assert!(!agent.call("core", json!({})).await.1);
    // Agents that use a handle do not see the list with this tool: a search finds it, and it can be called.
    let stateless = Connection::of(&gateway, "t", true, "expert").await;
    let found = stateless.search("core").await;
    assert_eq!(found["results"][0]["name"], "core");
    let call = json!({"name": "core", "context": found["context"]});
    assert!(!stateless.call("call_tool", call).await.1);
}

#[tokio::test]
async fn tools_of_past_sessions_are_there_before_a_search() {
    let gateway = gateway(&toolkit());
    let agent = Connection::of(&gateway, "s", false, "habits").await;
    assert_eq!(agent.names().await[3..], ["usual"]);
    assert!(!agent.call("usual", json!({})).await.1);
    let found = agent.search("mail").await;
    assert_eq!(found["results"].as_array().map(Vec::len), Some(1), "{found}");
    assert!(found.to_string().contains("can be called too: next."), "{found}");
    assert_eq!(agent.names().await[3..], ["usual", "next", "mail"]);
    let again = agent.search("call").await;
    assert!(!again.to_string().contains("Often used"), "only the first search: {again}");
    // Agents that use a handle would not see the schemas.
    let stateless = Connection::of(&gateway, "t", true, "habits").await;
    let found = stateless.search("mail").await;
    assert!(!found.to_string().contains("usual"), "{found}");
}

#[tokio::test]
async fn a_stateless_agent_names_its_context() {
    let toolkit = toolkit();
    let gateway = gateway(&toolkit);
    let agent = Connection::new(&gateway, "connection", true).await;
    let own = ["search_tools", "call_tool", "ask"];
    assert_eq!(agent.names().await, own);
    let found = agent.search("send mail").await;
    let context = found["context"].as_str().expect("a context").to_owned();
    assert_eq!(agent.names().await, own, "the list is the same for everybody");
    let call = |name: &str, context: Value| json!({"name": name, "arguments": {"x": 1}, "context": context});
    let mut params = CallToolRequestParams::new("call_tool");
    params.arguments = call("send", json!(context)).as_object().cloned();
    let complete = agent.client.call_tool(params).await.expect("a result").result_type;
    assert!(complete.is_some_and(|result_type| result_type.is_complete()), "the newer protocol requires it");
    let right = agent.call("call_tool", call("send", json!(context))).await;
    assert_eq!(right, ("send {\"x\":1}".to_owned(), false));
    for (context, word) in
        [(Value::Null, "missing"), (json!("ctx_0"), "Unknown context"), (json!(7), "Unknown")]
    {
        let (message, failed) = agent.call("call_tool", call("send", context)).await;
        assert!(failed && message.contains(word), "{message}");
    }
    // A later search continues in the context; one without a context creates another.
    let (text, _) = agent.call("search_tools", json!({"query": "post", "context": context})).await;
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON")["context"], json!(context));
    let other = agent.search("x").await;
    assert_ne!(other["context"], json!(context));
    let (message, failed) = agent.call("call_tool", call("send", other["context"].clone())).await;
    assert!(failed && message.contains("no tool `send`"), "{message}");
    // Any connection may use a context whose handle it knows, also after a restart.
    let second = Connection::new(&self::gateway(&toolkit), "elsewhere", true).await;
    assert_eq!(second.call("call_tool", call("post", json!(context))).await.0, "post {\"x\":1}");
    assert_eq!(second.call("ask", json!({"question": "?"})).await.0, "ask {\"question\":\"?\"}");
}

#[tokio::test]
async fn a_loop_evicts_the_tool_and_a_search_restores_it() {
    let toolkit = toolkit();
    let gateway = gateway(&toolkit);
    let mut agent = Connection::new(&gateway, "s", false).await;
    agent.search("look").await;
    agent.notified.wait_for(|times| *times == 1).await.expect("notified");
    for _ in 0..2 {
        assert_eq!(agent.call("look", json!({"x": 1})).await.0, "look {\"x\":1}");
    }
    let (message, failed) = agent.call("look", json!({"x": 1.0})).await;
    assert!(!failed && message.starts_with("look {\"x\":1.0}\n"), "the call itself counts: {message}");
    assert!(message.contains("3 times") && message.contains("another_tool"), "{message}");
    agent.notified.wait_for(|times| *times == 2).await.expect("notified");
    assert!(!agent.names().await.contains(&"look".to_owned()));
    let (message, failed) = agent.call("look", json!({"x": 1})).await;
    assert!(failed && message.contains("in a loop"), "{message}");
    agent.search("look").await;
    assert_eq!(agent.call("look", json!({"x": 1})).await.0, "look {\"x\":1}");
    // Calls that fail in transit may be retried.
    agent.search("flaky").await;
    for _ in 0..5 {
        let (message, failed) = agent.call("flaky", json!({})).await;
        assert!(failed && !message.contains("times"), "{message}");
    }
    assert!(agent.call("flaky", json!({})).await.0.contains("6 times"));
    let gone =
        |event: &Event| matches!(event, Event::Gone { why: autokit_gateway::EvictionReason::Loop, .. });
    assert_eq!(toolkit.0.events.lock().unwrap().iter().filter(|event| gone(event)).count(), 2);
}

#[tokio::test]
async fn a_changed_or_deleted_card_is_detected_at_the_call() {
    let toolkit = toolkit();
    let gateway = gateway(&toolkit);
    let mut agent = Connection::new(&gateway, "s", false).await;
    agent.search("send").await;
    toolkit.0.edition.store(2, Ordering::Relaxed);
    assert!(!agent.call("send", json!({})).await.1);
    agent.notified.wait_for(|times| *times == 2).await.expect("notified");
    let tools = agent.client.list_all_tools().await.expect("a list");
    assert_eq!(tools[3].description.as_deref(), Some("Does send, edition 2."));
    toolkit.0.gone.lock().unwrap().push("card-send".to_owned());
    let (message, failed) = agent.call("send", json!({})).await;
    assert!(failed && message.contains("no longer"), "{message}");
    let tried: Vec<(String, CallOutcome)> = {
        let events = toolkit.0.events.lock().unwrap();
        let matching = events.iter().filter_map(|event| match event {
            Event::Audited(audit) => Some((audit.id.clone(), audit.outcome)),
            _ => None,
        });
        matching.collect()
    };
    assert_eq!(tried, [("card-send".to_owned(), CallOutcome::Refused)], "rejected calls are recorded");
    agent.notified.wait_for(|times| *times == 3).await.expect("notified");
    assert_eq!(agent.names().await.len(), 3);
}

#[tokio::test]
async fn invalid_requests_are_answered_with_advice() {
    let toolkit = toolkit();
    let gateway = gateway(&toolkit);
    let agent = Connection::new(&gateway, "s", false).await;
    for (tool, arguments, word) in [
        ("search_tools", json!({}), "`query` is missing"),
        ("search_tools", json!({"query": 7}), "`query` must be a string"),
        ("search_tools", json!({"query": "a", "limit": 0}), "`limit`"),
        ("search_tools", json!({"query": "a", "limit": 1_000_000}), "`limit`"),
        ("call_tool", json!({}), "`name` is missing"),
        ("call_tool", json!({"name": "call_tool", "arguments": {"name": "call_tool"}}), "directly"),
        ("call_tool", json!({"name": "send"}), "no tool `send`"),
        ("call_tool", json!({"name": "ask", "arguments": [1]}), "must be an object"),
        ("no_such_tool", json!({}), "no tool `no_such_tool`"),
    ] {
        let (message, failed) = agent.call(tool, arguments).await;
        assert!(failed && message.contains(word), "{tool}: {message}");
    }
    assert_eq!(agent.search("nothing").await["results"], json!([]));
    // Arguments that a model wrote as text.
    assert_eq!(
        agent.call("call_tool", json!({"name": "ask", "arguments": "{\"x\": 1}"})).await.0,
        "ask {\"x\":1}"
    );
}

#[tokio::test]
async fn a_cancelled_call_ends() {
    let toolkit = toolkit();
    let gateway = gateway(&toolkit);
    let agent = Connection::new(&gateway, "s", false).await;
    agent.search("slow").await;
    let request = rmcp::model::ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(
        CallToolRequestParams::new("slow"),
    ));
    let waiting = agent
        .client
        .send_cancellable_request(request, rmcp::service::PeerRequestOptions::default())
        .await
        .expect("sent");
    waiting.cancel(Some("enough".to_owned())).await.expect("cancelled");
    // It was recorded as ended, without a result.
    while !toolkit
        .0
        .events
        .lock()
        .unwrap()
        .iter()
        .any(|event| matches!(event, Event::Called { good: false, .. }))
    {
        tokio::task::yield_now().await;
    }
    assert_eq!(agent.names().await.len(), 4, "the connection goes on");
}

#[tokio::test]
async fn clients_are_notified_at_once_when_a_tool_is_removed() {
    let toolkit = toolkit();
    let gateway = gateway(&toolkit);
    let mut first = Connection::new(&gateway, "s1", false).await;
    let mut second = Connection::new(&gateway, "s2", false).await;
    let stateless = Connection::new(&gateway, "s3", true).await;
    for agent in [&first, &second, &stateless] {
        agent.search("send").await;
    }
    for agent in [&mut first, &mut second] {
        agent.notified.wait_for(|times| *times == 1).await.expect("notified");
    }
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut subscription = stateless.client.listen(filter).await.expect("acknowledged");
    toolkit.0.gone.lock().unwrap().push("card-send".to_owned());
    toolkit.0.changes.send_modify(|version| *version += 1);
    for agent in [&mut first, &mut second] {
        agent.notified.wait_for(|times| *times == 2).await.expect("notified");
        assert_eq!(agent.names().await, ["search_tools", "call_tool", "ask"]);
        let (message, failed) = agent.call("send", json!({})).await;
        assert!(failed && message.contains("can no longer be called"), "{message}");
    }
    assert!(subscription.next().await.expect("open").is_some());
    // Changes that do not affect a session are not reported.
    toolkit.0.changes.send_modify(|version| *version += 1);
    toolkit.0.gone.lock().unwrap().clear();
    first.search("send").await;
    first.notified.wait_for(|times| *times == 3).await.expect("notified");
    assert_eq!(*second.notified.borrow(), 2);
}

#[tokio::test]
async fn a_list_is_up_to_date_before_the_notification() {
    let toolkit = toolkit();
    let agent = Connection::new(&gateway(&toolkit), "s", false).await;
    agent.search("send").await;
    toolkit.0.gone.lock().unwrap().push("card-send".to_owned());
    assert_eq!(agent.names().await, ["search_tools", "call_tool", "ask"]);
}
