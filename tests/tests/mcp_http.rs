//! MCP over HTTP: the address that stays, and what goes wrong on the way.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use autokit_tests::Workplace;
use autokit_tests::mcp::{Agent, Generation, add_server};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

/// Longest a test waits for something that has to come: only so that a test that fails does not hang.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A client that writes its own requests.
#[derive(Clone)]
struct Raw {
    http: reqwest::Client,
    url: String,
    headers: Vec<(String, String)>,
}

impl Raw {
    fn new(url: &str, token: &str) -> Raw {
        let headers = vec![
            ("authorization".to_owned(), format!("Bearer {token}")),
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("content-type".to_owned(), "application/json".to_owned()),
        ];
        Raw { http: reqwest::Client::new(), url: url.to_owned(), headers }
    }

    /// At the process that owns a library.
    fn at_owner(place: &Workplace) -> Result<Raw> {
        let text = std::fs::read_to_string(place.data_dir().join("endpoint.json"))?;
        let endpoint: Value = serde_json::from_str(&text)?;
        let token = endpoint["token"].as_str().context("a token")?;
        Ok(Raw::new(&format!("http://127.0.0.1:{}/mcp", endpoint["port"]), token))
    }

    fn with(mut self, header: &str, value: &str) -> Raw {
        self.headers.retain(|(name, _)| name != header);
        self.headers.push((header.to_owned(), value.to_owned()));
        self
    }

    async fn send(&self, body: impl Into<reqwest::Body>) -> Result<Response> {
        let mut request = self.http.post(&self.url).body(body);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        Ok(tokio::time::timeout(TIMEOUT, request.send()).await??)
    }

    /// The answer to a request, out of a body or a stream.
    async fn ask(&self, method: &str, params: Value) -> Result<Value> {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let response = self.send(body.to_string()).await?;
        let (status, text) = (response.status(), tokio::time::timeout(TIMEOUT, response.text()).await??);
        answer(&text).with_context(|| format!("{status}: {text}"))
    }

    /// The answer to a greeting.
    async fn hello(&self) -> Result<Value> {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}});
        let text = self.send(hello.to_string()).await?.text().await?;
        answer(&text).with_context(|| text)
    }

    /// Greets, and goes on in the session that gives.
    async fn greeted(self) -> Result<Raw> {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}});
        let response = self.send(hello.to_string()).await?;
        let session = response.headers().get("mcp-session-id").context("a session")?.to_str()?.to_owned();
        response.text().await?;
        let raw = self.with("mcp-session-id", &session).with("mcp-protocol-version", "2025-06-18");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        ensure!(raw.send(ready.to_string()).await?.status() == StatusCode::ACCEPTED);
        Ok(raw)
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<(String, bool)> {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        let text = answer["result"]["content"][0]["text"].as_str().with_context(|| answer.to_string())?;
        Ok((text.to_owned(), answer["result"]["isError"] == true))
    }

    async fn tools(&self) -> Result<Vec<String>> {
        let answer = self.ask("tools/list", json!({})).await?;
        let tools = answer["result"]["tools"].as_array().with_context(|| answer.to_string())?;
        Ok(tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect())
    }
}

fn answer(text: &str) -> Option<Value> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut messages = std::iter::once(text).chain(lines).filter_map(|text| serde_json::from_str(text).ok());
    messages.find(|message: &Value| message.get("id").is_some())
}

/// A port nobody has at this moment.
fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn token(shown: &Value) -> Result<String> {
    let lines: Value = serde_json::from_str(shown["lines"].as_str().context("lines")?)?;
    let authorization =
        lines["mcpServers"]["autokit"]["headers"]["Authorization"].as_str().context("a header")?;
    Ok(authorization.strip_prefix("Bearer ").context("a token")?.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_stays_and_sessions_that_go_on() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["providers", "keys", "--keep", "file"])?;
    add_server(&place, "fixture", &[], true)?;
    ensure!(place.json(&["mcp-http", "show"])?["enabled"] == false);
    let port = free_port()?;
    let on = place.json(&["mcp-http", "on", "--port", &port.to_string()])?;
    let (url, token) = (on["url"].as_str().context("an address")?.to_owned(), token(&on)?);
    ensure!(url == format!("http://127.0.0.1:{port}/mcp") && token.len() == 64, "{on}");
    let owner = place.serve()?;
    ensure!(place.json(&["mcp-http", "show"])?["open"] == true);
    let raw = Raw::new(&url, &token).greeted().await?;
    raw.call("search_tools", json!({"query": "echo"})).await?;
    ensure!(raw.tools().await?.contains(&"echo".to_owned()));
    owner.stop()?;
    ensure!(raw.send("{}").await.is_err(), "nobody is there");
    // The next owner is found at the same place, with the session and what it had found.
    let owner = place.serve()?;
    ensure!(raw.tools().await?.contains(&"echo".to_owned()));
    ensure!(raw.call("echo", json!({"text": "hi"})).await? == (r#"{"text":"hi"}"#.to_owned(), false));
    // A session nobody knows: the client has to greet anew.
    let other = raw.clone().with("mcp-session-id", "never-was");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    ensure!(other.send(list.clone()).await?.status() == StatusCode::NOT_FOUND);
    // One that its client ended is not there for the next owner either.
    let ended = Raw::new(&url, &token).greeted().await?;
    let mut request = ended.http.delete(&url);
    for (name, value) in &ended.headers {
        request = request.header(name, value);
    }
    ensure!(request.send().await?.status().is_success());
    owner.stop()?;
    let owner = place.serve()?;
    ensure!(ended.send(list.clone()).await?.status() == StatusCode::NOT_FOUND);
    ensure!(raw.send(list).await?.status() == StatusCode::OK);
    owner.stop()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_come_in() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["providers", "keys", "--keep", "file"])?;
    let owner = place.serve()?;
    let port = free_port()?;
    let on = place.json(&["mcp-http", "on", "--port", &port.to_string()])?;
    let (url, first) = (on["url"].as_str().context("an address")?.to_owned(), token(&on)?);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let status = async |raw: Raw| anyhow::Ok(raw.send(list.clone()).await?.status());
    let good = Raw::new(&url, &first);
    ensure!(status(good.clone().with("authorization", "Bearer guess")).await? == StatusCode::UNAUTHORIZED);
    ensure!(status(good.clone().with("host", "evil.example")).await? == StatusCode::FORBIDDEN);
    ensure!(status(good.clone().with("origin", "https://evil.example")).await? == StatusCode::FORBIDDEN);
    // A page of this machine needs the token like anybody else.
    let page = good.clone().with("origin", "http://localhost:3000");
    page.clone().greeted().await?.tools().await?;
    ensure!(status(page.with("authorization", "Bearer guess")).await? == StatusCode::UNAUTHORIZED);
    ensure!(status(Raw::new(&url.replace("/mcp", "/v1/hello"), &first)).await? == StatusCode::NOT_FOUND);
    // The token of this address opens nothing else.
    let owners = Raw::at_owner(&place)?;
    ensure!(status(Raw::new(&owners.url, &first)).await? == StatusCode::UNAUTHORIZED);
    // A profile that does not exist is refused at once.
    for nobody in
        [good.clone().with("x-autokit-profile", "nobody"), Raw::new(&format!("{url}?profile=nobody"), &first)]
    {
        let hello = nobody.hello().await?;
        let message = hello["error"]["message"].as_str().unwrap_or_default();
        ensure!(message.contains("Profile \"nobody\" not found") && hello["id"] == 1, "{hello}");
    }
    // The name of the scheme may be in any case.
    let lower = good.clone().with("authorization", &format!("bearer {first}"));
    lower.greeted().await?.tools().await?;
    // With another token the one before is worth nothing.
    let second = token(&place.json(&["mcp-http", "renew"])?)?;
    ensure!(status(good.clone()).await? == StatusCode::UNAUTHORIZED);
    Raw::new(&url, &second).greeted().await?.tools().await?;
    // A port somebody else has: it is said, and what was open stays open.
    let taken = std::net::TcpListener::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.port().to_string();
    let (_, error) = place.failure(&["mcp-http", "on", "--port", &port])?;
    ensure!(error.to_string().contains(&format!("port {port} is already in use")), "{error}");
    Raw::new(&url, &second).greeted().await?.tools().await?;
    place.json(&["mcp-http", "off"])?;
    ensure!(Raw::new(&url, &second).send("{}").await.is_err());
    owner.stop()?;
    Ok(())
}

/// The address answers as the protocol wants it, also where the SDK does not.
#[tokio::test(flavor = "multi_thread")]
async fn the_address_keeps_to_the_protocol() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["providers", "keys", "--keep", "file"])?;
    let owner = place.serve()?;
    let port = free_port()?;
    let on = place.json(&["mcp-http", "on", "--port", &port.to_string()])?;
    let good = Raw::new(on["url"].as_str().context("an address")?, &token(&on)?);
    let raw = good.clone().greeted().await?;
    for (body, code, id) in [
        ("{no JSON", -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":7,"method":3}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":3}"#, -32602, json!(8)),
        (r#"[{"jsonrpc":"2.0","id":9,"method":"ping"}]"#, -32600, Value::Null),
    ] {
        let response = raw.send(body).await?;
        ensure!(response.status() == StatusCode::BAD_REQUEST, "{body}");
        let wrong: Value = response.json().await?;
        ensure!(wrong["error"]["code"] == code && wrong["id"] == id, "{body}: {wrong}");
    }
    let unread = raw.ask("tools/call", json!({"arguments": {}})).await?;
    ensure!(unread["error"]["code"] == -32602 && unread["id"] == 7, "{unread}");
    // A client of 2025-03-26 sends no version, and batches.
    let mut old = good.clone();
    old.headers.retain(|(name, _)| name != "mcp-protocol-version");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}}});
    let response = old.send(hello.to_string()).await?;
    let session = response.headers().get("mcp-session-id").context("a session")?.to_str()?.to_owned();
    let old = old.with("mcp-session-id", &session);
    let batch = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such"}, 4]);
    let text = tokio::time::timeout(TIMEOUT, old.send(batch.to_string()).await?.text()).await??;
    let answers: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok())
        .filter(|message: &Value| message.get("id").is_some())
        .collect();
    let of = |id: Value| answers.iter().find(|answer| answer["id"] == id).cloned().unwrap_or_default();
    ensure!(answers.len() == 4 && of(json!(1))["result"].is_object(), "{text}");
    ensure!(of(json!(2))["result"]["tools"][0]["name"] == "search_tools", "{text}");
    ensure!(of(json!(3))["error"]["code"] == -32601 && of(Value::Null)["error"]["code"] == -32600, "{text}");
    let notifications = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    ensure!(old.send(notifications.to_string()).await?.status() == StatusCode::ACCEPTED);
    // A session that is ended is ended, and nothing is left to be done.
    let mut request = raw.http.delete(&raw.url);
    for (name, value) in &raw.headers {
        request = request.header(name, value);
    }
    ensure!(request.send().await?.status() == StatusCode::NO_CONTENT);
    owner.stop()
}

/// Connections that say nothing stand in nobody's way, neither at the address nor at another listener.
#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_block_nobody() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["providers", "keys", "--keep", "file"])?;
    let owner = place.serve()?;
    let port = free_port()?;
    let on = place.json(&["mcp-http", "on", "--port", &port.to_string()])?;
    let (url, token) = (on["url"].as_str().context("an address")?.to_owned(), token(&on)?);
    let mut idle = Vec::new();
    for _ in 0..800 {
        idle.push(tokio::net::TcpStream::connect(("127.0.0.1", port)).await?);
    }
    Raw::new(&url, &token).greeted().await?.tools().await?;
    ensure!(place.json(&["cards", "list"])?["total"] == 0);
    Raw::at_owner(&place)?.greeted().await?.tools().await?;
    drop(idle);
    owner.stop()?;
    Ok(())
}

/// A query of many megabytes is refused before anything is done with it.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_query_as_long_as_a_book_costs_nothing() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let owner = place.serve()?;
    let raw = Raw::at_owner(&place)?.greeted().await?;
    let (text, failed) = raw.call("search_tools", json!({"query": "x ".repeat(2_049)})).await?;
    ensure!(failed && text.contains("the limit is 4096"), "{text}");
    let fits = raw.call("search_tools", json!({"query": format!("weather{}", " ".repeat(4_000))})).await?;
    ensure!(!fits.1, "{}", fits.0);
    let megabytes = 12;
    let before = owner.peak_kib()?;
    let (text, failed) =
        raw.call("search_tools", json!({"query": "weather ".repeat(megabytes << 17)})).await?;
    ensure!(failed && text.contains("the limit is 4096"), "{text}");
    let grown = (owner.peak_kib()? - before) / 1024;
    // It is read as bytes, as text and as JSON, and nothing is made of it.
    ensure!(grown < 12 * megabytes as u64, "{grown} MiB for {megabytes}");
    let more = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_tools",
        "arguments": {"query": "weather ".repeat(5 << 20)}}});
    // Who is still sending when the answer comes may find the connection closed instead.
    let refused = raw.send(more.to_string()).await;
    ensure!(refused.is_err() || refused.is_ok_and(|answer| answer.status() == StatusCode::PAYLOAD_TOO_LARGE));
    let (text, failed) = raw.call("search_tools", json!({"query": "weather"})).await?;
    ensure!(!failed, "{text}");
    owner.stop()
}

/// What sessions took is free again when they have ended.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn the_memory_of_closed_sessions_is_freed() -> Result<()> {
    use autokit_tests::growth::{ROUNDS, ensure_steady};

    const SESSIONS: usize = 50;
    let place = Workplace::with_stand_in()?;
    add_server(&place, "fixture", &["--many", "200"], true)?;
    let owner = place.serve()?;
    let round = async || {
        let mut raws = Vec::new();
        for number in 0..SESSIONS {
            let raw = Raw::at_owner(&place)?.greeted().await?;
            raw.call("search_tools", json!({"query": format!("thing number {number}")})).await?;
            raws.push(raw);
        }
        for raw in raws {
            let mut request = raw.http.delete(&raw.url);
            for (name, value) in &raw.headers {
                request = request.header(name, value);
            }
            ensure!(request.send().await?.status().is_success());
        }
        owner.resident_kib()
    };
    // The allocator and caches grow to their size first.
    for _ in 0..2 {
        round().await?;
    }
    let mut sizes = vec![round().await?];
    for _ in 0..ROUNDS {
        sizes.push(round().await?);
    }
    ensure_steady(&sizes)?;
    owner.stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_violate_the_protocol_are_refused() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let owner = place.serve()?;
    let raw = Raw::at_owner(&place)?.greeted().await?;
    ensure!(raw.send("{this is no JSON").await?.status().is_client_error());
    ensure!(raw.send("[]").await?.status().is_client_error());
    let unknown = raw.ask("no/such", json!({})).await?;
    ensure!(unknown["error"]["code"] == -32601 && unknown["id"] == 7, "{unknown}");
    // The session goes on.
    ensure!(raw.tools().await?.len() == 6);
    // Every request that stands alone says so itself.
    let meta = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {}}});
    let alone = Raw::at_owner(&place)?.with("mcp-protocol-version", "2026-07-28");
    ensure!(
        alone
            .clone()
            .with("mcp-method", "tools/list")
            .send("{this is no JSON")
            .await?
            .status()
            .is_client_error()
    );
    let unknown = alone.with("mcp-method", "no/such").ask("no/such", meta).await?;
    ensure!(unknown["error"]["code"] == -32601, "{unknown}");
    owner.stop()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handle_that_is_missing_or_wrong() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    add_server(&place, "fixture", &[], true)?;
    let owner = place.serve()?;
    let agent = Agent::over_http(&place, Generation::Stateless).await?;
    for (context, expected) in
        [(Value::Null, "`context` is missing"), (json!("ctx_guess"), "Unknown context")]
    {
        let call = json!({"name": "echo", "arguments": {}, "context": context});
        let (text, failed) = agent.call("call_tool", call).await?;
        ensure!(failed && text.contains(expected), "{text}");
    }
    let (text, failed) = agent.call("search_tools", json!({"query": "echo", "context": "ctx_guess"})).await?;
    ensure!(failed && text.contains("Unknown context"), "{text}");
    agent.disconnect().await?;
    owner.stop()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_and_one_that_says_very_much() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    add_server(&place, "fixture", &[], true)?;
    let owner = place.serve()?;
    for generation in Generation::BOTH {
        let mut agent = Agent::over_http(&place, generation).await?;
        agent.search("ends the server").await?;
        let (text, failed) = agent.use_tool("crash", json!({})).await?;
        ensure!(failed && text.contains("the disk of this server is on fire"), "{generation:?}: {text}");
        agent.search("echo").await?;
        ensure!(!agent.use_tool("echo", json!({"text": "hi"})).await?.1, "the next call starts it anew");
        agent.search("many megabytes").await?;
        let (text, failed) = agent.use_tool("huge", json!({"mib": 50})).await?;
        // What a model cannot read is cut, and says so.
        ensure!(!failed && text.len() < 2 << 20 && text.len() > 1_000, "{generation:?}: {}", text.len());
        agent.disconnect().await?;
    }
    owner.stop()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn abandoned_calls_are_cancelled() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    add_server(&place, "fixture", &[], true)?;
    let owner = place.serve()?;
    let mut watcher = Agent::over_http(&place, Generation::Session).await?;
    watcher.search("how often this server was called").await?;
    let raw = Raw::at_owner(&place)?.greeted().await?;
    raw.call("search_tools", json!({"query": "never answers"})).await?;
    let slow = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "slow", "arguments": {}}});
    let wait = async |arguments: Value| {
        let counted = tokio::time::timeout(TIMEOUT, watcher.use_tool("count", arguments.clone())).await;
        let counted = counted.with_context(|| format!("{arguments} did not come"))??;
        ensure!(!counted.1, "{}", counted.0);
        Ok(())
    };
    // By a word of the client.
    let calling = tokio::spawn({
        let (raw, slow) = (raw.clone(), slow.to_string());
        async move { raw.send(slow).await }
    });
    wait(json!({"begun": 1})).await?;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    ensure!(raw.send(cancel.to_string()).await?.status() == StatusCode::ACCEPTED);
    wait(json!({"taken_back": 1})).await?;
    calling.abort();
    // By the end of its session: its line may break without that.
    let calling = tokio::spawn({
        let (raw, slow) = (raw.clone(), slow.to_string());
        async move { raw.send(slow).await }
    });
    wait(json!({"begun": 2})).await?;
    let mut request = raw.http.delete(&raw.url);
    for (name, value) in &raw.headers {
        request = request.header(name, value);
    }
    ensure!(request.send().await?.status().is_success());
    wait(json!({"taken_back": 2})).await?;
    calling.abort();
    // A request that stands alone ends with its connection.
    let mut alone = Agent::over_http(&place, Generation::Stateless).await?;
    let found = alone.search("never answers").await?;
    let context = found["context"].clone();
    let calling = tokio::spawn(async move {
        let call = json!({"name": "slow", "arguments": {}, "context": context});
        let params = json!({"name": "call_tool", "arguments": call,
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
                "io.modelcontextprotocol/clientCapabilities": {}}});
        let raw = Raw::at_owner(&place)?
            .with("mcp-protocol-version", "2026-07-28")
            .with("mcp-method", "tools/call")
            .with("mcp-name", "call_tool");
        raw.ask("tools/call", params).await
    });
    wait(json!({"begun": 3})).await?;
    calling.abort();
    wait(json!({"taken_back": 3})).await?;
    alone.disconnect().await?;
    watcher.disconnect().await?;
    owner.stop()?;
    Ok(())
}
