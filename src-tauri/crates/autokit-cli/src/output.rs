//! Text for people, JSON for programs. Colours only where they are seen: `anstream` strips them
//! when the output is not a terminal or `NO_COLOR` is set.

use std::io::{self, Write};

use autokit_app::ApiError;
use autokit_app::api::{CheckState, Doctor};
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

/// Text from a card or a file must not steer the terminal: control characters are shown as
/// symbols, direction marks and letters nobody sees dropped.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| {
            !matches!(
                c,
                '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                    | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
            )
        })
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
    }
}
