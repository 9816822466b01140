//! The part of `config.json` that defines the shape of a BERT network.

use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};

/// Shape of the network, with the names used in the file.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BertConfig {
    pub(crate) vocab_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) max_position_embeddings: usize,
    pub(crate) type_vocab_size: usize,
    pub(crate) layer_norm_eps: f32,
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl BertConfig {
    pub(crate) fn from_file(path: &Path) -> Result<Self> {
        let bad = |reason: String| Error::BadConfig { path: path.to_path_buf(), reason };
        let text = std::fs::read(path).map_err(Error::io("reading", path))?;
        let config: Self = serde_json::from_slice(&text).map_err(|e| bad(e.to_string()))?;
        let sizes = [
            config.vocab_size,
            config.hidden_size,
            config.num_hidden_layers,
            config.num_attention_heads,
            config.intermediate_size,
            config.max_position_embeddings,
            config.type_vocab_size,
        ];
        // The limit keeps products of two sizes far from overflow.
        if sizes.iter().any(|n| !(1..1 << 24).contains(n)) {
            return Err(bad("a size is zero or unreasonably large".to_owned()));
        }
        if !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            return Err(bad(format!(
                "{} numbers cannot be divided among {} attention heads",
                config.hidden_size, config.num_attention_heads
            )));
        }
        Ok(config)
    }

    /// Whether this crate's own encoder can run this network.
    pub(crate) fn is_plain(&self) -> bool {
        self.hidden_act == "gelu" && self.position_embedding_type == "absolute"
    }
}
