//! Inputs of the measurements: the model, files of judged sets, a site.

use autokit_app::engine::Vectors;
use autokit_embed::encoder::Precision;
use autokit_embed::{Embedder, EmbedderOptions, ModelStore};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_metrics::Embedder as Embeddings;
use autokit_web::{Fetcher, Limits, NetworkPolicy};

/// Opens the chosen embedding model, in the lowest precision it bears if none is given.
pub(crate) fn embedder(vectors: &Vectors, precision: Option<Precision>) -> Result<Embedder> {
    let store = ModelStore::new(autokit_app::paths::models_dir());
    let (model, folder) = match vectors {
        Vectors::Model => (autokit_app::default_model().to_owned(), None),
        Vectors::Folder { model, folder } => (model.clone(), Some(folder.as_path())),
        Vectors::StandIn(dim) => return Ok(Embedder::stand_in(*dim)),
        Vectors::Off => {
            return Err(ApiError::new(
                ErrorCode::NoModel,
                "semantic ranking cannot be measured without a model",
                "Remove --no-model.",
            ));
        }
    };
    let files = store.resolve(&model, folder)?;
    let options =
        EmbedderOptions { backend: autokit_candle::FASTEST, precision, ..EmbedderOptions::default() };
    Ok(Embedder::load(&files, &options)?)
}

/// The error for a file that cannot be read as a judged set.
pub(crate) fn unreadable(error: &autokit_metrics::EvalError) -> ApiError {
    ApiError::new(
        ErrorCode::UnreadableFile,
        error.to_string(),
        "See `autokit eval --help` for the format of the files.",
    )
}

/// Runs `measure` with the product's embedder.
pub(crate) fn with_embeddings<T>(
    vectors: &Vectors,
    precision: Option<Precision>,
    measure: impl FnOnce(&Embeddings<'_, autokit_embed::Error>) -> Result<T, autokit_metrics::EvalError>,
) -> Result<T> {
    let embedder = embedder(vectors, precision)?;
    let passages = |texts: &[String]| embedder.embed_passages(texts);
    let queries = |texts: &[String]| texts.iter().map(|text| embedder.embed_query(text)).collect();
    measure(&Embeddings { passages: &passages, queries: &queries }).map_err(|error| unreadable(&error))
}

/// A client that may access the host of the site, even in a private network.
pub(crate) fn fetcher_for(site: &url::Url) -> Result<Fetcher> {
    let host = site.host_str().unwrap_or_default();
    let host = site.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    Ok(Fetcher::new(NetworkPolicy::default().allowing(host), Limits::default())?)
}
