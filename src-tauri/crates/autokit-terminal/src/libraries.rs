//! `autokit libraries`, and searches of all of them.

use std::io::{self, Write};

use autokit_api::commands::{ListLibraries, SearchLibraries, SetLibrarySearched};
use autokit_api::{
    Client, LibrariesFound, LibrariesQuery, LibraryEntry, LibraryHit, LibraryKind, LibraryOutcome,
    LibrarySet, LibraryState, Nothing,
};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::cards::one_line;
use crate::outcome::{Outcome, Result};
use crate::output::Output;

/// `autokit libraries`.
#[derive(Debug, Subcommand)]
pub enum LibrariesCommand {
    /// List the libraries that can be searched together.
    List,
    /// Include a library in searches of all libraries. Search terms are sent to registries.
    Include {
        /// Library ID, as listed.
        id: String,
    },
    /// Leave a library out of searches of all libraries.
    Exclude {
        /// Library ID, as listed.
        id: String,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: LibrariesCommand) -> Result<Outcome> {
    let libraries = match command {
        LibrariesCommand::List => library.call::<ListLibraries>(Nothing {}).await?,
        LibrariesCommand::Include { id } => {
            library.call::<SetLibrarySearched>(LibrarySet { id, searched: true }).await?
        }
        LibrariesCommand::Exclude { id } => {
            library.call::<SetLibrarySearched>(LibrarySet { id, searched: false }).await?
        }
    };
    out.show(&libraries, |text| libraries.iter().try_for_each(|entry| write_entry(text, entry)))?;
    Ok(Outcome::Done)
}

/// Searches all included libraries.
pub(crate) async fn search(
    library: &dyn Client,
    out: &Output,
    query: String,
    limit: u32,
    wait_ms: Option<u32>,
) -> Result<Outcome> {
    let request =
        LibrariesQuery { query, limit: Some(limit), wait_ms, wait_until_open: Some(true), local: None };
    let found = library.call::<SearchLibraries>(request).await?;
    out.show(&found, |text| write_found(text, &found))?;
    Ok(if found.results.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// Returns how a library is called in a line.
fn name_of(entry: &LibraryEntry) -> String {
    match entry.kind {
        LibraryKind::Personal => "Personal".to_owned(),
        LibraryKind::Team => one_line(&entry.name, 60),
        // What follows the path may be a password.
        LibraryKind::Bundle | LibraryKind::Registry => {
            one_line(entry.name.split(['?', '#']).next().unwrap_or_default(), 60)
        }
    }
}

fn kind_of(kind: LibraryKind) -> &'static str {
    match kind {
        LibraryKind::Personal => "your library",
        LibraryKind::Team => "team",
        LibraryKind::Bundle => "published bundle",
        LibraryKind::Registry => "registry",
    }
}

fn write_entry(out: &mut dyn Write, entry: &LibraryEntry) -> io::Result<()> {
    let mark = if entry.searched { "✓" } else { " " };
    let state = match entry {
        LibraryEntry { open: true, .. } => ", open",
        LibraryEntry { searched: false, .. } => ", not searched",
        _ => "",
    };
    writeln!(
        out,
        "{mark} {}  {}  {}",
        one_line(&entry.id, 60).bold(),
        name_of(entry),
        format!("{}{state}", kind_of(entry.kind)).dimmed()
    )
}

fn write_found(out: &mut dyn Write, found: &LibrariesFound) -> io::Result<()> {
    if found.results.is_empty() {
        writeln!(out, "No results.")?;
    }
    let library_of = |id: &str| found.libraries.iter().find(|outcome| outcome.library.id == id);
    for (rank, hit) in found.results.iter().enumerate() {
        let library = library_of(&hit.library).map(|outcome| name_of(&outcome.library)).unwrap_or_default();
        write_hit(out, rank + 1, hit, &library)?;
    }
    for outcome in &found.libraries {
        write_outcome(out, outcome)?;
    }
    let answered = found.libraries.iter().filter(|outcome| outcome.state == LibraryState::Answered).count();
    let all = match found.libraries.len() {
        1 => "1 library".to_owned(),
        more => format!("{answered} of {more} libraries"),
    };
    let line = format!("{all}, {:.1} ms", found.took_ms);
    writeln!(out, "{}", line.dimmed())
}

fn write_hit(out: &mut dyn Write, rank: usize, hit: &LibraryHit, library: &str) -> io::Result<()> {
    let provider =
        if hit.provider.is_empty() { String::new() } else { format!(" · {}", one_line(&hit.provider, 60)) };
    writeln!(
        out,
        "{rank:>3}. {}{}  {}  {}",
        one_line(&hit.name, 80).bold(),
        provider.dimmed(),
        library.cyan(),
        format!("{:.3}", hit.score).dimmed()
    )?;
    if let Some(why) = &hit.suspect {
        writeln!(out, "     {}", format!("Flagged: {}", one_line(why, 90)).yellow())?;
    }
    writeln!(out, "     {}", one_line(&hit.description, 90))
}

/// Says which libraries are missing in the results.
fn write_outcome(out: &mut dyn Write, outcome: &LibraryOutcome) -> io::Result<()> {
    let name = name_of(&outcome.library);
    match (outcome.state, &outcome.error) {
        (LibraryState::Answered, _) => Ok(()),
        (LibraryState::Late, _) => {
            let line = format!("{name} did not answer in time. Wait longer with `--wait MS`.");
            writeln!(out, "{}", line.yellow())
        }
        (LibraryState::Failed, why) => {
            let why = why.as_deref().map(|why| one_line(why, 200)).unwrap_or_default();
            // Of an address, the reason begins with it.
            let line =
                if why.starts_with(&name) { why } else { format!("{name} could not be searched: {why}") };
            writeln!(out, "{}", line.yellow())
        }
    }
}
