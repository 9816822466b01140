//! Measuring ranking on judged sets with the model the product uses: no library is opened.

use std::path::{Path, PathBuf};

use autokit_embed::{Embedder, EmbedderOptions, ModelStore};
use autokit_retrieve::eval::{
    AskReport, AskSet, Embedder as Embeddings, RetrievalReport, RetrievalSet, evaluate_ask,
    evaluate_retrieval,
};

use crate::engine::Vectors;
use crate::error::{ApiError, ErrorCode, Result};

fn embedder(vectors: &Vectors) -> Result<Embedder> {
    let store = ModelStore::new(crate::paths::models_dir());
    let (model, folder) = match vectors {
        Vectors::Model => (crate::default_model().to_owned(), None),
        Vectors::Folder { model, folder } => (model.clone(), Some(folder.as_path())),
        Vectors::StandIn(dim) => return Ok(Embedder::stand_in(*dim)),
        Vectors::Off => {
            return Err(ApiError::new(
                ErrorCode::NoModel,
                "ranking by meaning cannot be measured without a model",
                "Leave --no-model out.",
            ));
        }
    };
    let files = store.resolve(&model, folder)?;
    Ok(Embedder::load(&files, &EmbedderOptions::default())?)
}

fn unreadable(error: &autokit_retrieve::EvalError) -> ApiError {
    ApiError::new(
        ErrorCode::UnreadableFile,
        error.to_string(),
        "See `autokit eval --help` for what the files hold.",
    )
}

/// Runs `measure` with the product's embedder.
fn with<T>(
    vectors: &Vectors,
    measure: impl FnOnce(&Embeddings<'_, autokit_embed::Error>) -> Result<T, autokit_retrieve::EvalError>,
) -> Result<T> {
    let embedder = embedder(vectors)?;
    let passages = |texts: &[String]| embedder.embed_passages(texts);
    let queries = |texts: &[String]| texts.iter().map(|text| embedder.embed_query(text)).collect();
    measure(&Embeddings { passages: &passages, queries: &queries }).map_err(|error| unreadable(&error))
}

/// Measures each folder's set.
///
/// # Errors
/// When a file cannot be read or there is no model.
pub fn retrieval(dirs: &[PathBuf], vectors: &Vectors) -> Result<Vec<RetrievalReport>> {
    let sets = dirs
        .iter()
        .map(|dir| RetrievalSet::load(dir).map_err(|error| unreadable(&error)))
        .collect::<Result<Vec<_>>>()?;
    with(vectors, |embeddings| sets.iter().map(|set| evaluate_retrieval(set, embeddings)).collect())
}

/// Measures questions over cards.
///
/// # Errors
/// When a file cannot be read or there is no model.
pub fn ask(cards: &Path, questions: &Path, vectors: &Vectors) -> Result<AskReport> {
    let set = AskSet::load(cards, questions).map_err(|error| unreadable(&error))?;
    with(vectors, |embeddings| evaluate_ask(&set, embeddings))
}
