//! An agent's call from the tool's name to the result: which tool it calls, the permissions it needs,
//! whether it is permitted, and its execution. Every call is recorded in the journal.

mod macros;
mod trial;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use autokit_api::ServerTransport;
use autokit_bootstrap::Macro;
use autokit_error::ApiError;
use autokit_gateway::{Audit, Call, CallOutcome, DecidedBy, Definition, McpSessionId, Refusal, Target};
use autokit_mcp_client::{Progress, UpstreamError};
use autokit_openapi as openapi;
use autokit_openapi::rest::{Keys, needs};
use autokit_policy::{Need, Permission};
use autokit_sandbox::function::Function;
use autokit_toolcard::CardId;
use autokit_upstream::tools::{SavedServer, Upstream};
use autokit_workspace::elapsed::ms_since;
use rmcp::model::CallToolResult;
use tokio::sync::mpsc;

use crate::approvals::Approvals;
use crate::builtin::Builtins;
use crate::function_card::function_of;
use crate::journal::Journal;
use crate::macro_card::macro_of;
use crate::own::OwnTools;
use crate::permit::{CallRequest, not_permitted};
use crate::profiles::{ResolvedScope, no_profile};
use crate::recordings::Recordings;
use crate::refusal::refused;
use crate::rest::RestCalls;
use crate::tools::CallableTools;
use crate::{arguments, builtin, capped, external, own};

pub use trial::TrialAnswer;
pub(crate) use trial::TrialCall;

/// How a call is executed.
enum Executor {
    /// One of AutoKit's own tools, which every session has.
    Own(String),
    /// A built-in tool that a search finds.
    Builtin(&'static Definition, Arc<ResolvedScope>),
    /// A tool of an MCP server.
    Upstream(Box<SavedServer>, Upstream),
    /// An operation of a web API.
    Rest(Box<openapi::Call>, Keys),
    /// Calls of other tools, with what they need.
    Macro(Box<Macro>, Vec<Need>),
    /// Code in the sandbox.
    Function(Box<Function>),
}

/// The outcome of preparing a manual call.
pub(crate) enum ManualCall {
    /// These permissions have to be granted first.
    NeedsApproval(Vec<Need>),
    /// The call, ready to be awaited.
    Ready(Pin<Box<dyn Future<Output = Result<CallToolResult, Refusal>> + Send>>),
}

/// A call that is ready to be decided on.
struct PreparedCall {
    executor: Executor,
    request: CallRequest,
}

/// Returns the request of a call, as far as it is known without a lookup.
fn call_request(target: &Target) -> CallRequest {
    match target {
        Target::Own(name) => CallRequest::new(name, name, "AutoKit"),
        Target::Discovered(definition) => {
            CallRequest::new(&definition.id, &definition.name, &definition.provider)
        }
    }
}

/// The executors of all kinds of tools.
#[derive(Clone, Debug)]
pub struct Executors {
    /// AutoKit's own tools, which every session has.
    pub own: OwnTools,
    /// Built-in tools that a search finds.
    pub builtins: Builtins,
    /// Operations of web APIs.
    pub rest: RestCalls,
}

/// Makes agents' calls. Clones share state.
#[derive(Clone, Debug)]
pub struct Calls {
    tools: CallableTools,
    approvals: Approvals,
    executors: Executors,
    journal: Journal,
    recordings: Recordings,
}

impl Calls {
    /// Creates an executor of calls of `tools`. Calls are approved by a person where the rules require it,
    /// and all of them are recorded in the journal.
    pub fn new(tools: CallableTools, approvals: Approvals, executors: Executors, journal: Journal) -> Calls {
        Calls { tools, approvals, executors, journal, recordings: Recordings::default() }
    }

    /// Returns the recent calls.
    pub fn recordings(&self) -> &Recordings {
        &self.recordings
    }

    /// Decides on a call, makes it if it is permitted, and records it.
    pub(crate) async fn run(&self, call: Call) -> Result<CallToolResult, Refusal> {
        let PreparedCall { executor, request } = self.prepare(&call).await?;
        let mut recorder = CallRecorder::start(&self.journal, &call, request.audit(&call, DecidedBy::Nobody));
        let (decided, permitted) = self.approvals.permit(&request, &call).await;
        recorder.audit.decided = decided;
        match permitted {
            Ok(()) => {
                let result = self.execute(executor, call).await;
                recorder.finish(result)
            }
            Err(refusal) => Err(recorder.refused(refusal)),
        }
    }

    /// Prepares a call to be decided on. A call of an unknown tool is recorded as refused.
    async fn prepare(&self, call: &Call) -> Result<PreparedCall, Refusal> {
        let refusal = match self.resolve(call).await {
            Ok(call) => return Ok(call),
            Err(refusal) => refusal,
        };
        let schema = match &call.tool {
            Target::Own(name) => own::by_name(name).map(|tool| tool.schema),
            Target::Discovered(definition) => Some(definition.schema.clone()),
        };
        let request = call_request(&call.tool).with(Vec::new(), &schema.unwrap_or_default(), &call.arguments);
        let decided = if self.is_hidden(call) { DecidedBy::Rules } else { DecidedBy::Nobody };
        let recorder = CallRecorder::start(&self.journal, call, request.audit(call, decided));
        Err(recorder.refused(refusal))
    }

    /// Returns whether the rules of the profile hide the card of the called tool.
    fn is_hidden(&self, call: &Call) -> bool {
        let Target::Discovered(definition) = &call.tool else { return false };
        let id = CardId::new(&definition.id);
        let exists = self.tools.workspace.library.read(|replica| replica.get(&id).is_some());
        exists && self.tools.profiles.scoped(&call.profile).is_some_and(|scoped| !scoped.may_find(&id))
    }

    /// Prepares a manual call by the rules of a profile. The approvals these require have to be in
    /// `granted`; otherwise nothing is done.
    pub(crate) async fn prepare_manual(&self, call: Call, granted: &[Need]) -> Result<ManualCall, Refusal> {
        let PreparedCall { executor, request } = self.prepare(&call).await?;
        let decided = match self.decide_manual(&request, &call, granted)? {
            Ok(decided) => decided,
            Err(needs) => return Ok(ManualCall::NeedsApproval(needs)),
        };
        let recorder = CallRecorder::start(&self.journal, &call, request.audit(&call, decided));
        let calls = self.clone();
        Ok(ManualCall::Ready(Box::pin(async move {
            let result = calls.execute(executor, call).await;
            recorder.finish(result)
        })))
    }

    /// Decides on a call by the rules of its profile and what a person granted: who decided, or what has to be
    /// granted first. A call that is denied is recorded.
    fn decide_manual(
        &self,
        request: &CallRequest,
        call: &Call,
        granted: &[Need],
    ) -> Result<Result<DecidedBy, Vec<Need>>, Refusal> {
        let policy =
            self.tools.profiles.policy(&call.profile).ok_or_else(|| refused(&no_profile(&call.profile)))?;
        let decision = policy.decide(&request.all_needs());
        match decision.permission {
            Permission::Allow => Ok(Ok(DecidedBy::Rules)),
            Permission::Ask if decision.reasons.iter().all(|need| granted.contains(need)) => {
                Ok(Ok(DecidedBy::Person))
            }
            Permission::Ask => Ok(Err(decision.reasons)),
            Permission::Deny => {
                let recorder =
                    CallRecorder::start(&self.journal, call, request.audit(call, DecidedBy::Rules));
                Err(recorder.refused(not_permitted(&decision.reasons)))
            }
        }
    }

    async fn resolve(&self, call: &Call) -> Result<PreparedCall, Refusal> {
        let (mut request, arguments) = (call_request(&call.tool), &call.arguments);
        let definition = match &call.tool {
            Target::Own(name) => {
                let tool =
                    own::by_name(name).ok_or_else(|| Refusal::Rejected(format!("unknown tool `{name}`")))?;
                arguments::check(&tool.schema, arguments).map_err(Refusal::Rejected)?;
                let needs = self.executors.builtins.external().own_needs(name);
                let request = request.with(needs, &tool.schema, arguments);
                return Ok(PreparedCall { executor: Executor::Own(name.clone()), request });
            }
            Target::Discovered(definition) => definition,
        };
        arguments::check(&definition.schema, arguments).map_err(Refusal::Rejected)?;
        let scoped = self.tools.scoped(&call.profile)?;
        let (executor, needs) = if let Some(builtin) = builtin::by_id(&definition.id) {
            let needs = self.executors.builtins.external().needs(scoped.policy(), &builtin.name, arguments);
            (Executor::Builtin(builtin, scoped), needs)
        } else {
            let not_callable = || Refusal::Rejected(format!("`{}` can no longer be called", definition.name));
            let record = self.tools.record(definition, &scoped).ok_or_else(not_callable)?;
            let card = record.card();
            if let Some(upstream) = Upstream::of(&card) {
                let is_bound = self.tools.servers.is_bound(&record.id, &upstream).await;
                if !is_bound.map_err(|error| refused(&error))? {
                    return Err(Refusal::Rejected(format!(
                        "`{}` claims to be a tool of the server {:?}; the user has to approve that in Review first",
                        definition.name, upstream.server
                    )));
                }
                let server =
                    self.tools.servers.get(&upstream.server).await.map_err(|error| refused(&error))?;
                // The rules apply to the server's tool, whatever its card calls the provider.
                request.provider.clone_from(&upstream.server);
                let needs = server_needs(&server);
                (Executor::Upstream(Box::new(server), upstream), needs)
            } else {
                if self.impersonates(&request.provider).await {
                    request.provider = format!("{} (according to its card)", request.provider);
                }
                if let Some(composed) = macro_of(&card) {
                    let needs = self.macro_needs(&composed).await?;
                    (Executor::Macro(Box::new(composed), needs.clone()), needs)
                } else if let Some(function) = function_of(&card) {
                    let language = function.language.as_str().to_owned();
                    (Executor::Function(Box::new(function)), vec![Need::Code { language }])
                } else {
                    let operation = openapi::Call::from_card(&card)
                        .map_err(|error| Refusal::Rejected(error.to_string()))?
                        .ok_or_else(not_callable)?;
                    let keys =
                        self.executors.rest.keys_for(&operation).await.map_err(|error| refused(&error))?;
                    let needs = needs(&operation, &keys);
                    (Executor::Rest(Box::new(operation), keys), needs)
                }
            }
        };
        Ok(PreparedCall { executor, request: request.with(needs, &definition.schema, arguments) })
    }

    async fn execute(&self, executor: Executor, call: Call) -> Result<CallToolResult, Refusal> {
        // AutoKit's own tools, which every session calls all the time, are not recorded.
        let recorded = matches!(call.tool, Target::Discovered(_)).then(|| call.clone());
        let result = self.execute_unrecorded(executor, call).await;
        if let (Some(call), Ok(result)) = (recorded, &result) {
            self.recordings.add(&call, result, self.tools.workspace.clock.stamp());
        }
        result
    }

    async fn execute_unrecorded(&self, executor: Executor, call: Call) -> Result<CallToolResult, Refusal> {
        match executor {
            Executor::Macro(composed, covered) => self.run_macro(&composed, &covered, &call).await,
            Executor::Own(name) => self.executors.own.call(&name, call).await,
            Executor::Builtin(builtin, scoped) => {
                self.executors
                    .builtins
                    .call(&scoped, builtin, &call.arguments, &call.profile, &call.cancel)
                    .await
            }
            Executor::Function(function) => {
                let code = self.executors.builtins.external().code();
                code.call_function(&function, &call.arguments, &call.cancel).await.map(capped::capped)
            }
            Executor::Upstream(server, upstream) => self.call_upstream(&server, &upstream, call).await,
            Executor::Rest(operation, keys) => self
                .executors
                .rest
                .call(&operation, &keys, &call.arguments, &call.cancel)
                .await
                .map(capped::capped),
        }
    }

    async fn call_upstream(
        &self,
        server: &SavedServer,
        upstream: &Upstream,
        call: Call,
    ) -> Result<CallToolResult, Refusal> {
        let failed = |error: ApiError| Refusal::Failed(error.sentence());
        match self.tools.servers.live_digest(server, &upstream.tool).await.map_err(failed)? {
            Some(digest) if digest == upstream.digest => {}
            Some(_) => {
                self.tools.servers.pool().announce_tools_changed(&server.name);
                return Err(Refusal::Rejected(format!(
                    "the server {:?} changed the description of `{}` after it was accepted; the user has to approve the change in Review first",
                    server.name, upstream.tool
                )));
            }
            None => {
                return Err(Refusal::Rejected(format!(
                    "the server {:?} no longer has the tool `{}`",
                    server.name, upstream.tool
                )));
            }
        }
        let reach = self.tools.servers.reach(server).await.map_err(|error| refused(&error))?;
        let (sender, mut receiver) = mpsc::channel::<Progress>(PROGRESS_BUFFER);
        let progress_sender = call.progress;
        let forwarding = async move {
            while let Some(update) = receiver.recv().await {
                let progress = autokit_gateway::Progress {
                    done: update.progress,
                    total: update.total,
                    message: update.message,
                };
                // The agent may be gone or slow; progress may be dropped.
                let _ = progress_sender.try_send(progress);
            }
        };
        let pool = self.tools.servers.pool();
        let calling = async {
            let result =
                pool.call(&server.name, &reach, &upstream.tool, call.arguments, &sender, &call.cancel).await;
            drop(sender);
            result
        };
        let (result, ()) = tokio::join!(calling, forwarding);
        result.map(capped::capped).map_err(|error| match error {
            UpstreamError::Cancelled => Refusal::Cancelled,
            error if error.is_retryable() => Refusal::Failed(error.to_string()),
            error => Refusal::Rejected(error.to_string()),
        })
    }

    /// Returns whether a card that is not a server's tool names its provider like AutoKit or a server.
    /// Rules for those must not apply to it, and a person must not mistake it for theirs.
    async fn impersonates(&self, provider: &str) -> bool {
        let same = |name: &str| name.trim().eq_ignore_ascii_case(provider.trim());
        let servers = self.tools.servers.all().await;
        same("AutoKit") || servers.is_ok_and(|servers| servers.iter().any(|server| same(&server.name)))
    }
}

/// Returns the permissions needed to call a server's tool. Starting its program needs none, because a
/// person added it.
fn server_needs(server: &SavedServer) -> Vec<Need> {
    let mut needs = Vec::new();
    if let ServerTransport::Http { url } = &server.reach {
        needs.extend(external::host_need(url));
    }
    if !server.secrets.is_empty() {
        needs.push(Need::Secret { of: format!("mcp:{}", server.name) });
    }
    needs
}

/// Progress messages of a server that are buffered.
const PROGRESS_BUFFER: usize = 64;

/// Most characters of a reason in the journal.
const REASON_CHARS: usize = 300;

/// Records a call when it ends, even if its agent disconnects in the middle of it.
struct CallRecorder {
    journal: Journal,
    session: McpSessionId,
    /// Its number in the journal.
    number: u64,
    began: Instant,
    audit: Audit,
}

impl CallRecorder {
    /// Starts recording a call. Unless it is finished, it is recorded as cancelled.
    fn start(journal: &Journal, call: &Call, audit: Audit) -> CallRecorder {
        let number = journal.begin_call(&call.session, &audit);
        CallRecorder {
            journal: journal.clone(),
            session: call.session.clone(),
            number,
            began: Instant::now(),
            audit,
        }
    }

    /// Records a call that was refused, or cancelled before it was decided on.
    fn refused(mut self, refusal: Refusal) -> Refusal {
        if let Refusal::Rejected(why) | Refusal::Failed(why) = &refusal {
            self.set_outcome(CallOutcome::Refused, why);
        }
        refusal
    }

    /// Records a call that was made; from here on, errors are the tool's.
    fn finish(mut self, result: Result<CallToolResult, Refusal>) -> Result<CallToolResult, Refusal> {
        match &result {
            Ok(result) if result.is_error == Some(true) => {
                let text = result.content.iter().find_map(|block| block.as_text());
                self.set_outcome(CallOutcome::Failed, text.map_or("", |text| &text.text));
            }
            Ok(_) => self.set_outcome(CallOutcome::Done, ""),
            Err(Refusal::Rejected(why) | Refusal::Failed(why)) => self.set_outcome(CallOutcome::Failed, why),
            Err(Refusal::Cancelled) => self.set_outcome(CallOutcome::Cancelled, ""),
        }
        result
    }

    fn set_outcome(&mut self, outcome: CallOutcome, why: &str) {
        self.audit.outcome = outcome;
        self.audit.why = why.chars().take(REASON_CHARS).collect();
    }
}

impl Drop for CallRecorder {
    fn drop(&mut self) {
        self.audit.took_ms = ms_since(self.began);
        self.journal.end_call(self.number, &self.session, &self.audit);
    }
}
