//! Checks of cards against their documentation pages, in the background, politely and resumably (FUEL,
//! verifier and fixer). This module decides what is due; [`runs`] carries it out.

mod card;
mod runs;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autokit_api::commands::{
    Context, GetCheckSettings, GetVerification, Handle, SetCheckSettings, StartVerify,
};
use autokit_api::{
    CardRef, CardVerification, CheckSettings, Event, JobRef, LatestCheck, Nothing, Setting, VerifyScope,
    VerifyStart,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::CardRecord;
use autokit_toolcard::{ProposalId, Timestamp, fields};
use autokit_workspace::models::Models;
use autokit_workspace::providers::Providers;
use autokit_workspace::workspace::Workspace;
use jiff::SignedDuration;
use tokio::sync::broadcast;

use crate::catalogue::Catalogue;
use crate::review::Proposals;
use crate::subscriptions::Subscriptions;
use runs::{ActiveRuns, RunOrigin, starter_keys};

/// How long the library has to be unchanged before it is searched for new cards.
const QUIET_PERIOD: Duration = Duration::from_secs(3);
/// How often a long-running process looks for checks that are due.
const CHECK_INTERVAL: Duration = Duration::from_mins(10);
/// Most days in a setting; more is a typing error.
const MAX_DAYS: u32 = 3_650;

/// Returns the time this many days ago; `None` if it is out of range.
fn days_before(now: Timestamp, days: u32) -> Option<Timestamp> {
    now.instant().checked_sub(SignedDuration::from_hours(24 * i64::from(days))).ok().map(Timestamp::from)
}

/// Checks that a number of days is plausible.
///
/// # Errors
/// `invalid` for more than ten years.
fn check_days(days: u32) -> Result<()> {
    if days <= MAX_DAYS {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::Invalid,
        format!("{days} days is too long"),
        format!("Enter at most {MAX_DAYS} days."),
    ))
}

/// Checks cards against their pages. Clones share state.
#[derive(Clone, Debug)]
pub struct Checking {
    pub(crate) workspace: Workspace,
    models: Models,
    providers: Providers,
    proposals: Proposals,
    catalogue: Catalogue,
    active: Arc<ActiveRuns>,
}

impl Checking {
    /// Checks the cards of this library.
    pub fn new(
        workspace: Workspace,
        models: Models,
        providers: Providers,
        proposals: Proposals,
        catalogue: Catalogue,
    ) -> Checking {
        Checking { workspace, models, providers, proposals, catalogue, active: Arc::default() }
    }

    /// Records today's health and notifies listeners.
    async fn record_health(&self) -> Result<()> {
        let day = self.workspace.clock.stamp().date();
        let counts = self.workspace.library.health().await?;
        self.workspace.library.record_health_day(&day, counts).await?;
        self.workspace.notify_library_changed();
        Ok(())
    }

    /// Returns when cards are checked. Until the person set that or chose a service, they are not checked unasked, because
    /// pages are fetched.
    async fn check_settings(&self) -> Result<CheckSettings> {
        let saved = self.workspace.load_setting(Setting::Checks).await?;
        let unset = || {
            if self.providers.services().any_chosen() {
                CheckSettings::default()
            } else {
                CheckSettings { every_days: 0, new_cards: false }
            }
        };
        Ok(saved.unwrap_or_else(unset))
    }

    /// Starts a run of what is due: pages to retry, cards last checked long ago, new cards, and cards that
    /// changed since their check.
    pub(crate) async fn check_due(&self) -> Result<Option<JobRef>> {
        if self.is_checking() {
            return Ok(None);
        }
        let settings = self.check_settings().await?;
        let known = self.newest_checks().await?;
        let now = self.workspace.clock.stamp();
        let limit =
            Some(settings.every_days).filter(|days| *days > 0).and_then(|days| days_before(now, days));
        // Starter cards do not count as new; checking all of them is for a person to start.
        let starter = starter_keys()?;
        let due = |record: &&Arc<CardRecord>| match known.get(&record.id) {
            Some(last) => {
                let changed = settings.new_cards && last.is_outdated(record.number);
                last.next_at.is_some_and(|next| next <= now)
                    || changed && record.documented && !starter.contains(&record.key)
                    || limit.is_some_and(|limit| last.checked_at <= limit)
            }
            None => settings.new_cards && record.documented && !starter.contains(&record.key),
        };
        let due: Vec<Arc<CardRecord>> =
            self.workspace.library.read(|replica| replica.iter().filter(due).cloned().collect());
        let page = due.iter().find_map(|record| record.card().text(fields::DOCUMENTATION).map(str::to_owned));
        // Nobody requested this run, so without a network it is not started at all.
        let Some(page) = page else { return Ok(None) };
        if !self.fuel(false).can_reach(&page).await {
            return Ok(None);
        }
        let cards = due.iter().map(|record| record.id.to_string()).collect();
        Ok(Some(self.start_verify(VerifyScope::Cards { cards }, false, RunOrigin::Automatic)))
    }
}

/// Waits until the library has changed and then no event has come for [`QUIET_PERIOD`].
async fn wait_for_change(events: &mut broadcast::Receiver<Event>) {
    let mut seen = false;
    loop {
        let next = if seen {
            match tokio::time::timeout(QUIET_PERIOD, events.recv()).await {
                Ok(next) => next,
                Err(_) => return,
            }
        } else {
            events.recv().await
        };
        match next {
            Ok(Event::Library { .. }) | Err(broadcast::error::RecvError::Lagged(_)) => seen = true,
            Ok(_) => {}
            // The sender is gone because the engine is; the caller notices that itself.
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

impl Checking {
    /// Keeps cards checked while this process runs: resumes an interrupted run, and looks for due checks
    /// whenever the library changes, and regularly besides.
    pub fn start_background_checks(&self, subscriptions: Subscriptions) {
        let checking = self.clone();
        let mut events = self.workspace.events().subscribe();
        tokio::spawn(async move {
            let mut pause = tokio::time::interval(CHECK_INTERVAL);
            let mut first = true;
            loop {
                tokio::select! {
                    _ = pause.tick() => {}
                    () = wait_for_change(&mut events) => {}
                    () = checking.workspace.wait_for_shutdown() => return,
                }
                let resumed = if first { checking.resume_run().await } else { Ok(()) };
                first = false;
                let checked = match resumed {
                    Ok(()) => checking.check_due().await.map(|_| ()),
                    Err(error) => Err(error),
                };
                if let Err(error) = subscriptions.start_due().await {
                    tracing::warn!(%error, "failed to check subscriptions");
                }
                if let Err(error) = checked {
                    tracing::warn!(%error, "failed to run due checks");
                }
            }
        });
    }
}

#[async_trait]
impl Handle<StartVerify> for Checking {
    async fn handle(&self, _: &Context, request: VerifyStart) -> Result<JobRef> {
        let scope = match request.scope {
            VerifyScope::Cards { cards } => {
                // An unknown name is an error now rather than a failed job later.
                let ids = cards.iter().map(|card| Ok(self.workspace.find_card(card)?.id.to_string()));
                let mut ids: Vec<String> = ids.collect::<Result<_>>()?;
                ids.sort();
                ids.dedup();
                VerifyScope::Cards { cards: ids }
            }
            VerifyScope::Older { days } => {
                check_days(days)?;
                VerifyScope::Older { days }
            }
            scope => scope,
        };
        let origin = if request.anew { RunOrigin::Restarted } else { RunOrigin::Requested };
        Ok(self.start_verify(scope, request.improve, origin))
    }
}

#[async_trait]
impl Handle<GetVerification> for Checking {
    async fn handle(&self, _: &Context, request: CardRef) -> Result<CardVerification> {
        let record = self.workspace.find_card(&request.card)?;
        let id = record.id.clone();
        let checked = match self.workspace.library.verification(&id).await? {
            None => None,
            Some(found) => Some(LatestCheck {
                changed: found.is_outdated(record.number),
                state: found.state,
                checked_at: found.checked_at,
                next_at: found.next_at,
                report: serde_json::from_value(found.report)
                    .map_err(|error| ApiError::internal(format!("invalid report on {id}: {error}")))?,
            }),
        };
        let pending = self.workspace.library.pending().await?;
        let about: Vec<ProposalId> = pending
            .iter()
            .filter(|proposal| proposal.draft.card.as_ref() == Some(&id))
            .map(|proposal| proposal.id)
            .collect();
        Ok(CardVerification { checked, proposal: about.last().copied(), waiting: about.len() as u32 })
    }
}

#[async_trait]
impl Handle<GetCheckSettings> for Checking {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<CheckSettings> {
        self.check_settings().await
    }
}

#[async_trait]
impl Handle<SetCheckSettings> for Checking {
    async fn handle(&self, _: &Context, request: CheckSettings) -> Result<CheckSettings> {
        check_days(request.every_days)?;
        self.workspace.save_setting(Setting::Checks, &request).await?;
        Ok(request)
    }
}
