//! Embeddings of the chunks of documentation pages.

use autokit_embed::Embedder;
use autokit_error::Result;
use autokit_library::{PackedVectors, PageChunk};
use sha2::{Digest as _, Sha256};

/// Returns the text of a chunk that is embedded.
pub fn passage(chunk: &PageChunk) -> String {
    format!("{}: {}", chunk.path.join(" > "), chunk.text)
}

/// Returns a hash of a page's chunks. Pages with the same hash have the same embeddings.
pub fn chunks_hash(chunks: &[PageChunk]) -> String {
    let mut hash = Sha256::new();
    for chunk in chunks {
        hash.update(passage(chunk).as_bytes());
        hash.update([0]);
    }
    hex::encode(hash.finalize())
}

/// Computes the embeddings of a page's chunks, concatenated as they are stored.
pub fn embed_page(embedder: &Embedder, url: &str, chunks: &[PageChunk]) -> Result<PackedVectors> {
    tracing::debug!(%url, chunks = chunks.len(), "embedding a page");
    let texts: Vec<String> = chunks.iter().map(passage).collect();
    let values = embedder.embed_passages(&texts)?.concat();
    Ok(PackedVectors { model: embedder.id().to_owned(), names: None, dim: embedder.dim(), values })
}
