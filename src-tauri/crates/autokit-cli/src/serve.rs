//! `autokit serve`: keeps the library open for other processes.

use autokit_api::Status;
use autokit_app::ApiError;
use autokit_app::node::Node;
use serde::Serialize;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count};

#[derive(Serialize)]
struct Serving<'a> {
    pid: u32,
    address: String,
    data_dir: &'a str,
    cards: u32,
}

pub(crate) async fn run(node: &Node, out: &Output, status: &Status) -> Result<Outcome> {
    let endpoint = node.endpoint().await?;
    let serving = Serving {
        pid: std::process::id(),
        address: endpoint.base(),
        data_dir: &status.data_dir,
        cards: status.cards,
    };
    out.show(&serving, |text| {
        writeln!(text, "Serving {} from {}", count(status.cards, "card"), status.data_dir)?;
        writeln!(text, "Press Ctrl-C to stop.")
    })?;
    interrupted().await?;
    Ok(Outcome::Done)
}

/// Waits for Ctrl-C or a termination signal.
pub(crate) async fn interrupted() -> Result<()> {
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
