//! AutoKit in the settings of agent programs (MCP clients): inspected, and changed when a person asks for
//! it.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use autokit_api::commands::{ConnectAgent, Context, DisconnectAgent, Handle, ListClients};
use autokit_api::paths;
use autokit_api::{AgentClient, ChangedLine, ClientConnected, ConnectClient, LineChange, Nothing};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::clients::{Client, Folders, LaunchCommand};
use autokit_toolcard::Timestamp;
use autokit_workspace::background::in_background;
use autokit_workspace::workspace::Workspace;
use sha2::{Digest as _, Sha256};

/// Most bytes of a settings file; a larger file is something else.
const MAX_SETTINGS_BYTES: u64 = 16 << 20;

/// The agent programs on this machine.
#[derive(Debug)]
pub struct Clients {
    workspace: Workspace,
}

impl Clients {
    /// Programs will be configured to start AutoKit with this library.
    pub fn new(workspace: Workspace) -> Clients {
        Clients { workspace }
    }

    /// Returns the command with which an agent program starts AutoKit for this library.
    fn launch_command(&self) -> Result<LaunchCommand> {
        let failed = |error: std::io::Error| ApiError::internal(format!("AutoKit's own path: {error}"));
        let executable = std::env::current_exe().map_err(failed)?;
        // Another program with an engine, such as a test, cannot serve agents.
        let command = executable.with_file_name(format!("autokit{}", std::env::consts::EXE_SUFFIX));
        if !command.is_file() {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                format!("no `autokit` command next to {}", executable.display()),
                "Install the command next to the desktop app.",
            ));
        }
        let LaunchCommand { command, mut args } = outside_mount(&command, |name| std::env::var_os(name));
        let root = self.workspace.library.dir().map(|dir| dir.root().to_owned());
        if let Some(root) = root.filter(|root| *root != paths::data_dir()) {
            args.extend(["--data-dir".to_owned(), root.display().to_string()]);
        }
        args.push("mcp".to_owned());
        Ok(LaunchCommand { command, args })
    }
}

/// Returns how to run `program` at any time. What lies in an AppImage is mounted only while that runs; the image itself,
/// with the argument `terminal`, is the program.
fn outside_mount(program: &Path, variable: impl Fn(&str) -> Option<OsString>) -> LaunchCommand {
    if let (Some(image), Some(mount)) = (variable("APPIMAGE"), variable("APPDIR"))
        && program.starts_with(&mount)
    {
        return LaunchCommand {
            command: PathBuf::from(image).display().to_string(),
            args: vec!["terminal".to_owned()],
        };
    }
    LaunchCommand { command: program.display().to_string(), args: Vec::new() }
}

/// Returns the folders in which agent programs keep their settings.
fn folders() -> Folders {
    Folders { home: paths::home(), config: paths::config_home() }
}

fn read(file: &Path) -> Result<Option<String>> {
    let failed = |error: std::io::Error| {
        ApiError::new(
            ErrorCode::UnreadableFile,
            format!("{}: {error}", file.display()),
            "Make it readable, or edit it yourself.",
        )
    };
    match std::fs::metadata(file) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_SETTINGS_BYTES => {
            std::fs::read_to_string(file).map(Some).map_err(failed)
        }
        Ok(_) => Err(failed(std::io::Error::other("it is not a settings file"))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// A program's settings file, and what it would become.
struct ClientPreview {
    before: Option<String>,
    after: std::result::Result<String, String>,
    /// The file without AutoKit; `None` if AutoKit is not in it.
    without: std::result::Result<Option<String>, String>,
}

fn preview(client: Client, folders: &Folders, launch: &LaunchCommand) -> ClientPreview {
    let file = client.file(folders);
    match read(&file) {
        Ok(before) => {
            let text = before.as_deref();
            let after = client.with_server(text, &file, launch).map_err(|error| error.to_string());
            let without =
                client.without_server(text.unwrap_or_default(), &file).map_err(|error| error.to_string());
            ClientPreview { before, after, without }
        }
        Err(error) => {
            let problem = error.sentence();
            ClientPreview { before: None, after: Err(problem.clone()), without: Err(problem) }
        }
    }
}

fn view(client: Client, folders: &Folders, launch: &LaunchCommand, preview: &ClientPreview) -> AgentClient {
    let ClientPreview { before, after, without } = preview;
    AgentClient {
        id: client.id(),
        name: client.name().to_owned(),
        file: client.file(folders).display().to_string(),
        here: client.is_installed(folders),
        connected: before.as_deref().is_some_and(|text| client.has_server(text, launch)),
        lines: client.snippet(launch),
        change: after.as_ref().ok().map(|after| change(before.as_deref().unwrap_or_default(), after)),
        leave: without
            .as_ref()
            .ok()
            .and_then(Option::as_ref)
            .map(|without| change(before.as_deref().unwrap_or_default(), without)),
        seen: digest(before.as_deref()),
        problem: after.as_ref().err().cloned(),
    }
}

fn digest(before: Option<&str>) -> String {
    before.map_or_else(String::new, |before| hex::encode(Sha256::digest(before)))
}

/// Returns the one range of lines in which two texts differ, with a few lines of context.
fn change(before: &str, after: &str) -> Vec<ChangedLine> {
    const CONTEXT_LINES: usize = 3;
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let remaining = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(remaining).take_while(|(a, b)| a == b).count();
    let line = |fate| move |text: &&str| ChangedLine { fate, text: (*text).to_owned() };
    let around_before = old[head.saturating_sub(CONTEXT_LINES)..head].iter().map(line(LineChange::Stays));
    let removed = old[head..old.len() - tail].iter().map(line(LineChange::Goes));
    let added = new[head..new.len() - tail].iter().map(line(LineChange::Comes));
    let around_after = old[old.len() - tail..].iter().take(CONTEXT_LINES).map(line(LineChange::Stays));
    around_before.chain(removed).chain(added).chain(around_after).collect()
}

/// Replaces the file atomically, with the permissions it had, and keeps a backup.
fn write(file: &Path, before: Option<&str>, after: &str, now: Timestamp) -> Result<Option<PathBuf>> {
    let failed = |error: std::io::Error| {
        ApiError::new(
            ErrorCode::ReadOnly,
            format!("{}: {error}", file.display()),
            "Make it writable, or edit it yourself.",
        )
    };
    // Through a symlink, the file it points to is replaced, not the link.
    let file = &std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let backup = before.map(|_| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        folder.join(format!("{name}.before-autokit-{}", now.to_string().replace(':', "-")))
    });
    if let Some(backup) = &backup {
        // Copied with its permissions, because the file may contain keys.
        std::fs::copy(file, backup).map_err(failed)?;
    }
    let mut partial = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    partial.write_all(after.as_bytes()).map_err(failed)?;
    if let Ok(metadata) = std::fs::metadata(file) {
        partial.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
    }
    partial.as_file().sync_all().map_err(failed)?;
    partial.persist(file).map_err(|error| failed(error.error))?;
    Ok(backup)
}

#[async_trait]
impl Handle<ListClients> for Clients {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<AgentClient>> {
        let launch = self.launch_command()?;
        in_background(move || {
            let folders = folders();
            let to_view = |client| view(client, &folders, &launch, &preview(client, &folders, &launch));
            Ok(Client::ALL.into_iter().map(to_view).collect())
        })
        .await
    }
}

impl Clients {
    /// Writes what was previewed to a program's settings file.
    async fn change_client(
        &self,
        request: ConnectClient,
        select: fn(ClientPreview) -> Result<(Option<String>, String)>,
    ) -> Result<ClientConnected> {
        let client = Client::parse(&request.id).ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                format!("unknown MCP client {:?}", request.id),
                "Check the list of MCP clients.",
            )
        })?;
        let (launch, at) = (self.launch_command()?, self.workspace.clock.stamp());
        in_background(move || {
            let folders = folders();
            let now = preview(client, &folders, &launch);
            let file = client.file(&folders);
            if digest(now.before.as_deref()) != request.seen {
                return Err(ApiError::new(
                    ErrorCode::Conflict,
                    format!("{} changed after the preview", file.display()),
                    "Review the change again.",
                ));
            }
            let (before, after) = select(now)?;
            let backup = write(&file, before.as_deref(), &after, at)?;
            let client = view(client, &folders, &launch, &preview(client, &folders, &launch));
            Ok(ClientConnected { client, backup: backup.map(|backup| backup.display().to_string()) })
        })
        .await
    }
}

#[async_trait]
impl Handle<ConnectAgent> for Clients {
    async fn handle(&self, _: &Context, request: ConnectClient) -> Result<ClientConnected> {
        let select = |now: ClientPreview| {
            let error = |problem| ApiError::new(ErrorCode::Invalid, problem, "Add the lines yourself.");
            Ok((now.before, now.after.map_err(error)?))
        };
        self.change_client(request, select).await
    }
}

#[async_trait]
impl Handle<DisconnectAgent> for Clients {
    async fn handle(&self, _: &Context, request: ConnectClient) -> Result<ClientConnected> {
        let select = |now: ClientPreview| {
            let error = |problem| ApiError::new(ErrorCode::Invalid, problem, "Remove the lines yourself.");
            let without = now.without.map_err(error)?;
            let missing = || {
                ApiError::new(
                    ErrorCode::NotFound,
                    "AutoKit is not configured in this MCP client",
                    "Check the list of MCP clients.",
                )
            };
            Ok((now.before, without.ok_or_else(missing)?))
        };
        self.change_client(request, select).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_start_an_app_image_by_the_image() {
        let launch = |program: &str, variables: &[(&str, &str)]| {
            outside_mount(Path::new(program), |name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
            })
        };
        let mounted = [("APPIMAGE", "/home/me/AutoKit.AppImage"), ("APPDIR", "/tmp/.mount_Auto")];
        let started = launch("/tmp/.mount_Auto/usr/bin/autokit", &mounted);
        assert_eq!(
            (started.command.as_str(), started.args),
            ("/home/me/AutoKit.AppImage", vec!["terminal".into()])
        );
        // Another program's image started this one.
        for (program, variables) in [("/usr/bin/autokit", &mounted[..]), ("/usr/bin/autokit", &[])] {
            let started = launch(program, variables);
            assert_eq!((started.command.as_str(), started.args.len()), ("/usr/bin/autokit", 0));
        }
    }
}
