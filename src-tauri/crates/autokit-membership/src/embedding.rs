//! How the cards of a replica are embedded, for whoever shares vectors with the team.

use async_trait::async_trait;
use autokit_library::PackedVectors;
use autokit_search::vector_recipe;
use autokit_sync::Embedding;
use autokit_toolcard::Toolcard;
use autokit_workspace::models::Models;

/// The model of this process.
#[derive(Clone, Debug)]
pub(crate) struct CurrentModel(pub(crate) Models);

#[async_trait]
impl Embedding for CurrentModel {
    fn recipe(&self) -> Option<String> {
        self.0.embedder().map(|embedder| vector_recipe(&embedder))
    }

    async fn usable(&self, vectors: &[(&Toolcard, &PackedVectors)]) -> Vec<bool> {
        let Some(dim) = self.0.embedder().map(|embedder| embedder.dim()) else {
            return vec![false; vectors.len()];
        };
        let fitting: Vec<bool> = vectors
            .iter()
            .map(|(card, vectors)| vectors.dim == dim && self.0.fit(card, vectors.values.len(), dim))
            .collect();
        let checked: Vec<(&Toolcard, &[f32])> = vectors
            .iter()
            .zip(&fitting)
            .filter(|(_, fits)| **fits)
            .map(|((card, vectors), _)| (*card, vectors.values.as_slice()))
            .collect();
        match self.0.verify_vectors(&checked, dim).await {
            Ok(true) => fitting,
            Ok(false) => {
                tracing::warn!("vectors of the team do not match their cards; ignored");
                vec![false; vectors.len()]
            }
            Err(error) => {
                tracing::warn!(%error, "failed to check vectors of the team");
                vec![false; vectors.len()]
            }
        }
    }
}
