//! Detects invisible characters, and the text they encode.

use std::fmt::Write as _;

use super::{Found, InjectionKind};
use crate::visible::invisible_chars;

/// Most characters of the encoded text that are shown.
const MAX_SPELLED_CHARS: usize = 60;

pub(super) fn find(text: &str) -> Vec<Found> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, c) in invisible_chars(text).filter(|(at, c)| !is_ordinary(text, *at, *c)) {
        let end = at + c.len_utf8();
        match runs.last_mut() {
            Some(run) if run.1 == at => run.1 = end,
            _ => runs.push((at, end)),
        }
    }
    let found = runs.into_iter().map(|(start, end)| {
        let run = &text[start..end];
        Found::new(start..end, InjectionKind::Invisible, why(run))
    });
    found.collect()
}

/// Whether the character has its legitimate use: Windows line ends, scripts that join letters or run right to
/// left, variants of Chinese characters, the flags of three countries.
fn is_ordinary(text: &str, at: usize, c: char) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + c.len_utf8()..].chars().next();
    // Arabic, the scripts of India and related ones, including their combining marks.
    let joins = |c: Option<char>| c.is_some_and(|c| ('\u{600}'..='\u{1aff}').contains(&c));
    // Hebrew, Arabic and related scripts.
    let from_right = |c: char| ('\u{590}'..='\u{8ff}').contains(&c);
    match c {
        '\r' => after == Some('\n'),
        // The byte order mark at the start of a file.
        '\u{feff}' => at == 0,
        '\u{200c}' | '\u{200d}' => joins(before) && joins(after),
        '\u{200e}' | '\u{200f}' => {
            let near = |side: &mut dyn Iterator<Item = char>| side.take(4).any(from_right);
            near(&mut text[..at].chars().rev()) || near(&mut text[at..].chars().skip(1))
        }
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            before.is_some_and(|c| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}'))
        }
        '\u{e0020}'..='\u{e007f}' => in_flag(text, at),
        _ => false,
    }
}

/// Whether a tag character belongs to the flag of England, Scotland or Wales.
fn in_flag(text: &str, at: usize) -> bool {
    let start = text[..at].trim_end_matches(|c| matches!(c, '\u{e0020}'..='\u{e007f}')).len();
    let tags = text[start..].chars().take(6);
    let spelled: String = tags.filter_map(tag).collect();
    text[..start].ends_with('\u{1f3f4}')
        && at - start < 6 * 4
        && ["gbeng\u{7f}", "gbsct\u{7f}", "gbwls\u{7f}"].iter().any(|flag| spelled.starts_with(flag))
}

fn tag(c: char) -> Option<char> {
    matches!(c, '\u{e0020}'..='\u{e007f}').then(|| char::from((u32::from(c) - 0xe0000) as u8))
}

/// Returns the byte that a variation selector encodes when text is smuggled in selectors.
fn selector(c: char) -> Option<u8> {
    match c {
        '\u{fe00}'..='\u{fe0f}' => Some((u32::from(c) - 0xfe00) as u8),
        '\u{e0100}'..='\u{e01ef}' => Some((u32::from(c) - 0xe0100 + 16) as u8),
        _ => None,
    }
}

fn why(run: &str) -> String {
    let count = run.chars().count();
    let what = match run.chars().next() {
        Some('\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}') => {
            "changes the direction of the text"
        }
        Some('\u{ad}') => "is a soft hyphen, which is visible only at the end of a line",
        Some('\u{e0000}'..='\u{e007f}') => "is a tag character, which is never displayed",
        Some('\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}') => {
            "is a variation selector with nothing to select"
        }
        Some('\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}') => "has no width",
        Some(c) if c.is_control() => "is a control character",
        _ => "is not displayed",
    };
    let first = run.chars().next().map_or(0, u32::from);
    let tags: String = run.chars().filter_map(tag).filter(|c| !c.is_control()).collect();
    let bytes: Vec<u8> = run.chars().filter_map(selector).collect();
    let smuggled = String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control));
    let spelled = if tags.is_empty() { smuggled.unwrap_or_default() } else { tags };
    let mut reason = if count == 1 {
        format!("U+{first:04X} {what}.")
    } else {
        format!("{count} invisible characters; the first, U+{first:04X}, {what}.")
    };
    if spelled.chars().count() > 1 {
        let short: String = spelled.chars().take(MAX_SPELLED_CHARS).collect();
        let more = if spelled.chars().count() > MAX_SPELLED_CHARS { "…" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(reason, " They spell “{short}{more}”.");
    }
    reason
}
