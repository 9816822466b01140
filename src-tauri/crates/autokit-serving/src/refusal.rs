//! Why a call is not made.

use autokit_error::ApiError;
use autokit_gateway::Refusal;

/// What an agent is told of an error that kept its call from being made.
pub(crate) fn refused(error: &ApiError) -> Refusal {
    Refusal::NotMade(error.sentence())
}
