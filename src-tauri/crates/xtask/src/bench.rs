//! `cargo xtask bench`: benchmarks on this machine.

use anyhow::Result;

use crate::setup;
use crate::shell::{binary, cargo, exec, step};
use crate::test::on_display;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Build with all optimisations, as for a package.
    #[arg(long)]
    release: bool,
    /// Use smaller libraries, for a quick look.
    #[arg(long)]
    quick: bool,
    /// Run only these: embedding, ranking, library, crashes, bundle, review, agents, typing, waits, answer, window, fuzz.
    parts: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    setup::build_cli(false)?;
    setup::model()?;
    let mut arguments = vec!["run", "--quiet", "--package", "autokit-tests", "--example", "bench"];
    if options.release {
        arguments.push("--release");
    }
    arguments.push("--");
    if options.quick {
        arguments.push("--quick");
    }
    let is_chosen = |name: &str| options.parts.is_empty() || options.parts.iter().any(|part| part == name);
    if is_chosen("window") {
        step("Window", "See the message above.", || window(options))?;
    }
    let fuzzed = is_chosen("fuzz");
    let apart = ["fuzz", "window"];
    let parts: Vec<&str> =
        options.parts.iter().map(String::as_str).filter(|part| !apart.contains(part)).collect();
    arguments.extend(&parts);
    if !parts.is_empty() || options.parts.is_empty() {
        step("Measurements", "See the message above.", || exec(&mut cargo(&arguments)))?;
    }
    if !fuzzed {
        return Ok(());
    }
    // Ten minutes, or just long enough to see that it runs.
    let seconds = if options.quick { "20" } else { "600" };
    let mut fuzz = vec!["run", "--quiet", "--package", "autokit-tests", "--example", "fuzz", "--", seconds];
    if options.release {
        fuzz.insert(1, "--release");
    }
    step("Broken bundles", "The input is kept where the message says.", || exec(&mut cargo(&fuzz)))
}

/// Measures the start of the window, and accepting proposals in it, on a display of its own.
fn window(options: &Options) -> Result<()> {
    setup::install_all()?;
    setup::build_ui()?;
    setup::build_programs(options.release)?;
    for example in ["window_start", "window_accept"] {
        let mut run = on_display();
        run.args(["run", "--quiet", "--package", "autokit-tests", "--example", example, "--"]);
        // Of a release, only the programs are built with all optimisations.
        run.env("AUTOKIT_PROGRAMS", binary("autokit", options.release).with_file_name(""));
        if options.quick {
            run.arg("--quick");
        }
        exec(&mut run)?;
    }
    Ok(())
}
