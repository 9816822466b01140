//! Default folders.

use std::env;
use std::path::PathBuf;

/// Returns the person's data directory for AutoKit.
///
/// `AUTOKIT_DATA_DIR`, or else in the platform's directory for application data.
pub fn data_dir() -> PathBuf {
    env::var_os("AUTOKIT_DATA_DIR").map_or_else(|| data_home().join("autokit").join("library"), PathBuf::from)
}

/// Returns the directory of downloaded models. It belongs to the person, so that several libraries share
/// it.
///
/// `AUTOKIT_MODELS_DIR`, or else in the platform's directory for application data.
pub fn models_dir() -> PathBuf {
    env::var_os("AUTOKIT_MODELS_DIR")
        .map_or_else(|| data_home().join("autokit").join("models"), PathBuf::from)
}

/// Returns the directory of settings and keys. It is separate from the library, so that a library that is
/// copied or sent contains no keys.
///
/// `AUTOKIT_CONFIG_DIR`, or else in the platform's directory for application configuration.
pub fn config_dir() -> PathBuf {
    env::var_os("AUTOKIT_CONFIG_DIR").map_or_else(|| config_home().join("autokit"), PathBuf::from)
}

fn data_home() -> PathBuf {
    home_for("XDG_DATA_HOME", &[".local", "share"])
}

/// Returns the platform's directory for application configuration.
pub fn config_home() -> PathBuf {
    home_for("XDG_CONFIG_HOME", &[".config"])
}

/// Returns the home directory.
pub fn home() -> PathBuf {
    env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map_or_else(|| ".".into(), PathBuf::from)
}

/// macOS and Windows use one directory for both; elsewhere it is the XDG variable, or its default in the
/// home directory.
fn home_for(xdg: &str, below_home: &[&str]) -> PathBuf {
    if cfg!(target_os = "macos") {
        home().join("Library").join("Application Support")
    } else if cfg!(windows) {
        env::var_os("APPDATA").map_or_else(|| home().join("AppData").join("Roaming"), PathBuf::from)
    } else {
        env::var_os(xdg)
            .map(PathBuf::from)
            // The XDG specification says to ignore relative paths.
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| below_home.iter().fold(home(), |path, part| path.join(part)))
    }
}
