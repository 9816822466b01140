//! Reads lines of text files.

use std::fs::File;
use std::io::{BufRead, BufReader};

use super::{FileError, ProjectRoot};

/// Which lines to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The first line, counted from 1; 0 means 1.
    pub from: u64,
    /// Most lines.
    pub lines: u64,
}

impl Lines {
    /// All lines.
    pub const ALL: Lines = Lines { from: 1, lines: u64::MAX };
}

/// The text read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileText {
    /// The lines, complete unless [`FileText::line_cut`]; line ends as in the file.
    pub text: String,
    /// The number of the first line.
    pub from: u64,
    /// The number of lines.
    pub lines: u64,
    /// Size of the whole file, in bytes, when it was opened.
    pub total_bytes: u64,
    /// Whether the file continues after these lines.
    pub more: bool,
    /// Whether the last line was cut because of the limit in bytes.
    pub line_cut: bool,
}

/// Reads the `requested` lines of a file, at most `max_bytes`.
pub(super) fn read(
    name: &str,
    file: File,
    total_bytes: u64,
    requested: Lines,
    max_bytes: usize,
) -> Result<FileText, FileError> {
    let failed = |source| FileError::System { name: name.to_owned(), source };
    let from = requested.from.max(1);
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let (mut line, mut scanned) = (1, 0_u64);
    let (mut bytes, mut lines, mut line_cut) = (Vec::new(), 0, false);
    let more = loop {
        let buffer = reader.fill_buf().map_err(failed)?;
        if buffer.is_empty() {
            break false;
        }
        if line >= from.saturating_add(requested.lines) {
            break true;
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.map_or(buffer.len(), |at| at + 1)];
        if scanned == 0 {
            refuse_other_encodings(name, buffer)?;
        }
        if line >= from {
            let room = max_bytes - bytes.len();
            if lines <= line - from && room > 0 {
                lines = line - from + 1;
            }
            bytes.extend_from_slice(&part[..part.len().min(room)]);
            if part.len() > room {
                line_cut = bytes.last().is_some_and(|last| *last != b'\n');
                break true;
            }
        } else if scanned > ProjectRoot::MAX_SCANNED {
            return Err(FileError::TooLarge { name: name.to_owned(), scanned });
        }
        let length = part.len();
        scanned += length as u64;
        line += u64::from(end.is_some());
        reader.consume(length);
    };
    let text = text(name, bytes, line_cut)?;
    Ok(FileText { text, from, lines, total_bytes, more, line_cut })
}

/// Decodes UTF-8, whose last character may be incomplete if it was `cut`.
fn text(name: &str, mut bytes: Vec<u8>, cut: bool) -> Result<String, FileError> {
    let not_text = |what: String| Err(FileError::NotText { name: name.to_owned(), what });
    if let Err(error) = std::str::from_utf8(&bytes) {
        if cut && error.error_len().is_none() {
            bytes.truncate(error.valid_up_to());
        } else {
            return not_text(format!("byte {} is not valid UTF-8", error.valid_up_to() + 1));
        }
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return not_text(format!("byte {} is 0, as in a binary file", at + 1));
    }
    String::from_utf8(bytes).or_else(|error| not_text(error.to_string()))
}

/// Rejects files with the byte order mark of another encoding, which tells more than the position of the
/// first invalid byte.
fn refuse_other_encodings(name: &str, start: &[u8]) -> Result<(), FileError> {
    let what = match start {
        [0xff, 0xfe, ..] => "it is UTF-16 (little-endian)",
        [0xfe, 0xff, ..] => "it is UTF-16 (big-endian)",
        _ => return Ok(()),
    };
    Err(FileError::NotText { name: name.to_owned(), what: what.to_owned() })
}
