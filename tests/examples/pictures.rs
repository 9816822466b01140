//! The pictures of the README, taken from the real window: `cargo xtask pictures`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use autokit_library::{Clock, DataDir, Library, Storage};
use autokit_tests::Workplace;
use autokit_tests::mcp::Agent;
use autokit_tests::review::checked_library;
use autokit_tests::window::Window;
use serde_json::{Value, json};
use thirtyfour::Key;

/// Width and height of the pictures, in points.
const SIZE: (u32, u32) = (1180, 780);
/// What is asked in the picture of an answer.
const QUESTION: &str = "I want a tool that can integrate with my google calendar";

#[tokio::main]
async fn main() -> Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).context("name the folder the pictures go to")?.into();
    std::fs::create_dir_all(&folder)?;
    answer(&folder).await?;
    review(&folder).await?;
    activity(&folder).await
}

async fn answer(folder: &Path) -> Result<()> {
    let place = Workplace::with_model()?;
    let window = Window::open(&place, &["--starter"]).await?;
    window.wait_for_job("98 added").await?;
    window.press(Key::Escape.value().to_string()).await?;
    window.fill("#ask-box", QUESTION).await?;
    window.wait_for_text("article pre", "CalendarToolkit()").await?;
    take(&window, folder, "answer").await?;
    window.close().await
}

async fn review(folder: &Path) -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let owned = DataDir::new(place.data_dir()).try_own()?;
    let library = Library::open(Storage::Disk(owned), Clock::system()).await?;
    Box::pin(checked_library(&library, 20)).await?;
    library.close().await?;
    let window = Window::open(&place, &["--model-folder", "/nonexistent"]).await?;
    window.click("nav button", "Review").await?;
    window.wait_for_text("#proposal-title", "Toolkit 001").await?;
    take(&window, folder, "review").await?;
    window.close().await
}

/// Two agents at work. One is allowed to run code for its session, the other is not.
async fn activity(folder: &Path) -> Result<()> {
    let place = Workplace::with_model()?;
    let window = Window::open(&place, &["--starter"]).await?;
    window.wait_for_job("98 added").await?;
    window.press(Key::Escape.value().to_string()).await?;
    window.click("nav button", "Activity").await?;

    let mut claude = Agent::named(&place, "Claude Code", "2.1").await?;
    for query in [QUESTION, "search scientific papers", "what time is it in another zone", "run python code"]
    {
        claude.search(query).await?;
    }
    for zone in ["Europe/Berlin", "Asia/Tokyo"] {
        claude.use_tool("get_time", json!({"zone": zone})).await?;
    }
    let code = python("import statistics\nprint(statistics.median([3, 1, 2]))");
    asking(&window, claude.use_tool("code_exec", code), "Allow for this session").await?;
    claude.use_tool("code_exec", python("print(sum(range(100)))")).await?;
    claude.use_tool("code_exec", python("print(sum(range(1000)))")).await?;

    let mut cursor = Agent::named(&place, "Cursor", "3.0").await?;
    for query in ["send a message to a chat channel", "summarize a long text", "run python code"] {
        cursor.search(query).await?;
    }
    let text = "The build is green. The release is on Friday. Two bugs are open. One of them is in search.";
    cursor.use_tool("summarize_text", json!({"text": text, "sentences": 2})).await?;
    let code = python("from pathlib import Path\nprint(Path('notes.md').read_text())");
    asking(&window, cursor.use_tool("code_exec", code), "Deny").await?;
    cursor.disconnect().await?;
    claude.disconnect().await?;

    window.click("header .button", "Refresh").await?;
    window.wait_for_text("td", "Denied").await?;
    window.run("document.getElementById('activity-tools').closest('section').scrollIntoView()").await?;
    take(&window, folder, "activity").await?;
    window.close().await
}

/// Arguments of a call that runs code.
fn python(code: &str) -> Value {
    json!({"language": "python", "code": code, "seconds": 60})
}

/// Makes a call that waits for approval, and answers the request in the window.
async fn asking<T>(window: &Window, call: impl Future<Output = Result<T>>, reply: &str) -> Result<T> {
    let (called, replied) =
        tokio::join!(call, window.click("[role=alertdialog] button:not(:disabled)", reply));
    replied?;
    called
}

/// Takes a picture in each theme.
async fn take(window: &Window, folder: &Path, name: &str) -> Result<()> {
    // The outcome of what was loaded for the picture.
    window.run("document.querySelector('footer [aria-label^=\"Hide\"]')?.click()").await?;
    window.driver.set_window_rect(0, 0, SIZE.0, SIZE.1).await?;
    for theme in ["light", "dark"] {
        window.run(&format!("document.documentElement.dataset.theme = '{theme}'")).await?;
        let taken = window.screenshot(&format!("picture-{name}-{theme}")).await?;
        std::fs::copy(taken, folder.join(format!("{name}-{theme}.png")))?;
    }
    Ok(())
}
