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

fn data_home() -> PathBuf {
    let home = || {
        env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map_or_else(|| ".".into(), PathBuf::from)
    };
    if cfg!(target_os = "macos") {
        home().join("Library").join("Application Support")
    } else if cfg!(windows) {
        env::var_os("APPDATA").map_or_else(|| home().join("AppData").join("Roaming"), PathBuf::from)
    } else {
        env::var_os("XDG_DATA_HOME")
            .map(PathBuf::from)
            // The XDG specification tells to ignore a path that is not absolute.
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| home().join(".local").join("share"))
    }
}
