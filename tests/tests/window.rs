//! The real window: ask, edit, look back, go back, and find it all again after a restart.
//!
//! Needs a display; `cargo xtask test` gives it one and takes these tests out of `#[ignore]`.

use anyhow::{Context, Result, ensure};
use autokit_tests::calendar::{IMPORT, QUESTION, REASON, USE_CASE, cards, play, site};
use autokit_tests::model::ScriptedModel;
use autokit_tests::window::Window;
use autokit_tests::{Workplace, made_up_cards};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn ask_edit_history_restore_and_restart() -> Result<()> {
    let place = Workplace::with_model()?;
    let library = place.data_dir().display().to_string();
    let options = ["--starter", "--data-dir", library.as_str()];

    let window = Window::open(&options).await?;
    window.screenshot("01-first-run").await?;
    // The starter cards are being loaded; the answer is there when they are.
    window.wait_for_text("footer .job", "98 added").await?;
    window.fill("#ask-box", "I want a tool that can integrate with my google calendar").await?;
    window.wait_for_text("#answer-name", "Google Calendar Toolkit").await?;
    window.wait_for_text("article pre", "CalendarToolkit()").await?;
    window.screenshot("02-answer").await?;

    window.click("#answer-name button", "Google Calendar Toolkit").await?;
    window.wait_for_text("aside h1", "Google Calendar Toolkit").await?;
    window.screenshot("03-card").await?;
    window.click("aside button", "Edit").await?;
    window.fill("#field-pricing", "Free of charge, ask finance").await?;
    window.screenshot("04-edit").await?;
    window.click("aside button.primary", "Save").await?;
    window.wait_for_text("aside .badge", "Revision 2").await?;
    window.wait_for_text("aside dd", "Free of charge, ask finance").await?;

    window.click("aside [role=tab]", "History").await?;
    window.wait_for_text("aside .history ins", "finance").await?;
    window.screenshot("05-history").await?;
    window.click("aside .history button", "Restore").await?;
    window.wait_for_text("aside .badge", "Revision 3").await?;
    window.close().await?;

    let window = Window::open(&options).await?;
    window.fill("#ask-box", "google calendar").await?;
    window.click("#answer-name button", "Google Calendar Toolkit").await?;
    window.wait_for_text("aside .badge", "Revision 3").await?;
    window.click("aside [role=tab]", "History").await?;
    window.wait_for_text("aside .history", "Restored revision 1").await?;
    window.close().await?;

    // The terminal sees the same library.
    let history = place.json(&["cards", "history", "Google Calendar Toolkit"])?;
    let numbers: Vec<_> = history.as_array().context("a list")?.iter().map(|r| r["number"].clone()).collect();
    ensure!(numbers == [3, 2, 1], "{history}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn looks_right_in_light_and_dark_small_and_full() -> Result<()> {
    let place = Workplace::with_model()?;
    let library = place.data_dir().display().to_string();
    let window = Window::open(&["--data-dir", library.as_str()]).await?;
    window.wait_for_text("h2", "This library is empty").await?;
    window.screenshot("10-empty").await?;
    window.close().await?;

    let file = place.cards_file("cards.json", &made_up_cards(10_000))?;
    place.command(&["--no-model", "import", &file.display().to_string()])?.status()?;
    let window = Window::open(&["--data-dir", library.as_str(), "--model-folder", "/nonexistent"]).await?;
    window.wait_for_text("header .badge", "Words only").await?;
    window.fill("#ask-box", "compress photos").await?;
    window.wait_for("#answer-name").await?;
    window.screenshot("11-words-only").await?;
    window.click("nav button", "Library").await?;
    window.wait_until("document.querySelector('.row .name')?.textContent.startsWith('archive')").await?;
    for (name, theme, width, height) in [
        ("12-library-light", "light", 1180, 780),
        ("13-library-dark", "dark", 1180, 780),
        ("14-library-dark-small", "dark", 900, 600),
    ] {
        window.run(&format!("document.documentElement.dataset.theme = '{theme}'")).await?;
        window.driver.set_window_rect(0, 0, width, height).await?;
        window.screenshot(name).await?;
    }
    let wide = window.run("return document.documentElement.scrollWidth <= innerWidth").await?;
    ensure!(wide == true, "the window scrolls sideways at 900 × 600");
    window.click("nav button", "Settings").await?;
    window.wait_for_text("h2", "Embedding model").await?;
    window.screenshot("15-settings").await?;
    window.close().await
}

/// FUEL's appendix B, played by hand: nothing in the library, a JavaScript tool from the web, "I want it
/// for python", the Python tool, a card, a recommendation, starter code.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn the_calendar_session() -> Result<()> {
    let place = Workplace::with_model()?;
    let (model, site) = (ScriptedModel::saying(play).await?, site().await?);
    let library = place.data_dir().display().to_string();
    let file = place.cards_file("cards.json", &cards())?;
    let run = |arguments: &[&str]| tokio::task::block_in_place(|| place.json(arguments));
    run(&["import", &file.display().to_string()])?;
    run(&["providers", "keys", "--keep", "file"])?;

    let window = Window::open(&["--data-dir", library.as_str()]).await?;
    // Chosen in a terminal while the window is open: it takes effect here without a restart.
    run(&["providers", "llm", "openai", "--url", &model.base, "--model", "large-1", "--small", "small-1"])?;
    run(&["providers", "search", "searxng", "--url", &site.base])?;
    run(&["providers", "allow", &site.host()])?;
    // The badges may be cut off at the edge, which WebDriver does not count as shown.
    let says = |text: &str| format!("document.querySelector('header').textContent.includes('{text}')");
    window.wait_until(&says("LLM: large-1")).await?;
    window.wait_until(&says("Search: SearXNG")).await?;

    window.fill("#ask-box", QUESTION).await?;
    window.click("form button", "Ask").await?;
    window.wait_for_text("article h3", "Google Calendar Tool").await?;
    window.screenshot("20-found-on-the-web").await?;
    window.click("button", "No").await?;
    window.fill("#said", REASON).await?;
    window.click("button.primary", "Search again without it").await?;
    // The turn before gives way to this one while it is looked for.
    window.wait_until("document.querySelector('article h3')?.textContent === 'CalendarToolkit'").await?;
    window.screenshot("21-refined").await?;
    window.click("article button", "Propose as a card").await?;
    window.click("article button", "Proposed, waits in Review").await?;

    window.wait_for_text("#proposal-title", "CalendarToolkit").await?;
    window.screenshot("22-review").await?;
    window.click("button.primary", "Accept").await?;
    window.wait_for_text("header .badge", "Accepted").await?;

    window.click("nav button", "Ask").await?;
    window.fill("#ask-box", QUESTION).await?;
    window.click("form button", "Ask").await?;
    window.wait_for_text("#answer-name", "CalendarToolkit").await?;
    window.wait_for_text("article pre", IMPORT).await?;
    window.click("button", "Yes, this helps").await?;
    window.fill("#said", USE_CASE).await?;
    window.click("button.primary", "Write starter code").await?;
    window.wait_for_text("section pre", "print(toolkit.get_tools())").await?;
    window.screenshot("23-starter-code").await?;
    window.close().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn the_papers_card_is_put_right() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = autokit_tests::appendix::site().await?;
    let node = place.node(64).await?;
    choose(&node, None, Some(&site)).await?;
    stock(&node, &[autokit_tests::appendix::card(&site)]).await?;
    let start = VerifyStart { scope: VerifyScope::All, improve: true };
    let job = node.call::<StartVerify>(start).await?;
    done(&node, &job.job).await?;
    node.close().await?;

    let library = place.data_dir().display().to_string();
    let window = Window::open(&["--stand-in", "64", "--data-dir", library.as_str()]).await?;
    window.click("nav button", "Review").await?;
    window.wait_for_text(".review", "DuckDuckGoSearchResults").await?;
    window.wait_for_text(".review", "langchain_community.tools").await?;
    window.screenshot("40-appendix-a").await?;
    window.close().await?;
    Ok(())
}
