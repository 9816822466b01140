//! Where things live when nobody says otherwise.

use std::env;
use std::path::PathBuf;

/// The person's data directory for AutoKit.
///
/// `AUTOKIT_DATA_DIR`, else the platform's place for an application's data.
pub fn data_dir() -> PathBuf {
    env::var_os("AUTOKIT_DATA_DIR").map_or_else(|| data_home().join("autokit").join("library"), PathBuf::from)
}

/// Models are kept for the person, not for a library: several libraries share them.
///
/// `AUTOKIT_MODELS_DIR`, else the platform's place for an application's data.
pub fn models_dir() -> PathBuf {
    env::var_os("AUTOKIT_MODELS_DIR")
        .map_or_else(|| data_home().join("autokit").join("models"), PathBuf::from)
}

/// Settings and keys are the person's too, and lie apart from the library: one that is copied or sent
/// takes no keys along.
///
/// `AUTOKIT_CONFIG_DIR`, else the platform's place for an application's configuration.
pub fn config_dir() -> PathBuf {
    env::var_os("AUTOKIT_CONFIG_DIR").map_or_else(|| config_home().join("autokit"), PathBuf::from)
}

fn data_home() -> PathBuf {
    home_for("XDG_DATA_HOME", &[".local", "share"])
}

/// Where programs keep their settings.
pub fn config_home() -> PathBuf {
    home_for("XDG_CONFIG_HOME", &[".config"])
}

/// The person's own folder.
pub fn home() -> PathBuf {
    env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map_or_else(|| ".".into(), PathBuf::from)
}

/// macOS and Windows have one place for both; elsewhere XDG's variable or its default below the home.
fn home_for(xdg: &str, below_home: &[&str]) -> PathBuf {
    if cfg!(target_os = "macos") {
        home().join("Library").join("Application Support")
    } else if cfg!(windows) {
        env::var_os("APPDATA").map_or_else(|| home().join("AppData").join("Roaming"), PathBuf::from)
    } else {
        env::var_os(xdg)
            .map(PathBuf::from)
            // The XDG specification tells to ignore a path that is not absolute.
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| below_home.iter().fold(home(), |path, part| path.join(part)))
    }
}
