//! The host for the window, which starts the engine as a process of its own: the messages of [`autokit_api::stdio`] over
//! standard input and output.
//!
//! The window needs no database, no model and no access to the library then; it starts while the library is being opened,
//! and a failure of the engine does not close it.

use std::sync::Arc;

use autokit_api::Event;
use autokit_api::commands::PROTOCOL;
use autokit_api::stdio::{Call, EngineMessage};
use autokit_error::{ApiError, ErrorCode, Result};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::engine::next_event;
use crate::node::{Node, NodeOptions};

/// Opens the library and executes the calls read from `input`, several at a time, until it ends or `stop` completes; then
/// closes the library. An error of opening is sent to `output`.
///
/// # Errors
/// If the library cannot be closed.
pub async fn serve(
    options: NodeOptions,
    input: impl AsyncRead + Send + Unpin,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()> + Send,
) -> Result<()> {
    let (messages, outgoing) = unbounded_channel();
    // Not bounded: the window reads all the time, and a bound could make both wait for each other.
    let writing = tokio::spawn(write_messages(outgoing, output));
    let node = match Node::open(options).await {
        Ok(node) => Arc::new(node),
        Err(error) => {
            send(&messages, EngineMessage::Failed(error));
            drop(messages);
            // Ends when the window has gone or the message is written.
            let _ = writing.await;
            return Ok(());
        }
    };
    // Subscribed before the window can read a status, so that it misses nothing in between.
    let forwarding = tokio::spawn(forward_events(node.events(), messages.clone()));
    send(&messages, EngineMessage::Ready { protocol: PROTOCOL, version: crate::VERSION.to_owned() });
    tokio::select! {
        () = execute_calls(&node, input, &messages) => {}
        () = stop => {}
    }
    forwarding.abort();
    node.close().await
}

/// Tells the window why there is no library to open.
pub async fn refuse(error: ApiError, output: impl AsyncWrite + Send + Unpin) {
    let (messages, outgoing) = unbounded_channel();
    send(&messages, EngineMessage::Failed(error));
    drop(messages);
    write_messages(outgoing, output).await;
}

/// Starts the calls read from `input`, until it ends.
async fn execute_calls(
    node: &Arc<Node>,
    input: impl AsyncRead + Unpin,
    messages: &UnboundedSender<EngineMessage>,
) {
    let mut lines = BufReader::new(input).lines();
    loop {
        let line = match lines.next_line().await {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(error) => {
                tracing::error!(%error, "failed to read from the window");
                return;
            }
        };
        let call: Call = match serde_json::from_str(&line) {
            Ok(call) => call,
            Err(error) => {
                // Without its id nobody can be told; the window of this version sends no such line.
                tracing::error!(%error, "received a line that is not a call");
                continue;
            }
        };
        let (node, messages) = (Arc::clone(node), messages.clone());
        tokio::spawn(async move {
            let message = match execute(&node, &call).await {
                Ok(response) => EngineMessage::Response { id: call.id, response },
                Err(error) => EngineMessage::Error { id: call.id, error },
            };
            send(&messages, message);
        });
    }
}

async fn execute(node: &Node, call: &Call) -> Result<Box<RawValue>> {
    let request = serde_json::from_str(call.request.get()).map_err(|error| {
        let message = format!("the request is not valid JSON: {error}");
        ApiError::new(ErrorCode::BadRequest, message, "Send valid JSON.")
    })?;
    let response = node.call_once(call.id.clone(), &call.name, request).await?;
    to_json(&response)
}

fn to_json(value: &impl Serialize) -> Result<Box<RawValue>> {
    to_raw_value(value).map_err(|error| ApiError::internal(format!("the response has no JSON form: {error}")))
}

/// Sends the library's events until the library is closed.
async fn forward_events(
    mut events: tokio::sync::broadcast::Receiver<Event>,
    messages: UnboundedSender<EngineMessage>,
) {
    while let Some(event) = next_event(&mut events).await {
        match to_json(&event) {
            Ok(event) => send(&messages, EngineMessage::Event(event)),
            Err(error) => tracing::error!(%error, "failed to send an event"),
        }
    }
}

fn send(messages: &UnboundedSender<EngineMessage>, message: EngineMessage) {
    // Fails only after the window has ended, which ends the input as well.
    let _ = messages.send(message);
}

/// Writes messages until there are no more senders or the window reads no more.
async fn write_messages(
    mut messages: UnboundedReceiver<EngineMessage>,
    output: impl AsyncWrite + Send + Unpin,
) {
    let mut output = BufWriter::new(output);
    while let Some(message) = messages.recv().await {
        let written = async {
            output.write_all(&serde_json::to_vec(&message)?).await?;
            output.write_all(b"\n").await?;
            // Several in a row are written at once.
            if messages.is_empty() { output.flush().await } else { Ok(()) }
        };
        if let Err(error) = written.await {
            tracing::info!(%error, "the window reads no more");
            return;
        }
    }
}
