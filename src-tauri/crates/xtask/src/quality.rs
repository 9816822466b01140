//! Checks the quality of answers in continuous integration: the real model over the starter cards and over cards of
//! other vendors, on questions that were written without looking at a ranking.

use std::fs;

use anyhow::{Context, Error, Result, bail, ensure};
use serde_json::Value;

use crate::shell::{binary, cache, command, print_line, read, root, step};

pub(crate) const QUALITY: &str = "Quality of answers";

/// File with the questions and the bounds that the results on them must meet.
const FLOORS: &str = "tests/sets/floors.json";

/// Measures the product's ranking at each search depth and checks the bounds.
pub(crate) fn check() -> Result<()> {
    step(
        QUALITY,
        "See `autokit eval ask --misses` for the questions; tests/sets/README.md for the sets.",
        || {
            let floors: Value = serde_json::from_str(&fs::read_to_string(root().join(FLOORS))?)?;
            let mut missed = Vec::new();
            for set in floors["sets"].as_array().context("no sets are named")? {
                check_set(set, &mut missed)?;
            }
            if !missed.is_empty() {
                bail!("{}", missed.join("; "));
            }
            Ok(())
        },
    )
}

/// Measures one set and adds the bounds it misses.
fn check_set(set: &Value, missed: &mut Vec<String>) -> Result<()> {
    let path =
        |file: &Value| Ok::<_, Error>(root().join(file.as_str().context("a file is named by a text")?));
    let mut eval = command(binary("autokit", false));
    // This library uses the model that was downloaded for the tests.
    eval.arg("--data-dir").arg(cache().join("setup-library")).args(["--json", "eval", "ask"]);
    let cards = match &set["cards"] {
        Value::Null => "starter cards".to_owned(),
        file => {
            eval.arg("--cards").arg(path(file)?);
            path(file)?.file_stem().unwrap_or_default().display().to_string()
        }
    };
    for file in set["questions"].as_array().context("no questions are named")? {
        eval.arg("--questions").arg(path(file)?);
    }
    let measured: Value = serde_json::from_str(&read(&mut eval)?)?;
    let stages = set["stages"].as_object().context("no stages are named")?;
    ensure!(!stages.is_empty(), "no stages are named");
    for (stage, floor) in stages {
        let rows = measured["stages"].as_array().context("nothing was measured")?;
        let row = rows.iter().find(|row| row["name"] == *stage).context("a stage was not measured")?;
        for bound in ["at_least", "at_most"] {
            for (measure, bound_value) in floor[bound].as_object().context("a stage has two bounds")? {
                let (is, bound_value) = (number(&row[measure])?, number(bound_value)?);
                let is_met = if bound == "at_least" { is >= bound_value } else { is <= bound_value };
                let label = bound.replace('_', " ");
                let line = format!(
                    "{cards}, {stage}: {measure} {:.1}%, {label} {:.1}%",
                    is * 100.0,
                    bound_value * 100.0
                );
                if is_met {
                    print_line(&format!("  {line}"));
                } else {
                    missed.push(line);
                }
            }
        }
    }
    Ok(())
}

fn number(value: &Value) -> Result<f64> {
    value.as_f64().with_context(|| format!("{value} is no number"))
}
