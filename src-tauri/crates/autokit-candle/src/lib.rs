//! Runs candle-transformers networks as encoders: for models other than plain BERT, and as the reference that
//! the built-in encoder of [`autokit_embed`] is tested against. It is a crate of its own so that embedding
//! and search compile without candle.
//!
//! Sequences of equal length are encoded together and nothing is padded: these networks mask padding with
//! large negative numbers rather than excluding it, and padding would cost time as well.

use std::collections::HashMap;
use std::path::Path;

use autokit_embed::encoder::check_batch;
use autokit_embed::{
    Architecture, Backend, CONFIG_FILE, Delta, Encoder, Error, ModelSpec, Pooling, Result, WEIGHTS_FILE,
    normalise,
};
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{bert, modernbert, nomic_bert, xlm_roberta};
use serde::de::DeserializeOwned;

// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;

/// Uses the built-in encoder if it supports a model, and candle's otherwise.
pub const FASTEST: Backend = Backend::OwnOr(open);

/// Opens a model with candle.
///
/// # Errors
/// [`Error::BadConfig`], [`Error::BadWeights`] or [`Error::Io`].
pub fn open(spec: &ModelSpec, folder: &Path) -> Result<Box<dyn Encoder>> {
    Ok(Box::new(CandleEncoder::open(spec, folder)?))
}

/// Maximum number of sequences of equal length encoded in one call; more bring no gain on a CPU.
const SEQUENCES_AT_ONCE: usize = 16;

/// Runs a candle-transformers network on the CPU in f32.
pub struct CandleEncoder {
    network: Network,
    device: Device,
    pooling: Pooling,
    normalise: bool,
    dim: usize,
    vocab_size: usize,
    max_positions: usize,
}

enum Network {
    Bert(bert::BertModel),
    NomicBert(nomic_bert::NomicBertModel),
    XlmRoberta(xlm_roberta::XLMRobertaModel),
    ModernBert(modernbert::ModernBert),
}

impl CandleEncoder {
    /// Loads `config.json` and `model.safetensors` from `folder` as `spec.architecture`.
    ///
    /// # Errors
    /// [`Error::BadConfig`], [`Error::BadWeights`] or [`Error::Io`].
    pub fn open(spec: &ModelSpec, folder: &Path) -> Result<Self> {
        let device = Device::Cpu;
        let config_path = folder.join(CONFIG_FILE);
        let weights_path = folder.join(WEIGHTS_FILE);
        let bytes = std::fs::read(&weights_path).map_err(io(&weights_path))?;
        let bad = |e: candle_core::Error| Error::BadWeights {
            path: weights_path.clone(),
            reason: first_line(&e.to_string()),
        };
        let mut tensors = candle_core::safetensors::load_buffer(&bytes, &device).map_err(bad)?;
        if let Some(delta) = &spec.delta {
            add_delta(delta, &mut tensors)
                .map_err(|reason| Error::BadWeights { path: weights_path.clone(), reason })?;
        }
        let vb = VarBuilder::from_tensors(tensors, DType::F32, &device);
        let (network, dim, vocab_size, max_positions) = match spec.architecture {
            Architecture::Bert => {
                let c: bert::Config = read_config(&config_path)?;
                let network = Network::Bert(bert::BertModel::load(vb, &c).map_err(bad)?);
                (network, c.hidden_size, c.vocab_size, c.max_position_embeddings)
            }
            Architecture::NomicBert => {
                let c: nomic_bert::Config = read_config(&config_path)?;
                let network = Network::NomicBert(nomic_bert::NomicBertModel::load(vb, &c).map_err(bad)?);
                (network, c.n_embd, c.vocab_size, c.n_positions)
            }
            Architecture::XlmRoberta => {
                let c: xlm_roberta::Config = read_config(&config_path)?;
                let vb = if vb.contains_tensor("roberta.embeddings.word_embeddings.weight") {
                    vb.pp("roberta")
                } else {
                    vb
                };
                let network = Network::XlmRoberta(xlm_roberta::XLMRobertaModel::new(&c, vb).map_err(bad)?);
                // Positions start after the padding id.
                let positions = c.max_position_embeddings.saturating_sub(c.pad_token_id as usize + 1);
                (network, c.hidden_size, c.vocab_size, positions)
            }
            Architecture::ModernBert => {
                let c: modernbert::Config = read_config(&config_path)?;
                // The network expects names under `model.`; files with only the encoder lack that prefix.
                let vb = if vb.contains_tensor("model.embeddings.tok_embeddings.weight") {
                    vb
                } else {
                    vb.rename_f(|name| name.strip_prefix("model.").unwrap_or(name).to_owned())
                };
                let network = Network::ModernBert(modernbert::ModernBert::load(vb, &c).map_err(bad)?);
                (network, c.hidden_size, c.vocab_size, c.max_position_embeddings)
            }
        };
        Ok(Self {
            network,
            device,
            pooling: spec.pooling,
            normalise: spec.normalise,
            dim,
            vocab_size,
            max_positions,
        })
    }

    /// Encodes sequences of equal length and returns their states `[sequences, length, dim]` as a flat
    /// vector.
    fn run(&self, ids: Vec<u32>, sequences: usize, length: usize) -> Result<Vec<f32>> {
        let states = Tensor::from_vec(ids, (sequences, length), &self.device)
            .and_then(|ids| self.forward(&ids))
            .and_then(|states| states.flatten_all()?.to_vec1::<f32>());
        states.map_err(|error| Error::Encode { reason: first_line(&error.to_string()) })
    }

    fn forward(&self, ids: &Tensor) -> candle_core::Result<Tensor> {
        let mask = ids.ones_like()?;
        let types = ids.zeros_like()?;
        match &self.network {
            Network::Bert(m) => m.forward(ids, &types, Some(&mask)),
            Network::NomicBert(m) => m.forward(ids, Some(&types), Some(&mask)),
            Network::XlmRoberta(m) => m.forward(ids, &mask, &types, None, None, None),
            Network::ModernBert(m) => m.forward(ids, &mask),
        }
    }
}

impl Encoder for CandleEncoder {
    fn dim(&self) -> usize {
        self.dim
    }

    fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    fn max_positions(&self) -> usize {
        self.max_positions
    }

    fn encode(&self, batch: &[&[u32]]) -> Result<Vec<f32>> {
        check_batch(batch, self.vocab_size, self.max_positions)?;
        let mut order: Vec<usize> = (0..batch.len()).collect();
        order.sort_by_key(|i| batch[*i].len());
        let mut out = vec![0.0; batch.len() * self.dim];
        for same in order.chunk_by(|a, b| batch[*a].len() == batch[*b].len()) {
            for group in same.chunks(SEQUENCES_AT_ONCE) {
                let length = batch[group[0]].len();
                let ids: Vec<u32> = group.iter().flat_map(|i| batch[*i]).copied().collect();
                let states = self.run(ids, group.len(), length)?;
                for (i, states) in group.iter().zip(states.chunks_exact(length * self.dim)) {
                    let vector = &mut out[i * self.dim..(i + 1) * self.dim];
                    self.pooling.pool(states, vector);
                    if self.normalise {
                        normalise(vector);
                    }
                }
            }
        }
        Ok(out)
    }
}

/// Adds a delta to the weights it changes.
fn add_delta(delta: &Delta, tensors: &mut HashMap<String, Tensor>) -> Result<(), String> {
    for name in delta.weights() {
        let names = [format!("{name}.weight"), format!("bert.{name}.weight")];
        let found = names.iter().find(|name| tensors.contains_key(*name));
        let weight = found
            .and_then(|found| tensors.get_mut(found))
            .ok_or_else(|| format!("the delta changes {name}, which the network does not have"))?;
        let shape = weight.dims().to_vec();
        let values = weight.to_dtype(DType::F32).and_then(|weight| weight.flatten_all()?.to_vec1::<f32>());
        let mut values = values.map_err(|error| first_line(&error.to_string()))?;
        delta.add_to(name, &mut values, &shape)?;
        *weight =
            Tensor::from_vec(values, shape, &Device::Cpu).map_err(|error| first_line(&error.to_string()))?;
    }
    Ok(())
}

fn read_config<C: DeserializeOwned>(path: &Path) -> Result<C> {
    let text = std::fs::read(path).map_err(io(path))?;
    serde_json::from_slice(&text)
        .map_err(|e| Error::BadConfig { path: path.to_path_buf(), reason: e.to_string() })
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Io { action: "reading", path, source }
}

/// candle's messages may contain a backtrace after the first line.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
