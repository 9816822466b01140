//! Measures ranking alone on judged sets.

use std::path::PathBuf;

use autokit_app::engine::Vectors;
use autokit_embed::encoder::Precision;
use autokit_error::Result;
use autokit_metrics::{RetrievalReport, RetrievalSet, evaluate_retrieval};

use crate::inputs::{unreadable, with_embeddings};

/// Measures the set in each folder, with vectors computed in `precision`; in the lowest one that the model bears if it is
/// `None`.
///
/// # Errors
/// When a file cannot be read or there is no model.
pub fn retrieval(
    dirs: &[PathBuf],
    vectors: &Vectors,
    precision: Option<Precision>,
) -> Result<Vec<RetrievalReport>> {
    let sets = dirs
        .iter()
        .map(|dir| RetrievalSet::load(dir).map_err(|error| unreadable(&error)))
        .collect::<Result<Vec<_>>>()?;
    with_embeddings(vectors, precision, |embeddings| {
        sets.iter().map(|set| evaluate_retrieval(set, embeddings)).collect()
    })
}
