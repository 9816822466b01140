//! Up to where a replica has read.

use std::fmt;
use std::str::FromStr;

use surrealdb::types::{Datetime, RecordId, RecordIdKey, Value};

use crate::access::unexpected;
use crate::error::{Code, Result, TeamError};

/// How long after a row was written others with an earlier time may still appear, in seconds: a request that takes so long
/// becomes visible after later ones, and the clocks of several servers differ. What is seen twice is the same.
pub(crate) const OVERLAP_SECONDS: i64 = 10;
/// As [`OVERLAP_SECONDS`], for requests that take as long as most do.
pub(crate) const SHORT_OVERLAP_SECONDS: i64 = 1;

/// Up to where a replica has read rows of a table in the order in which they were written: the time and, within a row of
/// answers, the id of the last of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor(Option<(Datetime, Option<String>)>);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => Ok(()),
            Some((at, None)) => write!(f, "{at}"),
            Some((at, Some(id))) => write!(f, "{at} {id}"),
        }
    }
}

impl FromStr for Cursor {
    type Err = TeamError;

    fn from_str(text: &str) -> Result<Cursor> {
        if text.is_empty() {
            return Ok(Cursor::default());
        }
        let (at, id) = match text.split_once(' ') {
            Some((at, id)) => (at, Some(id.to_owned())),
            None => (text, None),
        };
        let at = at.parse().map_err(|_| {
            TeamError::new(Code::Invalid, format!("{text:?} is no position in a team's library"))
        })?;
        Ok(Cursor(Some((at, id))))
    }
}

impl Cursor {
    /// Right after a row that was written then and has this id.
    pub(crate) fn after((at, id): (Datetime, &Value)) -> Result<Cursor> {
        Ok(Cursor(Some((at, Some(name_of(id)?)))))
    }

    /// Where the next answer begins after one whose last row was written then and has this id, and which the server gave at
    /// `now`: after that row if it is older than the overlap in seconds, so many before it otherwise.
    ///
    /// Rows that were written together are read again only as long as others may still appear among them.
    pub(crate) fn next(
        &self,
        last: Option<(Datetime, &Value)>,
        now: Datetime,
        overlap: i64,
    ) -> Result<Cursor> {
        let (at, id) = match (last, &self.0) {
            (Some((at, id)), _) => (at, name_of(id)?),
            // Nothing came after a row that was read.
            (None, Some((at, Some(id)))) => (*at, id.clone()),
            (None, _) => return Ok(self.clone()),
        };
        if at < plus(now, -overlap) {
            return Ok(Cursor(Some((at, Some(id)))));
        }
        Ok(Cursor(Some((plus(at.min(now), -overlap), None))))
    }

    /// Whether the server's clock was put back since, by more than the overlap in seconds: what was written before this position
    /// is not known then, and everything is to be read again.
    pub(crate) fn is_ahead_of(&self, now: Datetime, overlap: i64) -> bool {
        self.0.as_ref().is_some_and(|(at, _)| *at > plus(now, overlap))
    }

    /// The time, and the row of this table after which the next answer begins.
    pub(crate) fn position(&self, table: &'static str) -> (Datetime, Value) {
        match &self.0 {
            Some((at, Some(id))) => (*at, Value::RecordId(RecordId::new(table, id.as_str()))),
            Some((at, None)) => (*at, Value::None),
            None => (Datetime::MIN_UTC, Value::None),
        }
    }
}

fn plus(at: Datetime, seconds: i64) -> Datetime {
    Datetime::from_timestamp(at.timestamp() + seconds, at.timestamp_subsec_nanos()).unwrap_or(at)
}

fn name_of(id: &Value) -> Result<String> {
    match id {
        Value::RecordId(RecordId { key: RecordIdKey::String(name), .. }) => Ok(name.clone()),
        other => Err(unexpected("id", other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_what_its_text_says() {
        let at = Datetime::from_timestamp(1_767_323_045, 120_000_000).unwrap();
        let id = Value::RecordId(RecordId::new("card", "kettle"));
        let cursor = Cursor::after((at, &id)).unwrap();
        let again: Cursor = cursor.to_string().parse().unwrap();
        assert_eq!(again, cursor);
        assert_eq!(again.position("card"), (at, id));
        assert_eq!("".parse::<Cursor>().unwrap(), Cursor::default());
        assert!("yesterday".parse::<Cursor>().is_err());
    }

    fn at(seconds: i64) -> Datetime {
        Datetime::from_timestamp(seconds, 5).unwrap()
    }

    fn next(cursor: &Cursor, last: Option<i64>, now: i64) -> Cursor {
        let id = Value::RecordId(RecordId::new("card", "kettle"));
        cursor.next(last.map(|last| (at(last), &id)), at(now), OVERLAP_SECONDS).unwrap()
    }

    #[test]
    fn rows_are_read_again_while_others_may_appear_among_them() {
        let id = Value::RecordId(RecordId::new("card", "kettle"));
        let recent = next(&Cursor::default(), Some(100), 103);
        assert_eq!(recent.position("card"), (at(90), Value::None));
        // Nothing new.
        assert_eq!(next(&recent, None, 104), recent);
        let settled = next(&recent, Some(100), 111);
        assert_eq!(settled.position("card"), (at(100), id));
        assert_eq!(next(&settled, None, 126), settled);
    }

    #[test]
    fn a_clock_that_was_put_back_is_noticed() {
        let read = next(&Cursor::default(), Some(100), 111);
        // By less than the overlap: rows of that time are read with the next answer.
        assert!(!read.is_ahead_of(at(95), OVERLAP_SECONDS));
        assert_eq!(next(&read, None, 95).position("card"), (at(85), Value::None));
        assert!(read.is_ahead_of(at(70), OVERLAP_SECONDS));
        // Rows of the time before are there for good.
        assert_eq!(next(&Cursor::default(), Some(100), 70).position("card"), (at(60), Value::None));
    }
}
