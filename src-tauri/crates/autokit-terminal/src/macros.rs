//! `autokit macros`: one tool made of recorded calls.

use std::io::{self, Write};

use autokit_api::Client;
use autokit_api::commands::{ListRecordedCalls, ProposeMacro};
use autokit_api::{MacroPropose, Nothing, RecordedCalls};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable};

/// Calls that are listed.
const LISTED: usize = 30;

#[derive(Debug, Subcommand)]
pub enum MacrosCommand {
    /// List recent calls, and sequences that were repeated. They are kept in memory while the window or
    /// `autokit serve` is open.
    List,
    /// Propose a tool made of these calls in `autokit review`.
    Create {
        /// Numbers of the calls, as listed.
        #[arg(required = true)]
        calls: Vec<u64>,
        /// Name of the tool; by default made of the names of its tools.
        #[arg(long, default_value = "")]
        name: String,
        /// What it does; by default a list of its calls.
        #[arg(long, default_value = "")]
        description: String,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: MacrosCommand) -> Result<Outcome> {
    match command {
        MacrosCommand::List => {
            let recorded = library.call::<ListRecordedCalls>(Nothing {}).await?;
            out.show(&recorded, |text| write_list(text, &recorded))?;
            Ok(if recorded.calls.is_empty() { Outcome::NothingFound } else { Outcome::Done })
        }
        MacrosCommand::Create { calls, name, description } => {
            let request = MacroPropose { calls, name, description };
            let proposed = library.call::<ProposeMacro>(request).await?;
            out.show(&proposed, |text| {
                let name = printable(&proposed.name);
                writeln!(text, "{} is pending review as proposal {}.", name.bold(), proposed.proposal)
            })?;
            Ok(Outcome::Done)
        }
    }
}

fn write_list(out: &mut dyn Write, recorded: &RecordedCalls) -> io::Result<()> {
    if recorded.calls.is_empty() {
        return writeln!(
            out,
            "No calls yet. Recent calls are kept in memory while the window or `autokit serve` is open."
        );
    }
    for repeated in &recorded.repeated {
        let numbers: Vec<String> = repeated.calls.iter().map(ToString::to_string).collect();
        let names: Vec<String> = repeated.names.iter().map(|name| printable(name)).collect();
        let times = format!("repeated {}", count(repeated.occurrences, "time"));
        writeln!(out, "{}  {}", names.join(", then ").bold(), times.dimmed())?;
        writeln!(out, "  autokit macros create {}", numbers.join(" ").cyan())?;
    }
    for call in recorded.calls.iter().take(LISTED) {
        let uses: Vec<String> = call.uses.iter().map(ToString::to_string).collect();
        let uses = if uses.is_empty() { String::new() } else { format!("  uses {}", uses.join(", ")) };
        let number = format!("{:>4}", call.number);
        let arguments = printable(&call.arguments);
        writeln!(
            out,
            "{}  {} {}{}",
            number.cyan(),
            printable(&call.name).bold(),
            arguments.dimmed(),
            uses.dimmed()
        )?;
    }
    Ok(())
}
