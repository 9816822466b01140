//! Cards against their pages, in the background: politely, with a memory of where it was (FUEL,
//! verifier and fixer).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use autokit_fuel::{Advisor, Case, Examined, Fuel, Pages};
use autokit_library::{CardRecord, HealthCounts, Verification, stamp};
use autokit_toolcard::{Author, CardId, CardKey, CardState, fields};
use futures_util::StreamExt;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::api::{
    CardRef, CardVerification, CheckSettings, Checked, Event, JobKind, JobRef, Nothing, VerifyScope,
    VerifyStart,
};
use crate::commands::{Context, GetCheckSettings, GetVerification, Handle, SetCheckSettings, StartVerify};
use crate::error::{ApiError, ErrorCode, Result};
use crate::jobs::{Outcome, Progress};

use super::{Core, Engine};

/// Cards looked at at a time; the client lets two requests through to one host.
const AT_ONCE: usize = 8;
/// How long a page may take. A reader would have given up before.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long after the first, the second … failure in a row a page is tried again. After one more
/// another page is sought.
const AGAIN: [SignedDuration; 2] = [SignedDuration::from_hours(6), SignedDuration::from_hours(24)];
/// Setting: the run under way, to go on after a restart.
const RUN_SETTING: &str = "verify_run";
/// Setting: when cards are checked without being asked to.
const CHECKS_SETTING: &str = "checks";
/// Cards after which the day's health is written down while a run goes on.
const NOTE_EVERY: u64 = 100;
/// How long the library has to rest before it is looked through for new cards.
const REST: Duration = Duration::from_secs(3);
/// How often a process that stays looks whether a check is due.
const LOOK_EVERY: Duration = Duration::from_mins(10);

/// A run that was begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    scope: VerifyScope,
    /// Better descriptions are proposed as well.
    #[serde(default)]
    improve: bool,
    /// Cards checked since then are done.
    began: String,
}

/// What looking at one card came to.
#[derive(Clone, Copy, Debug)]
enum Found {
    Checked {
        state: CardState,
        /// Something new waits in Review.
        proposed: bool,
    },
    /// There is no network: nothing was checked.
    Offline,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    counts: HealthCounts,
    proposed: u32,
}

impl Tally {
    fn count(&mut self, state: CardState) {
        let count = match state {
            CardState::Verified => &mut self.counts.verified,
            CardState::Stale => &mut self.counts.stale,
            CardState::Broken => &mut self.counts.broken,
            CardState::Unreachable => &mut self.counts.unreachable,
        };
        *count += 1;
    }

    fn summary(&self) -> String {
        let counts = &self.counts;
        let parts = [
            (counts.verified, "verified"),
            (counts.stale, "stale"),
            (counts.broken, "broken"),
            (counts.unreachable, "not reached"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let found = if parts.is_empty() { "Nothing to check".to_owned() } else { parts.join(", ") };
        match self.proposed {
            0 => found,
            1 => format!("{found}; 1 proposal waits in Review"),
            many => format!("{found}; {many} proposals wait in Review"),
        }
    }
}

/// The moment this many days ago; none where the calendar does not reach that far.
fn days_before(now: Timestamp, days: u32) -> Option<String> {
    now.checked_sub(SignedDuration::from_hours(24 * i64::from(days))).ok().map(stamp)
}

impl Core {
    /// Starts a run of checks.
    pub(crate) fn start_verify(self: &Arc<Self>, scope: VerifyScope, improve: bool) -> JobRef {
        let run = Run { scope, improve, began: self.options.clock.stamp() };
        self.start_run(run)
    }

    fn start_run(self: &Arc<Self>, run: Run) -> JobRef {
        let core = Arc::clone(self);
        let title = match &run.scope {
            VerifyScope::Cards { cards } if cards.len() == 1 => {
                // By its name: what is asked for may be an id, which says little to a person.
                let name = self.find(&cards[0]).map(|record| record.key.name.clone());
                format!("Checking {}", name.as_ref().unwrap_or(&cards[0]))
            }
            VerifyScope::Due => "Trying pages again".to_owned(),
            _ => "Checking cards".to_owned(),
        };
        self.jobs.start(JobKind::Verify, &title, "cards", |progress| async move {
            progress.pausable();
            core.verify(run, &progress).await
        })
    }

    async fn verify(&self, run: Run, progress: &Progress) -> Result<Outcome> {
        let _turn = tokio::select! {
            turn = self.verifying.lock() => turn,
            () = progress.stopped() => return Err(ApiError::cancelled()),
        };
        // What one asked for by name is done at once or not at all; long runs go on after a restart.
        let lasting = !matches!(run.scope, VerifyScope::Cards { .. });
        if lasting {
            let text = serde_json::to_string(&run).map_err(|error| ApiError::internal(error.to_string()))?;
            self.library.set_setting(RUN_SETTING, &text).await?;
        }
        let ended = self.verify_all(&run, progress).await;
        // The end of the program is no end of the run; a failure is none either.
        let stopped =
            ended.as_ref().is_err_and(|error| error.code == ErrorCode::Cancelled) && !progress.ending();
        if lasting && (ended.is_ok() || stopped) {
            self.library.set_setting(RUN_SETTING, "").await?;
        }
        self.note_health().await?;
        ended
    }

    async fn verify_all(&self, run: &Run, progress: &Progress) -> Result<Outcome> {
        let known = self.newest_checks().await?;
        let records = self.in_scope(run, &known).await?;
        // Ranking by meaning tells pages apart; a check that began before the model was there would not.
        self.model_settled().await;
        let fuel = self.fuel(run.improve);
        let total = records.len() as u64;
        let (mut done, mut tally) = (0, Tally::default());
        progress.at(0, total);
        let each = records.into_iter().map(|record| {
            let (fuel, known) = (&fuel, &known);
            async move {
                progress.turn().await?;
                let attempts = known.get(&record.id).map_or(0, |found| found.attempts);
                self.verify_card(fuel, &record, attempts).await
            }
        });
        let mut checking = futures_util::stream::iter(each).buffer_unordered(AT_ONCE);
        loop {
            let next = tokio::select! {
                next = checking.next() => next,
                () = progress.stopped() => return Err(ApiError::cancelled()),
            };
            let Some(found) = next.transpose()? else { break };
            let Found::Checked { state, proposed } = found else {
                let waiting = total - done;
                let summary = format!("There is no network: {waiting} cards wait for their check");
                return Ok(Outcome { summary, tally: None });
            };
            tally.count(state);
            tally.proposed += u32::from(proposed);
            done += 1;
            progress.at(done, total);
            if done % NOTE_EVERY == 0 {
                self.note_health().await?;
            }
        }
        Ok(Outcome { summary: tally.summary(), tally: None })
    }

    /// The newest check of every card that was checked.
    async fn newest_checks(&self) -> Result<HashMap<CardId, Verification>> {
        let all = self.library.verifications().await?;
        Ok(all.into_iter().map(|found| (found.card.clone(), found)).collect())
    }

    /// The cards of a run that are not done yet.
    async fn in_scope(
        &self,
        run: &Run,
        known: &HashMap<CardId, Verification>,
    ) -> Result<Vec<Arc<CardRecord>>> {
        let now = self.options.clock.stamp();
        let named: Option<HashSet<CardId>> = match &run.scope {
            VerifyScope::Cards { cards } => {
                Some(cards.iter().map(|text| Ok(self.find(text)?.id.clone())).collect::<Result<_>>()?)
            }
            VerifyScope::Matching { query } => {
                Some(self.select(query).await?.iter().map(|record| record.id.clone()).collect())
            }
            _ => None,
        };
        let limit = match run.scope {
            VerifyScope::Older { days } => days_before(self.options.clock.now(), days),
            _ => None,
        };
        let wanted = |record: &&Arc<CardRecord>| {
            let last = known.get(&record.id);
            let by_name = matches!(run.scope, VerifyScope::Cards { .. });
            if !by_name && last.is_some_and(|last| last.checked_at >= run.began) {
                return false;
            }
            let again = || last.and_then(|last| last.next_at.as_ref()).is_some_and(|next| *next <= now);
            match &run.scope {
                VerifyScope::Cards { .. } | VerifyScope::Matching { .. } => {
                    named.as_ref().is_some_and(|named| named.contains(&record.id))
                }
                VerifyScope::All => true,
                VerifyScope::Due => again(),
                VerifyScope::Older { .. } => {
                    again()
                        || last
                            .is_none_or(|last| limit.as_ref().is_some_and(|limit| last.checked_at <= *limit))
                }
            }
        };
        Ok(self.library.read(|replica| replica.iter().filter(wanted).cloned().collect()))
    }

    fn fuel(&self, improve: bool) -> Fuel {
        let services = self.services.load_full();
        Fuel {
            fetcher: services.fetcher.clone(),
            providers: services.search.iter().cloned().collect(),
            senses: self.senses(),
            pages: Pages::default(),
            patience: PATIENCE,
            attempts: AGAIN.len() as u32 + 1,
            advisor: services.large.clone().zip(services.small.clone()).map(|(large, small)| Advisor {
                small,
                large,
                prompts: services.prompts.clone(),
            }),
            improve,
        }
    }

    /// Examines a card and keeps what was found; says whether something is proposed.
    async fn verify_card(&self, fuel: &Fuel, record: &CardRecord, attempts: u32) -> Result<Found> {
        let card = record.card();
        let began = self.options.clock.stamp();
        let case = Case { id: &record.id, revision: record.number, card: &card, attempts, now: &began };
        let Examined { report, draft } =
            fuel.examine(&case).await.map_err(|error| ApiError::internal(error.to_string()))?;
        if report.offline {
            return Ok(Found::Offline);
        }
        let state = report.state;
        let proposed = match draft {
            Some(draft) => {
                let by = Author("AutoKit verifier".to_owned());
                !self.propose(draft, &by).await?.kept.is_empty()
            }
            None => false,
        };
        // Only what may get better by itself is tried again unasked; a closed page stays closed.
        let next = (state == CardState::Unreachable && report.link.is_temporary())
            .then(|| AGAIN.get(report.attempts.saturating_sub(1) as usize).or(AGAIN.last()))
            .flatten()
            .and_then(|wait| self.options.clock.now().checked_add(*wait).ok())
            .map(stamp);
        let verification = Verification {
            card: record.id.clone(),
            state,
            checked_at: self.options.clock.stamp(),
            attempts: report.attempts,
            next_at: next,
            report: serde_json::to_value(&report).map_err(|error| ApiError::internal(error.to_string()))?,
        };
        self.library.put_verification(&verification).await?;
        Ok(Found::Checked { state, proposed })
    }

    /// Writes the day's health down and tells whoever listens.
    async fn note_health(&self) -> Result<()> {
        let day = self.options.clock.now().strftime("%Y-%m-%d").to_string();
        let counts = self.library.health().await?;
        self.library.record_health_day(&day, counts).await?;
        self.tell_library();
        Ok(())
    }

    async fn check_settings(&self) -> Result<CheckSettings> {
        Ok(match self.library.setting(CHECKS_SETTING).await?.as_deref() {
            None | Some("") => CheckSettings::default(),
            Some(text) => serde_json::from_str(text)
                .map_err(|error| ApiError::internal(format!("settings of checks: {error}")))?,
        })
    }

    /// Takes a run up again that was under way when the program ended.
    async fn resume_run(self: &Arc<Self>) -> Result<()> {
        match self.library.setting(RUN_SETTING).await?.as_deref() {
            None | Some("") => {}
            Some(text) => {
                let run: Run = serde_json::from_str(text)
                    .map_err(|error| ApiError::internal(format!("the run of checks: {error}")))?;
                self.start_run(run);
            }
        }
        Ok(())
    }

    /// Starts what is due by now: pages to be tried again, cards checked long ago, new cards.
    pub(crate) async fn check_what_is_due(self: &Arc<Self>) -> Result<Option<JobRef>> {
        if self.verifying.try_lock().is_err() {
            return Ok(None);
        }
        let settings = self.check_settings().await?;
        let known = self.newest_checks().await?;
        let now = self.options.clock.now();
        let limit =
            Some(settings.every_days).filter(|days| *days > 0).and_then(|days| days_before(now, days));
        let now = stamp(now);
        // The cards AutoKit comes with are nobody's news; a run over all of them is for a person to begin.
        let starter: HashSet<CardKey> =
            crate::starter::cards()?.cards.iter().map(|item| item.card.key()).collect();
        let due = |record: &&Arc<CardRecord>| match known.get(&record.id) {
            Some(last) => {
                last.next_at.as_ref().is_some_and(|next| *next <= now)
                    || limit.as_ref().is_some_and(|limit| last.checked_at <= *limit)
            }
            None => settings.new_cards && record.documented && !starter.contains(&record.key),
        };
        let due: Vec<Arc<CardRecord>> =
            self.library.read(|replica| replica.iter().filter(due).cloned().collect());
        let page = due.iter().find_map(|record| record.card().text(fields::DOCUMENTATION).map(str::to_owned));
        // Nobody asked for this run: without a network it does not even show.
        let Some(page) = page else { return Ok(None) };
        if !self.fuel(false).reaches(&page).await {
            return Ok(None);
        }
        let cards = due.iter().map(|record| record.id.to_string()).collect();
        Ok(Some(self.start_verify(VerifyScope::Cards { cards }, false)))
    }
}

/// Waits until the library changed and then came to rest.
async fn changed(news: &mut broadcast::Receiver<Event>) {
    let mut seen = false;
    loop {
        let next = if seen {
            match tokio::time::timeout(REST, news.recv()).await {
                Ok(next) => next,
                Err(_) => return,
            }
        } else {
            news.recv().await
        };
        match next {
            Ok(Event::Library { .. }) | Err(broadcast::error::RecvError::Lagged(_)) => seen = true,
            Ok(_) => {}
            // Nobody will ever send again: the engine is gone, which the caller sees for itself.
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

impl Engine {
    /// Keeps cards checked while this process lives: takes up a run that was broken off, and looks whether
    /// something is due when the library changes and now and then besides.
    pub(crate) fn keep_checking(&self) {
        let core = Arc::downgrade(&self.core);
        let mut news = self.core.events.subscribe();
        tokio::spawn(async move {
            let mut pause = tokio::time::interval(LOOK_EVERY);
            let mut first = true;
            loop {
                tokio::select! {
                    _ = pause.tick() => {}
                    () = changed(&mut news) => {}
                }
                let Some(core) = core.upgrade() else { return };
                let looked = if first { core.resume_run().await } else { Ok(()) };
                first = false;
                let looked = match looked {
                    Ok(()) => core.check_what_is_due().await.map(|_| ()),
                    Err(error) => Err(error),
                };
                if let Err(error) = core.subscriptions_due().await {
                    tracing::warn!(%error, "subscriptions could not be looked at");
                }
                if let Err(error) = looked {
                    tracing::warn!(%error, "what is due could not be checked");
                }
            }
        });
    }
}

impl Handle<StartVerify> for Engine {
    async fn handle(&self, _: &Context, request: VerifyStart) -> Result<JobRef> {
        if let VerifyScope::Cards { cards } = &request.scope {
            // A name nobody knows is told at once, not by a job that fails.
            for card in cards {
                self.core.find(card)?;
            }
        }
        Ok(self.core.start_verify(request.scope, request.improve))
    }
}

impl Handle<GetVerification> for Engine {
    async fn handle(&self, _: &Context, request: CardRef) -> Result<CardVerification> {
        let id = self.core.find(&request.card)?.id.clone();
        let checked = match self.core.library.verification(&id).await? {
            None => None,
            Some(found) => Some(Checked {
                state: found.state,
                checked_at: found.checked_at,
                next_at: found.next_at,
                report: serde_json::from_value(found.report)
                    .map_err(|error| ApiError::internal(format!("the report on {id}: {error}")))?,
            }),
        };
        let waiting = self.core.library.waiting().await?;
        let proposal = waiting.iter().rev().find(|proposal| proposal.draft.card.as_ref() == Some(&id));
        Ok(CardVerification { checked, proposal: proposal.map(|proposal| proposal.id) })
    }
}

impl Handle<GetCheckSettings> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<CheckSettings> {
        self.core.check_settings().await
    }
}

impl Handle<SetCheckSettings> for Engine {
    async fn handle(&self, _: &Context, request: CheckSettings) -> Result<CheckSettings> {
        let text = serde_json::to_string(&request).map_err(|error| ApiError::internal(error.to_string()))?;
        self.core.library.set_setting(CHECKS_SETTING, &text).await?;
        Ok(request)
    }
}
