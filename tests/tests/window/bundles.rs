//! A bundle goes from one person's window to another's.

use anyhow::{Result, ensure};
use autokit_tests::Workplace;
use autokit_tests::window::Window;
use serde_json::{Value, json};
use thirtyfour::Key;

use super::NO_MODEL;

/// What both libraries begin with, and one card more that does not leave.
fn cards() -> Vec<Value> {
    vec![
        json!({ "name": "Toaster", "provider": "Breakfast", "description": "Toasts bread.", "class": "Toaster",
            "module": "toast", "pricing": "free", "programming_language": "python" }),
        json!({ "name": "Egg Timer", "provider": "Breakfast", "description": "Times eggs.", "class": "Timer",
            "module": "eggs", "programming_language": "python" }),
        json!({ "name": "Juicer", "provider": "Breakfast", "description": "Presses oranges.",
            "programming_language": "python" }),
        json!({ "name": "Saw", "provider": "Workshop", "description": "Saws wood.",
            "programming_language": "rust" }),
    ]
}

/// Exports what the list shows to `path`, by the library's own dialog.
async fn export_in_view(window: &Window, path: &std::path::Path) -> Result<()> {
    window.answer_dialogs(path).await?;
    window.click("nav button", "Library").await?;
    window.fill("input[type=search]", "Breakfast").await?;
    window.wait_for_text("main", "3 cards of 4").await?;
    window.click("main button", "Export").await?;
    window.wait_for_text(".dialog-content button.primary", "Export 3 cards").await?;
    window.screenshot("60-export").await?;
    window.click(".dialog-content button.primary", "Export 3 cards").await?;
    window.wait_for_text("[role=status]", "Exported 3 cards to").await?;
    Ok(())
}

async fn look_at(window: &Window, path: &std::path::Path) -> Result<()> {
    window.click("nav button", "Library").await?;
    window.answer_dialogs(path).await?;
    window.click("main button", "Import").await?;
    window.click(".dialog-content button.primary", "Choose a file").await?;
    window.wait_for("[aria-label='Filter']").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn a_filtered_set_is_imported_with_two_conflicts_and_undone() -> Result<()> {
    let (alice, bob) = (Workplace::with_stand_in()?, Workplace::with_stand_in()?);
    let run = |place: &Workplace, arguments: &[&str]| tokio::task::block_in_place(|| place.json(arguments));
    let fields = |name: &str| run(&bob, &["cards", "show", name]).map(|card| card["fields"].clone());
    let before = alice.path("before.toolcards");
    let bundle = alice.path("after.toolcards");
    let file = alice.cards_file("cards.json", &cards())?;
    run(&alice, &["providers", "keys", "--keep", "file"])?;
    run(&alice, &["import", &file.display().to_string()])?;
    run(&alice, &["bundle", "export", &before.display().to_string()])?;
    run(&bob, &["bundle", "import", "--trust", &before.display().to_string()])?;
    // Both go on by themselves.
    run(
        &alice,
        &["cards", "edit", "Toaster", "--set", "description=Toasts on both sides.", "--set", "pricing=paid"],
    )?;
    run(&alice, &["cards", "edit", "Egg Timer", "--set", "class=EggClock"])?;
    run(&alice, &["cards", "edit", "Juicer", "--set", "description=Presses lemons too."])?;
    run(&bob, &["cards", "edit", "Toaster", "--set", "description=Toasts slices."])?;
    run(&bob, &["cards", "edit", "Egg Timer", "--set", "class=EggWatch"])?;

    let window = Window::open(&alice, NO_MODEL).await?;
    export_in_view(&window, &bundle).await?;
    window.close().await?;

    let window = Window::open(&bob, NO_MODEL).await?;
    look_at(&window, &bundle).await?;
    let counts = "[...document.querySelectorAll('[aria-label=\"Filter\"] button')].map((b) => b.textContent.replace(/\\s+/g, ' ').trim()).join()";
    let counts = window.run(&format!("return {counts}")).await?;
    let expected = "3 All,0 New,1 Changed,2 Conflicting,0 Possible duplicate,0 Identical,0 Invalid";
    ensure!(counts == expected, "{counts}");
    // The third one, by keys.
    window.wait_until("document.querySelectorAll('.dialog-content [data-place]').length === 3").await?;
    window.press("jj").await?;
    window.press(Key::Enter.value().to_string()).await?;
    window.wait_until("document.querySelector('.dialog-content [role=radiogroup]')").await?;
    let theirs = "[...document.querySelectorAll('.dialog-content .choices label')].find((label) => label.textContent.includes('Use theirs')).click()";
    window.run(theirs).await?;
    window
        .wait_until("document.querySelector('.dialog-content dl .badge')?.textContent.includes('used')")
        .await?;
    window.screenshot("61-import-conflict").await?;
    window.click(".dialog-content label", "Import directly").await?;
    window.click(".dialog-content button.primary", "Import 3 cards").await?;
    window.wait_for_job("1 pending review").await?;
    let toaster = fields("Toaster")?;
    ensure!(toaster["description"] == "Toasts on both sides." && toaster["pricing"] == "paid", "{toaster}");
    ensure!(fields("Egg Timer")?["class"] == "EggWatch", "what nobody decided stays");
    ensure!(fields("Juicer")?["description"] == "Presses lemons too.");

    // The other one is decided in Review, field by field.
    window
        .run("[...document.querySelectorAll('footer [role=dialog] button')].find((one) => one.textContent === 'Show in Review').click()")
        .await?;
    window.wait_for_text("#proposal-title", "Egg Timer").await?;
    window.wait_for_text("[role=group]", "EggClock").await?;
    window.screenshot("62-review-conflict").await?;
    window.press("t").await?;
    window.wait_for_text("button.primary", "Accept").await?;
    window.press("a").await?;
    window.wait_for_text("[role=status]", "Accepted Breakfast / Egg Timer").await?;
    ensure!(fields("Egg Timer")?["class"] == "EggClock");

    // All of it is one step: what was decided about it goes with it.
    window.click("nav button", "Library").await?;
    window.click("main button", "Bundles").await?;
    window.click(".dialog-content [aria-label=Imports] button", "Undo").await?;
    window.screenshot("63-undo-import").await?;
    window.click(".dialog-content button", "Undo import").await?;
    window.wait_for_text(".dialog-content [aria-label=Imports]", "undone").await?;
    window.close().await?;
    let toaster = fields("Toaster")?;
    ensure!(toaster["description"] == "Toasts slices." && toaster["pricing"] == "free", "{toaster}");
    ensure!(fields("Egg Timer")?["class"] == "EggWatch");
    ensure!(fields("Juicer")?["description"] == "Presses oranges.");
    let waiting = run(&bob, &["review", "list"]).unwrap_or(Value::Null);
    ensure!(waiting["rows"].as_array().is_none_or(Vec::is_empty), "{waiting}");
    Ok(())
}

/// Nothing on the page turns text around or does not show; a picture of it is kept.
async fn nothing_hides(window: &Window, name: &str) -> Result<()> {
    window.screenshot(name).await?;
    let hidden = window
        .run(
            "const told = [document.body.innerText];
             for (const of of document.querySelectorAll('[title], [aria-label]'))
                 told.push(of.getAttribute('title') ?? '', of.getAttribute('aria-label') ?? '');
             return told.filter((text) => /[\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f]/.test(text));",
        )
        .await?;
    ensure!(hidden == json!([]), "{name}: {hidden}");
    Ok(())
}

/// What somebody else wrote is text, wherever the window shows it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn markup_and_hidden_characters_stay_text_in_every_field() -> Result<()> {
    let (mallory, bob) = (Workplace::with_stand_in()?, Workplace::with_stand_in()?);
    let run = |place: &Workplace, arguments: &[&str]| tokio::task::block_in_place(|| place.json(arguments));
    let bad = |field: &str| {
        format!("{field} <img src=x onerror=window.hit=1><script>window.hit=1</script> \u{202e}evil\u{2066}")
    };
    let card = json!({
        "name": bad("name"), "provider": bad("provider"), "description": bad("description"),
        "module": bad("module"), "class": bad("class"), "pricing": bad("pricing"), "version": bad("version"),
        "programming_language": bad("language"), "documentation": "https://example.org/?a=<script>window.hit=1</script>",
        "init_args": { bad("key"): bad("value") }, "tags": [bad("tag")], bad("unknown"): bad("more"),
    });
    let file = mallory.cards_file("cards.json", &[card])?;
    let bundle = mallory.path("bad.toolcards").display().to_string();
    run(&mallory, &["import", &file.display().to_string()])?;
    // What hides waits in Review, also one's own.
    run(&mallory, &["review", "accept", "1"])?;
    let (name, note) = (bad("bundle"), bad("note"));
    run(&mallory, &["bundle", "export", &bundle, "--name", &name, "--note", &note, "--history"])?;

    let window = Window::open(&bob, NO_MODEL).await?;
    look_at(&window, std::path::Path::new(&bundle)).await?;
    window.wait_for_text(".dialog-content", "‹U+202E›").await?;
    window
        .run("document.querySelectorAll('.dialog-content [aria-expanded=false]').forEach((b) => b.click())")
        .await?;
    window.wait_for_text(".dialog-content", "more <img").await?;
    nothing_hides(&window, "64-hostile-preview").await?;
    window.click(".dialog-content button.primary", "Propose 1 card").await?;
    window.wait_for_job("1 pending review").await?;
    window
        .run("[...document.querySelectorAll('footer [role=dialog] button')].find((one) => one.textContent === 'Show in Review').click()")
        .await?;
    window.wait_for_text("#proposal-title", "name").await?;
    nothing_hides(&window, "65-hostile-review").await?;
    window.press("a").await?;
    // Text that hides something is asked about once more.
    window.wait_for_text("[role=alertdialog], [role=dialog]", "Accept anyway").await?;
    nothing_hides(&window, "66-hostile-asked").await?;
    window.click("[role=alertdialog] button, [role=dialog] button", "Accept anyway").await?;
    window.wait_for_text("[role=status]", "Accepted").await?;
    nothing_hides(&window, "66-hostile-accepted").await?;
    window.click("nav button", "Ask").await?;
    window.fill("#ask-box", "evil description").await?;
    window.wait_until("document.querySelector('main').innerText.includes('U+202E')").await?;
    nothing_hides(&window, "67-hostile-answer").await?;
    window.click("nav button", "Library").await?;
    window.wait_until("document.querySelector('[role=row] .name')").await?;
    window.run("document.querySelector('[role=row] .name').click()").await?;
    window.wait_for_text("aside h1", "name").await?;
    nothing_hides(&window, "68-hostile-card").await?;
    window.click("aside [role=tab]", "History").await?;
    window.wait_for("aside .history").await?;
    nothing_hides(&window, "69-hostile-history").await?;
    window.click("main button", "Bundles").await?;
    window.wait_for_text(".dialog-content", "bundle").await?;
    nothing_hides(&window, "70-hostile-imports").await?;
    let hit = window.run("return window.hit ?? null").await?;
    ensure!(hit.is_null(), "a script ran");
    let markup =
        window.run("return document.querySelectorAll('img[src=x], script:not([src])').length").await?;
    ensure!(markup == json!(0), "{markup} elements were made of text");
    window.close().await
}
