//! The one door between the pages and the engine.

use std::sync::Mutex;

use autokit_app::node::{Node, NodeOptions};
use autokit_app::{ApiError, Result};
use serde_json::Value;
use tauri::{AppHandle, Emitter, State};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

/// Name under which the pages hear news.
const EVENT: &str = "autokit";

/// The link to the library, there before the library is open.
pub(crate) struct Link {
    opened: watch::Receiver<Option<Result<Node>>>,
    closing: Mutex<bool>,
}

impl Link {
    /// Begins to open the library and to pass its news to the pages.
    pub(crate) fn open(app: AppHandle, options: NodeOptions) -> Link {
        let (sender, opened) = watch::channel(None);
        tauri::async_runtime::spawn(async move {
            let node = Node::open(options).await;
            // The receiver lives in the application's state.
            let _ = sender.send(Some(node.clone()));
            let Ok(node) = node else { return };
            let mut news = node.events();
            loop {
                match news.recv().await {
                    Ok(event) => {
                        if let Err(error) = app.emit(EVENT, &event) {
                            tracing::warn!(%error, "news did not reach the pages");
                        }
                    }
                    // What was missed is older than what comes next.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
        Link { opened, closing: Mutex::new(false) }
    }

    async fn node(&self) -> Result<Node> {
        let mut opened = self.opened.clone();
        let opened = opened
            .wait_for(Option::is_some)
            .await
            .map_err(|_| ApiError::internal("the library was given up while it was being opened"))?;
        opened.clone().unwrap_or_else(|| Err(ApiError::internal("the library is not open")))
    }

    /// The library, once, to be closed.
    pub(crate) fn take(&self) -> Option<Node> {
        let mut closing = self.closing.lock().expect("no holder panics");
        if std::mem::replace(&mut closing, true) {
            return None;
        }
        self.opened.borrow().as_ref().and_then(|opened| opened.as_ref().ok().cloned())
    }
}

/// Carries out one command of the list.
#[tauri::command]
pub(crate) async fn call(link: State<'_, Link>, name: String, request: Value) -> Result<Value> {
    link.node().await?.call_json(&name, request).await
}
