//! Settings of the window on this computer: they are about its desktop, not about a library.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use autokit_app::{ApiError, ErrorCode, Result, paths};
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager, State};
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
    /// Start AutoKit in the tray when the person logs in. Stored by the system.
    #[serde(skip_deserializing)]
    pub(crate) launch_at_login: bool,
    /// Shortcut that opens the quick-ask window from any program, e.g. `Ctrl+Alt+Space`; empty for none.
    pub(crate) quick_ask: String,
    /// Where updates come from.
    pub(crate) updates: UpdateSource,
}

impl Default for DesktopSettings {
    fn default() -> DesktopSettings {
        DesktopSettings {
            close_to_tray: false,
            notifications: true,
            launch_at_login: false,
            quick_ask: String::new(),
            updates: UpdateSource::default(),
        }
    }
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
pub(crate) fn desktop_get(app: AppHandle, desktop: State<'_, Desktop>) -> Result<DesktopSettings> {
    let launch_at_login = app.autolaunch().is_enabled().map_err(|error| {
        let message = format!("couldn't read whether AutoKit starts at login: {error}");
        ApiError::new(ErrorCode::Internal, message, "Check the login items of your desktop.")
    })?;
    Ok(DesktopSettings { launch_at_login, ..desktop.settings() })
}

/// Changes the settings of the window, with immediate effect.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the state by value")]
pub(crate) fn desktop_set(
    app: AppHandle,
    desktop: State<'_, Desktop>,
    settings: DesktopSettings,
    launch_at_login: bool,
) -> Result<DesktopSettings> {
    let before = desktop_get(app.clone(), app.state())?;
    if settings.quick_ask != before.quick_ask {
        quick::register(&app, &settings.quick_ask)?;
    }
    if launch_at_login != before.launch_at_login {
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
    desktop.store(&settings).map_err(|error| {
        let message = format!("{}: {error}", desktop.file.display());
        ApiError::new(
            ErrorCode::Internal,
            message,
            "Check that the folder can be written to, then try again.",
        )
    })?;
    Ok(DesktopSettings { launch_at_login, ..settings })
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
        std::fs::write(&file, r#"{ "notifications": false, "later": 1 }"#).expect("written");
        let read_again = read(&file).expect("readable");
        assert_eq!(read_again, DesktopSettings { notifications: false, ..Default::default() });
        std::fs::write(&file, "{").expect("written");
        assert!(read(&file).is_err());
    }
}
