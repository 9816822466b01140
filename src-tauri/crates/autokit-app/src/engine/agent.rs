//! Sessions with the agent: started, watched, stopped, kept, reopened.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use autokit_agent::ask::graph::{Outcome, Step};
use autokit_agent::ask::{Citation, House, Means, Phase, Question, Retrieved, StepEvent};
use autokit_agent::discover::{Discovered, Discovery, Finding, Known, Readings, Trace, Vocabulary};
use autokit_library::{Feedback, SessionNote};
use autokit_retrieve::eval::ToolText;
use autokit_retrieve::{Hit, Mode};
use autokit_toolcard::{Author, CardId, fields};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::api::{
    AddFinding, AgentQuestion, Event, FeedbackRequest, Nothing, PagePiece, ProposalDetail, Said, Session,
    SessionRef, SessionWait, Starter, Turn, TurnKind, TurnState,
};
use crate::commands::{
    CancelSession, Context, GetSession, GiveFeedback, Handle, ListSessions, ProposeFinding, StartAsk,
    StartDiscover, WaitSession,
};
use crate::error::{ApiError, ErrorCode, Result};

use super::finder::dense_text;
use super::rerank::REACH;
use super::transfer::in_background;
use super::{Core, Engine};

/// Longest time for one question; the web fallback with a slow model fits into it.
const DEADLINE: Duration = Duration::from_mins(5);
/// How long an answer to `session_wait` may take before it says that nothing changed.
const PATIENCE: Duration = Duration::from_secs(10);
/// Sessions kept in memory; older ones are read from the library.
const IN_MEMORY: usize = 50;
/// Past sessions listed.
const LISTED: u32 = 200;

/// The sessions of this process.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    all: Mutex<HashMap<String, Entry>>,
    keeping: tokio::sync::Mutex<()>,
    /// Turns under way, with their way into the library.
    tasks: Mutex<tokio::task::JoinSet<()>>,
}

impl Sessions {
    fn carry_out(&self, turn: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().expect("no holder panics");
        // Those that ended are let go here; nobody else asks for them.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(turn);
    }

    /// Stops all turns and waits until each is kept as stopped.
    pub(crate) async fn stop_all(&self) {
        for entry in self.all.lock().expect("no holder panics").values() {
            entry.cancel.cancel();
        }
        let mut tasks = std::mem::take(&mut *self.tasks.lock().expect("no holder panics"));
        while tasks.join_next().await.is_some() {}
    }
}

#[derive(Clone, Debug)]
struct Entry {
    state: watch::Sender<Session>,
    /// Stops the turn under way.
    cancel: CancellationToken,
    /// What was read for this session's turns.
    readings: Readings,
}

/// What discovery needs of the library and is not made anew for every question.
#[derive(Debug, Default)]
pub(crate) struct Lore {
    vocabulary: tokio::sync::Mutex<Option<(String, Arc<Vocabulary>)>>,
    known: Mutex<Option<(u64, Arc<Vec<Known>>)>>,
}

/// The library as the agent sees it, for one person.
struct Shelf<'a> {
    core: &'a Arc<Core>,
    profile: String,
}

impl House for Shelf<'_> {
    async fn search(
        &self,
        text: &str,
        exclude: &[String],
        limit: usize,
    ) -> autokit_agent::Result<Vec<Retrieved>> {
        let failed = |error: ApiError| autokit_agent::Error::House(error.message);
        let wanted = (limit + exclude.len()) as u32;
        let wanted = wanted.max(REACH as u32);
        let (mut hits, _) =
            self.core.rank(text, Mode::Hybrid, wanted, Some(&self.profile)).await.map_err(failed)?;
        self.core.rerank(text, &mut hits).await.map_err(failed)?;
        let mut found = Vec::new();
        for hit in hits.into_iter().filter(|hit| !exclude.contains(&hit.id)).take(limit) {
            let Some(record) = self.core.found(&hit) else { continue };
            let card = record.card();
            let cited = match hit.parts.chunk {
                // The pieces of the first few are read by models and people; the rest are not shown.
                Some(at) if found.len() < 5 => self.core.cite(&record.id, at).await.map_err(failed)?,
                _ => None,
            };
            found.push(Retrieved {
                id: hit.id,
                name: card.name().to_owned(),
                description: card.description().to_owned(),
                body: card.to_json(),
                stub: card.stub(),
                score: hit.score,
                parts: hit.parts,
                cited,
            });
        }
        Ok(found)
    }

    fn words_alone(&self) -> Option<String> {
        self.core.words_alone()
    }

    async fn related(&self, text: &str) -> autokit_agent::Result<Vec<String>> {
        let failed = |error: ApiError| autokit_agent::Error::House(error.message);
        let Some(embedder) = self.core.embedder() else { return Ok(Vec::new()) };
        let vocabulary = self.core.vocabulary().await.map_err(failed)?;
        let text = text.to_owned();
        in_background(move || {
            let vector = embedder.embed_query(&text)?;
            Ok(vocabulary.near(&vector).into_iter().map(str::to_owned).collect())
        })
        .await
        .map_err(failed)
    }

    fn is_word(&self, word: &str) -> bool {
        self.core.embedder().is_none_or(|embedder| embedder.knows_word(word))
    }
}

impl Core {
    /// Puts the first hits into a finer order, if there is a model.
    async fn rerank(self: &Arc<Self>, text: &str, hits: &mut Vec<Hit>) -> Result<()> {
        let Some(embedder) = self.embedder().filter(|_| !hits.is_empty()) else { return Ok(()) };
        let texts: Vec<Option<String>> = hits
            .iter()
            .take(REACH)
            .map(|hit| self.found(hit).map(|record| dense_text(&record.card())))
            .collect();
        let (core, text, mut moved) = (Arc::clone(self), text.to_owned(), std::mem::take(hits));
        *hits = in_background(move || {
            core.tokens.rerank(&embedder, &text, &mut moved, &texts)?;
            Ok(moved)
        })
        .await?;
        Ok(())
    }

    /// The piece of a card's page with this number.
    async fn cite(&self, card: &CardId, at: u32) -> Result<Option<Citation>> {
        let Some(page) = self.library.page(card).await? else { return Ok(None) };
        Ok(page.chunks.get(at as usize).map(|chunk| {
            let piece = PagePiece::of(&page.found, chunk);
            Citation {
                card: card.to_string(),
                title: chunk.path.join(" › "),
                url: piece.url,
                text: piece.text,
            }
        }))
    }

    /// Words about tools with vectors of the present model.
    async fn vocabulary(&self) -> Result<Arc<Vocabulary>> {
        let Some(embedder) = self.embedder() else { return Ok(Arc::default()) };
        let mut kept = self.lore.vocabulary.lock().await;
        if let Some((model, vocabulary)) = &*kept
            && model == embedder.id()
        {
            return Ok(Arc::clone(vocabulary));
        }
        let senses = crate::eval::Meaning(Arc::clone(&embedder));
        let vocabulary = Arc::new(in_background(move || crate::eval::vocabulary(&senses)).await?);
        *kept = Some((embedder.id().to_owned(), Arc::clone(&vocabulary)));
        Ok(vocabulary)
    }

    /// The cards of the library as discovery wants them.
    fn known(&self) -> Arc<Vec<Known>> {
        let cursor = self.library.read(autokit_library::Replica::cursor);
        let mut kept = self.lore.known.lock().expect("no holder panics");
        if let Some((at, known)) = &*kept
            && *at == cursor
        {
            return Arc::clone(known);
        }
        let records: Vec<_> = self.library.read(|replica| replica.iter().cloned().collect());
        let known = records.iter().map(|record| {
            let card = record.card();
            Known {
                text: ToolText::from_card(record.id.to_string(), card.object()),
                documentation: card.text(fields::DOCUMENTATION).map(str::to_owned),
            }
        });
        let known = Arc::new(known.collect::<Vec<_>>());
        *kept = Some((cursor, Arc::clone(&known)));
        known
    }

    /// The web as chosen in Settings; none when no search service is chosen.
    async fn web(&self, readings: &Readings) -> Result<Option<Discovery>> {
        let services = self.services.load_full();
        let Some(search) = services.search.clone() else { return Ok(None) };
        let senses = self.embedder().map(|embedder| {
            let senses: Arc<dyn autokit_retrieve::Senses> = Arc::new(crate::eval::Meaning(embedder));
            senses
        });
        Ok(Some(Discovery {
            providers: vec![search],
            github: services.github.clone(),
            fetcher: services.fetcher.clone(),
            senses,
            vocabulary: self.vocabulary().await?,
            known: self.known(),
            preferred: Some(services.settings.search.preferred.clone())
                .filter(|text| !text.trim().is_empty()),
            turned_down: Vec::new(),
            readings: readings.clone(),
        }))
    }

    async fn means(&self, readings: &Readings) -> Result<Means> {
        let services = self.services.load_full();
        Ok(Means {
            small: services.small.clone(),
            large: services.large.clone(),
            web: self.web(readings).await?,
            prompts: services.prompts.clone(),
            deadline: DEADLINE,
        })
    }

    fn entry(&self, id: &str) -> Option<Entry> {
        self.sessions.all.lock().expect("no holder panics").get(id).cloned()
    }

    /// A session in memory, brought back from the library if it is a past one.
    async fn session(&self, id: &str) -> Result<Entry> {
        if let Some(entry) = self.entry(id) {
            return Ok(entry);
        }
        let body = self.library.session(id).await?.ok_or_else(|| no_session(id))?;
        let session: Session = serde_json::from_str(&body)
            .map_err(|error| ApiError::internal(format!("session {id}: {error}")))?;
        Ok(self.keep_in_memory(session))
    }

    fn keep_in_memory(&self, session: Session) -> Entry {
        let mut all = self.sessions.all.lock().expect("no holder panics");
        while all.len() >= IN_MEMORY {
            // The oldest of those at rest goes; it is in the library. One that has not begun is no past
            // one.
            let at_rest = |entry: &Entry| {
                let session = entry.state.borrow();
                !session.turns.is_empty() && !running(&session)
            };
            let oldest = all
                .iter()
                .filter(|(_, entry)| at_rest(entry))
                .map(|(id, entry)| (entry.state.borrow().at.clone(), id.clone()))
                .min();
            let Some((_, id)) = oldest else { break };
            all.remove(&id);
        }
        let id = session.id.clone();
        let entry = Entry {
            state: watch::Sender::new(session),
            cancel: CancellationToken::new(),
            readings: Readings::default(),
        };
        all.entry(id).or_insert(entry).clone()
    }

    fn change(&self, entry: &Entry, edit: impl FnOnce(&mut Session)) {
        let mut news = (String::new(), 0);
        entry.state.send_modify(|session| {
            edit(session);
            session.version += 1;
            news = (session.id.clone(), session.version);
        });
        self.tell(Event::Session { session: news.0, version: news.1 });
    }

    async fn keep(&self, entry: &Entry) -> Result<()> {
        // One at a time, and read inside: a word on an answer must not be written over by the end of the
        // turn it is about.
        let _turn = self.sessions.keeping.lock().await;
        let session = entry.state.borrow().clone();
        let note = SessionNote {
            id: session.id.clone(),
            at: session.at.clone(),
            question: session.turns.first().map(|turn| turn.asked.clone()).unwrap_or_default(),
        };
        let body = serde_json::to_string(&session).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(self.library.put_session(&note, &body).await?)
    }

    /// Begins a turn: in a new session, or in one that is at rest.
    async fn begin(&self, session: Option<&str>, kind: TurnKind, asked: &str) -> Result<(Entry, usize)> {
        if asked.trim().is_empty() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "the question is empty",
                "Say in words what you look for.",
            ));
        }
        let entry = match session {
            Some(id) => self.session(id).await?,
            None => self.keep_in_memory(Session {
                id: crate::token(8),
                at: self.options.clock.stamp(),
                version: 0,
                turns: Vec::new(),
            }),
        };
        let turn = Turn {
            kind,
            asked: asked.trim().to_owned(),
            state: TurnState::Running,
            events: Vec::new(),
            told: None,
            discovered: None,
            said: None,
            error: None,
            ms: 0,
        };
        let id = entry.state.borrow().id.clone();
        // A stopped turn's token stays stopped; this turn has one of its own. Looked at and taken under
        // the lock: of two who ask at once one is turned away.
        let (entry, at) = {
            let mut all = self.sessions.all.lock().expect("no holder panics");
            // Brought back from the library twice at once, the first is the one others watch.
            let state = all.get(&id).map_or_else(|| entry.state.clone(), |known| known.state.clone());
            if running(&state.borrow()) {
                return Err(ApiError::new(
                    ErrorCode::Conflict,
                    "this session is still at work",
                    "Wait for it, or stop it first.",
                ));
            }
            let entry = Entry { state, cancel: CancellationToken::new(), ..entry };
            all.insert(id, entry.clone());
            let mut at = 0;
            self.change(&entry, |session| {
                session.turns.push(turn);
                at = session.turns.len() - 1;
            });
            (entry, at)
        };
        Ok((entry, at))
    }

    /// Carries a turn out to its end, whatever that is, and keeps it.
    async fn carry_out(self: Arc<Self>, entry: Entry, at: usize, profile: String) {
        let began = Instant::now();
        // Looked at first, so that a turn that was stopped before it began does nothing.
        let outcome = tokio::select! {
            biased;
            () = entry.cancel.cancelled() => Err(ApiError::cancelled()),
            outcome = self.turn(&entry, at, profile) => outcome,
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
        if let Err(error) = self.keep(&entry).await {
            tracing::warn!(%error, "a session could not be kept");
        }
    }

    async fn turn(self: &Arc<Self>, entry: &Entry, at: usize, profile: String) -> Result<()> {
        let session = entry.state.borrow().clone();
        let turn = &session.turns[at];
        let clock = self.options.clock.clone();
        let now = move || clock.stamp();
        let mut on = |event: StepEvent| self.change(entry, |session| session.turns[at].events.push(event));
        if turn.kind == TurnKind::Discover {
            let found = self.discover(entry, &turn.asked, &now, &mut on).await?;
            self.change(entry, |session| session.turns[at].discovered = Some(found));
            return Ok(());
        }
        let question = question_of(&session.turns[..=at]);
        let means = self.means(&entry.readings).await?;
        let shelf = Shelf { core: self, profile };
        let mut told = means.ask(&shelf, &question, &now, &mut on).await?;
        // What was chosen and could not take part is said with the answer, not only in Settings.
        for missing in &self.services.load().missing {
            told.notes.push(format!("Not used, although chosen: {} {}", missing.sentence(), missing.remedy));
        }
        self.change(entry, |session| session.turns[at].told = Some(told));
        Ok(())
    }

    async fn discover(
        &self,
        entry: &Entry,
        need: &str,
        now: &(dyn Fn() -> String + Send + Sync),
        on: &mut (dyn FnMut(StepEvent) + Send),
    ) -> Result<Discovered> {
        let Some(web) = self.web(&entry.readings).await? else {
            let services = self.services.load();
            if let Some(missing) =
                services.missing.last().filter(|_| services.settings.search.kind.is_chosen())
            {
                return Err(missing.clone());
            }
            return Err(ApiError::new(
                ErrorCode::NoSearch,
                "no search service is chosen",
                "Choose one in Settings, Web search; DuckDuckGo needs no key.",
            ));
        };
        let services = self.services.load_full();
        let began = Instant::now();
        let event = |phase: Phase, text: String, model: Option<String>, tokens: (u32, u32)| StepEvent {
            step: Step::Web,
            phase,
            text,
            model,
            tokens,
            ms: began.elapsed().as_millis() as u32,
        };
        on(event(Phase::Start, "Looking on the web".to_owned(), None, (0, 0)));
        let mut trace = |trace: Trace| on(event(Phase::Trace { trace }, String::new(), None, (0, 0)));
        let model = services.large.as_ref().map(|large| (large, DEADLINE / 2));
        let work = Box::pin(web.look(model, &services.prompts, need, now, &mut trace));
        let looked = tokio::time::timeout(DEADLINE, work)
            .await
            .unwrap_or(Err(autokit_agent::Error::Deadline(DEADLINE.as_secs())))?;
        let nothing = looked.found.findings.is_empty();
        let outcome = if nothing { Outcome::Nothing } else { Outcome::Found };
        let tokens = (looked.usage.input as u32, looked.usage.output as u32);
        on(event(Phase::Result { outcome }, looked.found.summary(), looked.model, tokens));
        Ok(looked.found)
    }

    /// Starter code for a use case: by the model with what it cannot support left out, else the card's
    /// own lines.
    async fn starter(&self, card: &CardId, question: &str, use_case: &str) -> Result<Option<Starter>> {
        let record = self.library.card(card)?;
        let own = record.card().stub();
        let page = self.library.page(card).await?;
        let services = self.services.load_full();
        if let Some(large) = &services.large {
            let passages: Vec<String> =
                page.iter().flat_map(|page| page.chunks.iter().take(12)).map(super::pages::passage).collect();
            let wanted = format!("{question}: {use_case}");
            let body = record.body.to_string();
            let asked = autokit_agent::ask::starter(
                large,
                &services.prompts,
                &wanted,
                &body,
                own.as_ref(),
                &passages,
            );
            let patience = DEADLINE / 2;
            let late = |_| {
                let host = "the language model".to_owned();
                Err(autokit_llm::Error::Timeout { host, after: patience }.into())
            };
            match tokio::time::timeout(patience, asked).await.unwrap_or_else(late) {
                Ok((code, removed)) if !code.code.is_empty() => {
                    let model = Some(large.config().model.clone());
                    return Ok(Some(Starter { language: code.language, code: code.code, removed, model }));
                }
                Ok(_) => {}
                Err(error) => tracing::info!(%error, "starter code is made from the card"),
            }
        }
        Ok(own.map(|stub| {
            let comment =
                if stub.language == "typescript" || stub.language == "javascript" { "//" } else { "#" };
            let use_case = use_case.split_whitespace().collect::<Vec<_>>().join(" ");
            let code =
                if use_case.is_empty() { stub.code } else { format!("{comment} {use_case}\n{}", stub.code) };
            Starter { language: stub.language, code, removed: Vec::new(), model: None }
        }))
    }
}

fn no_session(id: &str) -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        format!("there is no session {id:?}"),
        "See which there are under past questions.",
    )
}

fn running(session: &Session) -> bool {
    session.turns.last().is_some_and(|turn| turn.state == TurnState::Running)
}

/// The question of the last turn: the first question since the last plain ask, with the reasons given
/// since and without the tools that were turned down.
fn question_of(turns: &[Turn]) -> Question {
    let start = turns.iter().rposition(|turn| turn.kind == TurnKind::Ask).unwrap_or(0);
    let mut question = Question { text: turns[start].asked.clone(), ..Question::default() };
    let mut reasons = Vec::new();
    for turn in &turns[start..] {
        if let Some(said) = turn.said.as_ref().filter(|said| !said.helpful) {
            if !said.text.trim().is_empty() {
                reasons.push(said.text.trim().to_owned());
            }
            let Some(told) = &turn.told else { continue };
            match &told.tool {
                Some(tool) => question.exclude.push(tool.clone()),
                // Without a tool of the library the first of the web was the recommendation; the others
                // stay, for the reason may point at one of them.
                None => question.turned_down.extend(told.findings.first().cloned()),
            }
        }
    }
    question.refinement = Some(reasons.join("; ")).filter(|text| !text.is_empty());
    question
}

impl Handle<StartAsk> for Engine {
    async fn handle(&self, context: &Context, request: AgentQuestion) -> Result<SessionRef> {
        self.start_turn(context, request, TurnKind::Ask).await
    }
}

impl Handle<StartDiscover> for Engine {
    async fn handle(&self, context: &Context, request: AgentQuestion) -> Result<SessionRef> {
        self.start_turn(context, request, TurnKind::Discover).await
    }
}

impl Engine {
    async fn start_turn(
        &self,
        context: &Context,
        request: AgentQuestion,
        kind: TurnKind,
    ) -> Result<SessionRef> {
        let (entry, at) = self.core.begin(request.session.as_deref(), kind, &request.question).await?;
        let session = entry.state.borrow().id.clone();
        let turn = Arc::clone(&self.core).carry_out(entry, at, context.author.clone());
        self.core.sessions.carry_out(turn);
        Ok(SessionRef { session })
    }
}

impl Handle<WaitSession> for Engine {
    async fn handle(&self, _: &Context, request: SessionWait) -> Result<Session> {
        let entry = self.core.session(&request.session).await?;
        let mut watch = entry.state.subscribe();
        // Running out of patience is an answer too: the state as it is.
        let _ =
            tokio::time::timeout(PATIENCE, watch.wait_for(|session| session.version > request.after)).await;
        let session = watch.borrow().clone();
        Ok(session)
    }
}

impl Handle<CancelSession> for Engine {
    async fn handle(&self, _: &Context, request: SessionRef) -> Result<Session> {
        let entry = self.core.session(&request.session).await?;
        entry.cancel.cancel();
        let mut watch = entry.state.subscribe();
        let session = watch.wait_for(|session| !running(session)).await;
        let session = session.map(|session| session.clone());
        session.or_else(|_| Ok(entry.state.borrow().clone()))
    }
}

impl Handle<GetSession> for Engine {
    async fn handle(&self, _: &Context, request: SessionRef) -> Result<Session> {
        let entry = self.core.session(&request.session).await?;
        let session = entry.state.borrow().clone();
        Ok(session)
    }
}

impl Handle<ListSessions> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<SessionNote>> {
        Ok(self.core.library.sessions(LISTED).await?)
    }
}

impl Handle<GiveFeedback> for Engine {
    async fn handle(&self, context: &Context, request: FeedbackRequest) -> Result<Session> {
        let core = &self.core;
        let entry = core.session(&request.session).await?;
        let session = entry.state.borrow().clone();
        let answered = session.turns.last().and_then(|turn| {
            let told = turn.told.as_ref()?;
            Some((session.turns.len() - 1, told.tool.clone()))
        });
        let Some((at, tool)) = answered.filter(|_| !running(&session)) else {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "there is no answer to judge yet",
                "Ask first, and wait for the answer.",
            ));
        };
        let found = session.turns[at].told.as_ref().is_some_and(|told| !told.findings.is_empty());
        if request.helpful && tool.is_none() && !found {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "no tool was recommended that could help",
                "Say what is wrong with the answer, or ask in other words.",
            ));
        }
        let question = question_of(&session.turns);
        if let Some(tool) = &tool {
            let feedback = Feedback {
                at: core.options.clock.stamp(),
                profile: context.author.clone(),
                question: question.text.clone(),
                card: CardId::new(tool),
                helpful: request.helpful,
                said: request.said.clone(),
            };
            core.library.remember(&feedback).await?;
            core.taste.forget();
        }
        let began = Instant::now();
        let starter = match &tool {
            Some(tool) if request.helpful => {
                core.starter(&CardId::new(tool), &question.text, &request.said).await?
            }
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
        core.change(&entry, |session| {
            let turn = &mut session.turns[at];
            turn.events.push(event);
            turn.said = Some(Said { helpful: request.helpful, text: request.said.clone(), starter });
        });
        if request.helpful {
            core.keep(&entry).await?;
        } else {
            let asked =
                if request.said.trim().is_empty() { question.text.as_str() } else { request.said.as_str() };
            let (entry, at) = core.begin(Some(&request.session), TurnKind::Refine, asked).await?;
            let turn = Arc::clone(core).carry_out(entry, at, context.author.clone());
            core.sessions.carry_out(turn);
        }
        let entry = core.session(&request.session).await?;
        let session = entry.state.borrow().clone();
        Ok(session)
    }
}

impl Handle<ProposeFinding> for Engine {
    async fn handle(&self, _: &Context, request: AddFinding) -> Result<ProposalDetail> {
        let core = &self.core;
        let entry = core.session(&request.session).await?;
        let found: Option<(usize, Finding)> = {
            let session = entry.state.borrow();
            session.turns.iter().enumerate().rev().find_map(|(at, turn)| {
                let told = turn.told.iter().flat_map(|told| &told.findings);
                let discovered =
                    turn.discovered.iter().flat_map(|found| found.findings.iter().chain(&found.dismissed));
                told.chain(discovered).find(|finding| finding.url == request.url).map(|f| (at, f.clone()))
            })
        };
        let (at, finding) = found.ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                format!("{} was not found in this session", request.url),
                "Look on the web again.",
            )
        })?;
        let proposal = core.propose(finding.draft, &Author("Discovery".to_owned())).await?.proposal;
        core.change(&entry, |session| {
            session.turns[at].events.push(StepEvent {
                step: Step::Add,
                phase: Phase::Result { outcome: Outcome::Proposed },
                text: format!("Proposal {} for {}", proposal.id, finding.name),
                model: None,
                tokens: (0, 0),
                ms: 0,
            });
        });
        core.keep(&entry).await?;
        core.proposal_detail(proposal.id).await
    }
}
