//! `autokit team export|import|upgrade|move`: what whoever runs a team's server does.

use std::path::{Path, PathBuf};

use autokit_api::commands::{ExportTeam, ImportTeam, MoveTeam, UpgradeTeam};
use autokit_api::{Client, TeamFileRequest, TeamMove, TeamServer, TeamUpgrade};
use autokit_error::{ApiError, ErrorCode};
use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable};
use crate::secret;

/// A team at its server.
#[derive(Debug, Args)]
pub struct TeamAt {
    /// Server URL: `wss://teams.example.org`.
    server: String,
    /// Team ID.
    id: String,
    /// User of the server.
    #[arg(long, default_value = "root")]
    owner: String,
    /// PEM file of CA certificates to trust for this server instead of the system's.
    #[arg(long, value_name = "FILE")]
    authorities: Option<PathBuf>,
}

impl TeamAt {
    fn ask(self) -> Result<TeamServer> {
        Ok(TeamServer {
            authorities: read_authorities(self.authorities)?,
            owner_password: secret::read(&format!("Password of {} on the server", self.owner))?,
            server: self.server,
            owner: self.owner,
            id: self.id,
        })
    }
}

/// What whoever runs a team's server does.
#[derive(Debug, Subcommand)]
pub enum ServerCommand {
    /// Export a team with its members, cards, history and proposals. Asks for the server's password. Keep the file secret:
    /// it has everybody's hashed password.
    Export {
        #[command(flatten)]
        team: TeamAt,
        /// File to write.
        file: PathBuf,
    },
    /// Make a team of an exported one, on the same or another server. Asks for the server's password.
    Import {
        #[command(flatten)]
        team: TeamAt,
        /// File to read.
        file: PathBuf,
    },
    /// Bring a team up to date with this version of AutoKit and replace the keys that sign its tokens. Asks for the
    /// server's password.
    Upgrade {
        #[command(flatten)]
        team: TeamAt,
        /// Hours for which a token is valid; unchanged by default.
        #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u16).range(1..=720))]
        token_hours: Option<u16>,
        /// Hours after which an open connection signs in again; unchanged by default.
        #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u16).range(1..=720))]
        session_hours: Option<u16>,
    },
    /// Use a team at another server address from now on.
    Move {
        /// Team ID on this machine.
        id: String,
        /// New server URL.
        server: String,
        /// PEM file of CA certificates to trust for this server instead of the system's.
        #[arg(long, value_name = "FILE")]
        authorities: Option<PathBuf>,
    },
}

pub(crate) fn read_authorities(file: Option<PathBuf>) -> Result<Option<String>> {
    let Some(file) = file else { return Ok(None) };
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let message = format!("{}: {error}", file.display());
        ApiError::new(ErrorCode::UnreadableFile, message, "Name a PEM file that you may read.")
    })?;
    Ok(Some(text))
}

/// The path as another process, in another folder, reads it.
fn absolute(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        ApiError::new(ErrorCode::UnreadableFile, message, "Name a file.")
    })?;
    Ok(absolute.display().to_string())
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ServerCommand) -> Result<Outcome> {
    match command {
        ServerCommand::Export { team, file } => {
            let request = TeamFileRequest { path: absolute(&file)?, team: team.ask()? };
            let done = library.call::<ExportTeam>(request).await?;
            out.show(&done, |text| {
                writeln!(text, "Exported {} to {}", count_rows(done.rows), printable(&done.path))
            })?;
        }
        ServerCommand::Import { team, file } => {
            let request = TeamFileRequest { path: absolute(&file)?, team: team.ask()? };
            let (server, id) = (request.team.server.clone(), request.team.id.clone());
            let done = library.call::<ImportTeam>(request).await?;
            out.show(&done, |text| {
                writeln!(text, "Imported {} as {}", count_rows(done.rows), printable(&id).bold())?;
                writeln!(
                    text,
                    "Members who used another address continue with `autokit team move ID {server}`"
                )
            })?;
        }
        ServerCommand::Upgrade { team, token_hours, session_hours } => {
            let request = TeamUpgrade { team: team.ask()?, token_hours, session_hours };
            let id = request.team.id.clone();
            let done = library.call::<UpgradeTeam>(request).await?;
            out.show(&done, |text| writeln!(text, "Upgraded {}", printable(&id).bold()))?;
        }
        ServerCommand::Move { id, server, authorities } => {
            let request = TeamMove { id, server, authorities: read_authorities(authorities)? };
            let team = library.call::<MoveTeam>(request).await?;
            out.show(&team, |text| {
                writeln!(text, "{} is now at {}", printable(&team.name).bold(), printable(&team.server))
            })?;
        }
    }
    Ok(Outcome::Done)
}

fn count_rows(rows: u64) -> String {
    count(rows, "row")
}
