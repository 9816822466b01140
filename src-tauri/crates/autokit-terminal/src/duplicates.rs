//! `autokit duplicates` and `autokit cards merge`.

use autokit_api::commands::{DismissDuplicates, FindDuplicates, ListDuplicates, MergeCards};
use autokit_api::{CardsMerge, Client, DuplicateCard, DuplicatePair, DuplicateReason, Nothing, PairRef};
use clap::Subcommand;
use owo_colors::OwoColorize;

use crate::jobs::watch;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, printable};

/// What to do with duplicates.
#[derive(Clone, Debug, Subcommand)]
pub enum DuplicatesCommand {
    /// List pairs of cards that may describe the same tool.
    List,
    /// Leave a pair out of the list, because the cards are different tools.
    Dismiss {
        /// Card ID or name.
        first: String,
        /// Card ID or name.
        second: String,
        /// List the pair again.
        #[arg(long)]
        undo: bool,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: DuplicatesCommand) -> Result<Outcome> {
    match command {
        DuplicatesCommand::List => list(library, out).await,
        DuplicatesCommand::Dismiss { first, second, undo } => {
            let pair = PairRef { cards: [first, second], dismissed: !undo };
            let dismissed = library.call::<DismissDuplicates>(pair).await?;
            out.show(&dismissed, |text| {
                writeln!(text, "{}", if undo { "The pair is listed again" } else { "Dismissed the pair" })
            })?;
            Ok(Outcome::Done)
        }
    }
}

fn because(pair: &DuplicatePair) -> String {
    match (pair.reason, pair.cosine) {
        (DuplicateReason::Name, _) => "same name".to_owned(),
        (DuplicateReason::Import, _) => "same import".to_owned(),
        (DuplicateReason::Page, _) => "same documentation page".to_owned(),
        (DuplicateReason::Description, _) => "same description".to_owned(),
        (DuplicateReason::Meaning, Some(cosine)) => format!("similar meaning, {:.0}%", cosine * 100.0),
        (DuplicateReason::Meaning, None) => "similar meaning".to_owned(),
    }
}

fn card_name(card: &DuplicateCard) -> String {
    match card.provider.as_str() {
        "" => printable(&card.name),
        provider => format!("{} ({})", printable(&card.name), printable(provider)),
    }
}

async fn list(library: &dyn Client, out: &Output) -> Result<Outcome> {
    let job = library.call::<FindDuplicates>(Nothing {}).await?;
    watch(library, out, &job.job).await?;
    let found = library.call::<ListDuplicates>(Nothing {}).await?;
    out.show(&found, |text| {
        for pair in &found.pairs {
            let [a, b] = &pair.cards;
            writeln!(
                text,
                "{}  ↔  {}  {}",
                card_name(a).bold(),
                card_name(b).bold(),
                because(pair).dimmed()
            )?;
            writeln!(text, "  {} {}", a.id.as_str().dimmed(), b.id.as_str().dimmed())?;
        }
        if found.pairs.is_empty() {
            writeln!(text, "No duplicates found")?;
        } else {
            writeln!(text, "Merge two with `autokit cards merge KEEP REMOVE`")?;
        }
        if !found.by_meaning {
            writeln!(text, "Cards were not compared by meaning, because no embedding model is loaded")?;
        }
        Ok(())
    })?;
    Ok(if found.pairs.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

pub(crate) async fn merge(
    library: &dyn Client,
    out: &Output,
    keep: String,
    remove: String,
    reason: String,
) -> Result<Outcome> {
    let request = CardsMerge { keep, remove, fields: None, expected: None, reason, flagged_too: false };
    let change = library.call::<MergeCards>(request).await?;
    out.show(&change, |text| writeln!(text, "Merged the cards. Undo with `autokit undo`"))?;
    Ok(Outcome::Done)
}
