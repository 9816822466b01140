//! Embedding models.

use autokit_embed::ModelInfo;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A model with its part in this library.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ModelEntry {
    /// The model.
    pub model: ModelInfo,
    /// Whether this library uses it.
    pub current: bool,
}

/// The models on offer.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Models {
    /// In the manifest's order.
    pub models: Vec<ModelEntry>,
    /// The folder of downloaded models.
    pub store: String,
}

/// Picks a model.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ModelChoice {
    /// Its name in the manifest.
    pub name: String,
    /// A folder that holds its files, to be used instead of downloading.
    #[serde(default)]
    pub folder: Option<String>,
}
