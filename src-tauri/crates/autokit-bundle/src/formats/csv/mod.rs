//! Cards as a table: the first row names the fields, every further row is a card.
//!
//! JSON cells: in `init_args`, `parameters` and fields without a fixed type, a cell that starts with `{` or
//! `[` and is valid JSON is read as JSON. `verified` is `true` or `false`. `tags` and `sources` are separated
//! by `|`, which is never a table's delimiter. Because a table has no types, an empty cell is a missing
//! field, so empty strings and `null` come back as missing, and a number or boolean in an unknown field comes
//! back as text. Everything else survives a round trip.
//!
//! Spreadsheets run a cell that starts with `=` or a similar sign as a formula. [`formula::guard`] puts an
//! apostrophe before such a cell when writing, and [`formula::unguard`] removes exactly that apostrophe when
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
