//! The folders of replicas: `teams/<id>/` in a person's data directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autokit_api::TeamEntry;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::DataDir;
use autokit_sync::Membership;
use autokit_team::Address;
use autokit_workspace::secrets::{KeyStorage, Secrets, name_for};
use serde::{Deserialize, Serialize};

/// Name of the folder of replicas.
const TEAMS: &str = "teams";
/// Name of the file beside a replica that says what it is a replica of.
const FILE: &str = "team.json";

/// What a replica is a replica of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TeamFile {
    /// The team's name.
    pub(crate) name: String,
    pub(crate) server: String,
    /// PEM text of the authorities trusted to name the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) authorities: Option<String>,
    pub(crate) database: String,
    pub(crate) member: String,
    /// Where the member's password is.
    pub(crate) keys: KeyStorage,
}

impl TeamFile {
    pub(crate) fn address(&self) -> Address {
        Address::Server { url: self.server.clone(), authorities: self.authorities.clone() }
    }

    /// The name under which the password is stored.
    pub(crate) fn secret(&self) -> String {
        name_for("team", &format!("{}\n{}\n{}", self.server, self.database, self.member))
    }

    /// Returns how to sign in; `None` if the password is not on this machine.
    pub(crate) async fn membership(&self, config_dir: &Path) -> Result<Option<Membership>> {
        let password = Secrets::open(self.keys, config_dir).get(&self.secret()).await?;
        Ok(password.map(|password| Membership {
            address: self.address(),
            database: self.database.clone(),
            name: self.member.clone(),
            password: password.expose().to_owned(),
        }))
    }

    pub(crate) fn entry(&self, folder: &Path) -> TeamEntry {
        TeamEntry {
            id: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            name: self.name.clone(),
            server: self.server.clone(),
            member: self.member.clone(),
            folder: folder.display().to_string(),
        }
    }
}

/// Returns the person's data directory, given it or that of a replica in it.
pub fn personal(data_dir: &Path) -> &Path {
    let above = data_dir.parent().filter(|teams| teams.ends_with(TEAMS)).and_then(Path::parent);
    above.filter(|_| data_dir.join(FILE).is_file()).unwrap_or(data_dir)
}

/// Returns the folder of a replica.
pub fn of_team(data_dir: &Path, id: &str) -> PathBuf {
    personal(data_dir).join(TEAMS).join(id)
}

/// Returns the folder of a team's replica on this machine.
///
/// # Errors
/// `not_found`.
pub fn find(data_dir: &Path, id: &str) -> Result<PathBuf> {
    let is_plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let folder = of_team(data_dir, id);
    if is_plain && folder.join(FILE).is_file() {
        return Ok(folder);
    }
    let names: Vec<String> = all(data_dir)?.into_iter().map(|(entry, _)| entry.id).collect();
    let remedy = if names.is_empty() {
        "Join a team with an invitation link.".to_owned()
    } else {
        format!("Choose one of: {}.", names.join(", "))
    };
    Err(ApiError::new(ErrorCode::NotFound, format!("there is no team {id:?} on this machine"), remedy))
}

/// Reads what the library in a folder is a replica of; `None` for a person's own.
pub(crate) fn read(folder: &Path) -> Result<Option<TeamFile>> {
    let path = folder.join(FILE);
    let kind = match fs::metadata(&path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&path, &error)),
    };
    // Reading a pipe would wait for whoever writes into it.
    if !kind.is_file() {
        return Err(damaged(&path, &"it is not a file"));
    }
    let text = fs::read(&path).map_err(|error| failed(&path, &error))?;
    serde_json::from_slice(&text).map(Some).map_err(|error| damaged(&path, &error))
}

/// A folder of a replica: its name, and the team it is a replica of or why that cannot be read.
pub type ReplicaFolder = (String, Result<TeamEntry>);

/// Returns the folders of a person's replicas by name, given their data directory or that of a replica in it.
///
/// # Errors
/// If the folders cannot be listed.
pub fn list(data_dir: &Path) -> Result<Vec<ReplicaFolder>> {
    let found = each(data_dir)?.into_iter();
    Ok(found.map(|(name, file)| (name, file.map(|(entry, _)| entry))).collect())
}

/// Whether a folder still is one of a replica or of a library that was opened before.
pub fn is_library(folder: &Path) -> bool {
    folder.join(FILE).is_file() || has_library(folder)
}

/// Whether a library was ever opened in a data directory.
pub fn has_library(data_dir: &Path) -> bool {
    DataDir::new(data_dir).store().exists()
}

/// Lists the teams of a person by id. One whose file is damaged is none; the log says why.
pub(crate) fn all(data_dir: &Path) -> Result<Vec<(TeamEntry, TeamFile)>> {
    let good = |(name, file): (String, Result<(TeamEntry, TeamFile)>)| {
        file.inspect_err(|error| tracing::warn!(name, %error, "a team's folder cannot be read")).ok()
    };
    Ok(each(data_dir)?.into_iter().filter_map(good).collect())
}

type EachFolder = (String, Result<(TeamEntry, TeamFile)>);

/// Reads each folder of a replica, by name.
fn each(data_dir: &Path) -> Result<Vec<EachFolder>> {
    let folder = personal(data_dir).join(TEAMS);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&folder, &error)),
    };
    let mut teams = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(&folder, &error))?.path();
        // Such as what a file manager leaves there.
        if !path.is_dir() {
            continue;
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match read(&path) {
            Ok(Some(file)) => teams.push((name, Ok((file.entry(&path), file)))),
            Ok(None) => {}
            Err(error) => teams.push((name, Err(error))),
        }
    }
    teams.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(teams)
}

/// Makes the folder of a replica; one for a team of this name at another server gets a number.
pub(crate) fn create(data_dir: &Path, file: &TeamFile) -> Result<TeamEntry> {
    let mut number = 1_u32;
    let folder = loop {
        let id = if number == 1 { file.database.clone() } else { format!("{}-{number}", file.database) };
        let folder = of_team(data_dir, &id);
        if !folder.exists() {
            break folder;
        }
        number += 1;
    };
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    write(&folder, file)?;
    Ok(file.entry(&folder))
}

/// Writes what the library in a folder is a replica of.
pub(crate) fn write(folder: &Path, file: &TeamFile) -> Result<()> {
    let path = folder.join(FILE);
    let partial = folder.join(format!("{FILE}.partial"));
    let text = serde_json::to_string_pretty(file).map_err(|error| failed(&path, &error))?;
    fs::write(&partial, text)
        .and_then(|()| fs::rename(&partial, &path))
        .map_err(|error| failed(&path, &error))
}

/// Removes the folder of a replica.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    fs::remove_dir_all(folder).map_err(|error| failed(folder, &error))
}

fn damaged(path: &Path, error: &dyn std::fmt::Display) -> ApiError {
    ApiError::new(
        ErrorCode::Damaged,
        format!("{} is damaged: {error}", path.display()),
        "Move the folder away, and join the team again with an invitation link.",
    )
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> ApiError {
    ApiError::new(
        ErrorCode::ReadOnly,
        format!("{}: {error}", path.display()),
        "Check that the folder exists and may be read and written.",
    )
}
