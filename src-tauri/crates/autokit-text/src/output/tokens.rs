//! Counts tokens without reading more of the text than necessary.

use std::sync::LazyLock;

use bpe_openai::Tokenizer;

/// The tokenizer with the `o200k_base` vocabulary.
pub(super) fn tokenizer() -> &'static Tokenizer {
    bpe_openai::o200k_base()
}

/// Length of the longest token in bytes, the maximum that a token can represent.
static LONGEST: LazyLock<usize> = LazyLock::new(|| {
    let bpe = &tokenizer().bpe;
    (0..bpe.num_tokens()).map(|token| bpe.token_len(token as u32)).max().unwrap_or(1)
});

/// Whether the text has at most `limit` tokens.
pub(super) fn fits(text: &str, limit: usize) -> bool {
    // Every token represents at least one byte and at most `LONGEST` bytes.
    if text.len() <= limit {
        return true;
    }
    if text.len() / *LONGEST > limit {
        return false;
    }
    let tokenizer = tokenizer();
    tokenizer.count_till_limit(&tokenizer.normalize(text), limit).is_some()
}

/// The number of tokens in a text.
pub(super) fn count(text: &str) -> usize {
    tokenizer().count(text)
}

/// The position after the first `limit` tokens, at the boundary of a token and of a character.
pub(super) fn head(text: &str, limit: usize) -> usize {
    let (bpe, mut end, mut remaining) = (&tokenizer().bpe, 0, limit);
    // Starts with a small window and enlarges it up to `most`, beyond which no text can matter. Most texts
    // are done long before; a text without spaces is a single piece, which the window keeps small.
    let mut window = limit.saturating_mul(8).max(64);
    let most = limit.saturating_mul(*LONGEST);
    loop {
        let part = &text[..floor(text, window.min(most))];
        for piece in tokenizer().split(part) {
            // The last piece of a window may continue after it.
            let open = end + piece.len() == part.len() && part.len() < text.len();
            let tokens = bpe.encode_via_backtracking(piece.as_bytes());
            if tokens.len() > remaining || (open && window >= most) {
                return end
                    + boundary(piece, tokens.iter().take(remaining).map(|token| bpe.token_len(*token)));
            }
            if open {
                break;
            }
            remaining -= tokens.len();
            end += piece.len();
        }
        if end == text.len() || window >= most {
            return end;
        }
        (end, remaining) = (0, limit);
        window = window.saturating_mul(4);
    }
}

/// The position of the last `limit` tokens, at the boundary of a token and of a character.
pub(super) fn tail(text: &str, limit: usize) -> usize {
    let bpe = &tokenizer().bpe;
    let mut window = limit.saturating_mul(8).max(64);
    let most = limit.saturating_mul(*LONGEST);
    loop {
        let start = ceil(text, text.len().saturating_sub(window.min(most)));
        let part = &text[start..];
        let lengths: Vec<usize> = tokenizer()
            .split(part)
            .flat_map(|piece| bpe.encode_via_backtracking(piece.as_bytes()))
            .map(|token| bpe.token_len(token))
            .collect();
        if lengths.len() >= limit || start == 0 || window >= most {
            let kept: usize = lengths.iter().rev().take(limit).sum();
            return ceil(text, text.len() - kept);
        }
        window = window.saturating_mul(4);
    }
}

/// The length of the tokens in bytes, without the last ones if they end within a character.
fn boundary(piece: &str, lengths: impl Iterator<Item = usize>) -> usize {
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    ends.filter(|end| piece.is_char_boundary(*end)).last().unwrap_or(0)
}

fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

fn ceil(text: &str, at: usize) -> usize {
    text.ceil_char_boundary(at)
}
