//! Plain text: paragraphs, and the headings that text formats and habits show.

use crate::document::{Block, BlockKind, Document, first_heading, one_line};

/// Most words of a line that can be a heading.
const HEADING_WORDS: usize = 12;

pub(crate) fn read(text: &str) -> Document {
    // A form feed begins a page; in RFCs and printed manuals only.
    let paged = text.contains('\u{c}');
    let mut blocks = Vec::new();
    let mut levels = Underlines::default();
    let mut pages = 0;
    for (at, page) in text.split('\u{c}').enumerate() {
        let page_number = paged.then(|| at as u32 + 1);
        pages = page_number.unwrap_or(0);
        blocks.extend(read_page(page, &mut levels).into_iter().map(|block| block.on_page(page_number)));
    }
    let title = first_heading(&blocks)
        .or_else(|| blocks.first().map(|block| block.text.as_str()).filter(|line| line.len() <= 100))
        .unwrap_or_default()
        .to_owned();
    Document { title, blocks, pages: paged.then_some(pages), ..Document::default() }
}

/// Levels of headings by the character that underlines them: the first one seen is the highest
/// (reStructuredText).
#[derive(Default)]
struct Underlines(Vec<char>);

impl Underlines {
    fn level(&mut self, mark: char) -> u8 {
        let at = self.0.iter().position(|known| *known == mark).unwrap_or_else(|| {
            self.0.push(mark);
            self.0.len() - 1
        });
        at.min(5) as u8 + 1
    }
}

fn read_page(page: &str, levels: &mut Underlines) -> Vec<Block> {
    let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
    let mut blocks = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let next = lines.get(at + 1).copied().unwrap_or("");
        if line.is_empty() {
            end_paragraph(&mut paragraph, &mut blocks);
        } else if let Some(mark) = underline(line, next).filter(|_| paragraph.is_empty()) {
            blocks.push(Block::heading(levels.level(mark), one_line(line)));
            at += 1;
        } else if paragraph.is_empty()
            && overline(line)
            && lines.get(at + 2).copied() == Some(line)
            && !next.is_empty()
        {
            let mark = line.chars().next().unwrap_or('=');
            blocks.push(Block::heading(levels.level(mark), one_line(next)));
            at += 2;
        } else if paragraph.is_empty() && next.is_empty() && overline(line) {
            // A line drawn between sections.
        } else if let Some((level, text)) =
            marked_heading(line).filter(|_| paragraph.is_empty() && next.is_empty())
        {
            blocks.push(Block::heading(level, text));
        } else {
            paragraph.push(line);
        }
        at += 1;
    }
    end_paragraph(&mut paragraph, &mut blocks);
    blocks
}

fn end_paragraph(paragraph: &mut Vec<&str>, blocks: &mut Vec<Block>) {
    if paragraph.is_empty() {
        return;
    }
    let lines = std::mem::take(paragraph);
    // What is set apart and indented, or aligned by runs of spaces, loses its meaning on one line.
    let aligned = lines.len() > 1
        && lines.iter().filter(|line| line.trim_start().contains("   ") || line.contains('\t')).count() * 2
            > lines.len();
    if aligned {
        let indent = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        let text = lines.iter().map(|line| line.get(indent..).unwrap_or(line)).collect::<Vec<_>>().join("\n");
        blocks.push(Block { kind: BlockKind::Code { language: None }, text, page: None });
    } else {
        blocks.push(Block::text(one_line(&lines.join(" "))));
    }
}

/// Returns the character of the line below, if that underlines this one.
fn underline(line: &str, below: &str) -> Option<char> {
    let mark = below.chars().next().filter(|mark| "=-~^\"'`#*+.".contains(*mark))?;
    let long_enough = below.chars().count() >= line.chars().count().max(3);
    (long_enough && below.chars().all(|c| c == mark) && line.chars().any(char::is_alphanumeric))
        .then_some(mark)
}

fn overline(line: &str) -> bool {
    let mut chars = line.chars();
    let mark = chars.next().filter(|mark| "=-~^\"'`#*+_".contains(*mark));
    line.len() >= 3 && mark.is_some_and(|mark| chars.all(|c| c == mark))
}

/// Reads a heading that stands alone on its line: AsciiDoc (`== Title`), numbers (`3.2. Title`) and capitals
/// (`SYNOPSIS`), at the left margin.
fn marked_heading(line: &str) -> Option<(u8, String)> {
    if line.starts_with(char::is_whitespace) || line.split_whitespace().count() > HEADING_WORDS {
        return None;
    }
    let marks = line.len() - line.trim_start_matches('=').len();
    if (1..=6).contains(&marks) {
        let text = line[marks..].strip_prefix(' ')?.trim();
        return (!text.is_empty()).then(|| (marks as u8, text.to_owned()));
    }
    if line.ends_with(['.', ':', ';', ',']) {
        return None;
    }
    if let Some((number, title)) = line.split_once(' ')
        && number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.')
        && title.trim_start().starts_with(char::is_uppercase)
    {
        let depth = number.split('.').filter(|part| !part.is_empty()).count();
        return Some((depth.min(6) as u8, one_line(line)));
    }
    let letters: Vec<char> = line.chars().filter(|c| c.is_alphabetic()).collect();
    (letters.len() > 2 && letters.iter().all(|c| c.is_uppercase())).then(|| (1, one_line(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Vec<String> {
        read(text)
            .blocks
            .iter()
            .map(|block| match &block.kind {
                BlockKind::Heading { level, .. } => format!("{level} {}", block.text),
                BlockKind::Text => block.text.clone(),
                BlockKind::Code { .. } => format!("code {}", block.text),
            })
            .collect()
    }

    #[test]
    fn underlined_lines_are_headings_by_the_order_of_their_marks() {
        let text = "=====\nTitle\n=====\n\nWords\nmore.\n\nSection\n-------\n\nText.\n\nPart\n~~~~\n\nOther\n-----\nEnd.\n";
        assert_eq!(
            shape(text),
            ["1 Title", "Words more.", "2 Section", "Text.", "3 Part", "2 Other", "End."]
        );
    }

    #[test]
    fn numbers_capitals_and_asciidoc_mark_headings() {
        let text = "NAME\n\n   ls - list\n\n3.2. Keys and Locks\n\nText.\n\n== Usage\n\nIt costs\n\n12 Euro a month.\n";
        assert_eq!(
            shape(text),
            [
                "1 NAME",
                "ls - list",
                "2 3.2. Keys and Locks",
                "Text.",
                "2 Usage",
                "It costs",
                "12 Euro a month."
            ]
        );
    }

    #[test]
    fn tables_keep_their_lines() {
        assert_eq!(shape("a     1\nbb    2\n\nNext."), ["code a     1\nbb    2", "Next."]);
    }

    #[test]
    fn form_feeds_number_pages() {
        let document = read("One.\n\u{c}Two.\n");
        assert_eq!(document.pages, Some(2));
        assert_eq!(document.blocks[1].page, Some(2));
    }
}
