//! Which format a file has, by its bytes first and its name second.

use std::borrow::Cow;
use std::path::Path;

use crate::error::ReadError;

/// Most bytes of a document.
pub const MAX_BYTES: u64 = 256 << 20;

/// How much of a file is looked at to tell text from other data, in bytes.
const SNIFF: usize = 8 << 10;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// CommonMark with tables and front matter.
    Markdown,
    /// A page of HTML.
    Html,
    /// PDF.
    Pdf,
    /// Word's format since 2007.
    Docx,
    /// Text of any other kind, among it reStructuredText.
    Text,
}

const ENDINGS: &[(&str, Format)] = &[
    ("md", Format::Markdown),
    ("markdown", Format::Markdown),
    ("mdx", Format::Markdown),
    ("html", Format::Html),
    ("htm", Format::Html),
    ("xhtml", Format::Html),
    ("pdf", Format::Pdf),
    ("docx", Format::Docx),
    ("docm", Format::Docx),
    ("txt", Format::Text),
    ("text", Format::Text),
    ("rst", Format::Text),
    ("adoc", Format::Text),
    ("asciidoc", Format::Text),
    ("org", Format::Text),
    ("tex", Format::Text),
];

/// Whether a file's name ends like that of a document. In folders, only such files are read.
pub fn has_known_ending(name: &str) -> bool {
    by_ending(name).is_some()
}

fn by_ending(name: &str) -> Option<Format> {
    let ending = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, format)| *format)
}

impl Format {
    /// Tells the format of a file.
    ///
    /// # Errors
    /// Returns an error if it is none that is read, is encrypted as a whole, or is too large.
    pub fn detect(name: &str, bytes: &[u8]) -> Result<Format, ReadError> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(ReadError::TooLarge(MAX_BYTES >> 20));
        }
        let start = &bytes[..bytes.len().min(SNIFF)];
        let by_name = by_ending(name);
        // Readers accept a PDF that begins after other bytes; a text may mention what a PDF begins with.
        let within = |bytes: &[u8]| bytes.windows(5).any(|five| five == b"%PDF-");
        if start.starts_with(b"%PDF-")
            || (by_name == Some(Format::Pdf) && within(&start[..start.len().min(1024)]))
        {
            return Ok(Format::Pdf);
        }
        if start.starts_with(b"PK\x03\x04") {
            return zip_format(name);
        }
        if start.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
            // Word stores an encrypted DOCX in the container that DOC files are.
            return Err(if by_ending(name) == Some(Format::Docx) {
                ReadError::Encrypted
            } else {
                ReadError::Unsupported("a file of Office before 2007".to_owned())
            });
        }
        if matches!(by_name, Some(Format::Pdf | Format::Docx)) {
            return Err(ReadError::Damaged("its first bytes are those of another format".to_owned()));
        }
        if autokit_web::not_text(None, &without_overstrikes(start)).is_some() {
            return Err(ReadError::Unsupported("data that is not text".to_owned()));
        }
        Ok(by_name.unwrap_or_else(|| {
            if autokit_web::looks_like_html(&String::from_utf8_lossy(start)) {
                Format::Html
            } else {
                Format::Text
            }
        }))
    }
}

fn zip_format(name: &str) -> Result<Format, ReadError> {
    if by_ending(name) == Some(Format::Docx) {
        return Ok(Format::Docx);
    }
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or("");
    let what = match ending.to_ascii_lowercase().as_str() {
        "xlsx" | "ods" => "a spreadsheet",
        "pptx" | "odp" => "a presentation",
        "odt" => "a document of LibreOffice",
        "epub" => "an e-book",
        _ => "an archive",
    };
    Err(ReadError::Unsupported(what.to_owned()))
}

/// Removes what printers struck over: bold and underlined letters of old manuals are the letter, a backspace and the
/// letter again.
fn without_overstrikes(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if byte == 8 {
            kept.pop();
        } else {
            kept.push(byte);
        }
    }
    kept
}

/// Decodes text by its byte order mark, what it declares, or detection.
pub(crate) fn decode(bytes: &[u8]) -> String {
    let plain =
        if bytes.contains(&8) { Cow::Owned(without_overstrikes(bytes)) } else { Cow::Borrowed(bytes) };
    let text = autokit_web::decode(&plain, None);
    // A mark that a decoder keeps would be part of the first word.
    text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide_before_names() {
        assert_eq!(Format::detect("a.txt", b"%PDF-1.7\n"), Ok(Format::Pdf));
        assert_eq!(Format::detect("header.ts", b"const header = '%PDF-1.7';"), Ok(Format::Text));
        assert_eq!(Format::detect("a.docx", b"PK\x03\x04.."), Ok(Format::Docx));
        assert_eq!(Format::detect("README", b"some words"), Ok(Format::Text));
        assert_eq!(Format::detect("index", b"<!DOCTYPE html><html>"), Ok(Format::Html));
        assert_eq!(Format::detect("a.MD", b"# a"), Ok(Format::Markdown));
    }

    #[test]
    fn overstruck_letters_are_read_once() {
        let manual = b"B\x08BO\x08OL\x08LD\x08D and _\x08u_\x08n_\x08d_\x08e_\x08r";
        assert_eq!(Format::detect("a.txt", manual), Ok(Format::Text));
        assert_eq!(decode(manual), "BOLD and under");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert!(matches!(Format::detect("a.pdf", b"hello"), Err(ReadError::Damaged(_))));
        assert!(
            matches!(Format::detect("a.xlsx", b"PK\x03\x04"), Err(ReadError::Unsupported(what)) if what == "a spreadsheet")
        );
        assert_eq!(Format::detect("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), Err(ReadError::Encrypted));
        assert!(matches!(Format::detect("a", b"\x7fELF\x02\0\0\0"), Err(ReadError::Unsupported(_))));
        assert!(matches!(Format::detect("a.txt", b"ab\0cd"), Err(ReadError::Unsupported(_))));
    }
}
