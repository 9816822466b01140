//! Writes cards as a table.

use std::io::{self, Write};

use autokit_toolcard::{Toolcard, fields};
use serde_json::Value;

use super::cell::ColumnType;
use super::formula::guard;

/// Writes cards as a table for spreadsheets: UTF-8 with a byte order mark (without it Excel garbles accented
/// letters), commas, CRLF. The columns are the fields that any card has: known fields first in their usual
/// order, then the others by first appearance. The rows are the cards in the given order. A table has no
/// place for a title, so `about` is not written.
///
/// # Errors
/// When the writer fails.
pub fn write_csv(out: &mut impl Write, cards: &[Toolcard]) -> io::Result<()> {
    let columns = columns(cards);
    out.write_all("\u{feff}".as_bytes())?;
    let mut table = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(out);
    table.write_record(columns.iter().map(|column| guard((*column).to_owned())))?;
    for card in cards {
        table.write_record(columns.iter().map(|column| {
            let value = card.object().get(*column).unwrap_or(&Value::Null);
            guard(ColumnType::of(column).write(column, value))
        }))?;
    }
    table.flush()
}

fn columns(cards: &[Toolcard]) -> Vec<&str> {
    let mut seen: std::collections::HashSet<&str> = fields::ALL.into_iter().collect();
    let used = |field: &str| cards.iter().any(|card| card.object().contains_key(field));
    // A field `Kind` would be read as `kind`, unless `kind` has a column too.
    let mistaken = |field: &str| {
        let mut fields = cards.iter().flat_map(|card| card.object().keys());
        fields.any(|other| other != field && other.trim().eq_ignore_ascii_case(field))
    };
    // The `name` column is written even without cards, so that the file is a table to fill in.
    let mut columns: Vec<&str> = fields::ALL
        .into_iter()
        .filter(|field| *field == fields::NAME || used(field) || mistaken(field))
        .collect();
    for field in cards.iter().flat_map(|card| card.object().keys()) {
        if seen.insert(field) {
            columns.push(field);
        }
    }
    columns
}
