//! Embeddings of imported cards: those that came with the source if they can be trusted, or else computed
//! here.

use autokit_error::Result;
use autokit_library::PackedVectors;
use autokit_search::passages_of;
use autokit_toolcard::Toolcard;
use autokit_workspace::are_units;
use autokit_workspace::jobs::Progress;
use autokit_workspace::models::BATCH;

use super::Imports;
use super::batch::ImportBatch;
use crate::incoming::SourceContents;

impl Imports {
    /// Sets the embeddings of the cards to write: those of the source if they are of the current model and
    /// verified, or else computed here.
    pub(super) async fn set_vectors(
        &self,
        incoming: &SourceContents,
        import_batch: &mut ImportBatch,
        progress: &Progress,
    ) -> Result<()> {
        let verified = self.verified_vectors(incoming, import_batch).await?;
        let total = import_batch.arrivals.len() as u64;
        let mut done = 0;
        for (batch, from) in import_batch.arrivals.chunks_mut(BATCH).zip(import_batch.from.chunks(BATCH)) {
            progress.check_cancelled()?;
            let mut missing = Vec::new();
            for (arrival, at) in batch.iter_mut().zip(from) {
                let entry = &incoming.entries[*at];
                let newest = arrival.revisions.last().map(|revision| revision.body.as_str());
                let is_theirs = newest == Some(entry.card.to_json().as_str());
                match (&verified, &entry.vectors) {
                    (Some((model, dim)), Some(values))
                        if is_theirs && self.models.fit(&entry.card, values.len(), *dim) =>
                    {
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

    /// Returns the model and dimension of the source's vectors if they can be used.
    async fn verified_vectors(
        &self,
        incoming: &SourceContents,
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
        let comparable = |at: &usize| {
            let entry = &incoming.entries[*at];
            let values = entry.vectors.as_deref()?;
            let is_plain = passages_of(entry.card.object(), &vocabulary).names.is_none();
            is_plain.then_some((&entry.card, values))
        };
        let comparable: Vec<(&Toolcard, &[f32])> = import_batch.from.iter().filter_map(comparable).collect();
        // One that cannot be a card's speaks against all of them, whether it is of a card to import or not.
        let all_fit = incoming
            .entries
            .iter()
            .filter_map(|entry| entry.vectors.as_ref())
            .all(|values| are_units(values, dim));
        if !(all_fit && self.models.verify_vectors(&comparable, dim).await?) {
            tracing::warn!(source = %incoming.source, "bundle vectors do not match their cards; ignored");
            return Ok(None);
        }
        Ok(Some((model.model.clone(), dim)))
    }
}
