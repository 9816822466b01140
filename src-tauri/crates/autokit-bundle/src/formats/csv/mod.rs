//! Cards as a table: the first row names the fields, every further row is a card.
//!
//! A cell of `init_args`, `parameters` or of a field whose type is not fixed that starts with `{` or
//! `[` and is JSON is that JSON; `verified` is `true` or `false`; `tags` and `sources` are separated
//! by `|`, which is none of the delimiters a table has. An empty cell is a missing field, so an
//! empty text and `null` come back as missing, and a number or truth in a field AutoKit does not
//! know comes back as text: a table has no types. Everything else comes back as it was.
//!
//! Spreadsheets run a cell that starts with `=` and the like as a formula. [`guard`] puts an
//! apostrophe before such a cell when writing, and [`unguard`] takes that very apostrophe off when
//! reading.

mod cell;
mod read;
mod write;

pub(super) use read::has_name_column;
pub use read::read_csv;
pub use write::write_csv;

/// Between the texts of `tags` and `sources`.
const LIST_SEPARATOR: char = '|';

/// What makes a spreadsheet take a cell as a formula: the signs, their full-width forms, and the
/// control characters that are skipped before one.
fn starts_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

/// Whether the cell is a formula behind any number of apostrophes; counting those makes adding and
/// taking off one the exact reverse of each other.
fn is_guarded_or_formula(cell: &str) -> bool {
    starts_formula(cell.trim_start_matches('\''))
}

/// The cell as it is written.
fn guard(cell: String) -> String {
    if is_guarded_or_formula(&cell) { format!("'{cell}") } else { cell }
}

/// The cell as it was before [`guard`].
fn unguard(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if is_guarded_or_formula(rest) => rest,
        _ => cell,
    }
}

#[cfg(test)]
mod tests;
