//! Makes invisible characters visible: characters that a reader does not see, or that change the direction of
//! the text around them, are replaced by a mark that names them.
//!
//! Cards come from third parties. A bidirectional override in a command makes it read differently than it
//! runs, and zero-width or tag characters carry text that only a machine reads.

use std::borrow::Cow;

/// Replaces each bidirectional control, zero-width character and other invisible or control character by a
/// mark such as `‹U+202E›`. Line feeds and tabs stay, and so do the joiners and presentation selectors that
/// are part of an emoji.
///
/// ```
/// use autokit_toolcard::visible;
///
/// assert_eq!(visible("user\u{202e}nimda"), "user‹U+202E›nimda");
/// assert_eq!(visible("👩\u{200d}💻 at work\n"), "👩\u{200d}💻 at work\n");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    // Most texts contain none of these and are not copied.
    if !text.chars().any(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut from = 0;
    for (at, c) in invisible_chars(text) {
        out.push_str(&text[from..at]);
        out.extend([format!("‹U+{:04X}›", u32::from(c))]);
        from = at + c.len_utf8();
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Iterates over the invisible characters of a text with their byte offsets, except those that are part of an
/// emoji.
pub(crate) fn invisible_chars(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut emoji = Emoji::default();
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (at, c) = rest.next()?;
            let is_hidden = is_invisible(c) && !emoji.is_part_of(c, rest.peek().map(|(_, next)| *next));
            emoji.push(c);
            if is_hidden {
                return Some((at, c));
            }
        }
    })
}

/// Whether a character is invisible (line feed and tab excepted).
pub fn is_invisible(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Soft hyphen, grapheme joiner, Arabic letter mark.
        '\u{ad}' | '\u{34f}' | '\u{61c}'
        // Fillers and letters without a glyph.
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
        // Mongolian selectors, zero-width characters and directional marks.
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        // Line and paragraph separators: some programs treat them as line ends, others as nothing.
        | '\u{2028}' | '\u{2029}'
        // Embeddings, overrides, isolates, invisible operators.
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        // Variation selectors, byte order mark, interlinear annotations and noncharacters.
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        // Shorthand and musical formatting.
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags and further selectors, in which whole sentences have been smuggled.
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => c.is_control(),
    }
}

/// What precedes the current character, as far as emoji sequences are concerned.
#[derive(Default)]
struct Emoji {
    /// The last base character.
    base: Option<char>,
    /// Whether that base already has a presentation selector.
    selected: bool,
}

impl Emoji {
    /// Whether `c` is a joiner between two emoji or a presentation selector after one.
    fn is_part_of(&self, c: char, next: Option<char>) -> bool {
        match (c, self.base) {
            ('\u{200d}', Some(base)) => is_pictograph(base) && next.is_some_and(is_pictograph),
            ('\u{fe0e}' | '\u{fe0f}', Some(base)) => {
                !self.selected && (is_pictograph(base) || matches!(base, '0'..='9' | '#' | '*'))
            }
            _ => false,
        }
    }

    fn push(&mut self, c: char) {
        match c {
            '\u{fe0e}' | '\u{fe0f}' => self.selected = true,
            // A skin tone modifies the base before it.
            '\u{1f3fb}'..='\u{1f3ff}' => {}
            _ => *self = Emoji { base: Some(c), selected: false },
        }
    }
}

/// Blocks that contain emoji; generous, because a joiner between two symbols hides nothing.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}'
        | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_named() {
        assert_eq!(visible("a\u{200b}b\u{feff}c"), "a‹U+200B›b‹U+FEFF›c");
        assert_eq!(visible("\u{1b}[31m\0\r\u{85}\u{7f}"), "‹U+001B›[31m‹U+0000›‹U+000D›‹U+0085›‹U+007F›");
        assert_eq!(visible("\u{2066}x\u{2069}\u{61c}"), "‹U+2066›x‹U+2069›‹U+061C›");
        // "hi" in tag characters.
        assert_eq!(visible("\u{e0068}\u{e0069}"), "‹U+E0068›‹U+E0069›");
    }

    #[test]
    fn ordinary_text_is_not_copied() {
        for text in ["", "Café – naïve\tπ\n漢字 עברית العربية", "🎉👍🏽"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn emoji_sequences_stay_intact_and_hide_nothing_else() {
        for text in ["👩\u{200d}💻", "👩🏽\u{200d}🚀", "❤\u{fe0f}\u{200d}🔥", "1\u{fe0f}\u{20e3}", "☎\u{fe0e}"]
        {
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible("a\u{200d}b"), "a‹U+200D›b");
        assert_eq!(visible("👩\u{200d}b"), "👩‹U+200D›b");
        assert_eq!(visible("👩\u{200d}"), "👩‹U+200D›");
        assert_eq!(visible("❤\u{fe0f}\u{fe0f}\u{fe0f}"), "❤\u{fe0f}‹U+FE0F›‹U+FE0F›");
        assert_eq!(visible("x\u{fe0f}"), "x‹U+FE0F›");
    }
}
