//! Cards that were hidden from members who saw them.

use std::collections::HashSet;

use surrealdb::types::{Datetime, SurrealValue, Value};

use crate::access::{CardKey, ProposalKey};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::listing::{LISTED, Listed, listed};
use crate::session::{Session, ids};

/// Keys in one question: each is looked up in every audience of the member.
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

/// As [`crate::cursor::OVERLAP_SECONDS`], much longer than a request may take: what is missed here is kept for good.
const OVERLAP_SECONDS: i64 = 60;

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct RevocationRow {
    id: Value,
    card: String,
    written_at: Datetime,
}

impl Listed for RevocationRow {
    fn position(&self) -> (Datetime, &Value) {
        (self.written_at, &self.id)
    }
}

impl Session {
    /// Returns the cards that were hidden from an audience of this member since a cursor.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn hidden(&self, before: &Cursor) -> Result<Hidden> {
        let query = self.reading(listed("id, card, written_at", "revocation"));
        let (now, rows): (Datetime, Vec<RevocationRow>) = self.list(query, before, "revocation").await?;
        let more = rows.len() >= LISTED;
        let last = rows.last().map(Listed::position);
        let cursor = match last {
            Some(last) if more => Cursor::after(last)?,
            _ if before.is_ahead_of(now, OVERLAP_SECONDS) => Cursor::default(),
            last => before.next(last, now, OVERLAP_SECONDS)?,
        };
        let mut cards: Vec<CardKey> = rows.into_iter().map(|row| CardKey::new(row.card)).collect();
        cards.sort_unstable();
        cards.dedup();
        let shown: HashSet<CardKey> = self.shown(&cards).await?.into_iter().collect();
        cards.retain(|card| !shown.contains(card));
        Ok(Hidden { cards, cursor, more })
    }

    /// Returns those of these cards that the member sees.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn shown(&self, cards: &[CardKey]) -> Result<Vec<CardKey>> {
        let keys = self.shown_keys("card", cards.iter().map(CardKey::value).collect()).await?;
        Ok(keys.into_iter().map(CardKey::new).collect())
    }

    /// Returns those of these proposals that the member sees.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn shown_proposals(&self, proposals: &[ProposalKey]) -> Result<Vec<ProposalKey>> {
        let keys = self.shown_keys("proposal", proposals.iter().map(ProposalKey::value).collect()).await?;
        Ok(keys.into_iter().map(ProposalKey::new).collect())
    }

    async fn shown_keys(&self, table: &str, keys: Vec<Value>) -> Result<Vec<String>> {
        let mut shown = Vec::new();
        for keys in keys.chunks(PAGE) {
            let query =
                self.reading(format!("LET $ids = {}; SELECT VALUE key FROM $ids", ids(table, "$keys")));
            let answer = self.client.answer(query.bind(("keys", keys.to_vec()))).await?;
            shown.extend(answer.check()?.take::<Vec<String>>(2)?);
        }
        Ok(shown)
    }
}
