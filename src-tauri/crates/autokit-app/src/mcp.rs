//! MCP for agents: over standard input and output, and over HTTP on loopback.
//!
//! The process that owns the store serves all of it. One that does not, `autokit mcp` while a window is
//! open say, passes the lines of its agent on to the owner; when the owner ends, it goes on with the next
//! one, or becomes it, and the agent notices nothing: its session is named, its greeting is said again,
//! and what it had asked and nobody answered is asked again, unless it is a call, which may have been
//! carried out. That one it is told.

use std::collections::HashMap;
use std::pin::Pin;

use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio_util::sync::CancellationToken;

use crate::api::Nothing;
use crate::commands::ListProfiles;
use crate::engine::{Engine, no_profile};
use crate::error::{ApiError, Result};
use crate::node::Node;

/// Bytes of one message of an agent: arguments with a file in them fit.
pub(crate) const MESSAGE_BYTES: usize = 16 << 20;
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
        connection: format!("stdio_{}", crate::token(16)),
        lines: BufReader::new(input),
        output,
        hello: None,
        ready: None,
        asked: HashMap::new(),
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
}

struct Asked {
    line: Vec<u8>,
    /// Whether it may change something outside, so that nobody must ask it twice.
    acts: bool,
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
                        if !self.note(&line) {
                            self.say(&not_json()).await?;
                            continue;
                        }
                        if to.write_all(&line).await.is_err() || to.flush().await.is_err() {
                            return Ok(End::OwnerEnded);
                        }
                    }
                    // Whoever hangs up does not always do it nicely.
                    Ok(Read::End) | Err(_) => return Ok(End::HungUp),
                },
                read = read_line(answers, &mut answered, ANSWER_BYTES) => match read {
                    Ok(Read::Line) => {
                        let line = std::mem::take(&mut answered);
                        if let Some(id) = answered_id(&line) {
                            self.asked.remove(&id);
                        }
                        self.say(&line).await?;
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

    /// Remembers what is needed to go on with another owner; false for what is no JSON.
    fn note(&mut self, line: &[u8]) -> bool {
        if line.iter().all(u8::is_ascii_whitespace) {
            return true;
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return false };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        match method {
            "initialize" => self.hello = Some(line.to_vec()),
            "notifications/initialized" => self.ready = Some(line.to_vec()),
            "notifications/cancelled" => {
                if let Some(id) = message.pointer("/params/requestId") {
                    self.asked.remove(&id.to_string());
                }
            }
            _ => {}
        }
        if let Some(id) = message.get("id").filter(|_| !method.is_empty()) {
            let called = message.pointer("/params/name").and_then(Value::as_str);
            let acts = method == "tools/call" && called != Some(autokit_gateway::SEARCH_TOOLS);
            self.asked.insert(id.to_string(), Asked { line: line.to_vec(), acts, id: id.clone() });
        }
        true
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
            let mut line = told.to_string().into_bytes();
            line.push(b'\n');
            self.output.write_all(&line).await?;
        }
        self.output.flush().await?;
        for asked in ask {
            to.write_all(&asked.line).await?;
            self.asked.insert(asked.id.to_string(), asked);
        }
        to.flush().await
    }
}

/// The answer to a line that is no JSON (JSON-RPC 2.0, section 5.1). The SDK would say nothing.
fn not_json() -> Vec<u8> {
    let answer =
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "this line is no JSON"}});
    format!("{answer}\n").into_bytes()
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
    let answer = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": words}});
    format!("{answer}\n").into_bytes()
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
