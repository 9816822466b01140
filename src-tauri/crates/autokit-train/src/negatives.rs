//! Which documents of a batch count as negatives, and hard ones from outside it.

use anyhow::Result;
use candle_core::{Device, Tensor};
use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::loss::MASKED;
use crate::pairs::Pairs;

/// Two texts whose cosine is larger in the base model may be the same tool in other words, or two that both
/// answer the request: neither is told that it is wrong.
const SAME: f32 = 0.85;

/// Vectors of the base model for all texts of the pairs, as rows.
pub struct BaseVectors {
    rows: Vec<Vec<f32>>,
}

impl BaseVectors {
    /// Takes one unit vector per text.
    pub fn new(rows: Vec<Vec<f32>>) -> Self {
        Self { rows }
    }

    fn cosine(&self, a: usize, b: usize) -> f32 {
        self.rows[a].iter().zip(&self.rows[b]).map(|(a, b)| a * b).sum()
    }

    /// Returns the vectors of some texts as a matrix.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn matrix(&self, texts: &[usize], device: &Device) -> candle_core::Result<Tensor> {
        let dim = self.rows.first().map_or(0, Vec::len);
        let values: Vec<f32> = texts.iter().flat_map(|&text| &self.rows[text]).copied().collect();
        Tensor::from_vec(values, (texts.len(), dim), device)
    }
}

/// A document with its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Index of its text.
    pub text: usize,
    /// Index of its tool.
    pub tool: usize,
}

/// Returns the mask `[rows, columns]` of the objective, row by row: which documents count for which request. `columns`
/// begin with the documents of the rows themselves.
pub fn mask(rows: &[Candidate], columns: &[Candidate], base: &BaseVectors) -> Vec<f32> {
    let counts = |row: usize, column: usize| {
        let (own, other) = (rows[row], columns[column]);
        row == column || own.tool != other.tool && base.cosine(own.text, other.text) <= SAME
    };
    (0..rows.len())
        .into_par_iter()
        .flat_map_iter(|row| {
            (0..columns.len()).map(move |column| if counts(row, column) { 0.0 } else { MASKED })
        })
        .collect()
}

/// For each pair, documents of other tools of its source that the base model thinks close to the request.
pub struct HardNegatives {
    by_pair: Vec<Vec<Candidate>>,
}

impl HardNegatives {
    /// Has no candidates.
    pub fn none(pairs: &Pairs) -> Self {
        Self { by_pair: vec![Vec::new(); pairs.pairs.len()] }
    }

    /// Finds the `count` closest documents for each pair.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn mine(pairs: &Pairs, base: &BaseVectors, count: usize) -> Result<Self> {
        let mut by_pair = vec![Vec::new(); pairs.pairs.len()];
        for source in 0..pairs.sources.len() {
            let of_source: Vec<usize> =
                (0..pairs.pairs.len()).filter(|&at| pairs.pairs[at].source == source).collect();
            let mut documents: Vec<Candidate> = of_source
                .iter()
                .flat_map(|&at| {
                    let pair = &pairs.pairs[at];
                    pair.documents.iter().map(|&text| Candidate { text, tool: pair.tool })
                })
                .collect();
            documents.sort_unstable_by_key(|document| (document.text, document.tool));
            documents.dedup();
            let mined: Vec<(usize, Vec<Candidate>)> = of_source
                .par_iter()
                .map(|&at| (at, closest(&pairs.pairs[at], &documents, base, count)))
                .collect();
            for (at, candidates) in mined {
                by_pair[at] = candidates;
            }
        }
        Ok(Self { by_pair })
    }

    /// Draws up to `count` of a pair's candidates.
    pub fn draw(&self, pair: usize, count: usize, random: &mut Pcg64) -> Vec<Candidate> {
        let candidates = &self.by_pair[pair];
        if count == 1 {
            let at = |random: &mut Pcg64| candidates[random.random_range(0..candidates.len())];
            return if candidates.is_empty() { Vec::new() } else { vec![at(random)] };
        }
        let mut drawn = candidates.clone();
        drawn.shuffle(random);
        drawn.truncate(count);
        drawn
    }
}

fn closest(
    pair: &crate::pairs::Pair,
    documents: &[Candidate],
    base: &BaseVectors,
    count: usize,
) -> Vec<Candidate> {
    let own = pair.documents[0];
    let mut scored: Vec<(f32, Candidate)> = documents
        .iter()
        .filter(|document| document.tool != pair.tool && base.cosine(own, document.text) <= SAME)
        .map(|document| (base.cosine(pair.query, document.text), *document))
        .collect();
    let by_score =
        |a: &(f32, Candidate), b: &(f32, Candidate)| b.0.total_cmp(&a.0).then(a.1.text.cmp(&b.1.text));
    if scored.len() > count {
        scored.select_nth_unstable_by(count, by_score);
        scored.truncate(count);
    }
    scored.sort_unstable_by(by_score);
    scored.into_iter().map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_tools_and_close_texts_do_not_count_as_negatives() {
        let base = BaseVectors::new(vec![vec![1.0, 0.0], vec![0.99, 0.14], vec![0.0, 1.0], vec![0.6, 0.8]]);
        let candidate = |text, tool| Candidate { text, tool };
        let rows = [candidate(0, 0), candidate(2, 2)];
        let columns = [candidate(0, 0), candidate(2, 2), candidate(1, 1), candidate(3, 0)];
        let counted: Vec<bool> = mask(&rows, &columns, &base).into_iter().map(|value| value == 0.0).collect();
        // Text 1 is close to text 0, and text 3 is of the same tool as text 0.
        assert_eq!(counted, [true, true, false, false, true, true, true, true]);
    }
}
