//! `cargo xtask train`: trains a delta of an embedding model.

use std::path::PathBuf;

use anyhow::Result;

use crate::setup;
use crate::shell::{cargo, exec, step};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Pairs to train on; may be repeated.
    #[arg(long, value_name = "FILE", required = true)]
    pairs: Vec<PathBuf>,
    /// File for the delta.
    #[arg(long, value_name = "FILE", default_value = "delta.safetensors")]
    out: PathBuf,
    /// Further options of the trainer, after `--`; `cargo xtask train --pairs x -- --help` lists them.
    #[arg(last = true)]
    more: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    setup::model()?;
    step("Training", "Run it again: it resumes from its last checkpoint.", || {
        let mut trainer = cargo(&["run", "--quiet", "--package", "autokit-train", "--"]);
        for pairs in &options.pairs {
            trainer.arg("--pairs").arg(pairs);
        }
        trainer.arg("--out").arg(&options.out);
        exec(trainer.args(&options.more))
    })
}
