//! What goes into the index.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::gazetteer::known;
use crate::text::name_words;

/// A parameter of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// Name.
    pub name: &'a str,
    /// What it means, or an empty string.
    pub description: &'a str,
}

/// A tool as the index sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document<'a> {
    /// Identity; unique in an index.
    pub id: &'a str,
    /// Vendor, package or server that offers the tool, or an empty string.
    pub provider: &'a str,
    /// What the tool is called.
    pub name: &'a str,
    /// Other names it is called by exactly: a class, a command, an operation id.
    pub aliases: Vec<&'a str>,
    /// What it does, in prose.
    pub description: &'a str,
    /// Its parameters.
    pub parameters: Vec<Parameter<'a>>,
    /// More text to find it by, searched by keyword only: module, tags, kind.
    pub keywords: Vec<&'a str>,
    /// Embedding of [`Document::dense_text`], if there is one yet. Scaled to unit length on entry.
    pub vector: Option<&'a [f32]>,
}

impl Document<'_> {
    /// Version of [`Document::dense_text`]: vectors of another are of other texts.
    pub const DENSE_TEXT: u32 = 2;

    /// The text to embed as a passage: `provider. name words: description (what is known of the name)`.
    ///
    /// One vector per card: vectors of the name, of each sentence, or of the best of them moved no
    /// evaluation set outside its error. Parameters are left to the keywords, where they help.
    pub fn dense_text(&self) -> String {
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
        for what in self.known() {
            text.push_str(" (");
            text.push_str(what);
            text.push(')');
        }
        text
    }

    /// What is known of the names the tool goes by.
    pub(crate) fn known(&self) -> Vec<&'static str> {
        known([self.name, self.provider])
    }
}

/// Part of a card that a word was found in.
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
    /// What is known of the names it goes by; the card itself need not say it.
    Known,
}

impl Field {
    /// How many there are.
    pub(crate) const COUNT: usize = 6;

    /// Every field, in the order of their numbers.
    pub const ALL: [Field; Field::COUNT] =
        [Field::Provider, Field::Name, Field::Description, Field::Parameters, Field::Keywords, Field::Known];
}
