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
    /// After which row to list others.
    position: Cursor,
    /// Where an answer begins to whoever has the rows that were given, and to whoever was told of a change.
    cursor: Cursor,
    recent: Cursor,
    /// When rows were listed first, and whether there are more at the server; `None` before.
    listed: Option<(Datetime, bool)>,
    /// Whether the server's clock was put back since the cursor at which it began.
    is_ahead: bool,
}

/// Some of the rows.
pub(crate) struct Page<T> {
    pub(crate) rows: Vec<T>,
    /// Where an answer begins to whoever has this page, and to whoever was told of a change. What was written slowly may be
    /// missing among fresh rows of this page, and is not missed after it.
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
        Listing {
            rows: VecDeque::new(),
            position: cursor.clone(),
            recent: cursor.clone(),
            cursor,
            listed: None,
            is_ahead: false,
        }
    }

    /// Takes the next rows, and lists others before if there are none.
    pub(crate) async fn next(
        &mut self,
        size: usize,
        list: impl AsyncFnOnce(&Cursor) -> Result<(Datetime, Vec<T>)>,
    ) -> Result<Page<T>> {
        let (first, more_listed) = match self.listed {
            Some(listed) if !self.rows.is_empty() => listed,
            before => {
                let (now, rows) = list(&self.position).await?;
                let more = rows.len() >= LISTED;
                self.rows = rows.into();
                if before.is_none() {
                    self.is_ahead = self.cursor.is_ahead_of(now, OVERLAP_SECONDS);
                }
                // Rows are as fresh as they were when the first of them were listed.
                *self.listed.insert((before.map_or(now, |(first, _)| first), more))
            }
        };
        let rows: Vec<T> = self.rows.drain(..size.min(self.rows.len())).collect();
        let last = rows.last().map(T::position);
        if let Some(last) = last {
            self.position = Cursor::after(last)?;
        }
        if self.is_ahead {
            (self.cursor, self.recent) = (Cursor::default(), Cursor::default());
        } else {
            self.cursor = self.cursor.next(last, first, OVERLAP_SECONDS)?;
            self.recent = self.recent.next(last, first, SHORT_OVERLAP_SECONDS)?;
        }
        Ok(Page {
            rows,
            cursor: self.cursor.clone(),
            recent: self.recent.clone(),
            more: more_listed || !self.rows.is_empty(),
        })
    }
}

impl Session {
    /// Lists up to [`LISTED`] rows of a table with a query that [`Session::reading`] began and [`listed`] goes on. Returns when:
    /// what was committed before is in them.
    pub(crate) async fn list<T: Listed>(
        &self,
        query: Query<'_, Any>,
        cursor: &Cursor,
        table: &'static str,
    ) -> Result<(Datetime, Vec<T>)> {
        let (since, last) = cursor.position(table);
        let query = query.bind(("since", since)).bind(("last", last)).bind(("limit", LISTED as i64));
        let mut answers = self.client.answer(query).await?.check()?;
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
    use surrealdb::types::RecordId;

    #[derive(Debug, SurrealValue)]
    #[surreal(crate = "surrealdb::types")]
    struct Row {
        id: Value,
        at: i64,
    }

    fn time(seconds: i64) -> Datetime {
        Datetime::from_timestamp(seconds, 0).expect("a time")
    }

    impl Listed for Row {
        fn position(&self) -> (Datetime, &Value) {
            (time(self.at), &self.id)
        }
    }

    fn row(name: &str, at: i64) -> Row {
        Row { id: Value::RecordId(RecordId::new("card", name)), at }
    }

    #[tokio::test]
    async fn whoever_stops_after_a_page_reads_on_where_others_may_still_appear() -> Result<()> {
        let rows = || vec![row("kettle", 99), row("pot", 100), row("cup", 100)];
        for (now, cursor, recent) in [
            (100, (time(90), Value::None), (time(99), Value::None)),
            (109, (time(90), Value::None), (time(100), row("pot", 0).id)),
            (200, (time(100), row("pot", 0).id), (time(100), row("pot", 0).id)),
        ] {
            let mut listing = Listing::since(Cursor::default());
            let page = listing.next(2, async |_| Ok((time(now), rows()))).await?;
            assert!(page.more && page.rows.len() == 2);
            assert_eq!((page.cursor.position("card"), page.recent.position("card")), (cursor, recent));
            let rest = listing.next(2, async |_| panic!("all rows are listed")).await?;
            assert!(!rest.more && rest.rows.len() == 1);
        }
        Ok(())
    }

    #[tokio::test]
    async fn everything_is_read_once_after_the_clock_was_put_back() -> Result<()> {
        let kettle = row("kettle", 0).id;
        let read = Cursor::default().next(Some((time(100), &kettle)), time(200), OVERLAP_SECONDS)?;
        let page = Listing::since(read).next(2, async |_| Ok((time(50), Vec::<Row>::new()))).await?;
        assert_eq!((page.cursor, page.recent), (Cursor::default(), Cursor::default()));
        let rows = vec![row("kettle", 100)];
        let page = Listing::since(Cursor::default()).next(2, async |_| Ok((time(50), rows))).await?;
        assert_eq!(page.cursor.position("card"), (time(40), Value::None));
        Ok(())
    }

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
