//! Carrying out commands, wherever the library is open.

use async_trait::async_trait;
use autokit_error::Result;
use serde_json::Value;

use crate::commands::Command;

/// Whoever carries out commands: the engine in this process, or that of the process that owns the library.
///
/// Programs that only send commands depend on this trait, and so not on the engine.
#[async_trait]
pub trait Client: Send + Sync {
    /// Executes a command given by name.
    ///
    /// # Errors
    /// The command's own errors, or `owner_unreachable`.
    async fn call_json(&self, name: &str, body: Value) -> Result<Value>;
}

impl dyn Client + '_ {
    /// Executes a command.
    ///
    /// # Errors
    /// As [`Client::call_json`].
    pub async fn call<C: Command>(&self, request: C::Request) -> Result<C::Response> {
        C::response_from_json(self.call_json(C::NAME, C::request_to_json(&request)?).await?)
    }
}
