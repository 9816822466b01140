//! Health of the library: the newest check of each card against its page, and daily counts.

use std::sync::atomic::Ordering;

use autokit_replica::{Checks, HealthCounts, HealthDay, Verification};
use autokit_toolcard::{CardId, CardState};
use serde_json::Value;
use surrealdb::types::{RecordId, object};
use tokio::sync::RwLockReadGuard;

use crate::error::{LibraryError, Result};
use crate::rows::{HealthRow, VerificationRow, key_text, timestamp};
use crate::store::Library;

impl VerificationRow {
    fn into_verification(self) -> Result<Verification> {
        let card = CardId::new(key_text(&self.id));
        let unreadable = |what: &dyn std::fmt::Display| {
            LibraryError::malformed(format!("the verification of {card} cannot be read: {what}"))
        };
        let report = match &self.report {
            None => Value::Null,
            Some(text) => serde_json::from_str(text).map_err(|error| unreadable(&error))?,
        };
        Ok(Verification {
            state: CardState::parse(&self.state).ok_or_else(|| unreadable(&self.state))?,
            checked_at: timestamp(&self.checked_at).map_err(|error| unreadable(&error))?,
            attempts: self.attempts as u32,
            next_at: self
                .next_at
                .as_deref()
                .map(timestamp)
                .transpose()
                .map_err(|error| unreadable(&error))?,
            revision: self.revision.map(|revision| revision as u32),
            report,
            card,
        })
    }
}

impl Library {
    /// Stores the result of checking a card, replacing the previous one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn put_verification(&self, verification: &Verification) -> Result<()> {
        self.execute(
            "UPSERT $id CONTENT $row RETURN NONE",
            object! {
                id: RecordId::new("verification", verification.card.as_str()),
                row: object! {
                    state: verification.state.as_str().to_owned(),
                    checked_at: verification.checked_at.to_string(),
                    attempts: i64::from(verification.attempts),
                    next_at: verification.next_at.map(|at| at.to_string()),
                    report: verification.report.to_string(),
                    revision: verification.revision.map(i64::from),
                },
            },
        )
        .await?;
        // Updated after the database, so that readers never wait for it. A task loading all checks holds this
        // lock meanwhile; whatever it read is corrected here.
        if let Some(checks) = self.checks.write().await.as_mut() {
            checks.insert(verification);
        }
        self.checks_version.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the newest check of a card; `None` when it was never checked.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn verification(&self, card: &CardId) -> Result<Option<Verification>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM $id")
            .bind(("id", RecordId::new("verification", card.as_str())))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<VerificationRow> = response.take(0).map_err(|error| self.failed(&error))?;
        rows.into_iter().next().map(VerificationRow::into_verification).transpose()
    }

    /// Returns the newest check of every card, without the reports.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn verifications(&self) -> Result<Vec<Verification>> {
        let mut response = self
            .db()
            .await?
            .query(
                "SELECT id, state, checked_at, attempts, next_at, revision, NONE AS report FROM verification",
            )
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<VerificationRow> = response.take(0).map_err(|error| self.failed(&error))?;
        rows.into_iter().map(VerificationRow::into_verification).collect()
    }

    /// Returns the newest check of every card from memory; the first call reads them from the database. Drop
    /// the guard before calling again, since a writer may be waiting in between.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn checks(&self) -> Result<RwLockReadGuard<'_, Checks>> {
        loop {
            if let Ok(known) = RwLockReadGuard::try_map(self.checks.read().await, Option::as_ref) {
                return Ok(known);
            }
            let mut unknown = self.checks.write().await;
            if unknown.is_none() {
                let mut checks = Checks::default();
                self.verifications().await?.iter().for_each(|check| checks.insert(check));
                *unknown = Some(checks);
            }
        }
    }

    /// A number that grows with every check stored while this library is open.
    pub fn checks_version(&self) -> u64 {
        self.checks_version.load(Ordering::Relaxed)
    }

    /// Counts the existing cards by state.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn health(&self) -> Result<HealthCounts> {
        let checks = self.checks().await?;
        Ok(self.read(|replica| {
            let mut counts = HealthCounts::default();
            for record in replica.iter() {
                let last = checks.get(&record.id);
                let count = match last.map(|last| last.state) {
                    Some(_) if last.is_some_and(|last| last.is_outdated(record.number)) => {
                        &mut counts.changed
                    }
                    Some(CardState::Verified) => &mut counts.verified,
                    Some(CardState::Stale) => &mut counts.stale,
                    Some(CardState::Broken) => &mut counts.broken,
                    Some(CardState::Unreachable) => &mut counts.unreachable,
                    None => &mut counts.never_checked,
                };
                *count += 1;
            }
            counts
        }))
    }

    /// Stores the counts of a day (`YYYY-MM-DD`), replacing any stored before. Cards that changed since their
    /// last check are counted as never checked.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn record_health_day(&self, day: &str, counts: HealthCounts) -> Result<()> {
        self.execute(
            "UPSERT $id CONTENT $row RETURN NONE",
            object! {
                id: RecordId::new("health", day),
                row: object! {
                    verified: i64::from(counts.verified),
                    stale: i64::from(counts.stale),
                    broken: i64::from(counts.broken),
                    unreachable: i64::from(counts.unreachable),
                    // A day records only whether a card was checked in its current form.
                    never_checked: i64::from(counts.never_checked + counts.changed),
                },
            },
        )
        .await
    }

    /// Returns the counts of the newest `days` recorded days, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn health_trend(&self, days: u32) -> Result<Vec<HealthDay>> {
        let mut response = self
            .db()
            .await?
            .query("SELECT * FROM health ORDER BY id DESC LIMIT $days")
            .bind(("days", i64::from(days)))
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<HealthRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let day = |row: HealthRow| HealthDay {
            day: key_text(&row.id),
            counts: HealthCounts {
                verified: row.verified as u32,
                stale: row.stale as u32,
                broken: row.broken as u32,
                unreachable: row.unreachable as u32,
                changed: 0,
                never_checked: row.never_checked as u32,
            },
        };
        Ok(rows.into_iter().rev().map(day).collect())
    }
}
