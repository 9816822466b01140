//! Symbols of code as passages.

use autokit_code::Symbol;
use autokit_search::Passage;
use autokit_vocabulary::name_words;

/// Most words of a comment that are embedded.
const COMMENT_WORDS: usize = 120;

/// Returns how a symbol is cited: its file and its first line.
pub fn cite_symbol(file: &str, symbol: &Symbol) -> String {
    format!("{file}:{}", symbol.lines.0)
}

/// The texts of a symbol that are searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolText {
    id: String,
    name: String,
    text: String,
    file: String,
    inside: String,
    body: String,
    to_embed: String,
}

impl SymbolText {
    /// Prepares a symbol of a file, whose path counts from the root of the repository. `id` is its id in the index.
    pub fn new(id: String, file: &str, symbol: &Symbol) -> SymbolText {
        let name = name_words(&symbol.name);
        let inside = symbol.inside.iter().map(|part| name_words(part)).collect::<Vec<_>>().join(" ");
        let comment =
            symbol.documentation.split_whitespace().take(COMMENT_WORDS).collect::<Vec<_>>().join(" ");
        let mut to_embed = if inside.is_empty() { name.clone() } else { format!("{inside} {name}") };
        if !comment.is_empty() {
            to_embed = format!("{to_embed}: {comment}");
        }
        to_embed = format!("{to_embed} ({})", symbol.signature);
        SymbolText {
            id,
            name,
            text: format!("{}\n{}", symbol.documentation, symbol.signature),
            file: file.to_owned(),
            inside,
            body: symbol.body.clone(),
            to_embed,
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The text to embed as a passage.
    pub fn to_embed(&self) -> &str {
        &self.to_embed
    }

    /// The words to search.
    pub fn passage(&self) -> Passage<'_> {
        Passage {
            id: &self.id,
            title: &self.name,
            text: &self.text,
            keywords: vec![&self.file, &self.inside],
            body: &self.body,
        }
    }
}
