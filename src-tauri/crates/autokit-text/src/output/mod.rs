//! Cuts what a tool says to a number of tokens, and says what was cut.
//!
//! Counted with `bpe-openai` (GitHub's; MIT; its vocabulary is compiled in, nothing is fetched),
//! because its time grows with the text and not with the square of a long word, as it does in
//! `tiktoken-rs`. The vocabulary is `o200k_base`; other models' tokenizers differ by some percent.
//!
//! No more is tokenised than the answer needs: a text with no more bytes than tokens allowed passes
//! unread, one that is longer than the allowed number of the longest tokens is over the limit
//! unread, and of a text that is cut only its ends are looked at.

mod tokens;

use std::fmt::Write as _;

/// How much of a tool's output goes to a model when nothing else is said, in tokens (AutoAgent,
/// arXiv:2502.05957, section on tool output).
pub const DEFAULT_TOKENS: usize = 12_000;

/// Tokens set aside for the notice of what was cut; the longest notice has about 45.
const NOTICE_TOKENS: usize = 64;
/// Of every hundred tokens kept, how many come from the start: most output says first what matters,
/// and many programs say last how it ended.
const HEAD_PERCENT: usize = 80;
/// Up to this many bytes what was cut is counted; beyond, it is estimated.
const COUNTED_BYTES: usize = 256 << 10;

/// A text within its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capped {
    /// The text itself, or its start and its end with a notice in between.
    pub text: String,
    /// What is missing, if anything.
    pub cut: Option<Cut>,
}

/// What was taken out of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Tokens; exact if [`Cut::counted`], otherwise estimated from what was kept.
    pub tokens: usize,
    /// Whether [`Cut::tokens`] was counted.
    pub counted: bool,
    /// Bytes, always exact.
    pub bytes: usize,
}

/// Cuts `text` to at most `limit_tokens`, the notice included: the first 80 % and the last 20 % stay.
/// Below 128 tokens there is no room for a notice or an end; only the start stays then.
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
            tell(&mut kept, cut, limit_tokens);
        }
        kept.push_str(&text[tail..]);
        // The pieces a text is divided into before it is tokenised can differ where it is cut; a
        // few tokens less make up for it.
        if tokens::fits(&kept, limit_tokens) || room == 0 {
            return Capped { text: kept, cut: Some(cut) };
        }
        room = room.saturating_sub(8);
    }
}

/// Counts or estimates what lies between two places in the text.
fn measure(text: &str, head: usize, tail: usize, kept_tokens: usize) -> Cut {
    let bytes = tail - head;
    if bytes <= COUNTED_BYTES {
        return Cut { tokens: tokens::count(&text[head..tail]), counted: true, bytes };
    }
    let kept_bytes = (text.len() - bytes).max(1);
    Cut { tokens: (bytes as u128 * kept_tokens as u128 / kept_bytes as u128) as usize, counted: false, bytes }
}

fn tell(text: &mut String, cut: Cut, limit: usize) {
    let about = if cut.counted { "" } else { "about " };
    let Cut { tokens, bytes, .. } = cut;
    // Writing to a string does not fail.
    let written = write!(
        text,
        "\n[... {about}{tokens} tokens ({bytes} bytes) cut here; the limit is {limit} tokens ...]\n"
    );
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests;
