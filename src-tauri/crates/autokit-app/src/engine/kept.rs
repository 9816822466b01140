//! Settings of the library that hold more than a word: kept as JSON, and remembered where they are asked for
//! often.

use std::sync::{Arc, Mutex};

use autokit_api::{Event, Setting};
use autokit_error::{ApiError, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Core;

/// The name of a setting in the store.
fn key(setting: Setting) -> &'static str {
    match setting {
        Setting::AgentsHttp => "agents_http",
        Setting::ApiKeys => "api_keys",
        Setting::BundleKeys => "bundle_keys",
        Setting::Checks => "checks",
        Setting::MarketSources => "market_sources",
        Setting::McpServers => "mcp_servers",
        Setting::Profiles => "profiles",
        Setting::Review => "review",
        Setting::Spending => "spending",
        Setting::Subscriptions => "subscriptions",
        Setting::VerifyRun => "verify_run",
        Setting::VouchedTools => "vouched_tools",
    }
}

impl Core {
    /// What is kept under a setting; none if nothing is.
    pub(super) async fn kept<T: DeserializeOwned>(&self, setting: Setting) -> Result<Option<T>> {
        match self.library.setting(key(setting)).await?.as_deref() {
            None | Some("") => Ok(None),
            Some(text) => serde_json::from_str(text).map(Some).map_err(|error| {
                ApiError::internal(format!("the setting {:?} cannot be read: {error}", key(setting)))
            }),
        }
    }

    /// Keeps something under a setting, and tells whoever shows it.
    pub(super) async fn keep_as<T: Serialize + ?Sized>(&self, setting: Setting, value: &T) -> Result<()> {
        let text = serde_json::to_string(value).map_err(|error| ApiError::internal(error.to_string()))?;
        self.library.set_setting(key(setting), &text).await?;
        self.tell(Event::Setting { setting });
        Ok(())
    }

    /// Keeps nothing under a setting any more.
    pub(super) async fn forget(&self, setting: Setting) -> Result<()> {
        self.library.set_setting(key(setting), "").await?;
        self.tell(Event::Setting { setting });
        Ok(())
    }
}

/// Something kept that is read from the library once. Whoever changes it has to see to it that nobody else
/// does meanwhile.
#[derive(Debug)]
pub(super) struct Remembered<T> {
    setting: Setting,
    value: Mutex<Option<Arc<T>>>,
}

impl<T: Default + Serialize + DeserializeOwned> Remembered<T> {
    pub(super) fn new(setting: Setting) -> Remembered<T> {
        Remembered { setting, value: Mutex::new(None) }
    }

    /// As it is kept; empty if nothing is.
    pub(super) async fn read(&self, core: &Core) -> Result<Arc<T>> {
        if let Some(known) = &*self.value.lock().expect("no holder panics") {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(core.kept(self.setting).await?.unwrap_or_default());
        *self.value.lock().expect("no holder panics") = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Keeps it from now on.
    pub(super) async fn write(&self, core: &Core, value: T) -> Result<()> {
        core.keep_as(self.setting, &value).await?;
        *self.value.lock().expect("no holder panics") = Some(Arc::new(value));
        Ok(())
    }
}
