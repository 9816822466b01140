//! Deep links, `autokit://import?url=…`: passed to the frontend, which shows a preview. A link changes
//! nothing by itself.

use std::sync::Mutex;

use tauri::plugin::TauriPlugin;
use tauri::{AppHandle, Emitter, Manager, State, Wry};
use tauri_plugin_deep_link::DeepLinkExt;

use crate::tray;

/// Name of the Tauri event that passes a link to the frontend.
const EVENT: &str = "deep-link";
/// Maximum length of a link in bytes; browsers have far lower limits.
const LONGEST: usize = 8 << 10;

/// The link AutoKit was started with, until the frontend takes it.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Mutex<Option<String>>);

/// Returns the link AutoKit was started with, once.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the state by value")]
pub(crate) fn take_link(waiting: State<'_, Waiting>) -> Option<String> {
    waiting.0.lock().expect("no holder panics").take()
}

/// Makes a second instance of AutoKit pass its link to the existing window and exit.
pub(crate) fn one_window() -> TauriPlugin<Wry> {
    // The link itself reaches `follow` through the deep link plugin.
    tauri_plugin_single_instance::init(|app, _, _| tray::reveal(app))
}

/// Stores the link AutoKit was started with, and forwards later ones to the frontend.
pub(crate) fn follow(app: &AppHandle, given: Option<String>) {
    let given = given.filter(|link| is_ours(link));
    app.manage(Waiting(Mutex::new(given)));
    if app.env().appimage.is_some()
        && let Err(error) = app.deep_link().register_all()
    {
        // An AppImage has no installer that could have registered the scheme.
        tracing::warn!(%error, "failed to register the autokit:// scheme");
    }
    let handle = app.clone();
    app.deep_link().on_open_url(move |event| {
        for link in event.urls().iter().map(ToString::to_string).filter(|link| is_ours(link)) {
            if let Err(error) = handle.emit(EVENT, &link) {
                tracing::warn!(%error, "failed to pass a link to the window");
            }
        }
    });
}

fn is_ours(link: &str) -> bool {
    link.starts_with("autokit://") && link.len() <= LONGEST
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_links_of_this_program_are_followed() {
        assert!(is_ours("autokit://import?url=https%3A%2F%2Fexample.org%2Fa.toolcards"));
        assert!(!is_ours("https://example.org"));
        assert!(!is_ours("--data-dir"));
        assert!(!is_ours(&format!("autokit://import?url={}", "x".repeat(9 << 10))));
    }
}
