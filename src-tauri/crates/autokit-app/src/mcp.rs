//! MCP for agents: over standard input and output, and over HTTP on loopback.
//!
//! The process that owns the store serves all of it. One that does not, `autokit mcp` while a window is
//! open say, passes the lines of its agent on to the owner; when the owner ends, it goes on with the next
//! one, or becomes it, and the agent notices nothing: its session is named, its greeting is said again,
//! and what it had asked and nobody answered is asked again, unless it is a call, which may have been
//! carried out. That one it is told.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;

use autokit_api::Nothing;
use autokit_api::commands::ListProfiles;
use autokit_error::{ApiError, Result};
use autokit_serving::messages::{self, MESSAGE_BYTES, Message, Sent};
use autokit_serving::profiles::no_profile;
use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::node::Node;

/// Bytes of one answer.
const ANSWER_BYTES: usize = 64 << 20;
/// Bytes on their way within this process.
const PIPE: usize = 256 << 10;

/// A line to an MCP server: what an agent sends goes in, what it is answered comes out.
pub trait Line: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Line for T {}

/// Any line.
pub type AnyLine = Pin<Box<dyn Line>>;

impl Engine {
    /// Serves an agent at the other end of a line until it hangs up or `stop` is cancelled.
    pub(crate) async fn serve_agent(
        &self,
        line: impl Line + 'static,
        connection: &str,
        profile: &str,
        stop: CancellationToken,
    ) {
        let (from, to) = tokio::io::split(line);
        let transport = AsyncRwTransport::new(from, to).with_max_line_length(MESSAGE_BYTES);
        // On the heap: what the SDK carries along is large.
        match Box::pin(self.mcp_server(connection, profile).serve_with_ct(transport, stop)).await {
            Ok(service) => {
                if let Err(error) = service.waiting().await {
                    tracing::warn!(%error, "the line to an agent broke");
                }
            }
            // It hung up before it said hello, or said something else.
            Err(error) => tracing::info!(%error, "an agent was not served"),
        }
    }

    /// A line to the MCP server of this process.
    pub(crate) fn line(self: &std::sync::Arc<Self>, connection: &str, profile: &str) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let (engine, connection, profile) =
            (std::sync::Arc::clone(self), connection.to_owned(), profile.to_owned());
        tokio::spawn(async move {
            engine.serve_agent(theirs, &connection, &profile, CancellationToken::new()).await;
        });
        ours
    }
}

/// Serves the agent at this process's input and output until it hangs up.
///
/// # Errors
/// `not_found` when there is no such profile; else when no owner of the library can be reached any more, or
/// the output cannot be written.
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

/// Why lines are passed on no more.
#[derive(PartialEq, Eq)]
enum End {
    /// The agent hung up.
    HungUp,
    /// The owner ended.
    OwnerEnded,
}

/// The agent at this process's input and output, and what has to be known to go on with another owner.
struct Agent<I, O> {
    connection: String,
    lines: BufReader<I>,
    output: O,
    /// Its greeting (up to 2025-11-25), as sent.
    hello: Option<Vec<u8>>,
    /// Its word that it is ready, as sent.
    ready: Option<Vec<u8>>,
    /// What it asked and nobody answered yet, by the id of the request.
    asked: HashMap<String, Asked>,
    /// The revision of the protocol that was agreed on.
    protocol: Option<String>,
    /// Batches that are not answered yet.
    batches: Vec<Batch>,
}

/// Requests that came together and are answered together.
#[derive(Default)]
struct Batch {
    /// Ids of the requests that are not answered yet.
    waits: HashSet<String>,
    answers: Vec<Value>,
}

/// What becomes of a line of the agent.
#[derive(Default)]
struct Taken {
    /// Lines for the owner.
    pass: Vec<u8>,
    /// Lines for the agent.
    say: Vec<u8>,
}

struct Asked {
    line: Vec<u8>,
    /// Whether it may change something outside, so that nobody must ask it twice.
    acts: bool,
    /// Whether it is the greeting.
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
                    Ok(Read::TooLong) => self.say(&too_long()).await?,
                    Ok(Read::Line) => {
                        let line = std::mem::take(&mut asked);
                        let taken = self.take(&line);
                        self.say(&taken.say).await?;
                        if to.write_all(&taken.pass).await.is_err() || to.flush().await.is_err() {
                            return Ok(End::OwnerEnded);
                        }
                    }
                    // Whoever hangs up does not always do it nicely.
                    Ok(Read::End) | Err(_) => return Ok(End::HungUp),
                },
                read = read_line(answers, &mut answered, ANSWER_BYTES) => match read {
                    Ok(Read::Line) => {
                        let line = std::mem::take(&mut answered);
                        self.deliver(&line).await?;
                    }
                    Ok(Read::TooLong | Read::End) | Err(_) => return Ok(End::OwnerEnded),
                },
            }
        }
    }

    async fn say(&mut self, line: &[u8]) -> Result<()> {
        let written = async {
            self.output.write_all(line).await?;
            self.output.flush().await
        };
        written.await.map_err(|error| ApiError::internal(format!("the agent does not listen: {error}")))
    }

    /// Hands an answer on, or keeps it until the rest of its batch is answered.
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

    /// Takes a line of the agent apart, and remembers what is needed to go on with another owner.
    fn take(&mut self, line: &[u8]) -> Taken {
        let mut taken = Taken::default();
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
                // A request that was cancelled may have been the last of its batch.
                let done = self.batches.extract_if(.., |batch| batch.waits.is_empty());
                let answers = done.map(|batch| line_of(&Value::Array(batch.answers)));
                taken.say = answers.flatten().collect();
            }
            Ok(Sent::Batch(messages)) => self.take_batch(&messages, &mut taken),
            Err(fault) => taken.say = line_of(&fault),
        }
        taken
    }

    fn take_batch(&mut self, messages: &[&str], taken: &mut Taken) {
        let wrong = |words: &str| line_of(&messages::error(&Value::Null, messages::INVALID_REQUEST, words));
        if self.protocol.as_deref() != Some(messages::BATCHES) {
            taken.say = wrong("this revision of the protocol has no batches");
            return;
        }
        if messages.is_empty() {
            taken.say = wrong("a batch holds one message at least");
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
                messages::error(id, messages::INVALID_REQUEST, "`initialize` is not part of a batch")
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

    /// Remembers what is needed to go on with another owner.
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
            self.asked.insert(id.to_string(), Asked { line: line.to_vec(), acts, greets, id: id.clone() });
        }
    }

    /// Waits no more for the answer to a request that was cancelled: there may be none.
    fn forget(&mut self, id: &str) {
        self.asked.remove(id);
        for batch in &mut self.batches {
            batch.waits.remove(id);
        }
    }

    /// Goes on with another owner: greets it, asks again what can be asked again.
    async fn greet_again(
        &mut self,
        answers: &mut (impl AsyncBufReadExt + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> std::io::Result<()> {
        let greeting = self.hello.as_ref().filter(|hello| {
            let id = serde_json::from_slice::<Value>(hello).ok().and_then(|hello| hello.get("id").cloned());
            // One that was not answered yet is among what is asked again.
            id.is_some_and(|id| !self.asked.contains_key(&id.to_string()))
        });
        if let Some(hello) = greeting {
            to.write_all(hello).await?;
            to.flush().await?;
            // The agent knows the answer already.
            let mut answer = Vec::new();
            if read_line(answers, &mut answer, ANSWER_BYTES).await? != Read::Line {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(ready) = &self.ready {
                to.write_all(ready).await?;
            }
        }
        let (act, ask): (Vec<Asked>, Vec<Asked>) =
            self.asked.drain().map(|(_, asked)| asked).partition(|asked| asked.acts);
        for asked in act {
            let told = json!({"jsonrpc": "2.0", "id": asked.id, "result": {
                "content": [{"type": "text", "text": "AutoKit was restarted while this call was on its way; it may have been carried out. Check before you call again."}],
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

/// A message as a line.
fn line_of(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

/// The id of the request that a line answers.
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

/// The answer to a line that is too long to be read.
fn too_long() -> Vec<u8> {
    let words = format!("a message may have {MESSAGE_BYTES} bytes");
    line_of(&messages::error(&Value::Null, messages::INVALID_REQUEST, &words))
}

/// What came of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// A line with its end.
    Line,
    /// A line of more bytes than it may have. It is skipped.
    TooLong,
    /// There is none any more.
    End,
}

/// Reads a line with its end into `line`, which may hold the beginning of it from before. Of one that is too
/// long no more is held than the first byte too many.
async fn read_line(
    from: &mut (impl AsyncBufReadExt + Unpin),
    line: &mut Vec<u8>,
    most: usize,
) -> std::io::Result<Read> {
    loop {
        let read = from.fill_buf().await?;
        if read.is_empty() {
            return Ok(Read::End);
        }
        let end = read.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let taken = end.unwrap_or(read.len());
        let room = (most + 1).saturating_sub(line.len()).min(taken);
        line.extend_from_slice(&read[..room]);
        from.consume(taken);
        match (end.is_some(), line.len() > most) {
            (true, false) => return Ok(Read::Line),
            (true, true) => {
                *line = Vec::new();
                return Ok(Read::TooLong);
            }
            (false, _) => {}
        }
    }
}
