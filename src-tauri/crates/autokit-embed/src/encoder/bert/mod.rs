//! This crate's own encoder for BERT-shaped models.
//!
//! It is faster than running the layers one by one because nothing is padded (the tokens of a chunk of
//! sequences are one matrix), weights are packed once, one product computes queries, keys and values, bias,
//! GELU and residual are applied while the sums are in registers, and whole chunks of sequences are assigned
//! to threads, so that threads synchronize once per batch and not once per layer. Products with weights are computed in
//! the precision the model bears ([`Precision`]): most of the time goes into them.

mod config;
mod forward;
mod layers;
mod linear;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

pub(crate) use config::BertConfig;

use self::forward::Workspace;
use self::layers::Network;
use self::linear::Arithmetic;
use super::{Encoder, Precision, check_batch};
use crate::error::{Error, Result};
use crate::kernel::Isa;
use crate::manifest::{CONFIG_FILE, ModelSpec, WEIGHTS_FILE};
use crate::pooling::Pooling;

/// Tokens computed together. Enough that reading the weights costs little compared with using them, and few
/// enough that the widest activations (`[tokens, 4 * hidden]`) stay in a core's cache.
const TOKENS_AT_ONCE: usize = 128;

/// Runs BERT on the CPU.
pub struct BertEncoder {
    network: Network,
    /// File of the weights.
    weights: PathBuf,
    isa: Isa,
    pool: Arc<rayon::ThreadPool>,
    pooling: Pooling,
    normalise: bool,
    /// Reusable activation memory, one entry per concurrent use so far.
    workspaces: Mutex<Vec<Workspace>>,
}

impl BertEncoder {
    /// Opens the encoder from `config.json` and `model.safetensors` in `folder`.
    ///
    /// # Errors
    /// [`Error::BadConfig`] also for a BERT that this encoder cannot run (another activation);
    /// [`Error::BadWeights`] or [`Error::Io`].
    pub fn open(spec: &ModelSpec, folder: &Path, pool: Arc<rayon::ThreadPool>) -> Result<Self> {
        Self::open_for(Isa::detect(), Precision::F32, spec, folder, pool)
    }

    /// As [`Self::open`], for a given instruction set of f32 and precision of the weights.
    ///
    /// # Errors
    /// As [`Self::open`].
    ///
    /// # Panics
    /// When the precision is not available.
    pub fn open_for(
        isa: Isa,
        precision: Precision,
        spec: &ModelSpec,
        folder: &Path,
        pool: Arc<rayon::ThreadPool>,
    ) -> Result<Self> {
        if !precision.is_available() {
            return Err(Error::Encode {
                reason: format!("this processor has no instructions for {precision:?}"),
            });
        }
        let path = folder.join(CONFIG_FILE);
        let config = BertConfig::from_file(&path)?;
        if !config.is_plain() {
            return Err(Error::BadConfig {
                path,
                reason: "only absolute positions and the exact GELU are supported".to_owned(),
            });
        }
        let arithmetic = Arithmetic { isa, precision };
        let weights = folder.join(WEIGHTS_FILE);
        let network = Network::load(arithmetic, &config, &weights, spec.delta.clone(), &pool)?;
        Ok(Self {
            network,
            weights,
            isa,
            pool,
            pooling: spec.pooling,
            normalise: spec.normalise,
            workspaces: Mutex::default(),
        })
    }

    /// Runs `work` with activation memory.
    fn with_workspace<T>(&self, work: impl FnOnce(&mut Workspace) -> T) -> T {
        // A panic elsewhere cannot leave the list in a bad state, because entries are moved in and out.
        let list = || self.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        let mut workspace = list().pop().unwrap_or_default();
        let done = work(&mut workspace);
        list().push(workspace);
        done
    }

    /// Refuses numbers that are not finite: weights that stay in the file are not checked before they are used.
    fn checked(&self, numbers: Vec<f32>) -> Result<Vec<f32>> {
        if numbers.iter().all(|x| x.is_finite()) {
            return Ok(numbers);
        }
        let reason = "a vector computed with it is not finite".to_owned();
        Err(Error::BadWeights { path: self.weights.clone(), reason })
    }

    /// Runs the network on `batch`, chunk by chunk on all threads. `read` takes the states of each chunk.
    fn run<T: Send>(
        &self,
        batch: &[&[u32]],
        read: impl Fn(&[&[u32]], &Workspace) -> T + Sync,
    ) -> Result<Vec<T>> {
        check_batch(batch, self.vocab_size(), self.max_positions())?;
        let limit = chunk_tokens(batch, self.pool.current_num_threads());
        let mut chunks = Vec::new();
        let mut rest = batch;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(chunk_len(rest, limit));
            chunks.push(now);
            rest = later;
        }
        let one = |sequences: &[&[u32]], threads| {
            self.with_workspace(|workspace| {
                self.network.forward(self.isa, sequences, workspace, threads);
                read(sequences, workspace)
            })
        };
        Ok(match chunks.as_slice() {
            [sequences] => vec![one(sequences, Some(&self.pool))],
            chunks => self.pool.install(|| {
                chunks.par_iter().with_max_len(1).map(|sequences| one(sequences, None)).collect()
            }),
        })
    }
}

impl Encoder for BertEncoder {
    fn dim(&self) -> usize {
        self.network.hidden
    }

    fn vocab_size(&self) -> usize {
        self.network.vocab_size
    }

    fn max_positions(&self) -> usize {
        self.network.max_positions
    }

    fn encode(&self, batch: &[&[u32]]) -> Result<Vec<f32>> {
        let vectors = self.run(batch, |sequences, workspace| {
            let mut vectors = vec![0.0; sequences.len() * self.network.hidden];
            workspace.pool(sequences, self.network.hidden, self.pooling, self.normalise, &mut vectors);
            vectors
        })?;
        self.checked(vectors.concat())
    }

    fn has_token_states(&self) -> bool {
        true
    }

    fn encode_tokens(&self, batch: &[&[u32]]) -> Result<Option<Vec<Vec<f32>>>> {
        let states =
            self.run(batch, |sequences, workspace| workspace.unit_states(sequences, self.network.hidden))?;
        states.into_iter().flatten().map(|states| self.checked(states)).collect::<Result<_>>().map(Some)
    }
}

/// Returns the tokens per chunk: one chunk if all fit, otherwise so that every thread gets the same number of
/// chunks.
fn chunk_tokens(batch: &[&[u32]], threads: usize) -> usize {
    let tokens: usize = batch.iter().map(|ids| ids.len()).sum();
    if tokens <= TOKENS_AT_ONCE {
        return TOKENS_AT_ONCE;
    }
    let chunks = tokens.div_ceil(TOKENS_AT_ONCE).next_multiple_of(threads);
    tokens.div_ceil(chunks)
}

/// Returns how many of the first sequences form a chunk of at most `limit` tokens, but at least one.
fn chunk_len(sequences: &[&[u32]], limit: usize) -> usize {
    let mut tokens = 0;
    let fits = |ids: &&&[u32]| {
        tokens += ids.len();
        tokens <= limit
    };
    sequences.iter().take_while(fits).count().max(1)
}
