//! Refusals of calls.

use autokit_error::{ApiError, ErrorCode};
use autokit_gateway::Refusal;

/// Converts an error that prevented a call to a refusal for the agent.
pub(crate) fn refused(error: &ApiError) -> Refusal {
    Refusal::Rejected(error.sentence())
}

/// As [`refused`], for work that the agent can cancel.
pub(crate) fn refused_or_cancelled(error: &ApiError) -> Refusal {
    if error.code == ErrorCode::Cancelled { Refusal::Cancelled } else { refused(error) }
}
