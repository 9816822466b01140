//! Documents and code that people add, to be searched and cited (AutoAgent §3).

use autokit_toolcard::{CardId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a source holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Documents: PDF, DOCX, HTML, Markdown, text.
    #[default]
    Documents,
    /// Source code.
    Code,
}

/// Request to add a source and to read it in the background.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MemoryAdd {
    /// What it holds.
    pub kind: MemoryKind,
    /// Absolute path of a file or folder, or the address of a page. Code is in folders.
    pub location: String,
}

/// Reference to a source.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MemorySourceRef {
    /// Its id or its location.
    pub source: String,
}

/// Request for the list of sources.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct MemoryListQuery {
    /// Only sources of this kind.
    #[serde(default)]
    pub kind: Option<MemoryKind>,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MemoryProblem {
    /// Its path or address.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// A source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MemorySource {
    /// Id, unique in the library.
    pub id: String,
    /// What it holds.
    pub kind: MemoryKind,
    /// Path or address.
    pub location: String,
    /// When it was added.
    pub added_at: Timestamp,
    /// When it was last read to the end; `null` before that.
    pub read_at: Option<Timestamp>,
    /// Number of files with something to search.
    pub files: u32,
    /// Number of pieces of documents, or of functions and types.
    pub passages: u32,
    /// Number of `passages` that are also found by meaning.
    pub embedded: u32,
    /// Why the source as a whole could not be read; `null` if it could.
    pub problem: Option<String>,
    /// Files that could not be read.
    pub problems: Vec<MemoryProblem>,
}

/// All sources.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MemorySources {
    /// In the order of their locations.
    pub sources: Vec<MemorySource>,
}

/// A search of documents or code.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct MemoryQuery {
    /// What to search.
    #[serde(default)]
    pub kind: MemoryKind,
    /// The question, or what a function does.
    pub query: String,
    /// Most results; 5 if not given, at most 50.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// A function, method or type that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MemorySymbol {
    /// `function`, `method` or `type`.
    pub kind: String,
    /// Name with what it is inside of, separated by dots.
    pub name: String,
    /// Everything before its body.
    pub signature: String,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// What calls something of this name: file and symbol, at most ten.
    pub callers: Vec<String>,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct MemoryHit {
    /// How it is cited: `path#piece` of a document, `path:line` of code.
    pub citation: String,
    /// Path or address of the file.
    pub file: String,
    /// Title of the document; the file's name for code.
    pub title: String,
    /// Headings above it, from the title down; empty for code.
    pub heading: Vec<String>,
    /// Page it begins on, from 1, where there are pages.
    pub page: Option<u32>,
    /// The text of the piece, or the comment of a function.
    pub text: String,
    /// Set for code.
    pub symbol: Option<MemorySymbol>,
    /// Between 0 and 1. Comparable between searches with the same model.
    pub score: f32,
}

/// What a search found.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MemoryFound {
    /// Best first.
    pub hits: Vec<MemoryHit>,
    /// Number of passages searched.
    pub searched: u32,
    /// What the results lack, e.g. that only words were searched; `null` if nothing.
    pub note: Option<String>,
}

/// Request for what the repository in a folder offers to others.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CodeToolsQuery {
    /// Absolute path of the folder.
    pub folder: String,
    /// Most tools; 50 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
}

/// A documented public function or a command of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeTool {
    /// Id that its card would have.
    pub id: CardId,
    /// Its name, with the class it is in.
    pub name: String,
    /// The package that offers it.
    pub package: String,
    /// File and line, or the manifest, from the root of the repository.
    pub place: String,
    /// What it does, in a sentence.
    pub line: String,
}

/// What a repository offers that the library has no card for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeTools {
    /// Number of tools, also of those not listed.
    pub total: u32,
    /// The first ones, commands before functions.
    pub tools: Vec<CodeTool>,
}

/// Request to propose cards for what a repository offers.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CodeToolsPropose {
    /// Absolute path of the folder.
    pub folder: String,
    /// Ids of the tools, as listed; the first ones if empty.
    #[serde(default)]
    pub tools: Vec<CardId>,
    /// Most tools if none are named; 50 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
}
