//! Vectors of the pieces of documentation pages.

use autokit_embed::Embedder;
use autokit_error::Result;
use autokit_library::{PackedVectors, PageChunk};
use sha2::{Digest as _, Sha256};

/// What is embedded of a piece.
pub fn passage(chunk: &PageChunk) -> String {
    format!("{}: {}", chunk.path.join(" > "), chunk.text)
}

/// A hash of the pieces of a page: where it is the same, their vectors are too.
pub fn hash_of(chunks: &[PageChunk]) -> String {
    let mut hash = Sha256::new();
    for chunk in chunks {
        hash.update(passage(chunk).as_bytes());
        hash.update([0]);
    }
    hex::encode(hash.finalize())
}

/// The vectors of a page's pieces, one after the other, as they are stored.
pub fn packed(embedder: &Embedder, url: &str, chunks: &[PageChunk]) -> Result<PackedVectors> {
    tracing::debug!(%url, pieces = chunks.len(), "embedding a page");
    let texts: Vec<String> = chunks.iter().map(passage).collect();
    let values = embedder.embed_passages(&texts)?.concat();
    Ok(PackedVectors { model: embedder.id().to_owned(), dim: embedder.dim(), values })
}
