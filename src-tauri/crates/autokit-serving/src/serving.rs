//! The engine as agents reach it: the implementation of the gateway's toolbox.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autokit_gateway::{
    Call, Definition, Event, HitKind, McpSessionId, Refusal, Search, SearchResults, SessionRecord, Settings,
    Target, Toolbox, preload,
};
use autokit_search::Thresholds;
use autokit_toolcard::Author;
use rmcp::model::CallToolResult;

use crate::activity_rows::agent_session;
use crate::assistant::Assistant;
use crate::find::ToolSearch;
use crate::journal::Journal;
use crate::past::PastSessions;
use crate::plan::Calls;
use crate::profiles::no_profile;
use crate::refusal::refused;
use crate::tools::CallableTools;
use crate::variants::{CURRENT, Variants};
use crate::{builtin, own};

/// The engine as agents reach it.
#[derive(Clone, Debug)]
pub struct Serving {
    tools: CallableTools,
    search: ToolSearch,
    assistant: Arc<dyn Assistant>,
    calls: Calls,
    journal: Journal,
    past: Arc<PastSessions>,
    variants: Variants,
}

impl Serving {
    /// Combines the parts that agents reach into one toolbox.
    pub fn new(
        tools: CallableTools,
        search: ToolSearch,
        assistant: Arc<dyn Assistant>,
        calls: Calls,
        journal: Journal,
        variants: Variants,
    ) -> Serving {
        Serving { tools, search, assistant, calls, journal, past: Arc::default(), variants }
    }

    /// Records the outcome of a call by a description that competes. If the card's own description is withdrawn by it,
    /// the best of the others is proposed in its place.
    async fn record_outcome(&self, called: &Definition, success: bool) {
        let withdrawn = match self.variants.record(called, success).await {
            Ok(None) => return,
            Ok(Some(withdrawn)) => withdrawn,
            Err(error) => {
                tracing::warn!(%error, tool = called.name, "the outcome of a call was not counted");
                return;
            }
        };
        tracing::info!(tool = called.name, variant = withdrawn.variant, why = ?withdrawn.why, "withdrew a description");
        let library = &self.tools.workspace.library;
        let Some(best) = withdrawn.contest.best().filter(|_| withdrawn.variant == CURRENT) else { return };
        // A card that was deleted meanwhile needs no description.
        let Ok(record) = library.card(&withdrawn.card) else { return };
        let draft = withdrawn.contest.proposal(best, &record, self.tools.workspace.clock.stamp());
        if let Err(error) = self.assistant.propose(draft, &Author::autokit()).await {
            tracing::warn!(%error, tool = called.name, "a better description was not proposed");
        }
    }

    /// Returns the tools of these names or ids that a profile may call.
    async fn named(&self, profile: &str, names: Vec<String>) -> Vec<Definition> {
        let Ok(scoped) = self.tools.scoped(profile) else { return Vec::new() };
        let mut all = Vec::new();
        for named in names {
            if let Some(builtin) = builtin::by_id_or_name(&named) {
                let Definition { id, name, provider, .. } = builtin;
                if scoped.may_call(id, name, provider) {
                    all.push(builtin.clone());
                }
            } else if let Ok(record) = self.tools.workspace.find_card(&named)
                && scoped.may_find(&record.id)
                && let Some(definition) = self.tools.definition(&record).await
            {
                all.push(definition);
            }
        }
        all
    }
}

#[async_trait]
impl Toolbox for Serving {
    fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.tools.workspace.subscribe_to_tools()
    }

    fn check_profile(&self, profile: &str) -> Result<(), Refusal> {
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
        self.named(profile, self.tools.profiles.session_settings(profile, "").always).await
    }

    async fn preload(&self, profile: &str, query: Option<&str>, limit: usize) -> Vec<Definition> {
        let past = match self.past.sessions(&self.tools.workspace).await {
            Ok(past) => past,
            Err(error) => {
                tracing::warn!(%error, "past sessions could not be read; nothing is preloaded");
                return Vec::new();
            }
        };
        let likely = match query {
            Some(query) => preload::likely_for(&past, profile, query, limit),
            None => preload::likely(&past, profile, limit),
        };
        self.named(profile, likely).await
    }

    async fn search(&self, mut search: Search) -> Result<SearchResults, Refusal> {
        let scoped = self.tools.scoped(&search.profile)?;
        // Without access to all hosts, the query must not be sent to a language model or to registries.
        let may_leave = scoped.policy().allows_all_hosts();
        if !may_leave {
            search.rerank = Duration::ZERO;
        }
        let mut found = self.search.find(&search, &scoped).await?;
        for hit in &mut found.hits {
            if let HitKind::Callable(definition) = &mut hit.kind {
                self.variants.choose(definition).await;
            }
        }
        // Agents that may find only some cards are not offered others.
        if scoped.finds_all() && may_leave {
            self.assistant.add_offers(&search, &mut found).await;
        }
        Ok(found)
    }

    async fn resolve(&self, definition: &Definition, profile: &str) -> Result<Option<Definition>, Refusal> {
        let scoped = self.tools.scoped(profile)?;
        if let Some(builtin) = builtin::by_id(&definition.id) {
            let Definition { id, name, provider, .. } = builtin;
            return Ok(scoped.may_call(id, name, provider).then(|| builtin.clone()));
        }
        let Some(record) = self.tools.record(definition, &scoped) else { return Ok(None) };
        let mut current = self.tools.definition(&record).await;
        if let Some(current) = &mut current {
            self.variants.keep(definition, current).await;
        }
        Ok(current)
    }

    async fn call(&self, call: Call) -> Result<CallToolResult, Refusal> {
        let called = match &call.tool {
            Target::Discovered(definition) if self.variants.has(&definition.id).await => {
                Some(definition.clone())
            }
            Target::Discovered(_) | Target::Own(_) => None,
        };
        let result = self.calls.run(call).await;
        // What was refused or cancelled tells nothing of the description.
        let success = match &result {
            Ok(result) => Some(result.is_error != Some(true)),
            Err(Refusal::Failed(_)) => Some(false),
            Err(Refusal::Rejected(_) | Refusal::Cancelled) => None,
        };
        if let (Some(called), Some(success)) = (called, success) {
            self.record_outcome(&called, success).await;
        }
        result
    }

    async fn alternatives(&self, definition: &Definition, profile: &str) -> Vec<String> {
        let search = Search {
            query: definition.description.clone(),
            limit: 4,
            threshold: Thresholds::for_hit(None, None, None).nothing,
            rerank: Duration::ZERO,
            profile: profile.to_owned(),
            always: HashSet::new(),
        };
        let Ok(scoped) = self.tools.scoped(profile) else { return Vec::new() };
        let found = self.search.find(&search, &scoped).await;
        let others = found.into_iter().flat_map(|found| found.hits);
        let callable =
            others.filter(|hit| hit.id != definition.id && matches!(hit.kind, HitKind::Callable(_)));
        callable.take(2).map(|hit| format!("\u{201c}{}\u{201d}", hit.name)).collect()
    }

    fn record_event(&self, session: &McpSessionId, event: Event) {
        self.journal.record_event(session, &event);
    }

    fn save_session(&self, session: SessionRecord, soon: bool) {
        self.journal.save_session(session, soon);
    }

    async fn load_session(&self, id: &McpSessionId) -> Option<SessionRecord> {
        if let Some(record) = self.journal.unsaved_session(id) {
            return Some(record);
        }
        let text = match agent_session(&self.tools.workspace.library, id.as_str()).await {
            Ok(text) => text?,
            Err(error) => {
                tracing::warn!(%error, "failed to load an agent session");
                return None;
            }
        };
        serde_json::from_str(&text)
            .inspect_err(|error| tracing::warn!(%error, "failed to parse a saved agent session"))
            .ok()
    }
}
