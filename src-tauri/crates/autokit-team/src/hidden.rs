//! Cards that were hidden from members who saw them.

use surrealdb::types::{Datetime, RecordId, RecordIdKey, SurrealValue, Value};

use crate::access::{CardKey, unexpected};
use crate::error::{Result, TeamError};
use crate::session::{Cursor, IDS, Session};

/// Cards that were hidden since a cursor.
#[derive(Clone, Debug)]
pub struct Hidden {
    /// The cards, without those that the member still sees. They may never have seen some of them.
    pub cards: Vec<CardKey>,
    /// Where the next answer begins.
    pub cursor: Cursor,
    /// Whether there are more.
    pub more: bool,
}

/// How far before the newest row the next answer begins, in seconds. Longer than a request may take: what is missed here is
/// kept for good.
const OVERLAP_SECONDS: i64 = 60;

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct RevocationRow {
    id: Value,
    card: Value,
    written_at: Datetime,
}

fn key_of(id: &Value) -> Result<String> {
    match id {
        Value::RecordId(RecordId { key: RecordIdKey::String(key), .. }) => Ok(key.clone()),
        other => Err(unexpected("revocation", other)),
    }
}

impl Session {
    /// Returns the cards that were hidden from an audience of this member since a cursor.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn hidden(&self, before: &Cursor) -> Result<Hidden> {
        let (since, revocation) = before.position("revocation");
        let query = self
            .reading(
                "LET $rows = (
                    SELECT id, card, written_at FROM revocation
                    WHERE written_at >= $since AND (written_at != $since OR $revocation = NONE OR id > $revocation)
                    ORDER BY written_at, id LIMIT $limit
                );
                RETURN $rows;
                SELECT VALUE id FROM array::distinct($rows.card)",
            )
            .bind(("since", since))
            .bind(("revocation", revocation))
            .bind(("limit", IDS as i64));
        let mut answers = self.client.answer(query).await?.check()?;
        let rows: Vec<RevocationRow> = answers.take(2)?;
        let seen: Vec<Value> = answers.take(3)?;
        let more = rows.len() == IDS;
        let last = rows.last().map(|row| Ok::<_, TeamError>((row.written_at, key_of(&row.id)?)));
        let cursor = before.next(last.transpose()?, more, OVERLAP_SECONDS);
        let hidden = rows.iter().map(|row| &row.card).filter(|card| !seen.contains(card));
        let mut cards = hidden.map(CardKey::of).collect::<Result<Vec<_>>>()?;
        cards.sort_unstable();
        cards.dedup();
        Ok(Hidden { cards, cursor, more })
    }
}
