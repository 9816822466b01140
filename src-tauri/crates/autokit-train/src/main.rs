//! Trains a delta of an embedding model: `autokit-train --help`.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use autokit_embed::ModelStore;
use autokit_train::merge::{Part, merge};
use autokit_train::pairs::Pairs;
use autokit_train::report::Line;
use autokit_train::run::{Base, Event, Files, Recipe, sha256, train};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};

/// Trains a low-rank delta of an embedding model on pairs of requests and tools.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    training: Option<Training>,
}

#[derive(Subcommand)]
enum Command {
    /// Adds up deltas of one base model, multiplied by their weights.
    Merge {
        /// Deltas with their weights, which mostly add up to at most 1.
        #[arg(value_name = "FILE=WEIGHT", required = true)]
        parts: Vec<Part>,
        /// Rank of the delta that results.
        #[arg(long, default_value_t = 20)]
        rank: usize,
        /// Write it here.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

#[derive(clap::Args)]
struct Training {
    /// Pairs, one JSON object per line: `source`, `query`, `docs`, `tool` and `group`; without `docs`, a request
    /// that no tool of its group answers. Or groups of tools with their requests. May be repeated.
    #[arg(long, value_name = "FILE", required = true)]
    pairs: Vec<PathBuf>,
    /// Base model.
    #[arg(long, value_name = "NAME", default_value = "all-MiniLM-L6-v2")]
    model: String,
    /// Write the delta here.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Save the state here and resume from it; by default beside the delta.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Steps between two checkpoints.
    #[arg(long, value_name = "N", default_value_t = 50)]
    checkpoint_every: usize,
    /// Report NDCG@10 before and after on a judged set; may be repeated.
    #[arg(long = "set", value_name = "FOLDER")]
    sets: Vec<PathBuf>,
    /// Write the report as JSON here.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Steps to take.
    #[arg(long, default_value_t = 240)]
    steps: usize,
    /// Pairs in a batch.
    #[arg(long, default_value_t = 64)]
    batch: usize,
    /// Hard negatives per pair.
    #[arg(long, default_value_t = 0)]
    hard_negatives: usize,
    /// Requests per batch that no tool of their group answers.
    #[arg(long, default_value_t = 16)]
    near_misses: usize,
    /// Most tokens of a text.
    #[arg(long, default_value_t = 96)]
    max_tokens: usize,
    /// Rank of the delta.
    #[arg(long, default_value_t = 16)]
    rank: usize,
    /// Factor of the delta.
    #[arg(long, default_value_t = 2.0)]
    scale: f64,
    /// Learning rate after the warm-up.
    #[arg(long, default_value_t = 1e-3)]
    learning_rate: f64,
    /// Share of the steps in which the learning rate rises.
    #[arg(long, default_value_t = 0.05)]
    warmup: f64,
    /// Temperature of the objective.
    #[arg(long, default_value_t = 0.05)]
    temperature: f64,
    /// Weight of the distance to the base model's vectors.
    #[arg(long, default_value_t = 0.0)]
    anchor: f64,
    /// Share of the trained delta that is kept.
    #[arg(long, default_value_t = 0.7)]
    keep: f64,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match (&options.command, &options.training) {
        (Some(Command::Merge { parts, rank, out }), _) => merge(parts, *rank, out),
        (None, Some(training)) => run(training),
        (None, None) => Options::command().error(ErrorKind::MissingSubcommand, "nothing to do").exit(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing else can be done if stderr is closed.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Training) -> Result<()> {
    let root = ModelStore::default_root().context("no folder for models on this system")?;
    let (base, embedder) = Base::find(&ModelStore::new(root), &options.model)?;
    let pairs = Pairs::load(&options.pairs)?;
    let checksums = options.pairs.iter().map(|path| sha256(path)).collect::<Result<Vec<_>>>()?;
    let recipe = Recipe {
        model: base.name.clone(),
        base_sha256: base.sha256.clone(),
        pairs_sha256: checksums.join("+"),
        seed: options.seed,
        steps: options.steps,
        batch: options.batch,
        hard_negatives: options.hard_negatives,
        near_misses: options.near_misses,
        max_tokens: options.max_tokens,
        rank: options.rank,
        scale: options.scale,
        learning_rate: options.learning_rate,
        warmup: options.warmup,
        temperature: options.temperature,
        anchor: options.anchor,
        keep: options.keep,
    };
    let checkpoint = options.checkpoint.clone().unwrap_or_else(|| options.out.with_extension("checkpoint"));
    let files = Files {
        out: options.out.clone(),
        checkpoint,
        checkpoint_every: options.checkpoint_every.max(1),
        sets: options.sets.clone(),
    };
    let started = std::time::Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let show = |event: Event| {
        let elapsed = started.elapsed().as_secs();
        let line = match event {
            Event::Preparing(what) => format!("{elapsed:>5} s  preparing {what}"),
            Event::Step { step, steps, loss, gradient_norm } => {
                // In a file, every tenth step is enough.
                if !terminal && !step.is_multiple_of(10) && step != steps {
                    return;
                }
                format!("{elapsed:>5} s  step {step} of {steps}  loss {loss:.4}  gradient {gradient_norm:.3}")
            }
        };
        let _ = writeln!(std::io::stderr(), "{line}");
    };
    let report = train(&recipe, &base, &embedder, &pairs, &files, &show)?;
    print(&report)?;
    if let Some(path) = &options.report {
        std::fs::write(path, serde_json::to_vec_pretty(&report)?)
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

/// Prints the report as a table: NDCG@10 × 100 by cosine alone.
fn print(report: &[Line]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let width = report.iter().map(|line| line.set.len()).max().unwrap_or_default().max(3);
    writeln!(out, "{:width$}  queries  before  after  difference (95 %)", "set")?;
    for line in report {
        let percent = |x: f64| 100.0 * x;
        writeln!(
            out,
            "{:width$}  {:>7}  {:>6.1}  {:>5.1}  {:+.1} ({:+.1} to {:+.1})",
            line.set,
            line.queries,
            percent(line.before),
            percent(line.after),
            percent(line.difference.mean),
            percent(line.difference.low),
            percent(line.difference.high),
        )?;
    }
    Ok(())
}
