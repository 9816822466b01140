//! Deep links, `autokit://import?url=…`, and files that are opened with AutoKit: passed to the frontend, which shows a
//! preview. They change nothing by themselves.

use std::path::Path;
use std::sync::Mutex;

use tauri::plugin::TauriPlugin;
use tauri::{AppHandle, Emitter, Manager, State, Wry};
use tauri_plugin_deep_link::DeepLinkExt;

use crate::tray;

/// Name of the Tauri event that passes a link to the frontend.
const EVENT: &str = "deep-link";
/// Maximum length of a link in bytes; browsers have far lower limits.
const MAX_LINK_BYTES: usize = 8 << 10;

/// The links that were opened before the frontend listens; `None` once it does.
#[derive(Debug)]
pub(crate) struct PendingLinks(Mutex<Option<Vec<String>>>);

/// Returns the links that were opened before the frontend listened for them, once.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the state by value")]
pub(crate) fn take_links(pending: State<'_, PendingLinks>) -> Vec<String> {
    pending.0.lock().expect("no holder panics").take().unwrap_or_default()
}

/// Passes a link to the frontend.
fn pass(app: &AppHandle, link: String) {
    let pending = app.state::<PendingLinks>();
    let mut pending = pending.0.lock().expect("no holder panics");
    match &mut *pending {
        Some(links) => links.push(link),
        None => {
            if let Err(error) = app.emit(EVENT, &link) {
                tracing::warn!(%error, "failed to pass a link to the window");
            }
        }
    }
}

/// Makes a second instance of AutoKit pass its link to the existing window and exit.
pub(crate) fn single_instance() -> TauriPlugin<Wry> {
    // A link reaches `handle_links` through the deep link plugin; a file is only among the arguments.
    tauri_plugin_single_instance::init(|app, arguments, folder| {
        // Started at login, for example.
        if !arguments.iter().any(|argument| argument == "--hidden") {
            tray::show_window(app);
        }
        for file in arguments.iter().skip(1).filter_map(|argument| file_link(argument, Path::new(&folder))) {
            pass(app, file);
        }
    })
}

/// Returns the `file:` URL of an argument that names an existing file, relative to a folder. Such a URL never comes from
/// outside: links have the scheme `autokit`.
fn file_link(argument: &str, folder: &Path) -> Option<String> {
    // Desktops name the files that are opened by URLs as well.
    let url = tauri::Url::parse(argument).ok().filter(|url| url.scheme() == "file");
    let path = url.map_or_else(|| Ok(folder.join(argument)), |url| url.to_file_path()).ok()?;
    if !path.is_file() {
        return None;
    }
    tauri::Url::from_file_path(path).ok().map(|url| url.to_string())
}

/// Stores the links AutoKit was started with, and forwards later ones to the frontend.
pub(crate) fn handle_links(app: &AppHandle, initial: &[String]) {
    let folder = std::env::current_dir().unwrap_or_default();
    let link =
        |given: &String| if is_autokit_link(given) { Some(given.clone()) } else { file_link(given, &folder) };
    app.manage(PendingLinks(Mutex::new(Some(initial.iter().filter_map(link).collect()))));
    if app.env().appimage.is_some()
        && let Err(error) = app.deep_link().register_all()
    {
        // An AppImage has no installer that could have registered the scheme.
        tracing::warn!(%error, "failed to register the autokit:// scheme");
    }
    let handle = app.clone();
    app.deep_link().on_open_url(move |event| {
        for link in event.urls().iter().map(ToString::to_string) {
            if is_autokit_link(&link) {
                pass(&handle, link);
            } else if cfg!(target_os = "macos")
                && let Some(file) = file_link(&link, Path::new("/"))
            {
                // Files arrive here as well there, and never as arguments.
                pass(&handle, file);
            }
        }
    });
}

fn is_autokit_link(link: &str) -> bool {
    link.starts_with("autokit://") && link.len() <= MAX_LINK_BYTES
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{file_link, is_autokit_link};

    #[test]
    fn only_existing_files_are_opened() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let link = file_link("Cargo.toml", folder).expect("it exists");
        assert!(link.starts_with("file:///") && link.ends_with("/Cargo.toml"), "{link}");
        assert_eq!(file_link(&link, Path::new("/")), Some(link.clone()));
        for other in [
            "file:///missing.toolcards",
            "file://server/Cargo.toml",
            "missing.toolcards",
            "--data-dir",
            "https://example.org",
            "src",
        ] {
            assert_eq!(file_link(other, folder), None);
        }
    }

    #[test]
    fn only_autokit_links_are_handled() {
        assert!(is_autokit_link("autokit://import?url=https%3A%2F%2Fexample.org%2Fa.toolcards"));
        assert!(!is_autokit_link("https://example.org"));
        assert!(!is_autokit_link("--data-dir"));
        assert!(!is_autokit_link(&format!("autokit://import?url={}", "x".repeat(9 << 10))));
    }
}
