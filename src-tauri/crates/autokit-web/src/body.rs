//! Decoding response bodies to text.

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8};

/// A body as text, with its declared media type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) content_type: Option<String>,
}

/// Bytes searched for an encoding declared inside the page; HTML requires it in the first 1024.
const PRESCAN: usize = 1024;

/// Bytes inspected to distinguish text from binary data.
const SNIFF: usize = 4096;

/// Collapses white space to single spaces and removes invisible characters.
pub(crate) fn one_line(text: &str) -> String {
    readable(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes invisible characters: those that control a terminal, change the direction of writing, or hide
/// words from people and show them to models. Joiners and direction marks that scripts need stay.
pub(crate) fn readable(text: &str) -> String {
    let seen = |c: &char| match c {
        '\n' | '\t' | '\r' => true,
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{200b}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => false,
        // Tags: a whole alphabet that is never displayed.
        c if ('\u{e0000}'..='\u{e007f}').contains(c) => false,
        c => !c.is_control(),
    };
    text.chars().filter(seen).collect()
}

/// Returns a media type in lower case without its parameters; empty if there is none.
pub(crate) fn essence(content_type: Option<&str>) -> String {
    content_type.and_then(|text| text.split(';').next()).unwrap_or("").trim().to_ascii_lowercase()
}

/// Returns the type of a body that is not text: its declared type, or what its bytes show. `None` for text.
pub fn not_text(content_type: Option<&str>, start: &[u8]) -> Option<String> {
    let essence = essence(content_type);
    let declared = essence.is_empty()
        || essence.starts_with("text/")
        || essence.ends_with("+json")
        || essence.ends_with("+xml")
        || matches!(
            essence.as_str(),
            "application/json"
                | "application/xml"
                | "application/javascript"
                | "application/yaml"
                | "application/x-yaml"
                | "application/toml"
        );
    if !declared {
        return Some(essence);
    }
    let start = &start[..start.len().min(SNIFF)];
    let wide = Encoding::for_bom(start).is_some();
    let binary = start.starts_with(b"%PDF-")
        || (!wide && start.contains(&0))
        || start.iter().filter(|&&b| b < 9 || (14..27).contains(&b)).count() * 10 > start.len();
    binary.then(|| {
        if essence.is_empty() { "binary data".to_owned() } else { format!("binary data labelled {essence}") }
    })
}

/// Decodes by byte order mark, header, the page's own declaration, or else by detection.
pub fn decode(bytes: &[u8], content_type: Option<&str>) -> String {
    let encoding = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| content_type.and_then(charset).and_then(|label| Encoding::for_label(label.as_bytes())))
        .or_else(|| {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(PRESCAN)]).to_ascii_lowercase();
            charset(&start).and_then(|label| Encoding::for_label(label.as_bytes()))
        })
        .unwrap_or_else(|| {
            if std::str::from_utf8(bytes).is_ok() {
                return UTF_8;
            }
            let mut detector = EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
            detector.feed(bytes, true);
            detector.guess(None, chardetng::Utf8Detection::Allow)
        });
    encoding.decode(bytes).0.into_owned()
}

/// Returns the value of a `charset=` parameter.
fn charset(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    let after = lower.find("charset=")? + "charset=".len();
    let value = text[after..].trim_start_matches(['"', '\'', ' ']);
    let end = value.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(value.len());
    (end > 0).then(|| &value[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read_where_declared_and_guessed_otherwise() {
        assert_eq!(decode(b"caf\xe9", Some("text/html; charset=iso-8859-1")), "café");
        assert_eq!(
            decode(b"<meta charset=\"windows-1252\">caf\xe9", Some("text/html")),
            "<meta charset=\"windows-1252\">café"
        );
        assert_eq!(decode("naïve".as_bytes(), None), "naïve");
        assert_eq!(decode(b"\xff\xfea\0b\0", None), "ab");
        let cyrillic = encoding_rs::WINDOWS_1251.encode("Инструмент для работы с текстом и таблицами").0;
        assert!(decode(&cyrillic, Some("text/plain")).contains("Инструмент"));
    }

    #[test]
    fn invisible_characters_are_removed() {
        assert_eq!(one_line("a\u{1b}[31mb\u{202e}c\n \u{200b}d\u{e0041}\u{9b}"), "a[31mbc d");
        assert_eq!(readable("می\u{200c}خواهم 👩\u{200d}💻\tx\n"), "می\u{200c}خواهم 👩\u{200d}💻\tx\n");
    }

    #[test]
    fn binary_content_is_detected_by_label_and_by_bytes() {
        assert_eq!(not_text(Some("application/pdf"), b"%PDF-1.7").as_deref(), Some("application/pdf"));
        assert!(not_text(Some("text/html"), b"\x7fELF\0\0\0\x01").is_some());
        assert!(not_text(None, b"%PDF-1.7 ...").is_some());
        assert_eq!(not_text(Some("text/html; charset=utf-8"), b"<!doctype html>"), None);
        assert_eq!(not_text(Some("application/vnd.api+json"), b"{}"), None);
        assert_eq!(not_text(None, b"plain words"), None);
    }
}
