//! MCP for agents over standard input and output.
//!
//! The process that owns the store serves all agents. Another process, such as `autokit mcp` while a window
//! is open, forwards its agent's messages to the owner. When the owner ends, it continues with the next
//! one, or becomes the owner, without the agent noticing: the session keeps its name, the `initialize`
//! request is sent again, and unanswered requests are repeated. Unanswered tool calls are not, because they
//! may have been executed; the agent is told so instead.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use autokit_api::Nothing;
use autokit_api::commands::ListProfiles;
use autokit_error::{ApiError, Result};
use autokit_gateway::Server;
use autokit_gateway::transport::{BoxedStream, serve_stream};
use autokit_serving::messages::{self, MESSAGE_BYTES, Message, ParsedBody};
use autokit_serving::profiles::no_profile;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::node::Node;

/// Most bytes of one response.
const RESPONSE_BYTES: usize = 64 << 20;
/// How long requests are answered after the agent closed its end. Calls that a person has not approved by then are
/// dropped.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Buffer size of the stream to the MCP server within this process.
const STREAM_BUFFER_BYTES: usize = 256 << 10;

impl Engine {
    /// Serves the agent at the other end of a stream until it disconnects or `stop` is cancelled.
    /// `connection` names the agent's session and stays the same across reconnections.
    pub(crate) async fn serve_agent(
        &self,
        stream: BoxedStream,
        connection: &str,
        profile: &str,
        stop: CancellationToken,
    ) {
        let server = Server::new(self.gateway().clone(), connection.to_owned(), profile.to_owned());
        serve_stream(server, stream, MESSAGE_BYTES, stop).await;
    }

    /// Returns a stream to the MCP server of this process.
    pub(crate) fn open_mcp_stream(
        self: &std::sync::Arc<Self>,
        connection: &str,
        profile: &str,
    ) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(STREAM_BUFFER_BYTES);
        let (engine, connection, profile) =
            (std::sync::Arc::clone(self), connection.to_owned(), profile.to_owned());
        // Ends with this engine: after a backup was restored, the agent goes on with the next one.
        let stop = self.stopping();
        tokio::spawn(async move {
            engine.serve_agent(Box::pin(theirs), &connection, &profile, stop).await;
        });
        ours
    }
}

/// Serves the agent at this process's standard input and output until it disconnects.
///
/// # Errors
/// `not_found` if there is no such profile; otherwise if no owner of the library can be reached, or the
/// output cannot be written.
pub async fn serve_stdio(
    node: &Node,
    profile: &str,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> Result<()> {
    let known = node.call::<ListProfiles>(Nothing {}).await?.profiles;
    if !profile.is_empty() && !known.iter().any(|known| known.name == profile) {
        return Err(no_profile(profile));
    }
    let mut agent = Agent {
        connection: format!("stdio_{}", autokit_workspace::token(16)),
        input: BufReader::new(input),
        output,
        initialize: None,
        initialized: None,
        pending: HashMap::new(),
        protocol: None,
        batches: Vec::new(),
        input_ended: None,
    };
    let mut first = true;
    loop {
        let stream = node.mcp_stream(&agent.connection, profile).await?;
        let (from_owner, mut to_owner) = tokio::io::split(stream);
        let mut from_owner = BufReader::new(from_owner);
        if !first && agent.reconnect(&mut from_owner, &mut to_owner).await.is_err() {
            // This owner ended as well.
            continue;
        }
        first = false;
        if agent.forward(&mut from_owner, &mut to_owner).await? == ForwardingEnd::Disconnected {
            return Ok(());
        }
    }
}

/// Why forwarding ended.
#[derive(PartialEq, Eq)]
enum ForwardingEnd {
    /// The agent disconnected.
    Disconnected,
    /// The owner ended.
    OwnerEnded,
}

/// The agent at this process's standard input and output, with what is needed to continue with another
/// owner.
struct Agent<I, O> {
    connection: String,
    input: BufReader<I>,
    output: O,
    /// Its `initialize` request (up to revision 2025-11-25), as sent.
    initialize: Option<Vec<u8>>,
    /// Its `notifications/initialized`, as sent.
    initialized: Option<Vec<u8>>,
    /// Unanswered requests, by id.
    pending: HashMap<String, PendingRequest>,
    /// The negotiated revision of the protocol.
    protocol: Option<String>,
    /// Unanswered batches.
    batches: Vec<Batch>,
    /// When the agent closed its end. What it asked before is answered.
    input_ended: Option<Instant>,
}

/// A batch of requests, which are answered together.
#[derive(Default)]
struct Batch {
    /// Ids of its unanswered requests.
    pending: HashSet<String>,
    responses: Vec<Value>,
}

/// What to do with a line from the agent.
#[derive(Default)]
struct LineAction {
    /// Lines for the owner.
    to_owner: Vec<u8>,
    /// Lines for the agent.
    to_agent: Vec<u8>,
}

struct PendingRequest {
    line: Vec<u8>,
    /// Whether the request may have effects, so that it must not be repeated.
    has_effects: bool,
    /// Whether it is the `initialize` request.
    is_initialize: bool,
    id: Value,
}

impl<I: AsyncRead + Unpin + Send, O: AsyncWrite + Unpin + Send> Agent<I, O> {
    async fn forward(
        &mut self,
        from: &mut (impl AsyncBufReadExt + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Result<ForwardingEnd> {
        let (mut request, mut response) = (Vec::new(), Vec::new());
        loop {
            if self.input_ended.is_some() && self.pending.is_empty() {
                return Ok(ForwardingEnd::Disconnected);
            }
            let last = self.input_ended.map_or_else(Instant::now, |ended| ended + LAST_ANSWERS);
            tokio::select! {
                () = tokio::time::sleep_until(last), if self.input_ended.is_some() => {
                    return Ok(ForwardingEnd::Disconnected);
                }
                read = read_line(&mut self.input, &mut request, MESSAGE_BYTES), if self.input_ended.is_none() => match read {
                    Ok(LineRead::TooLong) => self.send(&line_too_long()).await?,
                    Ok(LineRead::Line) => {
                        let line = std::mem::take(&mut request);
                        if !self.forward_request(&line, to).await? {
                            return Ok(ForwardingEnd::OwnerEnded);
                        }
                    }
                    Ok(LineRead::End) => {
                        self.input_ended = Some(Instant::now());
                        // The last line may have no end.
                        let line = std::mem::take(&mut request);
                        let line = [line.as_slice(), b"\n"].concat();
                        if !self.forward_request(&line, to).await? {
                            return Ok(ForwardingEnd::OwnerEnded);
                        }
                    }
                    // Some agents disconnect with an error.
                    Err(_) => return Ok(ForwardingEnd::Disconnected),
                },
                read = read_line(from, &mut response, RESPONSE_BYTES) => match read {
                    Ok(LineRead::Line) => {
                        let line = std::mem::take(&mut response);
                        self.forward_response(&line).await?;
                    }
                    Ok(LineRead::TooLong | LineRead::End) | Err(_) => return Ok(ForwardingEnd::OwnerEnded),
                },
            }
        }
    }

    /// Forwards a line of the agent; returns whether the owner took it. An empty line is nothing to forward.
    async fn forward_request(&mut self, line: &[u8], to: &mut (impl AsyncWrite + Unpin)) -> Result<bool> {
        let action = self.handle_line(line);
        self.send(&action.to_agent).await?;
        Ok(to.write_all(&action.to_owner).await.is_ok() && to.flush().await.is_ok())
    }

    async fn send(&mut self, line: &[u8]) -> Result<()> {
        let written = async {
            self.output.write_all(line).await?;
            self.output.flush().await
        };
        written.await.map_err(|error| ApiError::internal(format!("could not write to the agent: {error}")))
    }

    /// Forwards a response, or keeps it until the rest of its batch is answered.
    async fn forward_response(&mut self, line: &[u8]) -> Result<()> {
        let Some(id) = response_id(line) else { return self.send(line).await };
        if self.pending.remove(&id).is_some_and(|request| request.is_initialize) {
            let response = serde_json::from_slice::<Value>(line).unwrap_or_default();
            let negotiated = response.pointer("/result/protocolVersion").and_then(Value::as_str);
            self.protocol = negotiated.map(str::to_owned);
        }
        let Some(at) = self.batches.iter().position(|batch| batch.pending.contains(&id)) else {
            return self.send(line).await;
        };
        let batch = &mut self.batches[at];
        batch.pending.remove(&id);
        batch.responses.push(serde_json::from_slice(line).unwrap_or_default());
        if !batch.pending.is_empty() {
            return Ok(());
        }
        let batch = self.batches.swap_remove(at);
        self.send(&to_line(&Value::Array(batch.responses))).await
    }

    /// Parses a line from the agent, and records what is needed to continue with another owner.
    fn handle_line(&mut self, line: &[u8]) -> LineAction {
        let mut action = LineAction::default();
        if line.iter().all(u8::is_ascii_whitespace) {
            return action;
        }
        match messages::parse(line) {
            Ok(ParsedBody::Single(message)) => {
                if let Some(fault) = message.validation_error() {
                    action.to_agent = to_line(&fault);
                    return action;
                }
                self.record(&message, line);
                action.to_owner = line.to_vec();
                // A cancelled request may have been the last of its batch.
                let done = self.batches.extract_if(.., |batch| batch.pending.is_empty());
                let lines = done.map(|batch| to_line(&Value::Array(batch.responses)));
                action.to_agent = lines.flatten().collect();
            }
            Ok(ParsedBody::Batch(messages)) => self.handle_batch(&messages, &mut action),
            Err(fault) => action.to_agent = to_line(&fault),
        }
        action
    }

    fn handle_batch(&mut self, messages: &[&str], action: &mut LineAction) {
        let wrong =
            |message: &str| to_line(&messages::error(&Value::Null, messages::INVALID_REQUEST, message));
        if self.protocol.as_deref() != Some(messages::BATCH_VERSION) {
            action.to_agent = wrong("this protocol version does not support batches");
            return;
        }
        if messages.is_empty() {
            action.to_agent = wrong("a batch must contain at least one message");
            return;
        }
        let mut batch = Batch::default();
        for text in messages {
            let message = match messages::parse_one(text) {
                Ok(message) => message,
                Err(fault) => {
                    batch.responses.push(fault);
                    continue;
                }
            };
            let initialize_error = (message.method() == "initialize").then(|| {
                let id = message.id().unwrap_or(&Value::Null);
                messages::error(id, messages::INVALID_REQUEST, "`initialize` cannot be part of a batch")
            });
            if let Some(fault) = message.validation_error().or(initialize_error) {
                batch.responses.push(fault);
                continue;
            }
            let mut line = text.replace(['\r', '\n'], " ").into_bytes();
            line.push(b'\n');
            self.record(&message, &line);
            if let Some(id) = message.id().filter(|_| message.is_request()) {
                batch.pending.insert(id.to_string());
            }
            action.to_owner.extend(line);
        }
        if !batch.pending.is_empty() {
            self.batches.push(batch);
        } else if !batch.responses.is_empty() {
            action.to_agent = to_line(&Value::Array(batch.responses));
        }
    }

    /// Records what is needed to continue with another owner.
    fn record(&mut self, message: &Message<'_>, line: &[u8]) {
        let method = message.method();
        match method {
            "initialize" => self.initialize = Some(line.to_vec()),
            "notifications/initialized" => self.initialized = Some(line.to_vec()),
            "notifications/cancelled" => {
                if let Some(id) = message.params().request_id {
                    self.forget(&id.to_string());
                }
            }
            _ => {}
        }
        if let Some(id) = message.id().filter(|_| message.is_request()) {
            let is_search = || message.params().name.as_deref() == Some(autokit_gateway::SEARCH_TOOLS);
            let has_effects = method == "tools/call" && !is_search();
            let is_initialize = method == "initialize";
            self.pending.insert(
                id.to_string(),
                PendingRequest { line: line.to_vec(), has_effects, is_initialize, id: id.clone() },
            );
        }
    }

    /// Stops waiting for the response to a cancelled request, because there may be none.
    fn forget(&mut self, id: &str) {
        self.pending.remove(id);
        for batch in &mut self.batches {
            batch.pending.remove(id);
        }
    }

    /// Continues with another owner: sends `initialize` again and repeats the requests that can be
    /// repeated.
    async fn reconnect(
        &mut self,
        from: &mut (impl AsyncBufReadExt + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> std::io::Result<()> {
        let unsent = self.initialize.as_ref().filter(|line| {
            let id =
                serde_json::from_slice::<Value>(line).ok().and_then(|message| message.get("id").cloned());
            // An unanswered `initialize` is among the requests that are repeated.
            id.is_some_and(|id| !self.pending.contains_key(&id.to_string()))
        });
        if let Some(initialize) = unsent {
            to.write_all(initialize).await?;
            to.flush().await?;
            // The agent has had this response before.
            let mut response = Vec::new();
            if read_line(from, &mut response, RESPONSE_BYTES).await? != LineRead::Line {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(initialized) = &self.initialized {
                to.write_all(initialized).await?;
            }
        }
        let (unrepeatable, repeatable): (Vec<PendingRequest>, Vec<PendingRequest>) =
            self.pending.drain().map(|(_, request)| request).partition(|request| request.has_effects);
        for request in unrepeatable {
            let response = json!({"jsonrpc": "2.0", "id": request.id, "result": {
                "content": [{"type": "text", "text": "AutoKit restarted during this call. It may have run; check before you call again."}],
                "isError": true,
            }});
            self.forward_response(&to_line(&response)).await.map_err(std::io::Error::other)?;
        }
        for request in repeatable {
            to.write_all(&request.line).await?;
            self.pending.insert(request.id.to_string(), request);
        }
        to.flush().await
    }
}

/// Serializes a message as a line.
fn to_line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

/// Returns the id of the request that a line responds to.
fn response_id(line: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Response<'a> {
        #[serde(default)]
        id: Option<Value>,
        #[serde(default, borrow)]
        method: Option<&'a serde_json::value::RawValue>,
    }
    let response: Response<'_> = serde_json::from_slice(line).ok()?;
    response.id.filter(|_| response.method.is_none()).map(|id| id.to_string())
}

/// Returns the error response to a line that is too long.
fn line_too_long() -> Vec<u8> {
    let message = format!("a message can have at most {MESSAGE_BYTES} bytes");
    to_line(&messages::error(&Value::Null, messages::INVALID_REQUEST, &message))
}

/// The outcome of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineRead {
    /// A complete line, including its end.
    Line,
    /// A line longer than allowed; it is skipped.
    TooLong,
    /// The end of the input.
    End,
}

/// Reads a line including its end into `line`, which may hold its beginning from an earlier call. Of a line
/// that is too long, no more than one byte over the limit is buffered.
async fn read_line(
    from: &mut (impl AsyncBufReadExt + Unpin),
    line: &mut Vec<u8>,
    most: usize,
) -> std::io::Result<LineRead> {
    loop {
        let read = from.fill_buf().await?;
        if read.is_empty() {
            return Ok(LineRead::End);
        }
        let end = read.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let taken = end.unwrap_or(read.len());
        let room = (most + 1).saturating_sub(line.len()).min(taken);
        line.extend_from_slice(&read[..room]);
        from.consume(taken);
        match (end.is_some(), line.len() > most) {
            (true, false) => return Ok(LineRead::Line),
            (true, true) => {
                *line = Vec::new();
                return Ok(LineRead::TooLong);
            }
            (false, _) => {}
        }
    }
}
