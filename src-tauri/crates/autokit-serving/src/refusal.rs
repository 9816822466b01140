//! Refusals of calls.

use autokit_error::ApiError;
use autokit_gateway::Refusal;

/// Converts an error that prevented a call to what the agent is told.
pub(crate) fn refused(error: &ApiError) -> Refusal {
    Refusal::NotMade(error.sentence())
}
