//! What is read of a document.

use serde::{Deserialize, Serialize};

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its own title, else its first heading, else its file name.
    pub title: String,
    /// Its text in reading order.
    pub blocks: Vec<Block>,
    /// Number of pages, where the format has pages.
    pub pages: Option<u32>,
    /// Pages that could not be read; the others were.
    pub unread_pages: Vec<u32>,
}

/// A part of a document that is not split unless it is too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its text; of code with line breaks, else on one line.
    pub text: String,
    /// The page it begins on, from 1.
    pub page: Option<u32>,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BlockKind {
    /// A heading.
    Heading {
        /// 1 for the highest.
        level: u8,
        /// Its `id`, for linking to it.
        anchor: Option<String>,
    },
    /// A paragraph, a list item or a table row (cells separated by ` | `).
    Text,
    /// Code.
    Code {
        /// Its language, as declared.
        language: Option<String>,
    },
}

impl Block {
    pub(crate) fn heading(level: u8, text: impl Into<String>) -> Block {
        Block { kind: BlockKind::Heading { level, anchor: None }, text: text.into(), page: None }
    }

    pub(crate) fn text(text: impl Into<String>) -> Block {
        Block { kind: BlockKind::Text, text: text.into(), page: None }
    }

    pub(crate) fn on_page(self, page: Option<u32>) -> Block {
        Block { page, ..self }
    }

    pub(crate) fn is_heading(&self) -> bool {
        matches!(self.kind, BlockKind::Heading { .. })
    }
}

/// Returns the text of the first heading of a document.
pub(crate) fn first_heading(blocks: &[Block]) -> Option<&str> {
    blocks.iter().find(|block| block.is_heading()).map(|block| block.text.as_str())
}

/// Collapses white space to single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
