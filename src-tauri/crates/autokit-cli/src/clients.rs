//! `autokit clients`: AutoKit in the settings of the programs agents run in.

use std::io::{IsTerminal as _, Write as _};

use autokit_app::api::{AgentClient, ConnectClient, LineFate, Nothing};
use autokit_app::commands::{ConnectAgent, ListClients};
use autokit_app::node::Node;
use autokit_app::{ApiError, ErrorCode};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::output::{Output, printable};
use crate::{End, Result};

#[derive(Debug, Subcommand)]
pub(crate) enum ClientsCommand {
    /// The programs AutoKit knows, and which of them reach it.
    List,
    /// What connecting a program would change in its settings, and the lines to paste by hand.
    Show {
        /// The program, e.g. cursor.
        program: String,
    },
    /// Put AutoKit among the MCP servers of a program; its file as it was is kept beside.
    Connect {
        /// The program, e.g. cursor.
        program: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}

pub(crate) async fn run(node: &Node, out: &Output, command: ClientsCommand) -> Result<End> {
    let clients = node.call::<ListClients>(Nothing {}).await?;
    let (program, connect) = match command {
        ClientsCommand::List => {
            out.show(&clients, |text| clients.iter().try_for_each(|client| line(text, client)))?;
            return Ok(End::Done);
        }
        ClientsCommand::Show { program } => (program, None),
        ClientsCommand::Connect { program, yes } => (program, Some(yes)),
    };
    let asked = program.replace([' ', '-'], "_").to_lowercase();
    let found =
        clients.into_iter().find(|client| client.id == asked || client.name.eq_ignore_ascii_case(&program));
    let client = found.ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            format!("{program:?} is no program AutoKit knows"),
            "See which there are in the list of programs.",
        )
    })?;
    let Some(yes) = connect else {
        out.show(&client, |text| preview(text, &client))?;
        return Ok(End::Done);
    };
    if client.connected {
        out.show(&client, |text| line(text, &client))?;
        return Ok(End::Done);
    }
    if !yes && !confirmed(&client)? {
        return Ok(End::Refused);
    }
    let connected = node.call::<ConnectAgent>(ConnectClient { id: client.id, seen: client.seen }).await?;
    out.show(&connected, |text| {
        line(text, &connected.client)?;
        if let Some(backup) = &connected.backup {
            writeln!(text, "  as it was: {}", printable(backup))?;
        }
        writeln!(text, "  Start {} again for it to see AutoKit", printable(&connected.client.name))
    })?;
    Ok(End::Done)
}

/// Shows the change and asks.
fn confirmed(client: &AgentClient) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            "nobody is there to say yes",
            "See what would change with `autokit clients show`, then give --yes.",
        )
        .into());
    }
    let mut err = anstream::stderr();
    preview(&mut err, client)?;
    write!(err, "Write this? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn line(text: &mut dyn std::io::Write, client: &AgentClient) -> std::io::Result<()> {
    let state = match (client.connected, client.here) {
        (true, _) => "connected",
        (false, true) => "not connected",
        (false, false) => "not on this machine",
    };
    writeln!(text, "{}: {state}", client.name)?;
    writeln!(text, "  {}", printable(&client.file))
}

fn preview(text: &mut dyn std::io::Write, client: &AgentClient) -> std::io::Result<()> {
    writeln!(text, "{}", printable(&client.file))?;
    let Some(change) = &client.change else {
        writeln!(text, "{}", printable(client.problem.as_deref().unwrap_or_default()))?;
        writeln!(text, "Paste these lines by hand:\n")?;
        return write!(text, "{}", printable(&client.lines));
    };
    for line in change {
        let words = printable(&line.text);
        match line.fate {
            LineFate::Stays => writeln!(text, "  {words}")?,
            LineFate::Goes => writeln!(text, "{}", format_args!("- {words}").red())?,
            LineFate::Comes => writeln!(text, "{}", format_args!("+ {words}").green())?,
        }
    }
    Ok(())
}
