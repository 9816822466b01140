//! Set up, run, test and measure AutoKit: `cargo xtask --help`.
//!
//! Every step can be repeated: what is there already is left alone.

mod bench;
mod features;
mod freshness;
mod linkrot;
mod quality;
mod run;
mod sdks;
mod setup;
mod shell;
mod structure;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Set up, run, test and measure AutoKit")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what is missing, build, and open the window on the starter cards.
    Run(run::Options),
    /// Install what is missing and run every test; `--ci` checks dependencies as well.
    Test(test::Options),
    /// Install what is missing and stop there.
    Setup,
    /// Measure embedding, search, import and start-up.
    Bench(bench::Options),
    /// Put cards with broken links through the verifier and fixer, and score what comes out.
    EvalLinkrot(linkrot::Options),
    /// Count what keeps the rooms apart: lines of a crate, circles of imports, fields of a struct.
    Structure(structure::Options),
    /// Write the window's TypeScript from the list of commands.
    Bindings,
    /// Take the pictures of the README from the real window.
    Pictures,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Setup => setup::everything(),
        Command::Bench(options) => bench::run(&options),
        Command::EvalLinkrot(options) => linkrot::run(&options),
        Command::Structure(options) => structure::run(&options),
        Command::Bindings => test::write_bindings(),
        Command::Pictures => test::take_pictures(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            shell::say(&format!("\n✗ {error:#}"));
            ExitCode::FAILURE
        }
    }
}
