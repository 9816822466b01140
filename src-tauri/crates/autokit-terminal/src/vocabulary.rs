//! `autokit names` and `autokit synonyms`: what search knows beyond the cards.

use std::io;

use autokit_api::Client;
use autokit_api::commands::{ListVocabulary, RemoveVocabulary, SetVocabulary};
use autokit_api::{
    EntryKind, VocabularyItem, VocabularyList, VocabularyQuery, VocabularyRemove, VocabularySet,
};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable};

#[derive(Debug, Subcommand)]
pub enum VocabularyCommand {
    /// List entries: yours first, then those of bundles, then built-in ones.
    List {
        /// Only entries with all of these words.
        words: Vec<String>,
        /// Leave out built-in entries.
        #[arg(long)]
        added: bool,
        /// Maximum number of entries.
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Add an entry. A name: `borealis, borealis cd = our deployment service`. Synonyms: `pto, vacation`, or
    /// `day off | time off -> vacation` for phrases people ask with.
    Add {
        /// The entry.
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Replace an entry you added.
    Edit {
        /// Entry ID, as listed.
        id: String,
        /// The new entry.
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Remove entries that were added.
    Remove {
        /// Entry IDs, as listed.
        #[arg(required_unless_present = "bundle")]
        ids: Vec<String>,
        /// Remove all names and synonyms that came with this bundle.
        #[arg(long, value_name = "NAME")]
        bundle: Option<String>,
    },
}

fn noun(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Name => "name",
        EntryKind::Synonym => "synonym entry",
    }
}

pub(crate) async fn run(
    library: &dyn Client,
    out: &Output,
    kind: EntryKind,
    command: VocabularyCommand,
) -> Result<Outcome> {
    match command {
        VocabularyCommand::List { words, added, limit } => {
            let filtered = !words.is_empty();
            let query =
                VocabularyQuery { kind, text: words.join(" "), added_only: added, limit: Some(limit) };
            let list = library.call::<ListVocabulary>(query).await?;
            out.show(&list, |text| write_list(text, &list, kind, filtered))?;
        }
        VocabularyCommand::Add { text } => {
            set(library, out, VocabularySet { kind, text: text.join(" "), replaces: None }).await?;
        }
        VocabularyCommand::Edit { id, text } => {
            set(library, out, VocabularySet { kind, text: text.join(" "), replaces: Some(id) }).await?;
        }
        VocabularyCommand::Remove { ids, bundle } => {
            let gone = library.call::<RemoveVocabulary>(VocabularyRemove { ids, bundle }).await?;
            out.show(&gone, |text| {
                for item in &gone.removed {
                    writeln!(text, "Removed {}", printable(&item.text))?;
                }
                if gone.removed.is_empty() {
                    writeln!(text, "Nothing to remove.")?;
                }
                Ok(())
            })?;
        }
    }
    Ok(Outcome::Done)
}

async fn set(library: &dyn Client, out: &Output, request: VocabularySet) -> Result<()> {
    let kind = request.kind;
    let changed = library.call::<SetVocabulary>(request).await?;
    out.show(&changed, |text| {
        writeln!(text, "{} {}", "Saved".green(), printable(&changed.entry.text))?;
        match (kind, changed.cards) {
            (EntryKind::Synonym, _) => Ok(()),
            (EntryKind::Name, 0) => writeln!(
                text,
                "It applies to no card yet: a one-word name counts as a card's provider, its whole name, or \
                 a proper noun in its description."
            ),
            (EntryKind::Name, cards) => writeln!(text, "Applies to {}.", count(cards, "card")),
        }
    })?;
    Ok(())
}

fn write_list(
    text: &mut dyn io::Write,
    list: &VocabularyList,
    kind: EntryKind,
    filtered: bool,
) -> io::Result<()> {
    for item in &list.entries {
        write_item(text, item)?;
    }
    let (shown, total) = (list.entries.len() as u32, list.total);
    if shown == 0 && filtered {
        writeln!(text, "No {} matches.", noun(kind))?;
    } else if shown == 0 {
        writeln!(text, "No {} was added yet.", noun(kind))?;
    } else if shown < total {
        writeln!(text, "{shown} of {total}. Filter with words, or raise --limit.")?;
    }
    if list.added == 0 {
        let command = match kind {
            EntryKind::Name => "autokit names add \"borealis = our deployment service\"",
            EntryKind::Synonym => "autokit synonyms add \"pto, vacation\"",
        };
        writeln!(text, "Add your own with `{command}`")?;
    }
    Ok(())
}

fn write_item(text: &mut dyn io::Write, item: &VocabularyItem) -> io::Result<()> {
    match &item.added {
        None => writeln!(text, "{:12}  {}", "built-in".dimmed(), printable(&item.text)),
        Some(added) => {
            let from = added.bundle.as_ref().map(|bundle| format!("  (from {})", printable(bundle)));
            let from = from.unwrap_or_default();
            writeln!(text, "{:12}  {}{}", added.id, printable(&item.text), from.dimmed())
        }
    }
}
