//! How long the window takes to start: `cargo xtask bench [--release] [--quick] window`.
//!
//! From starting the program until its page has rendered what the engine answered and asked for more, with a library that
//! was closed before and files in the page cache. Median of five; one JSON object, with the resident memory of each process.
#![allow(clippy::print_stdout, reason = "printing is what this does")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use autokit_tests::window::{descendants, processes_of, wait_for_end};
use autokit_tests::{Workplace, made_up_cards, program};
use serde_json::json;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

const RUNS: usize = 5;

/// Answered once the page has shown the status of the library.
const LAST_ANSWER: &str = "jobs_list";

fn main() -> Result<()> {
    let size = if std::env::args().any(|argument| argument == "--quick") { 1_000 } else { 16_000 };
    let place = Workplace::with_model()?;
    let file = place.cards_file("cards.json", &made_up_cards(size))?;
    let autokit = |arguments: &[&str]| -> Result<()> {
        let mut command = Command::new(program("autokit")?);
        let status = environment(&mut command, &place).args(arguments).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "{arguments:?}: {status}");
        Ok(())
    };
    autokit(&["import", &file.display().to_string()])?;
    // With vectors of all cards, and their file.
    autokit(&["ask", "compress photos"])?;
    let mut times = Vec::new();
    let mut memory = BTreeMap::new();
    // The first one fills the page cache.
    for run in 0..=RUNS {
        let took;
        (took, memory) = start(&place)?;
        if run > 0 {
            times.push(took);
        }
    }
    times.sort();
    let milliseconds = |time: &Duration| (time.as_secs_f64() * 1e4).round() / 10.0;
    let all: Vec<f64> = times.iter().map(milliseconds).collect();
    let figures = json!({
        "cards": size,
        "interactive_ms_median": all[RUNS / 2],
        "interactive_ms": all,
        "resident_mib": memory,
    });
    println!("{figures}");
    Ok(())
}

fn environment<'a>(command: &'a mut Command, place: &Workplace) -> &'a mut Command {
    command
        .arg("--data-dir")
        .arg(place.data_dir())
        .env("AUTOKIT_CONFIG_DIR", place.config_dir())
        .env("AUTOKIT_AUTHOR", "tester")
        .env_remove("AUTOKIT_DATA_DIR")
        .stdin(Stdio::null())
}

/// Starts the window once, and returns how long it took and the resident memory of its processes in MiB.
fn start(place: &Workplace) -> Result<(Duration, BTreeMap<String, u64>)> {
    let mut command = Command::new(program("autokit-desktop")?);
    environment(&mut command, place).env("AUTOKIT_LOG", "autokit_desktop=debug").stderr(Stdio::piped());
    let began = Instant::now();
    let mut window = command.spawn()?;
    let mut log = BufReader::new(window.stderr.take().context("a pipe")?);
    let mut line = String::new();
    while !line.contains(LAST_ANSWER) {
        line.clear();
        if log.read_line(&mut line)? == 0 {
            bail!("the window ended: {}", window.wait()?);
        }
    }
    let took = began.elapsed();
    let memory = resident(&window);
    let processes = processes_of(window.id());
    window.kill()?;
    window.wait()?;
    // Its engine closes the library.
    processes.iter().try_for_each(wait_for_end)?;
    Ok((took, memory))
}

/// The resident memory of a program and of all it started, in MiB, by name.
fn resident(window: &Child) -> BTreeMap<String, u64> {
    let mut memory = BTreeMap::new();
    let mut processes = descendants(window.id());
    processes.extend(i32::try_from(window.id()));
    for process in processes {
        // One that has ended meanwhile has no memory.
        let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else { continue };
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let kib: u64 = field("VmRSS:").trim_end_matches("kB").trim().parse().unwrap_or_default();
        *memory.entry(field("Name:").to_owned()).or_default() += kib >> 10;
    }
    memory
}
