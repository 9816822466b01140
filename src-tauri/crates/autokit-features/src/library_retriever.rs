//! The library and the web, as the agent searches them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autokit_agent::ask::{AgentDeps, Citation, MODEL_IDLE_TIMEOUT, Retrieval, Retrieved, Retriever};
use autokit_agent::discover::{Discovery, KnownCard, Vocabulary};
use autokit_error::{ApiError, Result};
use autokit_search::{SearchRequest, ToolText};
use autokit_toolcard::{CardId, fields};
use autokit_workspace::background::in_background;

use crate::agent::Agent;

/// Time limit for one question; a web fallback with a slow model fits into it.
pub(crate) const DEADLINE: Duration = Duration::from_mins(5);

/// Data of the library that discovery needs, cached between questions.
#[derive(Debug, Default)]
pub(crate) struct DiscoveryCache {
    vocabulary: tokio::sync::Mutex<Option<(String, Arc<Vocabulary>)>>,
    known: Mutex<Option<(u64, Arc<Vec<KnownCard>>)>>,
}

/// On whose behalf the agent is asked, and with which limits.
#[derive(Clone, Debug)]
pub struct AgentCaller {
    /// The person whose feedback is taken into account.
    pub feedback_profile: String,
    /// Ids of the cards that may be found; `None` for all.
    pub allowed: Option<Arc<HashSet<String>>>,
    /// Whether the agent may fall back to the web.
    pub web: bool,
    /// Whether the person's documents are searched too.
    pub documents: bool,
    /// Whether the person's code is searched too, by a research.
    pub code: bool,
    /// Number of candidates that come with the answer; `None` for the default.
    pub candidates: Option<usize>,
    /// Most rounds on the web of a research; `None` for the default.
    pub rounds: Option<u32>,
}

impl AgentCaller {
    /// A person, who may find every card and use the web.
    pub(crate) fn person(name: &str) -> AgentCaller {
        let feedback_profile = name.to_owned();
        AgentCaller {
            feedback_profile,
            allowed: None,
            web: true,
            documents: true,
            code: true,
            candidates: None,
            rounds: None,
        }
    }
}

/// The library as the agent searches it on behalf of a caller.
pub(crate) struct LibraryRetriever<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) caller: AgentCaller,
}

#[async_trait]
impl Retriever for LibraryRetriever<'_> {
    async fn search(
        &self,
        query: &str,
        question: &str,
        exclude: &[CardId],
        limit: usize,
    ) -> autokit_agent::Result<Retrieval> {
        let failed = |error: ApiError| autokit_agent::Error::Library(error.message);
        let AgentCaller { feedback_profile, allowed, .. } = &self.caller;
        let ranking = self.agent.search.rank(SearchRequest {
            query: query.to_owned(),
            question: Some(question.to_owned()),
            allowed: allowed.clone(),
            excluded: exclude.iter().map(ToString::to_string).collect(),
            personal: self.agent.search.personal(feedback_profile).await.map_err(failed)?,
            limit,
            ..SearchRequest::default()
        });
        let ranking = ranking.await.map_err(failed)?;
        let thresholds = ranking.thresholds;
        let mut found = Vec::new();
        for hit in ranking.hits {
            let Some(record) = self.agent.search.card_of(&hit) else { continue };
            let card = record.card();
            let cited = match hit.parts.chunk {
                // Only the first few come with a passage to read; the passages of the rest are not shown.
                Some(at) if found.len() < 5 => self.agent.cite(&record.id, at).await.map_err(failed)?,
                _ => None,
            };
            found.push(Retrieved {
                id: record.id.clone(),
                name: card.name().to_owned(),
                description: card.description().to_owned(),
                body: card.to_json(),
                stub: card.stub(),
                callable: card.has_call(),
                score: hit.score,
                parts: hit.parts,
                cited,
            });
        }
        Ok(Retrieval {
            cards: found,
            thresholds,
            confidence: ranking.confidence,
            constraints: ranking.constraints,
        })
    }

    fn keyword_only_reason(&self) -> Option<String> {
        self.agent.models.keyword_only_reason()
    }

    fn is_word(&self, word: &str) -> bool {
        self.agent.models.embedder().is_none_or(|embedder| embedder.knows_word(word))
    }
}

impl Agent {
    /// Returns the chunk with this index of a card's page, as a citation.
    pub async fn cite(&self, card: &CardId, at: u32) -> Result<Option<Citation>> {
        let Some(page) = self.workspace.library.page(card).await? else { return Ok(None) };
        Ok(page.chunks.get(at as usize).map(|chunk| {
            let piece = crate::pages::piece(&page.found, chunk);
            Citation { card: card.clone(), title: chunk.path.join(" › "), url: piece.url, text: piece.text }
        }))
    }

    /// Returns words about tools with their embeddings of the current model.
    async fn vocabulary(&self) -> Result<Arc<Vocabulary>> {
        let Some(embedder) = self.models.embedder() else { return Ok(Arc::default()) };
        let mut cached = self.discovery.vocabulary.lock().await;
        if let Some((model, vocabulary)) = &*cached
            && model == embedder.id()
        {
            return Ok(Arc::clone(vocabulary));
        }
        let model = Arc::clone(&embedder);
        let vocabulary = Arc::new(in_background(move || crate::starter::vocabulary(&*model)).await?);
        *cached = Some((embedder.id().to_owned(), Arc::clone(&vocabulary)));
        Ok(vocabulary)
    }

    /// Returns the cards of the library in the form discovery needs.
    fn known(&self) -> Arc<Vec<KnownCard>> {
        let version = self.workspace.library_version();
        let mut cached = self.discovery.known.lock().expect("no holder panics");
        if let Some((at, known)) = &*cached
            && *at == version
        {
            return Arc::clone(known);
        }
        let records: Vec<_> = self.workspace.library.read(|replica| replica.iter().cloned().collect());
        let known = records.iter().map(|record| {
            let card = record.card();
            KnownCard {
                text: ToolText::from_card(record.id.to_string(), card.object()),
                documentation: card.text(fields::DOCUMENTATION).map(str::to_owned),
            }
        });
        let known = Arc::new(known.collect::<Vec<_>>());
        *cached = Some((version, Arc::clone(&known)));
        known
    }

    /// Returns web discovery as configured in Settings; `None` if no search service is chosen.
    pub(crate) async fn web(&self) -> Result<Option<Discovery>> {
        let services = self.providers.services();
        let Some(search) = services.search.clone() else { return Ok(None) };
        Ok(Some(Discovery {
            providers: vec![search],
            github: services.github.clone(),
            reader: services.page_reader(self.models.query_embedder()),
            vocabulary: self.vocabulary().await?,
            known: self.known(),
            preferred: services.settings.search.preferred_sources(),
            rejected: Vec::new(),
        }))
    }

    pub(crate) async fn deps(&self) -> Result<AgentDeps> {
        let services = self.providers.services();
        Ok(AgentDeps {
            small: services.small.clone(),
            large: services.large.clone(),
            web: self.web().await?,
            prompts: services.prompts.clone(),
            idle_timeout: MODEL_IDLE_TIMEOUT,
            deadline: DEADLINE,
        })
    }
}
