//! Measures ranking alone on judged sets.

use std::path::PathBuf;

use autokit_app::engine::Vectors;
use autokit_error::Result;
use autokit_search::eval::{RetrievalReport, RetrievalSet, evaluate_retrieval};

use crate::inputs::{unreadable, with_embeddings};

/// Measures the set in each folder.
///
/// # Errors
/// When a file cannot be read or there is no model.
pub fn retrieval(dirs: &[PathBuf], vectors: &Vectors) -> Result<Vec<RetrievalReport>> {
    let sets = dirs
        .iter()
        .map(|dir| RetrievalSet::load(dir).map_err(|error| unreadable(&error)))
        .collect::<Result<Vec<_>>>()?;
    with_embeddings(vectors, |embeddings| {
        sets.iter().map(|set| evaluate_retrieval(set, embeddings)).collect()
    })
}
