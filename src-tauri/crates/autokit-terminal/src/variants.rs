//! `autokit variants`: descriptions of one tool that compete by the outcomes of its calls.

use std::io::{self, Write};

use autokit_api::Client;
use autokit_api::commands::{AddVariant, EndVariants, ListVariants, SetVariant};
use autokit_api::{Nothing, VariantAdd, VariantContests, VariantSet, VariantWithdrawal, VariantsEnd};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::cards::one_line;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable};

#[derive(Debug, Subcommand)]
pub enum VariantsCommand {
    /// List descriptions being compared, with the success rate of calls by each.
    List,
    /// Compare another description with a tool's own.
    Add {
        /// Card name or ID.
        card: String,
        /// The description.
        description: String,
    },
    /// Stop using a description.
    Withdraw {
        /// Card name or ID.
        card: String,
        /// Variant, as listed.
        variant: String,
    },
    /// Use a withdrawn description again.
    Restore {
        /// Card name or ID.
        card: String,
        /// Variant, as listed.
        variant: String,
    },
    /// End a comparison. The card keeps its description unless another is proposed.
    End {
        /// Card name or ID.
        card: String,
        /// Propose this variant in `autokit review`.
        #[arg(long, value_name = "VARIANT")]
        propose: Option<String>,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: VariantsCommand) -> Result<Outcome> {
    let set = |card: String, variant: String, withdrawn: bool| VariantSet { card, variant, withdrawn };
    match command {
        VariantsCommand::List => {
            let all = library.call::<ListVariants>(Nothing {}).await?;
            out.show(&all, |text| write_list(text, &all))?;
            return Ok(if all.contests.is_empty() { Outcome::NothingFound } else { Outcome::Done });
        }
        VariantsCommand::Add { card, description } => {
            let done = library.call::<AddVariant>(VariantAdd { card, description }).await?;
            out.show(&done, |text| {
                writeln!(text, "Agents are given one of the descriptions in each session.")
            })?;
        }
        VariantsCommand::Withdraw { card, variant } => {
            let done = library.call::<SetVariant>(set(card, variant, true)).await?;
            out.show(&done, |text| writeln!(text, "Withdrawn."))?;
        }
        VariantsCommand::Restore { card, variant } => {
            let done = library.call::<SetVariant>(set(card, variant, false)).await?;
            out.show(&done, |text| writeln!(text, "Restored."))?;
        }
        VariantsCommand::End { card, propose } => {
            let ended = library.call::<EndVariants>(VariantsEnd { card, propose }).await?;
            out.show(&ended, |text| match ended.proposal {
                Some(id) => writeln!(text, "Pending in Review as proposal {id}."),
                None => writeln!(text, "Ended. The card keeps its description."),
            })?;
        }
    }
    Ok(Outcome::Done)
}

fn write_list(out: &mut dyn Write, all: &VariantContests) -> io::Result<()> {
    if all.contests.is_empty() {
        return writeln!(
            out,
            "No descriptions are being compared. Add one with `autokit variants add CARD DESCRIPTION`."
        );
    }
    for contest in &all.contests {
        writeln!(out, "{}", printable(&contest.name).bold())?;
        for variant in &contest.variants {
            let calls = variant.successes + variant.failures;
            let rate = format!(
                "{:>4.0}%  {:.0}% to {:.0}%  {}",
                variant.mean * 100.0,
                variant.low * 100.0,
                variant.high * 100.0,
                count(calls, "call"),
            );
            let withdrawn = match variant.withdrawn {
                None => "",
                Some(VariantWithdrawal::Fails) => "  withdrawn: calls fail",
                Some(VariantWithdrawal::Worse) => "  withdrawn: another is better",
                Some(VariantWithdrawal::Person) => "  withdrawn",
            };
            writeln!(out, "  {:<8} {rate}{}", printable(&variant.id).cyan(), withdrawn.yellow())?;
            writeln!(out, "           {}", one_line(&variant.description, 90).dimmed())?;
        }
    }
    Ok(())
}
