//! Agent sessions: runs their turns, waits for them, cancels them and records feedback.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autokit_agent::ask::graph::{Outcome, Step};
use autokit_agent::ask::{MAX_CANDIDATES, MODEL_IDLE_TIMEOUT, Phase, Question, StepEvent, with_idle_timeout};
use autokit_agent::discover::{Discovered, Finding, Trace};
use autokit_api::commands::{
    CancelSession, Context, GetSession, GiveFeedback, Handle, ProposeFinding, StartAsk, StartDiscover,
    WaitSession,
};
use autokit_api::{
    AddFinding, AgentQuestion, AnswerFeedback, FeedbackRequest, MemoryHit, MemoryKind, ProposalDetail,
    Session, SessionRef, SessionWait, Starter, Turn, TurnKind, TurnState,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::Feedback;
use autokit_toolcard::{Author, CardId, Timestamp};
use autokit_workspace::models::Models;
use autokit_workspace::providers::Providers;
use autokit_workspace::search::{Search, check_query};
use autokit_workspace::workspace::Workspace;

use crate::library_retriever::{AgentCaller, DEADLINE, DiscoveryCache, LibraryRetriever};
use crate::review::Proposals;
use crate::sessions::{SessionHandle, Sessions, running};
use crate::starter_code::{starter_code, variables_of};

/// How long `sessions_wait` waits for a change before it returns the session as it is.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Documents and code that people added, as the agent reads them.
#[async_trait]
pub trait AddedSources: std::fmt::Debug + Send + Sync {
    /// Returns the pieces that bear on a question, best first; none if none do.
    ///
    /// # Errors
    /// When the database or the model fails.
    async fn cite(&self, question: &str) -> Result<Vec<MemoryHit>>;

    /// Searches documents or code, best first; nothing if none were added.
    ///
    /// # Errors
    /// When the database or the model fails.
    async fn search(&self, kind: MemoryKind, query: &str, limit: usize) -> Result<Vec<MemoryHit>>;
}

/// The agent, its sessions and their dependencies. Clones share state.
#[derive(Clone, Debug)]
pub struct Agent {
    pub(crate) workspace: Workspace,
    pub(crate) models: Models,
    pub(crate) search: Search,
    pub(crate) providers: Providers,
    proposals: Proposals,
    pub(crate) added: Arc<dyn AddedSources>,
    /// Sessions in memory, running or finished.
    pub sessions: Arc<Sessions>,
    pub(crate) discovery: Arc<DiscoveryCache>,
}

impl Agent {
    /// Creates an agent without sessions.
    pub fn new(
        workspace: Workspace,
        models: Models,
        search: Search,
        providers: Providers,
        proposals: Proposals,
        added: Arc<dyn AddedSources>,
    ) -> Agent {
        let (sessions, discovery) = (Arc::default(), Arc::default());
        Agent { workspace, models, search, providers, proposals, added, sessions, discovery }
    }

    /// Runs a turn until it is done, fails or is cancelled, and stores the session.
    pub async fn run_turn(self, entry: SessionHandle, at: usize, caller: AgentCaller) {
        let began = Instant::now();
        // Polled first, so that a turn cancelled before it started does nothing.
        let outcome = tokio::select! {
            biased;
            () = entry.cancel.cancelled() => Err(ApiError::cancelled()),
            outcome = self.turn(&entry, at, caller) => outcome,
        };
        let ms = began.elapsed().as_millis().min(u128::from(u32::MAX)) as u32;
        self.change(&entry, |session| {
            let turn = &mut session.turns[at];
            turn.ms = ms;
            match outcome {
                Ok(()) => turn.state = TurnState::Done,
                Err(error) => {
                    let cancelled = error.code == ErrorCode::Cancelled;
                    turn.state = if cancelled { TurnState::Cancelled } else { TurnState::Failed };
                    turn.error = (!cancelled).then_some(error);
                }
            }
        });
        if let Err(error) = self.save_session(&entry).await {
            tracing::warn!(%error, "failed to save a session");
        }
    }

    async fn turn(&self, entry: &SessionHandle, at: usize, caller: AgentCaller) -> Result<()> {
        let session = entry.state.borrow().clone();
        let turn = &session.turns[at];
        let clock = self.workspace.clock.clone();
        let now = move || clock.stamp();
        let mut on = |event: StepEvent| self.change(entry, |session| session.turns[at].events.push(event));
        if turn.kind == TurnKind::Discover {
            let found = self.discover(&turn.asked, &now, &mut on).await?;
            self.change(entry, |session| session.turns[at].discovered = Some(found));
            return Ok(());
        }
        if turn.kind == TurnKind::Research {
            return self.research(entry, at, &caller).await;
        }
        let mut question = build_question(&session.turns[..=at]);
        question.candidates = caller.candidates;
        let mut deps = self.deps().await?;
        if !caller.web {
            deps.web = None;
        }
        let cites = caller.documents;
        let retriever = LibraryRetriever { agent: self, caller };
        let mut answer = deps.ask(&retriever, &question, &now, &mut on).await?;
        if cites {
            match self.added.cite(&question.full_text()).await {
                Ok(documents) => self.change(entry, |session| session.turns[at].documents = documents),
                // An answer without them is better than none.
                Err(error) => answer.notes.push(format!("Documents were not searched: {}.", error.message)),
            }
        }
        // Services that are chosen in Settings but unavailable are reported with the answer too.
        for missing in &self.providers.services().missing {
            answer.notes.push(format!("Unavailable: {} {}", missing.sentence(), missing.remedy));
        }
        self.change(entry, |session| session.turns[at].answer = Some(answer));
        Ok(())
    }

    async fn discover(
        &self,
        need: &str,
        now: &(dyn Fn() -> Timestamp + Send + Sync),
        on: &mut (dyn FnMut(StepEvent) + Send),
    ) -> Result<Discovered> {
        let Some(web) = self.web().await? else {
            let services = self.providers.services();
            if let Some(missing) =
                services.missing.last().filter(|_| services.settings.search.kind.is_chosen())
            {
                return Err(missing.clone());
            }
            return Err(ApiError::new(
                ErrorCode::NoSearch,
                "no search service is configured",
                "Choose one in Settings, Web search; DuckDuckGo needs no API key.",
            ));
        };
        let services = self.providers.services();
        let began = Instant::now();
        let event = |phase: Phase, text: String, model: Option<String>, tokens: (u32, u32)| StepEvent {
            step: Step::Web,
            phase,
            text,
            model,
            tokens,
            ms: began.elapsed().as_millis() as u32,
        };
        on(event(Phase::Start, "Searching the web".to_owned(), None, (0, 0)));
        let mut trace = |trace: Trace| on(event(Phase::Trace { trace }, String::new(), None, (0, 0)));
        let large = services.large.as_ref().map(|large| with_idle_timeout(large, MODEL_IDLE_TIMEOUT));
        let model = large.as_ref().map(|large| (large, DEADLINE / 2));
        let work = Box::pin(web.discover(model, &services.prompts, need, now, &mut trace));
        let search = tokio::time::timeout(DEADLINE, work)
            .await
            .unwrap_or(Err(autokit_agent::Error::Deadline(DEADLINE.as_secs())))?;
        let nothing = search.found.findings.is_empty() && search.found.substitute.is_none();
        let outcome = if nothing { Outcome::Nothing } else { Outcome::Found };
        let tokens = (search.usage.input as u32, search.usage.output as u32);
        on(event(Phase::Result { outcome }, search.found.summary(), search.model, tokens));
        Ok(search.found)
    }

    /// Generates starter code for a use case: with the large model, leaving out what the card and its page
    /// do not support, or else the card's own stub.
    async fn starter(&self, card: &CardId, question: &str, use_case: &str) -> Result<Option<Starter>> {
        let record = self.workspace.library.card(card)?;
        let by_rules = starter_code(&record.card());
        let stub = record.card().stub();
        let page = self.workspace.library.page(card).await?;
        let services = self.providers.services();
        if let Some(large) = &services.large {
            let passages: Vec<String> = page
                .iter()
                .flat_map(|page| page.chunks.iter().take(12))
                .map(autokit_workspace::page_vectors::passage)
                .collect();
            let use_case_text = format!("{question}: {use_case}");
            let body = record.body.to_string();
            let request = autokit_agent::ask::starter(
                large,
                &services.prompts,
                &use_case_text,
                &body,
                stub.as_ref(),
                &passages,
            );
            let timeout = DEADLINE / 2;
            let late = |_| {
                let host = "the language model".to_owned();
                Err(autokit_llm::Error::Timeout { host, after: timeout }.into())
            };
            match tokio::time::timeout(timeout, request).await.unwrap_or_else(late) {
                Ok((code, removed)) if !code.code.is_empty() => {
                    let model = Some(large.config().model.clone());
                    let install = by_rules.and_then(|code| code.install);
                    let variables = variables_of(&code.language, &code.code);
                    let (language, code) = (code.language, code.code);
                    return Ok(Some(Starter { language, code, install, variables, removed, model }));
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::info!(%error, "failed to generate starter code; using the code of the card");
                }
            }
        }
        Ok(by_rules.map(|starter| {
            let comment = match starter.language.as_str() {
                "typescript" | "javascript" => "//",
                _ => "#",
            };
            let use_case = use_case.split_whitespace().collect::<Vec<_>>().join(" ");
            if use_case.is_empty() || starter.language == "json" {
                return starter;
            }
            Starter { code: format!("{comment} {use_case}\n{}", starter.code), ..starter }
        }))
    }
}

/// Builds the question of the last turn: the text of the most recent [`TurnKind::Ask`], refined by the
/// negative feedback given since, and without the tools that feedback rejected.
fn build_question(turns: &[Turn]) -> Question {
    let start = turns.iter().rposition(|turn| turn.kind == TurnKind::Ask).unwrap_or(0);
    let mut question = Question { text: turns[start].asked.clone(), ..Question::default() };
    let mut reasons = Vec::new();
    for turn in &turns[start..] {
        if let Some(feedback) = turn.said.as_ref().filter(|feedback| !feedback.helpful) {
            if !feedback.text.trim().is_empty() {
                reasons.push(feedback.text.trim().to_owned());
            }
            let Some(answer) = &turn.answer else { continue };
            if let Some(tool) = &answer.tool {
                question.exclude.push(tool.clone());
            } else {
                // Without a library tool, the first web finding was the recommendation. The others stay, because the
                // feedback may point at one of them.
                let first = answer.findings.first().or(answer.substitute.as_deref());
                question.rejected.extend(first.cloned());
            }
        }
    }
    question.refinement = Some(reasons.join("; ")).filter(|text| !text.is_empty());
    question
}

#[async_trait]
impl Handle<StartAsk> for Agent {
    async fn handle(&self, context: &Context, request: AgentQuestion) -> Result<SessionRef> {
        self.start_turn(context, request, TurnKind::Ask).await
    }
}

#[async_trait]
impl Handle<StartDiscover> for Agent {
    async fn handle(&self, context: &Context, request: AgentQuestion) -> Result<SessionRef> {
        self.start_turn(context, request, TurnKind::Discover).await
    }
}

impl Agent {
    async fn start_turn(
        &self,
        context: &Context,
        request: AgentQuestion,
        kind: TurnKind,
    ) -> Result<SessionRef> {
        check_query(&request.question)?;
        let candidates = request.limit.map(|limit| limit as usize);
        if candidates.is_some_and(|limit| !(1..=MAX_CANDIDATES).contains(&limit)) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("an answer has 1 to {MAX_CANDIDATES} candidates"),
                "Request a number in this range, or use search.",
            ));
        }
        let (entry, at) = self
            .start_turn_in(request.session.as_ref(), kind, &request.question, Some(&context.author))
            .await?;
        let session = entry.state.borrow().id.clone();
        let caller = AgentCaller { candidates, ..AgentCaller::person(&context.author) };
        let turn = self.clone().run_turn(entry, at, caller);
        self.sessions.spawn(turn);
        Ok(SessionRef { session })
    }
}

#[async_trait]
impl Handle<WaitSession> for Agent {
    async fn handle(&self, _: &Context, request: SessionWait) -> Result<Session> {
        let entry = self.session(&request.session).await?;
        let mut watch = entry.state.subscribe();
        // A timeout is not an error: the session is returned as it is.
        let _ =
            tokio::time::timeout(MAX_WAIT, watch.wait_for(|session| session.version > request.after)).await;
        let session = watch.borrow().clone();
        Ok(session)
    }
}

#[async_trait]
impl Handle<CancelSession> for Agent {
    async fn handle(&self, _: &Context, request: SessionRef) -> Result<Session> {
        let entry = self.session(&request.session).await?;
        entry.cancel.cancel();
        let mut watch = entry.state.subscribe();
        let session = watch.wait_for(|session| !running(session)).await;
        let session = session.map(|session| session.clone());
        session.or_else(|_| Ok(entry.state.borrow().clone()))
    }
}

#[async_trait]
impl Handle<GetSession> for Agent {
    async fn handle(&self, _: &Context, request: SessionRef) -> Result<Session> {
        let entry = self.session(&request.session).await?;
        let session = entry.state.borrow().clone();
        Ok(session)
    }
}

#[async_trait]
impl Handle<GiveFeedback> for Agent {
    async fn handle(&self, context: &Context, request: FeedbackRequest) -> Result<Session> {
        let entry = self.session(&request.session).await?;
        let session = entry.state.borrow().clone();
        let rated = session.turns.last().and_then(|turn| {
            let answer = turn.answer.as_ref()?;
            Some((session.turns.len() - 1, answer.tool.clone()))
        });
        let Some((at, tool)) = rated.filter(|_| !running(&session)) else {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "there is no answer to rate yet",
                "Ask a question first and wait for the answer.",
            ));
        };
        let found = session.turns[at]
            .answer
            .as_ref()
            .is_some_and(|answer| !answer.findings.is_empty() || answer.substitute.is_some());
        if request.helpful && tool.is_none() && !found {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "this answer did not recommend a tool",
                "Describe what is wrong with the answer, or rephrase the question.",
            ));
        }
        let question = build_question(&session.turns);
        if let Some(tool) = &tool {
            let feedback = Feedback {
                at: self.workspace.clock.stamp(),
                profile: context.author.clone(),
                question: question.text.clone(),
                card: tool.clone(),
                helpful: request.helpful,
                said: request.said.clone(),
            };
            self.workspace.library.put_feedback(&feedback, context.request.as_deref()).await?;
            self.search.clear_profile_cache();
        }
        let began = Instant::now();
        let starter = match &tool {
            Some(tool) if request.helpful => self.starter(tool, &question.text, &request.said).await?,
            _ => None,
        };
        let outcome = if request.helpful { Outcome::Helpful } else { Outcome::Unhelpful };
        let event = StepEvent {
            step: Step::Feedback,
            phase: Phase::Result { outcome },
            text: request.said.clone(),
            model: starter.as_ref().and_then(|starter| starter.model.clone()),
            tokens: (0, 0),
            ms: began.elapsed().as_millis() as u32,
        };
        self.change(&entry, |session| {
            let turn = &mut session.turns[at];
            turn.events.push(event);
            turn.said =
                Some(AnswerFeedback { helpful: request.helpful, text: request.said.clone(), starter });
        });
        if request.helpful {
            self.save_session(&entry).await?;
        } else {
            let refinement =
                if request.said.trim().is_empty() { question.text.as_str() } else { request.said.as_str() };
            let (entry, at) = self
                .start_turn_in(Some(&request.session), TurnKind::Refine, refinement, Some(&context.author))
                .await?;
            let turn = self.clone().run_turn(entry, at, AgentCaller::person(&context.author));
            self.sessions.spawn(turn);
        }
        let entry = self.session(&request.session).await?;
        let session = entry.state.borrow().clone();
        Ok(session)
    }
}

#[async_trait]
impl Handle<ProposeFinding> for Agent {
    async fn handle(&self, context: &Context, request: AddFinding) -> Result<ProposalDetail> {
        let entry = self.session(&request.session).await?;
        let found: Option<(usize, Finding)> = {
            let session = entry.state.borrow();
            session.turns.iter().enumerate().rev().find_map(|(at, turn)| {
                let recommended = turn
                    .answer
                    .iter()
                    .flat_map(|answer| answer.findings.iter().chain(answer.substitute.as_deref()))
                    .find(|finding| finding.url == request.url);
                let discovered = turn.discovered.as_ref().and_then(|found| found.finding(&request.url));
                recommended.or(discovered).map(|finding| (at, finding.clone()))
            })
        };
        let (at, finding) = found.ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                format!("{} was not found in this session", request.url),
                "Search the web again.",
            )
        })?;
        let by = Author("Discovery".to_owned());
        let proposal = self.proposals.propose(finding.draft, &by, context.request.as_deref()).await?.proposal;
        self.change(&entry, |session| {
            session.turns[at].events.push(StepEvent {
                step: Step::Add,
                phase: Phase::Result { outcome: Outcome::Proposed },
                text: format!("Proposal {} for {}", proposal.id, finding.name),
                model: None,
                tokens: (0, 0),
                ms: 0,
            });
        });
        self.save_session(&entry).await?;
        self.proposals.detail(proposal.id).await
    }
}
