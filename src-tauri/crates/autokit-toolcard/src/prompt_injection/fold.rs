//! Normalizes text for pattern matching: undoes spelling tricks, one byte per character.

use std::ops::Range;

use unicode_normalization::char::decompose_compatible;

use crate::visible::is_invisible;

/// A text folded to lower-case ASCII: invisible characters are dropped, look-alikes become the Latin letter
/// they resemble, accents are removed, everything else becomes `~`.
pub(super) struct Folded {
    pub(super) text: Vec<u8>,
    /// Byte offset of each character in the original text, plus one entry for the end.
    at: Vec<u32>,
}

impl Folded {
    pub(super) fn new(text: &str) -> Folded {
        let (mut folded, mut at) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
        for (offset, c) in text.char_indices() {
            if is_invisible(c) {
                continue;
            }
            let letter = if c.is_ascii() { c as u8 } else { letter(c) };
            folded.push(letter.to_ascii_lowercase());
            at.push(offset as u32);
        }
        at.push(text.len() as u32);
        Folded { text: folded, at }
    }

    /// Maps a range back to the original text.
    pub(super) fn original_range(&self, range: Range<usize>) -> Range<usize> {
        self.at[range.start] as usize..self.at[range.end] as usize
    }

    /// Returns the text around a range, `near` characters on each side.
    pub(super) fn around(&self, range: &Range<usize>, near: usize) -> &[u8] {
        &self.text[range.start.saturating_sub(near)..(range.end + near).min(self.text.len())]
    }
}

fn letter(c: char) -> u8 {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{2032}' | '\u{ff07}' => b'\'',
        '\u{201c}' | '\u{201d}' => b'"',
        '\u{2010}'..='\u{2015}' => b'-',
        // Cyrillic and Greek letters (and an Armenian one) that look like Latin letters.
        'а' | 'А' | 'α' | 'Α' => b'a',
        'В' | 'Β' => b'b',
        'с' | 'С' => b'c',
        'ԁ' => b'd',
        'е' | 'Е' | 'Ε' => b'e',
        'һ' | 'Н' | 'Η' => b'h',
        'і' | 'І' | 'Ι' | 'ι' => b'i',
        'ј' | 'Ј' => b'j',
        'К' | 'к' | 'Κ' | 'κ' => b'k',
        'М' | 'Μ' => b'm',
        'Ν' | 'ո' => b'n',
        'о' | 'О' | 'ο' | 'Ο' => b'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => b'p',
        'ԛ' => b'q',
        'ѕ' | 'Ѕ' => b's',
        'Т' | 'Τ' | 'т' => b't',
        'υ' => b'u',
        'ѵ' | 'ν' => b'v',
        'ѡ' => b'w',
        'х' | 'Х' | 'Χ' | 'χ' => b'x',
        'у' | 'У' | 'Υ' => b'y',
        'Ζ' => b'z',
        _ if c.is_whitespace() => b' ',
        _ => {
            let mut first = None;
            decompose_compatible(c, |part| first = first.or(Some(part)));
            first.filter(char::is_ascii).map_or(b'~', |plain| plain as u8)
        }
    }
}
