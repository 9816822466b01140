//! What whoever runs the server does with a team: export, import, upgrade.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use autokit_api::commands::{Context, ExportTeam, Handle, ImportTeam, UpgradeTeam};
use autokit_api::{Nothing, TeamFileOutcome, TeamFileRequest, TeamServer, TeamUpgrade};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_team::{Address, Connection, Credentials, Lifetimes, Owner};

use crate::teams::Teams;

/// How long one statement may take: an index over many rows is made in one.
const PATIENCE: Duration = Duration::from_hours(1);

async fn owner(team: TeamServer) -> Result<Owner> {
    let address = Address::Server { url: team.server, authorities: team.authorities };
    let connection = Connection::open(&address, None).await?.with_patience(PATIENCE);
    let credentials = Credentials { user: team.owner, password: team.owner_password };
    Ok(Owner::sign_in(&connection, &credentials, &team.id).await?)
}

fn failed(path: &Path, error: &std::io::Error) -> ApiError {
    ApiError::new(
        ErrorCode::UnreadableFile,
        format!("{}: {error}", path.display()),
        "Name a file that you may read and write, in a folder that exists.",
    )
}

/// Opens a new file that only this person reads: it has everybody's hashed password.
fn create(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[async_trait]
impl Handle<ExportTeam> for Teams {
    async fn handle(&self, _: &Context, request: TeamFileRequest) -> Result<TeamFileOutcome> {
        let path = PathBuf::from(&request.path);
        if path.exists() {
            let message = format!("{} exists already", path.display());
            return Err(ApiError::new(ErrorCode::Duplicate, message, "Choose another name."));
        }
        let owner = owner(request.team).await?;
        let mut partial = path.clone().into_os_string();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let mut out = BufWriter::new(create(&partial).map_err(|error| failed(&partial, &error))?);
        let outcome = owner.export(&mut out).await;
        let kept = outcome.map_err(ApiError::from).and_then(|rows| {
            out.flush()
                .and_then(|()| out.get_ref().sync_all())
                .and_then(|()| std::fs::rename(&partial, &path))
                .map_err(|error| failed(&path, &error))?;
            Ok(rows)
        });
        if kept.is_err() {
            // What is not whole is of no use; that it cannot be removed says less than why.
            let _ = std::fs::remove_file(&partial);
        }
        Ok(TeamFileOutcome { path: request.path, rows: kept? })
    }
}

#[async_trait]
impl Handle<ImportTeam> for Teams {
    async fn handle(&self, _: &Context, request: TeamFileRequest) -> Result<TeamFileOutcome> {
        let path = PathBuf::from(&request.path);
        let mut lines = BufReader::new(File::open(&path).map_err(|error| failed(&path, &error))?);
        let rows = owner(request.team).await?.import(&mut lines).await?;
        Ok(TeamFileOutcome { path: request.path, rows })
    }
}

#[async_trait]
impl Handle<UpgradeTeam> for Teams {
    async fn handle(&self, _: &Context, request: TeamUpgrade) -> Result<Nothing> {
        let owner = owner(request.team).await?;
        let lifetimes = match (request.token_hours, request.session_hours) {
            (None, None) => None,
            (token_hours, session_hours) => {
                let before = owner.lifetimes().await?;
                Some(Lifetimes {
                    token_hours: token_hours.unwrap_or(before.token_hours),
                    session_hours: session_hours.unwrap_or(before.session_hours),
                })
            }
        };
        owner.upgrade(lifetimes).await?;
        Ok(Nothing {})
    }
}
