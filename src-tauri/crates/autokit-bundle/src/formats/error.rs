//! Why a file of another format could not be understood at all, and its bytes taken as text.

use std::io::{self, Read};

use autokit_toolcard::MAX_FILE_BYTES;

/// Nothing in the file can be understood. A bad entry among good ones is not this: it is
/// [`Rejected`](autokit_toolcard::Rejected).
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The disk or pipe failed.
    #[error("the file could not be read: {0}")]
    Io(#[from] io::Error),
    /// More than [`MAX_FILE_BYTES`].
    #[error("the file is larger than {} MiB; split it into smaller files and import them one after another", MAX_FILE_BYTES >> 20)]
    TooLarge,
    /// Not text.
    #[error(
        "the file is not UTF-8 text: the byte at offset {offset} (line {line}) does not belong; save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\")"
    )]
    NotUtf8 {
        /// Offset of the first bad byte.
        offset: usize,
        /// Line it stands on, from 1.
        line: usize,
    },
    /// Nothing but white space.
    #[error("the file is empty; export it again from the program it comes from")]
    Empty,
    /// Not JSON.
    #[error(
        "the file is not valid JSON: {0}; take out comments and trailing commas, which JSON does not have"
    )]
    Syntax(serde_json::Error),
    /// JSON, but no list of MCP servers.
    #[error(
        "the file holds {found}; a list of MCP servers has an object \"mcpServers\" or \"servers\" with one entry a server"
    )]
    NoServers {
        /// What it holds.
        found: &'static str,
    },
    /// JSON, but nothing from the MCP registry.
    #[error(
        "the file holds {found}; a server.json is an object with \"name\" and \"packages\" or \"remotes\", an answer of the registry has a list \"servers\""
    )]
    NoServerJson {
        /// What it holds.
        found: &'static str,
    },
    /// A table without the column that makes a row a card.
    #[error(
        "the first row has no column `name` (it has: {found}); name the columns by the fields of a card: name, description, documentation …"
    )]
    NoNameColumn {
        /// The columns it has, shortened.
        found: String,
    },
    /// Two columns for one field.
    #[error(
        "the first row has the column `{name}` twice; rename or delete one of the two, for a card has room for one"
    )]
    RepeatedColumn {
        /// The name both have.
        name: String,
    },
    /// A first row no table has, as in a file that is no table.
    #[error(
        "the first row has {found} columns; at most {most} are read, so this is probably no table of cards"
    )]
    TooManyColumns {
        /// How many it has.
        found: usize,
        /// How many are read.
        most: usize,
    },
}

/// Everything the reader holds, as text without a byte order mark.
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
