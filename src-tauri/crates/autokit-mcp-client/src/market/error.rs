//! Errors of registries.

use autokit_error::{ApiError, ErrorCode};

/// Why a request to a registry failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarketError {
    /// The address is not a web address.
    #[error("{address:?} is not a valid registry URL: {reason}")]
    Address {
        /// As given.
        address: String,
        /// Why it is invalid.
        reason: String,
    },
    /// The address does not respond as a registry does.
    #[error("{address} is not a registry of MCP servers: {reason}")]
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
                "Enter the URL of a registry or a published bundle.",
            ),
            MarketError::Missing { .. } => ApiError::new(
                ErrorCode::NotFound,
                error.to_string(),
                "Search for it again; it may have been withdrawn.",
            ),
            error => ApiError::new(
                ErrorCode::Provider,
                error.to_string(),
                "Check the URL of the registry, or remove it.",
            ),
        }
    }
}
