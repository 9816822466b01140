//! The bridge between the frontend and the engine.

use autokit_api::commands::GetStatus;
use autokit_api::{Client, Event, Nothing};
use autokit_error::{ApiError, ErrorCode, Result};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tauri::{AppHandle, Emitter, Manager, State};
use tauri_plugin_dialog::DialogExt;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::engine::{Engine, Notice};
use crate::notifications::{self, Findings};

/// Name of the Tauri event that carries the engine's events to the frontend.
const EVENT: &str = "autokit";

/// Makes an engine that was started available to commands, and forwards its events to the frontend.
pub(crate) fn connect(app: &AppHandle, (engine, notices): (Engine, UnboundedReceiver<Notice>)) {
    app.manage(engine.clone());
    tauri::async_runtime::spawn(notifications::watch_approvals(app.clone(), engine.clone()));
    tauri::async_runtime::spawn(forward_events(app.clone(), engine, notices));
}

async fn forward_events(app: AppHandle, engine: Engine, mut notices: UnboundedReceiver<Notice>) {
    let mut findings = Findings::new(0);
    let mut is_first = true;
    while let Some(notice) = notices.recv().await {
        let event = match notice {
            Notice::Ready => {
                match (&engine as &dyn Client).call::<GetStatus>(Nothing {}).await {
                    Ok(status) => findings = Findings::new(status.proposals),
                    Err(error) => tracing::warn!(%error, "failed to read the number of proposals"),
                }
                if std::mem::take(&mut is_first) {
                    continue;
                }
                Event::Missed
            }
            Notice::Event(event) => match serde_json::from_str(event.get()) {
                Ok(event) => event,
                Err(error) => {
                    tracing::error!(%error, "received an unknown event");
                    continue;
                }
            },
        };
        findings.on_event(&app, &event);
        notifications::notify_team_event(&app, &event);
        if let Err(error) = app.emit(EVENT, &event) {
            tracing::warn!(%error, "failed to emit an event to the window");
        }
    }
}

/// Executes a command given by name.
#[tauri::command]
pub(crate) async fn call(engine: State<'_, Engine>, name: String, request: Value) -> Result<Box<RawValue>> {
    let request = to_raw_value(&request).map_err(|error| ApiError::internal(format!("{name}: {error}")))?;
    let answer = engine.call(name.clone(), request).await;
    tracing::debug!(name, good = answer.is_ok(), "answered");
    answer
}

/// Starts an engine if there is none: the page calls it when it connects, also when a person tries again.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the state by value")]
pub(crate) fn engine_start(engine: State<'_, Engine>) {
    engine.start_again();
}

/// Saves a text to the file that the user chooses in the system's save dialog, and returns its path; `None`
/// if the dialog is cancelled.
///
/// The frontend passes no path, so it cannot write anywhere else.
#[tauri::command]
pub(crate) async fn save_text(app: AppHandle, name: String, text: String) -> Result<Option<String>> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    app.dialog().file().set_file_name(safe_file_name(&name)).save_file(move |path| {
        // The receiver waits below for as long as the window lives.
        let _ = sender.send(path);
    });
    let Ok(Some(path)) = receiver.await else { return Ok(None) };
    let path = path.into_path().map_err(|error| ApiError::internal(error.to_string()))?;
    tokio::fs::write(&path, text).await.map_err(|error| {
        let message = format!("{}: {error}", path.display());
        ApiError::new(ErrorCode::BadRequest, message, "Choose another location.")
    })?;
    Ok(Some(path.display().to_string()))
}

/// Returns the last component of a name, without anything that could lead to another folder.
fn safe_file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last.chars().filter(|c| !c.is_control()).take(100).collect();
    if plain.trim_matches('.').is_empty() { "starter.txt".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::safe_file_name;

    #[test]
    fn a_file_name_cannot_lead_to_another_folder() {
        assert_eq!(safe_file_name("google_calendar.py"), "google_calendar.py");
        assert_eq!(safe_file_name("../../.bashrc"), ".bashrc");
        assert_eq!(safe_file_name("C:\\x\\a.py\n"), "a.py");
        assert_eq!(safe_file_name(".."), "starter.txt");
        assert_eq!(safe_file_name(""), "starter.txt");
    }
}
