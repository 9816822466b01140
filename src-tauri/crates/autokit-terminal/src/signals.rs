//! Signals that end a command.

use autokit_error::ApiError;

use crate::outcome::Result;

/// Waits for Ctrl-C or a termination signal.
pub async fn interrupted() -> Result<()> {
    let failed = |error: std::io::Error| ApiError::internal(format!("signals cannot be received: {error}"));
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            result = tokio::signal::ctrl_c() => Ok(result.map_err(failed)?),
        }
    }
    #[cfg(not(unix))]
    Ok(tokio::signal::ctrl_c().await.map_err(failed)?)
}
