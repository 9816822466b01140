//! `autokit clients`: AutoKit in the settings of MCP clients.

use std::io::IsTerminal as _;

use autokit_api::Client;
use autokit_api::commands::{ConnectAgent, DisconnectAgent, ListClients};
use autokit_api::{AgentClient, ChangedLine, ConnectClient, LineChange, Nothing};
use autokit_error::{ApiError, ErrorCode};
use autokit_text::did_you_mean;
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, printable};

#[derive(Debug, Subcommand)]
pub enum ClientsCommand {
    /// List supported MCP clients and whether they are connected.
    List,
    /// Preview the settings change for connecting or disconnecting a client.
    Show {
        /// Client, e.g. cursor.
        program: String,
    },
    /// Add AutoKit to a client's MCP servers; its settings file is backed up.
    Connect {
        /// Client, e.g. cursor.
        program: String,
        /// Skip confirmation.
        #[arg(long)]
        yes: bool,
    },
    /// Remove AutoKit from a client's MCP servers; its settings file is backed up.
    Disconnect {
        /// Client, e.g. cursor.
        program: String,
        /// Skip confirmation.
        #[arg(long)]
        yes: bool,
    },
}

/// A change to a client's settings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionChange {
    Connect,
    Disconnect,
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ClientsCommand) -> Result<Outcome> {
    let clients = library.call::<ListClients>(Nothing {}).await?;
    let (program, action) = match command {
        ClientsCommand::List => {
            out.show(&clients, |text| clients.iter().try_for_each(|client| write_client(text, client)))?;
            return Ok(Outcome::Done);
        }
        ClientsCommand::Show { program } => (program, None),
        ClientsCommand::Connect { program, yes } => (program, Some((ConnectionChange::Connect, yes))),
        ClientsCommand::Disconnect { program, yes } => (program, Some((ConnectionChange::Disconnect, yes))),
    };
    let id = program.replace([' ', '-'], "_").to_lowercase();
    let found = clients.iter().find(|client| client.id == id || client.name.eq_ignore_ascii_case(&program));
    let client = found.cloned().ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            format!("unknown client {program:?}"),
            did_you_mean(&program, clients.iter().map(|client| client.name.as_str()))
                .unwrap_or_else(|| "See `autokit clients list`.".to_owned()),
        )
    })?;
    let Some((action, yes)) = action else {
        let action = if client.connected { ConnectionChange::Disconnect } else { ConnectionChange::Connect };
        out.show(&client, |text| preview(text, &client, action))?;
        return Ok(Outcome::Done);
    };
    let is_done = match action {
        ConnectionChange::Connect => client.connected,
        // If the file cannot be read, trying to disconnect reports why.
        ConnectionChange::Disconnect => client.leave.is_none() && client.problem.is_none(),
    };
    if is_done {
        out.show(&client, |text| write_client(text, &client))?;
        return Ok(Outcome::Done);
    }
    if !yes && !confirmed(&client, action)? {
        return Ok(Outcome::Rejected);
    }
    let change = ConnectClient { id: client.id, seen: client.seen };
    let connected = match action {
        ConnectionChange::Connect => library.call::<ConnectAgent>(change).await?,
        ConnectionChange::Disconnect => library.call::<DisconnectAgent>(change).await?,
    };
    out.show(&connected, |text| {
        write_client(text, &connected.client)?;
        if let Some(backup) = &connected.backup {
            writeln!(text, "  backup: {}", printable(backup))?;
        }
        writeln!(text, "  Restart {} to apply the change", printable(&connected.client.name))
    })?;
    Ok(Outcome::Done)
}

/// Shows the change and asks for confirmation.
fn confirmed(client: &AgentClient, action: ConnectionChange) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            "confirmation needs a terminal",
            "Preview the change with `autokit clients show`, then pass --yes.",
        )
        .into());
    }
    let mut err = anstream::stderr();
    preview(&mut err, client, action)?;
    crate::output::confirmed("Update this file?")
}

fn write_client(text: &mut dyn std::io::Write, client: &AgentClient) -> std::io::Result<()> {
    let state = match (client.connected, client.here) {
        (true, _) => "connected",
        (false, _) if client.leave.is_some() => "connected to another library",
        (false, true) => "not connected",
        (false, false) => "not installed",
    };
    writeln!(text, "{}: {state}", client.name)?;
    writeln!(text, "  {}", printable(&client.file))
}

fn preview(
    text: &mut dyn std::io::Write,
    client: &AgentClient,
    action: ConnectionChange,
) -> std::io::Result<()> {
    writeln!(text, "{}", printable(&client.file))?;
    if let Some(leave) = client.leave.as_ref().filter(|_| action == ConnectionChange::Disconnect) {
        return write_diff_lines(text, leave);
    }
    let Some(change) = &client.change else {
        writeln!(text, "{}", printable(client.problem.as_deref().unwrap_or_default()))?;
        writeln!(text, "Add these lines yourself:\n")?;
        return write!(text, "{}", printable(&client.lines));
    };
    write_diff_lines(text, change)
}

fn write_diff_lines(text: &mut dyn std::io::Write, change: &[ChangedLine]) -> std::io::Result<()> {
    for line in change {
        let text_line = printable(&line.text);
        match line.fate {
            LineChange::Stays => writeln!(text, "  {text_line}")?,
            LineChange::Goes => writeln!(text, "{}", format_args!("- {text_line}").red())?,
            LineChange::Comes => writeln!(text, "{}", format_args!("+ {text_line}").green())?,
        }
    }
    Ok(())
}
