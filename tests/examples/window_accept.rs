//! How long accepting takes in the real window, one proposal after another: `cargo xtask bench [--release] [--quick] window`.
//!
//! From pressing the key until the next proposal is on the screen. Thirty in a row, each pressed as soon as the one before it
//! is done, while thousands wait; one JSON object.
#![allow(clippy::print_stdout, reason = "printing is what this does")]

use anyhow::{Context, Result, ensure};
use autokit_library::{Clock, DataDir, Library, Storage};
use autokit_tests::Workplace;
use autokit_tests::review::{put_cards, refresh};
use autokit_tests::window::Window;
use autokit_toolcard::{Author, ProposalState};
use serde_json::{Value, json};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// Proposals accepted in a row.
const ACCEPTED: usize = 30;

/// Accepts proposals and returns how many milliseconds each took.
const ACCEPT: &str = "
    const [count, done] = arguments;
    const title = () => document.getElementById('proposal-title')?.textContent;
    const times = [];
    (function accept() {
        if (times.length === count) return done(times);
        const [before, began] = [title(), performance.now()];
        const key = new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(key);
        (function look() {
            const now = title();
            const isShown = now && now !== before && !document.querySelector('.detail[aria-busy=true]');
            if (!isShown) return requestAnimationFrame(look);
            times.push(performance.now() - began);
            accept();
        })();
    })();";

#[tokio::main]
async fn main() -> Result<()> {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let waiting = if is_quick { 500 } else { 5000 };
    let place = Workplace::with_stand_in()?;
    let author = Author("bench".to_owned());
    let library = open(&place).await?;
    let name = |n: usize| format!("tool {n}");
    put_cards(&library, (0..waiting).map(|n| json!({ "name": name(n), "class": "Old" }))).await?;
    for n in 0..waiting {
        library.propose(refresh(&name(n), &[("class", json!("New"))]), &author, None).await?;
    }
    library.close().await?;
    let window = Window::open(&place, &["--model-folder", "/nonexistent"]).await?;
    window.click("nav button", "Review").await?;
    window.wait_for_text("#proposal-title", "tool").await?;
    let times = window.driver.execute_async(ACCEPT, vec![json!(ACCEPTED)]).await?.json().clone();
    window.close().await?;
    let mut times: Vec<f64> =
        times.as_array().context("no times")?.iter().filter_map(Value::as_f64).collect();
    let library = open(&place).await?;
    let left = library.proposals(Some(ProposalState::Pending)).await?.len();
    library.close().await?;
    ensure!(left == waiting - ACCEPTED, "{left} of {waiting} wait");
    times.sort_by(f64::total_cmp);
    let tenths = |time: f64| (time * 10.0).round() / 10.0;
    let figures = json!({
        "waiting": waiting,
        "accepted_in_a_row": times.len(),
        "accept_ms_median": tenths(times[times.len() / 2]),
        "accept_ms_most": tenths(times[times.len() - 1]),
    });
    println!("{figures}");
    Ok(())
}

async fn open(place: &Workplace) -> Result<Library> {
    let owned = DataDir::new(place.data_dir()).try_own()?;
    Ok(Library::open(Storage::Disk(owned), Clock::system()).await?)
}
