//! Splits a document along its structure into pieces that are searched and cited.

use serde::{Deserialize, Serialize};

use crate::document::{Block, BlockKind, Document};

/// How to split documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceOptions {
    /// Most words of a piece.
    pub words: usize,
    /// Words repeated from the end of one piece at the start of the next, within a section.
    pub overlap: usize,
}

impl Default for PieceOptions {
    /// 500 words, of which 50 are repeated (AutoAgent §3).
    fn default() -> PieceOptions {
        PieceOptions { words: 500, overlap: 50 }
    }
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Headings above it, from the title down.
    pub path: Vec<String>,
    /// `id` of the nearest heading, for linking to it.
    pub anchor: Option<String>,
    /// The page it begins on, from 1.
    pub page: Option<u32>,
    /// The text, with code in fences.
    pub text: String,
}

impl Piece {
    /// Returns the texts to embed: windows of at most `words` words over the piece, each below the headings.
    /// A model reads a few hundred tokens and leaves out the rest, so that a longer piece needs several.
    pub fn passages(&self, words: usize) -> Vec<String> {
        let above = self.path.join(" > ");
        let starts: Vec<(usize, &str)> = word_starts(&self.text).collect();
        if starts.len() <= words {
            return vec![format!("{above}: {}", self.text)];
        }
        // As few windows as cover the piece, of the same length, each a quarter into the one before.
        let step = (words * 3 / 4).max(1);
        let windows = (starts.len() - words).div_ceil(step) + 1;
        (0..windows)
            .map(|at| {
                let from = (at * step).min(starts.len() - words);
                let to = starts.get(from + words).map_or(self.text.len(), |(offset, _)| *offset);
                format!("{above}: {}", self.text[starts[from].0..to].trim_end())
            })
            .collect()
    }
}

/// Iterates over words with their offsets.
fn word_starts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Splits at headings first, then between blocks, then between sentences or lines.
pub fn pieces(document: &Document, options: PieceOptions) -> Vec<Piece> {
    let mut splitter = Splitter {
        options,
        path: vec![(0, document.title.clone())],
        section: Section::default(),
        found: Vec::new(),
        heading_is_open: false,
    };
    for block in &document.blocks {
        splitter.add(block);
    }
    splitter.end_section(None);
    splitter.found
}

struct Splitter {
    options: PieceOptions,
    path: Vec<(u8, String)>,
    section: Section,
    found: Vec<Piece>,
    /// Whether nothing has followed the last heading yet.
    heading_is_open: bool,
}

#[derive(Default)]
struct Section {
    anchor: Option<String>,
    heading_page: Option<u32>,
    text: String,
    words: usize,
    page: Option<u32>,
    /// Whether the text so far only repeats the end of the previous piece.
    is_repeated: bool,
}

impl Splitter {
    fn add(&mut self, block: &Block) {
        match &block.kind {
            BlockKind::Heading { level, anchor } => {
                self.end_section(Some(*level));
                self.path.retain(|(above, _)| above < level);
                // Usually the first heading is the title.
                if self.path.last().is_none_or(|(_, above)| *above != block.text) {
                    self.path.push((*level, block.text.clone()));
                }
                self.section.anchor.clone_from(anchor);
                self.section.heading_page = block.page;
                self.heading_is_open = true;
            }
            BlockKind::Text => {
                for part in parts(&block.text, self.options.words, ". ") {
                    self.unit(part, count_words(part), block.page);
                }
            }
            BlockKind::Code { language } => {
                for part in parts(&block.text, self.options.words, "\n") {
                    let fenced = format!("```{}\n{part}\n```", language.as_deref().unwrap_or(""));
                    self.unit(&fenced, count_words(part), block.page);
                }
            }
        }
    }

    fn unit(&mut self, text: &str, words: usize, page: Option<u32>) {
        self.heading_is_open = false;
        let (limit, overlap) = (self.options.words, self.options.overlap);
        if self.section.words > 0 && self.section.words + words > limit {
            let tail = tail(&self.section.text, overlap);
            if self.section.is_repeated {
                self.section.text.clear();
            } else {
                self.push();
            }
            self.section.words = count_words(&tail);
            self.section.is_repeated = !tail.is_empty();
            self.section.text = tail;
            self.section.page = None;
        }
        let section = &mut self.section;
        if section.page.is_none() {
            section.page = page;
        }
        if !section.text.is_empty() {
            section.text.push_str("\n\n");
        }
        section.text.push_str(text);
        section.words += words;
        section.is_repeated = false;
    }

    fn push(&mut self) {
        let text = std::mem::take(&mut self.section.text);
        self.section.words = 0;
        let path = self.path.iter().map(|(_, text)| text.clone()).filter(|text| !text.is_empty()).collect();
        self.found.push(Piece { path, anchor: self.section.anchor.clone(), page: self.section.page, text });
    }

    /// Ends a section before a heading of the level `next`, or at the end of the document.
    fn end_section(&mut self, next: Option<u8>) {
        let own_level = self.path.last().map_or(0, |(level, _)| *level);
        // A heading that nothing follows, and that is above nothing, is all there is of its section.
        if self.heading_is_open && next.is_none_or(|next| next <= own_level) {
            self.section.text = self.path.last().map(|(_, text)| text.clone()).unwrap_or_default();
            self.section.page = self.section.heading_page;
            self.section.is_repeated = false;
        }
        if !self.section.text.is_empty() && !self.section.is_repeated {
            self.push();
        }
        self.section = Section::default();
        self.heading_is_open = false;
    }
}

/// Returns whole sentences from the end of a text, of at most `limit` words; nothing from code.
fn tail(text: &str, limit: usize) -> String {
    if limit == 0 || text.ends_with("```") {
        return String::new();
    }
    let starts: Vec<usize> = word_starts(text).map(|(at, _)| at).collect();
    let from = starts[starts.len().saturating_sub(limit)];
    let rest = &text[from..];
    let sentence = rest.find(". ").map(|at| at + 2);
    // Where no sentence ends, the last words are repeated as they are.
    let rest = &rest[sentence.filter(|at| *at < rest.len()).unwrap_or(0)..];
    if rest.contains("```") { String::new() } else { rest.to_owned() }
}

/// Splits after `separator` so that no part has more than `limit` words; if there is no separator within the
/// limit, splits between words.
fn parts<'a>(text: &'a str, limit: usize, separator: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let Some((reach, _)) = word_starts(rest).nth(limit.max(1)) else { break };
        let cut = rest[..reach].rfind(separator).map(|at| at + separator.len()).filter(|&at| at > 0);
        let cut = cut.unwrap_or(reach);
        found.push(rest[..cut].trim_end());
        rest = &rest[cut..];
    }
    if !rest.trim().is_empty() {
        found.push(rest.trim_end());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(blocks: Vec<Block>) -> Document {
        Document { title: "Guide".to_owned(), blocks, ..Document::default() }
    }

    fn paths(pieces: &[Piece]) -> Vec<String> {
        pieces.iter().map(|piece| piece.path.join("/")).collect()
    }

    #[test]
    fn headings_part_sections_and_lead_to_them() {
        let found = pieces(
            &document(vec![
                Block::heading(1, "Guide"),
                Block::text("What it is."),
                Block::heading(2, "Use"),
                Block::heading(3, "Keys"),
                Block::text("Where from.").on_page(Some(3)),
                Block::heading(2, "Can it fly?"),
                Block::heading(2, "Price"),
                Block::text("None."),
            ]),
            PieceOptions::default(),
        );
        assert_eq!(paths(&found), ["Guide", "Guide/Use/Keys", "Guide/Can it fly?", "Guide/Price"]);
        assert_eq!(found[1].page, Some(3));
        // A heading without text is found too; one that others follow stands above them.
        assert_eq!(found[2].text, "Can it fly?");
    }

    #[test]
    fn long_sections_are_cut_between_sentences_with_overlap_and_nothing_is_lost() {
        let sentences: Vec<String> = (0..400).map(|i| format!("Sentence number {i} says a thing.")).collect();
        let options = PieceOptions { words: 100, overlap: 20 };
        let found = pieces(&document(vec![Block::text(sentences.join(" "))]), options);
        assert!(found.len() >= 20, "{}", found.len());
        for piece in &found {
            assert!(count_words(&piece.text) <= 120, "{}", piece.text);
        }
        for sentence in &sentences {
            assert!(
                found.iter().any(|piece| piece.text.contains(sentence.as_str())),
                "{sentence} was cut or lost"
            );
        }
        let first_of_second = found[1].text.split(". ").next().unwrap();
        assert!(found[0].text.contains(first_of_second), "no overlap");
    }

    #[test]
    fn words_without_sentences_are_cut_between_words() {
        let words: Vec<String> = (0..250).map(|i| format!("w{i}")).collect();
        let options = PieceOptions { words: 100, overlap: 0 };
        let found = pieces(&document(vec![Block::text(words.join(" "))]), options);
        let joined = found.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join(" ");
        assert_eq!(joined, words.join(" "));
    }

    #[test]
    fn windows_cover_a_piece() {
        let words: Vec<String> = (0..500).map(|i| format!("w{i}")).collect();
        let piece = Piece { path: vec!["A".into()], anchor: None, page: None, text: words.join(" ") };
        let windows = piece.passages(180);
        assert_eq!(windows.len(), 4);
        for word in &words {
            let whole = |window: &String| window.split(' ').any(|other| other == word);
            assert!(windows.iter().any(whole), "{word} is in no window");
        }
        assert!(windows.iter().all(|window| window.starts_with("A: ") && count_words(window) <= 181));
        assert_eq!(piece.passages(500), [format!("A: {}", piece.text)]);
    }

    #[test]
    fn code_stays_in_fences() {
        let lines: Vec<String> = (0..60).map(|i| format!("call({i}) # line")).collect();
        let code = Block {
            kind: BlockKind::Code { language: Some("python".into()) },
            text: lines.join("\n"),
            page: None,
        };
        let found = pieces(&document(vec![code]), PieceOptions { words: 50, overlap: 10 });
        assert!(found.len() > 2);
        for piece in &found {
            assert!(piece.text.starts_with("```python\n") && piece.text.ends_with("\n```"), "{}", piece.text);
        }
    }
}
