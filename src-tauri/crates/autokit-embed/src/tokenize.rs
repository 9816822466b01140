//! Converts text to token ids.

use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use crate::error::{Error, Result};

/// Converts a text to the ids a model was trained on, including special tokens.
pub(crate) struct TextTokenizer {
    inner: Tokenizer,
    max_tokens: usize,
}

impl TextTokenizer {
    /// Loads `tokenizer.json`; sequences are truncated to `max_tokens`, including special tokens.
    pub(crate) fn from_file(path: &Path, max_tokens: usize) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(Error::io("reading", path))?;
        let bad = |reason: String| Error::BadTokenizer { path: path.to_path_buf(), reason };
        let mut inner = Tokenizer::from_bytes(&bytes).map_err(|e| bad(e.to_string()))?;
        // The file may specify its own padding and truncation (all-MiniLM-L6-v2's says 128), but sequences
        // are never padded here, and the model list decides where they are truncated.
        inner.with_padding(None);
        inner
            .with_truncation(Some(TruncationParams { max_length: max_tokens, ..Default::default() }))
            .map_err(|e| bad(e.to_string()))?;
        Ok(Self { inner, max_tokens })
    }

    /// Returns one more than the largest id this tokenizer can produce.
    pub(crate) fn vocab_size(&self) -> usize {
        self.inner.get_vocab(true).values().max().map_or(0, |id| *id as usize + 1)
    }

    /// Whether a word is a whole entry of the vocabulary.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.inner.token_to_id(word).is_some()
    }

    /// Returns the ids of `prefix` followed by `text`.
    pub(crate) fn encode(&self, prefix: &str, text: &str) -> Result<Vec<u32>, String> {
        let text = first_words(text, self.max_tokens);
        let encoding = if prefix.is_empty() {
            self.inner.encode_fast(text, true)
        } else {
            self.inner.encode_fast(format!("{prefix}{text}"), true)
        };
        Ok(encoding.map_err(|e| e.to_string())?.get_ids().to_vec())
    }

    /// As [`Self::encode`], and whether each token is one of `text`: not a special one, and not of the prefix.
    pub(crate) fn encode_marked(&self, prefix: &str, text: &str) -> Result<(Vec<u32>, Vec<bool>), String> {
        let text = first_words(text, self.max_tokens);
        let encoding = self.inner.encode(format!("{prefix}{text}"), true).map_err(|e| e.to_string())?;
        let tokens = encoding.get_special_tokens_mask().iter().zip(encoding.get_offsets());
        let is_own = tokens.map(|(special, (start, _))| *special == 0 && *start >= prefix.trim_end().len());
        Ok((encoding.get_ids().to_vec(), is_own.collect()))
    }
}

/// Returns the shortest start of `text` that contains `limit` words, so that tokenising a huge text costs no
/// more than the part the model will see.
///
/// Only words with a letter or digit are counted: each yields at least one token, while a word of control
/// characters may yield none. The tokens up to `limit` are therefore the same as for the whole text.
fn first_words(text: &str, limit: usize) -> &str {
    // A word takes at least two bytes with its separator, so most texts need no scan.
    if text.len() <= 2 * limit {
        return text;
    }
    let (mut words, mut counted) = (0, false);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            if counted && words == limit {
                return &text[..at];
            }
            counted = false;
        } else if !counted && c.is_alphanumeric() {
            counted = true;
            words += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{TextTokenizer, first_words};

    #[test]
    fn cuts_after_the_word_that_reaches_the_limit() {
        assert_eq!(first_words("one two three four five six", 2), "one two");
        assert_eq!(first_words("one -- two -- three -- four", 2), "one -- two");
        assert_eq!(first_words("one two", 5), "one two");
        assert_eq!(first_words("日本語 の テキスト です ね", 3), "日本語 の テキスト");
        assert_eq!(first_words("\u{1}\u{2} \u{3} word \u{4} other", 1), "\u{1}\u{2} \u{3} word");
    }

    #[test]
    fn a_file_that_cannot_be_read_or_is_no_tokenizer() {
        let folder = tempfile::tempdir().unwrap();
        let error = TextTokenizer::from_file(&folder.path().join("none"), 32).err().unwrap();
        assert_eq!(error.code(), "embed.io");
        let path = folder.path().join("tokenizer.json");
        std::fs::write(&path, "{\"model\": 5}").unwrap();
        let error = TextTokenizer::from_file(&path, 32).err().unwrap();
        assert_eq!(error.code(), "embed.bad_tokenizer");
        assert!(error.remedy().is_some());
    }
}
