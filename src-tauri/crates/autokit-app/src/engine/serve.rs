//! What agents reach over MCP: AutoKit's own tools, and everything in the library that can be called.
//!
//! | module | what it holds |
//! |---|---|
//! | [`own`] | the tools every session has: ask, discover, propose a card, report an outcome |
//! | [`journal`] | what agents did, written down beside their work |
//! | [`builtin`] | the tools of AutoKit that a search finds |
//! | [`measure`] | what a search costs an agent |
//! | [`report`] | what agents did, counted |
//! | [`audit`] | what agents called, read again |
//! | [`arguments`] | arguments held against a tool's schema |
//! | [`capped`] | what a tool of somebody else may answer at most |
//! | [`days`] | what agents did, day by day |
//! | [`find`] | what a search finds |
//! | [`hand`] | the list of tools that can be called, and calls a person makes |
//! | [`outward`] | AutoKit's own tools that reach out: web, files, sandbox |
//! | [`permit`] | whether a call may be made: by rules, or by a person's word |
//! | [`plan`] | what a call is of, what it needs, and how it is carried out |
//! | [`rest`] | operations of web APIs |
//! | [`tools`] | the cards whose tools can be called |

mod arguments;
mod audit;
mod builtin;
mod capped;
mod days;
mod find;
mod hand;
mod journal;
mod measure;
mod outward;
mod own;
mod permit;
mod plan;
mod report;
mod rest;
mod tools;

use std::collections::HashSet;
use std::sync::Arc;

use autokit_error::ApiError;
use autokit_gateway::{
    Call, Definition, Event, Found, Refusal, Search, SessionRecord, Settings, Toolbox, What,
};
use autokit_search::{Depth, Thresholds};
use rmcp::model::CallToolResult;

use super::market::Market;
use super::profiles::no_profile;
pub(super) use builtin::Builtins;
pub(super) use find::ToolSearch;
pub(super) use hand::ToolRuns;
pub(super) use journal::Journal;
pub use measure::Searched;
pub(super) use outward::Outward;
pub(super) use own::OwnTools;
pub(super) use plan::{Calls, Executors};
pub(super) use report::Activity;
pub(super) use rest::RestCalls;
pub(super) use tools::CallableTools;

/// Characters of the one line of a result.
pub(super) const LINE: usize = 160;
/// Days what agents did is kept: a quarter shows a trend.
const KEPT_DAYS: i64 = 92;

/// The engine as agents reach it.
#[derive(Clone, Debug)]
pub struct Serving {
    tools: CallableTools,
    search: ToolSearch,
    market: Market,
    calls: Calls,
    journal: Journal,
}

impl Serving {
    pub(super) fn new(
        tools: CallableTools,
        search: ToolSearch,
        market: Market,
        calls: Calls,
        journal: Journal,
    ) -> Serving {
        Serving { tools, search, market, calls, journal }
    }
}

fn refused(error: &ApiError) -> Refusal {
    Refusal::NotMade(error.sentence())
}

impl Toolbox for Serving {
    fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.tools.workspace.tools()
    }

    fn admits(&self, profile: &str) -> Result<(), Refusal> {
        self.tools.profiles.policy(profile).map(|_| ()).ok_or_else(|| refused(&no_profile(profile)))
    }

    fn own_tools(&self, profile: &str) -> Vec<Definition> {
        let Ok(scoped) = self.tools.scoped(profile) else { return Vec::new() };
        let mut tools = own::tools();
        tools.retain(|tool| scoped.may_call(&tool.id, &tool.name, &tool.provider));
        tools
    }

    fn settings(&self, profile: &str, client: &str) -> Arc<Settings> {
        Arc::new(self.tools.profiles.session_settings(profile, client))
    }

    async fn always(&self, profile: &str) -> Vec<Definition> {
        let Ok(scoped) = self.tools.scoped(profile) else { return Vec::new() };
        let mut all = Vec::new();
        for named in self.tools.profiles.session_settings(profile, "").always {
            if let Some(builtin) = builtin::named(&named) {
                let Definition { id, name, provider, .. } = builtin;
                if scoped.may_call(id, name, provider) {
                    all.push(builtin.clone());
                }
            } else if let Ok(record) = self.tools.workspace.find(&named)
                && scoped.may_find(&record.id)
                && let Some(definition) = self.tools.definition(&record).await
            {
                all.push(definition);
            }
        }
        all
    }

    async fn search(&self, search: Search) -> Result<Found, Refusal> {
        let scoped = self.tools.scoped(&search.profile)?;
        let mut found = self.search.find(&search, &scoped).await?;
        // Whoever may find some cards alone is offered no others.
        // Nor are words sent to sources where not all hosts are open.
        if scoped.finds_all() && scoped.policy().reaches_all_hosts() {
            self.market.fill(&search, &mut found).await;
        }
        Ok(found)
    }

    async fn resolve(&self, definition: &Definition, profile: &str) -> Result<Option<Definition>, Refusal> {
        let scoped = self.tools.scoped(profile)?;
        if let Some(builtin) = builtin::find(&definition.id) {
            let Definition { id, name, provider, .. } = builtin;
            return Ok(scoped.may_call(id, name, provider).then(|| builtin.clone()));
        }
        let Some(record) = self.tools.record(definition, &scoped) else { return Ok(None) };
        Ok(self.tools.definition(&record).await)
    }

    async fn call(&self, call: Call) -> Result<CallToolResult, Refusal> {
        self.calls.carry_out(call).await
    }

    async fn alternatives(&self, definition: &Definition, profile: &str) -> Vec<String> {
        let search = Search {
            query: definition.description.clone(),
            limit: 4,
            threshold: Thresholds::of(Depth::Reranked).nothing,
            profile: profile.to_owned(),
            always: HashSet::new(),
        };
        let Ok(scoped) = self.tools.scoped(profile) else { return Vec::new() };
        let found = self.search.find(&search, &scoped).await;
        let others = found.into_iter().flat_map(|found| found.hits);
        let callable = others.filter(|hit| hit.id != definition.id && matches!(hit.what, What::Callable(_)));
        callable.take(2).map(|hit| format!("\u{201c}{}\u{201d}", hit.name)).collect()
    }

    fn note(&self, session: &str, event: Event) {
        self.journal.note(session, &event);
    }

    fn keep(&self, session: SessionRecord, soon: bool) {
        self.journal.keep(session, soon);
    }

    async fn kept(&self, id: &str) -> Option<SessionRecord> {
        if let Some(record) = self.journal.kept(id) {
            return Some(record);
        }
        let text = match self.tools.workspace.library.agent_session(id).await {
            Ok(text) => text?,
            Err(error) => {
                tracing::warn!(%error, "a session of an agent could not be read");
                return None;
            }
        };
        serde_json::from_str(&text)
            .inspect_err(|error| tracing::warn!(%error, "a session of an agent is not one"))
            .ok()
    }
}
