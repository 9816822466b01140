//! From letters at places to lines of text.

use pdf_extract::{MediaBox, OutputDev, OutputError, Transform};
use unicode_normalization::UnicodeNormalization as _;

/// A line of a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// Size of most of its letters, in points.
    pub(crate) size: f64,
    /// Distance of its base line from the bottom of the page, in points.
    pub(crate) y: f64,
    /// Where it begins and ends, in points from the left.
    pub(crate) x: (f64, f64),
    /// Page, from 1.
    pub(crate) page: u32,
}

/// A gap wider than this share of the letter size separates words.
const WORD_GAP: f64 = 0.18;
/// A gap wider than this many letter sizes separates columns of a table or of a page.
const COLUMN_GAP: f64 = 4.0;
/// Base lines closer than this share of the letter size are one line: footnote marks stand higher.
const SAME_LINE: f64 = 0.5;

/// Collects the lines of one page in the order they are drawn.
pub(crate) struct Lines {
    page: u32,
    done: Vec<Line>,
    text: String,
    /// Letters by size, in hundredths of a point.
    sizes: Vec<(i64, usize)>,
    y: f64,
    start: f64,
    end: f64,
    size: f64,
}

impl Lines {
    pub(crate) fn new(page: u32) -> Lines {
        Lines {
            page,
            done: Vec::new(),
            text: String::new(),
            sizes: Vec::new(),
            y: 0.0,
            start: 0.0,
            end: 0.0,
            size: 0.0,
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Line> {
        self.end_line();
        self.done
    }

    fn end_line(&mut self) {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.text.clear();
        let sizes = std::mem::take(&mut self.sizes);
        let Some((size, _)) = sizes.into_iter().max_by_key(|(_, letters)| *letters) else { return };
        if text.is_empty() {
            return;
        }
        let line =
            Line { text, size: size as f64 / 100.0, y: self.y, x: (self.start, self.end), page: self.page };
        // Some programs draw bold letters twice.
        if self.done.last().is_none_or(|before| before.text != line.text || (before.y - line.y).abs() > 1.0) {
            self.done.push(line);
        }
    }
}

impl OutputDev for Lines {
    fn begin_page(
        &mut self,
        _: u32,
        _: &MediaBox,
        _: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn output_character(
        &mut self,
        at: &Transform,
        width: f64,
        _: f64,
        font_size: f64,
        letter: &str,
    ) -> Result<(), OutputError> {
        let scale = (at.m11 * at.m22 - at.m12 * at.m21).abs().sqrt();
        let size = scale * font_size.abs();
        if !size.is_finite() || size <= 0.0 || !at.m31.is_finite() || !at.m32.is_finite() {
            return Ok(());
        }
        let (x, y) = (at.m31, at.m32);
        let reference = size.max(self.size);
        let is_same_line = !self.text.is_empty() && (y - self.y).abs() <= SAME_LINE * reference;
        // Text may go back a little for accents, not to the start of a line.
        let goes_on = is_same_line && x >= self.end - reference && x <= self.end + COLUMN_GAP * reference;
        if goes_on {
            if x > self.end + WORD_GAP * reference {
                self.text.push(' ');
            }
        } else {
            self.end_line();
            (self.start, self.y) = (x, y);
        }
        // Ligatures are drawn as one letter; nobody types them.
        self.text.extend(letter.nfkc());
        let key = (size * 100.0).round() as i64;
        match self.sizes.iter_mut().find(|(known, _)| *known == key) {
            Some((_, letters)) => *letters += 1,
            None => self.sizes.push((key, 1)),
        }
        self.end = x + width * size;
        self.size = size;
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}
