//! Recent calls with their arguments and results, for making one tool of several calls (Elyra, bootstrapping).
//!
//! They stay in memory: what a tool returned is nobody's business on disk, and the audit log keeps redacted arguments.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use autokit_gateway::{Call, Target};
use autokit_toolcard::Timestamp;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};

/// Most calls that are remembered.
const MAX_CALLS: usize = 300;
/// Most bytes of one call's arguments and result as JSON; a larger one is not remembered.
const MAX_CALL_BYTES: usize = 256 << 10;
/// Most bytes of all calls.
const MAX_BYTES: usize = 16 << 20;

/// A call that succeeded.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its number in this process, in the order of calls.
    pub number: u64,
    /// When it ended.
    pub at: Timestamp,
    /// The session it was made in.
    pub session: String,
    /// The client program's own name.
    pub client: String,
    /// Id of the tool's card, or of one of AutoKit's own tools.
    pub tool: String,
    /// Name of the tool.
    pub name: String,
    /// Provider of the tool.
    pub provider: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// What it returned: structured content, JSON, or text.
    pub result: Value,
    bytes: usize,
}

/// Recent calls, oldest first. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Recordings(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    calls: VecDeque<Arc<Recording>>,
    next: u64,
    bytes: usize,
}

impl Recordings {
    /// Remembers a call of a discovered tool that succeeded, and forgets the oldest ones if there are too many.
    pub(crate) fn add(&self, call: &Call, result: &CallToolResult, at: Timestamp) {
        let Target::Discovered(definition) = &call.tool else { return };
        if result.is_error == Some(true) {
            return;
        }
        let result = value_of(result);
        let bytes = result.to_string().len() + Value::Object(call.arguments.clone()).to_string().len();
        if bytes > MAX_CALL_BYTES {
            return;
        }
        let mut state = self.0.lock().expect("no holder panics");
        let recording = Recording {
            number: state.next,
            at,
            session: call.session.as_str().to_owned(),
            client: call.client.clone(),
            tool: definition.id.clone(),
            name: definition.name.clone(),
            provider: definition.provider.clone(),
            arguments: call.arguments.clone(),
            result,
            bytes,
        };
        state.next += 1;
        state.bytes += bytes;
        state.calls.push_back(Arc::new(recording));
        while state.calls.len() > MAX_CALLS || state.bytes > MAX_BYTES {
            match state.calls.pop_front() {
                Some(oldest) => state.bytes -= oldest.bytes,
                None => break,
            }
        }
    }

    /// Returns the calls, oldest first.
    pub fn all(&self) -> Vec<Arc<Recording>> {
        self.0.lock().expect("no holder panics").calls.iter().cloned().collect()
    }
}

/// Returns what a tool returned: its structured content, or else its text, as JSON if it is JSON.
pub fn value_of(result: &CallToolResult) -> Value {
    result.structured_content.clone().unwrap_or_else(|| text_value_of(result))
}

/// Returns the text of a result, as JSON if it is JSON.
pub fn text_value_of(result: &CallToolResult) -> Value {
    let texts: Vec<&str> =
        result.content.iter().filter_map(|block| block.as_text().map(|text| text.text.as_str())).collect();
    json_or_text(&texts.join("\n"))
}

/// Returns a value as text: a string as it is, anything else as JSON.
pub fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads a text as JSON, or returns it as a string.
pub fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
