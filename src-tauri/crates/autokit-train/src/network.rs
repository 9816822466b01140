//! BERT with low-rank deltas on its linear layers (LoRA: Hu et al., 2021), differentiable end to end.
//!
//! A batch is packed: the tokens of all sequences are the rows of one matrix, so that linear layers compute
//! nothing for padding. Only attention, a small part of the work, pads its sequences to the longest.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use autokit_embed::{CONFIG_FILE, WEIGHTS_FILE};
use candle_core::{D, DType, Device, Tensor, Var};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde::Deserialize;

use crate::ops::{AttentionSoftmax, FrozenLinear, Gelu, LayerNorm, LayerNormOp};

/// The parts of `config.json` that shape the network.
#[derive(Debug, Clone, Deserialize)]
struct Config {
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    layer_norm_eps: f64,
    vocab_size: usize,
    max_position_embeddings: usize,
    hidden_act: String,
}

/// Rank and strength of the deltas.
#[derive(Debug, Clone, Copy)]
pub struct LoraOptions {
    /// Rank of each delta.
    pub rank: usize,
    /// Factor of the product of the two low-rank matrices.
    pub scale: f64,
}

/// The low-rank delta of one weight: `scale * B A`.
#[derive(Debug, Clone)]
pub struct Lora {
    /// `A [rank, in]`.
    pub a: Var,
    /// `B [out, rank]`, zero at the start, so that training starts from the base model.
    pub b: Var,
}

struct Linear {
    weight: Tensor,
    bias: Tensor,
    lora: Lora,
    scale: f64,
}

impl Linear {
    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let base = if x.device().is_cpu() {
            x.apply_op1(FrozenLinear { weight: self.weight.clone(), bias: self.bias.clone() })?
        } else {
            x.matmul(&self.weight.t()?)?.broadcast_add(&self.bias)?
        };
        let down = x.matmul(&self.lora.a.t()?)?.affine(self.scale, 0.0)?;
        base + down.matmul(&self.lora.b.t()?)?
    }
}

struct Norm {
    op: LayerNormOp,
    weight: Tensor,
    bias: Tensor,
}

impl Norm {
    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        if x.device().is_cpu() {
            return x.apply_op1(self.op.clone());
        }
        let centred = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
        let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
        let normalised = centred.broadcast_div(&(variance + f64::from(self.op.0.epsilon))?.sqrt()?)?;
        normalised.broadcast_mul(&self.weight)?.broadcast_add(&self.bias)
    }
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    intermediate: Linear,
    output: Linear,
    output_norm: Norm,
}

/// The network: frozen base weights and trainable deltas.
pub struct Network {
    words: Tensor,
    positions: Tensor,
    token_type: Tensor,
    embedding_norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
    hidden: usize,
    vocab_size: usize,
    max_positions: usize,
    deltas: Vec<(String, Lora)>,
}

/// Sequences of token ids, packed for the network.
pub struct PackedBatch {
    ids: Tensor,
    positions: Tensor,
    /// Row of each cell of the padded `[sequences, longest]`; padding repeats a row and is masked.
    padded_rows: Tensor,
    /// Cell of each row.
    cells: Tensor,
    /// 1 / length for each token of a sequence and 0 for padding, `[sequences, longest, 1]`.
    mean_weights: Tensor,
    lengths: Arc<[usize]>,
    longest: usize,
}

impl PackedBatch {
    /// Packs sequences, none of which is empty.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn new(sequences: &[&[u32]], device: &Device) -> candle_core::Result<Self> {
        let lengths: Arc<[usize]> = sequences.iter().map(|ids| ids.len()).collect();
        let longest = lengths.iter().copied().max().unwrap_or_default();
        let rows: usize = lengths.iter().sum();
        let (mut ids, mut positions, mut cells) =
            (Vec::with_capacity(rows), Vec::with_capacity(rows), Vec::with_capacity(rows));
        let mut padded_rows = vec![0_u32; sequences.len() * longest];
        let mut mean_weights = vec![0_f32; sequences.len() * longest];
        for (sequence, tokens) in sequences.iter().enumerate() {
            for (position, &id) in tokens.iter().enumerate() {
                let cell = sequence * longest + position;
                padded_rows[cell] = ids.len() as u32;
                mean_weights[cell] = 1.0 / tokens.len() as f32;
                ids.push(id);
                positions.push(position as u32);
                cells.push(cell as u32);
            }
        }
        let cell_count = padded_rows.len();
        Ok(Self {
            ids: Tensor::from_vec(ids, rows, device)?,
            positions: Tensor::from_vec(positions, rows, device)?,
            padded_rows: Tensor::from_vec(padded_rows, cell_count, device)?,
            cells: Tensor::from_vec(cells, rows, device)?,
            mean_weights: Tensor::from_vec(mean_weights, (sequences.len(), longest, 1), device)?,
            lengths,
            longest,
        })
    }

    /// Returns the number of sequences.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are no sequences.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }
}

impl Network {
    /// Loads the base model from a folder with `config.json` and `model.safetensors`; the deltas are drawn
    /// from `seed`.
    ///
    /// # Errors
    /// When a file is missing or damaged, or the model is not a plain BERT.
    pub fn load(folder: &Path, lora: LoraOptions, seed: u64, device: &Device) -> Result<Self> {
        let config_path = folder.join(CONFIG_FILE);
        let text =
            std::fs::read(&config_path).with_context(|| format!("reading {}", config_path.display()))?;
        let config: Config =
            serde_json::from_slice(&text).with_context(|| format!("reading {}", config_path.display()))?;
        ensure!(config.hidden_act == "gelu", "only BERT with the exact GELU can be trained");
        ensure!(
            config.hidden_size.is_multiple_of(config.num_attention_heads),
            "the heads do not divide the hidden size"
        );
        let weights_path = folder.join(WEIGHTS_FILE);
        let tensors = candle_core::safetensors::load(&weights_path, device)
            .with_context(|| format!("reading {}", weights_path.display()))?;
        Loader { tensors, config, lora, random: Pcg64::seed_from_u64(seed), device, deltas: Vec::new() }
            .network()
    }

    /// Returns the deltas with the names of their weights, in a fixed order.
    pub fn deltas(&self) -> &[(String, Lora)] {
        &self.deltas
    }

    /// Returns the number of dimensions of a vector.
    pub fn dim(&self) -> usize {
        self.hidden
    }

    /// Returns the length of the vocabulary and the largest length of a sequence.
    pub fn limits(&self) -> (usize, usize) {
        (self.vocab_size, self.max_positions)
    }

    /// Returns the unit vectors `[sequences, dim]` of a batch: the mean of the token states.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn forward(&self, batch: &PackedBatch) -> candle_core::Result<Tensor> {
        let words = self.words.index_select(&batch.ids, 0)?;
        let positions = self.positions.index_select(&batch.positions, 0)?;
        let mut states =
            self.embedding_norm.forward(&(words + positions)?.broadcast_add(&self.token_type)?)?;
        for layer in &self.layers {
            states = self.layer(layer, &states, batch)?;
        }
        let padded = states.index_select(&batch.padded_rows, 0)?;
        let padded = padded.reshape((batch.len(), batch.longest, self.hidden))?;
        let mean = padded.broadcast_mul(&batch.mean_weights)?.sum(1)?;
        let length = mean.sqr()?.sum_keepdim(1)?.sqrt()?;
        mean.broadcast_div(&length)
    }

    fn layer(&self, layer: &Layer, states: &Tensor, batch: &PackedBatch) -> candle_core::Result<Tensor> {
        let head = self.hidden / self.heads;
        let shape = (batch.len(), batch.longest, self.heads, head);
        let heads =
            |x: Tensor| x.index_select(&batch.padded_rows, 0)?.reshape(shape)?.transpose(1, 2)?.contiguous();
        let query = heads(layer.query.forward(states)?)?;
        let key = heads(layer.key.forward(states)?)?;
        let value = heads(layer.value.forward(states)?)?;
        let scores = query.matmul(&key.t()?)?;
        let scale = 1.0 / (head as f32).sqrt();
        let probabilities = if scores.device().is_cpu() {
            scores.apply_op1(AttentionSoftmax { lengths: batch.lengths.clone(), scale })?
        } else {
            // Padding has weight 0 in the mean.
            let mask = batch.mean_weights.ne(0.0)?.reshape((batch.len(), 1, 1, batch.longest))?;
            let hidden = Tensor::full(f32::MIN, mask.shape(), mask.device())?;
            let mask = mask.where_cond(&mask.zeros_like()?.to_dtype(DType::F32)?, &hidden)?;
            candle_nn::ops::softmax(&scores.affine(f64::from(scale), 0.0)?.broadcast_add(&mask)?, D::Minus1)?
        };
        let context = probabilities.matmul(&value)?.transpose(1, 2)?.contiguous()?;
        let context = context.reshape((batch.len() * batch.longest, self.hidden))?;
        let context = context.index_select(&batch.cells, 0)?;
        let attended = layer.attention_output.forward(&context)?;
        let states = layer.attention_norm.forward(&(states + attended)?)?;
        let wide = layer.intermediate.forward(&states)?;
        let wide = if wide.device().is_cpu() { wide.apply_op1(Gelu)? } else { wide.gelu_erf()? };
        let narrow = layer.output.forward(&wide)?;
        layer.output_norm.forward(&(states + narrow)?)
    }
}

/// Takes the network from the tensors of a file.
struct Loader<'a> {
    tensors: HashMap<String, Tensor>,
    config: Config,
    lora: LoraOptions,
    random: Pcg64,
    device: &'a Device,
    deltas: Vec<(String, Lora)>,
}

impl Loader<'_> {
    fn network(mut self) -> Result<Network> {
        let (hidden, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let words = self.tensor("embeddings.word_embeddings.weight", &[self.config.vocab_size, hidden])?;
        let position_shape = [self.config.max_position_embeddings, hidden];
        let positions = self.tensor("embeddings.position_embeddings.weight", &position_shape)?;
        let types = self.find("embeddings.token_type_embeddings.weight")?;
        let token_type = types.get(0)?.to_dtype(DType::F32)?;
        let embedding_norm = self.norm("embeddings.LayerNorm")?;
        let mut layers = Vec::with_capacity(self.config.num_hidden_layers);
        for at in 0..self.config.num_hidden_layers {
            let name = |part: &str| format!("encoder.layer.{at}.{part}");
            layers.push(Layer {
                query: self.linear(&name("attention.self.query"), hidden, hidden)?,
                key: self.linear(&name("attention.self.key"), hidden, hidden)?,
                value: self.linear(&name("attention.self.value"), hidden, hidden)?,
                attention_output: self.linear(&name("attention.output.dense"), hidden, hidden)?,
                attention_norm: self.norm(&name("attention.output.LayerNorm"))?,
                intermediate: self.linear(&name("intermediate.dense"), hidden, inner)?,
                output: self.linear(&name("output.dense"), inner, hidden)?,
                output_norm: self.norm(&name("output.LayerNorm"))?,
            });
        }
        Ok(Network {
            words,
            positions,
            token_type,
            embedding_norm,
            layers,
            heads: self.config.num_attention_heads,
            hidden,
            vocab_size: self.config.vocab_size,
            max_positions: self.config.max_position_embeddings,
            deltas: self.deltas,
        })
    }

    fn find(&self, name: &str) -> Result<&Tensor> {
        let found = self.tensors.get(name).or_else(|| self.tensors.get(&format!("bert.{name}")));
        found.with_context(|| format!("the weights have no tensor named {name}"))
    }

    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let tensor = self.find(name)?;
        ensure!(tensor.dims() == shape, "{name} is {:?}, the configuration says {shape:?}", tensor.dims());
        Ok(tensor.to_dtype(DType::F32)?.contiguous()?)
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Linear> {
        let weight = self.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = self.tensor(&format!("{name}.bias"), &[outputs])?;
        let rank = self.lora.rank;
        // Uniform with the standard deviation 1 / sqrt(in), as Kaiming initialisation of a linear layer.
        let bound = (3.0 / inputs as f32).sqrt();
        let a: Vec<f32> = (0..rank * inputs).map(|_| self.random.random_range(-bound..bound)).collect();
        let lora = Lora {
            a: Var::from_tensor(&Tensor::from_vec(a, (rank, inputs), self.device)?)?,
            b: Var::zeros((outputs, rank), DType::F32, self.device)?,
        };
        self.deltas.push((name.to_owned(), lora.clone()));
        Ok(Linear { weight, bias, lora, scale: self.lora.scale })
    }

    fn norm(&self, name: &str) -> Result<Norm> {
        let hidden = [self.config.hidden_size];
        let weight = self.tensor(&format!("{name}.weight"), &hidden)?;
        let bias = self.tensor(&format!("{name}.bias"), &hidden)?;
        let op = LayerNormOp(Arc::new(LayerNorm {
            weight: weight.to_vec1()?,
            bias: bias.to_vec1()?,
            epsilon: self.config.layer_norm_eps as f32,
        }));
        Ok(Norm { op, weight, bias })
    }
}
