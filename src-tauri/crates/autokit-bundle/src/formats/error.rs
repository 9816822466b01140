//! Errors for a file of another format as a whole, and reading such a file as text.

use std::io::{self, Read};

use autokit_toolcard::MAX_FILE_BYTES;

/// The file as a whole cannot be read. A bad entry among good ones is
/// [`Rejected`](autokit_toolcard::Rejected) instead.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The disk or pipe failed.
    #[error("the file could not be read: {0}")]
    Io(#[from] io::Error),
    /// More than [`MAX_FILE_BYTES`].
    #[error("the file is larger than {} MiB", MAX_FILE_BYTES >> 20)]
    TooLarge,
    /// Not text.
    #[error("the file is not UTF-8 text: invalid byte at offset {offset} (line {line})")]
    NotUtf8 {
        /// Offset of the first bad byte.
        offset: usize,
        /// The line it is on, from 1.
        line: usize,
    },
    /// Nothing but white space.
    #[error("the file is empty")]
    Empty,
    /// Not JSON.
    #[error("the file is not valid JSON: {0}")]
    Syntax(serde_json::Error),
    /// JSON, but without MCP servers.
    #[error("the file contains {found} instead of MCP servers")]
    NoServers {
        /// What the file contains instead.
        found: &'static str,
    },
    /// JSON, but not from the MCP registry.
    #[error("the file contains {found} instead of a server.json or a registry response")]
    NoServerJson {
        /// What the file contains instead.
        found: &'static str,
    },
    /// A table without the `name` column, which every card needs.
    #[error("the first row has no column `name` (it has: {found})")]
    NoNameColumn {
        /// The columns it has, shortened.
        found: String,
    },
    /// Two columns for the same field.
    #[error("the first row has the column `{name}` twice")]
    RepeatedColumn {
        /// The name both have.
        name: String,
    },
    /// More columns than a table has; the file is probably not a table.
    #[error("the first row has {found} columns; the limit is {most}")]
    TooManyColumns {
        /// How many columns it has.
        found: usize,
        /// How many columns are read at most.
        most: usize,
    },
}

impl FormatError {
    /// Returns what the person can do, as a sentence.
    pub fn remedy(&self) -> &'static str {
        match self {
            FormatError::Io(_) => "Check the path.",
            FormatError::TooLarge => "Split it into smaller files and import them one after another.",
            FormatError::NotUtf8 { .. } => "Save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\").",
            FormatError::Empty => "Export it again from the program it comes from.",
            FormatError::Syntax(_) => "Remove comments and trailing commas.",
            FormatError::NoServers { .. } => {
                "Import an object \"mcpServers\" or \"servers\" with one entry per server."
            }
            FormatError::NoServerJson { .. } => {
                "Import an object with \"name\" and \"packages\" or \"remotes\", or a registry response with a list \"servers\"."
            }
            FormatError::NoNameColumn { .. } => {
                "Name the columns after the fields of a card: name, description, documentation …"
            }
            FormatError::RepeatedColumn { .. } => "Rename or delete one of them.",
            FormatError::TooManyColumns { .. } => "Check that it is a table of cards.",
        }
    }
}

/// Reads everything as UTF-8 text and removes a byte order mark.
pub(super) fn text(reader: impl Read) -> Result<String, FormatError> {
    let mut bytes = Vec::new();
    reader.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(FormatError::TooLarge);
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..offset].split(|byte| *byte == b'\n').count();
        FormatError::NotUtf8 { offset, line }
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    if text.trim().is_empty() { Err(FormatError::Empty) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_say_where() {
        let error = text(&b"name\nCaf\xe9\n"[..]).expect_err("Latin-1").to_string();
        assert!(error.contains("offset 8 (line 2)") && error.contains("UTF-8"), "{error}");
        assert!(matches!(text(&b"\xff\xfen\0a\0"[..]), Err(FormatError::NotUtf8 { offset: 0, line: 1 })));
        assert!(matches!(text(&b"\xef\xbb\xbf \r\n"[..]), Err(FormatError::Empty)));
        assert_eq!(text(&b"\xef\xbb\xbfname\n"[..]).expect("text"), "name\n");
    }

    #[test]
    fn endless_input_is_refused() {
        assert!(matches!(text(io::repeat(b' ')), Err(FormatError::TooLarge)));
    }
}
