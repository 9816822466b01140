//! A team is joined from an invitation link, and its library is opened now, at the next start, and left again.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use autokit_test_server::{PASSWORD, Server, USER};
use autokit_tests::Workplace;
use autokit_tests::window::Window;
use serde_json::Value;

/// Somebody's machine, whose keys are in a file.
fn machine() -> Result<Workplace> {
    let place = Workplace::with_stand_in()?;
    in_terminal(&place, &["providers", "keys", "--keep", "file"])?;
    Ok(place)
}

fn in_terminal(place: &Workplace, arguments: &[&str]) -> Result<Value> {
    tokio::task::block_in_place(|| place.json(arguments))
}

fn with_secrets(place: &Workplace, arguments: &[&str], secrets: &[&str]) -> Result<Value> {
    tokio::task::block_in_place(|| place.json_with_secrets(arguments, secrets))
}

/// Opens the window on a person's own library, with links.
async fn start(place: &Workplace, links: &[&str]) -> Result<Window> {
    let library = place.data_dir().display().to_string();
    let variables = [
        ("AUTOKIT_CONFIG_DIR", place.config_dir()),
        ("AUTOKIT_AUTHOR", PathBuf::from("tester")),
        ("AUTOKIT_MODEL_FOLDER", PathBuf::from("/nonexistent")),
    ];
    Window::start(&[&["--data-dir", library.as_str()], links].concat(), &variables).await
}

/// The switch in the top bar while it names this library. The driver reads no text that could be cut short.
fn switch_of(name: &str) -> String {
    format!("header .library-switch[aria-label='Library: {name}']")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn a_link_joins_a_team_in_three_actions() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let server = Server::start(&folder.path().join("server"), None).await?;
    let (ann, bob) = (machine()?, machine()?);
    let url = server.url();
    let create = ["team", "create", &url, "kitchen", "--name", "The kitchen", "--as", "ann", "--owner", USER];
    with_secrets(&ann, &create, &[PASSWORD, "secret of ann"])?;
    let fields = ["--set", "name=kettle", "--set", "description=Boils water for tea"];
    in_terminal(&ann, &[&["--team", "kitchen", "cards", "add"][..], &fields].concat())?;
    in_terminal(&ann, &["--team", "kitchen", "team", "sync"])?;
    let invitation = in_terminal(&ann, &["--team", "kitchen", "team", "invite"])?;
    let link = invitation["link"].as_str().context("a link")?;

    // Opened by the link: a name, a password, and one button.
    let window = start(&bob, &[link]).await?;
    window.wait_for_text(".dialog-title", "Join kitchen").await?;
    window.wait_for_text(".dialog-content dd", &url).await?;
    window.screenshot("73-join-team").await?;
    window.fill(".dialog-content input[autocomplete=username]", "bob").await?;
    window.fill(".dialog-content input[type=password]", "secret of bob").await?;
    window.click(".dialog-content button.primary", "Join").await?;

    // The window goes on with the team's library.
    window.wait_for(&switch_of("The kitchen")).await?;
    window.wait_for("header .presence").await?;
    window.click("nav button", "Library").await?;
    window.wait_until("document.querySelector('.row .name')?.textContent.trim() === 'kettle'").await?;
    window.screenshot("74-team-library").await?;
    window.run("document.querySelector('.row .name').click()").await?;
    window.wait_for_text(".visibility", "The team").await?;
    window.screenshot("76-team-card").await?;

    // What he edits is proposed; he is told when she mentions him, and both see what was done.
    in_terminal(&bob, &["--team", "kitchen", "cards", "edit", "kettle", "--set", "pricing=paid"])?;
    in_terminal(&bob, &["--team", "kitchen", "team", "sync"])?;
    in_terminal(&ann, &["--team", "kitchen", "team", "sync"])?;
    let review = in_terminal(&ann, &["--team", "kitchen", "review", "list"])?;
    let id = review["rows"][0]["id"].to_string();
    in_terminal(&ann, &["--team", "kitchen", "review", "comment", &id, "Is that so, @bob?"])?;
    in_terminal(&ann, &["--team", "kitchen", "team", "sync"])?;
    window
        .wait_until("document.body.textContent.includes('ann mentioned you in a comment on kettle')")
        .await?;
    window.screenshot("77-team-mention").await?;
    window.click("nav button", "Activity").await?;
    window.wait_until("document.querySelector('#activity-team ~ ol')?.textContent.includes('ann')").await?;
    window.screenshot("78-team-activity").await?;
    window.click("nav button", "Settings").await?;
    window.click("nav button", "Team").await?;
    window.wait_for_text("table th", "bob").await?;
    window.screenshot("75-team-settings").await?;
    window.run("document.getElementById('team-cards').scrollIntoView()").await?;
    window.click("#team-cards ~ form label", "Only some cards").await?;
    window.screenshot("81-team-cards").await?;
    let members = in_terminal(&bob, &["--team", "kitchen", "team", "members"])?;
    ensure!(members["members"].as_array().is_some_and(|all| all.len() == 2), "{members}");
    window.close().await?;

    // So does the next one, until another library is chosen.
    let window = start(&bob, &[]).await?;
    window.wait_for(&switch_of("The kitchen")).await?.click().await?;
    window.click("[role=menuitemradio]", "Personal").await?;
    window.wait_for(&switch_of("Personal")).await?;

    // The team's cards are found from there as well, each with its library.
    window.fill("#ask-box", "boil water for tea").await?;
    window
        .wait_until("document.querySelector('.hint label')?.textContent.trim() === 'Search all libraries'")
        .await?;
    // The window remembers it, so an earlier run may have switched it on.
    window.run("const box = document.querySelector('.hint input'); if (!box.checked) box.click()").await?;
    window.wait_until("document.querySelector('.hit .badge')?.textContent === 'The kitchen'").await?;
    window.run("document.querySelector('.hit').click()").await?;
    window.wait_for_text(".details button", "Open in The kitchen").await?;
    for (name, theme, width, height) in
        [("79-all-libraries", "light", 1180, 780), ("82-all-libraries-dark-small", "dark", 900, 600)]
    {
        window.run(&format!("document.documentElement.dataset.theme = '{theme}'")).await?;
        window.driver.set_window_rect(0, 0, width, height).await?;
        window.screenshot(name).await?;
    }
    // It opens its library, and there the card.
    window.click(".details button", "Open in The kitchen").await?;
    window.wait_for(&switch_of("The kitchen")).await?;
    window.wait_until("document.querySelector('aside h1')?.textContent.trim() === 'kettle'").await?;
    window.screenshot("83-card-of-another-library").await?;
    window.wait_for(&switch_of("The kitchen")).await?.click().await?;
    window.click("[role=menuitemradio]", "Personal").await?;
    window.wait_for(&switch_of("Personal")).await?;
    window.click("nav button", "Settings").await?;
    window.click("nav button", "Library & checks").await?;
    window.wait_for_text("section li label", "The kitchen").await?;
    window.run("document.getElementById('libraries').scrollIntoView()").await?;
    window.screenshot("80-searched-libraries").await?;
    window.click("nav button", "Team").await?;
    window.click(".entries button", "Leave…").await?;
    window.wait_for_text(".dialog-content", "All your changes have been sent to the team.").await?;
    window.click(".dialog-content button.danger", "Leave team").await?;
    window.wait_for_text("section", "You haven't joined a team on this computer.").await?;
    window.close().await?;
    ensure!(!bob.data_dir().join("teams/kitchen").exists(), "the copy of the library is still there");
    let own = in_terminal(&bob, &["cards", "list"])?;
    ensure!(own["total"] == 0, "{own}");
    Ok(())
}
