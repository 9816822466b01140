//! Commands that keep the process running: `autokit serve` for other processes, `autokit mcp` for an agent, `autokit engine`
//! for the window.

use autokit_api::Status;
use autokit_app::mcp::serve_stdio;
use autokit_app::node::{Node, NodeOptions};
use autokit_app::stdio;
use autokit_terminal::output::{Output, count};
use autokit_terminal::signals::interrupted;
use autokit_terminal::{Failure, Outcome, Result};
use serde::Serialize;

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

/// Serves an agent over standard input and output.
pub(crate) async fn mcp(node: &Node, profile: &str) -> Result<Outcome> {
    tokio::select! {
        served = serve_stdio(node, profile, tokio::io::stdin(), tokio::io::stdout()) => served?,
        ended = interrupted() => ended?,
    }
    Ok(Outcome::Done)
}

/// Serves the window that started this process over standard input and output, until the window ends.
pub(crate) async fn engine(options: Result<NodeOptions>) -> Result<()> {
    let options = match options {
        // Such as a team that was left. The window shows why, as for a library that can't be opened.
        Err(Failure::Api(error)) => {
            stdio::refuse(error, tokio::io::stdout()).await;
            return Ok(());
        }
        options => options?,
    };
    let interrupted = async {
        if let Err(Failure::Api(error)) = interrupted().await {
            tracing::error!(%error, "failed to wait for signals");
            std::future::pending::<()>().await;
        }
    };
    Ok(stdio::serve(options, tokio::io::stdin(), tokio::io::stdout(), interrupted).await?)
}
