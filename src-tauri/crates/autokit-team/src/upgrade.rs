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
/// Tables whose rows are given an id that is made with the key of their audience, and how: their names for each other were ids
/// before. What belongs to a card comes before it, since replicas read a card with its newest revision; members come last, and
/// see nothing before.
const AUDIENCES: [(&str, &str); 7] = [
    (
        "revision",
        "LET $rows = (SELECT * FROM $ids);
        FOR $one IN $rows {
            IF type::is_record($one.card) {
                LET $audience = fn::audience($one.card.visible_to) ?? fn::nobody();
                LET $card = record::id($one.card);
                LET $id = type::record('revision', [fn::name($audience, $card), $one.number]);
                CREATE $id CONTENT object::extend($one, { id: $id, card: $card, audience: $audience,
                    at: fn::readable($one.at) }) RETURN NONE;
                DELETE $one.id RETURN NONE;
            };
        }",
    ),
    (
        "vector",
        "LET $rows = (SELECT * FROM $ids);
        FOR $one IN $rows {
            IF type::is_record($one.card) {
                LET $audience = fn::audience($one.card.visible_to) ?? fn::nobody();
                LET $card = record::id($one.card);
                LET $id = type::record('vector', [fn::name($audience, $card), $one.recipe]);
                CREATE $id CONTENT object::extend($one, { id: $id, card: $card, audience: $audience }) RETURN NONE;
                DELETE $one.id RETURN NONE;
            };
        }",
    ),
    (
        "comment",
        "LET $rows = (SELECT * FROM $ids);
        FOR $one IN $rows {
            IF type::is_record($one.proposal) {
                LET $audience = fn::audience($one.proposal.card.visible_to ?? $one.proposal.visible_to) ?? fn::nobody();
                LET $proposal = record::id($one.proposal);
                LET $id = type::record('comment', [fn::name($audience, $proposal), $one.written_at, record::id($one.id)]);
                CREATE $id CONTENT object::extend($one, { id: $id, proposal: $proposal, audience: $audience,
                    at: fn::readable($one.at) }) RETURN NONE;
                DELETE $one.id RETURN NONE;
            };
        }",
    ),
    (
        "audit",
        "LET $rows = (SELECT * FROM $ids);
        FOR $one IN $rows {
            IF $one.subject != NONE {
                LET $row = IF record::tb($one.subject) = 'card' { $one.subject } ELSE { $one.subject.card };
                LET $audience = fn::audience($row.visible_to ?? $one.subject.visible_to) ?? fn::nobody();
                LET $card = IF $row != NONE { record::id($row) };
                UPDATE $one.id REPLACE { at: $one.at, by: $one.by, what: $one.what, about: $one.about, card: $card,
                    card_name: IF $card != NONE { fn::name($audience, $card) }, audience: $audience } RETURN NONE;
            };
        }",
    ),
    (
        "proposal",
        "LET $rows = (SELECT * FROM $ids);
        FOR $one IN $rows {
            IF $one.key = NONE {
                LET $audience = fn::audience($one.card.visible_to ?? $one.visible_to) ?? fn::nobody();
                LET $key = record::id($one.id);
                LET $id = type::record('proposal', fn::name($audience, $key));
                LET $card = IF $one.card != NONE { record::id($one.card) };
                LET $approvals = $one.approvals.filter(|$given| type::is_array($given.values)
                    AND array::all($given.values, |$value| type::is_string($value)))
                    .map(|$given| { by: $given.by, at: fn::readable($given.at), values: $given.values });
                CREATE $id CONTENT object::extend($one, { id: $id, key: $key, card: $card, audience: $audience,
                    approvals: $approvals, created_at: fn::readable($one.created_at),
                    decided_at: fn::readable($one.decided_at), card_name: IF $card != NONE { fn::name($audience, $card) },
                    same: fn::name($audience, $one.fingerprint) }) RETURN NONE;
                DELETE $one.id RETURN NONE;
            };
        }",
    ),
    (
        "card",
        "LET $rows = (SELECT * FROM $ids);
        FOR $one IN $rows {
            IF $one.key = NONE {
                LET $audience = fn::audience($one.visible_to) ?? fn::nobody();
                LET $key = record::id($one.id);
                LET $id = type::record('card', fn::name($audience, $key));
                CREATE $id CONTENT object::extend($one, { id: $id, key: $key, audience: $audience }) RETURN NONE;
                DELETE $one.id RETURN NONE;
            };
        }",
    ),
    (
        "member",
        "LET $rows = (SELECT * FROM $ids WHERE identity = NONE);
        FOR $one IN $rows { fn::identify($one) }",
    ),
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
            self.backfill_audiences(Some(lock)).await?;
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

    /// Gives the rows that a version before [`schema::WITH_AUDIENCES`] wrote an audience, without which nobody sees them.
    pub(crate) async fn backfill_audiences(&self, lock: Option<&Lock>) -> Result<()> {
        // Makes the secret, if there is none.
        self.answer(self.db().query("UPDATE team:one SET name = name")).await?.check()?;
        for (table, give) in AUDIENCES {
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
                let update = self.db().query(give);
                self.answer(update.bind(("ids", ids))).await?.check()?;
                last = Some(end);
            }
        }
        Ok(())
    }
}
