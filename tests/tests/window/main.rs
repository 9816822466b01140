//! The real window: ask, edit, look back, go back, and find it all again after a restart.
//!
//! Needs a display; `cargo xtask test` gives it one and takes these tests out of `#[ignore]`.

use anyhow::{Context, Result, ensure};
use autokit_api::commands::StartVerify;
use autokit_api::{VerifyScope, VerifyStart};
use autokit_app::host::Endpoint;
use autokit_library::{Clock, DataDir, Library, Storage};
use autokit_tests::calendar::{IMPORT, QUESTION, REASON, USE_CASE, cards, scripted_reply, site, stock};
use autokit_tests::model::ScriptedModel;
use autokit_tests::review::checked_library;
use autokit_tests::window::Window;
use autokit_tests::{Workplace, made_up_cards};
use thirtyfour::Key;

#[cfg(target_os = "linux")]
mod accessibility;
mod bundles;
#[cfg(target_os = "linux")]
mod desktop;
mod links;
mod tasks;
mod team;

/// The model is not what is looked at.
const NO_MODEL: &[&str] = &["--model-folder", "/nonexistent"];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn ask_edit_history_restore_and_restart() -> Result<()> {
    let place = Workplace::with_model()?;
    let window = Window::open(&place, &["--starter"]).await?;
    window.screenshot("01-first-run").await?;
    // The starter cards are being loaded; the answer is there when they are.
    window.wait_for_job("98 added").await?;
    window.press(Key::Escape.value().to_string()).await?;
    window.fill("#ask-box", "I want a tool that can integrate with my google calendar").await?;
    window.wait_for_text(".answer h1", "Google Calendar Toolkit").await?;
    window.wait_for_text("article pre", "CalendarToolkit()").await?;
    window.screenshot("02-answer").await?;

    window.click(".answer h1 button", "Google Calendar Toolkit").await?;
    window.wait_for_text("aside h1", "Google Calendar Toolkit").await?;
    window.screenshot("03-card").await?;
    window.click("aside button", "Edit").await?;
    window.fill("#edit-pricing", "Free of charge, ask finance").await?;
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

    let window = Window::open(&place, &["--starter"]).await?;
    window.fill("#ask-box", "google calendar").await?;
    window.click(".answer h1 button", "Google Calendar Toolkit").await?;
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
    let window = Window::open(&place, &[]).await?;
    window.wait_for_text("h2", "This library is empty").await?;
    window.screenshot("10-empty").await?;
    window.close().await?;

    let file = place.cards_file("cards.json", &made_up_cards(10_000))?;
    place.command(&["--no-model", "import", &file.display().to_string()])?.status()?;
    let window = Window::open(&place, NO_MODEL).await?;
    window.wait_for_text("header .badge", "Keyword search only").await?;
    window.fill("#ask-box", "compress photos").await?;
    window.wait_for(".answer h1").await?;
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
    window.click("nav button", "AI services").await?;
    window.wait_for_text("h2", "Embedding model").await?;
    window.screenshot("15-settings").await?;
    window.close().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn the_window_goes_on_with_another_engine() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let file = place.cards_file("cards.json", &made_up_cards(20))?;
    place.json(&["import", &file.display().to_string()])?;
    let window = Window::open(&place, NO_MODEL).await?;
    window.fill("#ask-box", "compress calendars 12").await?;
    window.wait_for(".answer h1").await?;
    let endpoint = || Endpoint::read(&DataDir::new(place.data_dir()).endpoint_file());
    let killed = endpoint().context("an engine")?.pid;
    let pid = rustix::process::Pid::from_raw(killed.try_into()?).context("a process")?;
    rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
    // Answered by the next engine, which is started by itself.
    window.fill("#ask-box", "archive photos 15").await?;
    window.wait_until("document.querySelector('.answer h1')?.textContent.startsWith('archive')").await?;
    let next = endpoint().context("another engine")?.pid;
    ensure!(next != killed, "{next}");
    window.close().await?;
    // Its engine closed the library: nobody has to recover it.
    ensure!(endpoint().is_none(), "{:?}", endpoint());
    ensure!(place.json(&["cards", "list"])?["total"] == 20);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn a_backup_is_restored_and_the_window_quits() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let file = place.cards_file("cards.json", &made_up_cards(20))?;
    place.json(&["import", &file.display().to_string()])?;
    let window = Window::open(&place, NO_MODEL).await?;
    window.click("nav button", "Settings").await?;
    window.click("nav button", "Library & checks").await?;
    window.click("button", "Back up now").await?;
    window.wait_for_text("ul[aria-label=Backups] li", "20 cards").await?;
    let lost = place.json(&["cards", "list"])?["rows"][0]["name"].as_str().context("a name")?.to_owned();
    place.json(&["cards", "rm", &lost])?;

    window.click("ul[aria-label=Backups] button", "Restore…").await?;
    window.wait_for_text(".dialog-content summary", "1 card will be added back").await?;
    window.screenshot("16-restore").await?;
    window.click(".dialog-content button.danger", "Restore").await?;
    window.wait_for_text(".toast", "Restored the backup of").await?;
    window.wait_until("!document.querySelector('.dialog-content')").await?;
    window.click("nav button", "Library").await?;
    window.fill("#library-filter", &lost).await?;
    window
        .wait_until(&format!("document.querySelector('.row .name')?.textContent.trim() === {lost:?}"))
        .await?;
    ensure!(place.json(&["cards", "list"])?["total"] == 20);

    // A dialog in the way does not keep it open.
    window.press(format!("{}i{}", Key::Control.value(), Key::Null.value())).await?;
    window.wait_for(".dialog-content").await?;
    window.quit_by_keys().await?;
    ensure!(Endpoint::read(&DataDir::new(place.data_dir()).endpoint_file()).is_none(), "the engine runs on");
    ensure!(place.json(&["cards", "list"])?["total"] == 20);
    Ok(())
}

/// FUEL's appendix B, played by hand: nothing in the library, a JavaScript tool from the web, "I want it
/// for python", the Python tool, a card, a recommendation, starter code.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn the_calendar_session() -> Result<()> {
    let place = Workplace::with_model()?;
    let (model, site) = (ScriptedModel::with_script(scripted_reply).await?, site().await?);
    let file = place.cards_file("cards.json", &cards())?;
    let run = |arguments: &[&str]| tokio::task::block_in_place(|| place.json(arguments));
    run(&["import", &file.display().to_string()])?;
    run(&["providers", "keys", "--keep", "file"])?;

    let window = Window::open(&place, &[]).await?;
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
    window.click("article button", "Propose as card").await?;
    window.click("article button", "Proposed, pending review").await?;

    window.wait_for_text("#proposal-title", "CalendarToolkit").await?;
    window.screenshot("22-review").await?;
    window.click("button.primary", "Accept").await?;
    window.wait_for_text("header .badge", "Accepted").await?;

    window.click("nav button", "Ask").await?;
    window.fill("#ask-box", QUESTION).await?;
    window.click("form button", "Ask").await?;
    window.wait_for_text(".answer h1", "CalendarToolkit").await?;
    window.wait_for_text("article pre", IMPORT).await?;
    window.click("button", "Yes, this helps").await?;
    window.fill("#said", USE_CASE).await?;
    window.click("button.primary", "Generate starter code").await?;
    window.wait_for_text("section pre", "print(toolkit.get_tools())").await?;
    window.screenshot("23-starter-code").await?;
    window.close().await
}

async fn place_to_review(proposals: usize) -> Result<Workplace> {
    let place = Workplace::with_stand_in()?;
    let owned = place.own().await?;
    let library = Library::open(Storage::Disk(owned), Clock::system()).await?;
    Box::pin(checked_library(&library, proposals)).await?;
    library.close().await?;
    Ok(place)
}

/// A reviewer without a mouse clears twenty proposals: whole, in part, with a value put right first, with
/// a field turned down, turned down with a reason, taken back, and the harmless rest at once.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn twenty_proposals_are_cleared_by_keyboard() -> Result<()> {
    let place = place_to_review(20).await?;
    let window = Window::open(&place, NO_MODEL).await?;
    let waiting = |count: usize| {
        format!(
            "document.querySelector('aside[aria-label=Queue] [role=status]')?.textContent.trim() === '{count} pending'"
        )
    };
    let opened =
        |title: &str| format!("document.querySelector('#proposal-title')?.textContent === '{title}'");
    let chord = |key: &str| format!("{}{key}{}", Key::Control.value(), Key::Null.value());
    let reads = |place: &Workplace, arguments: &[&str]| tokio::task::block_in_place(|| place.json(arguments));

    window.press(chord("3")).await?;
    window.wait_until(&waiting(20)).await?;
    window.wait_until(&opened("Toolkit 001")).await?;
    window.screenshot("30-review-by-keyboard").await?;

    // As it is; what comes next is open by itself.
    window.press("a").await?;
    window.wait_until(&waiting(19)).await?;
    window.wait_until(&opened("Toolkit 006")).await?;
    // Taken back from where one is by now, and taken over again.
    window.press("u").await?;
    window.wait_until(&waiting(20)).await?;
    window.wait_until(&opened("Toolkit 001")).await?;
    window.press("a").await?;
    window.wait_until(&waiting(19)).await?;
    // Not wanted, for a reason.
    window.wait_until(&opened("Toolkit 006")).await?;
    window.press("r").await?;
    window.wait_until("document.activeElement?.id === 'reject-reason'").await?;
    window.press("we keep our own page").await?;
    window.press(Key::Enter.value().to_string()).await?;
    window.wait_until(&waiting(18)).await?;
    // The address is put right before it is accepted.
    window.wait_until(&opened("Toolkit 011")).await?;
    window.press("e").await?;
    window.wait_until("document.activeElement?.id === 'proposed-documentation-edit'").await?;
    window.press(chord("a")).await?;
    window.press("https://docs.example.org/put-right").await?;
    window.screenshot("31-review-edit").await?;
    window.press(chord(&Key::Enter.value().to_string())).await?;
    window.wait_until("document.body.textContent.includes('edited by you')").await?;
    window.press("a").await?;
    window.wait_until(&waiting(17)).await?;
    window.wait_until(&opened("Toolkit 016")).await?;
    window.press("a").await?;
    window.wait_until(&waiting(16)).await?;

    // Two fields: one is left out, then of another proposal one is turned down.
    window.wait_until(&opened("Toolkit 002")).await?;
    window.press("J").await?;
    window.press(" ").await?;
    window.wait_for_text("button.primary", "Accept 1 of 2 fields").await?;
    window.press("d").await?;
    window.wait_for(".split").await?;
    window.screenshot("32-review-in-part").await?;
    window.press("a").await?;
    window.wait_until(&waiting(15)).await?;
    window.press("j").await?;
    window.wait_until(&opened("Toolkit 007")).await?;
    window.press("R").await?;
    window.wait_for_text("button.primary", "Accept 1 of 2 fields").await?;
    window.press("a").await?;
    window.wait_until(&waiting(14)).await?;

    // All that needs no closer look, after seeing what it is.
    window.press("A").await?;
    window.wait_for_text(".dialog-content button.primary", "Accept 8 proposals").await?;
    window.screenshot("33-review-accept-safe").await?;
    window.wait_until("document.activeElement?.textContent.includes('Accept 8 proposals')").await?;
    window.press(Key::Enter.value().to_string()).await?;
    window.wait_until(&waiting(6)).await?;
    for remaining in (0..6).rev() {
        // Read before it is decided on.
        window.wait_until("document.querySelector('.detail')?.getAttribute('aria-busy') === 'false'").await?;
        window.press("a").await?;
        if remaining > 0 {
            window.wait_until(&waiting(remaining)).await?;
        }
    }
    window
        .wait_until(
            "document.querySelector('nav button[aria-current=page]')?.textContent.trim() === 'Review'",
        )
        .await?;
    window.screenshot("34-review-cleared").await?;
    window.close().await?;

    let all = reads(&place, &["review", "list", "--all"])?;
    let count = |state: &str| {
        all["rows"].as_array().map_or(0, |rows| rows.iter().filter(|row| row["state"] == state).count())
    };
    ensure!((count("accepted"), count("rejected"), count("pending")) == (19, 1, 0), "{all}");
    let card = |name: &str| reads(&place, &["cards", "show", name]).map(|card| card["fields"].clone());
    ensure!(card("Toolkit 001")?["documentation"] == "https://docs.example.org/toolkits/1");
    ensure!(card("Toolkit 006")?["documentation"] == "https://example.org/toolkits/6");
    ensure!(card("Toolkit 011")?["documentation"] == "https://docs.example.org/put-right");
    let part = card("Toolkit 002")?;
    ensure!(
        part["class"] == "AsyncClient"
            && part["description"] == "Sends and reads messages, with attachments."
    );
    let other = card("Toolkit 007")?;
    ensure!(
        other["class"] == "Client" && other["description"] != "Sends and reads messages, with attachments."
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn the_review_looks_right_with_a_thousand_and_with_none() -> Result<()> {
    let place = place_to_review(1000).await?;
    let window = Window::open(&place, NO_MODEL).await?;
    window.click("nav button", "Review").await?;
    window.wait_for_text("#proposal-title", "Toolkit").await?;
    // The second group: a change of two fields, one of which ends up in code.
    window.fill("#review-filter", "toolkit 002").await?;
    window.press(Key::Enter.value().to_string()).await?;
    window.wait_until("document.querySelector('#proposal-title')?.textContent === 'Toolkit 002'").await?;
    window.run("const box = document.querySelector('#review-filter'); box.value = ''; box.dispatchEvent(new Event('input'))").await?;
    window.wait_until("document.querySelector('aside[aria-label=Queue] [role=status]').textContent.trim() === '1,000 pending'").await?;
    for (name, theme, layout, width, height) in [
        ("40-review-light", "light", "Unified", 1280, 820),
        ("41-review-light-split", "light", "Side by side", 1280, 820),
        ("42-review-dark", "dark", "Unified", 1280, 820),
        ("43-review-dark-small", "dark", "Side by side", 900, 600),
        ("44-review-light-small", "light", "Unified", 900, 600),
    ] {
        window.run(&format!("document.documentElement.dataset.theme = '{theme}'")).await?;
        window.driver.set_window_rect(0, 0, width, height).await?;
        let choose = format!(
            "[...document.querySelectorAll('[aria-label=Changes] label')].find((l) => l.textContent.includes('{layout}')).click()"
        );
        window.run(&choose).await?;
        window.screenshot(name).await?;
        let wide = window.run("return document.documentElement.scrollWidth <= innerWidth").await?;
        ensure!(wide == true, "the window scrolls sideways at {width} × {height}");
    }
    window.driver.set_window_rect(0, 0, 1280, 820).await?;
    window.click(".trend", "since").await?;
    window.wait_for_text("table", "Today").await?;
    window.screenshot("45-review-health").await?;
    window.close().await?;

    let place = Workplace::with_stand_in()?;
    let window = Window::open(&place, NO_MODEL).await?;
    window.click("nav button", "Review").await?;
    window.wait_for_text("h1", "Nothing to review").await?;
    window.screenshot("46-review-empty").await?;
    window.close().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn the_papers_card_is_put_right() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = autokit_tests::appendix::site().await?;
    let node = place.node(64).await?;
    autokit_tests::agent::set_providers(&node, None, Some(&site)).await?;
    stock(&node, &[autokit_tests::appendix::card(&site)]).await?;
    let start = VerifyStart { scope: VerifyScope::All, improve: true, anew: false };
    let job = node.call::<StartVerify>(start).await?;
    autokit_tests::agent::wait_for_job(&node, &job.job).await?;
    node.close().await?;

    let window = Window::open(&place, NO_MODEL).await?;
    window.click("nav button", "Review").await?;
    window.wait_for_text(".review", "DuckDuckGoSearchResults").await?;
    window.wait_for_text(".review", "langchain_community.tools").await?;
    window.screenshot("50-appendix-a").await?;
    window.close().await?;
    Ok(())
}
