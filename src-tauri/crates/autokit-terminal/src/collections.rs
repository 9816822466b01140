//! `autokit collections`: named sets of cards, and the favorites.

use autokit_api::commands::{ChangeCollection, ListCollections, RemoveCollection, RenameCollection};
use autokit_api::{Client, Collection, CollectionChange, CollectionRef, CollectionRename, Nothing};
use clap::Subcommand;
use owo_colors::OwoColorize;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable};

/// What to do with collections.
#[derive(Clone, Debug, Subcommand)]
pub enum CollectionsCommand {
    /// List collections; `autokit cards list --collection NAME` lists the cards of one.
    List,
    /// Add cards to a collection, which is created if there is none of that name.
    Add {
        /// Name of the collection, e.g. Favorites.
        collection: String,
        /// Card IDs or names.
        #[arg(required = true)]
        cards: Vec<String>,
    },
    /// Take cards out of a collection.
    Remove {
        /// Name of the collection.
        collection: String,
        /// Card IDs or names.
        #[arg(required = true)]
        cards: Vec<String>,
    },
    /// Rename a collection.
    Rename {
        /// Name of the collection.
        collection: String,
        /// New name.
        name: String,
    },
    /// Delete a collection; its cards are kept.
    Delete {
        /// Name of the collection.
        collection: String,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: CollectionsCommand) -> Result<Outcome> {
    let change = |collection, cards, included| CollectionChange { collection, cards, included };
    let collections = match command {
        CollectionsCommand::List => library.call::<ListCollections>(Nothing {}).await?,
        CollectionsCommand::Add { collection, cards } => {
            library.call::<ChangeCollection>(change(collection, cards, true)).await?
        }
        CollectionsCommand::Remove { collection, cards } => {
            library.call::<ChangeCollection>(change(collection, cards, false)).await?
        }
        CollectionsCommand::Rename { collection, name } => {
            library.call::<RenameCollection>(CollectionRename { collection, name }).await?
        }
        CollectionsCommand::Delete { collection } => {
            library.call::<RemoveCollection>(CollectionRef { collection }).await?
        }
    };
    out.show(&collections, |text| {
        collections.iter().try_for_each(|Collection { name, cards }| {
            writeln!(text, "{}  {}", printable(name).bold(), count(cards.len() as u64, "card").dimmed())
        })
    })?;
    Ok(Outcome::Done)
}
