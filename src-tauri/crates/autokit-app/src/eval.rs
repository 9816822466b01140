//! Measuring on judged sets with the model the product uses: no library is opened.

mod ask;
mod discover;
mod improve;
mod linkrot;
mod setup;
mod tokens;

use std::path::PathBuf;
use std::sync::Arc;

use autokit_agent::discover::Vocabulary;
use autokit_embed::{Embedder, EmbedderOptions, ModelStore};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_search::QueryEmbedder;
use autokit_search::eval::{Embedder as Embeddings, RetrievalReport, RetrievalSet, evaluate_retrieval};
use autokit_web::{Fetcher, Limits, NetworkPolicy};

use crate::engine::Vectors;

pub use ask::{AskEvaluation, AskRow, ask, calibrate};
pub use autokit_search::Calibrations;
pub use discover::{DiscoverLine, DiscoverMeasures, DiscoverReport, Need, Share, discover};
pub use improve::{ImproveEvaluation, improve};
pub use linkrot::{LinkrotLine, linkrot};
pub use tokens::{TokensReport, TokensRow, tokens};

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
    let options = EmbedderOptions { backend: autokit_candle::FASTEST, ..EmbedderOptions::default() };
    Ok(Embedder::load(&files, &options)?)
}

/// The model as the agent wants it.
#[derive(Debug)]
pub(crate) struct Meaning(pub(crate) Arc<Embedder>);

impl QueryEmbedder for Meaning {
    fn queries(&self, texts: &[String]) -> std::result::Result<Vec<Vec<f32>>, String> {
        texts.iter().map(|text| self.0.embed_query(text).map_err(|error| error.to_string())).collect()
    }

    fn passages(&self, texts: &[String]) -> std::result::Result<Vec<Vec<f32>>, String> {
        self.0.embed_passages(texts).map_err(|error| error.to_string())
    }

    fn is_word(&self, word: &str) -> bool {
        self.0.knows_word(word)
    }
}

fn unreadable(error: &autokit_search::EvalError) -> ApiError {
    ApiError::new(
        ErrorCode::UnreadableFile,
        error.to_string(),
        "See `autokit eval --help` for what the files hold.",
    )
}

/// Runs `measure` with the product's embedder.
fn with<T>(
    vectors: &Vectors,
    measure: impl FnOnce(&Embeddings<'_, autokit_embed::Error>) -> Result<T, autokit_search::EvalError>,
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

/// Words about tools, from the cards AutoKit comes with.
pub(crate) fn vocabulary(senses: &dyn QueryEmbedder) -> Result<Vocabulary> {
    let starter = crate::starter::cards()?;
    let texts: Vec<String> = starter
        .cards
        .iter()
        .map(|item| format!("{} {}", item.card.name(), item.card.description()))
        .collect();
    let words = Vocabulary::words_of(texts.iter().map(String::as_str));
    let vectors = senses.passages(&words).map_err(ApiError::internal)?;
    Ok(Vocabulary::new(words, vectors))
}

/// A client that may read the host the person named, wherever it is.
fn fetcher_for(site: &url::Url) -> Result<Fetcher> {
    let host = site.host_str().unwrap_or_default();
    let host = site.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    Ok(Fetcher::new(NetworkPolicy::default().allowing(host), Limits::default())?)
}
