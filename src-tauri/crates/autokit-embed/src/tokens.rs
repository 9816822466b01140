//! Comparison of texts token by token instead of by one vector each (late interaction: Khattab and Zaharia,
//! "ColBERT", SIGIR 2020): slower, but more precise where two texts are close.

use crate::embedder::Embedder;
use crate::error::Result;
use crate::pooling::normalise;

/// The tokens of a text, each as a unit vector.
#[derive(Clone, Debug)]
pub struct TokenStates {
    dim: usize,
    /// `[tokens, dim]`
    states: Vec<f32>,
    /// Which tokens carry information, as judged by the caller.
    informative: Vec<bool>,
}

impl TokenStates {
    /// Returns the mean cosine of this text's informative tokens with the nearest token of the other text; of
    /// all tokens if none is informative. Between -1 and 1; 0 if either text has no tokens.
    pub fn mean_max_similarity(&self, other: &TokenStates) -> f32 {
        if other.states.is_empty() || self.states.is_empty() {
            return 0.0;
        }
        let any = self.informative.contains(&true);
        let (mut sum, mut count) = (0.0, 0);
        for (own, informative) in self.states.chunks_exact(self.dim).zip(&self.informative) {
            if any && !informative {
                continue;
            }
            let nearest = other
                .states
                .chunks_exact(other.dim)
                .map(|theirs| own.iter().zip(theirs).map(|(a, b)| a * b).sum::<f32>())
                .fold(f32::NEG_INFINITY, f32::max);
            sum += nearest;
            count += 1;
        }
        sum / count as f32
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.states.len() * size_of::<f32>() + self.informative.len()
    }
}

impl Embedder {
    /// Computes the token states of a query. `is_informative` decides for every token, in the model's
    /// spelling (pieces of words start with `##` in BERT's), whether it carries information.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`].
    pub fn query_tokens(&self, text: &str, is_informative: impl Fn(&str) -> bool) -> Result<TokenStates> {
        self.token_states(text, true, is_informative)
    }

    /// Computes the token states of a passage.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`].
    pub fn passage_tokens(&self, text: &str) -> Result<TokenStates> {
        self.token_states(text, false, |_| true)
    }

    fn token_states(
        &self,
        text: &str,
        query: bool,
        is_informative: impl Fn(&str) -> bool,
    ) -> Result<TokenStates> {
        let (ids, tokens): (Vec<u32>, Vec<Option<String>>) = self.tokens_of(text, query)?.into_iter().unzip();
        let dim = self.dim();
        let mut all = self.states_of(&ids)?;
        let mut states = Vec::with_capacity(all.len());
        let mut informative = Vec::with_capacity(ids.len());
        // Special tokens represent the text as a whole and are left out.
        for (row, token) in all.chunks_exact_mut(dim).zip(&tokens) {
            if let Some(token) = token {
                normalise(row);
                states.extend_from_slice(row);
                informative.push(is_informative(token));
            }
        }
        Ok(TokenStates { dim, states, informative })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_match_and_uninformative_words_do_not_count() {
        let embedder = Embedder::stand_in(64);
        let passage = embedder.passage_tokens("Reads and writes events of a calendar").unwrap();
        let other = embedder.passage_tokens("Sends money to a bank").unwrap();
        let all = embedder.query_tokens("the calendar events", |_| true).unwrap();
        let informative = embedder.query_tokens("the calendar events", |token| token != "the").unwrap();
        assert!((informative.mean_max_similarity(&passage) - 1.0).abs() < 1e-5);
        assert!(all.mean_max_similarity(&passage) < 0.95);
        assert!(informative.mean_max_similarity(&passage) > informative.mean_max_similarity(&other) + 0.3);
        let nothing = embedder.query_tokens("", |_| true).unwrap();
        assert_eq!(nothing.bytes(), 0);
        assert!(
            nothing.mean_max_similarity(&passage).abs() < 1e-6
                && all.mean_max_similarity(&nothing).abs() < 1e-6
        );
    }
}
