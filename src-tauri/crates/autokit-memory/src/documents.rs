//! Pieces of documents as passages.

use autokit_documents::Piece;
use autokit_search::Passage;

/// Words of a piece that are embedded at once. The default model reads about 180; of the open questions in
/// `documents-questions.jsonl`, windows of 160 answer 21 in the first five by meaning alone, windows of 70 answer 26.
pub const WINDOW_WORDS: usize = 70;

/// Returns how a piece is cited: the path or address of its document, and its number from 1.
pub fn cite_piece(document: &str, number: usize) -> String {
    format!("{document}#{number}")
}

/// The texts of a piece that are searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceText {
    id: String,
    title: String,
    name: String,
    text: String,
    windows: Vec<String>,
}

impl PieceText {
    /// Prepares a piece of the document at a path or address. `id` is its id in the index.
    pub fn new(id: String, document: &str, piece: &Piece) -> PieceText {
        let name = document.rsplit('/').next().unwrap_or(document);
        PieceText {
            id,
            title: piece.path.join(" > "),
            name: name.to_owned(),
            text: piece.text.clone(),
            windows: piece.passages(WINDOW_WORDS),
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The texts to embed as passages.
    pub fn windows(&self) -> &[String] {
        &self.windows
    }

    /// The words to search.
    pub fn passage(&self) -> Passage<'_> {
        Passage { id: &self.id, title: &self.title, text: &self.text, keywords: vec![&self.name], body: "" }
    }
}
