//! Text for people, JSON for programs. Colours only where they are seen: `anstream` strips them
//! when the output is not a terminal or `NO_COLOR` is set.

use std::io::{self, Write};

use autokit_app::ApiError;
use autokit_app::api::{CheckState, Doctor};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::Result;
use crate::places::in_terminal;

/// Where a command's results go.
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Output {
        Output { json }
    }

    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Prints a result as JSON or as text.
    pub(crate) fn show(
        &self,
        value: &impl Serialize,
        text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let mut out = anstream::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            text(&mut out)?;
        }
        out.flush()?;
        Ok(())
    }

    /// Prints one JSON object a line.
    pub(crate) fn lines(items: &[impl Serialize]) -> Result<()> {
        let mut out = io::stdout().lock();
        for item in items {
            serde_json::to_writer(&mut out, item).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        out.flush()?;
        Ok(())
    }

    /// Prints bytes as they are.
    pub(crate) fn raw(bytes: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }
}

/// `error: …` and what to do about it.
pub(crate) fn write_error(out: &mut dyn Write, error: &ApiError) -> io::Result<()> {
    writeln!(out, "{} {}", "error:".red().bold(), printable(&error.sentence()))?;
    writeln!(out, "  {} {}", "→".cyan(), printable(&in_terminal(&error.remedy)))
}

/// Whether a letter has no shape, or turns those beside it: fillers of Hangul and Mongolian, joiners
/// without a script, marks of direction, tags. Joiners that real scripts write with stay.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A moment, RFC 3339, as the clock on the wall shows it.
pub(crate) fn moment(stamp: &str) -> String {
    stamp.parse::<Timestamp>().map_or_else(
        |_| printable(stamp),
        |at| at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// Text from a card or a file must not steer the terminal: control characters are shown as
/// symbols, direction marks and letters nobody sees dropped.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| !is_unseen(*c))
        .map(|c| match c {
            '\n' | '\t' => c,
            '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
            '\u{7f}'..='\u{9f}' => '\u{fffd}',
            c => c,
        })
        .collect()
}

pub(crate) fn write_doctor(out: &mut dyn Write, doctor: &Doctor) -> io::Result<()> {
    for check in &doctor.checks {
        let mark = match check.state {
            CheckState::Good => "✓".green().to_string(),
            CheckState::Warning => "!".yellow().to_string(),
            CheckState::Bad => "✗".red().to_string(),
        };
        writeln!(out, "{mark} {}  {}", check.name.bold(), printable(&check.detail))?;
        if let Some(remedy) = &check.remedy {
            writeln!(out, "  {} {}", "→".cyan(), printable(remedy))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn cards_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\u{202e}c\u{200b}\u{e0041}\nd"), "a␛[31mbc\nd");
        assert_eq!(printable("\u{9b}31m"), "\u{fffd}31m");
        assert_eq!(printable("a\u{180e}b\u{34f}c\u{115f}d\u{3164}e\u{ffa0}f"), "abcdef");
    }

    #[test]
    fn moments_are_short_and_local() {
        let shown = super::moment("2026-01-02T03:04:05.678Z");
        assert_eq!(shown.len(), "2026-01-02 03:04".len(), "{shown}");
        assert_eq!(super::moment("some day"), "some day");
    }
}
