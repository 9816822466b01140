//! The pictures of the README, taken from the real window: `cargo xtask pictures`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use autokit_library::{Clock, DataDir, Library, Storage};
use autokit_tests::Workplace;
use autokit_tests::review::checked_library;
use autokit_tests::window::Window;
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
    review(&folder).await
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

/// Takes a picture in each theme.
async fn take(window: &Window, folder: &Path, name: &str) -> Result<()> {
    window.driver.set_window_rect(0, 0, SIZE.0, SIZE.1).await?;
    for theme in ["light", "dark"] {
        window.run(&format!("document.documentElement.dataset.theme = '{theme}'")).await?;
        let taken = window.screenshot(&format!("picture-{name}-{theme}")).await?;
        std::fs::copy(taken, folder.join(format!("{name}-{theme}.png")))?;
    }
    Ok(())
}
