//! Settings of the library that hold more than a word: kept as JSON, and remembered where they are asked for
//! often.

use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ApiError, Result};

use super::Core;

impl Core {
    /// What is kept under a setting; none if nothing is. `what` names it where it cannot be read.
    pub(super) async fn kept<T: DeserializeOwned>(&self, setting: &str, what: &str) -> Result<Option<T>> {
        match self.library.setting(setting).await?.as_deref() {
            None | Some("") => Ok(None),
            Some(text) => serde_json::from_str(text)
                .map(Some)
                .map_err(|error| ApiError::internal(format!("{what}: {error}"))),
        }
    }

    /// Keeps something under a setting.
    pub(super) async fn keep_as<T: Serialize + ?Sized>(&self, setting: &str, value: &T) -> Result<()> {
        let text = serde_json::to_string(value).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(self.library.set_setting(setting, &text).await?)
    }
}

/// Something kept that is read from the library once. Whoever changes it has to see to it that nobody else
/// does meanwhile.
#[derive(Debug)]
pub(super) struct Remembered<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Remembered<T> {
    fn default() -> Remembered<T> {
        Remembered(Mutex::new(None))
    }
}

impl<T: Default + Serialize + DeserializeOwned> Remembered<T> {
    /// As it is kept; empty if nothing is.
    pub(super) async fn read(&self, core: &Core, setting: &str, what: &str) -> Result<Arc<T>> {
        if let Some(known) = &*self.0.lock().expect("no holder panics") {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(core.kept(setting, what).await?.unwrap_or_default());
        *self.0.lock().expect("no holder panics") = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Keeps it from now on.
    pub(super) async fn write(&self, core: &Core, setting: &str, value: T) -> Result<()> {
        core.keep_as(setting, &value).await?;
        *self.0.lock().expect("no holder panics") = Some(Arc::new(value));
        Ok(())
    }
}
