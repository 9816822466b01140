//! Up to where a replica has read.

use std::fmt;
use std::str::FromStr;

use surrealdb::types::{Datetime, RecordId, RecordIdKey, Value};

use crate::access::unexpected;
use crate::error::{Code, Result, TeamError};

/// How far before the newest row seen the next answer begins, in seconds: a request that takes so long becomes visible after
/// later ones. What is seen twice is the same.
pub(crate) const OVERLAP_SECONDS: i64 = 10;

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
    /// Where the next answer begins after one whose last row was written then and has this id: without more rows, so many
    /// seconds before.
    pub(crate) fn next(&self, last: Option<(Datetime, &Value)>, more: bool, overlap: i64) -> Result<Cursor> {
        let (at, id) = match (last, &self.0) {
            (Some((at, id)), _) => (at, name_of(id)?),
            // Nothing came after a row in the middle.
            (None, Some((at, Some(id)))) => (*at, id.clone()),
            (None, _) => return Ok(self.clone()),
        };
        if more {
            return Ok(Cursor(Some((at, Some(id)))));
        }
        let earlier = Datetime::from_timestamp(at.timestamp() - overlap, at.timestamp_subsec_nanos());
        Ok(Cursor(Some((earlier.unwrap_or(at), None))))
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
        let cursor = Cursor::default().next(Some((at, &id)), true, 0).unwrap();
        let again: Cursor = cursor.to_string().parse().unwrap();
        assert_eq!(again, cursor);
        assert_eq!(again.position("card"), (at, id));
        assert_eq!("".parse::<Cursor>().unwrap(), Cursor::default());
        assert!("yesterday".parse::<Cursor>().is_err());
    }

    #[test]
    fn the_last_answer_is_read_again_in_part() {
        let at = Datetime::from_timestamp(100, 5).unwrap();
        let id = Value::RecordId(RecordId::new("card", "kettle"));
        let last = Cursor::default().next(Some((at, &id)), false, OVERLAP_SECONDS).unwrap();
        assert_eq!(last.position("card"), (Datetime::from_timestamp(90, 5).unwrap(), Value::None));
        // Nothing new.
        assert_eq!(last.next(None, false, OVERLAP_SECONDS).unwrap(), last);
    }
}
