//! `autokit servers`: the MCP servers behind AutoKit.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use autokit_api::Client;
use autokit_api::commands::{AddServer, ListServers, ReadServers, RefreshServer, RemoveServer};
use autokit_api::{JobId, JobState, Nothing, Server, ServerAdd, ServerRef, ServerTransport, ServersText};
use autokit_error::ApiError;
use autokit_error::ErrorCode;
use clap::{ArgGroup, Subcommand};

use crate::jobs;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, confirmed, count, format_time, printable};

#[derive(Debug, Subcommand)]
pub enum ServersCommand {
    /// List MCP servers.
    List,
    /// Add or change an MCP server; its tools go to `autokit review` unless it is trusted.
    #[command(group = ArgGroup::new("where").required(true).args(["url", "command"]))]
    Add {
        /// Server name.
        name: String,
        /// URL of its Streamable HTTP endpoint.
        #[arg(long)]
        url: Option<String>,
        /// Environment variable or request header, stored like an API key.
        #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
        secret: Vec<(String, String)>,
        /// Working directory; defaults to the home folder.
        #[arg(long, value_name = "DIR", requires = "command")]
        folder: Option<String>,
        /// Add its tools without review, now and when they change.
        #[arg(long)]
        trust: bool,
        /// Command and arguments, after `--`.
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// Import MCP servers from the settings of Claude, Cursor, VS Code and others, with their keys.
    Import {
        /// Settings file: `mcp.json`, `claude_desktop_config.json`, `settings.json`.
        file: PathBuf,
        /// Only these servers, by name.
        #[arg(long)]
        only: Vec<String>,
        /// Skip confirmation.
        #[arg(long)]
        yes: bool,
    },
    /// Rescan a server's tools.
    Refresh {
        /// Server name.
        name: String,
    },
    /// Remove a server and its keys, keeping its tools' cards.
    Remove {
        /// Server name.
        name: String,
    },
}

pub(crate) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        // The value may be a key, so the error does not include it.
        _ => Err("use NAME=VALUE".to_owned()),
    }
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ServersCommand) -> Result<Outcome> {
    let servers = match command {
        ServersCommand::List => library.call::<ListServers>(Nothing {}).await?,
        ServersCommand::Add { name, url, secret, folder, trust, command } => {
            let reach = if let Some(url) = url {
                ServerTransport::Http { url }
            } else {
                let mut words = command.into_iter();
                ServerTransport::Stdio {
                    command: words.next().unwrap_or_default(),
                    args: words.collect(),
                    folder: folder.unwrap_or_default(),
                }
            };
            let name = name.trim().to_owned();
            let secrets: BTreeMap<String, String> = secret.into_iter().collect();
            let add = ServerAdd { name: name.clone(), reach, secrets, trusted: trust };
            let job = library.call::<AddServer>(add).await?;
            return show_scan(library, out, &name, &job.job).await;
        }
        ServersCommand::Import { file, only, yes } => return import(library, out, &file, &only, yes).await,
        ServersCommand::Refresh { name } => {
            let job = library.call::<RefreshServer>(ServerRef { name: name.clone() }).await?;
            return show_scan(library, out, &name, &job.job).await;
        }
        ServersCommand::Remove { name } => library.call::<RemoveServer>(ServerRef { name }).await?,
    };
    out.show(&servers, |text| {
        for server in &servers {
            write(text, server)?;
        }
        if servers.is_empty() {
            writeln!(text, "No MCP servers yet.")?;
            writeln!(text, "Add one with `autokit servers add NAME -- PROGRAM ARGUMENTS`")?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// Adds the servers from a client's settings, one after the other, after confirmation.
async fn import(
    library: &dyn Client,
    out: &Output,
    file: &Path,
    only: &[String],
    yes: bool,
) -> Result<Outcome> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        let message = format!("can't read {}: {error}", file.display());
        ApiError::new(ErrorCode::BadRequest, message, "Check the file's name.")
    })?;
    let mut read = library.call::<ReadServers>(ServersText { text }).await?;
    read.servers.retain(|server| only.is_empty() || only.contains(&server.name));
    // With --json, only the final list is printed.
    let mut err: Box<dyn std::io::Write> =
        if out.json() { Box::new(std::io::sink()) } else { Box::new(anstream::stderr()) };
    for problem in &read.problems {
        writeln!(err, "skipped: {}", printable(problem))?;
    }
    for server in &read.servers {
        let known = if read.taken.contains(&server.name) { ", replacing the existing one" } else { "" };
        writeln!(err, "{}: {}{known}", printable(&server.name), printable(&describe_reach(&server.reach)))?;
        if !server.secrets.is_empty() {
            let names: Vec<&str> = server.secrets.keys().map(String::as_str).collect();
            writeln!(err, "  with {}", printable(&names.join(", ")))?;
        }
    }
    if read.servers.is_empty() {
        writeln!(err, "No servers to add.")?;
        return Ok(Outcome::NothingFound);
    }
    if !yes && !confirm_import("Add them? Their commands are run to list their tools, which go to review.")? {
        return Ok(Outcome::NothingFound);
    }
    for server in read.servers {
        let name = server.name.clone();
        let job = library.call::<AddServer>(server).await?;
        // A server that does not start is reported in the list; the others are still added.
        jobs::watch(library, out, &job.job).await?;
        writeln!(err, "{}", printable(&name))?;
    }
    Box::pin(run(library, out, ServersCommand::List)).await
}

/// Asks for confirmation in the terminal.
fn confirm_import(question: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            "confirmation needs a terminal",
            "Check what would be added, then pass --yes.",
        )
        .into());
    }
    confirmed(question)
}

/// Describes how a server is reached, in one line.
fn describe_reach(reach: &ServerTransport) -> String {
    match reach {
        ServerTransport::Stdio { command, args, .. } => {
            std::iter::once(command).chain(args).cloned().collect::<Vec<_>>().join(" ")
        }
        ServerTransport::Http { url } => url.clone(),
    }
}

/// Waits for a scan of a server's tools and shows the result.
pub(crate) async fn show_scan(
    library: &dyn Client,
    out: &Output,
    name: &str,
    job: &JobId,
) -> Result<Outcome> {
    let job = jobs::watch(library, out, job).await?;
    if job.state == JobState::Failed {
        return Err(job
            .error
            .unwrap_or_else(|| ApiError::internal("the scan failed without a reason"))
            .into());
    }
    let servers = library.call::<ListServers>(Nothing {}).await?;
    let server = servers.into_iter().find(|server| server.name == name);
    let server = server.ok_or_else(|| {
        ApiError::new(ErrorCode::NotFound, format!("{name:?} was removed meanwhile"), "Add it again.")
    })?;
    out.show(&server, |text| {
        write(text, &server)?;
        if let Some(summary) = &job.summary {
            writeln!(text, "  {}", printable(summary))?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

fn write(text: &mut dyn std::io::Write, server: &Server) -> std::io::Result<()> {
    let reach = describe_reach(&server.reach);
    let runs = if server.running { ", running" } else { "" };
    let trusted = if server.trusted { ", trusted" } else { "" };
    writeln!(text, "{}: {}{runs}{trusted}", printable(&server.name), count(server.tools, "tool"))?;
    writeln!(text, "  {}", printable(&reach))?;
    if server.waiting > 0 {
        writeln!(text, "  {} pending in `autokit review list`", server.waiting)?;
    }
    if !server.secrets.is_empty() {
        writeln!(text, "  with {}", printable(&server.secrets.join(", ")))?;
    }
    for skipped in &server.skipped {
        writeln!(text, "  skipped: {}", printable(skipped))?;
    }
    if let Some(failed) = &server.failed {
        writeln!(text, "  {}", printable(failed))?;
    } else if let Some(at) = server.checked_at {
        writeln!(text, "  scanned {}", format_time(at))?;
    }
    Ok(())
}
