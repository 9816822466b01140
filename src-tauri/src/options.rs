//! Command-line options.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use autokit_api::paths;

use crate::engine::EngineCommand;

/// The AutoKit window.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "autokit-desktop", version)]
pub(crate) struct Options {
    /// Keep the library in this folder (a new folder is an empty library).
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Load the starter cards if the library is new.
    #[arg(long, hide = true)]
    starter: bool,
    /// Use the default model from this folder instead of the store of models.
    #[arg(long, value_name = "DIR", env = "AUTOKIT_MODEL_FOLDER")]
    model_folder: Option<PathBuf>,
    /// Start in the tray, without showing the window.
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Links or files that were opened: `autokit://import?url=…` and a bundle show what an import would do.
    #[arg(value_name = "LINK")]
    pub(crate) links: Vec<String>,
}

impl Options {
    /// Returns whether the default library is opened, which has only one window.
    pub(crate) fn is_own_library(&self) -> bool {
        self.data_dir.is_none()
    }

    /// Returns the folder of the person's own library.
    pub(crate) fn data_dir(&self) -> PathBuf {
        let folder = self.data_dir.clone().unwrap_or_else(paths::data_dir);
        std::path::absolute(&folder).unwrap_or(folder)
    }

    /// Returns the arguments that name the folders that were chosen.
    pub(crate) fn folders(&self) -> Vec<OsString> {
        [("--data-dir", &self.data_dir), ("--model-folder", &self.model_folder)]
            .into_iter()
            .filter_map(|(option, folder)| Some([option.into(), folder.clone()?.into_os_string()]))
            .flatten()
            .collect()
    }

    /// Returns how the engine is started: on the library of this team, or on the person's own.
    ///
    /// # Errors
    /// If the system does not say where this program is.
    pub(crate) fn engine(&self, team: Option<&str>) -> io::Result<EngineCommand> {
        let program = terminal_program()?;
        let mut arguments = self.folders();
        match team {
            Some(team) => arguments.push(format!("--team={team}").into()),
            // A team's library has the cards of the team.
            None if self.starter => arguments.push("--starter".into()),
            None => {}
        }
        Ok(EngineCommand { program, arguments })
    }
}

/// Returns the program of the terminal and of the engine, which is installed beside this one.
fn terminal_program() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(format!("autokit{}", std::env::consts::EXE_SUFFIX)))
}

/// Becomes the terminal program if the first argument is `terminal`: an AppImage is one file, and agents start
/// `AutoKit.AppImage terminal mcp`.
///
/// # Errors
/// If the program cannot be started.
#[cfg(target_os = "linux")]
pub(crate) fn run_terminal_if_asked() -> io::Result<()> {
    use std::os::unix::process::CommandExt as _;

    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != "terminal") {
        return Ok(());
    }
    Err(std::process::Command::new(terminal_program()?).args(arguments).exec())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::Options;

    #[test]
    fn only_the_folders_are_kept_for_a_restart() {
        let given =
            ["autokit-desktop", "--hidden", "--data-dir", "/library", "autokit://import?url=x", "--starter"];
        let options = Options::parse_from(given);
        assert_eq!(options.folders(), ["--data-dir", "/library"]);
        assert!(Options::parse_from(["autokit-desktop", "--hidden"]).folders().is_empty());
    }
}
