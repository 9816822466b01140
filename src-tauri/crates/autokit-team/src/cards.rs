//! Cards as a member sees them: what was written since they last looked, what there is, what a card said before.

use std::collections::HashMap;

use autokit_toolcard::Timestamp;
use surrealdb::types::{Array, Datetime, RecordId, RecordIdKey, SurrealValue, Value};

use crate::access::{CardKey, MemberKey, Visibility, unexpected};
use crate::cursor::Cursor;
use crate::error::{Result, TeamError};
use crate::filter::CardFilter;
use crate::listing::{Listed, Listing, Page, listed};
use crate::session::{Session, ids, timestamp};

/// Cards in one answer: as many of the largest fit into a message, of which clients take 64 MiB.
const PAGE: usize = 100;
/// What is listed of a card; whether the replica's filter selects it by what whoever wrote it said of it.
pub(crate) const LISTED_COLUMNS: &str = "id, key, number, visible_to, written_at, $all OR labels = NONE
    OR labels.provider IN $providers OR labels.kind IN $kinds OR (labels.tags ?? []) CONTAINSANY $tags AS is_selected";

/// A card as this member sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedCard {
    /// The card.
    pub card: CardKey,
    /// Its revision.
    pub number: u32,
    /// Its JSON text; `None` if it was deleted.
    pub body: Option<String>,
    /// Who sees it.
    pub visible_to: Visibility,
    /// Who made the revision.
    pub author: MemberKey,
    /// What was done.
    pub operation: String,
    /// The reason, in the author's words.
    pub reason: String,
    /// When the author did it.
    pub at: Timestamp,
}

/// A page of the cards written since a cursor.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The cards that are selected, in the order in which they were written; some may have been there before.
    pub cards: Vec<SharedCard>,
    /// The others, which may have been selected before.
    pub left_out: Vec<CardKey>,
    /// How many more there are that this program cannot read.
    pub unreadable: usize,
    /// Where an answer begins to whoever has this page: before rows of it among which others may still appear.
    pub cursor: Cursor,
    /// Where the next answer may begin instead, for whoever was told of a change: what took long to write is missing in
    /// it, and comes with the next one that begins at such a `cursor`.
    pub recent: Cursor,
    /// Whether there are more.
    pub more: bool,
}

/// Cards written since a cursor, page by page.
#[derive(Debug)]
pub struct CardFeed {
    session: Session,
    filter: CardFilter,
    listing: Listing<ListedRow>,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct CardRow {
    key: String,
    number: i64,
    visible_to: Value,
    body: Option<String>,
    author: Value,
    operation: String,
    reason: String,
    at: Datetime,
}

/// A card that was written, without what it says.
#[derive(Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct ListedRow {
    id: Value,
    key: String,
    number: i64,
    visible_to: Value,
    written_at: Datetime,
    is_selected: bool,
}

impl Listed for ListedRow {
    fn position(&self) -> (Datetime, &Value) {
        (self.written_at, &self.id)
    }
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct RevisionRow {
    card: String,
    body: Option<String>,
    author: Value,
    operation: String,
    reason: String,
    at: Datetime,
}

impl ListedRow {
    /// The id of the newest revision.
    fn revision(&self) -> Result<Value> {
        let Value::RecordId(RecordId { key: RecordIdKey::String(name), .. }) = &self.id else {
            return Err(unexpected("card", &self.id));
        };
        let key = Array::from(vec![Value::String(name.clone()), self.number.into_value()]);
        Ok(Value::RecordId(RecordId::new("revision", RecordIdKey::Array(key))))
    }

    fn is_known(&self, is_known: impl Fn(&CardKey, u32, &Visibility) -> bool) -> bool {
        let visible_to = Visibility::of(&self.visible_to);
        visible_to.is_ok_and(|to| is_known(&CardKey::new(self.key.as_str()), self.number as u32, &to))
    }

    /// The card with what it says.
    fn read(self, newest: RevisionRow) -> Result<SharedCard> {
        let RevisionRow { body, author, operation, reason, at, .. } = newest;
        let ListedRow { key, number, visible_to, .. } = self;
        CardRow { key, number, visible_to, body, author, operation, reason, at }.try_into()
    }
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct NumberedRow {
    id: Value,
    key: String,
    number: i64,
}

impl CardFeed {
    /// Reads the next page, without the cards that are known as they are: `is_known` is asked for their key, revision, and who
    /// sees them.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn next(&mut self, is_known: impl Fn(&CardKey, u32, &Visibility) -> bool) -> Result<Changes> {
        let CardFeed { session, filter, listing } = self;
        let list = async |cursor: &Cursor| {
            let statement = listed(LISTED_COLUMNS, "card");
            let query = session
                .reading(statement)
                .bind(("all", filter.is_all()))
                .bind(("providers", CardFilter::lower_case(&filter.providers)))
                .bind(("kinds", filter.kind_names()))
                .bind(("tags", CardFilter::lower_case(&filter.tags)));
            session.list(query, cursor, "card").await
        };
        let Page { mut rows, cursor, recent, more } = listing.next(PAGE, list).await?;
        rows.retain(|row| !row.is_known(&is_known));
        let selected = rows.iter().filter(|row| row.is_selected).map(ListedRow::revision);
        let mut newest = session.newest_of(selected.collect::<Result<Vec<Value>>>()?).await?;
        let (mut cards, mut left_out, mut unreadable) = (Vec::new(), Vec::new(), 0);
        for row in rows {
            let revision = newest.remove(&row.key);
            let is_included = |revision: &RevisionRow| {
                revision.body.as_deref().is_none_or(|body| filter.includes_text(body))
            };
            match revision {
                Some(revision) if is_included(&revision) => match row.read(revision) {
                    Ok(card) => cards.push(card),
                    // Nobody keeps others from reading everything else.
                    Err(_) => unreadable += 1,
                },
                // It was shown to others since it was listed: where it is now, it is listed again.
                None if row.is_selected => {}
                Some(_) | None => left_out.push(CardKey::new(row.key)),
            }
        }
        Ok(Changes { cards, left_out, unreadable, cursor, recent, more })
    }
}

impl Session {
    /// Begins to read the cards written since a cursor that this member sees, and what they say where they are selected.
    pub fn feed(&self, since: &Cursor, filter: &CardFilter) -> CardFeed {
        CardFeed { session: self.clone(), filter: filter.clone(), listing: Listing::since(since.clone()) }
    }

    /// Returns the first page of the cards written since a cursor.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn changes(&self, since: &Cursor, filter: &CardFilter) -> Result<Changes> {
        self.feed(since, filter).next(|_, _, _| false).await
    }

    /// Returns what these revisions say, by the keys of their cards.
    async fn newest_of(&self, revisions: Vec<Value>) -> Result<HashMap<String, RevisionRow>> {
        if revisions.is_empty() {
            return Ok(HashMap::new());
        }
        let query = self
            .reading("SELECT card, body, author, operation, reason, at FROM $revisions")
            .bind(("revisions", revisions));
        let rows: Vec<RevisionRow> = self.client.answer(query).await?.check()?.take(1)?;
        Ok(rows.into_iter().map(|row| (row.card.clone(), row)).collect())
    }

    /// Returns the cards that this member sees, each with its revision: what else a replica has is to be forgotten.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn visible(&self) -> Result<Vec<(CardKey, u32)>> {
        let rows: Vec<NumberedRow> =
            self.rows("id, key, number", "card", |row: &NumberedRow| &row.id).await?;
        Ok(rows.into_iter().map(|row| (CardKey::new(row.key), row.number as u32)).collect())
    }

    /// Returns the revisions of a card, oldest first; none for a card that this member does not see.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn history(&self, card: &CardKey) -> Result<Vec<SharedCard>> {
        self.revisions(card, "ORDER BY number").await
    }

    /// Returns the newest state of a card; `None` for one that this member does not see.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn newest(&self, card: &CardKey) -> Result<Option<SharedCard>> {
        Ok(self.revisions(card, "ORDER BY number DESC LIMIT 1").await?.pop())
    }

    async fn revisions(&self, card: &CardKey, which: &str) -> Result<Vec<SharedCard>> {
        // The revisions are a range of ids, which ends before arrays: those sort after every number.
        let query = self
            .reading(format!(
                "LET $ids = {};
                LET $found = (SELECT id, visible_to FROM $ids)[0];
                LET $name = IF $found != NONE {{ record::id($found.id) }};
                SELECT card AS key, number, $found.visible_to AS visible_to, body, author, operation,
                    reason, at FROM revision:[$name, NONE]..[$name, []] {which}",
                ids("card", "[$card]")
            ))
            .bind(("card", card.value()));
        let rows: Vec<CardRow> = self.client.answer(query).await?.check()?.take(4)?;
        rows.into_iter().map(SharedCard::try_from).collect()
    }
}

impl TryFrom<CardRow> for SharedCard {
    type Error = TeamError;

    fn try_from(row: CardRow) -> Result<SharedCard> {
        Ok(SharedCard {
            card: CardKey::new(row.key),
            number: row.number as u32,
            body: row.body,
            visible_to: Visibility::of(&row.visible_to)?,
            author: MemberKey::of(&row.author)?,
            operation: row.operation,
            reason: row.reason,
            at: timestamp(row.at)?,
        })
    }
}
