//! Reads a table as cards.

use std::collections::HashSet;
use std::io::Read;

use autokit_toolcard::{Candidate, Problem, ReadCards, Rejected, fields, read_items, visible};
use csv::StringRecord;
use serde_json::Map;

use super::cell::ColumnType;
use super::formula::unguard;
use crate::formats::error::{self, FormatError};

/// Possible delimiters between cells; the first row decides.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// Maximum number of columns, as many as a spreadsheet has. With more, the file is not a table, and each
/// column would slow down every row.
const MAX_COLUMNS: usize = 16_384;

/// Reads a table as cards: the first row holds the field names, every further row is a card. Unknown columns
/// become additional fields. The delimiter (comma, semicolon or tab) is detected from the first row or taken
/// from the line `sep=;` that Excel puts above it. Positions count the rows below the first, without blank
/// lines.
///
/// # Errors
/// [`FormatError`] when the input is not text or its first row cannot name fields.
pub fn read_csv(reader: impl Read) -> Result<ReadCards, FormatError> {
    let text = error::text(reader)?;
    let (declared, text) = declared_delimiter(&text);
    let delimiter = declared.unwrap_or_else(|| delimiter(text));
    let mut table = table(text, delimiter);
    let header = columns(&next(&mut table).unwrap_or_default())?;
    let open = unclosed_quote(text, delimiter).map(|line| line + usize::from(declared.is_some()));
    let mut rows = Vec::new();
    while let Some(row) = next(&mut table) {
        if row.iter().all(str::is_empty) {
            continue;
        }
        let position = rows.len() + 1;
        rows.push(candidate(position, &header, &row, delimiter));
    }
    // Everything after a quotation mark that is never closed is one cell of the last row.
    let position = rows.len();
    if let (Some(line), Some(last)) = (open, rows.last_mut()) {
        let name = match last {
            Ok(candidate) => name_of(candidate),
            Err(rejected) => rejected.name.take(),
        };
        let reason = format!(
            "has an unclosed quotation mark on line {line}, so everything below is in one cell; close it and import again"
        );
        *last = Err(Rejected { position, name, problems: vec![Problem::error("", reason)] });
    }
    Ok(read_items(rows))
}

/// Whether the first row of a text has a column `name`, with any of the delimiters.
pub(crate) fn has_name_column(text: &str) -> bool {
    let (declared, text) = declared_delimiter(text);
    let row = first_row(text, declared.unwrap_or_else(|| delimiter(text)));
    row.iter().any(|cell| column(cell) == fields::NAME)
}

/// The delimiter from Excel's line `sep=;` and the table below it. Excel does not show that line as a row.
fn declared_delimiter(text: &str) -> (Option<u8>, &str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let line = first.trim_end_matches('\r');
    let line = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    let sign =
        line.get(..4).filter(|start| start.eq_ignore_ascii_case("sep=")).map(|_| &line.as_bytes()[4..]);
    match sign {
        Some([sign]) if sign.is_ascii() && *sign != b'"' => (Some(*sign), rest),
        _ => (None, text),
    }
}

fn table(text: &str, delimiter: u8) -> ::csv::Reader<&[u8]> {
    ::csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes())
}

/// The next row; `None` at the end.
fn next(table: &mut ::csv::Reader<&[u8]>) -> Option<StringRecord> {
    let mut row = StringRecord::new();
    // Reading flexible rows of valid UTF-8 from memory cannot fail.
    table.read_record(&mut row).ok()?.then_some(row)
}

fn first_row(text: &str, delimiter: u8) -> StringRecord {
    next(&mut table(text, delimiter)).unwrap_or_default()
}

/// The delimiter with which the first row names the most known fields, or else has the most columns.
fn delimiter(text: &str) -> u8 {
    let score = |delimiter: u8| {
        let row = first_row(text, delimiter);
        let known = row.iter().filter(|cell| fields::ALL.contains(&column(cell))).count();
        (known, row.len())
    };
    // On a tie the first delimiter wins; `max_by_key` returns the last.
    DELIMITERS.into_iter().rev().max_by_key(|delimiter| score(*delimiter)).unwrap_or(b',')
}

/// The field that a cell of the first row names. White space and capitals are ignored in the names of known
/// fields, since spaces after commas and capitalized column names are common; in other names they count.
fn column(cell: &str) -> &str {
    let cell = unguard(cell);
    let known = fields::ALL.into_iter().find(|field| field.eq_ignore_ascii_case(cell.trim()));
    known.unwrap_or(cell)
}

fn columns(row: &StringRecord) -> Result<Vec<String>, FormatError> {
    if row.len() > MAX_COLUMNS {
        return Err(FormatError::TooManyColumns { found: row.len(), most: MAX_COLUMNS });
    }
    // If there is a column `name`, one called `Name` is a separate field.
    let exact: HashSet<&str> = row.iter().map(|cell| unguard(cell).trim()).collect();
    let named = |cell| {
        let (own, known) = (unguard(cell), column(cell));
        if own.trim() != known && exact.contains(known) { own } else { known }
    };
    let columns: Vec<String> = row.iter().map(|cell| named(cell).to_owned()).collect();
    if !columns.iter().any(|column| column == fields::NAME) {
        let found: Vec<String> = columns.iter().take(8).map(|column| short(column)).collect();
        let more = if columns.len() > 8 { " …" } else { "" };
        return Err(FormatError::NoNameColumn { found: format!("{}{more}", found.join(", ")) });
    }
    let mut seen = HashSet::new();
    match columns.iter().find(|column| !column.is_empty() && !seen.insert(column.as_str())) {
        Some(column) => Err(FormatError::RepeatedColumn { name: short(column) }),
        None => Ok(columns),
    }
}

fn short(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    visible(&start).into_owned()
}

fn candidate(
    position: usize,
    header: &[String],
    row: &StringRecord,
    delimiter: u8,
) -> Result<Candidate, Rejected> {
    let mut object = Map::new();
    let mut notes = Vec::new();
    for (index, (field, cell)) in header.iter().zip(row).enumerate() {
        let cell = unguard(cell);
        if cell.is_empty() {
            continue;
        }
        if field.is_empty() {
            let reason = format!("has a value in column {}, which has no name; skipped", index + 1);
            notes.push(Problem::warning("", reason));
            continue;
        }
        match ColumnType::of(field).read(field, cell) {
            Ok(value) => {
                object.insert(field.clone(), value);
            }
            Err(problem) => notes.push(problem),
        }
    }
    let candidate = Candidate { position, object, notes };
    if row.iter().skip(header.len()).any(|cell| !cell.is_empty()) {
        // There is no way to tell which cell belongs where.
        let sign = match delimiter {
            b';' => "semicolon",
            b'\t' => "tab",
            b',' => "comma",
            _ => "delimiter",
        };
        let reason = format!(
            "has {} cells, but the first row has {}; quote values that contain a {sign}",
            row.len(),
            header.len()
        );
        let name = name_of(&candidate);
        return Err(Rejected { position, name, problems: vec![Problem::error("", reason)] });
    }
    Ok(candidate)
}

fn name_of(candidate: &Candidate) -> Option<String> {
    Some(candidate.object.get(fields::NAME)?.as_str()?.chars().take(80).collect())
}

/// The line (from 1) of a quotation mark that opens a cell and is never closed.
fn unclosed_quote(text: &str, delimiter: u8) -> Option<usize> {
    let (mut line, mut cell_starts, mut opened) = (1, true, None);
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        line += usize::from(byte == b'\n');
        match (opened, byte) {
            (Some(_), b'"') => {
                // A doubled quotation mark stands for a single one within the cell.
                if bytes.next_if_eq(&b'"').is_none() {
                    opened = None;
                }
            }
            (Some(_), _) => {}
            (None, b'"') if cell_starts => {
                opened = Some(line);
                cell_starts = false;
            }
            (None, _) => cell_starts = byte == delimiter || byte == b'\n' || byte == b'\r',
        }
    }
    opened
}
