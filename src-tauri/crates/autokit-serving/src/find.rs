//! Search for agents, in the local tiers: tools assigned to the agent's profile, AutoKit's built-in tools,
//! and the library (Kaman, section 4.2).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use autokit_agent::rerank::{CANDIDATES, Candidate};
use autokit_gateway::{Hit, HitKind, Refusal, Search, SearchResults, Tier};
use autokit_library::CardRecord;
use autokit_search::tiers::{KeywordQuery, merge};
use autokit_search::{Mode, NameMatch, SearchRequest, understood};
use autokit_toolcard::{CardId, fields};
use autokit_workspace::cards::MAX_LINE_CHARS;
use autokit_workspace::cards::{first_sentence, shorten};
use autokit_workspace::elapsed::ms_since;
use autokit_workspace::models::Models;
use autokit_workspace::search::Search as CardSearch;

use crate::assistant::Assistant;
use crate::builtin;
use crate::profiles::{ResolvedScope, profile_of};
use crate::refusal::refused;
use crate::tools::CallableTools;

/// Score from which a card assigned to a profile ranks before all others: more than one shared word in its
/// description.
const EXPERT_MIN_SCORE: f32 = 0.4;
/// Name under which agents' feedback is stored.
const PROFILE: &str = "agents";

/// Returns the name under which the feedback of a profile's agents is stored.
pub fn feedback_profile(profile: &str) -> String {
    let profile = profile_of(profile);
    if profile.is_empty() { PROFILE.to_owned() } else { format!("{PROFILE}/{profile}") }
}

/// Most characters of a description that the language model sees.
const MAX_DESCRIPTION: usize = 240;

/// A card that was found.
#[derive(Clone)]
struct Ranked {
    hit: autokit_search::Hit,
    record: Arc<CardRecord>,
}

/// What is found in the library.
struct FoundCards {
    /// Best first.
    hits: Vec<Hit>,
    /// Ids of the cards the query names exactly.
    named: HashSet<String>,
    /// Notes on the cards that find what others take, by id.
    lookups: HashMap<String, String>,
}

impl Ranked {
    fn is_named(&self) -> bool {
        self.hit.parts.name_match == Some(NameMatch::Exact)
    }
}

/// Searches tools for agents.
#[derive(Clone, Debug)]
pub struct ToolSearch {
    tools: CallableTools,
    cards: CardSearch,
    models: Models,
    assistant: Arc<dyn Assistant>,
}

impl ToolSearch {
    /// Creates a search over these tools, which ranks cards with `cards` and has `assistant` rerank them.
    pub fn new(
        tools: CallableTools,
        cards: CardSearch,
        models: Models,
        assistant: Arc<dyn Assistant>,
    ) -> ToolSearch {
        ToolSearch { tools, cards, models, assistant }
    }

    /// Reorders what is found as the language model says, if one is chosen. Cards the query names, and those that find
    /// what others take, keep their places: the model does not see why they are there.
    async fn rerank(&self, query: &str, budget: Duration, hits: &mut [Ranked], notes: &mut Vec<String>) {
        let places: Vec<usize> = (0..hits.len())
            .filter(|at| hits[*at].hit.parts.name_match.is_none() && hits[*at].hit.parts.finds.is_none())
            .collect();
        if places.len() < 2 {
            return;
        }
        let candidate = |Ranked { hit, record }: &Ranked| Candidate {
            id: hit.id.clone(),
            name: record.key.name.clone(),
            description: shorten(record.card().description(), MAX_DESCRIPTION),
            score: hit.score,
        };
        let candidates: Vec<Candidate> = places.iter().map(|at| candidate(&hits[*at])).collect();
        match self.assistant.rerank(query, &candidates, budget).await {
            None => {}
            Some(Ok(order)) => {
                let reranked: Vec<Ranked> = order.into_iter().map(|at| hits[places[at]].clone()).collect();
                for (place, ranked) in places.into_iter().zip(reranked) {
                    hits[place] = ranked;
                }
            }
            Some(Err(error)) => notes.push(format!("Not reranked: {error}.")),
        }
    }

    async fn hit(&self, record: &CardRecord, tier: Tier, score: f32) -> Hit {
        let card = record.card();
        let kind = match self.tools.definition(record).await {
            Some(definition) => HitKind::Callable(Box::new(definition)),
            None => HitKind::Reference {
                stub: card.stub().map(|stub| stub.code),
                documentation: card.text(fields::DOCUMENTATION).map(str::to_owned),
            },
        };
        Hit {
            id: record.id.to_string(),
            name: record.key.name.clone(),
            provider: record.key.provider.clone(),
            summary: shorten(&first_sentence(card.description()), MAX_LINE_CHARS),
            tier,
            score,
            kind,
        }
    }

    /// Returns the cards assigned to a profile that match a query, best first.
    async fn experts(&self, scoped: &ResolvedScope, query: &str, limit: usize) -> Vec<Hit> {
        let query = KeywordQuery::new(query);
        let mut matching: Vec<(&CardId, f32)> =
            scoped.experts.iter().map(|(id, tool)| (id, query.expert(tool))).collect();
        matching.retain(|(_, score)| *score >= EXPERT_MIN_SCORE);
        matching.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut hits = Vec::new();
        for (id, score) in matching.into_iter().take(limit) {
            let record = self.tools.workspace.library.read(|replica| replica.get(id).cloned());
            // Deleted meanwhile otherwise.
            if let Some(record) = record {
                hits.push(self.hit(&record, Tier::Expert, score).await);
            }
        }
        hits
    }

    /// Returns what is found in the library.
    async fn library(
        &self,
        search: &Search,
        rerank: Duration,
        scoped: &ResolvedScope,
        found: &mut SearchResults,
    ) -> Result<FoundCards, Refusal> {
        let personal = self.cards.personal(&feedback_profile(&search.profile)).await;
        let ranking = self.cards.rank(SearchRequest {
            query: search.query.clone(),
            allowed: scoped.allowed.clone(),
            personal: personal.map_err(|error| refused(&error))?,
            limit: if rerank.is_zero() { search.limit } else { search.limit.max(CANDIDATES) },
            ..SearchRequest::default()
        });
        let ranking = ranking.await.map_err(|error| refused(&error))?;
        if let (Mode::Keyword, Some(why)) = (ranking.mode, self.models.keyword_only_reason()) {
            found.notes.push(format!("Keyword search only: {why}."));
        }
        found.notes.extend(understood(&ranking.constraints));
        if !ranking.also_named.is_empty() {
            let names = self.cards.card_names(&ranking.also_named).join(", ");
            found.notes.push(format!("The query also names: {names}."));
        }
        let mut hits: Vec<Ranked> = Vec::new();
        for hit in ranking.hits {
            // Deleted meanwhile otherwise.
            let Some(record) = self.cards.card_of(&hit) else { continue };
            let ranked = Ranked { hit, record };
            if ranked.hit.score >= search.threshold || ranked.is_named() {
                hits.push(ranked);
            }
        }
        if !rerank.is_zero() {
            self.rerank(&search.query, rerank, &mut hits, &mut found.notes).await;
            let is_named = hits.iter().take_while(|hit| hit.is_named()).count();
            hits.truncate(search.limit.max(is_named));
        }
        let (mut library, mut named, mut lookups) = (Vec::new(), HashSet::new(), HashMap::new());
        for ranked in hits {
            let Ranked { hit, record } = &ranked;
            if let Some(thing) = &hit.parts.finds {
                lookups.insert(hit.id.clone(), format!("“{}” looks up {thing} IDs.", record.key.name));
            }
            library.push(self.hit(record, Tier::Library, hit.score).await);
            if ranked.is_named() {
                named.insert(hit.id.clone());
            }
        }
        Ok(FoundCards { hits: library, named, lookups })
    }

    /// Searches the local tiers.
    pub(crate) async fn find(
        &self,
        search: &Search,
        scoped: &ResolvedScope,
    ) -> Result<SearchResults, Refusal> {
        let mut found = SearchResults::default();
        let began = Instant::now();
        let experts = self.experts(scoped, &search.query, search.limit).await;
        if !scoped.experts.is_empty() {
            found.took_ms.push((Tier::Expert, ms_since(began)));
        }
        let began = Instant::now();
        let (mut system, mut named) = builtin::search(&search.query);
        system.retain(|hit| scoped.may_call(&hit.id, &hit.name, &hit.provider));
        found.took_ms.push((Tier::System, ms_since(began)));
        let began = Instant::now();
        // Where experts fill the response, nothing is gained by reranking what comes after them.
        let rerank = if experts.len() < search.limit { search.rerank } else { Duration::ZERO };
        let library = self.library(search, rerank, scoped, &mut found).await?;
        found.took_ms.push((Tier::Library, ms_since(began)));
        named.extend(library.named);
        let all = merge([experts, system, library.hits], |hit| hit.id.clone(), &search.always, usize::MAX);
        // Tools that the query names are kept, however many results rank before them.
        let is_kept = |at: usize, hit: &Hit| at < search.limit || named.contains(&hit.id);
        found.hits =
            all.into_iter().enumerate().filter(|(at, hit)| is_kept(*at, hit)).map(|(_, hit)| hit).collect();
        let lookups = found.hits.iter().filter_map(|hit| library.lookups.get(&hit.id));
        found.notes.extend(lookups.cloned());
        Ok(found)
    }
}
