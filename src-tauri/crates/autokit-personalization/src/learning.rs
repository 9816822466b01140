//! Fitting and comparing adapters, and the commands.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autokit_adapter::{
    Adapter, Cards, Dataset, FitOptions, Observation, Options, Outcome, Question, Refusal, Source, learn,
};
use autokit_api::commands::{
    Context, ExportPersonalization, GetPersonalization, Handle, LearnPersonalization, ResetPersonalization,
    SetPersonalization,
};
use autokit_api::{
    JobKind, JobRef, LearningComparison, LearningState, Nothing, PersonalProfile, Personalization,
    PersonalizationExport, PersonalizationProfiles, PersonalizationSet, Setting,
};
use autokit_embed::Embedder;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::StoredVectors;
use autokit_search::{Hit, Mode, Personal, SearchRequest, Searcher, vector_recipe};
use autokit_toolcard::Timestamp;
use autokit_workspace::background::in_background;
use autokit_workspace::jobs::{Outcome as JobOutcome, Progress};
use autokit_workspace::models::Models;
use autokit_workspace::personal::{Learned, LearnedProfile};
use autokit_workspace::search::Search;
use autokit_workspace::workspace::Workspace;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::evidence::{self, Evidence, Pair};

/// How long after the start it is first checked whether there is something new to learn from: a process that answers
/// one question ends before.
const FIRST_CHECK: Duration = Duration::from_mins(2);
/// How often it is checked afterwards.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);
/// Least number of new pairs from which it is learned again, and the least share of those before.
const MIN_NEW: (usize, usize) = (10, 10);
/// Results among which the right card is looked for.
const RANKED: usize = 200;

/// Learns from use. Clones share state.
#[derive(Clone, Debug)]
pub struct Learning {
    workspace: Workspace,
    models: Models,
    search: Search,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Held while something is learned: one job at a time.
    learning: tokio::sync::Mutex<()>,
    /// Held while what was learned is read and written again, and for nothing else.
    changing: tokio::sync::Mutex<()>,
    /// How often personalization was switched off.
    switched_off: watch::Sender<u64>,
}

/// A profile to learn for, and from what.
struct Learnable {
    profile: String,
    pairs: Vec<Pair>,
    /// When the profile was last reset.
    since: Option<Timestamp>,
}

impl Learning {
    /// Learns for the searches of `search`.
    pub fn new(workspace: Workspace, models: Models, search: Search) -> Learning {
        Learning { workspace, models, search, state: Arc::default() }
    }

    /// Learns in the background as long as this process runs.
    pub fn start(&self) {
        if self.workspace.library.read_only().is_some() {
            return;
        }
        let learning = self.clone();
        tokio::spawn(async move {
            let mut checks = tokio::time::interval_at(Instant::now() + FIRST_CHECK, CHECK_INTERVAL);
            loop {
                tokio::select! {
                    _ = checks.tick() => {}
                    () = learning.workspace.wait_for_shutdown() => return,
                }
                let learnable = tokio::select! {
                    learnable = learning.learnable(Which::Due) => learnable,
                    () = learning.workspace.wait_for_shutdown() => return,
                };
                match learnable {
                    Ok((_, learnable)) if learnable.is_empty() => {}
                    Ok(_) => {
                        learning.start_job(Which::Due);
                    }
                    // Without a model there is nothing to learn with.
                    Err(error) if error.code == ErrorCode::NoModel => {}
                    Err(error) => tracing::error!(%error, "failed to read what can be learned from"),
                }
            }
        });
    }

    fn start_job(&self, which: Which) -> JobRef {
        let learning = self.clone();
        self.workspace.jobs.start(JobKind::Learn, "Learning from use", "profiles", |progress| async move {
            learning.learn(which, &progress).await
        })
    }

    /// Learns from what happened until now.
    async fn learn(&self, which: Which, progress: &Progress) -> Result<JobOutcome> {
        let _learning =
            progress.wait_for_turn("waiting for another run", || self.state.learning.lock()).await?;
        let mut switched_off = self.state.switched_off.subscribe();
        let (embedder, learnable) = self.learnable(which).await?;
        let ended = |summary: &str| Ok(JobOutcome { summary: summary.to_owned(), tally: None });
        if learnable.is_empty() {
            return ended("There is not enough to learn from yet");
        }
        let stored = Arc::new(self.workspace.library.vectors(&vector_recipe(&embedder)).await?);
        if stored.is_empty() {
            return ended("The cards are still being prepared for semantic search");
        }
        let total = learnable.len();
        progress.set_done(0, total as u64);
        let mut in_use = 0;
        let mut failure = None;
        for (at, Learnable { profile, pairs, since }) in learnable.into_iter().enumerate() {
            progress.check_cancelled()?;
            let count = pairs.len() as u32;
            match self.fit(&embedder, &stored, pairs, progress, &mut switched_off).await {
                Ok((outcome, adapter)) => {
                    let improves = adapter.is_some();
                    let compared = outcome.refusal != Some(Refusal::TooFewGroups);
                    let learned = LearnedProfile {
                        since,
                        pairs: count,
                        model: embedder.id().to_owned(),
                        comparison: compared.then(|| comparison(&outcome, self.workspace.clock.stamp())),
                        adapter,
                    };
                    in_use += usize::from(self.keep(profile, learned).await? && improves);
                }
                Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
                // What one profile asked keeps no other one from learning.
                Err(error) => {
                    tracing::error!(%error, profile, "failed to learn from use");
                    failure = Some(error);
                }
            }
            progress.set_done(at as u64 + 1, total as u64);
        }
        // Nobody waits for what is learned in the background, and it is tried again.
        if let Some(error) = failure.filter(|_| which == Which::All) {
            return Err(error);
        }
        ended(&format!(
            "Learned for {total} {}, {in_use} in use",
            if total == 1 { "profile" } else { "profiles" }
        ))
    }

    /// Stores what was learned for a profile, unless it was reset meanwhile; returns whether it did.
    ///
    /// # Errors
    /// `cancelled` when personalization was switched off meanwhile.
    async fn keep(&self, profile: String, new: LearnedProfile) -> Result<bool> {
        let _changing = self.state.changing.lock().await;
        let mut learned = (*self.search.learned().await?).clone();
        if !learned.enabled {
            return Err(ApiError::new(
                ErrorCode::Cancelled,
                "personalization was switched off",
                "Switch it on first.",
            ));
        }
        let known = learned.profiles.entry(profile).or_default();
        let keeps = known.since == new.since;
        if keeps {
            *known = new;
            self.search.set_learned(learned).await?;
        }
        Ok(keeps)
    }

    /// Returns the model and the profiles to learn for; none where personalization is switched off.
    ///
    /// # Errors
    /// `no_model` if there is none.
    async fn learnable(&self, which: Which) -> Result<(Arc<Embedder>, Vec<Learnable>)> {
        self.models.wait_until_ready().await;
        let embedder = self.models.embedder().ok_or_else(|| {
            ApiError::new(
                ErrorCode::NoModel,
                "an embedding model is needed to learn from use",
                "Download one in Settings, Embedding model.",
            )
        })?;
        let learned = self.search.learned().await?;
        if !learned.enabled {
            return Ok((embedder, Vec::new()));
        }
        let needed = Options::default().min_groups;
        let mut learnable = Vec::new();
        for (profile, pairs) in self.evidence(&learned).await? {
            let known = learned.profiles.get(&profile).cloned().unwrap_or_default();
            // Old pairs go as new ones come.
            let new = match &known.comparison {
                Some(comparison) => pairs.iter().filter(|pair| pair.at > comparison.at).count(),
                None => pairs.len().saturating_sub(known.pairs as usize),
            };
            let is_due =
                known.model != embedder.id() || new >= MIN_NEW.0.max(known.pairs as usize / MIN_NEW.1);
            if questions(&pairs) >= needed && (which == Which::All || is_due) {
                learnable.push(Learnable { profile, pairs, since: known.since });
            }
        }
        Ok((embedder, learnable))
    }

    /// Reads what happened since each profile was last reset, of cards that still exist.
    async fn evidence(&self, learned: &Learned) -> Result<Evidence> {
        let mut evidence = evidence::read(&self.workspace.library).await?;
        let exists = |pair: &Pair| self.workspace.library.read(|replica| replica.get(&pair.card).is_some());
        for (profile, pairs) in &mut evidence {
            let since = learned.profiles.get(profile).and_then(|profile| profile.since);
            pairs.retain(|pair| since.is_none_or(|since| pair.at > since) && exists(pair));
        }
        evidence.retain(|_, pairs| !pairs.is_empty());
        Ok(evidence)
    }

    /// Compares searches without and with an adapter, and returns the adapter if it is to be used.
    async fn fit(
        &self,
        embedder: &Arc<Embedder>,
        stored: &Arc<Vec<StoredVectors>>,
        pairs: Vec<Pair>,
        progress: &Progress,
        switched_off: &mut watch::Receiver<u64>,
    ) -> Result<(Outcome, Option<Adapter>)> {
        let stopped = Arc::new(AtomicBool::new(false));
        let (searcher, embedder) = (Arc::clone(self.models.searcher()), Arc::clone(embedder));
        let stored = Arc::clone(stored);
        let (now, stop) = (self.workspace.clock.stamp(), Arc::clone(&stopped));
        let fitting = in_background(move || fit(&searcher, &embedder, &stored, &pairs, now, &stop));
        let mut fitting = pin!(fitting);
        tokio::select! {
            fitted = &mut fitting => return fitted,
            () = progress.wait_until_cancelled() => {}
            // The sender lives in `self`.
            _ = switched_off.changed() => {}
            () = self.workspace.wait_for_shutdown() => {}
        }
        stopped.store(true, Ordering::Relaxed);
        // Until then the processor is busy with it.
        let _ = fitting.await;
        Err(ApiError::cancelled())
    }

    /// Returns what begins anew where what was learned cannot be read: whether it is switched on, as far as that can be.
    async fn unreadable(&self) -> Result<Learned> {
        let stored: Option<serde_json::Value> = self.workspace.load_setting(Setting::Personalization).await?;
        let enabled = stored.as_ref().and_then(|stored| stored.get("enabled")?.as_bool());
        Ok(Learned { enabled: enabled.unwrap_or(true), ..Learned::default() })
    }

    async fn view(&self) -> Result<Personalization> {
        let learned = self.search.learned().await?;
        let evidence = self.evidence(&learned).await?;
        let needed = Options::default().min_groups as u32;
        let model = self.models.embedder().map(|embedder| embedder.id().to_owned());
        let names: BTreeSet<&String> = evidence.keys().chain(learned.profiles.keys()).collect();
        let none = (Vec::new(), LearnedProfile::default());
        let profiles = names.into_iter().map(|name| {
            let pairs = evidence.get(name).unwrap_or(&none.0);
            let known = learned.profiles.get(name).unwrap_or(&none.1);
            let of = |source| pairs.iter().filter(|pair| pair.source == source).count() as u32;
            let questions = questions(pairs) as u32;
            let is_current = model.as_ref() == Some(&known.model);
            PersonalProfile {
                profile: name.clone(),
                state: match (&known.adapter, &known.comparison) {
                    (Some(_), _) if is_current => LearningState::InUse,
                    (None, Some(_)) if is_current => LearningState::NotBetter,
                    _ if questions < needed => LearningState::Collecting,
                    _ => LearningState::Waiting,
                },
                questions,
                ratings: of(Source::Answer),
                calls: of(Source::Use),
                edits: of(Source::Edit),
                since: known.since,
                comparison: known.comparison.clone(),
            }
        });
        Ok(Personalization { enabled: learned.enabled, needed, profiles: profiles.collect() })
    }
}

/// From what to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// Where enough is new.
    Due,
    /// Everything.
    All,
}

/// Returns the number of different questions that a card answered.
fn questions(pairs: &[Pair]) -> usize {
    let helpful = pairs.iter().filter(|pair| pair.helpful);
    helpful.map(|pair| pair.question.as_str()).collect::<BTreeSet<_>>().len()
}

fn comparison(outcome: &Outcome, at: Timestamp) -> LearningComparison {
    LearningComparison {
        at,
        questions: outcome.groups as u32,
        before: outcome.before,
        after: outcome.after,
        lower: outcome.lower,
        upper: outcome.upper,
        better: outcome.wins as u32,
        worse: outcome.losses as u32,
    }
}

fn fit(
    searcher: &Searcher,
    embedder: &Embedder,
    stored: &[StoredVectors],
    pairs: &[Pair],
    now: Timestamp,
    stopped: &AtomicBool,
) -> Result<(Outcome, Option<Adapter>)> {
    let failed = |error: autokit_adapter::Error| match error {
        autokit_adapter::Error::Cancelled => ApiError::cancelled(),
        error => ApiError::internal(error.to_string()),
    };
    let dim = embedder.dim();
    let (mut vectors, mut offsets) = (Vec::new(), vec![0_u32]);
    let mut places: HashMap<&str, u32> = HashMap::with_capacity(stored.len());
    for (at, card) in stored.iter().enumerate() {
        vectors.extend_from_slice(&card.values);
        offsets.push((vectors.len() / dim) as u32);
        places.insert(card.card.as_str(), at as u32);
    }
    // Cards without a vector cannot be learned about.
    let known: Vec<(&Pair, u32)> =
        pairs.iter().filter_map(|pair| Some((pair, *places.get(pair.card.as_str())?))).collect();
    let mut texts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut questions = Vec::new();
    let mut asked = Vec::new();
    let stop = || stopped.load(Ordering::Relaxed);
    let check = || if stop() { Err(ApiError::cancelled()) } else { Ok(()) };
    for (pair, _) in &known {
        check()?;
        if !texts.contains_key(pair.question.as_str()) {
            texts.insert(&pair.question, questions.len() as u32);
            asked.push(pair.question.as_str());
            questions.push(Question { vector: embedder.embed_query(&pair.question)?, prior: Vec::new() });
        }
    }
    // As a person searches, but without feedback: the rating of a question would answer it.
    let search = |question: usize, adapter: Option<&Adapter>| {
        let request = SearchRequest {
            query: asked[question].to_owned(),
            mode: Mode::Hybrid,
            personal: Arc::new(Personal { opinions: Vec::new(), adapter: adapter.cloned() }),
            limit: RANKED,
            ..SearchRequest::default()
        };
        searcher.search(&request).map_err(|error| autokit_adapter::Error::Search(error.to_string()))
    };
    let place = |hit: &Hit| places.get(hit.id.as_str()).copied();
    for (at, question) in questions.iter_mut().enumerate() {
        check()?;
        let hits = search(at, None).map_err(failed)?.hits;
        question.prior =
            hits.iter().filter_map(|hit| Some((place(hit)?, hit.parts.keyword_evidence()))).collect();
    }
    let observations = known.iter().map(|(pair, card)| Observation {
        question: texts[pair.question.as_str()],
        card: *card,
        helpful: pair.helpful,
        source: pair.source,
        at: pair.at.instant().as_second().unsigned_abs(),
    });
    let cards = Cards { vectors: &vectors, offsets: &offsets };
    let dataset =
        Dataset::new(embedder.id(), dim, cards, questions, observations.collect()).map_err(failed)?;
    let fit = FitOptions { now: now.instant().as_second().unsigned_abs(), ..FitOptions::default() };
    let rank = |question: usize, adapter: Option<&Adapter>| {
        Ok(search(question, adapter)?.hits.iter().filter_map(place).collect::<Vec<u32>>())
    };
    let options = Options { fit, ..Options::default() };
    // One thread: it is nothing that anybody waits for.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| ApiError::internal(format!("threads could not be started: {error}")))?;
    pool.install(|| learn(&dataset, &options, Some(&rank), &stop)).map_err(failed)
}

#[async_trait]
impl Handle<GetPersonalization> for Learning {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Personalization> {
        self.view().await
    }
}

#[async_trait]
impl Handle<SetPersonalization> for Learning {
    async fn handle(&self, _: &Context, request: PersonalizationSet) -> Result<Personalization> {
        let changing = self.state.changing.lock().await;
        let learned = Learned { enabled: request.enabled, ..(*self.search.learned().await?).clone() };
        self.search.set_learned(learned).await?;
        drop(changing);
        if !request.enabled {
            self.state.switched_off.send_modify(|times| *times += 1);
        }
        self.view().await
    }
}

#[async_trait]
impl Handle<LearnPersonalization> for Learning {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<JobRef> {
        if !self.search.learned().await?.enabled {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "personalization is switched off",
                "Switch it on first.",
            ));
        }
        self.workspace.library.ensure_writable()?;
        Ok(self.start_job(Which::All))
    }
}

#[async_trait]
impl Handle<ResetPersonalization> for Learning {
    async fn handle(&self, _: &Context, request: PersonalizationProfiles) -> Result<Personalization> {
        let since = Some(self.workspace.clock.stamp());
        let read = evidence::read(&self.workspace.library).await?;
        let changing = self.state.changing.lock().await;
        let mut learned = match self.search.learned().await {
            Err(error) if request.profile.is_none() => {
                tracing::warn!(%error, "forgetting what was learned from use");
                self.unreadable().await?
            }
            learned => (*learned?).clone(),
        };
        let names: BTreeSet<String> = read.into_keys().chain(learned.profiles.keys().cloned()).collect();
        let names = match request.profile {
            Some(profile) if !names.contains(&profile) => return Err(unknown_profile(&profile)),
            Some(profile) => BTreeSet::from([profile]),
            None => names,
        };
        for name in names {
            learned.profiles.insert(name, LearnedProfile { since, ..LearnedProfile::default() });
        }
        self.search.set_learned(learned).await?;
        drop(changing);
        self.view().await
    }
}

#[async_trait]
impl Handle<ExportPersonalization> for Learning {
    async fn handle(&self, _: &Context, request: PersonalizationProfiles) -> Result<PersonalizationExport> {
        let mut learned = (*self.search.learned().await?).clone();
        let mut of = String::new();
        if let Some(profile) = request.profile {
            learned.profiles.retain(|name, _| *name == profile);
            if learned.profiles.is_empty() {
                return Err(ApiError::new(
                    ErrorCode::NotFound,
                    format!("nothing was learned for {profile:?} yet"),
                    "Learn first, or export another profile.",
                ));
            }
            of = profile.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect::<String>() + "-";
        }
        let text =
            serde_json::to_string_pretty(&learned).map_err(|error| ApiError::internal(error.to_string()))?;
        let file = format!("autokit-personalization-{of}{}.json", self.workspace.clock.stamp().date());
        Ok(PersonalizationExport { file, text: text + "\n" })
    }
}

fn unknown_profile(profile: &str) -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        format!("nothing was learned or collected for {profile:?}"),
        "Use a name that is shown.",
    )
}
