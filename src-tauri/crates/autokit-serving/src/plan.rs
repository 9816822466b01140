//! A call of an agent from its name to its result: what it is of, what it needs, whether it is permitted,
//! how it is carried out. All of it is written down.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use autokit_api::ServerReach;
use autokit_error::ApiError;
use autokit_features::servers::tools::{SavedServer, Upstream};
use autokit_gateway::{Audit, Call, CallOutcome, DecidedBy, Definition, Refusal, Target};
use autokit_mcp_client::{Progress, UpstreamError};
use autokit_openapi as openapi;
use autokit_openapi::rest::{Keys, needs};
use autokit_policy::{Need, Permission};
use autokit_toolcard::CardId;
use autokit_workspace::elapsed::ms_since;
use rmcp::model::CallToolResult;
use tokio::sync::mpsc;

use crate::approvals::Approvals;
use crate::builtin::Builtins;
use crate::journal::Journal;
use crate::own::OwnTools;
use crate::permit::{CallRequest, not_permitted};
use crate::profiles::{Scoped, no_profile};
use crate::refusal::refused;
use crate::rest::RestCalls;
use crate::tools::CallableTools;
use crate::{arguments, builtin, capped, outward, own};

/// How a call is carried out.
enum Executor {
    /// One of AutoKit's own that every session has.
    Own(String),
    /// One of AutoKit's own that a search finds.
    Builtin(&'static Definition, Arc<Scoped>),
    /// A tool of an MCP server.
    Upstream(Box<SavedServer>, Upstream),
    /// An operation of a web API.
    Rest(Box<openapi::Call>, Keys),
}

/// What became of a person's wish to call a tool.
pub(crate) enum ByHand {
    /// Not before this is granted.
    Asks(Vec<Need>),
    /// The call, to be awaited.
    Ready(Pin<Box<dyn Future<Output = Result<CallToolResult, Refusal>> + Send>>),
}

/// A call that is ready to be decided on.
struct Plan {
    executor: Executor,
    request: CallRequest,
}

/// What is called, as far as that is known without looking.
fn called(target: &Target) -> CallRequest {
    match target {
        Target::Own(name) => CallRequest::new(name, name, "AutoKit"),
        Target::Discovered(definition) => {
            CallRequest::new(&definition.id, &definition.name, &definition.provider)
        }
    }
}

/// What carries calls out, each in its way.
#[derive(Clone, Debug)]
pub struct Executors {
    /// AutoKit's tools that every session has.
    pub own: OwnTools,
    /// AutoKit's tools that a search finds.
    pub builtins: Builtins,
    /// Operations of web APIs.
    pub rest: RestCalls,
}

/// Calls of agents; clones share what goes on.
#[derive(Clone, Debug)]
pub struct Calls {
    tools: CallableTools,
    approvals: Approvals,
    executors: Executors,
    journal: Journal,
}

impl Calls {
    /// Calls of these tools, approved by a person where the rules say so, all in the journal.
    pub fn new(tools: CallableTools, approvals: Approvals, executors: Executors, journal: Journal) -> Calls {
        Calls { tools, approvals, executors, journal }
    }

    /// Decides on a call, makes it if it is permitted, and writes it down.
    pub(crate) async fn carry_out(&self, call: Call) -> Result<CallToolResult, Refusal> {
        let Plan { executor, request } = self.prepared(&call).await?;
        let mut note = Note::begin(&self.journal, &call, request.audit(&call, DecidedBy::Nobody));
        let (decided, permitted) = self.approvals.permit(&request, &call).await;
        note.audit.decided = decided;
        match permitted {
            Ok(()) => {
                let result = self.execute(executor, call).await;
                note.end(result)
            }
            Err(refusal) => Err(note.refused(refusal)),
        }
    }

    /// A call as it is decided on. One that comes to no tool is written down as refused.
    async fn prepared(&self, call: &Call) -> Result<Plan, Refusal> {
        let refusal = match self.plan(call).await {
            Ok(plan) => return Ok(plan),
            Err(refusal) => refusal,
        };
        let schema = match &call.tool {
            Target::Own(name) => own::named(name).map(|tool| tool.schema),
            Target::Discovered(definition) => Some(definition.schema.clone()),
        };
        let request = called(&call.tool).with(Vec::new(), &schema.unwrap_or_default(), &call.arguments);
        let decided = if self.is_closed(call) { DecidedBy::Rules } else { DecidedBy::Nobody };
        let note = Note::begin(&self.journal, call, request.audit(call, decided));
        Err(note.refused(refusal))
    }

    /// Whether the rules of its profile hide the card of what is called.
    fn is_closed(&self, call: &Call) -> bool {
        let Target::Discovered(definition) = &call.tool else { return false };
        let id = CardId::new(&definition.id);
        let there = self.tools.workspace.library.read(|replica| replica.get(&id).is_some());
        there && self.tools.profiles.scoped(&call.profile).is_some_and(|scoped| !scoped.may_find(&id))
    }

    /// Makes a call as a person wants it made by hand, by the rules of a profile. What these ask a person
    /// for has to be among what was granted; where it is not, nothing is done.
    pub(crate) async fn by_hand(&self, call: Call, granted: &[Need]) -> Result<ByHand, Refusal> {
        let Plan { executor, request } = self.prepared(&call).await?;
        let policy =
            self.tools.profiles.policy(&call.profile).ok_or_else(|| refused(&no_profile(&call.profile)))?;
        let decision = policy.decide(&request.all());
        let decided = match decision.permission {
            Permission::Allow => DecidedBy::Rules,
            Permission::Ask if decision.because.iter().all(|need| granted.contains(need)) => {
                DecidedBy::Person
            }
            Permission::Ask => return Ok(ByHand::Asks(decision.because)),
            Permission::Deny => {
                let note = Note::begin(&self.journal, &call, request.audit(&call, DecidedBy::Rules));
                return Err(note.refused(not_permitted(&decision.because)));
            }
        };
        let note = Note::begin(&self.journal, &call, request.audit(&call, decided));
        let calls = self.clone();
        Ok(ByHand::Ready(Box::pin(async move {
            let result = calls.execute(executor, call).await;
            note.end(result)
        })))
    }

    async fn plan(&self, call: &Call) -> Result<Plan, Refusal> {
        let (mut request, given) = (called(&call.tool), &call.arguments);
        let definition = match &call.tool {
            Target::Own(name) => {
                let tool =
                    own::named(name).ok_or_else(|| Refusal::NotMade(format!("there is no tool `{name}`")))?;
                arguments::check(&tool.schema, given).map_err(Refusal::NotMade)?;
                let needs = self.executors.builtins.outward().own_needs(name);
                let request = request.with(needs, &tool.schema, given);
                return Ok(Plan { executor: Executor::Own(name.clone()), request });
            }
            Target::Discovered(definition) => definition,
        };
        arguments::check(&definition.schema, given).map_err(Refusal::NotMade)?;
        let scoped = self.tools.scoped(&call.profile)?;
        let (executor, needs) = if let Some(builtin) = builtin::find(&definition.id) {
            let needs = self.executors.builtins.outward().needs(scoped.policy(), &builtin.name, given);
            (Executor::Builtin(builtin, scoped), needs)
        } else {
            let gone = || Refusal::NotMade(format!("`{}` can no longer be called", definition.name));
            let record = self.tools.record(definition, &scoped).ok_or_else(gone)?;
            let card = record.card();
            if let Some(upstream) = Upstream::of(&card) {
                let stands = self.tools.servers.is_bound(&record.id, &upstream).await;
                if !stands.map_err(|error| refused(&error))? {
                    return Err(Refusal::NotMade(format!(
                        "`{}` says of itself that it is a tool of the server {:?}; a person has to look at what that says in Review first",
                        definition.name, upstream.server
                    )));
                }
                let server =
                    self.tools.servers.get(&upstream.server).await.map_err(|error| refused(&error))?;
                // What is decided on is the server's tool, whatever its card is called.
                request.provider.clone_from(&upstream.server);
                let needs = server_needs(&server);
                (Executor::Upstream(Box::new(server), upstream), needs)
            } else {
                let operation = openapi::Call::from_card(&card)
                    .map_err(|error| Refusal::NotMade(error.to_string()))?
                    .ok_or_else(gone)?;
                if self.imitates(&request.provider).await {
                    request.provider = format!("{} (as its card says)", request.provider);
                }
                let keys = self.executors.rest.keys_for(&operation).await.map_err(|error| refused(&error))?;
                let needs = needs(&operation, &keys);
                (Executor::Rest(Box::new(operation), keys), needs)
            }
        };
        Ok(Plan { executor, request: request.with(needs, &definition.schema, given) })
    }

    async fn execute(&self, executor: Executor, call: Call) -> Result<CallToolResult, Refusal> {
        match executor {
            Executor::Own(name) => self.executors.own.call(&name, call).await,
            Executor::Builtin(builtin, scoped) => {
                self.executors.builtins.call(&scoped, builtin, &call.arguments, &call.cancel).await
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
                self.tools.servers.pool().tell_changed(&server.name);
                return Err(Refusal::NotMade(format!(
                    "the server {:?} describes `{}` otherwise than when it was accepted; a person has to look at that in Review first",
                    server.name, upstream.tool
                )));
            }
            None => {
                return Err(Refusal::NotMade(format!(
                    "the server {:?} has no tool `{}` any more",
                    server.name, upstream.tool
                )));
            }
        }
        let reach = self.tools.servers.reach(server).await.map_err(|error| refused(&error))?;
        let (told, mut telling) = mpsc::channel::<Progress>(UNHEARD);
        let to = call.progress;
        let passing = async move {
            while let Some(told) = telling.recv().await {
                let progress = autokit_gateway::Progress {
                    done: told.progress,
                    total: told.total,
                    message: told.message,
                };
                // The agent may be gone, or read slowly.
                let _ = to.try_send(progress);
            }
        };
        let pool = self.tools.servers.pool();
        let calling = async {
            let result =
                pool.call(&server.name, &reach, &upstream.tool, call.arguments, &told, &call.cancel).await;
            drop(told);
            result
        };
        let (result, ()) = tokio::join!(calling, passing);
        result.map(capped::capped).map_err(|error| match error {
            UpstreamError::Cancelled => Refusal::Cancelled,
            error if error.is_passing() => Refusal::Failed(error.to_string()),
            error => Refusal::NotMade(error.to_string()),
        })
    }

    /// Whether a card of no server calls its provider what AutoKit or a server is called: rules for those must
    /// not hold for it, nor may a person take it for theirs.
    async fn imitates(&self, provider: &str) -> bool {
        let same = |name: &str| name.trim().eq_ignore_ascii_case(provider.trim());
        let servers = self.tools.servers.all().await;
        same("AutoKit") || servers.is_ok_and(|servers| servers.iter().any(|server| same(&server.name)))
    }
}

/// What calling a tool of a server needs. A program was started by the person who added it.
fn server_needs(server: &SavedServer) -> Vec<Need> {
    let mut needs = Vec::new();
    if let ServerReach::Http { url } = &server.reach {
        needs.extend(outward::host_need(url));
    }
    if !server.secrets.is_empty() {
        needs.push(Need::Secret { of: format!("mcp:{}", server.name) });
    }
    needs
}

/// Words of a server on its way to an answer that wait to be passed on.
const UNHEARD: usize = 64;

/// Characters of a reason that are written down.
const WHY: usize = 300;

/// A call that is written down when it ends, also by its agent going away in the middle of it.
struct Note {
    journal: Journal,
    session: String,
    /// Its number in the journal.
    number: u64,
    began: Instant,
    audit: Audit,
}

impl Note {
    /// Of a call that was taken back, unless it is ended otherwise.
    fn begin(journal: &Journal, call: &Call, audit: Audit) -> Note {
        let number = journal.begin(&call.session, &audit);
        Note { journal: journal.clone(), session: call.session.clone(), number, began: Instant::now(), audit }
    }

    /// It was not made; or taken back before it was decided on.
    fn refused(mut self, refusal: Refusal) -> Refusal {
        if let Refusal::NotMade(why) | Refusal::Failed(why) = &refusal {
            self.tell(CallOutcome::Refused, why);
        }
        refusal
    }

    /// It was made: what goes wrong from then on is the tool's matter.
    fn end(mut self, result: Result<CallToolResult, Refusal>) -> Result<CallToolResult, Refusal> {
        match &result {
            Ok(result) if result.is_error == Some(true) => {
                let said = result.content.iter().find_map(|block| block.as_text());
                self.tell(CallOutcome::Failed, said.map_or("", |text| &text.text));
            }
            Ok(_) => self.tell(CallOutcome::Done, ""),
            Err(Refusal::NotMade(why) | Refusal::Failed(why)) => self.tell(CallOutcome::Failed, why),
            Err(Refusal::Cancelled) => self.tell(CallOutcome::Cancelled, ""),
        }
        result
    }

    fn tell(&mut self, outcome: CallOutcome, why: &str) {
        self.audit.outcome = outcome;
        self.audit.why = why.chars().take(WHY).collect();
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.audit.took_ms = ms_since(self.began);
        self.journal.end(self.number, &self.session, &self.audit);
    }
}
