//! Output as text or JSON. `anstream` strips colors if the output is not a terminal or `NO_COLOR` is set.

use std::io::{self, BufRead as _, IsTerminal as _, Write};

use autokit_api::{CheckState, Doctor};
use autokit_error::{ApiError, ErrorCode};
use autokit_toolcard::Timestamp;
use jiff::tz::TimeZone;
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::outcome::Result;
use crate::places::with_commands;

/// Writes the results of commands.
pub struct Output {
    json: bool,
}

impl Output {
    /// Creates an output that writes JSON or text.
    pub fn new(json: bool) -> Output {
        Output { json }
    }

    /// Whether results are written as JSON.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Prints a result as JSON or as text.
    pub fn show(
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

    /// Prints one JSON object per line.
    pub fn lines(items: &[impl Serialize]) -> Result<()> {
        let mut out = io::stdout().lock();
        for item in items {
            serde_json::to_writer(&mut out, item).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        out.flush()?;
        Ok(())
    }

    /// Prints raw bytes.
    pub fn raw(bytes: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }
}

/// Asks whether what calls need is approved, unless `yes` says so. `what` needs it; `refused` begins the error's message.
///
/// # Errors
/// `refused` where nobody approves it or there is no terminal to ask in.
pub fn approve(what: &str, words: &[String], yes: bool, refused: &str) -> Result<()> {
    let words = words.join(" and ");
    let question = format!("{what} {}. Continue?", printable(&words));
    if yes || (io::stdin().is_terminal() && confirmed(&question)?) {
        return Ok(());
    }
    let message = format!("{refused} {words}");
    let remedy = "Approve it with --yes, or permanently with `autokit profiles allow`.";
    Err(ApiError::new(ErrorCode::Refused, message, remedy).into())
}

/// Asks a question in the terminal and returns whether the answer is yes.
pub fn confirmed(question: &str) -> Result<bool> {
    let mut err = anstream::stderr();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Writes `error: …` and its remedy.
pub fn write_error(out: &mut dyn Write, error: &ApiError) -> io::Result<()> {
    writeln!(out, "{} {}", "error:".red().bold(), printable(&error.sentence()))?;
    writeln!(out, "  {} {}", "→".cyan(), printable(&with_commands(&error.remedy)))
}

/// Writes a warning and its remedy to stderr.
pub fn warn(text: &str, remedy: &str) -> io::Result<()> {
    let mut err = anstream::stderr();
    writeln!(err, "{} {}", "!".yellow(), printable(text))?;
    writeln!(err, "  {} {remedy}", "→".cyan())
}

/// Formats a count with a noun whose plural ends in `s`.
pub fn count(number: impl Into<u64>, what: &str) -> String {
    let number = number.into();
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Formats a time as local date, hours and minutes.
pub fn format_time(at: Timestamp) -> String {
    at.instant().to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Replaces invisible characters, control characters and bidirectional controls by their code points, so that
/// text from cards and files can neither control the terminal nor disguise itself.
pub fn printable(text: &str) -> String {
    autokit_toolcard::visible(text).into_owned()
}

/// Returns the line width: that of the terminal, or 100.
pub(crate) fn width() -> usize {
    comfy_table::Table::new().width().map_or(100, |width| usize::from(width).clamp(40, 160))
}

/// As [`printable`], on one line: names come from files, and could otherwise add lines to a list.
pub fn printable_line(text: &str) -> String {
    printable(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes what diagnostics found.
pub fn write_doctor(out: &mut dyn Write, doctor: &Doctor) -> io::Result<()> {
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
        assert_eq!(
            printable("a\u{1b}[31mb\u{202e}c\u{200b}\u{e0041}\nd"),
            "a‹U+001B›[31mb‹U+202E›c‹U+200B›‹U+E0041›\nd"
        );
        assert_eq!(printable("\u{9b}31m"), "‹U+009B›31m");
        assert_eq!(printable("a\u{180e}b"), "a‹U+180E›b");
    }

    #[test]
    fn times_are_short_and_local() {
        let shown = super::format_time("2026-01-02T03:04:05.678Z".parse().expect("a time"));
        assert_eq!(shown.len(), "2026-01-02 03:04".len(), "{shown}");
    }
}
