//! Closing and quitting: the tray icon, whose menu shows the window or quits, and the same from the pages.

use autokit_error::{ApiError, Result};
use tauri::menu::{Menu, MenuItem};
use tauri::tray::TrayIconBuilder;
use tauri::{AppHandle, Manager, WebviewWindow};

use crate::MAIN;

const SHOW: &str = "show";
const QUIT: &str = "quit";

pub(crate) fn build(app: &AppHandle) -> tauri::Result<()> {
    let show = MenuItem::with_id(app, SHOW, "Show AutoKit", true, None::<&str>)?;
    let quit = MenuItem::with_id(app, QUIT, "Quit", true, None::<&str>)?;
    let menu = Menu::with_items(app, &[&show, &quit])?;
    let mut tray = TrayIconBuilder::new().tooltip("AutoKit").menu(&menu).on_menu_event(|app, event| {
        match event.id().as_ref() {
            SHOW => show_window(app),
            QUIT => app.exit(0),
            _ => {}
        }
    });
    if let Some(icon) = app.default_window_icon() {
        tray = tray.icon(icon.clone());
    }
    tray.build(app).map(drop)
}

/// Shows and focuses the window, even if it is hidden or minimized.
pub(crate) fn show_window(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(MAIN) {
        for result in [window.unminimize(), window.show(), window.set_focus()] {
            if let Err(error) = result {
                tracing::warn!(%error, "failed to show the window");
            }
        }
    }
}

/// Closes the window as its title bar does: where the settings say so, it is only hidden.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the window by value")]
pub(crate) fn close_window(window: WebviewWindow) -> Result<()> {
    window.close().map_err(|error| ApiError::internal(format!("close the window: {error}")))
}

/// Ends the program, also where closing the window keeps it in the tray.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the app by value")]
pub(crate) fn quit(app: AppHandle) {
    app.exit(0);
}
