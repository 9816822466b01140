//! Libraries of this machine that a process has open beside its own, to search them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::Client;
use autokit_error::{ApiError, ErrorCode, Result};

/// Opens libraries beside the one of this process, and keeps them open.
#[async_trait]
pub trait OtherLibraries: fmt::Debug + Send + Sync {
    /// Returns the library in a folder, opened unless it is. Opening goes on when the caller stops waiting.
    ///
    /// # Errors
    /// Those of opening a library; `cancelled` once all were closed.
    async fn open(&self, folder: &Path) -> Result<Arc<dyn Client>>;

    /// Whether the library in a folder is open: here, or in another process as far as can be told.
    fn is_open(&self, folder: &Path) -> bool;

    /// Closes the library in a folder if this process has it open. It cannot be opened again here until what is returned is
    /// dropped.
    ///
    /// # Errors
    /// If the library cannot be closed.
    async fn hold_closed(&self, folder: &Path) -> Result<Box<dyn Send>>;

    /// Closes all of them. None can be opened afterwards.
    async fn close_all(&self);
}

/// Opens none, for an engine without a process around it.
#[derive(Clone, Copy, Debug)]
pub struct NoOtherLibraries;

#[async_trait]
impl OtherLibraries for NoOtherLibraries {
    async fn open(&self, folder: &Path) -> Result<Arc<dyn Client>> {
        let message = format!("the library in {} can't be opened from here", folder.display());
        Err(ApiError::new(ErrorCode::Refused, message, "Open it by itself."))
    }

    fn is_open(&self, _: &Path) -> bool {
        false
    }

    async fn hold_closed(&self, _: &Path) -> Result<Box<dyn Send>> {
        Ok(Box::new(()))
    }

    async fn close_all(&self) {}
}
