//! Agents as tests have them: clients of the official SDK, over the lines that real agents use.

use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, Implementation, InitializeRequestParams, ProtocolVersion, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RunningService, Subscription};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::sync::watch;

use crate::{Workplace, program};

/// Which generation of the protocol is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Up to 2025-11-25: a connection is a session.
    Session,
    /// 2026-07-28: every request stands alone.
    Stateless,
}

impl Generation {
    /// Both.
    pub const BOTH: [Generation; 2] = [Generation::Session, Generation::Stateless];

    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Generation::Session => ClientLifecycleMode::Initialize,
            Generation::Stateless => {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            }
        }
    }
}

/// Counts how often it is told that its tools changed.
#[derive(Clone)]
struct ChangeCounter {
    changes: Arc<watch::Sender<u32>>,
    /// What it says it is.
    client: Implementation,
}

impl ChangeCounter {
    fn new(changes: watch::Sender<u32>, client: Implementation) -> ChangeCounter {
        ChangeCounter { changes: Arc::new(changes), client }
    }
}

/// What an agent of tests says it is.
fn test_agent() -> Implementation {
    Implementation::new("test agent", "1.0")
}

impl ClientHandler for ChangeCounter {
    fn get_info(&self) -> InitializeRequestParams {
        let mut info = InitializeRequestParams::default();
        info.client_info = self.client.clone();
        info
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.send_modify(|times| *times += 1);
    }
}

/// An agent that is connected.
pub struct Agent {
    client: RunningService<RoleClient, ChangeCounter>,
    changes: watch::Receiver<u32>,
    generation: Generation,
    context: Option<String>,
    _process: Option<Child>,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("generation", &self.generation).finish_non_exhaustive()
    }
}

/// What a call gave: its texts, and whether it is an error.
pub type CallOutcome = (String, bool);

impl Agent {
    /// Starts `autokit mcp` and speaks to it by its input and output.
    ///
    /// # Errors
    /// When it does not start or does not greet.
    pub async fn over_stdio(place: &Workplace, generation: Generation) -> Result<Agent> {
        Agent::with_profile(place, generation, "").await
    }

    /// As [`Agent::over_stdio`], with a profile.
    ///
    /// # Errors
    /// When it does not start or does not greet.
    pub async fn with_profile(place: &Workplace, generation: Generation, profile: &str) -> Result<Agent> {
        let arguments = ["mcp", "--profile", profile];
        let arguments = if profile.is_empty() { &arguments[..1] } else { &arguments[..] };
        Agent::start(place, generation, arguments, test_agent()).await
    }

    /// As [`Agent::over_stdio`], with a session, by a client of this name and version.
    ///
    /// # Errors
    /// When it does not start or does not greet.
    pub async fn named(place: &Workplace, name: &str, version: &str) -> Result<Agent> {
        Agent::start(place, Generation::Session, &["mcp"], Implementation::new(name, version)).await
    }

    async fn start(
        place: &Workplace,
        generation: Generation,
        arguments: &[&str],
        client: Implementation,
    ) -> Result<Agent> {
        let mut command = tokio::process::Command::from(place.command(arguments)?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn()?;
        let (out, input) = (process.stdout.take().context("output")?, process.stdin.take().context("input")?);
        let (sender, changes) = watch::channel(0);
        let transport = AsyncRwTransport::new(out, input).with_max_line_length(64 << 20);
        let client = ChangeCounter::new(sender, client)
            .serve_with_lifecycle(transport, generation.lifecycle())
            .await?;
        Ok(Agent { client, changes, generation, context: None, _process: Some(process) })
    }

    /// Speaks Streamable HTTP with the process that owns a library.
    ///
    /// # Errors
    /// When nobody owns it or it does not greet.
    pub async fn over_http(place: &Workplace, generation: Generation) -> Result<Agent> {
        let text = std::fs::read_to_string(place.data_dir().join("endpoint.json"))?;
        let endpoint: Value = serde_json::from_str(&text)?;
        let (port, token) = (&endpoint["port"], endpoint["token"].as_str().context("a token")?);
        Agent::at(&format!("http://127.0.0.1:{port}/mcp"), token, generation).await
    }

    /// Speaks Streamable HTTP with whoever answers at an address.
    ///
    /// # Errors
    /// When nobody does or it does not greet.
    pub async fn at(url: &str, token: &str, generation: Generation) -> Result<Agent> {
        let config = StreamableHttpClientTransportConfig::with_uri(url.to_owned()).auth_header(token);
        let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
        let (sender, changes) = watch::channel(0);
        let client = ChangeCounter::new(sender, test_agent())
            .serve_with_lifecycle(transport, generation.lifecycle())
            .await?;
        Ok(Agent { client, changes, generation, context: None, _process: None })
    }

    /// Opens a subscription to changes of its tools, as the stateless generation does.
    ///
    /// # Errors
    /// When the other side does not acknowledge it.
    pub async fn subscribe(&self) -> Result<Subscription> {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        Ok(self.client.listen(filter).await?)
    }

    /// Waits until it was told so many times that its tools changed.
    ///
    /// # Errors
    /// When the connection ends first.
    pub async fn wait_for_changes(&mut self, times: u32) -> Result<()> {
        self.changes.wait_for(|changes| *changes >= times).await?;
        Ok(())
    }

    /// How often it was told that its tools changed.
    pub fn change_count(&self) -> u32 {
        *self.changes.borrow()
    }

    /// Names of its tools.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn tools(&self) -> Result<Vec<String>> {
        let tools = self.client.list_all_tools().await?;
        Ok(tools.into_iter().map(|tool| tool.name.into_owned()).collect())
    }

    /// Calls a tool of the list.
    ///
    /// # Errors
    /// When the protocol fails, which a tool's own error is not.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<CallOutcome> {
        let mut params = CallToolRequestParams::new(name.to_owned());
        params.arguments = arguments.as_object().cloned();
        // The text of such an error leaves out what caused it.
        let result = self.client.call_tool(params).await.map_err(|error| anyhow!("{error:?}"))?;
        let texts: Vec<&str> = result
            .content
            .iter()
            .filter_map(|block| block.as_text().map(|text| text.text.as_str()))
            .collect();
        Ok((texts.join("\n"), result.is_error == Some(true)))
    }

    /// Searches, and goes on in the context that gives.
    ///
    /// # Errors
    /// When it fails.
    pub async fn search(&mut self, query: &str) -> Result<Value> {
        let mut arguments = json!({"query": query});
        if let Some(context) = &self.context {
            arguments["context"] = json!(context);
        }
        let (text, failed) = self.call("search_tools", arguments).await?;
        if failed {
            bail!("the search failed: {text}");
        }
        let found: Value = serde_json::from_str(&text)?;
        self.context = found["context"].as_str().map(str::to_owned);
        if self.context.is_none() == (self.generation == Generation::Stateless) {
            bail!("a context belongs to the stateless generation: {text}");
        }
        Ok(found)
    }

    /// Calls a discovered tool as its generation does.
    ///
    /// # Errors
    /// When the protocol fails.
    pub async fn use_tool(&self, name: &str, arguments: Value) -> Result<CallOutcome> {
        match self.generation {
            Generation::Session => self.call(name, arguments).await,
            Generation::Stateless => {
                let call = json!({"name": name, "arguments": arguments, "context": self.context});
                self.call("call_tool", call).await
            }
        }
    }

    /// Hangs up.
    ///
    /// # Errors
    /// When the connection broke.
    pub async fn disconnect(self) -> Result<()> {
        self.client.cancel().await?;
        Ok(())
    }
}

/// Adds the server of tests to a library; what it is called, and how it behaves.
///
/// # Errors
/// When its tools cannot be looked at.
pub fn add_server(place: &Workplace, name: &str, options: &[&str], trusted: bool) -> Result<Value> {
    let server = program("tools-server")?.display().to_string();
    let mut arguments = vec!["servers", "add", name];
    if trusted {
        arguments.push("--trust");
    }
    arguments.extend(["--", server.as_str()]);
    arguments.extend(options);
    // The option for JSON has to come before the server's own words.
    let output = place.command(&[&["--json"], arguments.as_slice()].concat())?.output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
