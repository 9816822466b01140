//! The interface for embedding texts, for callers that do not care about the model.

use std::fmt;

use autokit_embed::Embedder;

/// Embeds texts as vectors. Calls are CPU-bound and should not run on async threads.
pub trait QueryEmbedder: fmt::Debug + Send + Sync {
    /// Embeds texts as queries.
    ///
    /// # Errors
    /// Returns the model's error message.
    fn queries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String>;

    /// Embeds texts as passages.
    ///
    /// # Errors
    /// Returns the model's error message.
    fn passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String>;

    /// Whether a lower-case word is part of the language rather than an invented name.
    fn is_word(&self, word: &str) -> bool;
}

impl QueryEmbedder for Embedder {
    fn queries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        self.embed_queries(texts).map_err(|error| error.to_string())
    }

    fn passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        self.embed_passages(texts).map_err(|error| error.to_string())
    }

    fn is_word(&self, word: &str) -> bool {
        self.knows_word(word)
    }
}

/// Returns the dot product, which is the cosine of unit vectors.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    /// Sums side by side, which the processor adds at once.
    const LANES: usize = 8;
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}
