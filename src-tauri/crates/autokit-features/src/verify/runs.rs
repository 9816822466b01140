//! Runs of checks: selects the cards, checks them, and remembers its progress.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_api::{Job, JobId, JobKind, JobRef, JobState, JobTally, Setting, VerifyScope};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_fuel::{Advisor, Fuel, Visits};
use autokit_library::{CardRecord, Verification};
use autokit_toolcard::{CardId, CardKey, Timestamp};
use autokit_workspace::jobs::{Outcome, Progress};
use futures_util::StreamExt;
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, Semaphore};

use super::Checking;
use super::card::{CheckOutcome, RETRY_AFTER, Tally};

/// Cards checked concurrently; the HTTP client allows two requests per host.
const MAX_CONCURRENT: usize = 8;
/// Cards that search the web concurrently.
const MAX_CONCURRENT_SEARCHES: usize = 2;
/// Time limit for a page. A human reader would have given up by then.
const PAGE_TIMEOUT: Duration = Duration::from_secs(8);
/// A run interrupted for longer than this starts over, because much of what it found is outdated.
const MAX_INTERRUPTION: SignedDuration = SignedDuration::from_hours(24);
/// Number of cards after which a run records the day's health.
const HEALTH_INTERVAL: u64 = 100;
/// Message of a run that waits for its turn.
const QUEUED_NOTE: &str = "Waiting for another run";

/// The checks in progress.
#[derive(Debug, Default)]
pub(super) struct ActiveRuns {
    /// One resumable run at a time; checks of named cards do not wait for it.
    run: tokio::sync::Mutex<()>,
    /// One automatic run at a time.
    automatic: tokio::sync::Mutex<()>,
    runs: Mutex<Vec<ActiveRun>>,
    /// Cards being checked: one check per card at a time.
    cards: Mutex<HashSet<CardId>>,
    freed: Notify,
}

/// A run that is in progress or waits for its turn.
#[derive(Debug)]
struct ActiveRun {
    scope: VerifyScope,
    improve: bool,
    job: JobId,
}

/// The exclusive right to check a card, released on drop.
pub(super) struct CardLock<'a> {
    active: &'a ActiveRuns,
    card: CardId,
}

impl Drop for CardLock<'_> {
    fn drop(&mut self) {
        self.active.cards.lock().expect("no holder panics").remove(&self.card);
        self.active.freed.notify_waiters();
    }
}

impl ActiveRuns {
    pub(super) async fn lock_card(&self, card: &CardId) -> CardLock<'_> {
        loop {
            let freed = self.freed.notified();
            if self.cards.lock().expect("no holder panics").insert(card.clone()) {
                return CardLock { active: self, card: card.clone() };
            }
            freed.await;
        }
    }
}

/// Who started a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RunOrigin {
    /// A person. A run over named cards is done at once or not at all; any other is resumed after a
    /// restart.
    #[default]
    Requested,
    /// A person, starting over whatever was done before.
    Restarted,
    /// Resumed: it was in progress when it was interrupted.
    Resumed,
    /// Nobody: the checks are due.
    Automatic,
}

/// A run that was started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    scope: VerifyScope,
    /// Whether better descriptions are proposed as well.
    #[serde(default)]
    improve: bool,
    /// When it started. Cards checked since then are done.
    began: Timestamp,
    /// Whether a person stopped it: it is then resumed on request only.
    #[serde(default)]
    stopped: bool,
    #[serde(skip)]
    origin: RunOrigin,
}

impl Run {
    /// Returns whether the run is stored so that it can be resumed.
    fn is_resumable(&self) -> bool {
        is_resumable(&self.scope)
    }
}

fn is_resumable(scope: &VerifyScope) -> bool {
    !matches!(scope, VerifyScope::Cards { .. })
}

impl Checking {
    /// Starts a run of checks, or returns the job of an identical one in progress.
    pub(super) fn start_verify(&self, scope: VerifyScope, improve: bool, origin: RunOrigin) -> JobRef {
        let run = Run { scope, improve, began: self.workspace.clock.stamp(), stopped: false, origin };
        self.start_run(run)
    }

    fn start_run(&self, run: Run) -> JobRef {
        let checking = self.clone();
        let title = match &run.scope {
            VerifyScope::Cards { cards } if cards.len() == 1 => {
                // Shows the card's name: the request may hold an id, which says little to a person.
                let name = self.workspace.find_card(&cards[0]).map(|record| record.key.name.clone());
                format!("Checking {}", name.as_ref().unwrap_or(&cards[0]))
            }
            VerifyScope::Due => "Retrying pages".to_owned(),
            _ => "Checking cards".to_owned(),
        };
        let mut runs = self.active.runs.lock().expect("no holder panics");
        let jobs = self.workspace.jobs.list();
        let running = |job: &JobId| jobs.iter().find(|one| one.id == *job && one.state == JobState::Running);
        runs.retain(|one| running(&one.job).is_some());
        let same = runs.iter().find(|one| {
            // A run over named cards does not wait for an identical one that is paused.
            let is_paused = || running(&one.job).is_some_and(|job| job.paused == Some(true));
            one.scope == run.scope && one.improve == run.improve && (run.is_resumable() || !is_paused())
        });
        if let Some(same) = same {
            return JobRef { job: same.job.clone() };
        }
        let (scope, improve) = (run.scope.clone(), run.improve);
        let started = self.workspace.jobs.start(JobKind::Verify, &title, "cards", |progress| async move {
            progress.allow_pausing();
            checking.verify(run, &progress).await
        });
        runs.push(ActiveRun { scope, improve, job: started.job.clone() });
        started
    }

    /// Returns whether checks are in progress that will also cover those that are due. A paused run does
    /// not count, so that new cards do not wait for it.
    pub(super) fn is_checking(&self) -> bool {
        if self.active.automatic.try_lock().is_err() {
            return true;
        }
        let runs = self.active.runs.lock().expect("no holder panics");
        let resumable = |job: &&Job| runs.iter().any(|one| one.job == job.id && is_resumable(&one.scope));
        let jobs = self.workspace.jobs.list();
        let running = jobs.iter().filter(|job| job.state == JobState::Running).filter(resumable);
        let paused: Vec<bool> = running.map(|job| job.paused == Some(true)).collect();
        !paused.is_empty() && !paused.contains(&true)
    }

    async fn verify(&self, mut run: Run, progress: &Progress) -> Result<Outcome> {
        let _permit = match run.origin {
            RunOrigin::Automatic => {
                Some(progress.wait_for_turn(QUEUED_NOTE, || self.active.automatic.lock()).await?)
            }
            _ if run.is_resumable() => {
                Some(progress.wait_for_turn(QUEUED_NOTE, || self.active.run.lock()).await?)
            }
            _ => None,
        };
        if run.is_resumable() {
            if run.origin == RunOrigin::Requested {
                self.continue_interrupted(&mut run).await?;
            }
            self.save_run(Some(&run)).await?;
        }
        let result = self.verify_all(&mut run, progress).await;
        if run.is_resumable() {
            // A run that was interrupted by shutdown or by an error can be resumed.
            let cancelled = result.as_ref().is_err_and(|error| error.code == ErrorCode::Cancelled);
            if result.is_ok() {
                self.save_run(None).await?;
            } else if cancelled && !progress.is_shutting_down() {
                self.save_run(Some(&Run { stopped: true, ..run })).await?;
            }
        }
        self.record_health().await?;
        result
    }

    async fn save_run(&self, run: Option<&Run>) -> Result<()> {
        match run {
            Some(run) => self.workspace.save_setting(Setting::VerifyRun, run).await,
            None => self.workspace.clear_setting(Setting::VerifyRun).await,
        }
    }

    async fn saved_run(&self) -> Result<Option<Run>> {
        self.workspace.load_setting(Setting::VerifyRun).await
    }

    /// Resumes a run that was in progress when the program result.
    pub(super) async fn resume_run(&self) -> Result<()> {
        if let Some(run) = self.saved_run().await?.filter(|run| !run.stopped) {
            self.start_run(Run { origin: RunOrigin::Resumed, ..run });
        }
        Ok(())
    }

    /// Continues from where the same run was interrupted, if that was recently.
    async fn continue_interrupted(&self, run: &mut Run) -> Result<()> {
        let same = |saved: &Run| saved.scope == run.scope && saved.improve == run.improve;
        let Some(saved) = self.saved_run().await?.filter(same) else { return Ok(()) };
        let now = self.workspace.clock.stamp();
        let last = self
            .newest_checks()
            .await?
            .into_values()
            .map(|found| found.checked_at)
            .filter(|at| *at >= saved.began && *at <= now)
            .max()
            .unwrap_or(saved.began);
        let too_old = now.instant().duration_since(last.instant()) > MAX_INTERRUPTION;
        // A run that started while the clock was ahead would consider every card done.
        if saved.began <= now && !too_old {
            run.began = saved.began;
            run.origin = RunOrigin::Resumed;
        }
        Ok(())
    }

    async fn verify_all(&self, run: &mut Run, progress: &Progress) -> Result<Outcome> {
        let known = self.newest_checks().await?;
        let mut records = self.in_scope(run, &known).await?;
        if run.origin == RunOrigin::Resumed {
            let restarted =
                Run { began: self.workspace.clock.stamp(), origin: RunOrigin::Restarted, ..run.clone() };
            let all = self.in_scope(&restarted, &known).await?;
            if records.is_empty() {
                // The interrupted run had finished but could not record it, so this one starts over.
                (records, *run) = (all, restarted);
                self.save_run(Some(run)).await?;
            } else if records.len() < all.len() {
                let done = all.len() - records.len();
                let began = clock_time(run.began);
                progress.set_note(&format!("Resuming the run from {began}: {done} of {} done", all.len()));
            }
        }
        // Pages are told apart by meaning, so wait until the model is loaded.
        self.models.wait_until_ready().await;
        let fuel = self.fuel(run.improve);
        let starter = starter_keys()?;
        let total = records.len() as u64;
        let (mut done, mut tally) = (0, Tally::default());
        let checked = AtomicU64::new(0);
        progress.set_done(0, total);
        let each = records.into_iter().map(|record| {
            let (fuel, starter, checked) = (&fuel, &starter, &checked);
            async move {
                progress.wait_while_paused().await?;
                let outcome = self.verify_card(fuel, &record.id, starter).await?;
                // Here, where the other checks go on: one of them may be next to write to the library, and would
                // never do so if this were awaited where the outcomes are counted.
                if (checked.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(HEALTH_INTERVAL) {
                    self.record_health().await?;
                }
                Ok::<_, ApiError>(outcome)
            }
        });
        let mut checking = futures_util::stream::iter(each).buffer_unordered(MAX_CONCURRENT);
        loop {
            let next = tokio::select! {
                next = checking.next() => next,
                () = progress.wait_until_cancelled() => return Err(ApiError::cancelled()),
            };
            let Some(found) = next.transpose()? else { break };
            match found {
                CheckOutcome::Checked { state, proposed, withdrawn } => {
                    tally.count(state);
                    tally.proposed += u32::from(proposed);
                    tally.withdrawn += withdrawn;
                }
                CheckOutcome::Removed => {}
                CheckOutcome::Offline => {
                    let waiting = match total - done {
                        1 => "1 card left to check".to_owned(),
                        many => format!("{many} cards left to check"),
                    };
                    return Err(ApiError::new(
                        ErrorCode::NoConnection,
                        format!("no network connection; {waiting}"),
                        "Start it again when you are online.",
                    ));
                }
            }
            done += 1;
            progress.set_done(done, total);
        }
        let job_tally = JobTally { proposed: tally.proposed, ..JobTally::default() };
        Ok(Outcome { summary: tally.summary(), tally: Some(job_tally) })
    }

    /// Returns the newest check of every checked card. Checks dated in the future, written while the clock
    /// was ahead, are ignored: they would keep their cards from being checked until then.
    pub(super) async fn newest_checks(&self) -> Result<HashMap<CardId, Verification>> {
        let now = self.workspace.clock.stamp();
        let all = self.workspace.library.verifications().await?;
        let past = all.into_iter().filter(|found| found.checked_at <= now);
        Ok(past.map(|found| (found.card.clone(), found)).collect())
    }

    /// Returns the cards of a run that are not done yet.
    async fn in_scope(
        &self,
        run: &Run,
        known: &HashMap<CardId, Verification>,
    ) -> Result<Vec<Arc<CardRecord>>> {
        let now = self.workspace.clock.stamp();
        let named: Option<HashSet<CardId>> = match &run.scope {
            VerifyScope::Cards { cards } => {
                // Cards deleted since they were named are skipped.
                Some(
                    cards
                        .iter()
                        .filter_map(|text| Some(self.workspace.find_card(text).ok()?.id.clone()))
                        .collect(),
                )
            }
            VerifyScope::Matching { query } => {
                Some(self.catalogue.select(query).await?.iter().map(|record| record.id.clone()).collect())
            }
            _ => None,
        };
        let limit = match run.scope {
            VerifyScope::Older { days } => super::days_before(now, days),
            _ => None,
        };
        let is_in_scope = |record: &&Arc<CardRecord>| {
            let last = known.get(&record.id);
            let current = last.filter(|last| !last.is_outdated(record.number));
            if run.is_resumable() && current.is_some_and(|last| last.checked_at >= run.began) {
                return false;
            }
            let is_due = || last.and_then(|last| last.next_at).is_some_and(|next| next <= now);
            match &run.scope {
                VerifyScope::Cards { .. } | VerifyScope::Matching { .. } => {
                    named.as_ref().is_some_and(|named| named.contains(&record.id))
                }
                VerifyScope::All => true,
                VerifyScope::Due => is_due(),
                VerifyScope::Older { .. } => {
                    is_due() || current.is_none_or(|last| limit.is_some_and(|limit| last.checked_at <= limit))
                }
            }
        };
        Ok(self.workspace.library.read(|replica| replica.iter().filter(is_in_scope).cloned().collect()))
    }

    pub(super) fn fuel(&self, improve: bool) -> Fuel {
        let services = self.providers.services();
        Fuel {
            reader: services.page_reader(self.models.query_embedder()),
            providers: services.search.iter().cloned().collect(),
            github: services.github.clone(),
            search_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_SEARCHES)),
            visits: Visits::default(),
            page_timeout: PAGE_TIMEOUT,
            attempts: RETRY_AFTER.len() as u32 + 1,
            advisor: services.large.clone().zip(services.small.clone()).map(|(large, small)| Advisor {
                small,
                large,
                prompts: services.prompts.clone(),
            }),
            improve,
        }
    }
}

/// Returns the keys of the starter cards.
pub(super) fn starter_keys() -> Result<HashSet<CardKey>> {
    Ok(crate::starter::cards()?.cards.iter().map(|item| item.card.key()).collect())
}

/// Formats a time as local hours and minutes.
fn clock_time(at: Timestamp) -> String {
    at.instant().to_zoned(TimeZone::system()).strftime("%H:%M").to_string()
}
