//! Tests the built command with the official MCP SDKs, as agents use them, and with the conformance suite.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::setup::node_packages;
use crate::shell::{binary, cache, command, exec, root, step};

/// Version of the Python SDK. The TypeScript SDKs are in `tests/clients/package.json`.
const PYTHON_SDK: &str = "mcp==2.3.0";

/// The steps of [`test`].
pub(crate) const STEPS: [&str; 2] = ["SDKs of MCP", "Agents with the SDKs of MCP"];

fn folder() -> PathBuf {
    root().join("tests").join("clients")
}

/// The Python interpreter of a virtual environment with the SDK.
fn python() -> Result<PathBuf> {
    let home = cache().join("tools").join("python-sdk");
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let stamp = home.join(".autokit-installed");
    if python.exists() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == PYTHON_SDK) {
        return Ok(python);
    }
    if home.exists() {
        fs::remove_dir_all(&home).with_context(|| format!("{} cannot be removed", home.display()))?;
    }
    exec(command("python3").args(["-m", "venv"]).arg(&home))?;
    exec(command(&python).args(["-m", "pip", "install", "--quiet", PYTHON_SDK]))?;
    fs::write(stamp, PYTHON_SDK).context("the note of what is installed cannot be written")?;
    Ok(python)
}

/// Lets each SDK go through the whole sequence: list, search, call what was found.
pub(crate) fn test() -> Result<()> {
    step(STEPS[0], "See that the npm and pip registries can be reached; Python needs `venv`.", || {
        node_packages("tests/clients")?;
        python().map(drop)
    })?;
    step(STEPS[1], "See the message of the client above.", || {
        let library = std::env::temp_dir().join(format!("autokit-sdks-{}", std::process::id()));
        let gone = run_clients(&library);
        if library.exists() {
            fs::remove_dir_all(&library)
                .with_context(|| format!("{} cannot be removed", library.display()))?;
        }
        gone
    })
}

fn run_clients(library: &std::path::Path) -> Result<()> {
    let (autokit, server) = (binary("autokit", false), binary("tools-server", false));
    if !server.exists() {
        bail!("{} is not built", server.display());
    }
    let mut add = command(&autokit);
    add.arg("--data-dir").arg(library).args([
        "--stand-in",
        "64",
        "servers",
        "add",
        "fixture",
        "--trust",
        "--",
    ]);
    exec(add.arg(&server))?;
    let run = |client: &mut Command| {
        exec(client.current_dir(folder()).env("AUTOKIT_BIN", &autokit).env("AUTOKIT_DATA", library))
    };
    run(command("node").arg("session.mjs"))?;
    run(command("node").arg("stateless.mjs"))?;
    run(command(python()?).arg("both.py"))?;
    run(command("node").arg("conformance.mjs").env("AUTOKIT_SERVER", &server))
}
