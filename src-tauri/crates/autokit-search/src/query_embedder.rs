//! Meaning as vectors, for those that are given it and do not care where it comes from.

use std::fmt;

use autokit_embed::Embedder;

/// Turns texts into vectors. Calls compute; callers make them off the async threads.
pub trait QueryEmbedder: fmt::Debug + Send + Sync {
    /// Vectors of texts that are searched for.
    ///
    /// # Errors
    /// What the model said, in words.
    fn queries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String>;

    /// Vectors of texts that are found.
    ///
    /// # Errors
    /// What the model said, in words.
    fn passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String>;

    /// Whether a lower-case word is part of the language, not a name someone made up.
    fn is_word(&self, word: &str) -> bool;
}

impl QueryEmbedder for Embedder {
    fn queries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        texts.iter().map(|text| self.embed_query(text).map_err(|error| error.to_string())).collect()
    }

    fn passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        self.embed_passages(texts).map_err(|error| error.to_string())
    }

    fn is_word(&self, word: &str) -> bool {
        self.knows_word(word)
    }
}

/// The dot product; the cosine of unit vectors.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
