//! Finds a tool with a language model that searches and reads pages (ReAct).
//!
//! The model leads, but its findings are checked by the same rules as without it: only pages it opened count,
//! and only with a quote that occurs there.

use std::sync::Arc;
use std::time::Duration;

use autokit_llm::prompts::{self, Prompts};
use autokit_llm::{GaveUp, Model, Observation, React, Request, RunOutcome, Step, Tool, Toolbox, Usage};
use autokit_pages::{Opened, PageFeature, PagePart, ParsedRequest, WebTools, text_tool};
use autokit_search::{Mode, Query, QueryPlan, SearchIndex};
use autokit_toolcard::Timestamp;
use autokit_web::search::Hit;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CandidatePool, Discovered, Discovery, Finding, Trace};
use crate::ask::ground::Sources;
use crate::error::{Error, Result};
use crate::outlier::OUTLIER;

/// The tools available to the model.
struct Web<'a> {
    discovery: &'a Discovery,
    web: WebTools<'a>,
}

#[derive(Deserialize)]
struct PickedPage {
    url: String,
    quote: String,
    /// Whether its tool was not made for the request, but may be used in its place.
    #[serde(default)]
    substitute: bool,
}

impl Toolbox for Web<'_> {
    fn tools(&self) -> Vec<Tool> {
        let mut tools = self.web.tools();
        tools.push(text_tool("library", "Searches the library.", "query", "A few words."));
        if self.discovery.github.is_some() {
            tools.push(text_tool(
                "github",
                "Facts about repositories: stars, licence, topics, last change; of a single one also its newest release \
                 and the start of its README.",
                "query",
                "owner/name, or a few words.",
            ));
        }
        tools
    }

    async fn call(&self, name: &str, arguments: Value) -> Observation {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let outcome = match name {
            "github" => self.github(query).await,
            "library" => Ok(self.library(query)),
            _ => return self.web.call(name, arguments).await,
        };
        match outcome {
            Ok(text) => Observation { text, failed: false },
            Err(text) => Observation { text, failed: true },
        }
    }
}

impl Web<'_> {
    async fn github(&self, query: &str) -> std::result::Result<String, String> {
        let Some(github) = &self.discovery.github else { return Err("GitHub is turned off.".to_owned()) };
        let found = if query.matches('/').count() == 1 && !query.contains(' ') {
            let facts = github.facts(query, true).await.map_err(|error| error.to_string())?;
            serde_json::to_string_pretty(&facts)
        } else {
            let found = github.repositories(query, 5).await.map_err(|error| error.to_string())?;
            serde_json::to_string_pretty(&found)
        };
        found.map_err(|error| error.to_string())
    }

    fn library(&self, query: &str) -> String {
        let mut index = SearchIndex::new();
        let documents: Vec<_> = self.discovery.known.iter().map(|card| card.text.document(None)).collect();
        if index.upsert_all(&documents).is_err() {
            return "The library cannot be searched.".to_owned();
        }
        let plan = QueryPlan::new(query);
        let query = Query { plan: &plan, vectors: &[], mode: Mode::Keyword, limit: 5, filter: None };
        let lines: Vec<String> = index
            .search(&query)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|hit| self.discovery.known.iter().find(|card| card.text.id == hit.id))
            .map(|card| format!("{}: {}", card.text.name, card.text.description))
            .collect();
        if lines.is_empty() { "No similar tool in the library.".to_owned() } else { lines.join("\n") }
    }
}

/// Result of a model-led search.
#[derive(Debug)]
pub(super) struct ModelSearch {
    /// What was found, by the model or by the rules that took over.
    found: Discovered,
    /// Tokens used.
    usage: Usage,
    /// Why the model gave up, for people, if the rules took over.
    gave_up: Option<&'static str>,
}

/// Result of a web search for a need.
#[derive(Debug)]
pub struct WebSearchOutcome {
    /// What was found.
    pub found: Discovered,
    /// The model that led the search; `None` if it was rule-based.
    pub model: Option<String>,
    /// Tokens used.
    pub usage: Usage,
    /// Why the search was rule-based although there is a model.
    pub note: Option<String>,
}

impl Discovery {
    /// Searches for tools for a need: led by a model for at most `time_limit` if there is one; by rules if
    /// there is none or it fails.
    ///
    /// # Errors
    /// As [`Discovery::run`].
    pub async fn discover(
        &self,
        model: Option<(&Model, Duration)>,
        prompts: &Prompts,
        need: &str,
        now: &(dyn Fn() -> Timestamp + Send + Sync),
        on: &mut (dyn FnMut(Trace) + Send),
    ) -> Result<WebSearchOutcome> {
        let mut note = None;
        if let Some((model, time_limit)) = model {
            match tokio::time::timeout(time_limit, self.react(model, prompts, need, now, on)).await {
                Ok(Ok(search)) => {
                    let name = model.config().model.clone();
                    return Ok(WebSearchOutcome {
                        found: search.found,
                        model: search.gave_up.is_none().then_some(name),
                        usage: search.usage,
                        note: search.gave_up.map(|why| format!("the model {why}")),
                    });
                }
                Ok(Err(Error::Llm(error))) => note = Some(error.to_string()),
                Ok(Err(error)) => return Err(error),
                Err(_) => note = Some("the language model took too long".to_owned()),
            }
            if let Some(note) = &note {
                on(Trace::failure(format!("{note}; continuing with local rules")));
            }
        }
        let found = self.run(need, now, on).await?;
        Ok(WebSearchOutcome { found, model: None, usage: Usage::default(), note })
    }

    /// Lets a model search for tools for a need. If it gives up, the rules search instead.
    ///
    /// # Errors
    /// [`Error::Llm`] when the request to the model fails; otherwise as [`Discovery::run`].
    async fn react(
        &self,
        model: &Model,
        prompts: &Prompts,
        need: &str,
        now: &(dyn Fn() -> Timestamp + Send + Sync),
        on: &mut (dyn FnMut(Trace) + Send),
    ) -> Result<ModelSearch> {
        if self.providers.is_empty() {
            return Err(Error::NoSearch);
        }
        let sources = match self.preferred.as_slice() {
            [] => "the project's own documentation".to_owned(),
            sources => sources.join(", then "),
        };
        let rejected: Vec<&str> = self.rejected.iter().map(|finding| finding.url.as_str()).collect();
        let prompt = match rejected.as_slice() {
            [] => need.to_owned(),
            pages => format!("{need}\n\nTurned down already, find something else: {}", pages.join(", ")),
        };
        let request = Request {
            max_tokens: 2048,
            ..Request::new(prompts.fill(&prompts::DISCOVER, &[("sources", &sources)]), prompt)
        };
        let finish = Tool {
            name: "finish".to_owned(),
            description: "Hands in the pages that document a tool for the request, best first.".to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "pages": { "type": "array", "maxItems": 3, "items": {
                    "type": "object",
                    "properties": {
                        "url": { "type": "string" },
                        "quote": { "type": "string" },
                        "substitute": { "type": "boolean" },
                    },
                    "required": ["url", "quote"],
                } } },
                "required": ["pages"],
            }),
        };
        let web = Web { discovery: self, web: WebTools::new(&self.reader, &self.providers) };
        let (ended, usage) = React::default()
            .run(model, request, &web, &finish, |step| {
                on(match step {
                    Step::Thought(text) => Trace::thought(shorten(&text)),
                    Step::Action { tool, arguments } => {
                        Trace::action(shorten(&format!("{tool} {arguments}")))
                    }
                    Step::Observation(seen) if seen.failed => Trace::failure(shorten(&seen.text)),
                    Step::Observation(seen) => Trace::observation(shorten(&seen.text)),
                });
            })
            .await?;
        let (found, opened) = web.web.into_results();
        let picked: Vec<PickedPage> = match ended {
            RunOutcome::Answer(mut answer) => {
                let pages = answer.get_mut("pages").map(Value::take).unwrap_or_default();
                serde_json::from_value(pages).unwrap_or_default()
            }
            RunOutcome::GaveUp(cause) => {
                let reason = match cause {
                    GaveUp::Steps => "took too many steps",
                    GaveUp::Confused => "could not use the tools",
                    GaveUp::Circling => "kept repeating itself",
                };
                on(Trace::failure(format!("The model {reason}; continuing without it.")));
                let found = self.run(need, now, on).await?;
                return Ok(ModelSearch { found, usage, gave_up: Some(reason) });
            }
        };
        let mut pool = CandidatePool::with_hits(found);
        for Opened { requested_url, page } in &opened {
            let unknown = || Hit { title: String::new(), url: requested_url.clone(), snippet: String::new() };
            let hit = pool.found.get(requested_url).cloned().unwrap_or_else(unknown);
            pool.add_page(hit, now(), Arc::clone(page));
        }
        let pages: Vec<_> = pool.pages.iter().map(|page| Arc::clone(&page.page)).collect();
        self.reader.embed(&pages, PagePart::Pieces).await?;
        // Only pages the model opened count, with a quote that occurs there.
        let mut chosen: Vec<(String, bool)> = Vec::new();
        for pick in picked {
            let is_picked = |one: &&Opened| one.requested_url == pick.url || one.page.fetched.url == pick.url;
            match opened.iter().find(is_picked).map(|one| &one.page) {
                None => on(Trace::failure(format!("{} was not opened; skipped.", shorten(&pick.url)))),
                Some(page) if !Sources::new([page.text.as_str()]).contains(&pick.quote) => {
                    on(Trace::failure(format!("The quote is not on {}; skipped.", page.fetched.url)));
                }
                Some(page) => chosen.push((page.fetched.url.clone(), pick.substitute)),
            }
        }
        let vector = self.queries(vec![need.to_owned()]).await?.into_iter().next();
        let parts = ParsedRequest::of(need, self.reader.embedder.as_deref());
        let mut all = self.rank(&parts, vector.as_deref(), &pool)?;
        let best = all
            .findings
            .iter()
            .filter(|finding| !finding.marks.has(PageFeature::Another))
            .map(|finding| finding.marks.get(PageFeature::Rank))
            .fold(0.0, f32::max);
        let mut findings = Vec::new();
        let mut substitute = None;
        for (url, substitutes) in &chosen {
            let Some(at) = all.findings.iter().position(|finding| finding.url == *url) else {
                // `rank` drops only rejected findings; a page handed in twice is already in `findings`.
                if !findings.iter().any(|finding: &Finding| finding.url == *url) {
                    on(Trace::failure(format!("{url} was rejected; skipped.")));
                }
                continue;
            };
            let finding = all.findings.remove(at);
            if finding.marks.has(PageFeature::Another) {
                on(Trace::failure(format!("{url} is about a different product.")));
                all.dismissed.insert(0, finding);
            } else if finding.marks.get(PageFeature::Rank) < OUTLIER * best {
                // The model was talked into this page or mistook it: it read better ones.
                on(Trace::failure(format!("{url} does not match the request; skipped.")));
                all.dismissed.insert(0, finding);
            } else if !substitutes {
                findings.push(finding);
            } else if substitute.is_some() {
                all.dismissed.insert(0, finding);
            } else {
                on(Trace::thought(format!(
                    "{} was not made for this, but may be used in its place: {url}",
                    finding.name
                )));
                substitute = Some(Box::new(finding));
            }
        }
        all.dismissed.extend(std::mem::take(&mut all.findings));
        all.dismissed.truncate(super::CANDIDATES);
        all.preferred = self
            .preferred
            .iter()
            .find(|source| findings.first().is_some_and(|best: &Finding| pool.is_from(&best.url, source)))
            .cloned();
        if findings.is_empty() {
            all.substitute = substitute;
        } else {
            all.dismissed.splice(..0, substitute.map(|other| *other));
        }
        all.findings = findings;
        Ok(ModelSearch { found: all, usage, gave_up: None })
    }
}

fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 300 { line } else { line.chars().take(299).chain(['…']).collect() }
}
