//! Links that open AutoKit, `autokit://import?url=…`: handed to the pages, which show a preview. A link
//! changes nothing by itself.

use std::sync::Mutex;

use tauri::plugin::TauriPlugin;
use tauri::{AppHandle, Emitter, Manager, State, Wry};
use tauri_plugin_deep_link::DeepLinkExt;

use crate::tray;

/// Name under which the pages hear of a link that is opened while they are there.
const EVENT: &str = "deep-link";
/// Longest link that is looked at; browsers stop far below.
const LONGEST: usize = 8 << 10;

/// The link AutoKit was started with, until the pages ask for it.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Mutex<Option<String>>);

/// Takes the link AutoKit was started with; each is given once.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "the state is passed like this")]
pub(crate) fn take_link(waiting: State<'_, Waiting>) -> Option<String> {
    waiting.0.lock().expect("no holder panics").take()
}

/// Makes AutoKit started a second time hand its link over to the window that is there, and end.
pub(crate) fn one_window() -> TauriPlugin<Wry> {
    // The link itself goes on to `follow`, by way of the plugin for links.
    tauri_plugin_single_instance::init(|app, _, _| tray::reveal(app))
}

/// Keeps the link that was given at the start and passes later ones on to the pages.
pub(crate) fn follow(app: &AppHandle, given: Option<String>) {
    let given = given.filter(|link| is_ours(link));
    app.manage(Waiting(Mutex::new(given)));
    if app.env().appimage.is_some()
        && let Err(error) = app.deep_link().register_all()
    {
        // Nothing installed this program, so nobody else told the system.
        tracing::warn!(%error, "links will not open AutoKit");
    }
    let handle = app.clone();
    app.deep_link().on_open_url(move |event| {
        for link in event.urls().iter().map(ToString::to_string).filter(|link| is_ours(link)) {
            if let Err(error) = handle.emit(EVENT, &link) {
                tracing::warn!(%error, "a link did not reach the pages");
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
