//! Bringing a team's tables up to date.

use surrealdb::types::RecordId;

use crate::error::{Code, Result, TeamError};
use crate::owner::{Lifetimes, Lock, Owner};
use crate::schema;
use crate::session::rows_after;

/// Most hours for which a token or a session is valid.
const MOST_HOURS: u16 = 720;
/// Rows that are brought up to date at once, of which each is written anew.
const ROWS: usize = 100;
/// Where audiences are noted. What belongs to a card comes before it, since replicas read a card with its newest revision;
/// members come last, and see nothing before.
const AUDIENCES: [(&str, &str); 6] = [
    (
        "revision",
        "UPDATE $ids SET audience = fn::audience(card.visible_to) WHERE audience = NONE RETURN NONE",
    ),
    ("vector", "UPDATE $ids SET audience = fn::audience(card.visible_to) WHERE audience = NONE RETURN NONE"),
    (
        "proposal",
        "UPDATE $ids SET audience = fn::audience(card.visible_to ?? visible_to) WHERE audience = NONE RETURN NONE",
    ),
    ("comment", "UPDATE $ids SET audience = proposal.audience WHERE audience = NONE RETURN NONE"),
    ("card", "UPDATE $ids SET number = number WHERE audience = NONE RETURN NONE"),
    ("member", "FOR $member IN (SELECT * FROM $ids WHERE identity = NONE) { fn::identify($member) }"),
];

impl Owner {
    /// Defines the tables of this version of AutoKit, and makes new keys for signing tokens: who has one has to sign in
    /// again once its connection ends. Meanwhile nobody changes anything. Running it again changes nothing else.
    ///
    /// # Errors
    /// `NotFound` for a database that is no team's; `Locked` when somebody else upgrades or exports the team; `NewerSchema`
    /// when a newer version of AutoKit defined the tables; `Invalid` for lifetimes out of range.
    pub async fn upgrade(&self, lifetimes: Option<Lifetimes>) -> Result<()> {
        let hours = lifetimes.map(|lifetimes| [lifetimes.token_hours, lifetimes.session_hours]);
        if hours.is_some_and(|hours| hours.iter().any(|hours| !(1..=MOST_HOURS).contains(hours))) {
            let message = format!("a token or session is valid for 1 to {MOST_HOURS} hours");
            return Err(TeamError::new(Code::Invalid, message));
        }
        let version = self.ensure_team().await?;
        let lock = self.lock().await?;
        let outcome = self.apply(lifetimes, version, &lock).await;
        self.unlock(lock, "upgraded", outcome).await
    }

    async fn apply(&self, lifetimes: Option<Lifetimes>, version: i64, lock: &Lock) -> Result<()> {
        let lifetimes = match lifetimes {
            Some(lifetimes) => lifetimes,
            None => self.lifetimes().await?,
        };
        self.define(lifetimes).await?;
        if version < schema::WITH_AUDIENCES {
            self.note_audiences(Some(lock)).await?;
        }
        let update = self
            .db()
            .query(
                "UPDATE ONLY team:one SET schema = $schema, token_hours = $of_token, session_hours = $of_session",
            )
            .bind(("schema", schema::VERSION))
            .bind(("of_token", i64::from(lifetimes.token_hours)))
            .bind(("of_session", i64::from(lifetimes.session_hours)));
        self.answer(update).await?.check()?;
        Ok(())
    }

    /// Notes the audience of rows that a version before [`schema::WITH_AUDIENCES`] wrote, which nobody sees before.
    pub(crate) async fn note_audiences(&self, lock: Option<&Lock>) -> Result<()> {
        // Makes the secret, if there is none.
        self.answer(self.db().query("UPDATE team:one SET name = name")).await?.check()?;
        for (table, note) in AUDIENCES {
            let mut last: Option<RecordId> = None;
            loop {
                if let Some(lock) = lock {
                    self.renew(lock).await?;
                }
                let query = self
                    .db()
                    .query("SELECT VALUE id FROM $rows LIMIT $limit")
                    .bind(("rows", rows_after(table, last.as_ref().map(|id| &id.key))))
                    .bind(("limit", ROWS as i64));
                let ids: Vec<RecordId> = self.answer(query).await?.take(0)?;
                let Some(end) = ids.last().cloned() else { break };
                let update = self.db().query(note);
                self.answer(update.bind(("ids", ids))).await?.check()?;
                last = Some(end);
            }
        }
        Ok(())
    }
}
