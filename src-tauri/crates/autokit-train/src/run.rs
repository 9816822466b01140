//! A training run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use autokit_embed::encoder::Precision;
use autokit_embed::{Embedder, EmbedderOptions, ModelStore};
use autokit_metrics::RetrievalSet;
use candle_core::{Device, Tensor, Var};
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::checkpoint;
use crate::loss::{distance_to, info_nce};
use crate::negatives::{BaseVectors, Candidate, HardNegatives, mask};
use crate::network::{LoraOptions, Network, PackedBatch};
use crate::optimizer::{AdamW, AdamWOptions};
use crate::pairs::Pairs;
use crate::report::{DeveloperSet, Line, compare};
use crate::schedule::{Example, epoch, random_of_step};
use crate::tokens::tokenise;

/// Everything that decides the result of a run; it is part of the file that results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Name of the base model.
    pub model: String,
    /// SHA-256 of the base model's weights, in hex.
    pub base_sha256: String,
    /// SHA-256 of the files of pairs, in hex, joined by `+`.
    pub pairs_sha256: String,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Steps to take.
    pub steps: usize,
    /// Pairs in a batch.
    pub batch: usize,
    /// Hard negatives per pair.
    pub hard_negatives: usize,
    /// Most requests per batch that no tool of their group answers.
    pub near_misses: usize,
    /// Most tokens of a text.
    pub max_tokens: usize,
    /// Rank of the deltas.
    pub rank: usize,
    /// Factor of the deltas.
    pub scale: f64,
    /// Learning rate after the warm-up; it falls linearly to 0.
    pub learning_rate: f64,
    /// Share of the steps in which the learning rate rises from 0.
    pub warmup: f64,
    /// Temperature of the objective.
    pub temperature: f64,
    /// Weight of the distance to the vectors of the base model.
    pub anchor: f64,
    /// Share of the trained delta that is kept, 0 to 1: weights between those of the base model and the trained ones
    /// lose less where the data says nothing (Wortsman et al., "Robust fine-tuning of zero-shot models", 2022).
    pub keep: f64,
}

/// Files and reporting of a run; they do not change its result.
#[derive(Debug, Clone)]
pub struct Files {
    /// The delta that results.
    pub out: PathBuf,
    /// Where the state is saved, and read from if it is there.
    pub checkpoint: PathBuf,
    /// Steps between two checkpoints.
    pub checkpoint_every: usize,
    /// Folders of judged sets for the report.
    pub sets: Vec<PathBuf>,
}

/// Progress of a run.
#[derive(Debug, Clone)]
pub enum Event {
    /// What is being prepared.
    Preparing(&'static str),
    /// A step was taken.
    Step {
        /// Steps taken.
        step: usize,
        /// Steps to take.
        steps: usize,
        /// Value of the objective.
        loss: f32,
        /// Norm of the gradients.
        gradient_norm: f64,
    },
}

/// Folder of the model, and a recipe's name and checksum of it.
pub struct Base {
    /// Folder with the model's files.
    pub folder: PathBuf,
    /// Name of the model.
    pub name: String,
    /// SHA-256 of its weights, in hex.
    pub sha256: String,
}

impl Base {
    /// Finds a model in the model store.
    ///
    /// # Errors
    /// When it is not there.
    pub fn find(store: &ModelStore, name: &str) -> Result<(Self, Embedder)> {
        let files = store.resolve(name, None)?;
        // Exact, so that the result does not depend on the processor.
        let options = EmbedderOptions { precision: Some(Precision::F32), ..EmbedderOptions::default() };
        let embedder = Embedder::load(&files, &options)?;
        let sha256 = sha256(&files.folder().join(autokit_embed::WEIGHTS_FILE))?;
        Ok((Self { folder: files.folder().to_owned(), name: name.to_owned(), sha256 }, embedder))
    }
}

/// Returns the SHA-256 of a file in hex.
///
/// # Errors
/// When the file cannot be read.
pub fn sha256(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(hex::encode(Sha256::digest(&bytes)))
}

/// A run with everything it needs in memory.
struct Training<'a> {
    recipe: &'a Recipe,
    pairs: &'a Pairs,
    tokens: Vec<Vec<u32>>,
    base: BaseVectors,
    hard: HardNegatives,
    network: Network,
    device: Device,
}

/// Closest documents among which hard negatives are drawn.
const CANDIDATES: usize = 20;

/// Trains a delta and writes it, with a report on the judged sets.
///
/// # Errors
/// When a file cannot be read or written, or the loss is no longer finite.
pub fn train(
    recipe: &Recipe,
    base: &Base,
    embedder: &Embedder,
    pairs: &Pairs,
    files: &Files,
    events: &dyn Fn(Event),
) -> Result<Vec<Line>> {
    let device = device()?;
    events(Event::Preparing("tokens"));
    let tokens = tokenise(&base.folder, &pairs.texts, recipe.max_tokens)?;
    events(Event::Preparing("vectors of the base model"));
    let vectors = BaseVectors::new(embedder.embed_passages(&pairs.texts)?);
    let hard = if recipe.hard_negatives > 0 {
        events(Event::Preparing("hard negatives"));
        HardNegatives::mine(pairs, &vectors, CANDIDATES.max(recipe.hard_negatives))?
    } else {
        HardNegatives::none(pairs)
    };
    let lora = LoraOptions { rank: recipe.rank, scale: recipe.scale };
    let network = Network::load(&base.folder, lora, recipe.seed, &device)?;
    let sets = files
        .sets
        .iter()
        .map(|folder| DeveloperSet::new(&RetrievalSet::load(folder)?, &base.folder, recipe.max_tokens));
    let sets = sets.collect::<Result<Vec<_>>>()?;
    events(Event::Preparing("judged sets with the base model"));
    // The deltas are 0 before the first step.
    let before = sets.iter().map(|set| set.measure(&network, &device)).collect::<Result<Vec<_>>>()?;

    let variables: Vec<(String, Var)> = network
        .deltas()
        .iter()
        .flat_map(|(name, lora)| {
            [(format!("{name}.a"), lora.a.clone()), (format!("{name}.b"), lora.b.clone())]
        })
        .collect();
    let mut optimizer = AdamW::new(variables, AdamWOptions::default())?;
    let recipe_text = serde_json::to_string(recipe)?;
    if files.checkpoint.exists() {
        checkpoint::restore(&files.checkpoint, &mut optimizer, &recipe_text, &device)?;
    }
    let training = Training { recipe, pairs, tokens, base: vectors, hard, network, device };
    training.run(&mut optimizer, files, &recipe_text, events)?;

    for (_, lora) in training.network.deltas() {
        lora.b.set(&lora.b.as_tensor().affine(recipe.keep, 0.0)?)?;
    }
    checkpoint::write_delta(&files.out, &training.network, recipe.scale, &recipe_text)?;
    sets.iter()
        .zip(&before)
        .map(|(set, before)| Ok(compare(set, before, &set.measure(&training.network, &training.device)?)))
        .collect()
}

impl Training<'_> {
    fn run(
        &self,
        optimizer: &mut AdamW,
        files: &Files,
        recipe_text: &str,
        events: &dyn Fn(Event),
    ) -> Result<()> {
        let epoch_of = |number: usize| epoch(self.pairs, self.recipe.batch, self.recipe.seed, number as u64);
        let mut batches = epoch_of(0);
        ensure!(!batches.is_empty(), "there are fewer pairs than half a batch");
        // Every epoch has the same number of batches: it depends on the sizes of the sources alone.
        let per_epoch = batches.len();
        let mut current = 0;
        while optimizer.steps() < self.recipe.steps {
            let step = optimizer.steps();
            if step / per_epoch != current {
                current = step / per_epoch;
                batches = epoch_of(current);
            }
            let batch = &batches[step % per_epoch];
            let loss = self.loss(batch, step)?;
            let value = loss.to_scalar::<f32>()?;
            ensure!(value.is_finite(), "the loss is {value} in step {step}");
            let gradients = loss.backward()?;
            let gradient_norm = optimizer.step(&gradients, self.learning_rate(step))?;
            events(Event::Step { step: step + 1, steps: self.recipe.steps, loss: value, gradient_norm });
            if optimizer.steps().is_multiple_of(files.checkpoint_every) {
                checkpoint::save(&files.checkpoint, optimizer, recipe_text)?;
            }
        }
        checkpoint::save(&files.checkpoint, optimizer, recipe_text)
    }

    fn learning_rate(&self, step: usize) -> f64 {
        let share = (step as f64 + 1.0) / self.recipe.steps as f64;
        let warmup = self.recipe.warmup;
        let factor = if share < warmup { share / warmup } else { (1.0 - share) / (1.0 - warmup) };
        self.recipe.learning_rate * factor
    }

    fn loss(&self, batch: &[Example], step: usize) -> Result<Tensor> {
        let mut random = random_of_step(self.recipe.seed, step);
        let pair = |example: &Example| &self.pairs.pairs[example.pair];
        let mut queries: Vec<usize> = batch.iter().map(|example| pair(example).query).collect();
        queries.extend(self.near_misses(batch, &mut random));
        let rows: Vec<Candidate> = batch
            .iter()
            .map(|example| Candidate { text: example.document, tool: pair(example).tool })
            .collect();
        let mut columns = rows.clone();
        for example in batch {
            columns.extend(self.hard.draw(example.pair, self.recipe.hard_negatives, &mut random));
        }
        let documents: Vec<usize> = columns.iter().map(|candidate| candidate.text).collect();
        let query_vectors = self.network.forward(&self.packed(&queries)?)?;
        let document_vectors = self.network.forward(&self.packed(&documents)?)?;
        let mask =
            Tensor::from_vec(mask(&rows, &columns, &self.base), (rows.len(), columns.len()), &self.device)?;
        let loss = info_nce(&query_vectors, &document_vectors, &mask, self.recipe.temperature)?;
        if self.recipe.anchor == 0.0 {
            return Ok(loss);
        }
        let away = (distance_to(&query_vectors, &self.base.matrix(&queries, &self.device)?)?
            + distance_to(&document_vectors, &self.base.matrix(&documents, &self.device)?)?)?;
        Ok((loss + away.affine(self.recipe.anchor / 2.0, 0.0)?)?)
    }

    /// Draws requests that no tool of the batch's groups answers.
    fn near_misses(&self, batch: &[Example], random: &mut Pcg64) -> Vec<usize> {
        let groups: BTreeSet<usize> =
            batch.iter().map(|example| self.pairs.pairs[example.pair].group).collect();
        let of_group = |group: &usize| self.pairs.near_misses.get(group);
        let mut drawn: Vec<usize> = groups.iter().filter_map(of_group).flatten().copied().collect();
        drawn.shuffle(random);
        drawn.truncate(self.recipe.near_misses);
        drawn
    }

    fn packed(&self, texts: &[usize]) -> Result<PackedBatch> {
        let sequences: Vec<&[u32]> = texts.iter().map(|&text| self.tokens[text].as_slice()).collect();
        Ok(PackedBatch::new(&sequences, &self.device)?)
    }
}

/// Uses the first CUDA device where this program was built for one, else the CPU.
fn device() -> Result<Device> {
    Ok(if candle_core::utils::cuda_is_available() { Device::new_cuda(0)? } else { Device::Cpu })
}
