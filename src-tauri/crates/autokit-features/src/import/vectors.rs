//! Embeddings of imported cards: those that came with the source if they can be trusted, or else computed
//! here.

use autokit_error::Result;
use autokit_library::PackedVectors;
use autokit_search::passages_of;
use autokit_toolcard::Toolcard;
use autokit_workspace::jobs::Progress;
use autokit_workspace::models::BATCH;

use super::Imports;
use super::batch::ImportBatch;
use crate::incoming::Incoming;

/// Cards of a bundle whose embeddings are recomputed to verify the ones that came with it.
const SAMPLE_SIZE: usize = 8;
/// Cosine between a vector that came with a bundle and the one computed here, below which none of the
/// bundle's vectors are used. Precisions of processors differ by up to 0.002 (see `Precision`).
const MIN_SAMPLE_COSINE: f32 = 0.99;

impl Imports {
    /// Sets the embeddings of the cards to write: those of the source if they are of the current model and
    /// verified, or else computed here.
    pub(super) async fn set_vectors(
        &self,
        incoming: &Incoming,
        import_batch: &mut ImportBatch,
        progress: &Progress,
    ) -> Result<()> {
        let verified = self.verified_vectors(incoming, import_batch).await?;
        let vocabulary = self.models.vocabulary();
        let total = import_batch.arrivals.len() as u64;
        let mut done = 0;
        for (batch, from) in import_batch.arrivals.chunks_mut(BATCH).zip(import_batch.from.chunks(BATCH)) {
            progress.check_cancelled()?;
            let mut missing = Vec::new();
            for (arrival, at) in batch.iter_mut().zip(from) {
                let entry = &incoming.entries[*at];
                let newest = arrival.revisions.last().map(|revision| revision.body.as_str());
                let is_theirs = newest == Some(entry.card.to_json().as_str());
                // Vectors in bundles are made without what people added about names.
                let fits = |numbers: usize, dim: usize| {
                    let passages = passages_of(entry.card.object(), &vocabulary);
                    passages.names.is_none() && numbers == dim * passages.texts.len()
                };
                match (&verified, &entry.vectors) {
                    (Some((model, dim)), Some(values)) if is_theirs && fits(values.len(), *dim) => {
                        arrival.vectors = Some(PackedVectors {
                            model: model.clone(),
                            names: None,
                            dim: *dim,
                            values: values.clone(),
                        });
                    }
                    _ => missing.push(arrival),
                }
            }
            let cards: Vec<Toolcard> = missing
                .iter()
                .filter_map(|arrival| Toolcard::from_json(&arrival.revisions.last()?.body).ok())
                .collect();
            if cards.len() == missing.len() {
                for (arrival, vectors) in missing.into_iter().zip(self.models.embed_cards(&cards).await?) {
                    arrival.vectors = vectors;
                }
            }
            done += batch.len() as u64;
            progress.set_done(done, total);
        }
        Ok(())
    }

    /// Returns the model and dimension of the source's vectors if they can be used. A sample is recomputed
    /// and compared, because whoever made them could have made a card match every query.
    async fn verified_vectors(
        &self,
        incoming: &Incoming,
        import_batch: &ImportBatch,
    ) -> Result<Option<(String, usize)>> {
        let Some(embedder) = self.models.embedder() else { return Ok(None) };
        let Some(model) =
            incoming.vectors.as_ref().filter(|model| model.model == autokit_search::vector_recipe(&embedder))
        else {
            return Ok(None);
        };
        let dim = model.dim as usize;
        let vocabulary = self.models.vocabulary();
        let is_comparable = |at: &usize| {
            let entry = &incoming.entries[*at];
            entry.vectors.is_some() && passages_of(entry.card.object(), &vocabulary).names.is_none()
        };
        let with: Vec<usize> = import_batch.from.iter().copied().filter(is_comparable).collect();
        let mut sample: Vec<usize> = Vec::new();
        for _ in 0..SAMPLE_SIZE.min(with.len()) {
            // Random, so that nobody can predict which cards are sampled.
            let number = u64::from_str_radix(&autokit_workspace::token(7), 16).unwrap_or_default();
            sample.push(with[(number % with.len() as u64) as usize]);
        }
        let cards: Vec<Toolcard> = sample.iter().map(|at| incoming.entries[*at].card.clone()).collect();
        let own = self.models.embed_cards(&cards).await?;
        let fits = incoming
            .entries
            .iter()
            .filter_map(|entry| entry.vectors.as_ref())
            .all(|values| dim > 0 && values.len().is_multiple_of(dim) && values.chunks(dim).all(is_unit));
        let same = sample.iter().zip(&own).all(|(at, own)| {
            let theirs = incoming.entries[*at].vectors.as_deref().unwrap_or_default();
            own.as_ref().is_some_and(|own| {
                own.values.len() == theirs.len()
                    && own
                        .values
                        .chunks(dim)
                        .zip(theirs.chunks(dim))
                        .all(|(a, b)| autokit_search::dot(a, b) >= MIN_SAMPLE_COSINE)
            })
        });
        if !(fits && same) {
            tracing::warn!(source = %incoming.source, "bundle vectors do not match their cards; ignored");
            return Ok(None);
        }
        Ok(Some((model.model.clone(), dim)))
    }
}

/// Returns whether a vector has length 1, as stored vectors do; a longer one would outrank all others.
fn is_unit(vector: &[f32]) -> bool {
    (autokit_search::dot(vector, vector) - 1.0).abs() < 1e-2
}
