//! Checks one card against its page: makes proposals, withdraws outdated ones and stores the result.

use std::collections::HashSet;
use std::fmt::Write as _;

use autokit_error::{ApiError, Result};
use autokit_fuel::{CheckRequest, Examination, Fuel, Report};
use autokit_library::{HealthCounts, LibraryError, Verification};
use autokit_toolcard::{Author, CardId, CardKey, CardState, Timestamp};
use jiff::SignedDuration;

use super::Checking;

/// Time until a page is retried after its first, second, … consecutive failure. After one more failure
/// another page is searched for.
pub(super) const RETRY_AFTER: [SignedDuration; 2] =
    [SignedDuration::from_hours(6), SignedDuration::from_hours(24)];

/// The outcome of checking one card.
#[derive(Clone, Copy, Debug)]
pub(super) enum CheckOutcome {
    Checked {
        state: CardState,
        /// Whether something new is pending in Review.
        proposed: bool,
        /// Number of pending proposals of earlier checks that were withdrawn.
        withdrawn: u32,
    },
    /// The card was deleted meanwhile.
    Removed,
    /// There is no network, so nothing was checked.
    Offline,
}

/// Totals of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    counts: HealthCounts,
    pub(super) proposed: u32,
    pub(super) withdrawn: u32,
}

impl Tally {
    pub(super) fn count(&mut self, state: CardState) {
        let count = match state {
            CardState::Verified => &mut self.counts.verified,
            CardState::Stale => &mut self.counts.stale,
            CardState::Broken => &mut self.counts.broken,
            CardState::Unreachable => &mut self.counts.unreachable,
        };
        *count += 1;
    }

    pub(super) fn summary(&self) -> String {
        let counts = &self.counts;
        let parts = [
            (counts.verified, "verified"),
            (counts.stale, "stale"),
            (counts.broken, "broken"),
            (counts.unreachable, "unreachable"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let mut text = if parts.is_empty() { "Nothing to check".to_owned() } else { parts.join(", ") };
        match self.proposed {
            0 => {}
            1 => text.push_str("; 1 proposal pending review"),
            many => {
                // Writing to a string cannot fail.
                let _ = write!(text, "; {many} proposals pending review");
            }
        }
        match self.withdrawn {
            0 => {}
            1 => text.push_str("; 1 earlier proposal withdrawn"),
            many => {
                let _ = write!(text, "; {many} earlier proposals withdrawn");
            }
        }
        text
    }
}

impl Checking {
    /// Checks a card and stores the result.
    pub(super) async fn verify_card(
        &self,
        fuel: &Fuel,
        id: &CardId,
        starter: &HashSet<CardKey>,
    ) -> Result<CheckOutcome> {
        let _lock = self.active.lock_card(id).await;
        // Read again, because the run may have started hours ago.
        let Ok(record) = self.workspace.library.card(id) else { return Ok(CheckOutcome::Removed) };
        let card = record.card();
        let began = self.workspace.clock.stamp();
        let last = self.workspace.library.verification(id).await?.filter(|last| last.checked_at <= began);
        let retry_at = last.as_ref().and_then(|last| last.next_at).filter(|next| *next > began);
        let questions =
            if fuel.improve { self.workspace.library.answered_questions(id).await? } else { Vec::new() };
        let case = CheckRequest {
            id,
            revision: record.number,
            card: &card,
            attempts: last.as_ref().map_or(0, |last| last.attempts),
            counts: retry_at.is_none(),
            // The starter cards all say that they are unverified, which is intended as long as nobody has
            // edited them.
            verifies: record.number > 1 || !starter.contains(&record.key),
            questions: &questions,
            now: began,
        };
        let Examination { report, draft } =
            fuel.examine(&case).await.map_err(|error| ApiError::internal(error.to_string()))?;
        if report.offline {
            return Ok(CheckOutcome::Offline);
        }
        let by = Author::verifier();
        let withdrawn = if report.is_judged() {
            self.workspace.library.withdraw(id, draft.as_ref(), &by, why_withdrawn(&report)).await?
        } else {
            0
        };
        let state = report.state;
        let proposed = match draft {
            Some(draft) => match self.proposals.propose(draft, &by, None).await {
                Ok(proposed) => !proposed.kept.is_empty(),
                Err(_) if matches!(self.workspace.library.card(id), Err(LibraryError::NoCard(_))) => {
                    return Ok(CheckOutcome::Removed);
                }
                Err(error) => return Err(error),
            },
            None => false,
        };
        if withdrawn > 0 && !proposed {
            self.workspace.notify_proposals_changed().await?;
        }
        // Only temporary failures are retried automatically; a page that requires a login, say, stays
        // closed.
        let temporary = state == CardState::Unreachable && report.link.is_temporary();
        let next = || {
            let wait = RETRY_AFTER.get(report.attempts.saturating_sub(1) as usize).or(RETRY_AFTER.last())?;
            self.workspace.clock.now().checked_add(*wait).ok().map(Timestamp::from)
        };
        let verification = Verification {
            card: id.clone(),
            state,
            checked_at: self.workspace.clock.stamp(),
            attempts: report.attempts,
            next_at: temporary.then(|| retry_at.or_else(next)).flatten(),
            revision: Some(record.number),
            report: serde_json::to_value(&report).map_err(|error| ApiError::internal(error.to_string()))?,
        };
        self.workspace.library.put_verification(&verification).await?;
        Ok(CheckOutcome::Checked { state, proposed, withdrawn })
    }
}

/// Returns why the proposals of an earlier check no longer hold.
fn why_withdrawn(report: &Report) -> &'static str {
    match report.state {
        CardState::Verified => "a later check found the page, and it matches the card",
        CardState::Stale => "a later check found the page, and its content has changed",
        CardState::Broken | CardState::Unreachable => "a later check no longer found the evidence",
    }
}
