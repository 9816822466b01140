//! Cards that were hidden from members who saw them.

use std::collections::HashSet;

use surrealdb::types::{Datetime, SurrealValue, Value};

use crate::access::CardKey;
use crate::cursor::Cursor;
use crate::error::Result;
use crate::session::Session;

/// Rows in one answer: each is looked up in every audience of the member.
const PAGE: usize = 1_000;

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
                LET $ids = array::flatten(array::distinct($rows.card).map(|$card|
                    $audiences.map(|$audience| type::record('card', [$audience, $card]))));
                SELECT VALUE id FROM $ids",
            )
            .bind(("since", since))
            .bind(("revocation", revocation))
            .bind(("limit", PAGE as i64));
        let mut answers = self.client.answer(query).await?.check()?;
        let rows: Vec<RevocationRow> = answers.take(2)?;
        let seen: Vec<Value> = answers.take(4)?;
        let seen = seen.iter().map(CardKey::of).collect::<Result<HashSet<_>>>()?;
        let more = rows.len() == PAGE;
        let last = rows.last().map(|row| (row.written_at, &row.id));
        let cursor = before.next(last, more, OVERLAP_SECONDS)?;
        let mut cards = rows.iter().map(|row| CardKey::of(&row.card)).collect::<Result<Vec<_>>>()?;
        cards.retain(|card| !seen.contains(card));
        cards.sort_unstable();
        cards.dedup();
        Ok(Hidden { cards, cursor, more })
    }
}
