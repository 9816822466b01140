//! `cargo xtask run`: from a fresh checkout to an answered question.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::freshness;
use crate::setup;
use crate::shell::{binary, cargo, command, exec, print_line, step};

/// The question that is answered for a newcomer when there is no display.
const SAMPLE: &str = "I want a tool that can integrate with my google calendar";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Store the library in this folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Build with all optimisations (slower build, faster database).
    #[arg(long)]
    release: bool,
    /// Answer in the terminal even if there is a display.
    #[arg(long)]
    terminal: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let display = !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
    let window = display && !options.terminal;
    if !window {
        print_line(if display {
            "The window was not asked for."
        } else {
            "There is no display here: the question is asked in the terminal."
        });
    }
    if window {
        setup::system_packages(false)?;
        setup::ui_packages()?;
        setup::build_ui()?;
    }
    freshness::restore()?;
    setup::build_cli(options.release)?;
    setup::model()?;
    let mut arguments = vec!["--starter".to_owned()];
    if let Some(dir) = &options.data_dir {
        arguments.extend(["--data-dir".to_owned(), dir.display().to_string()]);
    }
    if window {
        step("The window", "See the compiler's messages above.", || {
            let mut build = cargo(&["build", "--package", "autokit-desktop"]);
            if options.release {
                build.arg("--release");
            }
            exec(&mut build)
        })?;
        print_line("Opening the window.");
        return exec(command(binary("autokit-desktop", options.release)).args(&arguments));
    }
    print_line(&format!("$ autokit ask \"{SAMPLE}\""));
    exec(command(binary("autokit", options.release)).args(&arguments).args(["ask", SAMPLE]))
}
