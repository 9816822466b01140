//! Texts as token ids, cut for training.

use std::path::Path;

use anyhow::{Result, anyhow};
use tokenizers::{Tokenizer, TruncationParams};

/// Tokenises texts; longer ones are cut to `max_tokens`, including special tokens.
///
/// # Errors
/// When `tokenizer.json` cannot be read or a text cannot be tokenised.
pub fn tokenise(folder: &Path, texts: &[String], max_tokens: usize) -> Result<Vec<Vec<u32>>> {
    let path = folder.join(autokit_embed::TOKENIZER_FILE);
    let mut tokenizer =
        Tokenizer::from_file(&path).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    tokenizer.with_padding(None);
    tokenizer
        .with_truncation(Some(TruncationParams { max_length: max_tokens, ..Default::default() }))
        .map_err(|error| anyhow!("{error}"))?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let encodings = tokenizer.encode_batch_fast(texts, true).map_err(|error| anyhow!("{error}"))?;
    Ok(encodings.iter().map(|encoding| encoding.get_ids().to_vec()).collect())
}
