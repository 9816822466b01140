//! Truncates the output of a tool to a number of tokens and notes what was removed.
//!
//! Tokens are counted with `bpe-openai` (by GitHub, MIT, with its vocabulary compiled in), because its
//! running time is linear in the text rather than quadratic in a long word, as in `tiktoken-rs`. The
//! vocabulary is `o200k_base`; other models' tokenizers differ by a few percent.
//!
//! No more text is tokenized than necessary: a text with no more bytes than allowed tokens fits without being
//! tokenized, one longer than the allowed number of the longest tokens exceeds the limit without being
//! tokenized, and only the ends of a truncated text are tokenized.

mod tokens;

use std::fmt::Write as _;

/// Default limit for a tool's output that is given to a model, in tokens (AutoAgent, arXiv:2502.05957,
/// section on tool output).
pub const DEFAULT_TOKENS: usize = 12_000;

/// Tokens reserved for the notice about the removed part; the longest notice has about 45.
const NOTICE_TOKENS: usize = 64;
/// Percentage of the kept tokens that come from the start: most output begins with what matters, and many
/// programs report the result at the end.
const HEAD_PERCENT: usize = 80;
/// Up to this many bytes, the tokens of the removed part are counted; beyond, they are estimated.
const COUNTED_BYTES: usize = 256 << 10;

/// A text within a token limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capped {
    /// The text itself, or its start and end with a notice in between.
    pub text: String,
    /// What was removed, if anything.
    pub cut: Option<Cut>,
}

/// The part that was removed from a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of tokens; exact if [`Cut::counted`], otherwise estimated from the kept text.
    pub tokens: usize,
    /// Whether [`Cut::tokens`] was counted.
    pub counted: bool,
    /// Number of bytes, always exact.
    pub bytes: usize,
}

/// Truncates `text` to at most `limit_tokens`, including the notice; the first 80 % and the last 20 % are
/// kept. A limit below 128 tokens leaves no room for a notice or an end, so only the start is kept.
pub fn cap(text: &str, limit_tokens: usize) -> Capped {
    if tokens::fits(text, limit_tokens) {
        return Capped { text: text.to_owned(), cut: None };
    }
    let notice = limit_tokens >= 2 * NOTICE_TOKENS;
    let mut room = if notice { limit_tokens - NOTICE_TOKENS } else { limit_tokens };
    loop {
        let head_tokens = if notice { room * HEAD_PERCENT / 100 } else { room };
        let head = tokens::head(text, head_tokens);
        let tail = if notice { tokens::tail(&text[head..], room - head_tokens) + head } else { text.len() };
        let cut = measure(text, head, tail, room);
        let mut kept = String::with_capacity(head + (text.len() - tail) + 200);
        kept.push_str(&text[..head]);
        if notice {
            write_notice(&mut kept, cut, limit_tokens);
        }
        kept.push_str(&text[tail..]);
        // The tokenizer may split the text differently where parts were joined; a few tokens less compensate
        // for that.
        if tokens::fits(&kept, limit_tokens) || room == 0 {
            return Capped { text: kept, cut: Some(cut) };
        }
        room = room.saturating_sub(8);
    }
}

/// Counts or estimates the tokens between two positions.
fn measure(text: &str, head: usize, tail: usize, kept_tokens: usize) -> Cut {
    let bytes = tail - head;
    if bytes <= COUNTED_BYTES {
        return Cut { tokens: tokens::count(&text[head..tail]), counted: true, bytes };
    }
    let kept_bytes = (text.len() - bytes).max(1);
    Cut { tokens: (bytes as u128 * kept_tokens as u128 / kept_bytes as u128) as usize, counted: false, bytes }
}

fn write_notice(text: &mut String, cut: Cut, limit: usize) {
    let about = if cut.counted { "" } else { "about " };
    let Cut { tokens, bytes, .. } = cut;
    // Writing to a string cannot fail.
    let written = write!(
        text,
        "\n[... {about}{tokens} tokens ({bytes} bytes) cut here; the limit is {limit} tokens ...]\n"
    );
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests;
