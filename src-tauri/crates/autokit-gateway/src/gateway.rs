//! Searches, calls and lists of tools for agents, independent of the transport.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use crate::context::{Binding, Definition, EvictionReason, is_own_tool, list_tools, to_mcp_tool};
use crate::guard::{Loop, Outcome};
use crate::names::{CALL_TOOL, OWN_TOOLS, SEARCH_TOOLS};
use crate::session::{McpSessionId, Session, SessionRecord, Sessions, is_expired, new_handle};
use crate::settings::{MAX_RERANK_MS, Settings};
use crate::toolbox::{
    Audit, Call, CallOutcome, DecidedBy, Event, HitKind, Progress, Refusal, Search, Target, Toolbox,
};
use crate::{arguments, reply, tokens};

/// Most characters of an unknown tool's name that are recorded.
const NAME_CHARS: usize = 80;
/// Most bytes of a query: a few paragraphs.
const QUERY_BYTES: usize = 4 << 10;
/// Most results an agent may request.
const MAX_RESULTS: usize = 20;

/// Returns the current time.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A toolbox with the sessions of the agents that use it. Clones share both.
#[derive(Clone)]
pub struct Gateway {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    // A trait object, so that the code of the MCP SDK is generated in this crate and not in its users.
    pub(crate) toolbox: Box<dyn Toolbox>,
    pub(crate) sessions: Sessions,
    now: Now,
    /// Per profile, how many tools of its sessions were removed or changed.
    pub(crate) changed: Mutex<HashMap<String, u64>>,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("sessions", &self.inner.sessions.len()).finish_non_exhaustive()
    }
}

/// The response to an agent.
#[derive(Debug)]
pub struct CallResponse {
    /// The result for the agent.
    pub result: CallToolResult,
    /// Whether the tools of the session changed.
    pub changed: bool,
}

impl CallResponse {
    /// A response that leaves the tools of the session unchanged.
    pub(crate) fn unchanged(result: CallToolResult) -> CallResponse {
        CallResponse { result, changed: false }
    }
}

/// A call as an agent requests it.
#[derive(Debug)]
pub struct ToolCallRequest {
    /// Name of the tool in the session, or its id.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Cancelled when the agent cancels the call or disconnects.
    pub cancel: CancellationToken,
    /// Receives the tool's progress.
    pub progress: Sender<Progress>,
}

impl Gateway {
    /// Creates a gateway without sessions.
    pub fn new(toolbox: impl Toolbox, now: Now) -> Gateway {
        let toolbox = Box::new(toolbox);
        Gateway {
            inner: Arc::new(Inner { toolbox, sessions: Sessions::default(), now, changed: Mutex::default() }),
        }
    }

    /// Returns the toolbox.
    pub fn toolbox(&self) -> &dyn Toolbox {
        &*self.inner.toolbox
    }

    /// Returns the parameters that apply to all sessions together.
    fn global_settings(&self) -> Arc<Settings> {
        self.inner.toolbox.settings("", "")
    }

    fn now(&self) -> Timestamp {
        (self.inner.now)()
    }

    /// Returns the session of a connection: the one in memory, the saved one, or a new one. A session
    /// belongs to one profile: on the same connection, another profile gets a separate session.
    pub async fn session(
        &self,
        connection: &str,
        profile: &str,
        client: &str,
        protocol: &str,
    ) -> Arc<Session> {
        if let Some(session) = self.known_session(connection, profile).await {
            return session;
        }
        let id = McpSessionId::of_connection(connection, profile);
        self.start_session(id, profile, client, protocol, true).await
    }

    /// Returns the session of a connection, if it is in memory or was saved.
    pub(crate) async fn known_session(&self, connection: &str, profile: &str) -> Option<Arc<Session>> {
        let session = self.context(&McpSessionId::of_connection(connection, profile)).await;
        session.filter(|session| session.lock().profile == profile)
    }

    /// Returns the context of a handle; `None` if there never was one or it has expired.
    pub async fn context(&self, handle: &McpSessionId) -> Option<Arc<Session>> {
        let inner = &*self.inner;
        let settings = self.global_settings();
        if let Some(session) = inner.sessions.get(&settings, handle, self.now()) {
            return Some(session);
        }
        let mut record = inner.toolbox.load_session(handle).await?;
        let now = self.now();
        if is_expired(&settings, &record, now) {
            return None;
        }
        record.used = record.used.max(now);
        Some(inner.sessions.insert(&settings, record, now))
    }

    /// Creates a context with a new handle.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub async fn new_context(
        &self,
        profile: &str,
        client: &str,
        protocol: &str,
    ) -> Result<Arc<Session>, Refusal> {
        let handle = new_handle().map_err(|error| Refusal::Failed(error.to_string()))?;
        // Agents that use a handle see no list of tools: one that they did not search for would have no schema.
        Ok(self.start_session(handle, profile, client, protocol, false).await)
    }

    async fn start_session(
        &self,
        id: McpSessionId,
        profile: &str,
        client: &str,
        protocol: &str,
        preloads: bool,
    ) -> Arc<Session> {
        let inner = &*self.inner;
        let began = Event::Began { client: client.to_owned(), protocol: protocol.to_owned() };
        inner.toolbox.record_event(&id, began);
        let mut record = SessionRecord::new(id, profile.to_owned(), client.to_owned(), self.now());
        let settings = inner.toolbox.settings(profile, client);
        if !settings.always.is_empty() {
            let always = inner.toolbox.always(profile).await;
            record.tools.bind(&settings, always, self.now());
        }
        if preloads && settings.preload > 0 {
            let likely = inner.toolbox.preload(profile, None, settings.preload).await;
            let (tools, _) = preload(&mut record, &settings, likely, self.now());
            self.record_preloaded(&record.id, tools);
        }
        inner.sessions.insert(&self.global_settings(), record, self.now())
    }

    /// Returns the tools every session of a profile has.
    pub fn own_tools(&self, profile: &str) -> Vec<Tool> {
        let mut tools = vec![search_tools(), call_tool()];
        tools.extend(self.inner.toolbox.own_tools(profile).iter().map(|tool| to_mcp_tool(&tool.name, tool)));
        tools
    }

    /// Returns the current tools of a session.
    pub async fn tools(&self, session: &Session) -> Vec<Tool> {
        self.refresh(session).await;
        let record = session.lock();
        let mut tools = self.own_tools(&record.profile);
        let settings = self.inner.toolbox.settings(&record.profile, &record.client);
        tools.extend(list_tools(&record.tools, settings.listed_tokens));
        tools
    }

    /// Searches, and binds the callable results. `handle` is whether the agent names its context by a
    /// handle.
    pub async fn search(
        &self,
        session: &Session,
        arguments: &Map<String, Value>,
        handle: bool,
    ) -> CallResponse {
        let began = Instant::now();
        let query = match query_of(arguments) {
            Ok(query) => query,
            Err(message) => return CallResponse::unchanged(error_result(&message)),
        };
        let inner = &*self.inner;
        let (id, profile, client, always, is_first, result_tokens) = {
            let record = session.lock();
            let bound = record.tools.iter().map(|(_, bound)| &bound.definition);
            let always: Vec<(String, String)> =
                bound.map(|definition| (definition.id.clone(), definition.name.clone())).collect();
            let is_first = record.searches.is_empty();
            let (profile, client) = (record.profile.clone(), record.client.clone());
            (record.id.clone(), profile, client, always, is_first, record.result_tokens)
        };
        let settings = &inner.toolbox.settings(&profile, &client).for_remaining(result_tokens);
        let named =
            |(id, name): &(String, String)| settings.always.iter().any(|other| other == id || other == name);
        // Agents that use a handle do not see a list of the session's tools, so for them even these have to
        // be results.
        let always = always.into_iter().filter(|one| !handle && named(one)).map(|(id, _)| id).collect();
        let limit = match arguments.get("limit") {
            None | Some(Value::Null) => settings.results,
            Some(limit) => match limit.as_u64() {
                Some(limit) if (1..=MAX_RESULTS as u64).contains(&limit) => limit as usize,
                _ => {
                    return CallResponse::unchanged(error_result(&format!(
                        "`limit` must be from 1 to {MAX_RESULTS}."
                    )));
                }
            },
        };
        let rerank = match arguments.get("rerank") {
            None | Some(Value::Null | Value::Bool(true)) => {
                Duration::from_millis(settings.rerank_ms.min(MAX_RERANK_MS))
            }
            Some(Value::Bool(false)) => Duration::ZERO,
            Some(_) => return CallResponse::unchanged(error_result("`rerank` must be true or false.")),
        };
        let likely = if is_first && !handle && settings.preload > 0 {
            inner.toolbox.preload(&profile, Some(query), settings.preload).await
        } else {
            Vec::new()
        };
        let search =
            Search { query: query.to_owned(), limit, threshold: settings.threshold, rerank, profile, always };
        let found = match inner.toolbox.search(search).await {
            Ok(found) => found,
            Err(refusal) => return CallResponse::unchanged(error_result(&refusal.to_string())),
        };
        let now = self.now();
        let definitions: Vec<Definition> = found
            .hits
            .iter()
            .filter_map(|hit| match &hit.kind {
                HitKind::Callable(definition) => Some((**definition).clone()),
                HitKind::Reference { .. } | HitKind::Installable { .. } => None,
            })
            .collect();
        let ids: Vec<String> = found.hits.iter().map(|hit| hit.id.clone()).collect();
        let mut notes = found.notes;
        let (binding, newly_bound, preloaded, repeated, evicted, record) = {
            let mut record = session.lock();
            let repeated = record.searches.record(settings, query, ids.clone(), now);
            let bound: Vec<String> = definitions.iter().map(|definition| definition.id.clone()).collect();
            let known: Vec<String> =
                record.tools.iter().map(|(_, bound)| bound.definition.id.clone()).collect();
            // First, so that what was found is kept where there is not room for both.
            let likely: Vec<Definition> = likely
                .into_iter()
                .filter(|tool| !known.contains(&tool.id) && !bound.contains(&tool.id))
                .collect();
            let (preloaded, first) = preload(&mut record, settings, likely, now);
            let before = record.tools.clone();
            let mut binding = record.tools.bind(settings, definitions, now);
            binding.changed |= first.changed;
            binding.evicted.splice(..0, first.evicted);
            let loaded: Vec<&str> = first.names.iter().map(String::as_str).collect();
            if !loaded.is_empty() {
                notes.push(format!("Often used before, and can be called too: {}.", loaded.join(", ")));
            }
            for name in &binding.names {
                record.guard.forget(name);
            }
            record.discovered.extend(bound.iter().cloned());
            let newly_bound: Vec<String> = bound.into_iter().filter(|id| !known.contains(id)).collect();
            let card = |name: &String| before.get(name).map(|bound| bound.definition.id.clone());
            let evicted: Vec<(String, EvictionReason)> =
                binding.evicted.iter().map(|(name, why)| (card(name).unwrap_or_default(), *why)).collect();
            (binding, newly_bound, preloaded, repeated, evicted, record.clone())
        };
        self.record_preloaded(&id, preloaded);
        if let Some(earlier) = &repeated {
            notes.push(format!(
                "These are mostly the same results as for \u{201c}{earlier}\u{201d}; they can already be called. For different results, describe more precisely what the tool should do."
            ));
        }
        if !binding.evicted.is_empty() {
            let names: Vec<&str> = binding.evicted.iter().map(|(name, _)| name.as_str()).collect();
            notes.push(format!("Removed to make room: {}. Search to get them back.", names.join(", ")));
        }
        let handle = handle.then_some(&id);
        let reply = reply::build(&found.hits, &binding.names, handle, &notes, settings.reply_tokens);
        for (tool, why) in evicted {
            inner.toolbox.record_event(&id, Event::Gone { tool, why });
        }
        inner.toolbox.record_event(
            &id,
            Event::Searched {
                query: query.to_owned(),
                found: ids,
                bound: newly_bound,
                took_ms: began.elapsed().as_secs_f64() * 1e3,
                tiers: found.took_ms,
                tokens: reply.tokens,
                repeated: repeated.is_some(),
            },
        );
        inner.toolbox.save_session(record, true);
        CallResponse {
            result: CallToolResult::success(vec![ContentBlock::text(reply.text)]),
            changed: binding.changed,
        }
    }

    /// Records which tools a session got without a search.
    fn record_preloaded(&self, session: &McpSessionId, tools: Vec<String>) {
        if !tools.is_empty() {
            self.inner.toolbox.record_event(session, Event::Preloaded { tools });
        }
    }

    /// Calls a tool of a session: one of AutoKit's own or a discovered one.
    pub async fn call(&self, session: &Session, mut invocation: ToolCallRequest) -> CallResponse {
        let inner = &*self.inner;
        let (id, profile, client, bound) = {
            let record = session.lock();
            if let Some(name) =
                record.tools.resolve_name(&invocation.name).filter(|_| !is_own_tool(&invocation.name))
            {
                invocation.name = name.to_owned();
            }
            let bound = record.tools.get(&invocation.name).cloned();
            (record.id.clone(), record.profile.clone(), record.client.clone(), bound)
        };
        let mut changed = false;
        let target = if OWN_TOOLS.contains(&invocation.name.as_str()) {
            Target::Own(invocation.name.clone())
        } else {
            let Some(bound) = bound else {
                let result = unknown_tool_result(session, &invocation.name);
                self.record_rejected_call(session, &invocation.name, None, "the session has no such tool");
                return CallResponse::unchanged(result);
            };
            // The card may have changed since the tool was bound.
            match inner.toolbox.resolve(&bound.definition, &profile).await {
                Ok(Some(definition)) => {
                    if definition != bound.definition {
                        let mut record = session.lock();
                        changed = record.tools.update_definition(&invocation.name, definition.clone());
                    }
                    Target::Discovered(Box::new(definition))
                }
                Ok(None) => {
                    let changed = session.lock().tools.revoke(&invocation.name);
                    let message = revoked_message(&invocation.name);
                    self.record_rejected_call(session, &invocation.name, Some(&bound.definition), &message);
                    return CallResponse { result: error_result(&message), changed };
                }
                Err(refusal) => {
                    let message = refusal.to_string();
                    self.record_rejected_call(session, &invocation.name, Some(&bound.definition), &message);
                    return CallResponse::unchanged(error_result(&message));
                }
            }
        };
        let began = Instant::now();
        let digest = arguments::call_digest(&invocation.name, &invocation.arguments);
        let call = Call {
            session: id.clone(),
            client: client.clone(),
            profile: profile.clone(),
            tool: target.clone(),
            arguments: invocation.arguments,
            cancel: invocation.cancel,
            progress: invocation.progress,
        };
        let (mut result, outcome) = match inner.toolbox.call(call).await {
            Ok(result) => (result, Some(Outcome::Answered)),
            Err(refusal @ Refusal::Rejected(_)) => {
                (error_result(&refusal.to_string()), Some(Outcome::Answered))
            }
            Err(refusal @ Refusal::Failed(_)) => (error_result(&refusal.to_string()), Some(Outcome::Failed)),
            // Nobody waits for the result.
            Err(refusal @ Refusal::Cancelled) => (error_result(&refusal.to_string()), None),
        };
        let took_ms = began.elapsed().as_secs_f64() * 1e3;
        let now = self.now();
        let (detected, record) = {
            let mut record = session.lock();
            record.tools.record_call(&invocation.name, now);
            record.result_tokens += u64::from(tokens_of(&result));
            if let Target::Discovered(definition) = &target {
                let id = definition.id.clone();
                record.called.insert(id);
            }
            let guard = &inner.toolbox.settings(&profile, &client).guard;
            let detected = outcome
                .and_then(|outcome| record.guard.record(guard, &invocation.name, &digest, outcome, now));
            if detected.is_some() {
                changed |= record.tools.evict(&invocation.name);
            }
            (detected, record.clone())
        };
        let tool = match &target {
            Target::Own(name) => name.clone(),
            Target::Discovered(definition) => definition.id.clone(),
        };
        let good = result.is_error != Some(true);
        let event = Event::Called { tool: tool.clone(), took_ms, good, tokens: tokens_of(&result) };
        inner.toolbox.record_event(&id, event);
        if let Some(detected) = detected {
            let guidance = self.guidance(&invocation.name, &target, &profile, detected).await;
            result.content.push(ContentBlock::text(guidance));
            inner.toolbox.record_event(&id, Event::Gone { tool, why: EvictionReason::Loop });
        }
        inner.toolbox.save_session(record, changed);
        CallResponse { result, changed }
    }

    /// Records a call that reached no tool in the audit log.
    fn record_rejected_call(&self, session: &Session, name: &str, tool: Option<&Definition>, why: &str) {
        let (id, profile, client) = {
            let record = session.lock();
            (record.id.clone(), record.profile.clone(), record.client.clone())
        };
        // Agents may pass anything as a name.
        let name: String = name.chars().take(NAME_CHARS).collect();
        let audit = Audit {
            id: tool.map_or_else(|| name.clone(), |tool| tool.id.clone()),
            name: tool.map_or(name, |tool| tool.name.clone()),
            provider: tool.map_or_else(String::new, |tool| tool.provider.clone()),
            profile,
            client,
            arguments: Value::Null,
            needed: Vec::new(),
            decided: DecidedBy::Nobody,
            outcome: CallOutcome::Refused,
            why: why.to_owned(),
            took_ms: 0.0,
        };
        self.inner.toolbox.record_event(&id, Event::Audited(Box::new(audit)));
    }

    /// Returns advice for an agent in a loop (section 7.3).
    async fn guidance(&self, name: &str, target: &Target, profile: &str, detected: Loop) -> String {
        let calls = detected.calls();
        let start = format!("You called `{name}` {calls} times with the same arguments.");
        let Target::Discovered(definition) = target else {
            return format!(
                "{start} The result will be the same: continue with the result you have, or change the call."
            );
        };
        let others = self.inner.toolbox.alternatives(definition, profile).await;
        let advice = if others.is_empty() {
            format!("Use {SEARCH_TOOLS} to look for another tool.")
        } else {
            format!("Use {SEARCH_TOOLS} to look for another, such as {}.", others.join(" or "))
        };
        format!(
            "{start} It was removed from your tools; the result above is final. Reconsider your approach. {advice} If you need this one with other arguments, search for it again."
        )
    }
}

/// Binds tools that past sessions make likely. Returns their ids, and what binding them changed.
fn preload(
    record: &mut SessionRecord,
    settings: &Settings,
    likely: Vec<Definition>,
    now: Timestamp,
) -> (Vec<String>, Binding) {
    let ids: Vec<String> = likely.iter().map(|tool| tool.id.clone()).collect();
    record.discovered.extend(ids.iter().cloned());
    (ids, record.tools.bind(settings, likely, now))
}

/// Returns the query of a search, or what is wrong with it. Checked before anything else, because a query
/// may be as long as a message.
pub(crate) fn query_of(arguments: &Map<String, Value>) -> Result<&str, String> {
    let query = match arguments.get("query") {
        None | Some(Value::Null) => "",
        Some(Value::String(query)) => query,
        Some(_) => return Err("`query` must be a string. Describe what the tool should do.".to_owned()),
    };
    if query.len() > QUERY_BYTES {
        let message = format!(
            "`query` has {} bytes; the limit is {QUERY_BYTES}. Describe in one sentence what the tool should do.",
            query.len()
        );
        return Err(message);
    }
    let query = query.trim();
    if query.is_empty() {
        return Err("`query` is missing. Describe what the tool should do.".to_owned());
    }
    Ok(query)
}

fn revoked_message(name: &str) -> String {
    format!(
        "`{name}` can no longer be called: it was removed, is not permitted, or is pending review. Use {SEARCH_TOOLS} to find another."
    )
}

fn unknown_tool_result(session: &Session, name: &str) -> CallToolResult {
    let record = session.lock();
    error_result(&if record.tools.is_revoked(name) {
        revoked_message(name)
    } else if record.tools.is_evicted(name) {
        format!(
            "`{name}` was removed from your tools because you called it in a loop. Use {SEARCH_TOOLS} to find another, or to get it back if you change your approach."
        )
    } else {
        format!(
            "You have no tool `{name}`. Find it with {SEARCH_TOOLS} first, then call it by the name in the result."
        )
    })
}

/// Returns a result that tells the agent what is wrong.
pub(crate) fn error_result(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

fn tokens_of(result: &CallToolResult) -> u32 {
    let text = |block: &ContentBlock| block.as_text().map_or(0, |text| tokens::of_text(&text.text));
    result.content.iter().map(text).sum()
}

fn own_tool(name: &'static str, description: &'static str, schema: Value) -> Tool {
    let Value::Object(schema) = schema else { return Tool::new(name, description, Map::new()) };
    Tool::new(name, description, schema)
}

fn search_tools() -> Tool {
    own_tool(
        SEARCH_TOOLS,
        "Finds tools for a task and makes them callable. Describe one capability per search, in plain language. Results marked `callable` can then be called by name or with call_tool; those marked `reference` are for use in code.",
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "maxLength": QUERY_BYTES, "description": "What the tool should do, e.g. \"query a PostgreSQL database\""},
                "context": {"type": "string", "description": "`context` returned by an earlier search, to continue in it"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS},
                "rerank": {"type": "boolean", "description": "false to answer at once, without a language model"}
            },
            "required": ["query"]
        }),
    )
}

fn call_tool() -> Tool {
    own_tool(
        CALL_TOOL,
        "Calls a tool found by search_tools.",
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "`name` or `id` from the search result"},
                "arguments": {"type": "object", "description": "Must match the tool's input_schema"},
                "context": {"type": "string", "description": "`context` returned by the search, if any"}
            },
            "required": ["name"]
        }),
    )
}
