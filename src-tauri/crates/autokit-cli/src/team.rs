//! Leaving a team, whose library another process may have open.

use autokit_api::commands::{Export, GetTeam};
use autokit_api::{ExportRequest, Format, Nothing};
use autokit_app::node::{Node, NodeOptions};
use autokit_app::{ApiError, ErrorCode};
use autokit_terminal::output::count;
use autokit_terminal::{LeaveOptions, Result};

/// Keeps the cards of a team that is about to be left, and checks that the team has everything that was changed in its
/// library here.
///
/// # Errors
/// `conflict` if it has not; as an export.
pub(crate) async fn prepare_leaving(options: NodeOptions, leaving: LeaveOptions<'_>) -> Result<()> {
    let node = Node::open(options).await?;
    let outcome = prepare(&node, leaving).await;
    node.close().await?;
    outcome
}

async fn prepare(node: &Node, leaving: LeaveOptions<'_>) -> Result<()> {
    let unsent = node.call::<GetTeam>(Nothing {}).await?.map_or(0, |state| state.unsent);
    if unsent > 0 && !leaving.discard {
        let message = format!("changes of {} were not sent to the team", count(u64::from(unsent), "card"));
        let remedy = "Send them with `autokit --team ID team sync`, or discard them with `--discard`.";
        return Err(ApiError::new(ErrorCode::Conflict, message, remedy).into());
    }
    let Some(file) = leaving.keep else { return Ok(()) };
    let path = std::path::absolute(file).map_err(|error| {
        let message = format!("{}: {error}", file.display());
        ApiError::new(ErrorCode::UnreadableFile, message, "Name a file that you may write.")
    })?;
    let request = ExportRequest {
        path: Some(path.display().to_string()),
        format: Format::Bundle,
        history: true,
        ..ExportRequest::default()
    };
    node.call::<Export>(request).await?;
    Ok(())
}
