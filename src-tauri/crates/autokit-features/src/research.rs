//! Researching a question: turns of the agent that search the library, documents, code and the web.

use std::time::Instant;

use async_trait::async_trait;
use autokit_agent::ask::graph::{Outcome, Step};
use autokit_agent::ask::{MODEL_IDLE_TIMEOUT, Phase, StepEvent, with_idle_timeout};
use autokit_agent::discover::Trace;
use autokit_agent::research::{
    DEFAULT_ROUNDS, LocalPassage, LocalSources, MAX_ROUNDS, Research, ResearchSource, Researcher, SourceKind,
};
use autokit_api::commands::{Context, Handle, StartResearch};
use autokit_api::{MemoryHit, MemoryKind, ResearchRequest, SessionRef, TurnKind};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_search::SearchRequest;
use autokit_toolcard::fields;

use crate::agent::Agent;
use crate::library_retriever::{AgentCaller, DEADLINE};
use crate::sessions::SessionHandle;

/// What the agent may read on this machine on behalf of a caller.
struct AllowedSources<'a> {
    agent: &'a Agent,
    caller: &'a AgentCaller,
}

#[async_trait]
impl LocalSources for AllowedSources<'_> {
    async fn search(
        &self,
        kind: SourceKind,
        query: &str,
        limit: usize,
    ) -> autokit_agent::Result<Vec<LocalPassage>> {
        let found = match kind {
            SourceKind::Library => self.cards(query, limit).await,
            SourceKind::Documents if self.caller.documents => {
                self.added(MemoryKind::Documents, query, limit).await
            }
            SourceKind::Code if self.caller.code => self.added(MemoryKind::Code, query, limit).await,
            SourceKind::Documents | SourceKind::Code | SourceKind::Web => Ok(Vec::new()),
        };
        found.map_err(|error| autokit_agent::Error::Library(error.message))
    }
}

impl AllowedSources<'_> {
    /// Returns the descriptions of cards, with the piece of their documentation that matches best.
    async fn cards(&self, query: &str, limit: usize) -> Result<Vec<LocalPassage>> {
        let search = &self.agent.search;
        let ranking = search
            .rank(SearchRequest {
                query: query.to_owned(),
                allowed: self.caller.allowed.clone(),
                personal: search.personal(&self.caller.feedback_profile).await?,
                limit,
                ..SearchRequest::default()
            })
            .await?;
        let mut found = Vec::new();
        for hit in ranking.hits {
            let Some(record) = search.card_of(&hit) else { continue };
            let card = record.card();
            let source = |location: String| ResearchSource {
                kind: SourceKind::Library,
                title: card.name().to_owned(),
                location,
                card: Some(record.id.clone()),
            };
            if !card.description().trim().is_empty() {
                let page = card.text(fields::DOCUMENTATION).unwrap_or_default();
                let location = if page.is_empty() { record.key.to_string() } else { page.to_owned() };
                let text = card.description().to_owned();
                found.push(LocalPassage { source: source(location), heading: Vec::new(), text, code: None });
            }
            if let Some(at) = hit.parts.chunk
                && let Some(cited) = self.agent.cite(&record.id, at).await?
            {
                let heading = vec![cited.title];
                found.push(LocalPassage { source: source(cited.url), heading, text: cited.text, code: None });
            }
        }
        Ok(found)
    }

    async fn added(&self, kind: MemoryKind, query: &str, limit: usize) -> Result<Vec<LocalPassage>> {
        let hits = self.agent.added.search(kind, query, limit).await?;
        Ok(hits.into_iter().map(|hit| added_passage(kind, hit)).collect())
    }
}

fn added_passage(kind: MemoryKind, hit: MemoryHit) -> LocalPassage {
    let (kind, title, code) = match (kind, hit.symbol) {
        (MemoryKind::Code, Some(symbol)) => (SourceKind::Code, symbol.name, Some(symbol.signature)),
        (MemoryKind::Code, None) => (SourceKind::Code, hit.title, None),
        (MemoryKind::Documents, _) => (SourceKind::Documents, hit.title, None),
    };
    let source = ResearchSource { kind, title, location: hit.citation, card: None };
    LocalPassage { source, heading: hit.heading, text: hit.text, code }
}

impl Agent {
    /// Runs the research of a turn, from where it stopped if it did. The state is stored after every round.
    pub(crate) async fn research(
        &self,
        entry: &SessionHandle,
        at: usize,
        caller: &AgentCaller,
    ) -> Result<()> {
        let (question, mut state) = {
            let session = entry.state.borrow();
            let turn = &session.turns[at];
            (turn.asked.clone(), turn.research.clone().unwrap_or_default())
        };
        self.models.wait_until_ready().await;
        let services = self.providers.services();
        let rounds = state.rounds + caller.rounds.unwrap_or(DEFAULT_ROUNDS);
        let web = caller.web && rounds > state.rounds;
        let providers = services.search.clone().filter(|_| web).into_iter().collect::<Vec<_>>();
        let search_is_chosen = services.settings.search.kind.is_chosen();
        state.notes = if !caller.web {
            vec!["The web was not searched: this profile may not reach all hosts.".to_owned()]
        } else if web && providers.is_empty() {
            vec![no_web(services.missing.last().filter(|_| search_is_chosen))]
        } else {
            Vec::new()
        };
        state.complete = false;
        let large = services.large.as_ref().map(|large| with_idle_timeout(large, MODEL_IDLE_TIMEOUT));
        let model = large.map(|large| (large, services.prompts.clone()));
        let reader = services.page_reader(self.models.query_embedder());
        let began = Instant::now();
        let event = |phase: Phase, text: String| StepEvent {
            step: Step::Web,
            phase,
            text,
            model: None,
            tokens: (0, 0),
            ms: began.elapsed().as_millis() as u32,
        };
        self.change(entry, |session| {
            session.turns[at].events.push(event(Phase::Start, "Researching".to_owned()));
            session.turns[at].research = Some(state.clone());
        });
        let mut researcher = Researcher::new(&question, reader, providers, model, rounds).await?;
        let local = AllowedSources { agent: self, caller };
        loop {
            let mut on = |trace: Trace| {
                let event = event(Phase::Trace { trace }, String::new());
                self.change(entry, |session| session.turns[at].events.push(event));
            };
            let step = researcher.step(&mut state, &local, &mut on);
            // A round that takes longer than a whole question may is stuck; what was found before it stays.
            let more = tokio::time::timeout(DEADLINE, step)
                .await
                .unwrap_or(Err(autokit_agent::Error::Deadline(DEADLINE.as_secs())))?;
            self.change(entry, |session| session.turns[at].research = Some(state.clone()));
            if !more {
                break;
            }
            self.save_session(entry).await?;
        }
        let outcome = if state.answered { Outcome::Found } else { Outcome::Nothing };
        let mut result = event(Phase::Result { outcome }, state.outcome());
        result.model.clone_from(&state.model);
        result.tokens = (researcher.usage.input as u32, researcher.usage.output as u32);
        self.change(entry, |session| session.turns[at].events.push(result));
        Ok(())
    }
}

/// Says why the web is not searched.
fn no_web(missing: Option<&ApiError>) -> String {
    match missing {
        Some(error) => format!("The web was not searched: {} {}", error.sentence(), error.remedy),
        None => {
            "The web was not searched: no search service is configured. Choose one in Settings, Web search."
                .to_owned()
        }
    }
}

#[async_trait]
impl Handle<StartResearch> for Agent {
    async fn handle(&self, context: &Context, request: ResearchRequest) -> Result<SessionRef> {
        if request.rounds.is_some_and(|rounds| rounds > MAX_ROUNDS) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("at most {MAX_ROUNDS} rounds at a time"),
                "Resume afterwards if that is not enough.",
            ));
        }
        let (question, earlier) = match &request.resume {
            Some(id) => {
                let entry = self.session(id).await?;
                let session = entry.state.borrow();
                let last = session.turns.iter().rev().find(|turn| turn.kind == TurnKind::Research);
                let last = last.ok_or_else(|| {
                    let message = format!("session {:?} has no research to resume", id.as_str());
                    ApiError::new(ErrorCode::NotFound, message, "Ask the question again.")
                })?;
                (last.asked.clone(), last.research.clone())
            }
            None => (request.question.clone(), None::<Research>),
        };
        let author = Some(context.author.as_str());
        let started = self.start_turn_in(request.resume.as_ref(), TurnKind::Research, &question, author);
        let (entry, at) = started.await?;
        self.change(&entry, |session| session.turns[at].research = earlier);
        let session = entry.state.borrow().id.clone();
        let caller = AgentCaller { rounds: request.rounds, ..AgentCaller::person(&context.author) };
        self.sessions.spawn(self.clone().run_turn(entry, at, caller));
        Ok(SessionRef { session })
    }
}
