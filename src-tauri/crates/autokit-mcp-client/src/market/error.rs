//! What can go wrong at a registry.

/// Why a registry gave nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarketError {
    /// The address is not one of the web.
    #[error("{address:?} is not the address of a source: {reason}")]
    Address {
        /// As given.
        address: String,
        /// Why not.
        reason: String,
    },
    /// Something else answers there.
    #[error("{address} does not answer as a registry of MCP servers: {reason}")]
    NoRegistry {
        /// The registry.
        address: String,
        /// What is wrong with the answer.
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
    /// It did not answer, or with too much.
    #[error(transparent)]
    Web(#[from] autokit_web::Error),
}
