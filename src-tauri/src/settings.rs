//! Settings of the window on this computer: they are about its desktop, not about a library.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use autokit_api::paths;
use autokit_error::{ApiError, ErrorCode, Result};
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, State};
use tauri_plugin_autostart::ManagerExt as _;

use crate::quick;

/// Name of the file in AutoKit's configuration folder.
const FILE: &str = "desktop.json";

/// Where updates come from. Nothing is asked for while the address is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct UpdateSource {
    /// Address of the manifest, a static JSON file.
    pub(crate) address: String,
    /// Public key (minisign) with which updates must be signed.
    pub(crate) key: String,
}

/// What the person has chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct DesktopSettings {
    /// Closing the window keeps AutoKit running in the tray.
    pub(crate) close_to_tray: bool,
    /// Notify of calls that wait for approval and of corrections found by checks while the window is in the background.
    pub(crate) notifications: bool,
    /// Shortcut that opens the quick-ask window from any program, e.g. `Ctrl+Alt+Space`; empty for none.
    pub(crate) quick_ask: String,
    /// Where updates come from.
    pub(crate) updates: UpdateSource,
    /// Id of the team whose library is open, by the folder of the person's own library; none where that is open.
    pub(crate) teams: BTreeMap<String, String>,
}

impl Default for DesktopSettings {
    fn default() -> DesktopSettings {
        DesktopSettings {
            close_to_tray: false,
            notifications: true,
            quick_ask: String::new(),
            updates: UpdateSource::default(),
            teams: BTreeMap::new(),
        }
    }
}

/// The settings as the frontend sees them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DesktopView {
    #[serde(flatten)]
    settings: DesktopSettings,
    /// Start AutoKit in the tray when the person logs in. Stored by the system.
    launch_at_login: bool,
}

/// Settings to change; the others stay as they are.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct DesktopChange {
    close_to_tray: Option<bool>,
    notifications: Option<bool>,
    launch_at_login: Option<bool>,
    quick_ask: Option<String>,
    updates: Option<UpdateSourceChange>,
}

/// Parts of the source of updates to change.
#[derive(Clone, Debug, Default, Deserialize)]
struct UpdateSourceChange {
    address: Option<String>,
    key: Option<String>,
}

/// The settings of this process and where they are stored.
pub(crate) struct Desktop {
    file: PathBuf,
    settings: Mutex<DesktopSettings>,
}

impl Desktop {
    /// Reads the settings. An unreadable file is reported and replaced at the next change.
    pub(crate) fn load() -> Desktop {
        let file = paths::config_dir().join(FILE);
        let settings = read(&file).unwrap_or_else(|error| {
            tracing::error!(%error, file = %file.display(), "failed to read the settings of the window");
            DesktopSettings::default()
        });
        Desktop { file, settings: Mutex::new(settings) }
    }

    pub(crate) fn settings(&self) -> DesktopSettings {
        self.settings.lock().expect("no holder panics").clone()
    }

    /// Applies a change to what is stored by now: windows of other libraries share the file.
    fn changed(&self, change: &DesktopChange) -> std::io::Result<DesktopSettings> {
        let now = read(&self.file)?;
        let updates = change.updates.clone().unwrap_or_default();
        Ok(DesktopSettings {
            close_to_tray: change.close_to_tray.unwrap_or(now.close_to_tray),
            notifications: change.notifications.unwrap_or(now.notifications),
            quick_ask: change.quick_ask.clone().unwrap_or(now.quick_ask),
            updates: UpdateSource {
                address: updates.address.unwrap_or(now.updates.address),
                key: updates.key.unwrap_or(now.updates.key),
            },
            teams: now.teams,
        })
    }

    /// Returns the team whose library is open of a person whose own library is in this folder.
    pub(crate) fn team(&self, folder: &Path) -> Option<String> {
        self.settings().teams.remove(&folder.display().to_string())
    }

    /// Stores which team's library is open of a person whose own library is in this folder; `None` for their own.
    ///
    /// # Errors
    /// If the settings cannot be read or written.
    pub(crate) fn set_team(&self, folder: &Path, team: Option<String>) -> Result<()> {
        let folder = folder.display().to_string();
        let set = || {
            let mut settings = read(&self.file)?;
            match team {
                Some(team) => settings.teams.insert(folder, team),
                None => settings.teams.remove(&folder),
            };
            self.store(&settings)
        };
        set().map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &std::io::Error) -> ApiError {
        let message = format!("{}: {error}", self.file.display());
        ApiError::new(
            ErrorCode::Internal,
            message,
            "Check that the folder can be written to, then try again.",
        )
    }

    fn store(&self, settings: &DesktopSettings) -> std::io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec_pretty(settings)?)?;
        file.as_file().sync_all()?;
        file.persist(&self.file)?;
        *self.settings.lock().expect("no holder panics") = settings.clone();
        Ok(())
    }
}

fn read(file: &Path) -> std::io::Result<DesktopSettings> {
    match std::fs::read(file) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(DesktopSettings::default()),
        Err(error) => Err(error),
    }
}

/// Returns the settings of the window.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the state by value")]
pub(crate) fn desktop_get(app: AppHandle, desktop: State<'_, Desktop>) -> Result<DesktopView> {
    view(&app, desktop.settings())
}

fn view(app: &AppHandle, settings: DesktopSettings) -> Result<DesktopView> {
    let launch_at_login = app.autolaunch().is_enabled().map_err(|error| {
        let message = format!("couldn't read whether AutoKit starts at login: {error}");
        ApiError::new(ErrorCode::Internal, message, "Check the login items of your desktop.")
    })?;
    Ok(DesktopView { settings, launch_at_login })
}

/// Changes settings of the window, with immediate effect.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the state by value")]
pub(crate) fn desktop_set(
    app: AppHandle,
    desktop: State<'_, Desktop>,
    change: DesktopChange,
) -> Result<DesktopView> {
    let unwritable = |error: std::io::Error| desktop.unwritable(&error);
    if let Some(launch_at_login) = change.launch_at_login {
        let manager = app.autolaunch();
        let changed = if launch_at_login { manager.enable() } else { manager.disable() };
        changed.map_err(|error| {
            let message = format!("couldn't change whether AutoKit starts at login: {error}");
            ApiError::new(
                ErrorCode::Internal,
                message,
                "Add AutoKit to the login items of your desktop yourself.",
            )
        })?;
    }
    let before = desktop.settings().quick_ask;
    let settings = desktop.changed(&change).map_err(unwritable)?;
    // The shortcut before goes only once the new one works and is stored.
    let is_new = settings.quick_ask != before;
    if is_new {
        quick::register(&app, &settings.quick_ask)?;
    }
    if let Err(error) = desktop.store(&settings) {
        if is_new {
            quick::unregister(&app, &settings.quick_ask);
        }
        return Err(unwritable(error));
    }
    if is_new {
        quick::unregister(&app, &before);
    }
    view(&app, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_a_restart_and_unknown_or_missing_fields() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("deep").join(FILE);
        assert_eq!(read(&file).expect("none yet"), DesktopSettings::default());
        let desktop = Desktop { file: file.clone(), settings: Mutex::default() };
        let chosen =
            DesktopSettings { close_to_tray: true, quick_ask: "Ctrl+Alt+Space".into(), ..Default::default() };
        desktop.store(&chosen).expect("stored");
        assert_eq!((read(&file).expect("stored"), desktop.settings()), (chosen.clone(), chosen));
        let change = DesktopChange { notifications: Some(false), ..Default::default() };
        let other = Desktop { file: file.clone(), settings: Mutex::default() };
        let changed = other.changed(&change).expect("readable");
        assert_eq!(changed, DesktopSettings { notifications: false, ..read(&file).expect("stored") });
        std::fs::write(&file, r#"{ "notifications": false, "later": 1 }"#).expect("written");
        let read_again = read(&file).expect("readable");
        assert_eq!(read_again, DesktopSettings { notifications: false, ..Default::default() });
        let (mine, yours) = (Path::new("/mine"), Path::new("/yours"));
        other.set_team(mine, Some("kitchen".into())).expect("stored");
        let again = Desktop { file: file.clone(), settings: Mutex::new(read(&file).expect("stored")) };
        assert_eq!((again.team(mine).as_deref(), again.team(yours)), (Some("kitchen"), None));
        again.set_team(mine, None).expect("stored");
        assert_eq!(again.team(mine), None);
        std::fs::write(&file, "{").expect("written");
        assert!(read(&file).is_err());
    }
}
