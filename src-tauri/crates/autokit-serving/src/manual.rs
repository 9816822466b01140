//! The list of callable tools, and manual calls by a person (Elyra's tool registry: list, execute by name).
//!
//! The same rules apply to a person as to an agent of the profile, except that the person is asked at once:
//! the permissions a call needs are returned first, and granted with the call.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autokit_api::commands::{Context, GetTool, GetToolOutcome, Handle, ListTools, RunTool};
use autokit_api::{
    JobId, JobKind, JobRef, ToolBlock, ToolEntry, ToolList, ToolOutcome, ToolRef, ToolRun, ToolRunStart,
    ToolSource, ToolView, ToolsQuery,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::{Call, Definition, McpSessionId, Refusal, Target};
use autokit_library::CardRecord;
use autokit_policy::{Need, Permission};
use autokit_toolcard::{example_arguments, fields};
use autokit_workspace::cards::MAX_LINE_CHARS;
use autokit_workspace::cards::{first_sentence, shorten};
use autokit_workspace::elapsed::ms_since;
use autokit_workspace::jobs::{Outcome, Progress};
use autokit_workspace::workspace::Workspace;
use lru::LruCache;
use rmcp::model::{CallToolResult, ContentBlock};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::permit::ONLY_THE_USER;
use crate::plan::{Calls, ManualCall};
use crate::profiles::{ResolvedScope, no_profile};
use crate::tools::CallableTools;
use crate::{builtin, own};

/// Most tools in one response.
const MAX_TOOLS: usize = 1_000;
/// Results of tools that are remembered; each is capped.
const MAX_OUTCOMES: NonZeroUsize = NonZeroUsize::new(20).expect("not zero");
/// Session and client under which manual calls are recorded in the journal.
const SESSION: &str = "hand";
const CLIENT: &str = "AutoKit, by hand";
/// Minimum time between two progress updates of a tool.
const UPDATE_INTERVAL: Duration = Duration::from_millis(250);
/// Progress messages of a tool that are buffered.
const PROGRESS_BUFFER: usize = 64;

/// The results of manual calls.
#[derive(Debug)]
struct Outcomes(Mutex<LruCache<JobId, ToolOutcome>>);

impl Default for Outcomes {
    fn default() -> Outcomes {
        Outcomes(Mutex::new(LruCache::new(MAX_OUTCOMES)))
    }
}

/// A tool and where it comes from.
pub(crate) struct ListedTool {
    pub definition: Definition,
    pub source: ToolSource,
    /// Whether agents of the profile may not find it.
    pub closed: bool,
}

impl ListedTool {
    /// Returns whether the tool's name, provider or description contains each of these lower-case words.
    fn matches(&self, words: &[&str]) -> bool {
        let Definition { name, provider, description, .. } = &self.definition;
        let text = format!("{name} {provider} {description}").to_lowercase();
        words.iter().all(|word| text.contains(word))
    }

    fn entry(&self, scoped: &ResolvedScope) -> ToolEntry {
        let Definition { id, name, provider, description, .. } = &self.definition;
        let need = Need::Tool { id: id.clone(), name: name.clone(), provider: provider.clone() };
        let permission = scoped.policy().permission_for(&need);
        ToolEntry {
            line: shorten(&first_sentence(description), MAX_LINE_CHARS),
            permission: if self.closed { Permission::Deny } else { permission },
            source: self.source,
            id: id.clone(),
            name: name.clone(),
            provider: provider.clone(),
        }
    }
}

/// The callable tools, and manual calls. Clones share the results.
#[derive(Clone, Debug)]
pub struct ToolRuns {
    workspace: Workspace,
    tools: CallableTools,
    calls: Calls,
    outcomes: Arc<Outcomes>,
}

impl ToolRuns {
    /// Creates the list, without results.
    pub fn new(workspace: Workspace, tools: CallableTools, calls: Calls) -> ToolRuns {
        ToolRuns { workspace, tools, calls, outcomes: Arc::default() }
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Returns a card's tool, if it can be called.
    async fn listed(&self, record: &CardRecord, scoped: &ResolvedScope) -> Option<ListedTool> {
        let definition = self.tools.definition(record).await?;
        let card = record.card();
        let source = if card.object().contains_key(fields::UPSTREAM) {
            ToolSource::Server
        } else if card.object().contains_key(fields::MACRO) {
            ToolSource::Macro
        } else if card.object().contains_key(fields::FUNCTION) {
            ToolSource::Function
        } else {
            ToolSource::Api
        };
        Some(ListedTool { definition, source, closed: !scoped.may_find(&record.id) })
    }

    async fn list(&self, query: &ToolsQuery) -> Result<ToolList> {
        let scoped = self.tools.profiles.scoped(&query.profile).ok_or_else(|| no_profile(&query.profile))?;
        let includes = |source: ToolSource| query.sources.is_empty() || query.sources.contains(&source);
        let listed = |source| move |definition| ListedTool { definition, source, closed: false };
        let mut all: Vec<ListedTool> = Vec::new();
        if includes(ToolSource::Session) {
            all.extend(own::tools().into_iter().map(listed(ToolSource::Session)));
        }
        if includes(ToolSource::Builtin) {
            all.extend(builtin::all().cloned().map(listed(ToolSource::Builtin)));
        }
        if [ToolSource::Server, ToolSource::Api, ToolSource::Macro, ToolSource::Function]
            .into_iter()
            .any(includes)
        {
            let mut records = self.tools.cards();
            records.sort_by(|a, b| (&a.key.provider, &a.key.name).cmp(&(&b.key.provider, &b.key.name)));
            for record in records {
                all.extend(self.listed(&record, &scoped).await.filter(|listed| includes(listed.source)));
            }
        }
        let text = query.text.to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        all.retain(|listed| listed.matches(&words));
        let window = all.iter().skip(query.offset as usize).take(MAX_TOOLS.min(query.limit as usize));
        Ok(ToolList { total: all.len() as u32, tools: window.map(|listed| listed.entry(&scoped)).collect() })
    }

    /// Finds a tool by its id or name; AutoKit's own come first.
    pub(crate) async fn tool(&self, request: &ToolRef) -> Result<(ListedTool, Arc<ResolvedScope>)> {
        let scoped =
            self.tools.profiles.scoped(&request.profile).ok_or_else(|| no_profile(&request.profile))?;
        let tool = request.tool.trim();
        // Case is ignored, so that no other tool can be mistaken for one of AutoKit's own.
        let lower_case = tool.to_ascii_lowercase();
        let own = own::by_name(&lower_case).map(|definition| (definition, ToolSource::Session));
        let own = own.or_else(|| Some((builtin::by_id_or_name(&lower_case)?.clone(), ToolSource::Builtin)));
        if let Some((definition, source)) = own {
            return Ok((ListedTool { definition, source, closed: false }, scoped));
        }
        let record = self.workspace.find_card(tool).map_err(|error| match error.code {
            ErrorCode::NotFound => ApiError::new(
                ErrorCode::NotFound,
                format!("tool {tool:?} not found"),
                "Check the list of tools.",
            ),
            _ => error,
        })?;
        let listed = self.listed(&record, &scoped).await.ok_or_else(|| {
            ApiError::new(
                ErrorCode::Invalid,
                format!("{:?} cannot be called", record.key.name),
                "Use it in code, as its card describes. Only tools of MCP servers, operations of web APIs, macros and functions that can be read can be called.",
            )
        })?;
        Ok((listed, scoped))
    }

    async fn start(&self, request: ToolRun) -> Result<ToolRunStart> {
        let tool_ref = ToolRef { tool: request.tool, profile: request.profile };
        let (ListedTool { definition, source, closed }, _) = self.tool(&tool_ref).await?;
        let name = definition.name.clone();
        if source == ToolSource::Session {
            // These tools sign what they do as an agent.
            return Err(ApiError::new(
                ErrorCode::Invalid,
                format!("`{name}` is only for agents"),
                "Ask, discover and propose in the window or the terminal instead.",
            ));
        }
        let tool = Target::Discovered(Box::new(definition));
        let (sender, receiver) = mpsc::channel(PROGRESS_BUFFER);
        let cancel = CancellationToken::new();
        let call = Call {
            session: McpSessionId::new(SESSION),
            client: CLIENT.to_owned(),
            profile: tool_ref.profile,
            tool,
            arguments: request.arguments,
            cancel: cancel.clone(),
            progress: sender,
        };
        let decided = self.calls.prepare_manual(call, &request.granted).await;
        let calling = match decided.map_err(|why| rejected(&name, closed, why))? {
            ManualCall::NeedsApproval(needs) => {
                let words = needs.iter().map(Need::describe).collect();
                return Ok(ToolRunStart::Asks { needs, words });
            }
            ManualCall::Ready(calling) => calling,
        };
        let outcomes = Arc::clone(&self.outcomes);
        let title = format!("Call {name}");
        let JobRef { job } =
            self.workspace.jobs.start(JobKind::Call, &title, "percent", |progress| async move {
                let began = Instant::now();
                let result = {
                    let mut work =
                        pin!(async { tokio::join!(calling, forward_progress(receiver, &progress)).0 });
                    tokio::select! {
                        result = &mut work => result,
                        // The tool is told to stop, and the call ends when it has.
                        () = progress.wait_until_cancelled() => {
                            cancel.cancel();
                            work.await
                        }
                    }
                };
                let outcome = outcome(result.map_err(|why| failed(&name, why))?, ms_since(began));
                let summary =
                    if outcome.failed { format!("{name} failed") } else { format!("{name} succeeded") };
                outcomes.0.lock().expect("no holder panics").put(progress.id(), outcome);
                Ok(Outcome { summary, tally: None })
            });
        Ok(ToolRunStart::Started { job })
    }
}

/// Reports the progress of a call to the job.
async fn forward_progress(mut receiver: mpsc::Receiver<autokit_gateway::Progress>, progress: &Progress) {
    let mut last: Option<Instant> = None;
    while let Some(update) = receiver.recv().await {
        // Each update goes to every window, so a server must not decide how often. Updates in between are
        // dropped.
        if last.is_some_and(|last| last.elapsed() < UPDATE_INTERVAL) {
            continue;
        }
        last = Some(Instant::now());
        if let Some(message) = update.message {
            progress.set_note(&shorten(&message, MAX_LINE_CHARS));
        } else {
            let share = update.total.map_or(0.0, |total| update.done / total).clamp(0.0, 1.0);
            // NaN becomes 0 in the conversion.
            progress.set_done((share * 100.0) as u64, 100);
        }
    }
}

/// Converts the refusal of a call to an error for a person.
pub(crate) fn rejected(name: &str, closed: bool, refusal: Refusal) -> ApiError {
    let why = match refusal {
        Refusal::Cancelled => return ApiError::cancelled(),
        _ if closed => "your rules deny it".to_owned(),
        Refusal::Rejected(why) | Refusal::Failed(why) => why,
    };
    // A hint for agents; this person can change it.
    let why = why.trim_end_matches(ONLY_THE_USER).trim_end().trim_end_matches('.');
    ApiError::new(
        ErrorCode::Refused,
        format!("`{name}` was not called: {why}"),
        "Change the arguments, or the rules in Settings, Permissions.",
    )
}

/// Converts the failure of a call that was made.
fn failed(name: &str, refusal: Refusal) -> ApiError {
    let (code, why, remedy) = match refusal {
        Refusal::Cancelled => return ApiError::cancelled(),
        Refusal::Rejected(why) => {
            (ErrorCode::Refused, why, "Change the arguments, or check the server or API of the tool.")
        }
        Refusal::Failed(why) => {
            (ErrorCode::Provider, why, "Try again. If it keeps failing, check the server or API of the tool.")
        }
    };
    ApiError::new(code, format!("`{name}` failed: {}", why.trim_end_matches('.')), remedy)
}

fn outcome(result: CallToolResult, took_ms: f64) -> ToolOutcome {
    let block = |block: ContentBlock| match block {
        ContentBlock::Text(text) => ToolBlock::Text { text: text.text },
        ContentBlock::Image(image) => ToolBlock::Image { mime: image.mime_type, data: image.data },
        // Cannot fail: the block was received as JSON.
        other => ToolBlock::Other { value: serde_json::to_value(other).unwrap_or_default() },
    };
    ToolOutcome {
        failed: result.is_error == Some(true),
        blocks: result.content.into_iter().map(block).collect(),
        structured: result.structured_content,
        took_ms,
    }
}

impl ToolRuns {
    fn outcome_of(&self, job: &JobId) -> Result<ToolOutcome> {
        let mut outcomes = self.outcomes.0.lock().expect("no holder panics");
        outcomes.get(job).cloned().ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                format!("no tool result for the job {:?}", job.as_str()),
                "The call may still be running, or its result has expired.",
            )
        })
    }
}

#[async_trait]
impl Handle<ListTools> for ToolRuns {
    async fn handle(&self, _: &Context, request: ToolsQuery) -> Result<ToolList> {
        self.list(&request).await
    }
}

#[async_trait]
impl Handle<GetTool> for ToolRuns {
    async fn handle(&self, _: &Context, request: ToolRef) -> Result<ToolView> {
        let (listed, scoped) = self.tool(&request).await?;
        let entry = listed.entry(&scoped);
        let Definition { description, schema, .. } = listed.definition;
        Ok(ToolView { entry, description, example: example_arguments(&schema), schema })
    }
}

#[async_trait]
impl Handle<RunTool> for ToolRuns {
    async fn handle(&self, _: &Context, request: ToolRun) -> Result<ToolRunStart> {
        self.start(request).await
    }
}

#[async_trait]
impl Handle<GetToolOutcome> for ToolRuns {
    async fn handle(&self, _: &Context, request: JobRef) -> Result<ToolOutcome> {
        self.outcome_of(&request.job)
    }
}
