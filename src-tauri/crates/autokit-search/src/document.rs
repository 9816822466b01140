//! The documents of the index.

use autokit_vocabulary::{Vocabulary, name_words};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::traits::Traits;

/// A parameter of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its meaning, or an empty string.
    pub description: &'a str,
}

/// The embeddings of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vectors<'a> {
    /// Embedding of [`Document::dense_text`].
    pub tool: &'a [f32],
    /// Embeddings of the phrases of [`Document::asks_for`], concatenated; empty if they were not computed.
    pub asks_for: &'a [f32],
}

impl<'a> Vectors<'a> {
    /// Splits the embeddings of [`crate::ToolText::passages`], concatenated, of which each has this dimension.
    pub fn split(values: &'a [f32], dimension: usize) -> Vectors<'a> {
        let (tool, asks_for) = values.split_at(dimension.min(values.len()));
        Vectors { tool, asks_for }
    }
}

/// A tool as indexed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document<'a> {
    /// Id, unique in an index.
    pub id: &'a str,
    /// Vendor, package or server that offers the tool, or an empty string.
    pub provider: &'a str,
    /// Tool name.
    pub name: &'a str,
    /// Other exact names: a class, a command, an operation id.
    pub aliases: Vec<&'a str>,
    /// Description in prose.
    pub description: &'a str,
    /// Its parameters.
    pub parameters: Vec<Parameter<'a>>,
    /// Further searchable text, matched by keyword only: module, tags, kind.
    pub keywords: Vec<&'a str>,
    /// What people ask for when they need it, in their words.
    pub asks_for: Vec<&'a str>,
    /// What it costs, in words, or an empty string.
    pub pricing: &'a str,
    /// The programming language it is used from, or an empty string.
    pub language: &'a str,
    /// Its embeddings, if they were computed. Normalized to unit length when added.
    pub vectors: Option<Vectors<'a>>,
}

impl Document<'_> {
    /// Returns the text to embed as a passage: `provider. name words: description (what the vocabulary knows of
    /// the name)`.
    ///
    /// There is one vector per card: vectors of the name, of each sentence, or of the best of them changed no
    /// evaluation set by more than its error. Parameters are left to keyword search, where they help.
    pub fn dense_text(&self, vocabulary: &Vocabulary) -> String {
        let name = name_words(self.name);
        let mut text = String::with_capacity(self.provider.len() + name.len() + self.description.len() + 4);
        if !self.provider.is_empty() {
            text.push_str(self.provider);
            text.push_str(". ");
        }
        text.push_str(&name);
        if !self.description.is_empty() {
            text.push_str(": ");
            text.push_str(self.description);
        }
        for what in self.known(vocabulary) {
            text.push_str(" (");
            text.push_str(what);
            text.push(')');
        }
        text
    }

    /// Reads its traits from what it says about itself.
    pub(crate) fn traits(&self) -> Traits {
        let mut traits = Traits::of(self.description);
        traits.read(self.pricing);
        for keyword in &self.keywords {
            traits.read(keyword);
        }
        traits.add_language(self.language);
        traits
    }

    /// Returns what a vocabulary knows of the tool's name and provider.
    pub(crate) fn known<'v>(&self, vocabulary: &'v Vocabulary) -> Vec<&'v str> {
        vocabulary.known_of(self.name, self.provider, self.description)
    }
}

/// The part of a card in which a word was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// Vendor, package or server.
    Provider,
    /// Tool name.
    Name,
    /// Description.
    Description,
    /// Names and descriptions of parameters.
    Parameters,
    /// Aliases, module, tags, kind.
    Keywords,
    /// What people ask for when they need the tool.
    AsksFor,
    /// What is known of its names; the card itself need not contain the word.
    Known,
}

impl Field {
    /// Number of fields.
    pub(crate) const COUNT: usize = 7;

    /// All fields, in the order of their numbers.
    pub const ALL: [Field; Field::COUNT] = [
        Field::Provider,
        Field::Name,
        Field::Description,
        Field::Parameters,
        Field::Keywords,
        Field::AsksFor,
        Field::Known,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_the_name_is_embedded_with_the_card() {
        let document =
            Document { name: "Naver Search", description: "Queries Naver.", ..Document::default() };
        let text = document.dense_text(Vocabulary::shipped());
        assert!(text.starts_with("Naver Search: Queries Naver. (") && text.contains("korean"), "{text}");
    }
}
