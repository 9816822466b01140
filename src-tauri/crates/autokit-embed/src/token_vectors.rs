//! The vectors of a text's tokens.

/// The tokens of a text with their states in the last layer of a network, without special tokens and those of a prefix.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TokenVectors {
    ids: Vec<u32>,
    /// `[ids.len(), dim]`, each of unit length.
    vectors: Vec<f32>,
}

impl TokenVectors {
    /// Joins tokens with their vectors, which are of unit length and lie one behind the other.
    ///
    /// # Panics
    /// When the numbers cannot be divided among the tokens.
    pub fn new(ids: Vec<u32>, vectors: Vec<f32>) -> TokenVectors {
        assert!(if ids.is_empty() { vectors.is_empty() } else { vectors.len().is_multiple_of(ids.len()) });
        TokenVectors { ids, vectors }
    }

    /// Iterates over the tokens and their vectors, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[f32])> {
        let dim = self.vectors.len() / self.ids.len().max(1);
        self.ids.iter().copied().zip(self.vectors.chunks_exact(dim.max(1)))
    }
}
