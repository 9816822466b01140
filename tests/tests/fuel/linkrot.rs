//! The link-rot benchmark, where it lies beside the project: the first of its splits, scored by its own
//! program against the least that is acceptable.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use autokit_tests::program;
use serde_json::Value;

/// Where the benchmark is, if it is there.
fn folder() -> Option<PathBuf> {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo"))
        .join("../../shared/eval/linkrot");
    (folder.join("site.py").is_file() && folder.join("score.py").is_file()).then_some(folder)
}

#[test]
fn the_first_split_is_repaired() -> Result<()> {
    let Some(folder) = folder() else {
        // Elsewhere there is nothing to measure; `faults.rs` has cases of its own.
        return Ok(());
    };
    let place = tempfile::tempdir()?;
    let at = |name: &str| place.path().join(name);
    let faults = folder.join("faults-dev.json");
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(&faults)?)?;
    let given: Vec<Value> = cases["cases"]
        .as_array()
        .context("cases")?
        .iter()
        .map(|case| serde_json::json!({ "id": case["id"], "card": case["card"] }))
        .collect();
    std::fs::write(at("cards.json"), serde_json::to_string(&given)?)?;

    let mut server = Command::new("python3")
        .arg("-u")
        .arg(folder.join("site.py"))
        .args(["--port", "0", "--faults"])
        .arg(&faults)
        .arg("--log")
        .arg(at("requests.jsonl"))
        .stdout(std::process::Stdio::piped())
        .spawn()?;
    let mut base = String::new();
    let out = server.stdout.take().context("a pipe")?;
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut base)?;
    let results = Command::new(program("autokit")?)
        .args(["eval", "linkrot", "--site", base.trim(), "--cards"])
        .arg(at("cards.json"))
        .output();
    server.kill()?;
    server.wait()?;
    let results = results?;
    ensure!(results.status.success(), "{}", String::from_utf8_lossy(&results.stderr));
    std::fs::write(at("results.jsonl"), &results.stdout)?;

    let score = Command::new("python3")
        .arg(folder.join("score.py"))
        .arg(&faults)
        .arg(at("results.jsonl"))
        .arg("--log")
        .arg(at("requests.jsonl"))
        .args(["--json", "-"])
        .output()?;
    ensure!(score.status.success(), "{}", String::from_utf8_lossy(&score.stderr));
    let score: Value = serde_json::from_slice(&score.stdout)?;
    let (overall, politeness) = (&score["overall"], &score["politeness"]);
    let rate = |name: &str| overall[name].as_f64().with_context(|| format!("{name} in {overall}"));
    ensure!(rate("repair_rate")? >= 0.92, "{overall:#}");
    ensure!(rate("wrong_repair_rate")? <= 0.02, "{overall:#}");
    ensure!(rate("false_alarm_rate")? <= 0.03, "{overall:#}");
    ensure!(rate("gone_right_rate")? >= 0.9, "{overall:#}");
    ensure!(rate("stale_fields_ok")? >= 0.9, "{overall:#}");
    ensure!(politeness["max_concurrency"].as_u64() <= Some(2), "{politeness:#}");
    ensure!(politeness["private_requests"].as_u64() == Some(0), "{politeness:#}");
    ensure!(politeness["robots_before_first_page"] == Value::Bool(true), "{politeness:#}");
    Ok(())
}
