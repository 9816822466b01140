//! Links of the system open the preview, and nothing more.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use autokit_tests::site::Site;
use autokit_tests::window::Window;
use autokit_tests::{Workplace, program};
use serde_json::{Value, json};

/// The variables that make a folder somebody's home, as far as AutoKit looks.
fn home(place: &Workplace) -> Vec<(&'static str, PathBuf)> {
    let names = ["XDG_DATA_HOME", "XDG_CONFIG_HOME"];
    let mut all: Vec<_> = names.into_iter().map(|name| (name, place.path(name))).collect();
    all.push(("AUTOKIT_CONFIG_DIR", place.config_dir()));
    all.push(("AUTOKIT_MODEL_FOLDER", PathBuf::from("/nonexistent")));
    all
}

/// Runs the command on the library of that home.
fn in_terminal(place: &Workplace, arguments: &[&str]) -> Result<Value> {
    let mut command = Command::new(program("autokit")?);
    command.args(arguments).args(["--no-model", "--json"]).envs(home(place)).stdin(Stdio::null());
    let output = tokio::task::block_in_place(|| command.output())?;
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn a_link_opens_a_preview_in_the_existing_window() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = Site::serve([]).await?;
    let link = |path: &str, name: &str| {
        let cards = json!([{ "name": name, "description": "Of another library." }]);
        site.text(path, "application/json", &cards.to_string());
        format!("autokit://import?url={}", site.url(path).replace(':', "%3A").replace('/', "%2F"))
    };
    // Rows are moved into place: WebDriver does not count them as shown.
    let shows = |text: &str| {
        format!("document.querySelector('.dialog-content [data-place]')?.textContent.includes('{text}')")
    };
    in_terminal(&place, &["providers", "allow", &site.host()])?;

    // Started by a link.
    let window = Window::start(&[&link("/first.json", "Waffle Iron")], &home(&place)).await?;
    window.wait_until(&shows("Waffle Iron")).await?;
    window.screenshot("71-link").await?;

    // Another one, while the window is there: whoever starts AutoKit again is sent to it.
    let mut again = Command::new(program("autokit-desktop")?);
    again.arg(link("/second.json", "Whisk")).envs(home(&place)).stdin(Stdio::null());
    let ended = tokio::task::block_in_place(|| again.status())?;
    ensure!(ended.success(), "{ended}");
    // What is looked at is not taken away by it: the person says when.
    window.wait_until(&shows("Waffle Iron")).await?;
    window.click(".dialog-content button", "Switch to it").await?;
    window.wait_until(&shows("Whisk")).await?;
    window.screenshot("72-link-offered").await?;

    window.close().await?;
    for name in ["Waffle Iron", "Whisk"] {
        let found = in_terminal(&place, &["cards", "list", "--text", name])?;
        ensure!(found["rows"] == json!([]), "{found}");
    }
    Ok(())
}
