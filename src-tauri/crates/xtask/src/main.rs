//! Sets up, runs, tests and measures AutoKit: `cargo xtask --help`.
//!
//! Every step can be repeated: what is already done is skipped.

mod bench;
mod features;
mod freshness;
mod linkrot;
mod package;
mod quality;
mod run;
mod sdks;
mod setup;
mod shell;
mod structure;
mod test;
mod train;

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
    /// Install what is missing, build, and open the window with the starter cards.
    Run(run::Options),
    /// Install what is missing and run all tests; with `--ci`, check dependencies as well.
    Test(test::Options),
    /// Install what is missing and stop.
    Setup,
    /// Benchmark embedding, search, import and start-up.
    Bench(bench::Options),
    /// Run cards with broken links through verification and repair, and score the results.
    EvalLinkrot(linkrot::Options),
    /// Measure the structure: lines per crate, import cycles, fields per struct.
    Structure(structure::Options),
    /// Generate the window's TypeScript bindings from the list of commands.
    Bindings,
    /// Train a delta of the embedding model on pairs of requests and tools.
    Train(train::Options),
    /// Take the README's screenshots of the real window.
    Pictures,
    /// Make the installers of a release: on Linux .deb, .rpm and a tarball.
    Package(package::Options),
    /// Sign the packages of a release for updates.
    Sign(package::SignOptions),
    /// Write the manifest of updates for the signed packages of a release.
    UpdateManifest(package::ManifestOptions),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Setup => setup::install_all(),
        Command::Bench(options) => bench::run(&options),
        Command::EvalLinkrot(options) => linkrot::run(&options),
        Command::Structure(options) => structure::run(&options),
        Command::Bindings => test::write_bindings(),
        Command::Train(options) => train::run(&options),
        Command::Pictures => test::take_pictures(),
        Command::Package(options) => package::run(&options),
        Command::Sign(options) => package::sign(&options),
        Command::UpdateManifest(options) => package::write_manifest(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            shell::print_line(&format!("\n✗ {error:#}"));
            ExitCode::FAILURE
        }
    }
}
