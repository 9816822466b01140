//! What a delta changes on judged sets, paired by query.

use anyhow::{Result, anyhow};
use autokit_metrics::RetrievalSet;
use autokit_metrics::measures::{Interval, bootstrap, mean, ndcg};
use autokit_search::Vocabulary;
use candle_core::{Device, Tensor};
use serde::Serialize;

use crate::network::{Network, PackedBatch};
use crate::tokens::tokenise;

/// Sequences encoded in one call.
const SEQUENCES: usize = 32;
/// Resamples of the paired bootstrap.
const RESAMPLES: usize = 10_000;
/// Seed of the paired bootstrap.
const SEED: u64 = 20_240_601;

/// A judged set, tokenised.
pub struct DeveloperSet {
    name: String,
    documents: Vec<Vec<u32>>,
    queries: Vec<Vec<u32>>,
    /// Indices of the documents that answer each query.
    relevant: Vec<Vec<usize>>,
}

impl DeveloperSet {
    /// Tokenises a set.
    ///
    /// # Errors
    /// When the tokenizer cannot be read.
    pub fn new(set: &RetrievalSet, folder: &std::path::Path, max_tokens: usize) -> Result<Self> {
        let texts: Vec<String> =
            set.tools.iter().map(|tool| tool.document(None).dense_text(Vocabulary::shipped())).collect();
        let queries: Vec<String> = set.queries.iter().map(|query| query.text.clone()).collect();
        let place: std::collections::HashMap<&str, usize> =
            set.tools.iter().enumerate().map(|(at, tool)| (tool.id.as_str(), at)).collect();
        let relevant = set
            .queries
            .iter()
            .map(|query| query.relevant.iter().filter_map(|id| place.get(id.as_str()).copied()).collect());
        Ok(Self {
            name: set.name.clone(),
            documents: tokenise(folder, &texts, max_tokens)?,
            queries: tokenise(folder, &queries, max_tokens)?,
            relevant: relevant.collect(),
        })
    }

    /// Returns NDCG@10 of each query when documents are ranked by cosine.
    ///
    /// # Errors
    /// When the network fails.
    pub fn measure(&self, network: &Network, device: &Device) -> Result<Vec<f64>> {
        let documents = encode(network, &self.documents, device)?;
        let queries = encode(network, &self.queries, device)?;
        let scores = queries.matmul(&documents.t()?)?.to_vec2::<f32>()?;
        if scores.len() != self.relevant.len() {
            return Err(anyhow!("{} queries gave {} rows", self.relevant.len(), scores.len()));
        }
        Ok(scores.iter().zip(&self.relevant).map(|(scores, relevant)| ndcg_of(scores, relevant)).collect())
    }
}

/// NDCG@10 of a ranking by score; ties are ranked by position, as in the index.
fn ndcg_of(scores: &[f32], relevant: &[usize]) -> f64 {
    let before = |at: usize| {
        let better =
            |&(other, score): &(usize, &f32)| score.total_cmp(&scores[at]).then(at.cmp(&other)).is_gt();
        scores.iter().enumerate().filter(better).count() + 1
    };
    let ranks: Vec<usize> = relevant.iter().map(|&at| before(at)).collect();
    ndcg(&ranks, relevant.len(), 10)
}

/// Encodes sequences as unit vectors, without keeping what a backward pass needs.
///
/// # Errors
/// When the network fails.
pub fn encode(network: &Network, sequences: &[Vec<u32>], device: &Device) -> Result<Tensor> {
    let mut order: Vec<usize> = (0..sequences.len()).collect();
    order.sort_by_key(|&at| sequences[at].len());
    let mut rows: Vec<Vec<f32>> = vec![Vec::new(); sequences.len()];
    for chunk in order.chunks(SEQUENCES) {
        let batch: Vec<&[u32]> = chunk.iter().map(|&at| sequences[at].as_slice()).collect();
        let vectors = network.forward(&PackedBatch::new(&batch, device)?)?.detach().to_vec2::<f32>()?;
        for (&at, vector) in chunk.iter().zip(vectors) {
            rows[at] = vector;
        }
    }
    let dim = network.dim();
    Ok(Tensor::from_vec(rows.concat(), (sequences.len(), dim), &Device::Cpu)?)
}

/// A set before and after training.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// Name of the set.
    pub set: String,
    /// Number of queries.
    pub queries: usize,
    /// Mean NDCG@10 with the base model.
    pub before: f64,
    /// Mean NDCG@10 with the delta.
    pub after: f64,
    /// Difference, paired by query, with its 95 % interval.
    pub difference: Interval,
}

/// Compares two measurements of a set.
pub fn compare(set: &DeveloperSet, before: &[f64], after: &[f64]) -> Line {
    let differences: Vec<f64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
    Line {
        set: set.name.clone(),
        queries: before.len(),
        before: mean(before),
        after: mean(after),
        difference: bootstrap(&differences, RESAMPLES, SEED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_measured_by_the_ranks_of_its_documents() {
        assert!((ndcg_of(&[0.1, 0.9, 0.5], &[1]) - 1.0).abs() < 1e-12);
        assert!((ndcg_of(&[0.1, 0.9, 0.5], &[2]) - 1.0 / 3_f64.log2()).abs() < 1e-12);
        assert!(ndcg_of(&[0.0; 12], &[11]).abs() < 1e-12);
    }
}
