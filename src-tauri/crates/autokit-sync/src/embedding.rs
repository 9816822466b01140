//! How the cards of a library are embedded.

use std::fmt;

use async_trait::async_trait;
use autokit_library::PackedVectors;
use autokit_toolcard::Toolcard;

/// How the cards of a library are embedded.
#[async_trait]
pub trait Embedding: Send + Sync + fmt::Debug {
    /// What vectors are made with, as stored with them; `None` without a model.
    fn recipe(&self) -> Option<String>;

    /// Returns which of these vectors, made by others with the recipe, can be used: all `false` if some are not what they
    /// are said to be.
    async fn usable(&self, vectors: &[(&Toolcard, &PackedVectors)]) -> Vec<bool>;
}
