//! Symbols of code as passages.

use autokit_code::Symbol;
use autokit_search::Passage;
use autokit_vocabulary::name_words;

/// Most words of a comment that are embedded.
const COMMENT_WORDS: usize = 120;
/// Most words of a comment that are embedded with the body.
const COMMENT_WITH_BODY: usize = 60;
/// Most names, texts and comments of a body that are embedded, and most characters of that text: what the default model
/// reads.
const BODY_WORDS: usize = 120;
const BODY_CHARS: usize = 700;
/// Fewest names of a body that say more than the name of its function.
const MIN_BODY: usize = 3;

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
    windows: Vec<String>,
}

/// Returns the words of a body, with those that names are made of.
fn with_name_words(body: &str) -> String {
    let mut words = String::with_capacity(body.len() * 2);
    for word in body.split_whitespace() {
        words.push_str(word);
        words.push(' ');
        let parts = name_words(word);
        if parts != word {
            words.push_str(&parts);
            words.push(' ');
        }
    }
    words
}

impl SymbolText {
    /// Prepares a symbol of a file, whose path counts from the root of the repository. `id` is its id in the index.
    pub fn new(id: String, file: &str, symbol: &Symbol) -> SymbolText {
        let name = name_words(&symbol.name);
        let inside = symbol.inside.iter().map(|part| name_words(part)).collect::<Vec<_>>().join(" ");
        let comment =
            symbol.documentation.split_whitespace().take(COMMENT_WORDS).collect::<Vec<_>>().join(" ");
        let own = if inside.is_empty() { name.clone() } else { format!("{inside} {name}") };
        let mut to_embed = own.clone();
        if !comment.is_empty() {
            to_embed = format!("{to_embed}: {comment}");
        }
        to_embed = format!("{to_embed} ({})", symbol.signature);
        let mut windows = vec![to_embed];
        // What a function does is often said by nothing but the names, texts and comments inside of it.
        if symbol.body.split_whitespace().nth(MIN_BODY - 1).is_some() {
            let comment = symbol.documentation.split_whitespace().take(COMMENT_WITH_BODY);
            let body = symbol.body.split_whitespace().take(BODY_WORDS).map(name_words);
            let words: Vec<String> =
                comment.map(str::to_owned).chain(body).filter(|word| !word.is_empty()).collect();
            windows.push(format!("{own}. {}", words.join(" ")).chars().take(BODY_CHARS).collect());
        }
        SymbolText {
            id,
            name,
            text: format!("{}\n{}", symbol.documentation, symbol.signature),
            file: file.to_owned(),
            inside,
            body: with_name_words(&symbol.body),
            windows,
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The texts to embed as passages: what its declaration says, and what is in its body.
    pub fn windows(&self) -> &[String] {
        &self.windows
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
