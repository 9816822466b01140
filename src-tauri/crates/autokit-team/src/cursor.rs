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
    /// Where the next answer begins after one whose last row was written then and has this id, and which the server gave at
    /// `now`: after that row if there are more or it is older than the overlap in seconds, so many before it otherwise.
    ///
    /// Rows that were written together are read again only as long as others may still appear among them.
    pub(crate) fn next(
        &self,
        last: Option<(Datetime, &Value)>,
        more: bool,
        now: Datetime,
        overlap: i64,
    ) -> Result<Cursor> {
        let (at, id) = match (last, &self.0) {
            (Some((at, id)), _) => (at, name_of(id)?),
            // Nothing came after a row in the middle.
            (None, Some((at, Some(id)))) => (*at, id.clone()),
            (None, _) => return Ok(self.clone()),
        };
        if more || at < before(now, overlap) {
            return Ok(Cursor(Some((at, Some(id)))));
        }
        // A clock that was put back writes earlier rows.
        Ok(Cursor(Some((before(at.min(now), overlap), None))))
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

fn before(at: Datetime, seconds: i64) -> Datetime {
    Datetime::from_timestamp(at.timestamp() - seconds, at.timestamp_subsec_nanos()).unwrap_or(at)
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
        let cursor = Cursor::default().next(Some((at, &id)), true, at, OVERLAP_SECONDS).unwrap();
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
        cursor.next(last.map(|last| (at(last), &id)), false, at(now), OVERLAP_SECONDS).unwrap()
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
    fn rows_of_a_clock_that_was_put_back_are_read() {
        let ahead = next(&Cursor::default(), Some(100), 111);
        assert_eq!(next(&ahead, None, 70).position("card"), (at(60), Value::None));
    }
}
