//! Starter code in the terminal.

use std::io::{self, Write};

use autokit_api::Starter;
use owo_colors::OwoColorize;

use crate::output::printable;

/// Writes what to install, the variables to set, and the code, indented so that it can be told from what is around it.
pub(crate) fn write_starter(out: &mut dyn Write, starter: &Starter) -> io::Result<()> {
    if let Some(install) = &starter.install {
        writeln!(out, "{}", "Install".dimmed())?;
        printable(install).lines().try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    if !starter.variables.is_empty() {
        writeln!(out, "{}", "Set".dimmed())?;
        for name in &starter.variables {
            writeln!(out, "    export {}=", printable(name))?;
        }
    }
    if starter.install.is_some() || !starter.variables.is_empty() {
        writeln!(out, "{}", "Run".dimmed())?;
    }
    printable(&starter.code).lines().try_for_each(|line| writeln!(out, "    {line}"))?;
    for line in &starter.removed {
        writeln!(out, "{} {}", "removed, unsupported:".yellow(), printable(line))?;
    }
    Ok(())
}
