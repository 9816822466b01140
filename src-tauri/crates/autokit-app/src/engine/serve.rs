//! What agents reach over MCP: AutoKit's own tools, and everything in the library that can be called.
//!
//! | module | what it holds |
//! |---|---|
//! | [`own`] | the tools every session has: ask, discover, propose a card, report an outcome |
//! | [`journal`] | what agents did, written down beside their work |
//! | [`builtin`] | the tools of AutoKit that a search finds |
//! | [`report`] | what agents did, counted |
//! | [`arguments`] | arguments held against a tool's schema |
//! | [`capped`] | what a tool of somebody else may answer at most |

mod arguments;
mod builtin;
mod capped;
mod journal;
mod own;
mod report;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use autokit_agent::ask::NOTHING;
use autokit_gateway::{
    Call, Definition, Event, Found, Gateway, Hit, Refusal, Search, Server, SessionRecord, Settings, Target,
    Tier, Toolbox, What,
};
use autokit_library::{CardRecord, stamp};
use autokit_retrieve::Mode;
use autokit_retrieve::tiers::merge;
use autokit_toolcard::{CardId, CardKey, fields};
use autokit_tools::upstream::{Told, UpstreamError};
use jiff::SignedDuration;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::error::{ApiError, Result as ApiResult};

use super::cards::{first_sentence, shorten};
use super::servers::Upstream;
use super::{Core, Engine};
pub(super) use journal::Journal;

/// Characters of a description as an agent gets it: longer ones are for people.
const DESCRIPTION: usize = 1_000;
/// Characters of the one line of a result.
const LINE: usize = 160;
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
        if profile.is_empty() { PROFILE.to_owned() } else { format!("{PROFILE}/{profile}") }
    }

    /// The definition of a card's tool, if it can be called from here.
    async fn definition(&self, record: &CardRecord) -> Option<Definition> {
        let card = record.card();
        let upstream = Upstream::of(&card)?;
        self.core.server(&upstream.server).await.ok()?;
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
            annotations: card.object().get("annotations").cloned(),
        })
    }

    fn record(&self, definition: &Definition) -> Option<Arc<CardRecord>> {
        let key = CardKey { provider: definition.provider.clone(), name: definition.name.clone() };
        self.core.library.read(|replica| {
            let by_id = replica.get(&CardId::new(&definition.id));
            by_id.or_else(|| replica.by_key(&key)).cloned()
        })
    }

    async fn call_upstream(&self, upstream: &Upstream, call: Call) -> Result<CallToolResult, Refusal> {
        let core = &self.core;
        let server = core.server(&upstream.server).await.map_err(|error| refused(&error))?;
        let failed = |error: ApiError| Refusal::Failed(error.sentence());
        match core.live_digest(&server, &upstream.tool).await.map_err(failed)? {
            Some(digest) if digest == upstream.digest => {}
            Some(_) => {
                core.servers.pool.tell_changed(&server.name);
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
        let reach = core.reach(&server).await.map_err(|error| refused(&error))?;
        let (told, mut telling) = mpsc::unbounded_channel::<Told>();
        let to = call.progress;
        let passing = async move {
            while let Some(told) = telling.recv().await {
                let progress = autokit_gateway::Progress {
                    done: told.progress,
                    total: told.total,
                    message: told.message,
                };
                // The agent may be gone.
                let _ = to.send(progress);
            }
        };
        let pool = &core.servers.pool;
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
}

impl Toolbox for Serving {
    fn own_tools(&self) -> Vec<Definition> {
        own::tools()
    }

    async fn search(&self, search: Search) -> Result<Found, Refusal> {
        let began = Instant::now();
        let system = builtin::search(&search.query);
        let system_ms = began.elapsed().as_secs_f64() * 1e3;
        let began = Instant::now();
        let taste = Serving::taste(&search.profile);
        let ranked = self.core.rank(&search.query, Mode::Hybrid, search.limit as u32, Some(&taste)).await;
        let (hits, mode) = ranked.map_err(|error| refused(&error))?;
        let mut found = Found::default();
        if let (Mode::Keyword, Some(why)) = (mode, self.core.words_alone()) {
            found.notes.push(format!("Found by words alone: {why}."));
        }
        let mut library = Vec::new();
        for hit in hits.into_iter().filter(|hit| hit.score >= search.threshold) {
            let Some(record) = self.core.found(&hit) else { continue };
            let card = record.card();
            let what = match self.definition(&record).await {
                Some(definition) => What::Callable(Box::new(definition)),
                None => What::Reference {
                    stub: card.stub().map(|stub| stub.code),
                    documentation: card.text(fields::DOCUMENTATION).map(str::to_owned),
                },
            };
            library.push(Hit {
                id: hit.id,
                name: record.key.name.clone(),
                provider: record.key.provider.clone(),
                line: shorten(&first_sentence(card.description()), LINE),
                tier: Tier::Library,
                score: hit.score,
                what,
            });
        }
        let library_ms = began.elapsed().as_secs_f64() * 1e3;
        found.took_ms = vec![(Tier::System, system_ms), (Tier::Library, library_ms)];
        // What every session has is no card and no built-in, so nothing has to be left out.
        let always: HashSet<String> = HashSet::new();
        found.hits = merge([system, library], |hit| hit.id.clone(), &always, search.limit);
        Ok(found)
    }

    async fn resolve(&self, definition: &Definition, _: &str) -> Result<Option<Definition>, Refusal> {
        if let Some(builtin) = builtin::find(&definition.id) {
            return Ok(Some(builtin.clone()));
        }
        let Some(record) = self.record(definition) else { return Ok(None) };
        Ok(self.definition(&record).await)
    }

    async fn call(&self, call: Call) -> Result<CallToolResult, Refusal> {
        let definition = match &call.tool {
            Target::Own(name) => {
                let name = name.clone();
                return self.call_own(&name, call).await;
            }
            Target::Discovered(definition) => definition.clone(),
        };
        if let Some(builtin) = builtin::find(&definition.id) {
            return builtin::call(&self.core, builtin, &call.arguments).await;
        }
        arguments::check(&definition.schema, &call.arguments).map_err(Refusal::NotMade)?;
        let gone = || Refusal::NotMade(format!("`{}` can no longer be called", definition.name));
        let record = self.record(&definition).ok_or_else(gone)?;
        let upstream = Upstream::of(&record.card()).ok_or_else(gone)?;
        self.call_upstream(&upstream, call).await
    }

    async fn alternatives(&self, definition: &Definition, profile: &str) -> Vec<String> {
        let search = Search {
            query: definition.description.clone(),
            limit: 4,
            threshold: NOTHING,
            profile: profile.to_owned(),
        };
        let found = self.search(search).await;
        let others = found.into_iter().flat_map(|found| found.hits);
        let callable = others.filter(|hit| hit.id != definition.id && matches!(hit.what, What::Callable(_)));
        callable.take(2).map(|hit| format!("\u{201c}{}\u{201d}", hit.name)).collect()
    }

    fn note(&self, session: &str, event: Event) {
        self.core.journal.note(session, &event, &self.core.options.clock);
    }

    fn keep(&self, session: SessionRecord, soon: bool) {
        self.core.journal.keep(session, soon);
    }

    async fn kept(&self, id: &str) -> Option<SessionRecord> {
        if let Some(record) = self.core.journal.kept(id) {
            return Some(record);
        }
        let text = match self.core.library.agent_session(id).await {
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
        let now = self.options.clock.now();
        let before = |hours: i64| {
            now.checked_sub(SignedDuration::from_hours(hours)).map_or_else(|_| String::new(), stamp)
        };
        let sessions = Settings::default().session_secs as i64 / 3600;
        self.journal.tidy(&self.library, &before(sessions), &before(KEPT_DAYS * 24)).await
    }
}

impl Engine {
    pub(super) fn gateway_of(core: &Arc<Core>) -> Gateway<Serving> {
        let clock = core.options.clock.clone();
        let settings = Settings { threshold: NOTHING, ..Settings::default() };
        Gateway::new(Serving { core: Arc::clone(core) }, settings, Arc::new(move || clock.now()))
    }

    /// Writes the journal of agents as long as this process lives, and forgets what is old.
    pub(super) fn keep_journal(&self) {
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
                let done =
                    if tidy { core.tidy_journal().await } else { core.journal.write(&core.library).await };
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
