//! The quick-ask window: a box that a global shortcut opens over any program.

use autokit_error::{ApiError, ErrorCode, Result};
use tauri::{AppHandle, Emitter, Manager, WebviewUrl, WebviewWindowBuilder, WindowEvent};
use tauri_plugin_global_shortcut::{GlobalShortcutExt as _, ShortcutState};

use crate::{MAIN, tray};

/// Label of the window.
const LABEL: &str = "quick";
/// Name of the Tauri event that carries a question to the main window.
const ASK: &str = "ask";

fn refused(shortcut: &str, error: &tauri_plugin_global_shortcut::Error) -> ApiError {
    let message = format!("the shortcut {shortcut:?} can't be used: {error}");
    ApiError::new(ErrorCode::Invalid, message, "Choose another one, such as Ctrl+Alt+Space.")
}

/// Makes a shortcut open the quick-ask window; an empty one does nothing.
///
/// # Errors
/// `invalid` if the shortcut cannot be read, is taken by another program, or the desktop allows none.
pub(crate) fn register(app: &AppHandle, shortcut: &str) -> Result<()> {
    if shortcut.is_empty() {
        return Ok(());
    }
    let toggle_on_press = |app: &AppHandle, event: ShortcutState| {
        if event == ShortcutState::Pressed
            && let Err(error) = toggle(app)
        {
            tracing::error!(%error, "failed to open the quick-ask window");
        }
    };
    let registered =
        app.global_shortcut().on_shortcut(shortcut, move |app, _, event| toggle_on_press(app, event.state));
    registered.map_err(|error| refused(shortcut, &error))
}

/// Takes the shortcut back.
pub(crate) fn unregister(app: &AppHandle, shortcut: &str) {
    if shortcut.is_empty() || !app.global_shortcut().is_registered(shortcut) {
        return;
    }
    if let Err(error) = app.global_shortcut().unregister(shortcut) {
        tracing::warn!(%error, shortcut, "failed to unregister a shortcut");
    }
}

/// Shows the window, or hides it if it is shown.
fn toggle(app: &AppHandle) -> tauri::Result<()> {
    if let Some(window) = app.get_webview_window(LABEL) {
        if window.is_visible()? {
            return window.hide();
        }
        window.show()?;
        return window.set_focus();
    }
    let window = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::App("index.html#quick-ask".into()))
        .title("Ask AutoKit")
        .inner_size(640.0, 420.0)
        .resizable(false)
        .decorations(false)
        .always_on_top(true)
        .skip_taskbar(true)
        .center()
        .build()?;
    // It goes away as the launchers of desktops do: as soon as something else is used.
    let hidden = window.clone();
    window.on_window_event(move |event| {
        if let WindowEvent::Focused(false) = event
            && let Err(error) = hidden.hide()
        {
            tracing::warn!(%error, "failed to hide the quick-ask window");
        }
    });
    window.set_focus()
}

/// Closes the quick-ask window, whose library makes place for another one; the shortcut opens a new one.
pub(crate) fn close(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL)
        && let Err(error) = window.destroy()
    {
        tracing::warn!(%error, "failed to close the quick-ask window");
    }
}

/// Hides the quick-ask window and, with a question, asks it in the main window.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the app by value")]
pub(crate) fn quick_ask_done(app: AppHandle, question: Option<String>) -> Result<()> {
    let failed = |error: tauri::Error| ApiError::internal(format!("quick ask: {error}"));
    if let Some(window) = app.get_webview_window(LABEL) {
        window.hide().map_err(failed)?;
    }
    if let Some(question) = question {
        tray::show_window(&app);
        app.emit_to(MAIN, ASK, question).map_err(failed)?;
    }
    Ok(())
}
