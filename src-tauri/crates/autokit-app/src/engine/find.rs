//! Asking and searching, by what is on this machine alone.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use autokit_agent::ask::{NOTHING, SURE, Verdict};
use autokit_embed::Embedder;
use autokit_retrieve::{Hit, Mode, Query, QueryPlan};
use autokit_toolcard::CardId;

use crate::api::{Answer, AskRequest, Candidate, ModelState, SearchHit, SearchRequest, SearchResponse};
use crate::commands::{Ask, Context, Handle, Search};
use crate::error::{ApiError, ErrorCode, Result};

use super::background::in_background;
use super::cards::{first_sentence, shorten, summary};
use super::{Core, Engine, Model, Vectors, since};

/// Results of one search at most.
const MOST_RESULTS: u32 = 200;

/// The vectors a plan asks for.
fn embed(embedder: &Embedder, plan: &QueryPlan) -> Result<Vec<Vec<f32>>> {
    plan.texts_to_embed().iter().map(|text| Ok(embedder.embed_query(text)?)).collect()
}

impl Core {
    /// Ranks cards, among those of `allowed` ids alone where it is given; falls back to keywords when there
    /// is no model, and says so by the mode it returns.
    pub(super) async fn rank(
        &self,
        text: &str,
        mode: Mode,
        limit: u32,
        profile: Option<&str>,
        allowed: Option<Arc<HashSet<String>>>,
    ) -> Result<(Vec<Hit>, Mode)> {
        if text.trim().is_empty() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "the query is empty",
                "Say in words what you look for.",
            ));
        }
        if limit > MOST_RESULTS {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{limit} results were asked for; one search gives at most {MOST_RESULTS}"),
                "Ask for fewer.",
            ));
        }
        // The index is filled when the model is there, or is known not to come; keywords are in it as well.
        let model = self.model_settled().await;
        let finder = self.finder.load_full();
        let mode = if finder.embedder.is_none() && mode != Mode::Keyword {
            if mode == Mode::Vector {
                return Err(no_model(&model));
            }
            Mode::Keyword
        } else {
            mode
        };
        let text = text.to_owned();
        let embedder = finder.embedder.clone().filter(|_| mode == Mode::Hybrid);
        // Feedback moves tools within these.
        let reach = if profile.is_some() { limit.max(20) } else { limit };
        let (mut hits, question) = in_background(move || {
            let plan = QueryPlan::new(&text);
            let vectors = match &finder.embedder {
                Some(embedder) if mode != Mode::Keyword => embed(embedder, &plan)?,
                _ => Vec::new(),
            };
            let among = allowed.map(|allowed| move |id: &str| allowed.contains(id));
            let filter = among.as_ref().map(|among| among as &(dyn Fn(&str) -> bool + Sync));
            let query = Query { plan: &plan, vectors: &vectors, mode, limit: reach as usize, filter };
            let hits = finder
                .read(|index| index.search(&query))
                .map_err(|error| ApiError::internal(error.to_string()))?;
            Ok((hits, vectors.into_iter().next()))
        })
        .await?;
        if let (Some(profile), Some(embedder), Some(question)) = (profile, embedder, question) {
            self.personalise(profile, &embedder, &question, &mut hits).await?;
        }
        hits.truncate(limit as usize);
        Ok((hits, mode))
    }

    /// Why there is no meaning to rank by, if there is none.
    pub(super) fn words_alone(&self) -> Option<String> {
        if self.embedder().is_some() {
            return None;
        }
        let model = self.model.borrow().clone();
        Some(match model.state {
            ModelState::Missing if matches!(self.options.vectors, Vectors::Off) => {
                "no embedding model is to be used".to_owned()
            }
            ModelState::Missing => format!("{} is not on this machine", model.name),
            ModelState::Failed => {
                model.error.map_or_else(|| "the model failed".to_owned(), |error| error.message)
            }
            ModelState::Loading | ModelState::Ready => "no model was chosen".to_owned(),
        })
    }

    pub(super) fn found(&self, hit: &Hit) -> Option<Arc<autokit_library::CardRecord>> {
        // A card deleted since the search ran is no answer.
        self.library.read(|replica| replica.get(&CardId::new(&hit.id)).cloned())
    }
}

fn no_model(model: &Model) -> ApiError {
    match &model.error {
        Some(error) => error.clone(),
        None => ApiError::new(
            ErrorCode::NoModel,
            "there is no embedding model to search by meaning with",
            "Fetch one in Settings, Embedding model.",
        ),
    }
}

impl Handle<Search> for Engine {
    async fn handle(&self, _: &Context, request: SearchRequest) -> Result<SearchResponse> {
        let began = Instant::now();
        let mode = request.mode.unwrap_or(Mode::Hybrid);
        let (hits, mode) =
            self.core.rank(&request.query, mode, request.limit.unwrap_or(10), None, None).await?;
        let results = hits
            .into_iter()
            .filter_map(|hit| {
                let record = self.core.found(&hit)?;
                Some(SearchHit {
                    name: record.key.name.clone(),
                    provider: record.key.provider.clone(),
                    description: shorten(record.card().description(), 240),
                    id: hit.id,
                    score: hit.score,
                    parts: hit.parts,
                })
            })
            .collect();
        Ok(SearchResponse { query: request.query, mode, results, took_ms: since(began) })
    }
}

impl Handle<Ask> for Engine {
    async fn handle(&self, context: &Context, request: AskRequest) -> Result<Answer> {
        let began = Instant::now();
        let (hits, mode) = self
            .core
            .rank(&request.question, Mode::Hybrid, request.limit.unwrap_or(5), Some(&context.author), None)
            .await?;
        let checks = self.core.library.checks().await?;
        let candidates: Vec<Candidate> = hits
            .into_iter()
            .filter_map(|hit| {
                let record = self.core.found(&hit)?;
                let card = record.card();
                Some(Candidate {
                    card: summary(&record, &checks),
                    sentence: first_sentence(card.description()),
                    stub: card.stub(),
                    score: hit.score,
                    parts: hit.parts,
                })
            })
            .collect();
        let verdict = match candidates.first().map(|best| best.score) {
            None => Verdict::Nothing,
            Some(score) if score < NOTHING => Verdict::Nothing,
            Some(score) if score < SURE => Verdict::Unsure,
            Some(_) => Verdict::Answered,
        };
        let mut notes =
            vec!["Answered on this machine: ranked by words and meaning, no language model.".to_owned()];
        if let (Mode::Keyword, Some(why)) = (mode, self.core.words_alone()) {
            notes = vec![format!("Ranked by words alone: {why}.")];
        }
        Ok(Answer {
            question: request.question,
            verdict,
            candidates,
            notes,
            searched: self.core.library.read(|replica| replica.len() as u32),
            took_ms: since(began),
        })
    }
}
