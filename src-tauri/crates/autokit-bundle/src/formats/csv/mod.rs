//! Cards as a table: the first row names the fields, every further row is a card.
//!
//! A cell of `init_args`, `parameters` or of a field whose type is not fixed that starts with `{` or
//! `[` and is JSON is that JSON; `verified` is `true` or `false`; `tags` and `sources` are separated
//! by `|`, which is none of the delimiters a table has. An empty cell is a missing field, so an
//! empty text and `null` come back as missing, and a number or truth in a field AutoKit does not
//! know comes back as text: a table has no types. Everything else comes back as it was.
//!
//! Spreadsheets run a cell that starts with `=` and the like as a formula. [`formula::guard`] puts an
//! apostrophe before such a cell when writing, and [`formula::unguard`] takes that very apostrophe off when
//! reading.

mod cell;
mod formula;
mod read;
mod write;

pub(super) use read::has_name_column;
pub use read::read_csv;
pub use write::write_csv;

#[cfg(test)]
mod tests;
