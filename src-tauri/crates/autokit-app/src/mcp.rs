//! MCP for agents over standard input and output.
//!
//! The process that owns the store serves all agents. Another process, such as `autokit mcp` while a window
//! is open, forwards its agent's messages to the owner. When the owner ends, it continues with the next
//! one, or becomes the owner, without the agent noticing: the session keeps its name, the `initialize`
//! request is sent again, and unanswered requests are repeated. Unanswered tool calls are not, because they
//! may have been executed; the agent is told so instead.

use std::collections::{HashMap, HashSet};

use autokit_api::Nothing;
use autokit_api::commands::ListProfiles;
use autokit_error::{ApiError, Result};
use autokit_gateway::Server;
use autokit_gateway::transport::{BoxedStream, serve_stream};
use autokit_serving::messages::{self, MESSAGE_BYTES, Message, Sent};
use autokit_serving::profiles::no_profile;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::node::Node;

/// Most bytes of one response.
const ANSWER_BYTES: usize = 64 << 20;
/// Buffer size of the stream to the MCP server within this process.
const PIPE: usize = 256 << 10;

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
    pub(crate) fn line(self: &std::sync::Arc<Self>, connection: &str, profile: &str) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let (engine, connection, profile) =
            (std::sync::Arc::clone(self), connection.to_owned(), profile.to_owned());
        tokio::spawn(async move {
            engine.serve_agent(Box::pin(theirs), &connection, &profile, CancellationToken::new()).await;
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
        lines: BufReader::new(input),
        output,
        hello: None,
        ready: None,
        asked: HashMap::new(),
        protocol: None,
        batches: Vec::new(),
    };
    let mut first = true;
    loop {
        let line = node.mcp_line(&agent.connection, profile).await?;
        let (from, mut to) = tokio::io::split(line);
        let mut answers = BufReader::new(from);
        if !first && agent.greet_again(&mut answers, &mut to).await.is_err() {
            // This owner ended as well.
            continue;
        }
        first = false;
        if agent.pass(&mut answers, &mut to).await? == End::HungUp {
            return Ok(());
        }
    }
}

/// Why forwarding ended.
#[derive(PartialEq, Eq)]
enum End {
    /// The agent disconnected.
    HungUp,
    /// The owner ended.
    OwnerEnded,
}

/// The agent at this process's standard input and output, with what is needed to continue with another
/// owner.
struct Agent<I, O> {
    connection: String,
    lines: BufReader<I>,
    output: O,
    /// Its `initialize` request (up to revision 2025-11-25), as sent.
    hello: Option<Vec<u8>>,
    /// Its `notifications/initialized`, as sent.
    ready: Option<Vec<u8>>,
    /// Unanswered requests, by id.
    asked: HashMap<String, PendingRequest>,
    /// The negotiated revision of the protocol.
    protocol: Option<String>,
    /// Unanswered batches.
    batches: Vec<Batch>,
}

/// A batch of requests, which are answered together.
#[derive(Default)]
struct Batch {
    /// Ids of its unanswered requests.
    waits: HashSet<String>,
    answers: Vec<Value>,
}

/// What to do with a line from the agent.
#[derive(Default)]
struct LineAction {
    /// Lines for the owner.
    pass: Vec<u8>,
    /// Lines for the agent.
    say: Vec<u8>,
}

struct PendingRequest {
    line: Vec<u8>,
    /// Whether the request may have effects, so that it must not be repeated.
    acts: bool,
    /// Whether it is the `initialize` request.
    greets: bool,
    id: Value,
}

impl<I: AsyncRead + Unpin + Send, O: AsyncWrite + Unpin + Send> Agent<I, O> {
    async fn pass(
        &mut self,
        answers: &mut (impl AsyncBufReadExt + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Result<End> {
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        loop {
            tokio::select! {
                read = read_line(&mut self.lines, &mut asked, MESSAGE_BYTES) => match read {
                    Ok(LineRead::TooLong) => self.say(&too_long()).await?,
                    Ok(LineRead::Line) => {
                        let line = std::mem::take(&mut asked);
                        let taken = self.take(&line);
                        self.say(&taken.say).await?;
                        if to.write_all(&taken.pass).await.is_err() || to.flush().await.is_err() {
                            return Ok(End::OwnerEnded);
                        }
                    }
                    // Some agents disconnect with an error.
                    Ok(LineRead::End) | Err(_) => return Ok(End::HungUp),
                },
                read = read_line(answers, &mut answered, ANSWER_BYTES) => match read {
                    Ok(LineRead::Line) => {
                        let line = std::mem::take(&mut answered);
                        self.deliver(&line).await?;
                    }
                    Ok(LineRead::TooLong | LineRead::End) | Err(_) => return Ok(End::OwnerEnded),
                },
            }
        }
    }

    async fn say(&mut self, line: &[u8]) -> Result<()> {
        let written = async {
            self.output.write_all(line).await?;
            self.output.flush().await
        };
        written.await.map_err(|error| ApiError::internal(format!("could not write to the agent: {error}")))
    }

    /// Forwards a response, or keeps it until the rest of its batch is answered.
    async fn deliver(&mut self, line: &[u8]) -> Result<()> {
        let Some(id) = answered_id(line) else { return self.say(line).await };
        if self.asked.remove(&id).is_some_and(|asked| asked.greets) {
            let answer = serde_json::from_slice::<Value>(line).unwrap_or_default();
            let agreed = answer.pointer("/result/protocolVersion").and_then(Value::as_str);
            self.protocol = agreed.map(str::to_owned);
        }
        let Some(at) = self.batches.iter().position(|batch| batch.waits.contains(&id)) else {
            return self.say(line).await;
        };
        let batch = &mut self.batches[at];
        batch.waits.remove(&id);
        batch.answers.push(serde_json::from_slice(line).unwrap_or_default());
        if !batch.waits.is_empty() {
            return Ok(());
        }
        let batch = self.batches.swap_remove(at);
        self.say(&line_of(&Value::Array(batch.answers))).await
    }

    /// Parses a line from the agent, and remembers what is needed to continue with another owner.
    fn take(&mut self, line: &[u8]) -> LineAction {
        let mut taken = LineAction::default();
        if line.iter().all(u8::is_ascii_whitespace) {
            return taken;
        }
        match messages::read(line) {
            Ok(Sent::One(message)) => {
                if let Some(fault) = message.fault() {
                    taken.say = line_of(&fault);
                    return taken;
                }
                self.note(&message, line);
                taken.pass = line.to_vec();
                // A cancelled request may have been the last of its batch.
                let done = self.batches.extract_if(.., |batch| batch.waits.is_empty());
                let answers = done.map(|batch| line_of(&Value::Array(batch.answers)));
                taken.say = answers.flatten().collect();
            }
            Ok(Sent::Batch(messages)) => self.take_batch(&messages, &mut taken),
            Err(fault) => taken.say = line_of(&fault),
        }
        taken
    }

    fn take_batch(&mut self, messages: &[&str], taken: &mut LineAction) {
        let wrong = |words: &str| line_of(&messages::error(&Value::Null, messages::INVALID_REQUEST, words));
        if self.protocol.as_deref() != Some(messages::BATCHES) {
            taken.say = wrong("this protocol version does not support batches");
            return;
        }
        if messages.is_empty() {
            taken.say = wrong("a batch must contain at least one message");
            return;
        }
        let mut batch = Batch::default();
        for text in messages {
            let message = match messages::read_one(text) {
                Ok(message) => message,
                Err(fault) => {
                    batch.answers.push(fault);
                    continue;
                }
            };
            let greets = (message.method() == "initialize").then(|| {
                let id = message.id().unwrap_or(&Value::Null);
                messages::error(id, messages::INVALID_REQUEST, "`initialize` cannot be part of a batch")
            });
            if let Some(fault) = message.fault().or(greets) {
                batch.answers.push(fault);
                continue;
            }
            let mut line = text.replace(['\r', '\n'], " ").into_bytes();
            line.push(b'\n');
            self.note(&message, &line);
            if let Some(id) = message.id().filter(|_| message.is_request()) {
                batch.waits.insert(id.to_string());
            }
            taken.pass.extend(line);
        }
        if !batch.waits.is_empty() {
            self.batches.push(batch);
        } else if !batch.answers.is_empty() {
            taken.say = line_of(&Value::Array(batch.answers));
        }
    }

    /// Remembers what is needed to continue with another owner.
    fn note(&mut self, message: &Message<'_>, line: &[u8]) {
        let method = message.method();
        match method {
            "initialize" => self.hello = Some(line.to_vec()),
            "notifications/initialized" => self.ready = Some(line.to_vec()),
            "notifications/cancelled" => {
                if let Some(id) = message.params().request_id {
                    self.forget(&id.to_string());
                }
            }
            _ => {}
        }
        if let Some(id) = message.id().filter(|_| message.is_request()) {
            let finds = || message.params().name.as_deref() == Some(autokit_gateway::SEARCH_TOOLS);
            let acts = method == "tools/call" && !finds();
            let greets = method == "initialize";
            self.asked
                .insert(id.to_string(), PendingRequest { line: line.to_vec(), acts, greets, id: id.clone() });
        }
    }

    /// Stops waiting for the response to a cancelled request, because there may be none.
    fn forget(&mut self, id: &str) {
        self.asked.remove(id);
        for batch in &mut self.batches {
            batch.waits.remove(id);
        }
    }

    /// Continues with another owner: sends `initialize` again and repeats the requests that can be
    /// repeated.
    async fn greet_again(
        &mut self,
        answers: &mut (impl AsyncBufReadExt + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> std::io::Result<()> {
        let greeting = self.hello.as_ref().filter(|hello| {
            let id = serde_json::from_slice::<Value>(hello).ok().and_then(|hello| hello.get("id").cloned());
            // An unanswered `initialize` is among the requests that are repeated.
            id.is_some_and(|id| !self.asked.contains_key(&id.to_string()))
        });
        if let Some(hello) = greeting {
            to.write_all(hello).await?;
            to.flush().await?;
            // The agent has had this response before.
            let mut answer = Vec::new();
            if read_line(answers, &mut answer, ANSWER_BYTES).await? != LineRead::Line {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(ready) = &self.ready {
                to.write_all(ready).await?;
            }
        }
        let (act, ask): (Vec<PendingRequest>, Vec<PendingRequest>) =
            self.asked.drain().map(|(_, asked)| asked).partition(|asked| asked.acts);
        for asked in act {
            let told = json!({"jsonrpc": "2.0", "id": asked.id, "result": {
                "content": [{"type": "text", "text": "AutoKit restarted during this call. It may have run; check before you call again."}],
                "isError": true,
            }});
            self.deliver(&line_of(&told)).await.map_err(std::io::Error::other)?;
        }
        for asked in ask {
            to.write_all(&asked.line).await?;
            self.asked.insert(asked.id.to_string(), asked);
        }
        to.flush().await
    }
}

/// Serializes a message as a line.
fn line_of(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

/// Returns the id of the request that a line responds to.
fn answered_id(line: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Answer<'a> {
        #[serde(default)]
        id: Option<Value>,
        #[serde(default, borrow)]
        method: Option<&'a serde_json::value::RawValue>,
    }
    let answer: Answer<'_> = serde_json::from_slice(line).ok()?;
    answer.id.filter(|_| answer.method.is_none()).map(|id| id.to_string())
}

/// Returns the error response to a line that is too long.
fn too_long() -> Vec<u8> {
    let words = format!("a message can have at most {MESSAGE_BYTES} bytes");
    line_of(&messages::error(&Value::Null, messages::INVALID_REQUEST, &words))
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
