//! HTML: the main text of a page, as it is read for cards.

use autokit_web::extract;

use crate::document::{Block, BlockKind, Document};

pub(crate) fn read(text: &str) -> Document {
    let page = extract(text, Some("text/html"), "");
    let blocks = page
        .blocks
        .into_iter()
        .map(|block| match block {
            autokit_web::Block::Heading { level, text, anchor } => {
                Block { kind: BlockKind::Heading { level, anchor }, text, page: None }
            }
            autokit_web::Block::Text { text } => Block::text(text),
            autokit_web::Block::Code { language, text } => {
                Block { kind: BlockKind::Code { language }, text, page: None }
            }
        })
        .collect();
    Document { title: page.title, blocks, ..Document::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_without_its_menus() {
        let page = "<html><head><title>Guide | Site</title></head><body><nav>Home</nav><main><h1>Guide</h1>\
                    <h2 id=\"keys\">Keys</h2><p>Where keys come from.</p><pre>a = 1</pre></main></body></html>";
        let document = read(page);
        assert_eq!(document.title, "Guide");
        assert!(document.blocks.iter().all(|block| block.text != "Home"));
        let anchor = BlockKind::Heading { level: 2, anchor: Some("keys".into()) };
        assert!(document.blocks.iter().any(|block| block.kind == anchor));
        assert!(document.blocks.iter().any(|block| block.kind == BlockKind::Code { language: None }));
    }
}
