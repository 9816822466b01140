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
const MAX_LINK_BYTES: usize = 8 << 10;

/// The link AutoKit was started with, until the frontend takes it.
#[derive(Debug, Default)]
pub(crate) struct PendingLink(Mutex<Option<String>>);

/// Returns the link AutoKit was started with, once.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the state by value")]
pub(crate) fn take_link(pending: State<'_, PendingLink>) -> Option<String> {
    pending.0.lock().expect("no holder panics").take()
}

/// Makes a second instance of AutoKit pass its link to the existing window and exit.
pub(crate) fn single_instance() -> TauriPlugin<Wry> {
    // The link itself reaches `handle_links` through the deep link plugin.
    tauri_plugin_single_instance::init(|app, _, _| tray::show_window(app))
}

/// Stores the link AutoKit was started with, and forwards later ones to the frontend.
pub(crate) fn handle_links(app: &AppHandle, initial: Option<String>) {
    let initial = initial.filter(|link| is_autokit_link(link));
    app.manage(PendingLink(Mutex::new(initial)));
    if app.env().appimage.is_some()
        && let Err(error) = app.deep_link().register_all()
    {
        // An AppImage has no installer that could have registered the scheme.
        tracing::warn!(%error, "failed to register the autokit:// scheme");
    }
    let handle = app.clone();
    app.deep_link().on_open_url(move |event| {
        for link in event.urls().iter().map(ToString::to_string).filter(|link| is_autokit_link(link)) {
            if let Err(error) = handle.emit(EVENT, &link) {
                tracing::warn!(%error, "failed to pass a link to the window");
            }
        }
    });
}

fn is_autokit_link(link: &str) -> bool {
    link.starts_with("autokit://") && link.len() <= MAX_LINK_BYTES
}

#[cfg(test)]
mod tests {
    use super::is_autokit_link;

    #[test]
    fn only_autokit_links_are_handled() {
        assert!(is_autokit_link("autokit://import?url=https%3A%2F%2Fexample.org%2Fa.toolcards"));
        assert!(!is_autokit_link("https://example.org"));
        assert!(!is_autokit_link("--data-dir"));
        assert!(!is_autokit_link(&format!("autokit://import?url={}", "x".repeat(9 << 10))));
    }
}
