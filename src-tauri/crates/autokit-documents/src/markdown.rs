//! Markdown: CommonMark with tables, footnotes and front matter.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, MetadataBlockKind, Options, Parser, Tag, TagEnd};

use crate::document::{Block, BlockKind, Document, first_heading, one_line};

pub(crate) fn read(text: &str) -> Document {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut walk = Walk::default();
    for event in Parser::new_ext(text, options) {
        walk.event(event);
    }
    walk.end_text();
    let title = walk.title.or_else(|| first_heading(&walk.blocks).map(str::to_owned)).unwrap_or_default();
    Document { title, blocks: walk.blocks, ..Document::default() }
}

#[derive(Default)]
struct Walk {
    blocks: Vec<Block>,
    /// Title in the front matter.
    title: Option<String>,
    /// Text since the last block.
    run: String,
    /// The identifier a heading declares.
    anchor: Option<String>,
    /// Language of the code block that is open.
    language: Option<String>,
    in_metadata: bool,
    html: String,
}

impl Walk {
    fn end_text(&mut self) {
        let text = one_line(&std::mem::take(&mut self.run));
        if !text.is_empty() {
            self.blocks.push(Block::text(text));
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.run.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak => self.run.push(' '),
            Event::Html(html) => self.html.push_str(&html),
            // A tag amid text says nothing; a comment is not meant to be read.
            Event::InlineHtml(_) | Event::Rule | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { id, .. } => {
                self.end_text();
                self.anchor = id.map(|id| id.to_string());
            }
            Tag::CodeBlock(kind) => {
                self.end_text();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '{']).next().filter(|name| !name.is_empty()).map(str::to_owned)
                    }
                    CodeBlockKind::Indented => None,
                };
                self.language = language;
            }
            Tag::MetadataBlock(MetadataBlockKind::YamlStyle | MetadataBlockKind::PlusesStyle) => {
                self.end_text();
                self.in_metadata = true;
            }
            Tag::Paragraph
            | Tag::Item
            | Tag::BlockQuote(_)
            | Tag::FootnoteDefinition(_)
            | Tag::TableHead
            | Tag::TableRow
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition => self.end_text(),
            Tag::TableCell if !self.run.trim().is_empty() => self.run.push_str(" | "),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let text = one_line(&std::mem::take(&mut self.run));
                let anchor = self.anchor.take().or_else(|| Some(slug(&text)).filter(|slug| !slug.is_empty()));
                if !text.is_empty() {
                    let kind = BlockKind::Heading { level: number(level), anchor };
                    self.blocks.push(Block { kind, text, page: None });
                }
            }
            TagEnd::CodeBlock => {
                let text = std::mem::take(&mut self.run).trim_matches('\n').trim_end().to_owned();
                let language = self.language.take();
                if !text.is_empty() {
                    self.blocks.push(Block { kind: BlockKind::Code { language }, text, page: None });
                }
            }
            TagEnd::MetadataBlock(_) => {
                self.in_metadata = false;
                let metadata = std::mem::take(&mut self.run);
                self.title = metadata.lines().find_map(|line| {
                    let value = line.strip_prefix("title:").or_else(|| line.strip_prefix("title ="))?;
                    Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|title| !title.is_empty())
                });
            }
            TagEnd::HtmlBlock => {
                self.end_text();
                let html = std::mem::take(&mut self.html);
                let read = crate::html::read(&format!("<body>{html}</body>"));
                self.blocks.extend(read.blocks);
            }
            TagEnd::Paragraph
            | TagEnd::Item
            | TagEnd::BlockQuote(_)
            | TagEnd::FootnoteDefinition
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition => self.end_text(),
            _ => {}
        }
    }
}

fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// Returns the anchor that GitHub and most generators give a heading.
fn slug(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            ' ' | '-' => Some('-'),
            '_' => Some('_'),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(document: &Document) -> Vec<&str> {
        document.blocks.iter().map(|block| block.text.as_str()).collect()
    }

    #[test]
    fn structure_is_kept() {
        let document = read(
            "---\ntitle: \"The Guide\"\n---\n# Start *here*\n\nOne\ntwo.\n\n- a\n- b\n  - c\n\n```sh\nls\n\npwd\n```\n\n\
             | A | B |\n|---|---|\n| 1 | 2 |\n",
        );
        assert_eq!(document.title, "The Guide");
        assert_eq!(
            texts(&document),
            ["Start here", "One two.", "a", "b", "c", "ls\n\npwd", "A | B", "1 | 2"]
        );
        let heading = BlockKind::Heading { level: 1, anchor: Some("start-here".into()) };
        assert_eq!(document.blocks[0].kind, heading);
        assert_eq!(document.blocks[5].kind, BlockKind::Code { language: Some("sh".into()) });
    }

    #[test]
    fn html_in_markdown_is_read_and_comments_are_not() {
        let document = read("<!-- hidden -->\n\n<p>Shown <b>too</b>.</p>\n\nText <br/> more.\n");
        assert_eq!(texts(&document), ["Shown too.", "Text more."]);
    }

    #[test]
    fn without_a_title_the_first_heading_is_it() {
        assert_eq!(read("Words.\n\nHeading\n=======\n").title, "Heading");
        assert_eq!(read("Words.").title, "");
    }
}
