//! Refusals of calls.

use autokit_error::ApiError;
use autokit_gateway::Refusal;

/// Converts an error that prevented a call to a refusal for the agent.
pub(crate) fn refused(error: &ApiError) -> Refusal {
    Refusal::Rejected(error.sentence())
}
