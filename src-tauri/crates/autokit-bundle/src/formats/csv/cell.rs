//! Converts a field's value to the text of a cell and back.

use autokit_toolcard::{Problem, fields, read_exact_value};
use serde_json::Value;

/// Separates the items of `tags` and `sources`.
const LIST_SEPARATOR: char = '|';

/// How the text of a cell is parsed, depending on its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    /// Always text, so that a description may start with a bracket.
    Text,
    /// JSON and nothing else.
    Json,
    /// `true` or `false`.
    Truth,
    /// Texts with separators, or a JSON list.
    List,
    /// JSON if it looks like JSON and parses; text otherwise.
    Any,
}

impl ColumnType {
    pub(super) fn of(field: &str) -> ColumnType {
        match field {
            fields::NAME
            | fields::PROVIDER
            | fields::KIND
            | fields::DESCRIPTION
            | fields::LANGUAGE
            | fields::MODULE
            | fields::CLASS
            | fields::USAGE
            | fields::PRICING
            | fields::DOCUMENTATION => ColumnType::Text,
            fields::INIT_ARGS | fields::PARAMETERS => ColumnType::Json,
            fields::VERIFIED => ColumnType::Truth,
            fields::TAGS | fields::SOURCES | fields::ASKS_FOR => ColumnType::List,
            _ => ColumnType::Any,
        }
    }

    /// Parses a non-empty cell.
    ///
    /// # Errors
    /// A problem, for invalid JSON in a column that only takes JSON.
    pub(super) fn read(self, field: &str, cell: &str) -> Result<Value, Problem> {
        let text = || Value::from(cell);
        match self {
            ColumnType::Text => Ok(text()),
            ColumnType::Truth => Ok(match cell.trim() {
                // Spreadsheets write booleans in capitals.
                truth if truth.eq_ignore_ascii_case("true") => Value::Bool(true),
                truth if truth.eq_ignore_ascii_case("false") => Value::Bool(false),
                _ => text(),
            }),
            ColumnType::Json => read_exact_value(cell).map_err(|reason| {
                Problem::error(
                    field,
                    format!("{reason}; the cell must contain JSON, such as {{\"key\": \"value\"}}"),
                )
            }),
            ColumnType::List => Ok(json_list(cell).unwrap_or_else(|| {
                cell.split(LIST_SEPARATOR)
                    .map(str::trim)
                    .filter(|item| !item.is_empty())
                    .map(Value::from)
                    .collect()
            })),
            ColumnType::Any => Ok(json(cell).or_else(|| quoted(cell)).unwrap_or_else(text)),
        }
    }

    /// The text that [`ColumnType::read`] turns back into the value; empty for what a table cannot hold.
    pub(super) fn write(self, field: &str, value: &Value) -> String {
        match (self, value) {
            (_, Value::Null) => String::new(),
            (ColumnType::Any, Value::String(text)) if !self.reads_as(field, text, value) => value.to_string(),
            (_, Value::String(text)) => text.clone(),
            (ColumnType::List, Value::Array(items)) => {
                let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                let joined = texts.join(&format!(" {LIST_SEPARATOR} "));
                if self.reads_as(field, &joined, value) { joined } else { value.to_string() }
            }
            _ => value.to_string(),
        }
    }

    fn reads_as(self, field: &str, cell: &str, value: &Value) -> bool {
        // An empty cell would be read as a missing field.
        cell.is_empty() == (value.as_str() == Some(""))
            && self.read(field, cell).is_ok_and(|read| read == *value)
    }
}

fn json(cell: &str) -> Option<Value> {
    if cell.starts_with(['{', '[']) { read_exact_value(cell).ok() } else { None }
}

fn json_list(cell: &str) -> Option<Value> {
    let cell = cell.trim();
    if cell.starts_with('[') { read_exact_value(cell).ok() } else { None }
}

/// Parses a JSON string that was written for a text which itself looks like JSON; any other text in quotation
/// marks is plain text.
fn quoted(cell: &str) -> Option<Value> {
    let looks = cell.strip_prefix('"')?.trim_start_matches('\\').starts_with(['{', '[', '"']);
    if looks { read_exact_value(cell).ok() } else { None }
}
