//! Libraries open beside the one of this process. Each has an engine of its own, here or in the process that owns it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex as Lock;
use std::time::Duration;

use async_trait::async_trait;
use autokit_api::Client;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::DataDir;
use autokit_membership::folder;
use autokit_membership::others::OtherLibraries;
use autokit_workspace::options::EngineOptions;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;

use crate::node::{Node, NodeOptions, Purpose};

/// How long closing waits for a library that is still being opened, such as one whose owner does not answer.
const OPENING: Duration = Duration::from_secs(2);

/// The library in a folder.
#[derive(Debug, Default)]
struct Slot {
    /// While it is open.
    node: Option<Node>,
    /// Whether it is never opened again.
    ended: bool,
}

/// A library that was asked for.
#[derive(Debug, Default)]
struct Opened {
    slot: Arc<Mutex<Slot>>,
    /// Whoever opens it, or opened it last.
    opening: Option<AbortHandle>,
}

/// The libraries that this process has open beside its own.
#[derive(Debug)]
pub(crate) struct OpenBeside {
    engine: EngineOptions,
    /// By folder; `None` once all were closed.
    libraries: Lock<Option<HashMap<PathBuf, Opened>>>,
}

impl OpenBeside {
    /// Opens libraries with these options, but for the starter cards.
    pub(crate) fn new(options: &EngineOptions) -> OpenBeside {
        let engine = EngineOptions { starter: false, ..options.clone() };
        OpenBeside { engine, libraries: Lock::new(Some(HashMap::new())) }
    }

    fn with<T>(&self, folder: &Path, act: impl FnOnce(&mut Opened) -> T) -> Result<T> {
        let mut libraries = self.libraries.lock().expect("no holder panics");
        let libraries = libraries.as_mut().ok_or_else(ApiError::cancelled)?;
        Ok(act(libraries.entry(folder.to_owned()).or_default()))
    }
}

#[async_trait]
impl OtherLibraries for OpenBeside {
    async fn open(&self, folder: &Path) -> Result<Arc<dyn Client>> {
        let options = NodeOptions {
            data_dir: folder.to_owned(),
            engine: self.engine.clone(),
            purpose: Purpose::Search,
            author: crate::person(),
        };
        let opening = self.with(folder, |library| {
            let slot = Arc::clone(&library.slot);
            let opening = tokio::spawn(async move {
                let mut slot = slot.lock().await;
                match &slot.node {
                    _ if slot.ended => Err(ApiError::cancelled()),
                    Some(node) => Ok(node.clone()),
                    // Opening makes the folder, which is to stay away once the team was left.
                    None if !folder::is_library(&options.data_dir) => Err(gone(&options.data_dir)),
                    None => Node::open(options).await.map(|node| slot.node.insert(node).clone()),
                }
            });
            library.opening = Some(opening.abort_handle());
            opening
        })?;
        let opened = opening.await.map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(Arc::new(opened?))
    }

    fn is_open(&self, folder: &Path) -> bool {
        let is_open_here =
            self.with(folder, |library| library.slot.try_lock().is_ok_and(|slot| slot.node.is_some()));
        is_open_here.unwrap_or_default() || DataDir::new(folder).is_owned()
    }

    async fn hold_closed(&self, folder: &Path) -> Result<Box<dyn Send>> {
        let slot = self.with(folder, |library| Arc::clone(&library.slot))?;
        let mut slot = slot.lock_owned().await;
        if let Some(node) = slot.node.take() {
            node.close().await?;
        }
        Ok(Box::new(slot))
    }

    async fn close_all(&self) {
        let libraries = self.libraries.lock().expect("no holder panics").take();
        for (folder, Opened { slot, opening }) in libraries.unwrap_or_default() {
            if tokio::time::timeout(OPENING, slot.lock()).await.is_err()
                && let Some(opening) = opening
            {
                opening.abort();
            }
            let mut slot = slot.lock().await;
            slot.ended = true;
            if let Some(node) = slot.node.take()
                && let Err(error) = node.close().await
            {
                tracing::error!(%error, folder = %folder.display(), "failed to close a library");
            }
        }
    }
}

fn gone(folder: &Path) -> ApiError {
    let message = format!("there is no library in {}", folder.display());
    ApiError::new(ErrorCode::NotFound, message, "Check the list of libraries.")
}
