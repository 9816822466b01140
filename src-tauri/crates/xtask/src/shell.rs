//! Runs other programs, reports progress, and knows where things are.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Prints a line for the user.
#[allow(clippy::print_stderr, reason = "the one place where this program talks")]
pub(crate) fn print_line(line: &str) {
    eprintln!("{line}");
}

/// The announced steps that are not done yet.
static REMAINING: Mutex<Vec<&str>> = Mutex::new(Vec::new());

/// Announces steps, so that each can report how many are left when it is done.
pub(crate) fn announce(steps: &[&'static str]) {
    print_line(&format!("{} steps: {}", steps.len(), steps.join(", ")));
    *REMAINING.lock().expect("no holder panics") = steps.to_vec();
}

/// Formats the end of a step for the line that reports it.
fn done(name: &str, took: Duration, suffix: &str) -> String {
    let mut remaining = REMAINING.lock().expect("no holder panics");
    let announced = remaining.len();
    remaining.retain(|step| *step != name);
    let more =
        if remaining.len() < announced { format!(", {} left", remaining.len()) } else { String::new() };
    format!("✓ {name} ({:.1} s{suffix}){more}", took.as_secs_f64())
}

/// Runs a step with a line before it and its duration after it; an error names the step and a remedy.
pub(crate) fn step<T>(name: &str, remedy: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    print_line(&format!("▸ {name}"));
    let began = Instant::now();
    match work() {
        Ok(given) => {
            print_line(&done(name, began.elapsed(), ""));
            Ok(given)
        }
        Err(error) => Err(error.context(format!("{name} failed\n  → {remedy}\n  because"))),
    }
}

/// Runs a step beside others. Only its end is reported, so that other output is not mistaken for that of this
/// step.
pub(crate) fn quiet_step(name: &str, remedy: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let began = Instant::now();
    work().with_context(|| format!("{name} failed\n  → {remedy}\n  because"))?;
    print_line(&done(name, began.elapsed(), ", beside"));
    Ok(())
}

/// The root of the checkout. Cargo passes it at each start; the path known at compile time may be that of
/// another checkout that shares the target directory.
pub(crate) fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let manifest = PathBuf::from(manifest);
    manifest.ancestors().nth(3).unwrap_or(&manifest).to_owned()
}

/// AutoKit's own cache, outside the checkout, so that compiled dependencies and tools survive a new clone.
pub(crate) fn cache() -> PathBuf {
    let home = || env::var_os("HOME").map_or_else(|| PathBuf::from("."), PathBuf::from);
    env::var_os("XDG_CACHE_HOME").map_or_else(|| home().join(".cache"), PathBuf::from).join("autokit")
}

/// The target directory of cargo.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| cache().join("target"), PathBuf::from)
}

/// The path of a built program.
pub(crate) fn binary(name: &str, release: bool) -> PathBuf {
    let profile = if release { "release" } else { "debug" };
    target().join(profile).join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// The path of a tool installed by setup.
pub(crate) fn tool(name: &str) -> PathBuf {
    cache().join("tools").join("bin").join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// A command that runs in the checkout.
///
/// The variables with which cargo describes *this* package are removed: `ring`'s build script looks at the
/// same variables, so a `cargo build` run by hand and one run from here would each consider it outdated, and
/// with it SurrealDB.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// A cargo command with the shared target directory.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).env("CARGO_TARGET_DIR", target());
    command
}

/// An npm command in `ui/`.
pub(crate) fn npm(arguments: &[&str]) -> Command {
    let mut command = command(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.args(arguments).current_dir(root().join("ui"));
    command
}

/// Runs a command to completion; its output goes to the user.
pub(crate) fn exec(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command.status().with_context(|| format!("`{shown}` could not be started"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

/// Runs a command to completion; its output is shown only if it fails.
pub(crate) fn exec_quietly(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("`{shown}` could not be started"))?;
    if !output.status.success() {
        print_line(String::from_utf8_lossy(&output.stdout).trim_end());
        print_line(String::from_utf8_lossy(&output.stderr).trim_end());
        bail!("`{shown}` ended with {}", output.status);
    }
    Ok(())
}

/// Runs a command to completion and returns what it printed.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{shown}` could not be started"))?;
    if !output.status.success() {
        bail!("`{shown}` ended with {}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command runs successfully. Its output is discarded.
pub(crate) fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// The command line, for messages.
pub(crate) fn show(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}
