//! `autokit docs` and `autokit code`: documents and code that are searched and cited.

use std::io;
use std::path::Path;

use autokit_api::Client;
use autokit_api::commands::{
    AddMemory, ListCodeTools, ListMemory, ProposeCodeTools, RefreshMemory, RemoveMemory, SearchMemory,
};
use autokit_api::{
    CodeToolsPropose, CodeToolsQuery, JobRef, MemoryAdd, MemoryFound, MemoryHit, MemoryKind, MemoryListQuery,
    MemoryQuery, MemorySource, MemorySourceRef,
};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::jobs;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, format_time, printable};

/// Lines of a piece that are shown.
const LINES: usize = 6;
/// Characters of a line that are shown.
const WIDTH: usize = 160;
/// Unreadable files that are listed.
const PROBLEMS: usize = 5;

#[derive(Debug, Subcommand)]
pub enum DocsCommand {
    /// Add documents: a file, a folder or the address of a page. PDF, DOCX, HTML, Markdown and text are read.
    Add {
        /// Files, folders or addresses.
        #[arg(required = true)]
        locations: Vec<String>,
    },
    /// List what was added.
    List,
    /// Read documents again; unchanged files are skipped.
    Refresh {
        /// Path or address, as listed.
        location: String,
    },
    /// Remove documents from search. The files stay.
    Remove {
        /// Path or address, as listed.
        location: String,
    },
    /// Find the passages of documents that answer a question.
    Search {
        /// The question.
        #[arg(required = true, num_args = 1..)]
        question: Vec<String>,
        /// Maximum number of results.
        #[arg(short, long, default_value_t = 5)]
        limit: u32,
    },
}

#[derive(Debug, Subcommand)]
pub enum CodeCommand {
    /// Add the code in a folder: Rust, Python, TypeScript, JavaScript, Go, Java, C and C++.
    Index {
        /// Folder of a repository.
        folder: String,
    },
    /// List what was added.
    List,
    /// Remove code from search. The files stay.
    Remove {
        /// Folder, as listed.
        folder: String,
    },
    /// Propose the documented public functions and the commands of a repository as cards in `autokit review`.
    Cards {
        /// Folder of a repository.
        folder: String,
        /// List them without proposing anything.
        #[arg(long)]
        dry_run: bool,
        /// Maximum number of cards.
        #[arg(short, long, default_value_t = 50)]
        limit: u32,
    },
    /// Find functions and types by what they do.
    Search {
        /// What it does, or its name.
        #[arg(required = true, num_args = 1..)]
        description: Vec<String>,
        /// Maximum number of results.
        #[arg(short, long, default_value_t = 5)]
        limit: u32,
    },
}

pub(crate) async fn docs(library: &dyn Client, out: &Output, command: DocsCommand) -> Result<Outcome> {
    let kind = MemoryKind::Documents;
    match command {
        DocsCommand::Add { locations } => {
            for location in locations {
                add(library, out, kind, &location).await?;
            }
            Ok(Outcome::Done)
        }
        DocsCommand::List => list(library, out, kind).await,
        DocsCommand::Refresh { location } => {
            let source = MemorySourceRef { source: absolute(&location) };
            let started = library.call::<RefreshMemory>(source).await?;
            follow(library, out, started).await
        }
        DocsCommand::Remove { location } => remove(library, out, &location).await,
        DocsCommand::Search { question, limit } => {
            search(library, out, kind, question.join(" "), limit).await
        }
    }
}

pub(crate) async fn code(library: &dyn Client, out: &Output, command: CodeCommand) -> Result<Outcome> {
    let kind = MemoryKind::Code;
    match command {
        CodeCommand::Index { folder } => add(library, out, kind, &folder).await,
        CodeCommand::List => list(library, out, kind).await,
        CodeCommand::Remove { folder } => remove(library, out, &folder).await,
        CodeCommand::Cards { folder, dry_run, limit } => cards(library, out, &folder, dry_run, limit).await,
        CodeCommand::Search { description, limit } => {
            search(library, out, kind, description.join(" "), limit).await
        }
    }
}

async fn cards(
    library: &dyn Client,
    out: &Output,
    folder: &str,
    dry_run: bool,
    limit: u32,
) -> Result<Outcome> {
    let folder = absolute(folder);
    if !dry_run {
        let request = CodeToolsPropose { folder, tools: Vec::new(), limit: Some(limit) };
        let started = library.call::<ProposeCodeTools>(request).await?;
        return follow(library, out, started).await;
    }
    let found = library.call::<ListCodeTools>(CodeToolsQuery { folder, limit: Some(limit) }).await?;
    out.show(&found, |text| {
        for tool in &found.tools {
            let place = printable(&tool.place);
            writeln!(text, "{}  {}", printable(&tool.name).bold(), place.dimmed())?;
            writeln!(text, "  {}", printable(&tool.line))?;
        }
        let more = found.total as usize - found.tools.len();
        match (found.total, more) {
            (0, _) => writeln!(text, "No documented public functions or commands that the library lacks."),
            (_, 0) => Ok(()),
            _ => writeln!(text, "{}", format!("and {more} more").dimmed()),
        }
    })?;
    Ok(if found.total == 0 { Outcome::NothingFound } else { Outcome::Done })
}

/// Returns an address as it is, and a path from the root: the library may be open in another process.
fn absolute(location: &str) -> String {
    if location.starts_with("http://") || location.starts_with("https://") {
        return location.to_owned();
    }
    let path = std::fs::canonicalize(location).or_else(|_| std::path::absolute(Path::new(location)));
    path.map_or_else(|_| location.to_owned(), |path| path.to_string_lossy().into_owned())
}

async fn add(library: &dyn Client, out: &Output, kind: MemoryKind, location: &str) -> Result<Outcome> {
    let started = library.call::<AddMemory>(MemoryAdd { kind, location: absolute(location) }).await?;
    follow(library, out, started).await
}

async fn follow(library: &dyn Client, out: &Output, started: JobRef) -> Result<Outcome> {
    let job = jobs::watch(library, out, &started.job).await?;
    out.show(&job, |text| writeln!(text, "{}", printable(job.summary.as_deref().unwrap_or("Done"))))?;
    Ok(Outcome::Done)
}

async fn remove(library: &dyn Client, out: &Output, location: &str) -> Result<Outcome> {
    let gone = library.call::<RemoveMemory>(MemorySourceRef { source: absolute(location) }).await?;
    out.show(&gone, |text| writeln!(text, "Removed {}", printable(location)))?;
    Ok(Outcome::Done)
}

async fn list(library: &dyn Client, out: &Output, kind: MemoryKind) -> Result<Outcome> {
    let list = library.call::<ListMemory>(MemoryListQuery { kind: Some(kind) }).await?;
    out.show(&list, |text| {
        list.sources.iter().try_for_each(|source| write_source(text, source))?;
        match kind {
            _ if !list.sources.is_empty() => Ok(()),
            MemoryKind::Documents => {
                writeln!(text, "No documents yet. Add some with `autokit docs add FOLDER`")
            }
            MemoryKind::Code => writeln!(text, "No code yet. Add some with `autokit code index FOLDER`"),
        }
    })?;
    Ok(if list.sources.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

fn write_source(text: &mut dyn io::Write, source: &MemorySource) -> io::Result<()> {
    let noun = if source.kind == MemoryKind::Code { "symbol" } else { "piece" };
    let read =
        source.read_at.map_or("not fully read yet".to_owned(), |at| format!("read {}", format_time(at)));
    writeln!(text, "{}", printable(&source.location).bold())?;
    let by_words = source.passages - source.embedded;
    let by_words =
        if by_words > 0 { format!(", {by_words} of them keyword search only") } else { String::new() };
    let line = format!("{}, {}{by_words}; {read}", count(source.files, "file"), count(source.passages, noun));
    writeln!(text, "  {}", line.dimmed())?;
    if let Some(problem) = &source.problem {
        writeln!(text, "  {} {}", "!".yellow(), printable(problem))?;
    }
    for problem in source.problems.iter().take(PROBLEMS) {
        writeln!(text, "  {} {}: {}", "!".yellow(), printable(&problem.file), printable(&problem.reason))?;
    }
    if source.problems.len() > PROBLEMS {
        let more = source.problems.len() - PROBLEMS;
        writeln!(text, "  {} and {more} more not readable; --json lists all", "!".yellow())?;
    }
    Ok(())
}

async fn search(
    library: &dyn Client,
    out: &Output,
    kind: MemoryKind,
    query: String,
    limit: u32,
) -> Result<Outcome> {
    let found = library.call::<SearchMemory>(MemoryQuery { kind, query, limit: Some(limit) }).await?;
    out.show(&found, |text| write_found(text, &found))?;
    Ok(if found.hits.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

fn write_found(text: &mut dyn io::Write, found: &MemoryFound) -> io::Result<()> {
    for (at, hit) in found.hits.iter().enumerate() {
        if at > 0 {
            writeln!(text)?;
        }
        write_hit(text, hit)?;
    }
    if found.hits.is_empty() && found.note.is_none() {
        writeln!(text, "No results.")?;
    }
    if let Some(note) = &found.note {
        writeln!(text, "{}", printable(note).dimmed())?;
    }
    Ok(())
}

/// Writes a piece of a document, or a function, with its citation.
pub(crate) fn write_hit(text: &mut dyn io::Write, hit: &MemoryHit) -> io::Result<()> {
    let score = format!("{:.2}", hit.score);
    let page = hit.page.map(|page| format!(", page {page}")).unwrap_or_default();
    if let Some(symbol) = &hit.symbol {
        writeln!(text, "{}  {} {}", score.dimmed(), printable(&symbol.name).bold(), symbol.kind.dimmed())?;
        writeln!(text, "      {}", printable(&hit.citation).cyan())?;
        writeln!(text, "      {}", shortened(&printable(&symbol.signature)))?;
    } else {
        let heading = printable(&hit.heading.join(" › "));
        writeln!(text, "{}  {}", score.dimmed(), heading.bold())?;
        writeln!(text, "      {}{}", printable(&hit.citation).cyan(), page.dimmed())?;
    }
    for line in hit.text.lines().filter(|line| !line.trim().is_empty()).take(LINES) {
        writeln!(text, "      {}", shortened(&printable(line)).dimmed())?;
    }
    if let Some(symbol) = hit.symbol.as_ref().filter(|symbol| !symbol.callers.is_empty()) {
        let shown: Vec<String> = symbol.callers.iter().take(3).map(|caller| printable(caller)).collect();
        writeln!(text, "      {} {}", "called by".dimmed(), shown.join(", "))?;
    }
    Ok(())
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
