//! The public functions and commands of a repository become cards, after review.

use anyhow::{Context as _, Result, ensure};
use autokit_tests::Workplace;

const PROJECT: &str = r#"
[project]
name = "tidewater"
description = "Predicts tides at harbours from a table of constants."

[project.scripts]
tidewater = "tidewater.cli:main"
"#;

const CODE: &str = r#"
"""Tides."""


def next_high_water(harbour, after):
    """Returns the time of the next high water at a harbour after a given time."""
    return _solve(harbour, after)


def undocumented(x):
    return x


def _solve(harbour, after):
    """Solves the equation of tides."""
    return after
"#;

#[test]
fn documented_public_functions_and_commands_are_proposed() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let repository = place.path("tidewater");
    std::fs::create_dir_all(repository.join("src/tidewater"))?;
    std::fs::create_dir_all(repository.join("tests"))?;
    std::fs::write(repository.join("pyproject.toml"), PROJECT)?;
    std::fs::write(repository.join("src/tidewater/predict.py"), CODE)?;
    std::fs::write(
        repository.join("tests/test_predict.py"),
        "def helper():\n    \"\"\"Helps the tests a lot.\"\"\"\n",
    )?;
    let folder = repository.display().to_string();

    let listed = place.json(&["code", "cards", &folder, "--dry-run"])?;
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .context("tools")?
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    ensure!(names == ["tidewater", "next_high_water"] && listed["total"] == 2, "{listed}");
    ensure!(listed["tools"][1]["place"] == "src/tidewater/predict.py:5", "{listed}");

    place.json(&["code", "cards", &folder])?;
    let waiting = place.json(&["review", "list"])?;
    let ids: Vec<u64> =
        waiting["rows"].as_array().context("rows")?.iter().filter_map(|one| one["id"].as_u64()).collect();
    ensure!(ids.len() == 2, "{waiting}");
    // What waits is not proposed again.
    place.failure(&["code", "cards", &folder])?;
    for id in ids {
        place.json(&["review", "accept", &id.to_string()])?;
    }
    let card = place.json(&["cards", "show", "next_high_water"])?;
    let text = card.to_string();
    ensure!(text.contains("from tidewater.predict import next_high_water"), "{card}");
    ensure!(text.contains("time of the next high water") && text.contains("\"python\""), "{card}");
    // What has a card is not proposed again.
    let (_, nothing) = place.failure(&["code", "cards", &folder])?;
    ensure!(nothing["error"]["code"] == "not_found" || nothing["code"] == "not_found", "{nothing}");

    // What was rejected is proposed again only when it says something else.
    let with = |comment: &str| format!("{CODE}\n\ndef ebb(harbour):\n    \"\"\"{comment}\"\"\"\n");
    std::fs::write(repository.join("src/tidewater/predict.py"), with("Returns when the water ebbs."))?;
    place.json(&["code", "cards", &folder])?;
    let waiting = place.json(&["review", "list"])?;
    let id = waiting["rows"][0]["id"].as_u64().context("a proposal")?;
    place.json(&["review", "reject", &id.to_string(), "--reason", "not needed"])?;
    let nothing = place.command(&["code", "cards", &folder, "--dry-run", "--json"])?.output()?;
    let listed: serde_json::Value = serde_json::from_slice(&nothing.stdout)?;
    ensure!(nothing.status.code() == Some(3) && listed["total"] == 0, "{nothing:?}");
    std::fs::write(repository.join("src/tidewater/predict.py"), with("Returns the height of the ebb tide."))?;
    let listed = place.json(&["code", "cards", &folder, "--dry-run"])?;
    ensure!(listed["total"] == 1 && listed["tools"][0]["name"] == "ebb", "{listed}");
    Ok(())
}
