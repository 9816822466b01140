//! DOCX: the text of the main document with its headings, lists, tables and notes (ECMA-376, part 1).

use std::collections::HashMap;
use std::io::{Cursor, Read as _};

use roxmltree::{Node, ParsingOptions};
use zip::ZipArchive;
use zip::result::ZipError;

use crate::document::{Block, Document, one_line};
use crate::error::ReadError;

/// Most bytes of one part after decompression: more is an attack, not a document.
const MAX_PART: u64 = 128 << 20;

/// Deepest nesting of elements that is followed; tables within tables stay far below.
const DEEPEST: usize = 256;

pub(crate) fn read(bytes: &[u8]) -> Result<Document, ReadError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    let main = part(&mut archive, "word/document.xml")?
        .ok_or_else(|| ReadError::Unsupported("an archive without a document".to_owned()))?;
    let styles = part(&mut archive, "word/styles.xml")?.map(|text| heading_styles(&text)).transpose()?;
    let mut walk = Walk { styles: styles.unwrap_or_default(), ..Walk::default() };
    let xml = parse(&main)?;
    walk.children(xml.root_element(), 0)?;
    walk.end_paragraph();
    let has_pages = walk.page > 1;
    for notes in ["word/footnotes.xml", "word/endnotes.xml"] {
        if let Some(text) = part(&mut archive, notes)? {
            let xml = parse(&text)?;
            walk.page = 0;
            walk.children(xml.root_element(), 0)?;
            walk.end_paragraph();
        }
    }
    let properties = part(&mut archive, "docProps/core.xml")?;
    let title = properties.and_then(|text| {
        let xml = parse(&text).ok()?;
        let title = xml.descendants().find(|node| node.tag_name().name() == "title")?;
        Some(one_line(title.text()?)).filter(|title| !title.is_empty())
    });
    let mut blocks = walk.blocks;
    let last_page = blocks.iter().filter_map(|block| block.page).max();
    if !has_pages {
        for block in &mut blocks {
            block.page = None;
        }
    }
    let title =
        title.or_else(|| crate::document::first_heading(&blocks).map(str::to_owned)).unwrap_or_default();
    Ok(Document { title, blocks, pages: last_page.filter(|_| has_pages), ..Document::default() })
}

fn damaged(error: &dyn std::fmt::Display) -> ReadError {
    ReadError::Damaged(error.to_string())
}

/// Returns a part as text; `None` if the file has no such part.
fn part(archive: &mut ZipArchive<Cursor<&[u8]>>, name: &str) -> Result<Option<String>, ReadError> {
    let file = match archive.by_name(name) {
        Ok(file) => file,
        Err(ZipError::FileNotFound) => return Ok(None),
        Err(ZipError::UnsupportedArchive(what)) if what == ZipError::PASSWORD_REQUIRED => {
            return Err(ReadError::Encrypted);
        }
        Err(error) => return Err(damaged(&error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_PART + 1).read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
    if bytes.len() as u64 > MAX_PART {
        return Err(ReadError::UnpacksTooLarge(MAX_PART >> 20));
    }
    Ok(Some(crate::format::decode(&bytes)))
}

fn parse(text: &str) -> Result<roxmltree::Document<'_>, ReadError> {
    // No document type: entities that expand into more are refused.
    roxmltree::Document::parse_with_options(text, ParsingOptions::default()).map_err(|error| damaged(&error))
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attributes().find(|attribute| attribute.name() == name).map(|attribute| attribute.value())
}

/// Returns the levels of paragraph styles that are headings, by the identifier of the style.
fn heading_styles(text: &str) -> Result<HashMap<String, u8>, ReadError> {
    let xml = parse(text)?;
    let mut found = HashMap::new();
    for style in xml.descendants().filter(|node| node.tag_name().name() == "style") {
        let Some(id) = attribute(style, "styleId") else { continue };
        let value_of = |name: &str| {
            style
                .descendants()
                .find(|node| node.tag_name().name() == name)
                .and_then(|node| attribute(node, "val"))
        };
        let by_outline = value_of("outlineLvl").and_then(level_of_outline);
        let by_name = value_of("name").and_then(|name| {
            let name = name.to_ascii_lowercase();
            match name.as_str() {
                "title" => Some(1),
                _ => name.strip_prefix("heading ")?.parse::<u8>().ok(),
            }
        });
        if let Some(level) = by_name.or(by_outline) {
            found.insert(id.to_owned(), level.clamp(1, 6));
        }
    }
    Ok(found)
}

/// Outline levels count from 0; 9 is running text.
fn level_of_outline(value: &str) -> Option<u8> {
    value.parse::<u8>().ok().filter(|level| *level < 9).map(|level| level + 1)
}

#[derive(Default)]
struct Walk {
    styles: HashMap<String, u8>,
    blocks: Vec<Block>,
    run: String,
    /// Level of the paragraph being read, if it is a heading.
    level: Option<u8>,
    /// Pages begun so far, by the breaks the program that wrote the file left in it.
    page: u32,
    page_of_run: u32,
    /// Depth of table cells, in which paragraphs do not end a block.
    cells: usize,
}

impl Walk {
    fn end_paragraph(&mut self) {
        let text = one_line(&std::mem::take(&mut self.run));
        let level = self.level.take();
        if text.is_empty() {
            return;
        }
        let block =
            level.map_or_else(|| Block::text(text.as_str()), |level| Block::heading(level, text.as_str()));
        self.blocks.push(block.on_page(Some(self.page_of_run.max(1))));
    }

    fn children(&mut self, node: Node<'_, '_>, depth: usize) -> Result<(), ReadError> {
        if depth > DEEPEST {
            return Err(ReadError::Damaged("its elements are nested too deep".to_owned()));
        }
        for child in node.children().filter(Node::is_element) {
            self.visit(child, depth)?;
        }
        Ok(())
    }

    fn visit(&mut self, node: Node<'_, '_>, depth: usize) -> Result<(), ReadError> {
        match node.tag_name().name() {
            "p" => {
                if self.cells > 0 {
                    self.run.push(' ');
                    self.children(node, depth + 1)?;
                } else {
                    self.end_paragraph();
                    self.children(node, depth + 1)?;
                    self.end_paragraph();
                }
            }
            "pPr" if self.cells == 0 => self.level = self.heading_level(node),
            // Properties have no text; a fallback repeats what stands beside it; the rest is not in the text.
            "pPr" | "rPr" | "Fallback" | "delText" | "instrText" | "sectPr" | "tblPr" | "tcPr" | "trPr" => {}
            "t" => self.text(node.text().unwrap_or("")),
            "tab" | "noBreakHyphen" | "cr" => {
                self.text(if node.tag_name().name() == "noBreakHyphen" { "-" } else { " " });
            }
            "br" => {
                if attribute(node, "type") == Some("page") {
                    self.page = self.page.max(1) + 1;
                }
                self.run.push(' ');
            }
            "lastRenderedPageBreak" => self.page = self.page.max(1) + 1,
            "tr" => {
                if self.cells == 0 {
                    self.end_paragraph();
                }
                self.children(node, depth + 1)?;
                if self.cells == 0 {
                    self.end_paragraph();
                }
            }
            "tc" => {
                if !self.run.trim().is_empty() {
                    self.run.push_str(" | ");
                }
                self.cells += 1;
                self.children(node, depth + 1)?;
                self.cells -= 1;
            }
            _ => self.children(node, depth + 1)?,
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if self.run.trim().is_empty() {
            self.page_of_run = self.page;
        }
        self.run.push_str(text);
    }

    fn heading_level(&self, properties: Node<'_, '_>) -> Option<u8> {
        let value_of = |name: &str| {
            properties
                .children()
                .find(|node| node.tag_name().name() == name)
                .and_then(|node| attribute(node, "val"))
        };
        let by_style = value_of("pStyle").and_then(|style| self.styles.get(style).copied());
        value_of("outlineLvl").and_then(level_of_outline).map(|level| level.min(6)).or(by_style)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::document::BlockKind;

    fn docx(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in parts {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    const NAMESPACE: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";

    fn document(body: &str) -> String {
        format!("<?xml version=\"1.0\"?><w:document {NAMESPACE}><w:body>{body}</w:body></w:document>")
    }

    #[test]
    fn headings_tables_breaks_and_notes_are_read() {
        let body = "<w:p><w:pPr><w:pStyle w:val=\"berschrift1\"/></w:pPr><w:r><w:t>Travel</w:t></w:r></w:p>\
            <w:p><w:r><w:t xml:space=\"preserve\">Keep all </w:t></w:r><w:del><w:r><w:delText>old</w:delText></w:r></w:del>\
            <w:r><w:t>receipts &amp; tickets.</w:t></w:r></w:p>\
            <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Train</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>40</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
            <w:p><w:r><w:br w:type=\"page\"/><w:t>Second page.</w:t></w:r></w:p>";
        let styles = format!(
            "<w:styles {NAMESPACE}><w:style w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style></w:styles>"
        );
        let notes = format!(
            "<w:footnotes {NAMESPACE}><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>"
        );
        let bytes = docx(&[
            ("word/document.xml", &document(body)),
            ("word/styles.xml", &styles),
            ("word/footnotes.xml", &notes),
        ]);
        let read = read(&bytes).unwrap();
        assert_eq!(read.title, "Travel");
        assert_eq!(read.pages, Some(2));
        let texts: Vec<&str> = read.blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(
            texts,
            ["Travel", "Keep all receipts & tickets.", "Train | 40", "Second page.", "A note."]
        );
        assert_eq!(read.blocks[0].kind, BlockKind::Heading { level: 1, anchor: None });
        assert_eq!(read.blocks[3].page, Some(2));
    }

    #[test]
    fn damage_and_traps_are_told() {
        let whole = docx(&[("word/document.xml", &document("<w:p/>"))]);
        assert!(matches!(read(&whole[..whole.len() / 2]), Err(ReadError::Damaged(_))));
        let broken = docx(&[("word/document.xml", "<w:document")]);
        assert!(matches!(read(&broken), Err(ReadError::Damaged(_))));
        let entities = "<!DOCTYPE a [<!ENTITY b \"bbbb\">]><a>&b;</a>";
        assert!(matches!(read(&docx(&[("word/document.xml", entities)])), Err(ReadError::Damaged(_))));
        let deep = document(&("<w:x>".repeat(2_000) + &"</w:x>".repeat(2_000)));
        assert!(matches!(read(&docx(&[("word/document.xml", &deep)])), Err(ReadError::Damaged(_))));
        assert!(matches!(read(&docx(&[("mimetype", "x")])), Err(ReadError::Unsupported(_))));
    }
}
