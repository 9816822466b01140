//! `autokit clients`: AutoKit in the settings of the programs agents run in.

use std::io::IsTerminal as _;

use autokit_api::commands::{ConnectAgent, DisconnectAgent, ListClients};
use autokit_api::{AgentClient, ChangedLine, ConnectClient, LineChange, Nothing};
use autokit_app::node::Node;
use autokit_app::{ApiError, ErrorCode};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::outcome::{End, Result};
use crate::output::{Output, printable};

#[derive(Debug, Subcommand)]
pub(crate) enum ClientsCommand {
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

/// What is to become of AutoKit in a program's settings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionChange {
    Connect,
    Disconnect,
}

pub(crate) async fn run(node: &Node, out: &Output, command: ClientsCommand) -> Result<End> {
    let clients = node.call::<ListClients>(Nothing {}).await?;
    let (program, action) = match command {
        ClientsCommand::List => {
            out.show(&clients, |text| clients.iter().try_for_each(|client| line(text, client)))?;
            return Ok(End::Done);
        }
        ClientsCommand::Show { program } => (program, None),
        ClientsCommand::Connect { program, yes } => (program, Some((ConnectionChange::Connect, yes))),
        ClientsCommand::Disconnect { program, yes } => (program, Some((ConnectionChange::Disconnect, yes))),
    };
    let asked = program.replace([' ', '-'], "_").to_lowercase();
    let found =
        clients.into_iter().find(|client| client.id == asked || client.name.eq_ignore_ascii_case(&program));
    let client = found.ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            format!("unknown client {program:?}"),
            "Check the list of MCP clients.",
        )
    })?;
    let Some((action, yes)) = action else {
        let action = if client.connected { ConnectionChange::Disconnect } else { ConnectionChange::Connect };
        out.show(&client, |text| preview(text, &client, action))?;
        return Ok(End::Done);
    };
    let done = match action {
        ConnectionChange::Connect => client.connected,
        // What cannot be read says why when it is tried.
        ConnectionChange::Disconnect => client.leave.is_none() && client.problem.is_none(),
    };
    if done {
        out.show(&client, |text| line(text, &client))?;
        return Ok(End::Done);
    }
    if !yes && !confirmed(&client, action)? {
        return Ok(End::Refused);
    }
    let change = ConnectClient { id: client.id, seen: client.seen };
    let connected = match action {
        ConnectionChange::Connect => node.call::<ConnectAgent>(change).await?,
        ConnectionChange::Disconnect => node.call::<DisconnectAgent>(change).await?,
    };
    out.show(&connected, |text| {
        line(text, &connected.client)?;
        if let Some(backup) = &connected.backup {
            writeln!(text, "  backup: {}", printable(backup))?;
        }
        writeln!(text, "  Restart {} to apply the change", printable(&connected.client.name))
    })?;
    Ok(End::Done)
}

/// Shows the change and asks.
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

fn line(text: &mut dyn std::io::Write, client: &AgentClient) -> std::io::Result<()> {
    let state = match (client.connected, client.here) {
        (true, _) => "connected",
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
        return lines(text, leave);
    }
    let Some(change) = &client.change else {
        writeln!(text, "{}", printable(client.problem.as_deref().unwrap_or_default()))?;
        writeln!(text, "Add these lines yourself:\n")?;
        return write!(text, "{}", printable(&client.lines));
    };
    lines(text, change)
}

fn lines(text: &mut dyn std::io::Write, change: &[ChangedLine]) -> std::io::Result<()> {
    for line in change {
        let words = printable(&line.text);
        match line.fate {
            LineChange::Stays => writeln!(text, "  {words}")?,
            LineChange::Goes => writeln!(text, "{}", format_args!("- {words}").red())?,
            LineChange::Comes => writeln!(text, "{}", format_args!("+ {words}").green())?,
        }
    }
    Ok(())
}
