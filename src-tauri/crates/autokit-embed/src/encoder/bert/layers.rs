//! The weights of a BERT, packed for the kernels.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::config::BertConfig;
use super::linear::{Arithmetic, Linear};
use crate::delta::Delta;
use crate::encoder::weights::{Table, Weights};
use crate::error::Result;

/// The weights of a whole network.
pub(super) struct Network {
    pub(super) hidden: usize,
    pub(super) heads: usize,
    pub(super) vocab_size: usize,
    pub(super) max_positions: usize,
    pub(super) epsilon: f32,
    /// `[vocab_size, hidden]`
    pub(super) words: Table,
    /// `[max_positions, hidden]`, with the embedding of token type 0 added, because inputs are single texts.
    pub(super) positions: Vec<f32>,
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
}

/// One transformer layer.
pub(super) struct Layer {
    /// Queries, keys and values; queries are already divided by the root of the head size.
    pub(super) qkv: Linear,
    pub(super) attention_out: Linear,
    pub(super) attention_norm: Norm,
    pub(super) up: Linear,
    pub(super) down: Linear,
    pub(super) norm: Norm,
}

/// Weights of a layer norm.
pub(super) struct Norm {
    pub(super) gain: Vec<f32>,
    pub(super) shift: Vec<f32>,
}

impl Network {
    pub(super) fn load(
        arithmetic: Arithmetic,
        config: &BertConfig,
        path: &Path,
        delta: Option<Arc<Delta>>,
        pool: &rayon::ThreadPool,
    ) -> Result<Self> {
        let hidden = config.hidden_size;
        let mut weights = Weights::open(path, delta)?;
        weights.detect_prefix(&["", "bert."], "embeddings.word_embeddings.weight");
        let words = weights.table("embeddings.word_embeddings.weight", [config.vocab_size, hidden])?;
        let mut positions = weights
            .read("embeddings.position_embeddings.weight", &[config.max_position_embeddings, hidden])?;
        let types =
            weights.read("embeddings.token_type_embeddings.weight", &[config.type_vocab_size, hidden])?;
        for row in positions.chunks_exact_mut(hidden) {
            for (x, t) in row.iter_mut().zip(&types) {
                *x += t;
            }
        }
        let norm = Norm::load(&weights, "embeddings.LayerNorm", hidden)?;
        let layers = pool.install(|| {
            (0..config.num_hidden_layers)
                .into_par_iter()
                .map(|i| Layer::load(arithmetic, config, &weights, &format!("encoder.layer.{i}")))
                .collect::<Result<_>>()
        })?;
        weights.check_delta()?;
        Ok(Self {
            hidden,
            heads: config.num_attention_heads,
            vocab_size: config.vocab_size,
            max_positions: config.max_position_embeddings,
            epsilon: config.layer_norm_eps,
            words,
            positions,
            norm,
            layers,
        })
    }
}

impl Layer {
    fn load(arithmetic: Arithmetic, config: &BertConfig, weights: &Weights, name: &str) -> Result<Self> {
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let mut matrix = Vec::with_capacity(3 * hidden * hidden);
        let mut bias = Vec::with_capacity(3 * hidden);
        for part in ["query", "key", "value"] {
            let at = format!("{name}.attention.self.{part}");
            matrix.extend(weights.read(&format!("{at}.weight"), &[hidden, hidden])?);
            bias.extend(weights.read(&format!("{at}.bias"), &[hidden])?);
        }
        let scale = 1.0 / ((hidden / config.num_attention_heads) as f32).sqrt();
        for x in matrix[..hidden * hidden].iter_mut().chain(&mut bias[..hidden]) {
            *x *= scale;
        }
        let linear = |part: &str, columns: usize, depth: usize| -> Result<Linear> {
            let matrix = weights.read(&format!("{name}.{part}.weight"), &[columns, depth])?;
            let bias = weights.read(&format!("{name}.{part}.bias"), &[columns])?;
            Ok(Linear::new(arithmetic, &matrix, &bias, depth))
        };
        Ok(Self {
            qkv: Linear::new(arithmetic, &matrix, &bias, hidden),
            attention_out: linear("attention.output.dense", hidden, hidden)?,
            up: linear("intermediate.dense", inner, hidden)?,
            down: linear("output.dense", hidden, inner)?,
            attention_norm: Norm::load(weights, &format!("{name}.attention.output.LayerNorm"), hidden)?,
            norm: Norm::load(weights, &format!("{name}.output.LayerNorm"), hidden)?,
        })
    }
}

impl Norm {
    fn load(weights: &Weights, name: &str, hidden: usize) -> Result<Self> {
        Ok(Self {
            gain: weights.read(&format!("{name}.weight"), &[hidden])?,
            shift: weights.read(&format!("{name}.bias"), &[hidden])?,
        })
    }
}
