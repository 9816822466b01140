//! A running ask: executes the steps of the graph one after the other.

mod grade;

use std::sync::Arc;
use std::time::{Duration, Instant};

use autokit_facts::limits_not_in;
use autokit_llm::{Model, Usage};
use autokit_search::Thresholds;
use autokit_toolcard::{CardId, Timestamp};
use futures_util::future::BoxFuture;

use super::draft::Draft;
use super::graph::{Next, Outcome, RETRIES, Step, next};
use super::{
    AgentAnswer, AgentDeps, MAX_CANDIDATES, OnStep, Phase, Question, Ranked, Retrieved, Retriever, StepEvent,
    Verdict, local, model, with_idle_timeout,
};
use crate::discover::{Discovered, Discovery, Trace};
use crate::error::{Error, Result};

/// Number of candidates a model may choose from, and the default number returned with the answer.
const DEFAULT_CANDIDATES: usize = 5;

/// A running ask.
struct Run<'a> {
    retriever: &'a dyn Retriever,
    deps: &'a AgentDeps,
    question: &'a Question,
    on: OnStep<'a>,
    now: &'a (dyn Fn() -> Timestamp + Send + Sync),
    /// The models, until their service fails.
    small: Option<Model>,
    large: Option<Model>,
    /// Time limits for the models and for the web.
    models_limit: TimeLimit,
    web_limit: TimeLimit,
    /// The current search query.
    query: String,
    tried: Vec<String>,
    tries: u32,
    retrieved: Vec<Arc<Retrieved>>,
    thresholds: Thresholds,
    confidence: Option<f32>,
    ranked: Vec<Ranked>,
    draft: Option<Draft>,
    /// Whether the draft passed both graders.
    accepted: bool,
    /// Whether the draft failed only because the web may have something better.
    doubtful: bool,
    correction: String,
    reason: String,
    removed: Vec<String>,
    found: Option<Discovered>,
    notes: Vec<String>,
}

/// A time limit: start and duration.
#[derive(Clone, Copy)]
struct TimeLimit(tokio::time::Instant, Duration);

impl TimeLimit {
    async fn run<T>(self, work: impl Future<Output = T> + Send) -> Option<T> {
        tokio::time::timeout_at(self.0 + self.1, Box::pin(work)).await.ok()
    }

    /// Returns the remaining time.
    fn remaining(self) -> Duration {
        (self.0 + self.1).saturating_duration_since(tokio::time::Instant::now())
    }

    /// Waits for a model until the limit.
    async fn run_model<T>(
        self,
        work: impl Future<Output = autokit_llm::Result<T>> + Send,
    ) -> autokit_llm::Result<T> {
        let late = || autokit_llm::Error::Timeout { host: "the language model".to_owned(), after: self.1 };
        self.run(work).await.unwrap_or_else(|| Err(late()))
    }
}

/// Result of a step.
struct StepResult {
    outcome: Outcome,
    text: String,
    model: Option<String>,
    usage: Usage,
}

impl StepResult {
    fn by_rules(outcome: Outcome, text: impl Into<String>) -> StepResult {
        StepResult { outcome, text: text.into(), model: None, usage: Usage::default() }
    }
}

impl AgentDeps {
    /// Answers a question.
    ///
    /// Dropping the future cancels the ask at once, without side effects.
    ///
    /// # Errors
    /// [`Error::Deadline`], or the library's own failure. When a model or a web search fails, a note says so
    /// and rules take over.
    pub fn ask<'a>(
        &'a self,
        retriever: &'a dyn Retriever,
        question: &'a Question,
        now: &'a (dyn Fn() -> Timestamp + Send + Sync),
        on: OnStep<'a>,
    ) -> BoxFuture<'a, Result<AgentAnswer>> {
        Box::pin(async move {
            let began = tokio::time::Instant::now();
            let run = Run {
                retriever,
                deps: self,
                question,
                on,
                now,
                small: self.small.as_ref().map(|model| with_idle_timeout(model, self.idle_timeout)),
                large: self.large.as_ref().map(|model| with_idle_timeout(model, self.idle_timeout)),
                // The remaining time is reserved for the rules, so that slow services lead to an answer
                // instead of an error.
                models_limit: TimeLimit(began, self.deadline.mul_f32(0.6)),
                web_limit: TimeLimit(began, self.deadline.mul_f32(0.9)),
                query: question.full_text(),
                tried: Vec::new(),
                tries: 0,
                retrieved: Vec::new(),
                thresholds: Thresholds::for_hit(None, None, None),
                confidence: None,
                ranked: Vec::new(),
                draft: None,
                accepted: false,
                doubtful: false,
                correction: String::new(),
                reason: String::new(),
                removed: Vec::new(),
                found: None,
                notes: Vec::new(),
            };
            let work = Box::pin(run.finish());
            tokio::time::timeout(self.deadline, work)
                .await
                .unwrap_or(Err(Error::Deadline(self.deadline.as_secs())))
        })
    }
}

impl Run<'_> {
    async fn finish(mut self) -> Result<AgentAnswer> {
        let mut step = Step::Search;
        loop {
            let began = Instant::now();
            let description = local::step_description(step).to_owned();
            self.event(step, Phase::Start, description, None, Usage::default(), began);
            let result = match step {
                Step::Search => self.search().await?,
                Step::Generate => self.generate().await?,
                Step::GradeGrounded => self.grade_grounded(),
                Step::GradeAnswers => self.grade_answers().await?,
                Step::Rewrite => self.rewrite().await?,
                Step::Web => self.web().await?,
                Step::Finalize | Step::Feedback | Step::Add => {
                    StepResult::by_rules(Outcome::Delivered, "Answer ready")
                }
            };
            self.event(
                step,
                Phase::Result { outcome: result.outcome },
                result.text,
                result.model,
                result.usage,
                began,
            );
            match next(step, result.outcome) {
                Next::Do(after) => step = after,
                Next::Wait => return Ok(self.into_answer()),
            }
        }
    }

    fn event(
        &mut self,
        step: Step,
        phase: Phase,
        text: String,
        model: Option<String>,
        usage: Usage,
        began: Instant,
    ) {
        let tokens =
            (usage.input.min(u64::from(u32::MAX)) as u32, usage.output.min(u64::from(u32::MAX)) as u32);
        let ms = began.elapsed().as_millis().min(u128::from(u32::MAX)) as u32;
        (self.on)(StepEvent { step, phase, text, model, tokens, ms });
    }

    /// Notes that a model failed, after which its step runs by rules. A service that is down is not asked
    /// again for this question, since each step would wait for the same failure.
    fn model_failed(&mut self, what: &str, model: &Model, error: &autokit_llm::Error) {
        use autokit_llm::Code;
        let is_this =
            |own: &Option<Model>| own.as_ref().is_some_and(|own| own.config().model == model.config().model);
        let note = match error.code() {
            code if code.is_of_one_response() => format!("{what} ran locally: {error}."),
            code => {
                if code != Code::WrongModel || is_this(&self.small) {
                    self.small = None;
                }
                if code != Code::WrongModel || is_this(&self.large) {
                    self.large = None;
                }
                format!("{what} and the steps after it ran locally: {error}.")
            }
        };
        self.add_note(note);
    }

    fn add_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    async fn search(&mut self) -> Result<StepResult> {
        self.tried.push(self.query.clone());
        // Whichever query found a card, its score measures the fit to the question itself.
        let question = self.question.full_text();
        let found =
            self.retriever.search(&self.query, &question, &self.question.exclude, MAX_CANDIDATES).await?;
        let retrieved = found.cards;
        (self.thresholds, self.confidence) = (found.thresholds, found.confidence);
        if let Some(note) = autokit_search::understood(&found.constraints) {
            self.add_note(note);
        }
        let ranked: Vec<Ranked> = retrieved
            .iter()
            .map(|card| Ranked {
                id: card.id.clone(),
                name: card.name.clone(),
                description: card.description.chars().take(240).collect(),
                callable: card.callable,
                score: card.score,
                parts: card.parts.clone(),
                judged: None,
                justification: None,
            })
            .collect();
        self.retrieved = retrieved.into_iter().map(Arc::new).collect();
        self.ranked = ranked;
        self.draft = None;
        self.accepted = false;
        self.doubtful = false;
        if self.retrieved.is_empty() {
            "no card matches the question".clone_into(&mut self.reason);
            return Ok(StepResult::by_rules(Outcome::Nothing, "No card found"));
        }
        let mut result = StepResult::by_rules(Outcome::Found, String::new());
        if let Some(small) = self.small.clone() {
            let request = model::rerank(&small, &self.deps.prompts, &question, &self.ranked);
            match self.models_limit.run_model(request).await {
                Ok((judged, usage)) => {
                    match judged {
                        Some(judged) => self.ranked = judged,
                        None => self.add_note(
                            "Reranking ran locally: the language model returned the order upside down."
                                .to_owned(),
                        ),
                    }
                    result.model = Some(small.config().model.clone());
                    result.usage = usage;
                }
                Err(error) => self.model_failed("Reranking", &small, &error),
            }
        }
        self.ranked.truncate(self.question.candidates.unwrap_or(DEFAULT_CANDIDATES).max(DEFAULT_CANDIDATES));
        for at in 0..self.ranked.len() {
            let Some(card) = self.card(&self.ranked[at].id) else { continue };
            let supported = |text: &String| self.supports(&self.sources(&card), text);
            self.ranked[at].justification = self.ranked[at].justification.clone().filter(supported);
        }
        let names: Vec<&str> = self.ranked.iter().take(3).map(|card| card.name.as_str()).collect();
        result.text = format!("Closest: {}", names.join(", "));
        Ok(result)
    }

    fn card(&self, id: &CardId) -> Option<Arc<Retrieved>> {
        self.retrieved.iter().find(|card| card.id == *id).cloned()
    }

    /// Returns the candidates a model may choose from.
    fn choices(&self) -> impl Iterator<Item = Arc<Retrieved>> {
        self.ranked.iter().take(DEFAULT_CANDIDATES).filter_map(|ranked| self.card(&ranked.id))
    }

    async fn generate(&mut self) -> Result<StepResult> {
        if let Some(large) = self.large.clone() {
            let cards: Vec<Arc<Retrieved>> = self.choices().collect();
            let question = self.question.full_text();
            let request = model::answer(&large, &self.deps.prompts, &question, &cards, &self.correction);
            match self.models_limit.run_model(request).await {
                Ok((written, usage)) => {
                    let by = Some(large.config().model.clone());
                    let chosen = written.tool.as_deref();
                    let chosen =
                        chosen.map(|id| (id.to_owned(), cards.iter().find(|card| card.id.as_str() == id)));
                    return Ok(match chosen {
                        None => {
                            "the model found no suitable tool".clone_into(&mut self.reason);
                            StepResult {
                                outcome: Outcome::Nothing,
                                text: "No suitable tool".into(),
                                model: by,
                                usage,
                            }
                        }
                        Some((_, Some(card))) => {
                            let text = format!("Recommends {}", card.name);
                            self.draft = Some(Draft {
                                card: Arc::clone(card),
                                sentence: written.sentence,
                                why: written.why,
                                code: local::stub_of(card, &written.code),
                                by_model: true,
                            });
                            StepResult { outcome: Outcome::Written, text, model: by, usage }
                        }
                        // A tool that was not retrieved is not an answer.
                        Some((id, None)) => {
                            let shown: String = id.chars().take(60).collect();
                            self.notes.push(format!(
                                "The model recommended {shown:?}, which is not among the results; ignored."
                            ));
                            self.draft = self.draft_by_rules();
                            let text =
                                "Named a tool that is not among the results; used the best card instead";
                            let outcome =
                                if self.draft.is_some() { Outcome::Written } else { Outcome::Nothing };
                            StepResult { outcome, text: text.into(), model: by, usage }
                        }
                    });
                }
                Err(error) => self.model_failed("Answering", &large, &error),
            }
        }
        self.draft = self.draft_by_rules();
        let Some(draft) = &self.draft else {
            "no card is close to the question".clone_into(&mut self.reason);
            return Ok(StepResult::by_rules(Outcome::Nothing, "No card is close enough"));
        };
        Ok(StepResult::by_rules(Outcome::Written, format!("From the card {}", draft.card.name)))
    }

    fn draft_by_rules(&self) -> Option<Draft> {
        let best = self.choices().next()?;
        Some(local::answer(best, &self.question.text))
    }

    async fn rewrite(&mut self) -> Result<StepResult> {
        if self.tries >= RETRIES {
            return Ok(StepResult::by_rules(Outcome::Exhausted, "No retries left"));
        }
        self.tries += 1;
        self.correction.clear();
        if let Some(small) = self.small.clone() {
            let (question, tried) = (self.question.full_text(), self.tried.join("\n"));
            let request = model::rewrite(&small, &self.deps.prompts, &question, &tried, &self.reason);
            match self.models_limit.run_model(request).await {
                Ok((query, usage)) if self.is_new(&query) => {
                    self.query.clone_from(&query);
                    let model = Some(small.config().model.clone());
                    return Ok(StepResult { outcome: Outcome::Rewritten, text: query, model, usage });
                }
                Ok((_, usage)) => {
                    let model = Some(small.config().model.clone());
                    let text = "The query did not change".to_owned();
                    return Ok(StepResult { outcome: Outcome::Exhausted, text, model, usage });
                }
                Err(error) => self.model_failed("Rewriting", &small, &error),
            }
        }
        // Rules cannot rephrase the question better: every card was already compared with its words.
        Ok(StepResult::by_rules(Outcome::Exhausted, "No language model to rephrase the question"))
    }

    fn is_new(&self, query: &str) -> bool {
        let folded = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        !query.trim().is_empty() && self.tried.iter().all(|tried| folded(tried) != folded(query))
    }

    async fn web(&mut self) -> Result<StepResult> {
        let Some(web) = &self.deps.web else {
            let note =
                "Web search is off: no search service is configured. Choose one in Settings, Web search.";
            self.notes.push(note.to_owned());
            return Ok(StepResult::by_rules(Outcome::Nothing, "No search service is configured"));
        };
        let web = Discovery { rejected: self.question.rejected.clone(), ..web.clone() };
        let need = self.question.full_text();
        let large = self.large.clone();
        let (models_limit, web_limit) = (self.models_limit, self.web_limit);
        let began = Instant::now();
        let on = &mut self.on;
        let mut trace = |trace: Trace| {
            let ms = began.elapsed().as_millis() as u32;
            on(StepEvent {
                step: Step::Web,
                phase: Phase::Trace { trace },
                text: String::new(),
                model: None,
                tokens: (0, 0),
                ms,
            });
        };
        let model = large.as_ref().map(|large| (large, models_limit.remaining()));
        let searched = web_limit
            .run(web.discover(model, &self.deps.prompts, &need, self.now, &mut trace))
            .await
            .unwrap_or(Err(Error::Deadline(self.deps.deadline.as_secs())));
        match searched {
            Ok(searched) => {
                if let Some(why) = searched.note {
                    self.notes.push(format!("The web search ran without the language model: {why}."));
                }
                let nothing = searched.found.findings.is_empty() && searched.found.substitute.is_none();
                let outcome = if nothing { Outcome::Nothing } else { Outcome::Found };
                let text = searched.found.summary();
                self.found = Some(searched.found);
                Ok(StepResult { outcome, text, model: searched.model, usage: searched.usage })
            }
            Err(error) => {
                self.notes.push(format!("The web search failed: {error}."));
                Ok(StepResult::by_rules(Outcome::Nothing, error.to_string()))
            }
        }
    }

    fn into_answer(self) -> AgentAnswer {
        let (findings, substitute) =
            self.found.map(|found| (found.findings, found.substitute)).unwrap_or_default();
        let web = !findings.is_empty();
        let mut notes = self.notes;
        if let Some(why) = self.retriever.keyword_only_reason() {
            notes.insert(0, format!("Keyword search only: {why}."));
        } else if self.deps.small.is_none() && self.deps.large.is_none() {
            notes.insert(
                0,
                "Answered locally: keyword and semantic search, without a language model.".to_owned(),
            );
        }
        let draft = self.draft.filter(|_| self.accepted || (self.doubtful && !web));
        let mut candidates = self.ranked;
        if let Some(draft) = &draft {
            candidates.sort_by_key(|candidate| candidate.id != draft.card.id);
        }
        candidates.truncate(self.question.candidates.unwrap_or(DEFAULT_CANDIDATES));
        let Some(draft) = draft else {
            return AgentAnswer {
                verdict: Verdict::Nothing,
                confidence: None,
                tool: None,
                name: None,
                sentence: String::new(),
                limits: Vec::new(),
                why: if web {
                    "Nothing in the library fits; these results are from the web.".to_owned()
                } else {
                    self.reason
                },
                stub: None,
                removed: self.removed,
                citations: Vec::new(),
                candidates,
                findings,
                substitute,
                notes,
            };
        };
        let card = draft.card;
        let is_first = self.retrieved.first().is_some_and(|first| first.id == card.id);
        let sure = draft.by_model || card.score >= self.thresholds.sure;
        AgentAnswer {
            verdict: if sure { Verdict::Answered } else { Verdict::Unsure },
            confidence: self.confidence.filter(|_| is_first && !draft.by_model),
            tool: Some(card.id.clone()),
            name: Some(card.name.clone()),
            limits: limits_not_in(&card.description, &[&draft.sentence, &draft.why]),
            sentence: draft.sentence,
            why: draft.why,
            stub: draft.code,
            removed: self.removed,
            citations: card.cited.clone().into_iter().collect(),
            candidates,
            findings,
            substitute: None,
            notes,
        }
    }
}
