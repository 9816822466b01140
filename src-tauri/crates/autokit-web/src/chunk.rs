//! Splits a page along its structure into chunks small enough to embed.

use serde::{Deserialize, Serialize};

use crate::extract::{Block, Document, fenced};

/// How to split pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkOptions {
    /// Most characters of a chunk, not counting the headings above it. 1,000 are about 250 word pieces, which
    /// is what the default model reads.
    pub characters: usize,
    /// Characters of running text repeated from the end of one chunk at the start of the next, within a
    /// section.
    pub overlap: usize,
}

impl Default for ChunkOptions {
    fn default() -> ChunkOptions {
        ChunkOptions { characters: 1000, overlap: 150 }
    }
}

/// A chunk of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Headings above it, from the title down.
    pub path: Vec<String>,
    /// `id` of the nearest heading, for linking to it.
    pub anchor: Option<String>,
    /// The text, with code in fences.
    pub text: String,
}

impl Chunk {
    /// Returns the text to embed: the headings, then the text.
    pub fn passage(&self) -> String {
        format!("{}: {}", self.path.join(" > "), self.text)
    }
}

/// Splits a page at headings first, then between blocks, then between sentences or lines.
pub fn chunks(page: &Document, options: ChunkOptions) -> Vec<Chunk> {
    let mut found = Vec::new();
    let mut path: Vec<(u8, String)> = vec![(0, page.title.clone())];
    let mut section = Section::default();
    for block in &page.blocks {
        match block {
            Block::Heading { level, text, anchor } => {
                section.end(&path, &mut found);
                path.retain(|(above, _)| above < level);
                // Usually the page's first heading is its title.
                if path.last().is_none_or(|(_, above)| above != text) {
                    path.push((*level, text.clone()));
                }
                section.anchor.clone_from(anchor);
            }
            Block::Text { text } => {
                for piece in pieces(text, options.characters, ". ") {
                    section.add(&piece, &path, options, &mut found);
                }
            }
            Block::Code { language, text } => {
                for piece in pieces(text, options.characters, "\n") {
                    section.add(&fenced(language.as_deref(), &piece), &path, options, &mut found);
                }
            }
        }
    }
    section.end(&path, &mut found);
    found
}

#[derive(Default)]
struct Section {
    anchor: Option<String>,
    text: String,
    /// Whether the text so far only repeats the end of the previous chunk.
    repeated: bool,
}

impl Section {
    fn add(&mut self, piece: &str, path: &[(u8, String)], options: ChunkOptions, found: &mut Vec<Chunk>) {
        let length = self.text.chars().count();
        if length > 0 && length + piece.chars().count() > options.characters {
            let tail = tail(&self.text, options.overlap);
            if self.repeated {
                self.text.clear();
            } else {
                self.push(path, found);
            }
            self.text = tail;
            self.repeated = !self.text.is_empty();
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(piece);
        self.repeated = false;
    }

    fn push(&mut self, path: &[(u8, String)], found: &mut Vec<Chunk>) {
        let text = std::mem::take(&mut self.text);
        let path = path.iter().map(|(_, text)| text.clone()).filter(|text| !text.is_empty()).collect();
        found.push(Chunk { path, anchor: self.anchor.clone(), text });
    }

    fn end(&mut self, path: &[(u8, String)], found: &mut Vec<Chunk>) {
        if !self.text.is_empty() && !self.repeated {
            self.push(path, found);
        }
        self.text.clear();
        self.repeated = false;
    }
}

/// Returns whole sentences from the end of a text, at most `limit` characters; nothing from code.
fn tail(text: &str, limit: usize) -> String {
    if limit == 0 || text.ends_with("```") {
        return String::new();
    }
    let start = text.char_indices().rev().take(limit).last().map_or(0, |(at, _)| at);
    match text[start..].find(". ") {
        Some(at) => text[start + at + 2..].to_owned(),
        None => String::new(),
    }
}

/// Splits after `separator` so that no piece has more than `limit` characters; if there is no separator
/// within the limit, splits anywhere.
fn pieces(text: &str, limit: usize, separator: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while rest.chars().count() > limit {
        let reach = rest.char_indices().nth(limit).map_or(rest.len(), |(at, _)| at);
        let cut = rest[..reach]
            .rfind(separator)
            .map(|at| at + separator.len())
            .filter(|&at| at > 0)
            .unwrap_or(reach);
        found.push(rest[..cut].trim_end().to_owned());
        rest = &rest[cut..];
    }
    if !rest.trim().is_empty() {
        found.push(rest.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(blocks: Vec<Block>) -> Document {
        Document { title: "Tool".into(), blocks, ..Document::default() }
    }

    fn heading(level: u8, text: &str) -> Block {
        Block::Heading { level, text: text.into(), anchor: Some(text.to_lowercase()) }
    }

    fn text(text: &str) -> Block {
        Block::Text { text: text.into() }
    }

    #[test]
    fn headings_part_sections_and_lead_to_them() {
        let found = chunks(
            &page(vec![
                heading(1, "Tool"),
                text("What it is."),
                heading(2, "Use"),
                text("How to."),
                heading(3, "Keys"),
                text("Where from."),
                heading(2, "Price"),
                text("None."),
            ]),
            ChunkOptions::default(),
        );
        let paths: Vec<String> = found.iter().map(|chunk| chunk.path.join("/")).collect();
        assert_eq!(paths, ["Tool", "Tool/Use", "Tool/Use/Keys", "Tool/Price"]);
        assert_eq!(found[1].anchor.as_deref(), Some("use"));
        assert_eq!(found[1].passage(), "Tool > Use: How to.");
    }

    #[test]
    fn long_sections_are_cut_between_sentences_with_overlap_and_nothing_is_lost() {
        let sentences: Vec<String> =
            (0..200).map(|i| format!("Sentence number {i} says something.")).collect();
        let options = ChunkOptions { characters: 400, overlap: 80 };
        let found = chunks(&page(vec![text(&sentences.join(" "))]), options);
        assert!(found.len() > 10);
        assert!(found.iter().all(|chunk| chunk.text.chars().count() <= 400 + 80 + 2), "{found:?}");
        for sentence in &sentences {
            assert!(
                found.iter().any(|chunk| chunk.text.contains(sentence.as_str())),
                "{sentence} was cut or lost"
            );
        }
    }

    #[test]
    fn code_stays_whole_where_it_fits_and_breaks_between_lines_where_not() {
        let code: String = (0..100).fold(String::new(), |code, i| code + &format!("line_{i} = call({i})\n"));
        let found = chunks(
            &page(vec![Block::Code { language: Some("python".into()), text: code.clone() }]),
            ChunkOptions { characters: 300, overlap: 50 },
        );
        assert!(
            found.iter().all(|chunk| chunk.text.starts_with("```python\n") && chunk.text.ends_with("\n```"))
        );
        assert!(
            (0..100).all(|i| found.iter().any(|chunk| chunk.text.contains(&format!("line_{i} = call({i})"))))
        );
    }
}
