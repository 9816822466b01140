//! Embedding models.

use autokit_embed::ModelInfo;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Available embedding model.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ModelEntry {
    /// The model.
    pub model: ModelInfo,
    /// Whether this library uses it.
    pub current: bool,
}

/// List of embedding models.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Models {
    /// Models in the order of the manifest.
    pub models: Vec<ModelEntry>,
    /// Folder of downloaded models.
    pub store: String,
}

/// Choice of an embedding model.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ModelChoice {
    /// Name of the model in the manifest.
    pub name: String,
    /// Folder with the model's files, used instead of a download.
    #[serde(default)]
    pub folder: Option<String>,
}
