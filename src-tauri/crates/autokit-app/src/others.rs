//! Libraries open beside the one of this process. Each has an engine of its own, here or in the process that owns it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex as Lock;

use async_trait::async_trait;
use autokit_api::Client;
use autokit_error::{ApiError, Result};
use autokit_membership::others::OtherLibraries;
use autokit_workspace::options::EngineOptions;
use tokio::sync::Mutex;

use crate::node::{Node, NodeOptions, Purpose};

/// The library in a folder.
#[derive(Debug, Default)]
struct Slot {
    /// While it is open.
    node: Option<Node>,
    /// Whether it is never opened again.
    ended: bool,
}

/// The libraries that this process has open beside its own.
#[derive(Debug)]
pub(crate) struct OpenBeside {
    engine: EngineOptions,
    /// By folder; `None` once all were closed.
    slots: Lock<Option<HashMap<PathBuf, Arc<Mutex<Slot>>>>>,
}

impl OpenBeside {
    /// Opens libraries with these options, but for the starter cards.
    pub(crate) fn new(options: &EngineOptions) -> OpenBeside {
        let engine = EngineOptions { starter: false, ..options.clone() };
        OpenBeside { engine, slots: Lock::new(Some(HashMap::new())) }
    }

    fn slot(&self, folder: &Path) -> Result<Arc<Mutex<Slot>>> {
        let mut slots = self.slots.lock().expect("no holder panics");
        let slots = slots.as_mut().ok_or_else(ApiError::cancelled)?;
        Ok(Arc::clone(slots.entry(folder.to_owned()).or_default()))
    }
}

#[async_trait]
impl OtherLibraries for OpenBeside {
    async fn open(&self, folder: &Path) -> Result<Arc<dyn Client>> {
        let slot = self.slot(folder)?;
        let options = NodeOptions {
            data_dir: folder.to_owned(),
            engine: self.engine.clone(),
            purpose: Purpose::Search,
            author: crate::person(),
        };
        let opening = tokio::spawn(async move {
            let mut slot = slot.lock().await;
            match &slot.node {
                _ if slot.ended => Err(ApiError::cancelled()),
                Some(node) => Ok(node.clone()),
                None => Node::open(options).await.map(|node| slot.node.insert(node).clone()),
            }
        });
        let opened = opening.await.map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(Arc::new(opened?))
    }

    async fn hold_closed(&self, folder: &Path) -> Result<Box<dyn Send>> {
        let mut slot = self.slot(folder)?.lock_owned().await;
        if let Some(node) = slot.node.take() {
            node.close().await?;
        }
        Ok(Box::new(slot))
    }

    async fn close_all(&self) {
        let slots = self.slots.lock().expect("no holder panics").take();
        for (folder, slot) in slots.unwrap_or_default() {
            // Waits while it is still being opened.
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
