//! `autokit registries`: tools from registries and published bundles.

use std::io::{self, Write};

use autokit_api::Client;
use autokit_api::commands::{
    AddMarketSource, AddServer, InstallFromMarket, ListMarketSources, RemoveMarketSource, SearchMarket,
    StartImport,
};
use autokit_api::{
    MarketFound, MarketInput, MarketInstall, MarketKind, MarketQuery, MarketRef, MarketSource,
    MarketSourceAdd, MarketSourceRef, Nothing, ServerAdd, ServerTransport,
};
use autokit_error::{ApiError, ErrorCode};
use clap::Subcommand;
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::cards::one_line;
use crate::jobs;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, confirmed, printable};
use crate::servers::{parse_pair, show_scan};

#[derive(Debug, Subcommand)]
pub enum MarketCommand {
    /// List registries. Nothing is sent anywhere while there are none.
    List,
    /// Add an MCP registry (e.g. <https://registry.modelcontextprotocol.io>) or a
    /// published bundle. Searches are sent to registries, including agents' searches when the
    /// library has too few matches.
    Add {
        /// URL.
        url: String,
        /// Treat it as a bundle, whatever its extension.
        #[arg(long)]
        bundle: bool,
    },
    /// Remove a registry, keeping tools installed from it.
    Remove {
        /// Registry ID.
        id: String,
    },
    /// Search the registries.
    Search {
        /// What the tool should do, or part of its name.
        #[arg(required = true, num_args = 1..)]
        query: Vec<String>,
        /// Maximum number of results.
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Install a tool from a registry after showing what it runs. Its tools go to review.
    Install {
        /// Registry ID.
        source: String,
        /// ID in the registry.
        id: String,
        /// Environment variable or request header, stored like an API key.
        #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
        secret: Vec<(String, String)>,
        /// Skip confirmation.
        #[arg(long)]
        yes: bool,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: MarketCommand) -> Result<Outcome> {
    let sources = match command {
        MarketCommand::List => library.call::<ListMarketSources>(Nothing {}).await?,
        MarketCommand::Add { url, bundle } => {
            let kind = bundle.then_some(MarketKind::Bundle);
            library.call::<AddMarketSource>(MarketSourceAdd { kind, url }).await?
        }
        MarketCommand::Remove { id } => library.call::<RemoveMarketSource>(MarketSourceRef { id }).await?,
        MarketCommand::Search { query, limit } => {
            let query = MarketQuery { query: query.join(" "), limit: Some(limit) };
            let found = library.call::<SearchMarket>(query).await?;
            out.show(&found, |text| write_found(text, &found))?;
            return Ok(if found.offers.is_empty() { Outcome::NothingFound } else { Outcome::Done });
        }
        MarketCommand::Install { source, id, secret, yes } => {
            let install = library.call::<InstallFromMarket>(MarketRef { source, id }).await?;
            return confirm(library, out, install, secret, yes).await;
        }
    };
    out.show(&sources, |text| write_sources(text, &sources))?;
    Ok(if sources.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// Shows what would be installed and installs it after confirmation.
async fn confirm(
    library: &dyn Client,
    out: &Output,
    mut install: MarketInstall,
    secret: Vec<(String, String)>,
    yes: bool,
) -> Result<Outcome> {
    if let MarketInstall::Server { add, .. } = &mut install {
        add.secrets.extend(secret);
    }
    let mut err = anstream::stderr();
    write_install(&mut err, &install)?;
    if let MarketInstall::Server { add, inputs, .. } = &install {
        let is_missing = |input: &&MarketInput| input.required && !add.secrets.contains_key(&input.name);
        if let Some(input) = inputs.iter().find(is_missing) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("the server needs {}", input.name),
                format!("Pass it with --secret {}=VALUE.", input.name),
            )
            .into());
        }
    }
    if !yes && !confirmed("Continue?")? {
        return Err(ApiError::cancelled().into());
    }
    match install {
        MarketInstall::Server { add, .. } => add_server(library, out, add).await,
        MarketInstall::Card { import, .. } => {
            let job = library.call::<StartImport>(import).await?;
            let job = jobs::watch(library, out, &job.job).await?;
            show_done(out, &job, job.summary.as_deref())
        }
    }
}

async fn add_server(library: &dyn Client, out: &Output, add: ServerAdd) -> Result<Outcome> {
    let name = add.name.clone();
    let job = library.call::<AddServer>(add).await?;
    show_scan(library, out, &name, &job.job).await
}

fn show_done(out: &Output, value: &impl Serialize, summary: Option<&str>) -> Result<Outcome> {
    out.show(value, |text| writeln!(text, "{}", printable(summary.unwrap_or("done"))))?;
    Ok(Outcome::Done)
}

fn write_install(text: &mut dyn Write, install: &MarketInstall) -> io::Result<()> {
    let notes = match install {
        MarketInstall::Server { add, inputs, notes, .. } => {
            writeln!(text, "Installs {}; its tools go to review.", printable(&add.name).bold())?;
            match &add.reach {
                ServerTransport::Stdio { command, args, .. } => {
                    let words: Vec<&str> = std::iter::once(command).chain(args).map(String::as_str).collect();
                    writeln!(text, "  runs     {}", printable(&words.join(" ")))?;
                }
                ServerTransport::Http { url } => writeln!(text, "  connects to {}", printable(url))?,
            }
            for input in inputs {
                let needed = if input.required { "needs" } else { "takes" };
                let what = input.description.as_deref().unwrap_or_default();
                writeln!(text, "  {needed}    {}  {}", printable(&input.name), one_line(what, 80).dimmed())?;
            }
            notes
        }
        MarketInstall::Card { import, notes } => {
            let others = import.choices.len();
            writeln!(text, "Sends one card to review; {others} others are not imported.")?;
            notes
        }
    };
    notes.iter().try_for_each(|note| writeln!(text, "  {} {}", "→".yellow(), printable(note)))
}

fn write_found(text: &mut dyn Write, found: &MarketFound) -> io::Result<()> {
    for offer in &found.offers {
        write!(text, "{}  {}", printable(&offer.name).bold(), printable(&offer.provider).dimmed())?;
        for (is_set, label) in [(offer.installed, "installed"), (offer.deprecated, "deprecated")] {
            if is_set {
                write!(text, " · {label}")?;
            }
        }
        writeln!(text)?;
        writeln!(text, "  {}", one_line(&offer.description, 100))?;
        let facts = [("costs", &offer.price), ("for", &offer.category), ("version", &offer.version)];
        for (label, value) in facts {
            if let Some(value) = value {
                writeln!(text, "  {label} {}", printable(value).dimmed())?;
            }
        }
        if let Some(why) = &offer.suspect {
            writeln!(text, "  {} {}", "flagged text:".red(), printable(why))?;
        }
        let line = format!("autokit registries install {} {}", offer.source, offer.id);
        writeln!(text, "  {}", printable(&line).cyan())?;
    }
    if found.offers.is_empty() {
        writeln!(text, "No results in your registries.")?;
    }
    found.notes.iter().try_for_each(|note| writeln!(text, "{} {}", "→".yellow(), printable(note)))
}

fn write_sources(text: &mut dyn Write, sources: &[MarketSource]) -> io::Result<()> {
    for source in sources {
        let kind = match source.kind {
            MarketKind::Registry => "registry",
            MarketKind::Bundle => "bundle",
        };
        writeln!(text, "{}  {kind:<8}  {}", source.id, printable(&source.url))?;
    }
    if sources.is_empty() {
        writeln!(text, "No registries configured.")?;
        writeln!(text, "Add one with `autokit registries add URL`")?;
    }
    Ok(())
}
