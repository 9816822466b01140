//! `cargo xtask test`: all tests, from formatting to the real window; with `--ci`, dependency checks as well.

use std::env;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use crate::freshness;
use crate::quality;
use crate::setup;
use crate::shell::{
    announce, cargo, command, exec, exec_quietly, npm, print_line, quiet_step, read, root, step, tool,
};

const FORMATTING: &str = "Rust formatting";
const LINTS: &str = "Rust lints";
const STRUCTURE: &str = "Size of crates, circles of imports";
const LICENCES: &str = "Licences and sources";
const FEATURES: &str = "One feature set";
const UNUSED: &str = "No unused dependencies";
const COMPILED: &str = "Everything compiled";
const PAGES_LINT: &str = "Window formatting and lints";
const COMPONENTS: &str = "Window types and components";
const UNIT_TESTS: &str = "Window unit tests";
const BINDINGS_MATCH: &str = "Window types match the commands";
const RUST_TESTS: &str = "Rust tests";
const LONG_TESTS: &str = "Long Rust tests";
const DISK_TESTS: &str = "Full disks";
const KEYCHAIN: &str = "Keys in a real keychain";
const LARGE_LIBRARY: &str = "A large library";
const WINDOW: &str = "The real window";
const BROWSER: &str = "The window in a browser";

/// Path of the window's TypeScript bindings.
const BINDINGS: &str = "ui/src/lib/bindings.ts";
/// Folder of the README's screenshots.
const PICTURES: &str = ".github/pictures";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Skip formatting and lints.
    #[arg(long)]
    no_lints: bool,
    /// Skip the tests in a browser and in the real window.
    #[arg(long)]
    no_window: bool,
    /// Check dependencies as well (licences, sources, features, unused ones), which compiles three programs
    /// for it once. Also on if `CI` is set.
    #[arg(long)]
    ci: bool,
}

impl Options {
    fn ci(&self) -> bool {
        self.ci || env::var_os("CI").is_some()
    }

    /// The steps that will run, in addition to installing what is missing.
    fn steps(&self) -> Vec<&'static str> {
        let mut steps = Vec::new();
        if !self.no_lints {
            steps.extend([FORMATTING, STRUCTURE, LINTS, PAGES_LINT]);
        }
        if self.ci() {
            steps.extend([LICENCES, FEATURES, UNUSED]);
        }
        steps.extend([
            setup::PAGES,
            COMPILED,
            COMPONENTS,
            UNIT_TESTS,
            setup::MODEL,
            quality::QUALITY,
            BINDINGS_MATCH,
            RUST_TESTS,
            LONG_TESTS,
            DISK_TESTS,
        ]);
        steps.extend(crate::sdks::STEPS);
        if cfg!(target_os = "linux") {
            steps.push(KEYCHAIN);
        }
        if !self.no_window {
            steps.extend([LARGE_LIBRARY, WINDOW, BROWSER]);
        }
        steps
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    setup::system_packages(true)?;
    setup::ui_packages()?;
    if !options.no_window {
        setup::window_driver()?;
    }
    if options.ci() {
        setup::dependency_checkers()?;
    }
    freshness::restore()?;
    announce(&options.steps());
    // Much of the time the compiler works on a single large crate; the other checks run beside it.
    std::thread::scope(|scope| {
        let background = scope.spawn(|| background_checks(options));
        if !options.no_lints {
            lints()?;
        }
        setup::build_ui()?;
        step(COMPILED, "See the compiler's messages above.", || {
            exec(&mut cargo(&["build", "--workspace", "--all-targets"]))
        })?;
        background.join().map_err(|_| anyhow!("a check broke off"))?
    })?;
    freshness::record()?;
    setup::model()?;
    quality::check()?;
    step(BINDINGS_MATCH, "Run `cargo xtask bindings` and commit the result.", || {
        let written = fs::read_to_string(root().join(BINDINGS)).unwrap_or_default();
        if written != bindings()? {
            bail!("{BINDINGS} is not what the commands say");
        }
        Ok(())
    })?;
    step(
        RUST_TESTS,
        "See the failing test above; run it alone with `cargo test -p CRATE NAME`.",
        rust_tests,
    )?;
    crate::sdks::test()?;
    if cfg!(target_os = "linux") {
        step(KEYCHAIN, "See the failing test above, or what gnome-keyring says.", || {
            exec(&mut keychain_test())
        })?;
    }
    if !options.no_window {
        // The library of 100,000 cards is generated while the real window is tested.
        std::thread::scope(|scope| {
            let background = scope.spawn(|| {
                quiet_step(LARGE_LIBRARY, "See the message above.", || {
                    exec_quietly(&mut browser_tests(&["--", "--prepare"]))
                })
            });
            step(WINDOW, "See the message above; screenshots are in tests/artifacts.", window_tests)?;
            background.join().map_err(|_| anyhow!("making the library broke off"))?
        })?;
        step(BROWSER, "See playwright's messages above; screenshots are in tests/artifacts.", || {
            exec(&mut browser_tests(&[]))
        })?;
    }
    // The tests compile a few more things.
    freshness::record()?;
    print_line("All checks and tests passed.");
    if !options.ci() {
        print_line("Licences, the feature set and unused dependencies are checked with --ci.");
    }
    Ok(())
}

fn lints() -> Result<()> {
    step(FORMATTING, "Run `cargo fmt`.", || exec(&mut cargo(&["fmt", "--all", "--check"])))?;
    step(STRUCTURE, "See `cargo xtask structure --imports`.", crate::structure::check)?;
    step(LINTS, "Correct what clippy names above.", || {
        // The desktop crate embeds the pages; linting only needs the folder, not the pages themselves.
        fs::create_dir_all(root().join("ui/dist")).context("ui/dist cannot be made")?;
        exec(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    })
}

/// Runs all checks that do not need anything compiled.
fn background_checks(options: &Options) -> Result<()> {
    if options.ci() {
        quiet_step(LICENCES, "See deny.toml; add a licence only after reading it.", || {
            exec_quietly(
                cargo(&["deny", "--log-level", "error", "check", "licenses", "bans", "sources"])
                    .env("PATH", path_with_tools()?),
            )
        })?;
        quiet_step(FEATURES, "Run `cargo hakari generate`; see the workspace-hack crate.", || {
            exec_quietly(cargo(&["hakari", "generate", "--diff"]).env("PATH", path_with_tools()?))?;
            crate::features::check()
        })?;
        quiet_step(UNUSED, "Remove them from the crate's Cargo.toml.", || {
            exec_quietly(cargo(&["machete"]).env("PATH", path_with_tools()?))
        })?;
    }
    if !options.no_lints {
        quiet_step(PAGES_LINT, "Run `npm run format` in ui/; correct what eslint names above.", || {
            exec_quietly(&mut npm(&["run", "--silent", "lint"]))
        })?;
    }
    quiet_step(COMPONENTS, "See svelte-check's messages above.", || {
        exec_quietly(&mut npm(&["run", "--silent", "check"]))
    })?;
    quiet_step(UNIT_TESTS, "See vitest's messages above.", || {
        exec_quietly(&mut npm(&["run", "--silent", "test"]))
    })
}

fn path_with_tools() -> Result<std::ffi::OsString> {
    let tools = tool("cargo-deny").parent().map(std::path::Path::to_owned).unwrap_or_default();
    let mut all = vec![tools];
    all.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    env::join_paths(all).context("PATH cannot be extended")
}

/// Long tests that mostly wait or keep one core busy; each measures a process of its own.
const LONG: [&str; 5] = ["crash", "damage", "many_asks", "mcp_many", "memory"];
/// A test that takes as long as the others together and mostly waits for a disk.
const FULL_DISKS: &str = "full_disk";

/// Runs all Rust tests except those of the window; the long ones run beside the others.
fn rust_tests() -> Result<()> {
    let mut others = Vec::new();
    let folder = root().join("tests/tests");
    for entry in fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).context("a test without a name")?;
        if !LONG.contains(&name) && name != FULL_DISKS {
            others.push(name.to_owned());
        }
    }
    std::thread::scope(|scope| {
        let background = |step, names| {
            scope.spawn(move || {
                quiet_step(step, "See the failing test above.", || exec_quietly(&mut test_command(names)))
            })
        };
        let (long, full_disks) =
            (background(LONG_TESTS, &LONG[..]), background(DISK_TESTS, &[FULL_DISKS][..]));
        exec(&mut cargo(&["test", "--workspace", "--exclude", "autokit-tests", "--no-fail-fast"]))?;
        exec(test_command(&others).args(["--lib", "--bins"]))?;
        for tests in [long, full_disks] {
            tests.join().map_err(|_| anyhow!("the long tests broke off"))??;
        }
        Ok(())
    })
}

/// A command that runs these files of the cross-crate tests.
fn test_command<S: AsRef<str>>(names: &[S]) -> std::process::Command {
    let mut command = cargo(&["test", "--package", "autokit-tests", "--no-fail-fast"]);
    command.args(names.iter().flat_map(|name| ["--test", name.as_ref()]));
    command
}

/// A command that runs the tests of the pages in a browser.
fn browser_tests(options: &[&str]) -> std::process::Command {
    let mut test = npm(&[&["run", "--silent", "test:browser"], options].concat());
    test.env("AUTOKIT_BIN", crate::shell::binary("autokit", false))
        .env("FOLDER", root().join("tests/artifacts/browser"));
    test
}

/// Shell script that starts a separate, unlocked keyring and runs the given command while it is there.
///
/// The keyring gets a separate home as well: with the user's home, `--unlock` would address the user's
/// keyring. The command must not start before the keyring owns its bus name, or the bus would start another,
/// locked keyring.
const WITH_KEYRING: &str = r#"
home=$(mktemp -d) || exit 1
printf '\n' | env --unset=GNOME_KEYRING_CONTROL \
    HOME="$home" XDG_DATA_HOME="$home" XDG_CACHE_HOME="$home" XDG_RUNTIME_DIR="$home" \
    gnome-keyring-daemon --foreground --unlock --components=secrets >"$home/said" 2>&1 &
keyring=$!
trap 'kill "$keyring" 2>/dev/null; wait "$keyring"; rm -rf "$home"' EXIT
tries=0
until dbus-send --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
    org.freedesktop.DBus.GetNameOwner string:org.freedesktop.secrets >/dev/null 2>&1
do
    tries=$((tries + 1))
    if [ "$tries" -gt 600 ] || ! kill -0 "$keyring" 2>/dev/null; then
        cat "$home/said" >&2
        echo 'gnome-keyring did not start' >&2
        exit 1
    fi
    sleep 0.1
done
"$@"
"#;

/// A command that tests the keychain with gnome-keyring, on a separate session bus.
fn keychain_test() -> std::process::Command {
    let mut test = crate::shell::command("dbus-run-session");
    test.args(["--", "sh", "-c", WITH_KEYRING, "sh"]);
    test.arg(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    test.args(["test", "--package", "autokit-workspace", "--test", "keychain", "--", "--ignored"]);
    test.env("CARGO_TARGET_DIR", crate::shell::target())
        // If the keyring is locked, it must not prompt a person who happens to be at the display.
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    test
}

/// Runs the tests of the real window on a separate display.
fn window_tests() -> Result<()> {
    exec(on_display().args([
        "test",
        "--package",
        "autokit-tests",
        "--test",
        "window",
        "--",
        "--ignored",
        "--test-threads=1",
        "--nocapture",
    ]))
}

/// A cargo command on a separate display and session bus, with the driver of the real window.
pub(crate) fn on_display() -> Command {
    let mut cargo = command("dbus-run-session");
    cargo.args(["--", "xvfb-run", "--auto-servernum", "--server-args=-screen 0 1280x900x24"]);
    cargo.arg(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .env("CARGO_TARGET_DIR", crate::shell::target())
        .env("AUTOKIT_TAURI_DRIVER", tool("tauri-driver"))
        // Without a desktop there is no accessibility bus, and waiting for one takes time.
        .env("NO_AT_BRIDGE", "1");
    cargo
}

/// Takes the README's screenshots of the real window.
pub(crate) fn take_pictures() -> Result<()> {
    setup::install_all()?;
    setup::build_ui()?;
    setup::build_programs(false)?;
    exec(
        on_display()
            .args(["run", "--package", "autokit-tests", "--example", "pictures"])
            .arg(root().join(PICTURES)),
    )?;
    print_line(&format!("Took the pictures in {PICTURES}"));
    Ok(())
}

fn bindings() -> Result<String> {
    read(&mut cargo(&["run", "--quiet", "--package", "autokit-api", "--example", "bindings"]))
}

/// Writes the window's TypeScript bindings.
pub(crate) fn write_bindings() -> Result<()> {
    let path = root().join(BINDINGS);
    fs::write(&path, bindings()?).with_context(|| format!("{} cannot be written", path.display()))?;
    print_line(&format!("Wrote {BINDINGS}"));
    Ok(())
}
