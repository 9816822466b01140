//! Scores of all the cards for many queries.

use rayon::prelude::*;

use crate::dataset::{Cards, Dataset};
use crate::error::{Error, Stop};
use crate::vectors::dot;

/// How many queries share one walk over the cards: as many as stay in the first cache with a card.
const TOGETHER: usize = 8;

impl<'a> Cards<'a> {
    /// The vector of `card` nearest to `query`, and its cosine.
    pub(crate) fn nearest(&self, card: usize, query: &[f32]) -> (&'a [f32], f32) {
        let mut best: (&'a [f32], f32) = (&[], f32::NEG_INFINITY);
        for vector in self.of(card, query.len()) {
            let cosine = dot(vector, query);
            if cosine > best.1 {
                best = (vector, cosine);
            }
        }
        best
    }
}

/// Calls `each` with the index of every query and its scores of all cards (cosine plus the prior of the
/// question it is for), and returns the results in order. A query comes with the index of its question.
pub(crate) fn with_scores<T: Send>(
    dataset: &Dataset<'_>,
    queries: &[(usize, Vec<f32>)],
    stop: Stop<'_>,
    each: impl Fn(usize, &[f32]) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let (cards, dim, count) = (dataset.cards(), dataset.dim(), dataset.cards().len());
    let chunks = queries.par_chunks(TOGETHER).enumerate().map(|(chunk, queries)| {
        let mut scores = vec![f32::NEG_INFINITY; count * queries.len()];
        for card in 0..count {
            if card % 1024 == 0 && stop() {
                return Err(Error::Cancelled);
            }
            for vector in cards.of(card, dim) {
                for (row, (_, query)) in queries.iter().enumerate() {
                    let score = &mut scores[row * count + card];
                    *score = score.max(dot(vector, query));
                }
            }
        }
        let rows = scores.chunks_exact_mut(count).zip(queries).enumerate();
        let results = rows.map(|(row, (scores, (question, _)))| {
            for &(card, prior) in &dataset.questions()[*question].prior {
                scores[card as usize] += prior;
            }
            each(chunk * TOGETHER + row, scores)
        });
        Ok(results.collect::<Vec<T>>())
    });
    Ok(chunks.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect())
}
