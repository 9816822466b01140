//! The bridge between the frontend and the engine.

use std::sync::Mutex;

use autokit_api::commands::GetStatus;
use autokit_api::{Event, Nothing};
use autokit_app::node::{Node, NodeOptions};
use autokit_app::{ApiError, ErrorCode, Result};
use serde_json::Value;
use tauri::{AppHandle, Emitter, State};
use tauri_plugin_dialog::DialogExt;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::notifications::{self, Findings};

/// Name of the Tauri event that carries the engine's events to the frontend.
const EVENT: &str = "autokit";

/// The connection to the library, which exists before the library is open.
pub(crate) struct Connection {
    opened: watch::Receiver<Option<Result<Node>>>,
    closing: Mutex<bool>,
}

impl Connection {
    /// Starts opening the library and forwarding its events to the frontend.
    pub(crate) fn open(app: AppHandle, options: NodeOptions) -> Connection {
        let (sender, opened) = watch::channel(None);
        tauri::async_runtime::spawn(async move {
            let node = Node::open(options).await;
            // The receiver lives in the application's state.
            let _ = sender.send(Some(node.clone()));
            let Ok(node) = node else { return };
            tauri::async_runtime::spawn(notifications::watch_approvals(app.clone(), node.clone()));
            // Heard from before the status is read, so that nothing is missed in between.
            let mut events = node.events();
            let status = node.call::<GetStatus>(Nothing {}).await;
            let mut findings = Findings::new(status.map_or(0, |status| status.proposals));
            loop {
                let event = match events.recv().await {
                    Err(RecvError::Closed) => return,
                    missed_or_next => missed_or_next.unwrap_or(Event::Missed),
                };
                findings.hear(&app, &event);
                if let Err(error) = app.emit(EVENT, &event) {
                    tracing::warn!(%error, "failed to emit an event to the window");
                }
            }
        });
        Connection { opened, closing: Mutex::new(false) }
    }

    async fn node(&self) -> Result<Node> {
        let mut opened = self.opened.clone();
        let opened = opened
            .wait_for(Option::is_some)
            .await
            .map_err(|_| ApiError::internal("opening the library was interrupted"))?;
        opened.clone().unwrap_or_else(|| Err(ApiError::internal("the library is not open")))
    }

    /// Returns the library so that it can be closed; `None` if it is not open, or after the first call.
    pub(crate) fn take(&self) -> Option<Node> {
        let mut closing = self.closing.lock().expect("no holder panics");
        if std::mem::replace(&mut closing, true) {
            return None;
        }
        self.opened.borrow().as_ref().and_then(|opened| opened.as_ref().ok().cloned())
    }
}

/// Executes a command given by name.
#[tauri::command]
pub(crate) async fn call(connection: State<'_, Connection>, name: String, request: Value) -> Result<Value> {
    connection.node().await?.call_json(&name, request).await
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
