//! Asking and searching, by what is on this machine alone.

use std::sync::Arc;
use std::time::Instant;

use autokit_api::commands::{Ask, Context, Handle, Search};
use autokit_api::{Answer, AskRequest, Candidate, ModelState, SearchHit, SearchRequest, SearchResponse};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_search::{Hit, Mode, Ranking, SearchError, SearchRequest as Request};
use autokit_toolcard::CardId;

use super::background::in_background;
use super::cards::{first_sentence, shorten, summary};
use super::{Core, Engine, Model, Vectors, since};

/// Results of one search at most.
const MOST_RESULTS: u32 = 200;

impl Core {
    /// Ranks cards, once the model is there or is known not to come: the index is filled then.
    pub(super) async fn search(&self, request: Request) -> Result<Ranking> {
        if request.limit > MOST_RESULTS as usize {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{} results were asked for; one search gives at most {MOST_RESULTS}", request.limit),
                "Ask for fewer.",
            ));
        }
        let model = self.model_settled().await;
        let searcher = Arc::clone(&self.searcher);
        in_background(move || {
            searcher.search(&request).map_err(|error| match error {
                SearchError::EmptyQuery => {
                    ApiError::new(ErrorCode::BadRequest, error.to_string(), "Say in words what you look for.")
                }
                SearchError::NoModel => no_model(&model),
                SearchError::Embed(error) => error.into(),
                error => ApiError::internal(error.to_string()),
            })
        })
        .await
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

    /// Names of the cards with these ids, as far as they are still there.
    pub(super) fn names_of(&self, ids: &[String]) -> Vec<String> {
        self.library.read(|replica| {
            let name = |id: &String| Some(replica.get(&CardId::new(id))?.key.to_string());
            ids.iter().filter_map(name).collect()
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
    async fn handle(&self, context: &Context, request: SearchRequest) -> Result<SearchResponse> {
        let began = Instant::now();
        let ranking = self
            .core
            .search(Request {
                query: request.query.clone(),
                mode: request.mode.unwrap_or_default(),
                depth: request.depth.unwrap_or_default(),
                opinions: self.core.opinions_of(&context.author).await?,
                limit: request.limit.unwrap_or(10) as usize,
                ..Request::default()
            })
            .await?;
        let results = ranking
            .hits
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
        Ok(SearchResponse {
            query: request.query,
            mode: ranking.mode,
            depth: ranking.depth,
            verdict: ranking.verdict,
            results,
            also_named: self.core.names_of(&ranking.also_named),
            took_ms: since(began),
        })
    }
}

impl Handle<Ask> for Engine {
    async fn handle(&self, context: &Context, request: AskRequest) -> Result<Answer> {
        let began = Instant::now();
        let ranking = self
            .core
            .search(Request {
                query: request.question.clone(),
                depth: request.depth.unwrap_or_default(),
                opinions: self.core.opinions_of(&context.author).await?,
                limit: request.limit.unwrap_or(5) as usize,
                ..Request::default()
            })
            .await?;
        let checks = self.core.library.checks().await?;
        let candidates: Vec<Candidate> = ranking
            .hits
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
        let mut notes =
            vec!["Answered on this machine: ranked by words and meaning, no language model.".to_owned()];
        if let (Mode::Keyword, Some(why)) = (ranking.mode, self.core.words_alone()) {
            notes = vec![format!("Ranked by words alone: {why}.")];
        }
        Ok(Answer {
            question: request.question,
            verdict: ranking.verdict,
            candidates,
            notes,
            searched: self.core.library.read(|replica| replica.len() as u32),
            took_ms: since(began),
        })
    }
}
