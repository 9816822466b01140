//! Leaving a team, whose library another process may have open.

use autokit_api::Nothing;
use autokit_api::commands::GetTeam;
use autokit_app::node::{Node, NodeOptions};
use autokit_app::{ApiError, ErrorCode};
use autokit_terminal::Result;
use autokit_terminal::output::count;

/// Checks that the team has everything that was changed in its library here.
///
/// # Errors
/// `conflict` if not.
pub(crate) async fn ensure_sent(options: NodeOptions) -> Result<()> {
    let node = Node::open(options).await?;
    let state = node.call::<GetTeam>(Nothing {}).await;
    node.close().await?;
    let unsent = state?.map_or(0, |state| state.unsent);
    if unsent == 0 {
        return Ok(());
    }
    let message = format!("changes of {} were not sent to the team", count(u64::from(unsent), "card"));
    let remedy = "Send them with `autokit --team ID team sync`, or lose them with `--discard`.";
    Err(ApiError::new(ErrorCode::Conflict, message, remedy).into())
}
