//! `cargo xtask eval-linkrot`: runs broken cards through the product's verification and repair.
//!
//! The faults file also contains the right values; only a card and its id are passed to the product.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::setup;
use crate::shell::{binary, command, exec, print_line, root, step};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Cards with their faults, as written by faults.py.
    #[arg(long)]
    faults: PathBuf,
    /// File for the results, one JSON object per line.
    #[arg(long)]
    out: PathBuf,
    /// Folder that contains site.py and score.py.
    #[arg(long)]
    site: Option<PathBuf>,
    /// Let the site's search also return some of the broken URLs.
    #[arg(long)]
    ghosts: bool,
    /// Also write what was found about each card.
    #[arg(long)]
    explain: bool,
}

/// The test site, which is stopped on drop.
struct Site {
    process: Child,
    base: String,
}

impl Site {
    fn start(folder: &Path, faults: &Path, log: &Path, ghosts: bool) -> Result<Site> {
        let mut python = command("python3");
        python.arg("-u").arg(folder.join("site.py")).args(["--port", "0", "--faults"]).arg(faults);
        python.arg("--log").arg(log);
        if ghosts {
            python.arg("--ghosts");
        }
        let mut process = python.stdout(Stdio::piped()).spawn().context("python3 could not be started")?;
        let mut line = String::new();
        if let Some(out) = process.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let base = line.trim().to_owned();
        let site = Site { process, base };
        if !site.base.starts_with("http") {
            bail!("the site did not say where it is");
        }
        Ok(site)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // It may already have ended, which is fine.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    setup::build_cli(false)?;
    setup::model()?;
    let folder = options.site.clone().unwrap_or_else(|| root().join("../shared/eval/linkrot"));
    if !folder.join("site.py").is_file() {
        bail!("{} holds no site.py; name its folder with --site", folder.display());
    }
    let text = fs::read_to_string(&options.faults)
        .with_context(|| format!("{} cannot be read", options.faults.display()))?;
    let faults: Value = serde_json::from_str(&text)?;
    let Some(cases) = faults.get("cases").and_then(Value::as_array) else {
        bail!("{} holds no cases", options.faults.display());
    };
    let given: Vec<Value> = cases
        .iter()
        .map(|case| serde_json::json!({ "id": case.get("id"), "card": case.get("card") }))
        .collect();
    let cards = options.out.with_extension("cards.json");
    let log = options.out.with_extension("requests.jsonl");
    fs::write(&cards, serde_json::to_string(&given)?)?;
    if log.exists() {
        fs::remove_file(&log)?;
    }
    let began = Instant::now();
    step("Verifying and repairing", "See the message above.", || {
        let site = Site::start(&folder, &options.faults, &log, options.ghosts)?;
        let mut autokit = command(binary("autokit", false));
        autokit.args(["eval", "linkrot", "--cards"]).arg(&cards).args(["--site", &site.base]);
        if options.explain {
            autokit.arg("--explain");
        }
        exec(autokit.stdout(File::create(&options.out)?))
    })?;
    fs::remove_file(&cards)?;
    print_line(&format!("{} cards in {:.0} s", given.len(), began.elapsed().as_secs_f64()));
    let score = folder.join("score.py");
    if score.is_file() {
        let mut python = command("python3");
        python.arg(score).arg(&options.faults).arg(&options.out).arg("--failures").arg("--log").arg(&log);
        exec(&mut python)?;
    }
    Ok(())
}
