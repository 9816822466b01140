//! Late interaction of a question with passages: every token of the question looks for its best counterpart.
//!
//! The cosine of two texts hides which words of the question a passage answers. Late interaction (Khattab and Zaharia,
//! "ColBERT", 2020, section 3.2) sums, over the tokens of the question, the largest cosine with a token of the passage.
//! It needs the states of all tokens, which are too large to store, so it only orders the best passages anew. Tokens are
//! weighed by how few of these passages have them: what all of them say does not tell them apart.

use autokit_embed::TokenVectors;
use rustc_hash::FxHashSet;

use crate::query_embedder::dot;

/// Tokens of a question that are compared; the rest of a long one is left out.
const MAX_TOKENS: usize = 64;

/// Returns for each passage the weighted mean, over the question's first 64 tokens, of the largest cosine with a token of
/// the passage, in [-1, 1]. A passage without tokens gets 0.
pub fn late_interaction(question: &TokenVectors, passages: &[TokenVectors]) -> Vec<f32> {
    let weights = weights(question, passages);
    let total: f32 = weights.iter().sum();
    passages
        .iter()
        .map(|passage| {
            let best = question.iter().take(MAX_TOKENS).zip(&weights).map(|((_, token), weight)| {
                let cosines = passage.iter().map(|(_, other)| dot(token, other));
                weight * cosines.reduce(f32::max).unwrap_or(0.0)
            });
            if total > 0.0 { best.sum::<f32>() / total } else { 0.0 }
        })
        .collect()
}

/// Returns the weight of each token of the question: BM25's inverse document frequency among these passages.
fn weights(question: &TokenVectors, passages: &[TokenVectors]) -> Vec<f32> {
    let ids: Vec<FxHashSet<u32>> =
        passages.iter().map(|passage| passage.iter().map(|(id, _)| id).collect()).collect();
    question
        .iter()
        .take(MAX_TOKENS)
        .map(|(id, _)| {
            let having = ids.iter().filter(|ids| ids.contains(&id)).count() as f32;
            ((ids.len() as f32 - having + 0.5) / (having + 0.5)).ln_1p()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens given by id, each the unit vector of its group.
    fn tokens(tokens: &[(u32, usize)]) -> TokenVectors {
        let vector = |group: usize| (0..4).map(move |at| f32::from(u8::from(at == group)));
        TokenVectors::new(
            tokens.iter().map(|(id, _)| *id).collect(),
            tokens.iter().flat_map(|(_, group)| vector(*group)).collect(),
        )
    }

    #[test]
    fn a_passage_with_a_counterpart_for_each_token_is_first() {
        let question = tokens(&[(1, 0), (2, 1)]);
        let both = tokens(&[(7, 0), (8, 1), (9, 2)]);
        let one = tokens(&[(7, 0), (7, 0), (7, 0)]);
        let scores = late_interaction(&question, &[both, one, tokens(&[])]);
        assert!((scores[0] - 1.0).abs() < 1e-6 && (scores[1] - 0.5).abs() < 1e-6, "{scores:?}");
        assert!(scores[2].abs() < 1e-6, "{scores:?}");
    }

    #[test]
    fn a_token_that_all_passages_have_counts_little() {
        let question = tokens(&[(1, 0), (2, 1)]);
        let passages = [tokens(&[(1, 0), (5, 1)]), tokens(&[(1, 0)]), tokens(&[(1, 0)])];
        let scores = late_interaction(&question, &passages);
        assert!(scores[0] > 0.99 && scores[1] < 0.1, "{scores:?}");
    }
}
