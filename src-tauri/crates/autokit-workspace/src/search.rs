//! Search of the library's cards, without using the network.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_trait::async_trait;
use autokit_api::commands::{self, Ask, Context, Handle};
use autokit_api::{Answer, AskRequest, Candidate, SearchHit, SearchRequest, SearchResponse, Setting};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_facts::limits_not_in;
use autokit_search::{
    Hit, Mode, Opinion, Personal, Ranking, SearchError, SearchRequest as RankRequest, understood,
};
use autokit_toolcard::CardId;

use crate::background::in_background;
use crate::cards::{first_sentence, shorten, summary};
use crate::elapsed::ms_since;
use crate::models::{Model, Models};
use crate::personal::Learned;
use crate::workspace::{CachedSetting, Workspace};

/// Most results of one search.
const MAX_RESULTS: u32 = 200;
/// Longest query, in characters: each word is looked up.
const MAX_QUERY: usize = 10_000;

/// Ranks cards for all features. Clones share state.
#[derive(Clone, Debug)]
pub struct Search {
    workspace: Workspace,
    models: Models,
    profiles: Arc<Mutex<KnownProfiles>>,
    learned: Arc<CachedSetting<Learned>>,
}

/// What is known of each profile, cached.
#[derive(Debug, Default)]
struct KnownProfiles {
    by_name: HashMap<String, Arc<Personal>>,
    /// How often it changed. What was read while it did may be older, and is not cached.
    changes: u64,
}

/// Refuses a query that is too long.
///
/// # Errors
/// `bad_request`.
pub fn check_query(query: &str) -> Result<()> {
    if query.chars().nth(MAX_QUERY).is_none() {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::BadRequest,
        format!("the query has more than {MAX_QUERY} characters"),
        "Describe what you need in fewer words.",
    ))
}

impl Search {
    /// Ranks with the index of `models`.
    pub fn new(workspace: Workspace, models: Models) -> Search {
        let learned = Arc::new(CachedSetting::new(Setting::Personalization));
        Search { workspace, models, profiles: Arc::default(), learned }
    }

    /// Ranks cards, waiting until the model is loaded or known to be unavailable, so that the index is
    /// complete.
    pub async fn rank(&self, request: RankRequest) -> Result<Ranking> {
        if request.limit > MAX_RESULTS as usize {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{} results requested, but a search returns at most {MAX_RESULTS}", request.limit),
                "Request fewer.",
            ));
        }
        check_query(&request.query)?;
        let model = self.models.wait_until_ready().await;
        let searcher = Arc::clone(self.models.searcher());
        in_background(move || {
            searcher.search(&request).map_err(|error| match error {
                SearchError::EmptyQuery => {
                    ApiError::new(ErrorCode::BadRequest, error.to_string(), "Describe what you need.")
                }
                SearchError::NoModel => no_model(&model),
                SearchError::Embed(error) => error.into(),
                error => ApiError::internal(error.to_string()),
            })
        })
        .await
    }

    /// Returns the names of the cards with these ids, skipping deleted ones.
    pub fn card_names(&self, ids: &[String]) -> Vec<String> {
        self.workspace.library.read(|replica| {
            let name = |id: &String| Some(replica.get(&CardId::new(id))?.key.to_string());
            ids.iter().filter_map(name).collect()
        })
    }

    /// Returns what is known of a profile: its feedback on earlier answers, and what was learned from its use.
    pub async fn personal(&self, profile: &str) -> Result<Arc<Personal>> {
        let changes = {
            let known = self.profiles.lock().expect("no holder panics");
            if let Some(personal) = known.by_name.get(profile) {
                return Ok(Arc::clone(personal));
            }
            known.changes
        };
        // Searches work without it.
        let learned = self.learned().await.unwrap_or_else(|error| {
            tracing::error!(%error, "failed to read what was learned from use");
            Arc::default()
        });
        let feedback = self.workspace.library.feedback(profile).await?;
        let opinions = feedback.into_iter().map(|feedback| Opinion {
            question: feedback.question,
            card: feedback.card.to_string(),
            helpful: feedback.helpful,
        });
        let personal =
            Arc::new(Personal { opinions: opinions.collect(), adapter: learned.adapter_of(profile) });
        let mut known = self.profiles.lock().expect("no holder panics");
        if known.changes == changes {
            known.by_name.insert(profile.to_owned(), Arc::clone(&personal));
        }
        Ok(personal)
    }

    /// Drops what is cached of profiles, after feedback was added or something was learned.
    pub fn clear_profile_cache(&self) {
        let mut known = self.profiles.lock().expect("no holder panics");
        known.by_name.clear();
        known.changes += 1;
    }

    /// Returns what was learned from use.
    pub async fn learned(&self) -> Result<Arc<Learned>> {
        self.learned.read(&self.workspace).await
    }

    /// Stores what was learned from use; searches use it when this returns. The caller has to rule out concurrent
    /// writers.
    pub async fn set_learned(&self, learned: Learned) -> Result<()> {
        self.learned.write(&self.workspace, learned).await?;
        self.clear_profile_cache();
        Ok(())
    }

    /// Returns the card of a search result; `None` if it was deleted meanwhile.
    pub fn card_of(&self, hit: &Hit) -> Option<Arc<autokit_library::CardRecord>> {
        self.workspace.library.read(|replica| replica.get(&CardId::new(&hit.id)).cloned())
    }
}

fn no_model(model: &Model) -> ApiError {
    match &model.error {
        Some(error) => error.clone(),
        None => ApiError::new(
            ErrorCode::NoModel,
            "semantic search needs an embedding model, and none is installed",
            "Download one in Settings, Embedding model.",
        ),
    }
}

#[async_trait]
impl Handle<commands::Search> for Search {
    async fn handle(&self, context: &Context, request: SearchRequest) -> Result<SearchResponse> {
        let began = Instant::now();
        let ranking = self
            .rank(RankRequest {
                query: request.query.clone(),
                mode: request.mode.unwrap_or_default(),
                personal: self.personal(&context.author).await?,
                limit: request.limit.unwrap_or(10) as usize,
                ..RankRequest::default()
            })
            .await?;
        let results = ranking
            .hits
            .into_iter()
            .filter_map(|hit| {
                let record = self.card_of(&hit)?;
                Some(SearchHit {
                    name: record.key.name.clone(),
                    provider: record.key.provider.clone(),
                    description: shorten(record.card().description(), 240),
                    id: record.id.clone(),
                    score: hit.score,
                    parts: hit.parts,
                })
            })
            .collect();
        Ok(SearchResponse {
            query: request.query,
            mode: ranking.mode,
            verdict: ranking.verdict,
            confidence: ranking.confidence,
            results,
            also_named: self.card_names(&ranking.also_named),
            constraints: ranking.constraints,
            took_ms: ms_since(began),
        })
    }
}

#[async_trait]
impl Handle<Ask> for Search {
    async fn handle(&self, context: &Context, request: AskRequest) -> Result<Answer> {
        let began = Instant::now();
        let ranking = self
            .rank(RankRequest {
                query: request.question.clone(),
                personal: self.personal(&context.author).await?,
                excluded: request.exclude.iter().map(ToString::to_string).collect(),
                limit: request.limit.unwrap_or(5) as usize,
                ..RankRequest::default()
            })
            .await?;
        let checks = self.workspace.library.checks().await?;
        let candidates: Vec<Candidate> = ranking
            .hits
            .into_iter()
            .filter_map(|hit| {
                let record = self.card_of(&hit)?;
                let card = record.card();
                let summary = summary(&record, &checks);
                Some(Candidate {
                    limits: limits_not_in(card.description(), &[&summary.description]),
                    card: summary,
                    sentence: first_sentence(card.description()),
                    stub: card.stub(),
                    score: hit.score,
                    parts: hit.parts,
                })
            })
            .collect();
        let mut notes =
            vec!["Answered locally: keyword and semantic search, without a language model.".to_owned()];
        if let (Mode::Keyword, Some(why)) = (ranking.mode, self.models.keyword_only_reason()) {
            notes = vec![format!("Keyword search only: {why}.")];
        }
        notes.extend(understood(&ranking.constraints));
        Ok(Answer {
            question: request.question,
            verdict: ranking.verdict,
            confidence: ranking.confidence,
            candidates,
            notes,
            searched: self.workspace.library.read(|replica| replica.len() as u32),
            took_ms: ms_since(began),
        })
    }
}
