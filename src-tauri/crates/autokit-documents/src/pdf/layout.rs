//! From lines to paragraphs and headings.

use std::collections::HashMap;

use super::lines::Line;
use crate::document::Block;

/// An entry of a document's outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) level: u8,
    pub(crate) title: String,
    /// From 1.
    pub(crate) page: u32,
}

/// Fewest pages on which a repeated line is a header or footer.
const REPEATED_ON: usize = 4;
/// Lines at the top and at the bottom of a page that may be headers and footers.
const MARGIN_LINES: usize = 2;
/// A line of letters this much larger than most is a heading.
const LARGER: f64 = 1.12;
/// Most words of a heading.
const HEADING_WORDS: usize = 16;
/// Lines further apart than this many letter sizes are paragraphs of their own.
const PARAGRAPH_GAP: f64 = 1.75;
/// Fewest entries of an outline that is trusted more than the size of letters.
const OUTLINE: usize = 3;

/// Turns the lines of pages into blocks.
pub(crate) fn blocks(pages: &[Vec<Line>], outline: &[Entry]) -> Vec<Block> {
    let repeated = repeated_lines(pages);
    let mut lines: Vec<&Line> = Vec::new();
    for page in pages {
        let margin = margin_of(page);
        let is_left_out = |at: usize, line: &Line| {
            (margin.contains(&at) && repeated.contains_key(&without_digits(&line.text)))
                || is_leader(&line.text)
        };
        let kept: Vec<&Line> = page
            .iter()
            .enumerate()
            .filter(|(at, line)| !is_left_out(*at, line))
            .map(|(_, line)| line)
            .collect();
        // A page with nothing but such lines says something by them.
        if kept.is_empty() { lines.extend(page) } else { lines.extend(kept) }
    }
    let headings = if outline.len() >= OUTLINE { Headings::Outline(outline) } else { by_size(&lines) };
    let mut blocks = Vec::new();
    let mut paragraph: Vec<&Line> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if let Some((level, length)) = headings.at(&lines[at..]) {
            end_paragraph(&mut paragraph, &mut blocks);
            let text = joined(&lines[at..at + length]);
            blocks.push(Block::heading(level, text).on_page(Some(line.page)));
            at += length;
            continue;
        }
        if paragraph.last().is_some_and(|before| !continues(before, line)) {
            end_paragraph(&mut paragraph, &mut blocks);
        }
        paragraph.push(line);
        at += 1;
    }
    end_paragraph(&mut paragraph, &mut blocks);
    blocks
}

/// Where headings are.
enum Headings<'a> {
    /// The outline says it.
    Outline(&'a [Entry]),
    /// Sizes of headings, largest first, in hundredths of a point.
    Sizes(Vec<i64>),
}

impl Headings<'_> {
    /// Returns the level of the heading that begins with the first line, and how many lines it has.
    fn at(&self, lines: &[&Line]) -> Option<(u8, usize)> {
        match self {
            Headings::Outline(entries) => {
                let page = lines[0].page;
                entries.iter().filter(|entry| entry.page == page).find_map(|entry| {
                    let wanted = letters(&entry.title);
                    (1..=3.min(lines.len())).find_map(|length| {
                        let text = letters(&joined(&lines[..length]));
                        // The outline often leaves out the number of a heading.
                        let is_title = !wanted.is_empty()
                            && text.ends_with(&wanted)
                            && text[..text.len() - wanted.len()].chars().all(|c| c.is_ascii_digit());
                        is_title.then_some((entry.level, length))
                    })
                })
            }
            Headings::Sizes(sizes) => {
                let size = key(lines[0].size);
                let level = sizes.iter().position(|known| *known == size)?;
                let same = |line: &&&Line| key(line.size) == size && line.page == lines[0].page;
                let length = lines.iter().take_while(same).count();
                let words = lines[..length].iter().map(|line| line.text.split(' ').count()).sum::<usize>();
                let has_letters =
                    lines[..length].iter().any(|line| line.text.chars().any(char::is_alphabetic));
                (words <= HEADING_WORDS && has_letters).then_some((level.min(5) as u8 + 1, length))
            }
        }
    }
}

fn key(size: f64) -> i64 {
    // Sizes that differ by less than half a point are the same to the eye.
    (size * 2.0).round() as i64
}

fn by_size(lines: &[&Line]) -> Headings<'static> {
    let mut letters: HashMap<i64, usize> = HashMap::new();
    for line in lines {
        *letters.entry(key(line.size)).or_default() += line.text.len();
    }
    let Some((&body, _)) = letters.iter().max_by_key(|(size, letters)| (**letters, -**size)) else {
        return Headings::Sizes(Vec::new());
    };
    let mut sizes: Vec<i64> =
        letters.keys().copied().filter(|size| *size as f64 >= body as f64 * LARGER).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    Headings::Sizes(sizes)
}

/// Returns the letters and digits of a text, in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && !c.is_whitespace()).collect()
}

/// Positions of the highest and lowest lines of a page.
fn margin_of(page: &[Line]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..page.len()).collect();
    order.sort_by(|&a, &b| page[b].y.total_cmp(&page[a].y));
    // Of a page with a few lines, the middle is no margin.
    let lines = MARGIN_LINES.min(page.len().div_ceil(4));
    order.iter().take(lines).chain(order.iter().rev().take(lines)).copied().collect()
}

/// Returns the lines that stand at the top or bottom of many pages, without their digits.
fn repeated_lines(pages: &[Vec<Line>]) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for page in pages {
        let mut here: Vec<String> =
            margin_of(page).into_iter().map(|at| without_digits(&page[at].text)).collect();
        here.sort_unstable();
        here.dedup();
        for text in here {
            *counts.entry(text).or_default() += 1;
        }
    }
    // Chapters have headers of their own: what a tenth of the pages repeats is one.
    let enough = REPEATED_ON.max(pages.len() / 10);
    counts.retain(|_, count| *count >= enough);
    counts
}

/// Whether a line leads to a page number, as in a table of contents.
fn is_leader(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit()) && (text.contains(". . . .") || text.contains("....."))
}

fn continues(before: &Line, line: &Line) -> bool {
    let size = before.size.max(line.size);
    let drop = before.y - line.y;
    let is_near = drop > 0.0 && drop <= PARAGRAPH_GAP * size;
    // Cells of a table row are drawn one after the other on one line.
    let is_beside = drop.abs() <= 0.5 * size && line.x.0 >= before.x.1;
    // A sentence goes on at the top of the next column or page.
    let goes_on = !before.text.ends_with(['.', ':', '!', '?'])
        && line.text.starts_with(char::is_lowercase)
        && (drop < 0.0 || before.page != line.page);
    (before.size - line.size).abs() <= 0.15 * size
        && !starts_item(&line.text)
        && ((before.page == line.page && (is_near || is_beside)) || goes_on)
}

fn starts_item(text: &str) -> bool {
    text.starts_with(['•', '–', '▪', '‣', '◦', '·', '➢', '■', '●'])
}

fn end_paragraph(paragraph: &mut Vec<&Line>, blocks: &mut Vec<Block>) {
    if let Some(first) = paragraph.first() {
        let page = first.page;
        blocks.push(Block::text(joined(paragraph)).on_page(Some(page)));
        paragraph.clear();
    }
}

/// Joins lines; a word that is divided between two becomes whole.
fn joined(lines: &[&Line]) -> String {
    let mut text = String::new();
    for line in lines {
        if text.ends_with('-')
            && text[..text.len() - 1].ends_with(char::is_lowercase)
            && line.text.starts_with(char::is_lowercase)
        {
            text.pop();
        } else if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&line.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, size: f64, y: f64, page: u32) -> Line {
        Line { text: text.to_owned(), size, y, x: (50.0, 300.0), page }
    }

    fn shape(blocks: &[Block]) -> Vec<(bool, &str)> {
        blocks.iter().map(|block| (block.is_heading(), block.text.as_str())).collect()
    }

    #[test]
    fn the_outline_says_what_is_a_heading() {
        let outline: Vec<Entry> = [("Start", 1), ("Long title of it", 2), ("End", 3)]
            .map(|(title, page)| Entry { level: 2, title: title.to_owned(), page })
            .into();
        let pages = [
            vec![line("1.2 Start", 10.0, 700.0, 1), line("Words.", 10.0, 688.0, 1)],
            vec![
                line("Long title", 10.0, 700.0, 2),
                line("of it", 10.0, 688.0, 2),
                line("More.", 10.0, 676.0, 2),
            ],
        ];
        let blocks = blocks(&pages, &outline);
        assert_eq!(
            shape(&blocks),
            [(true, "1.2 Start"), (false, "Words."), (true, "Long title of it"), (false, "More.")]
        );
    }

    #[test]
    fn a_sentence_goes_on_across_columns_and_pages() {
        let pages = [
            vec![line("The cost of a", 10.0, 100.0, 1), line("ticket is", 10.0, 700.0, 1)],
            vec![line("paid by us.", 10.0, 700.0, 2), line("Another begins.", 10.0, 100.0, 2)],
        ];
        let blocks = blocks(&pages, &[]);
        assert_eq!(
            shape(&blocks),
            [(false, "The cost of a ticket is paid by us."), (false, "Another begins.")]
        );
    }

    #[test]
    fn contents_are_no_text() {
        let pages = [vec![line("Usage . . . . . . . 12", 10.0, 700.0, 1), line("Text.", 10.0, 600.0, 1)]];
        assert_eq!(shape(&blocks(&pages, &[])), [(false, "Text.")]);
    }
}
