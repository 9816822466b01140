//! Rows in the order in which they were written: many are listed at once, and read a few at a time.

use std::collections::VecDeque;

use surrealdb::engine::any::Any;
use surrealdb::method::Query;
use surrealdb::types::{Datetime, SurrealValue, Value};

use crate::cursor::{Cursor, OVERLAP_SECONDS, SHORT_OVERLAP_SECONDS};
use crate::error::{Code, Result, TeamError};
use crate::session::Session;

/// Rows that are listed at once. However few it is asked for, the database reads as many from an index and checks their
/// permissions.
pub(crate) const LISTED: usize = 1_000;

/// A row that says when it was written.
pub(crate) trait Listed: SurrealValue {
    /// When it was written, and its id.
    fn position(&self) -> (Datetime, &Value);
}

/// Rows of a table that were written since a cursor.
#[derive(Debug)]
pub(crate) struct Listing<T> {
    rows: VecDeque<T>,
    /// Where the rows begin that were not given yet.
    cursor: Cursor,
    /// When the rows were listed, and whether there are more at the server; `None` before.
    listed: Option<(Datetime, bool)>,
}

/// Some of the rows.
pub(crate) struct Page<T> {
    pub(crate) rows: Vec<T>,
    /// Where the next page begins, and where it begins for whoever was told of a change.
    pub(crate) cursor: Cursor,
    pub(crate) recent: Cursor,
    /// Whether there are more.
    pub(crate) more: bool,
}

/// A statement that lists columns of rows of a table, with its time before it: answers of [`Session::list`].
pub(crate) fn listed(columns: &str, table: &str) -> String {
    format!(
        "RETURN time::now();
        SELECT {columns} FROM {table}
            WHERE written_at >= $since AND (written_at != $since OR $last = NONE OR id > $last)
            ORDER BY written_at, id LIMIT $limit"
    )
}

impl<T: Listed> Listing<T> {
    /// Begins at a cursor.
    pub(crate) fn since(cursor: Cursor) -> Listing<T> {
        Listing { rows: VecDeque::new(), cursor, listed: None }
    }

    /// Takes the next rows, and lists others before if there are none.
    pub(crate) async fn next(
        &mut self,
        size: usize,
        list: impl AsyncFnOnce(&Cursor) -> Result<(Datetime, Vec<T>)>,
    ) -> Result<Page<T>> {
        let (now, more_listed) = match self.listed {
            Some(listed) if !self.rows.is_empty() => listed,
            _ => {
                let (now, rows) = list(&self.cursor).await?;
                let more = rows.len() >= LISTED;
                self.rows = rows.into();
                *self.listed.insert((now, more))
            }
        };
        let rows: Vec<T> = self.rows.drain(..size.min(self.rows.len())).collect();
        let more = more_listed || !self.rows.is_empty();
        let last = rows.last().map(T::position);
        let next = |overlap| self.cursor.next(last, more, now, overlap);
        let (cursor, recent) = (next(OVERLAP_SECONDS)?, next(SHORT_OVERLAP_SECONDS)?);
        self.cursor = cursor.clone();
        Ok(Page { rows, cursor, recent, more })
    }
}

impl Session {
    /// Lists rows of a table with a query that [`Session::reading`] began and [`listed`] goes on. Returns when it did so: what
    /// was written before is in them.
    pub(crate) async fn list<T: Listed>(
        &self,
        query: Query<'_, Any>,
        cursor: &Cursor,
        table: &'static str,
    ) -> Result<(Datetime, Vec<T>)> {
        let (since, last) = cursor.position(table);
        let query = query.bind(("since", since)).bind(("last", last)).bind(("limit", LISTED as i64));
        let mut answers = self.client.answer(query).await?;
        let now: Option<Datetime> = answers.take(1)?;
        let now = now.ok_or_else(|| TeamError::new(Code::Database, "the server gave no time"))?;
        Ok((now, answers.take(2)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cards::LISTED_COLUMNS;
    use crate::{Address, Connection, Credentials, INVITATION_LIFETIME, Owner, Role};

    #[tokio::test(flavor = "multi_thread")]
    async fn rows_are_read_in_the_order_of_their_index_and_not_sorted() -> Result<()> {
        let credentials = Credentials { user: "root".to_owned(), password: "root".to_owned() };
        let connection = Connection::open(&Address::Memory, Some(&credentials)).await?;
        let owner = Owner::sign_in(&connection, &credentials, "kitchen").await?;
        owner.create("The kitchen").await?;
        let invitation = owner.invite(Role::Reader, &[], INVITATION_LIFETIME).await?;
        let session = Session::join(&connection, &invitation, "bob", "bob").await?;
        for (columns, table) in
            [(LISTED_COLUMNS, "card"), ("id, written_at", "proposal"), ("id, written_at", "revocation")]
        {
            let statement = listed(columns, table).replace("SELECT", "EXPLAIN SELECT");
            let (since, last) = Cursor::default().position(table);
            let query = session.reading(statement).bind(("since", since)).bind(("last", last));
            let mut answers = query.bind(("limit", LISTED as i64)).await?;
            let plan: Option<String> = answers.take(2)?;
            let plan = plan.unwrap_or_default();
            assert!(plan.contains("IndexScan") && !plan.contains("Sort"), "{table}: {plan}");
        }
        Ok(())
    }
}
