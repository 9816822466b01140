//! `autokit checks`: the schedule of checks, and check results as a filter.

use autokit_api::Client;
use autokit_api::commands::{GetCheckSettings, SetCheckSettings};
use autokit_api::{CheckSettings, HealthFilter, Nothing};
use clap::builder::BoolishValueParser;
use clap::{ArgGroup, Subcommand, ValueEnum};

use crate::outcome::{Outcome, Result};
use crate::output::Output;

#[derive(Debug, Subcommand)]
pub enum ChecksCommand {
    /// Show the check schedule.
    Show,
    /// Change the check schedule.
    #[command(group = ArgGroup::new("what").required(true).multiple(true).args(["every", "new_cards"]))]
    Set {
        /// Check each card every N days; 0 turns scheduled checks off.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(..=3_650))]
        every: Option<u32>,
        /// Whether to check new cards soon after they are added, imported or accepted.
        #[arg(long, value_name = "YES|NO", hide_possible_values = true, value_parser = BoolishValueParser::new())]
        new_cards: Option<bool>,
    },
}

/// What the newest check of a card found.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Health {
    /// The page supports the card.
    Verified,
    /// The page contradicts the card.
    Stale,
    /// The documentation link is broken.
    Broken,
    /// The page couldn't be reached.
    #[value(alias = "not-reached")]
    Unreachable,
    /// The card changed since its check.
    Changed,
    /// Never checked.
    Never,
}

impl From<Health> for HealthFilter {
    fn from(health: Health) -> HealthFilter {
        match health {
            Health::Verified => HealthFilter::Verified,
            Health::Stale => HealthFilter::Stale,
            Health::Broken => HealthFilter::Broken,
            Health::Unreachable => HealthFilter::Unreachable,
            Health::Changed => HealthFilter::Changed,
            Health::Never => HealthFilter::Never,
        }
    }
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ChecksCommand) -> Result<Outcome> {
    let mut settings = library.call::<GetCheckSettings>(Nothing {}).await?;
    if let ChecksCommand::Set { every, new_cards } = command {
        settings = CheckSettings {
            every_days: every.unwrap_or(settings.every_days),
            new_cards: new_cards.unwrap_or(settings.new_cards),
        };
        settings = library.call::<SetCheckSettings>(settings).await?;
    }
    out.show(&settings, |text| {
        match settings.every_days {
            0 => writeln!(text, "Cards are checked only when you start a check")?,
            1 => writeln!(text, "Cards are checked every day")?,
            days => writeln!(text, "Cards are checked every {days} days")?,
        }
        let soon = if settings.new_cards { "soon after they are added" } else { "on the same schedule" };
        writeln!(text, "New cards are checked {soon}")
    })?;
    Ok(Outcome::Done)
}
