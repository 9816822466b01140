//! What a file was read into.

use autokit_code::Symbol;
use autokit_documents::Piece;
use autokit_search::Passage;
use serde::{Deserialize, Serialize};

use crate::code::SymbolText;
use crate::documents::PieceText;

/// The passages of a file, as they are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Content {
    /// A document.
    Pieces(Vec<Piece>),
    /// A file of code.
    Symbols(Vec<Symbol>),
}

/// The texts of a passage.
pub(crate) enum PassageText {
    Piece(PieceText),
    Symbol(SymbolText),
}

/// Returns the id in the index of a passage of a file, counted from 0.
pub(crate) fn passage_id(file: &str, at: usize) -> String {
    format!("{file}#{at}")
}

/// Splits the id of a passage into that of its file and its number from 0.
pub(crate) fn split_passage_id(id: &str) -> Option<(&str, usize)> {
    let (file, at) = id.rsplit_once('#')?;
    Some((file, at.parse().ok()?))
}

impl Content {
    /// Returns the number of passages.
    pub(crate) fn len(&self) -> usize {
        match self {
            Content::Pieces(pieces) => pieces.len(),
            Content::Symbols(symbols) => symbols.len(),
        }
    }

    /// Returns the text of a window of a passage, both counted from 0; `None` if there are fewer.
    pub(crate) fn window(&self, path: &str, at: usize, window: usize) -> Option<String> {
        self.text(String::new(), path, at)?.windows().get(window).map(|text| (*text).to_owned())
    }

    /// Prepares the passages of the file with this id. `path` is what is searched of its name.
    pub(crate) fn texts(&self, id: &str, path: &str) -> Vec<PassageText> {
        (0..self.len()).filter_map(|at| self.text(passage_id(id, at), path, at)).collect()
    }

    fn text(&self, id: String, path: &str, at: usize) -> Option<PassageText> {
        Some(match self {
            Content::Pieces(pieces) => PassageText::Piece(PieceText::new(id, path, pieces.get(at)?)),
            Content::Symbols(symbols) => PassageText::Symbol(SymbolText::new(id, path, symbols.get(at)?)),
        })
    }
}

impl PassageText {
    pub(crate) fn passage(&self) -> Passage<'_> {
        match self {
            PassageText::Piece(text) => text.passage(),
            PassageText::Symbol(text) => text.passage(),
        }
    }

    /// Returns the texts whose vectors are those of the passage.
    pub(crate) fn windows(&self) -> Vec<&str> {
        match self {
            PassageText::Piece(text) => text.windows().iter().map(String::as_str).collect(),
            PassageText::Symbol(text) => text.windows().iter().map(String::as_str).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_found_by_their_numbers() {
        let text = (0..300).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
        let piece = Piece { path: vec!["Title".to_owned()], anchor: None, page: None, text };
        let content = Content::Pieces(vec![piece]);
        let texts = content.texts("file", "manual.md");
        let windows = texts[0].windows();
        assert!(windows.len() > 2, "{windows:?}");
        for (at, window) in windows.iter().enumerate() {
            assert_eq!(content.window("manual.md", 0, at).as_deref(), Some(*window));
        }
        // A file that was read again may have fewer.
        assert_eq!(content.window("manual.md", 0, windows.len()), None);
        assert_eq!(content.window("manual.md", 1, 0), None);
    }
}
