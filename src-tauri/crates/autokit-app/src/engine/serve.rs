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
//! | [`hand`] | the list of tools that can be called, and calls a person makes |
//! | [`outward`] | AutoKit's own tools that reach out: web, files, sandbox |
//! | [`permit`] | whether a call may be made: by rules, or by a person's word |
//! | [`plan`] | what a call is of, what it needs, and how it is carried out |
//! | [`rest`] | operations of web APIs |

mod arguments;
mod audit;
mod builtin;
mod capped;
mod days;
mod hand;
mod journal;
mod measure;
mod outward;
mod own;
mod permit;
mod plan;
mod report;
mod rest;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use autokit_error::{ApiError, Result as ApiResult};
use autokit_gateway::{
    Call, Definition, Event, Found, Gateway, Hit, Refusal, Search, Server, SessionRecord, Settings, Tier,
    Toolbox, What,
};
use autokit_library::{CardRecord, stamp};
use autokit_openapi as openapi;
use autokit_openapi::rest::origin_of;
use autokit_search::tiers::{KeywordQuery, merge};
use autokit_search::{Depth, Mode, SearchRequest, Thresholds};
use autokit_toolcard::{CardId, CardKey, fields};
use jiff::SignedDuration;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};

use super::cards::{first_sentence, shorten};
use super::profiles::{Scoped, no_profile, profile_of};
use super::servers::tools::Upstream;
use super::{Core, Engine, since};
pub(super) use hand::Outcomes;
pub(super) use journal::Journal;
pub use measure::Searched;
pub(super) use outward::CodeRuns;

/// Characters of a description as an agent gets it: longer ones are for people.
const DESCRIPTION: usize = 1_000;
/// Characters of the one line of a result.
pub(super) const LINE: usize = 160;
/// How long what happens is gathered before it is written.
const GATHER: Duration = Duration::from_millis(20);
/// How long a session of which only the figures changed may wait to be written.
const REST: Duration = Duration::from_secs(30);
/// How long a process is there before it forgets what is old.
const TIDY_AFTER: Duration = Duration::from_mins(5);
/// How often what is old is forgotten.
const TIDY_EVERY: Duration = Duration::from_hours(6);
/// Days what agents did is kept: a quarter shows a trend.
const KEPT_DAYS: i64 = 92;
/// Score from which a card that a person assigned to a profile is found before all others: more than a
/// shared word in its description.
const EXPERT_FITS: f32 = 0.4;
/// Whose feedback is that of agents.
const PROFILE: &str = "agents";

/// The engine as agents reach it.
#[derive(Clone, Debug)]
pub struct Serving {
    core: Arc<Core>,
}

fn refused(error: &ApiError) -> Refusal {
    Refusal::NotMade(error.sentence())
}

impl Serving {
    /// Whose feedback moves the results of a profile.
    fn taste(profile: &str) -> String {
        let profile = profile_of(profile);
        if profile.is_empty() { PROFILE.to_owned() } else { format!("{PROFILE}/{profile}") }
    }

    /// The definition of a card's tool, if it can be called from here.
    async fn definition(&self, record: &CardRecord) -> Option<Definition> {
        let card = record.card();
        let mut annotations = card.object().get("annotations").cloned();
        if let Some(upstream) = Upstream::of(&card) {
            self.core.known_servers.get(&upstream.server).await.ok()?;
            // What a card says of itself is anybody's word.
            self.core.known_servers.is_bound(&record.id, &upstream).await.ok().filter(|stands| *stands)?;
        } else {
            // A call of a later version, or one that is none, is for reading only.
            let operation = openapi::Call::from_card(&card).ok().flatten()?;
            origin_of(&operation)?;
            let reads = matches!(operation.method.as_str(), "GET" | "HEAD");
            annotations.get_or_insert_with(|| json!({"readOnlyHint": reads, "openWorldHint": true}));
        }
        let schema = match card.object().get(fields::PARAMETERS) {
            Some(Value::Object(schema)) => schema.clone(),
            _ => Map::from_iter([("type".to_owned(), json!("object"))]),
        };
        Some(Definition {
            id: record.id.to_string(),
            name: record.key.name.clone(),
            provider: record.key.provider.clone(),
            description: shorten(card.description(), DESCRIPTION),
            schema,
            annotations,
        })
    }

    /// The card of a definition, if agents of the profile may find it.
    fn record(&self, definition: &Definition, scoped: &Scoped) -> Option<Arc<CardRecord>> {
        let key = CardKey { provider: definition.provider.clone(), name: definition.name.clone() };
        let record = self.core.workspace.library.read(|replica| {
            let by_id = replica.get(&CardId::new(&definition.id));
            by_id.or_else(|| replica.by_key(&key)).cloned()
        })?;
        scoped.may_find(&record.id).then_some(record)
    }

    fn scoped(&self, profile: &str) -> Result<Arc<Scoped>, Refusal> {
        self.core.scoped(profile).ok_or_else(|| refused(&no_profile(profile)))
    }

    async fn hit(&self, record: &CardRecord, tier: Tier, score: f32) -> Hit {
        let card = record.card();
        let what = match self.definition(record).await {
            Some(definition) => What::Callable(Box::new(definition)),
            None => What::Reference {
                stub: card.stub().map(|stub| stub.code),
                documentation: card.text(fields::DOCUMENTATION).map(str::to_owned),
            },
        };
        Hit {
            id: record.id.to_string(),
            name: record.key.name.clone(),
            provider: record.key.provider.clone(),
            line: shorten(&first_sentence(card.description()), LINE),
            tier,
            score,
            what,
        }
    }

    /// The cards assigned to a profile that fit a request, best first.
    async fn experts(&self, scoped: &Scoped, query: &str, limit: usize) -> Vec<Hit> {
        let query = KeywordQuery::new(query);
        let mut fitting: Vec<(&CardId, f32)> =
            scoped.experts.iter().map(|(id, tool)| (id, query.expert(tool))).collect();
        fitting.retain(|(_, score)| *score >= EXPERT_FITS);
        fitting.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut hits = Vec::new();
        for (id, score) in fitting.into_iter().take(limit) {
            let record = self.core.workspace.library.read(|replica| replica.get(id).cloned());
            // One that was deleted meanwhile is no result.
            if let Some(record) = record {
                hits.push(self.hit(&record, Tier::Expert, score).await);
            }
        }
        hits
    }

    async fn library(
        &self,
        search: &Search,
        scoped: &Scoped,
        found: &mut Found,
    ) -> Result<Vec<Hit>, Refusal> {
        let opinions = self.core.search.opinions_of(&Serving::taste(&search.profile)).await;
        let ranking = self.core.search.rank(SearchRequest {
            query: search.query.clone(),
            allowed: scoped.allowed.clone(),
            opinions: opinions.map_err(|error| refused(&error))?,
            limit: search.limit,
            ..SearchRequest::default()
        });
        let ranking = ranking.await.map_err(|error| refused(&error))?;
        if let (Mode::Keyword, Some(why)) = (ranking.mode, self.core.models.words_alone()) {
            found.notes.push(format!("Found by words alone: {why}."));
        }
        if !ranking.also_named.is_empty() {
            let names = self.core.search.names_of(&ranking.also_named).join(", ");
            found.notes.push(format!("Also named by the query: {names}."));
        }
        let mut library = Vec::new();
        for hit in ranking.hits.into_iter().filter(|hit| hit.score >= search.threshold) {
            if let Some(record) = self.core.search.found(&hit) {
                library.push(self.hit(&record, Tier::Library, hit.score).await);
            }
        }
        Ok(library)
    }

    /// What is found in the tiers that are here.
    async fn find(&self, search: &Search, scoped: &Scoped) -> Result<Found, Refusal> {
        let mut found = Found::default();
        let began = Instant::now();
        let experts = self.experts(scoped, &search.query, search.limit).await;
        if !scoped.experts.is_empty() {
            found.took_ms.push((Tier::Expert, since(began)));
        }
        let began = Instant::now();
        let mut system = builtin::search(&search.query);
        system.retain(|hit| scoped.may_call(&hit.id, &hit.name, &hit.provider));
        found.took_ms.push((Tier::System, since(began)));
        let began = Instant::now();
        let library = self.library(search, scoped, &mut found).await?;
        found.took_ms.push((Tier::Library, since(began)));
        // Tools the query names are not cut off.
        let limit = search.limit.max(library.len());
        found.hits = merge([experts, system, library], |hit| hit.id.clone(), &search.always, limit);
        Ok(found)
    }
}

impl Toolbox for Serving {
    fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.core.workspace.tools()
    }

    fn admits(&self, profile: &str) -> Result<(), Refusal> {
        self.core.policy(profile).map(|_| ()).ok_or_else(|| refused(&no_profile(profile)))
    }

    fn own_tools(&self, profile: &str) -> Vec<Definition> {
        let Ok(scoped) = self.scoped(profile) else { return Vec::new() };
        let mut tools = own::tools();
        tools.retain(|tool| scoped.may_call(&tool.id, &tool.name, &tool.provider));
        tools
    }

    fn settings(&self, profile: &str, client: &str) -> Arc<Settings> {
        Arc::new(self.core.session_settings(profile, client))
    }

    async fn always(&self, profile: &str) -> Vec<Definition> {
        let Ok(scoped) = self.scoped(profile) else { return Vec::new() };
        let mut all = Vec::new();
        for named in self.core.session_settings(profile, "").always {
            if let Some(builtin) = builtin::named(&named) {
                let Definition { id, name, provider, .. } = builtin;
                if scoped.may_call(id, name, provider) {
                    all.push(builtin.clone());
                }
            } else if let Ok(record) = self.core.workspace.find(&named)
                && scoped.may_find(&record.id)
                && let Some(definition) = self.definition(&record).await
            {
                all.push(definition);
            }
        }
        all
    }

    async fn search(&self, search: Search) -> Result<Found, Refusal> {
        let scoped = self.scoped(&search.profile)?;
        let mut found = self.find(&search, &scoped).await?;
        // Whoever may find some cards alone is offered no others.
        // Nor are words sent to sources where not all hosts are open.
        if scoped.finds_all() && scoped.policy().reaches_all_hosts() {
            self.core.market.fill(&search, &mut found).await;
        }
        Ok(found)
    }

    async fn resolve(&self, definition: &Definition, profile: &str) -> Result<Option<Definition>, Refusal> {
        let scoped = self.scoped(profile)?;
        if let Some(builtin) = builtin::find(&definition.id) {
            let Definition { id, name, provider, .. } = builtin;
            return Ok(scoped.may_call(id, name, provider).then(|| builtin.clone()));
        }
        let Some(record) = self.record(definition, &scoped) else { return Ok(None) };
        Ok(self.definition(&record).await)
    }

    async fn call(&self, call: Call) -> Result<CallToolResult, Refusal> {
        self.carry_out(call).await
    }

    async fn alternatives(&self, definition: &Definition, profile: &str) -> Vec<String> {
        let search = Search {
            query: definition.description.clone(),
            limit: 4,
            threshold: Thresholds::of(Depth::Reranked).nothing,
            profile: profile.to_owned(),
            always: HashSet::new(),
        };
        let Ok(scoped) = self.scoped(profile) else { return Vec::new() };
        let found = self.find(&search, &scoped).await;
        let others = found.into_iter().flat_map(|found| found.hits);
        let callable = others.filter(|hit| hit.id != definition.id && matches!(hit.what, What::Callable(_)));
        callable.take(2).map(|hit| format!("\u{201c}{}\u{201d}", hit.name)).collect()
    }

    fn note(&self, session: &str, event: Event) {
        self.core.journal.note(session, &event, &self.core.workspace.clock);
    }

    fn keep(&self, session: SessionRecord, soon: bool) {
        self.core.journal.keep(session, soon);
    }

    async fn kept(&self, id: &str) -> Option<SessionRecord> {
        if let Some(record) = self.core.journal.kept(id) {
            return Some(record);
        }
        let text = match self.core.workspace.library.agent_session(id).await {
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

impl Core {
    /// Forgets what agents did long ago, and sessions that are over.
    pub(super) async fn tidy_journal(&self) -> ApiResult<()> {
        let now = self.workspace.clock.now();
        let before = |hours: i64| {
            now.checked_sub(SignedDuration::from_hours(hours)).map_or_else(|_| String::new(), stamp)
        };
        let sessions = self.session_settings("", "").session_secs as i64 / 3600;
        self.journal.tidy(&self.workspace.library, &before(sessions), &before(KEPT_DAYS * 24)).await
    }
}

impl Engine {
    pub(super) fn gateway_of(core: &Arc<Core>) -> Gateway<Serving> {
        let clock = core.workspace.clock.clone();
        Gateway::new(Serving { core: Arc::clone(core) }, Arc::new(move || clock.now()))
    }

    /// Writes the journal of agents as long as this process lives, and forgets what is old.
    pub(super) fn keep_journal(&self) {
        if self.core.workspace.library.read_only().is_some() {
            return;
        }
        let core = Arc::downgrade(&self.core);
        let news = self.core.journal.news();
        tokio::spawn(async move {
            // Not at once: a process that ends soon leaves it to one that stays.
            let first = tokio::time::Instant::now() + TIDY_AFTER;
            let mut resting = tokio::time::interval(REST);
            let mut tidying = tokio::time::interval_at(first, TIDY_EVERY);
            loop {
                let tidy = tokio::select! {
                    () = news.notified() => false,
                    _ = resting.tick() => {
                        let Some(core) = core.upgrade() else { return };
                        core.journal.hurry();
                        false
                    }
                    _ = tidying.tick() => true,
                };
                // What happens together is written together.
                tokio::time::sleep(GATHER).await;
                let Some(core) = core.upgrade() else { return };
                let done = if tidy {
                    core.tidy_journal().await
                } else {
                    core.journal.write(&core.workspace.library).await
                };
                if let Err(error) = done {
                    tracing::error!(%error, "the journal of agents could not be kept");
                }
            }
        });
    }

    /// The MCP server for one connection of an agent. `connection` names its session, also after the
    /// connection was lost and made again.
    pub fn mcp_server(&self, connection: &str, profile: &str) -> Server<Serving> {
        Server::new(self.gateway.clone(), connection.to_owned(), profile.to_owned())
    }
}
