//! Errors of registries.

use autokit_error::{ApiError, ErrorCode};

/// Why a request to a registry failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarketError {
    /// The address is not a web address.
    #[error("{address:?} is not the address of a source: {reason}")]
    Address {
        /// As given.
        address: String,
        /// Why it is invalid.
        reason: String,
    },
    /// The address does not respond as a registry does.
    #[error("{address} does not answer as a registry of MCP servers: {reason}")]
    NoRegistry {
        /// The registry.
        address: String,
        /// What is wrong with the response.
        reason: String,
    },
    /// It has no such server.
    #[error("{registry} has no server {name:?}")]
    Missing {
        /// The server.
        name: String,
        /// The registry.
        registry: String,
    },
    /// It did not respond, or its response was too large.
    #[error(transparent)]
    Web(#[from] autokit_web::Error),
}

impl From<MarketError> for ApiError {
    fn from(error: MarketError) -> ApiError {
        match error {
            MarketError::Web(error) => error.into(),
            MarketError::Address { .. } => ApiError::new(
                ErrorCode::BadRequest,
                error.to_string(),
                "Give the address of a registry, or of a published bundle.",
            ),
            MarketError::Missing { .. } => ApiError::new(
                ErrorCode::NotFound,
                error.to_string(),
                "Search for it again: it may have been taken back.",
            ),
            error => ApiError::new(
                ErrorCode::Provider,
                error.to_string(),
                "Check the address of the source, or remove it.",
            ),
        }
    }
}
