//! What is in memory of all sources of one kind.

use autokit_error::{ApiError, Result};
use autokit_search::{Passage, PassageIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::content::{Content, passage_id};
use crate::rows::{StoredFile, StoredVectors};

/// The passages of one kind of source, and which file each is from.
#[derive(Debug, Default)]
pub(crate) struct MemoryIndex {
    pub index: PassageIndex,
    /// By id.
    pub files: FxHashMap<String, FileEntry>,
}

/// What is known of a file without reading its row.
#[derive(Debug)]
pub(crate) struct FileEntry {
    pub source: String,
    pub path: String,
    pub hash: String,
    pub problem: Option<String>,
    pub passages: usize,
    /// Whether its passages have vectors of the current model.
    pub embedded: bool,
    /// Of code only.
    symbols: Vec<SymbolEntry>,
}

/// What is known of a symbol without reading its row.
#[derive(Debug)]
struct SymbolEntry {
    name: Box<str>,
    line: u32,
    calls: Box<[Box<str>]>,
}

/// Something that calls a function: file, name and line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Caller {
    pub file: String,
    pub line: u32,
    pub name: String,
}

impl FileEntry {
    fn new(file: &StoredFile) -> FileEntry {
        let symbols = match &file.content {
            Content::Pieces(_) => Vec::new(),
            Content::Symbols(symbols) => symbols
                .iter()
                .map(|symbol| SymbolEntry {
                    name: symbol.path().into(),
                    line: symbol.lines.0,
                    calls: symbol.calls.iter().map(|name| name.as_str().into()).collect(),
                })
                .collect(),
        };
        FileEntry {
            source: file.source.clone(),
            path: file.path.clone(),
            hash: file.hash.clone(),
            problem: file.problem.clone(),
            passages: file.content.len(),
            embedded: file.content.len() == 0,
            symbols,
        }
    }
}

impl MemoryIndex {
    /// Adds files, each replacing one with the same id; their passages have no vectors.
    pub(crate) fn put(&mut self, files: &[StoredFile]) {
        let texts: Vec<_> = files.iter().flat_map(|file| file.content.texts(&file.id, &file.path)).collect();
        let passages: Vec<Passage<'_>> = texts.iter().map(|text| text.passage()).collect();
        self.index.upsert_all(&passages);
        for file in files {
            let entry = FileEntry::new(file);
            let kept = entry.passages;
            if let Some(before) = self.files.insert(file.id.clone(), entry) {
                for at in kept..before.passages {
                    self.index.remove(&passage_id(&file.id, at));
                }
            }
        }
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, file: &str) {
        for at in 0..self.files.remove(file).map_or(0, |entry| entry.passages) {
            self.index.remove(&passage_id(file, at));
        }
    }

    /// Removes all files of a source.
    pub(crate) fn remove_source(&mut self, source: &str) {
        let of_source = |(id, entry): (&String, &FileEntry)| (entry.source == source).then(|| id.clone());
        let files: Vec<String> = self.files.iter().filter_map(of_source).collect();
        for file in files {
            self.remove(&file);
        }
    }

    /// Sets the vectors of a file's passages, `windows` of each; does nothing if they were made from another text.
    ///
    /// # Errors
    /// `internal` when they are not those of the file's passages.
    pub(crate) fn set_vectors(&mut self, vectors: &StoredVectors, windows: &[usize]) -> Result<()> {
        let wrong = |error: &dyn std::fmt::Display| {
            ApiError::internal(format!("the vectors of {} do not fit: {error}", vectors.file))
        };
        let Some(entry) = self.files.get_mut(&vectors.file).filter(|entry| entry.hash == vectors.hash) else {
            return Ok(());
        };
        let total: usize = windows.iter().sum();
        if windows.len() != entry.passages || total * vectors.dim != vectors.values.len() {
            return Err(wrong(&format!("{} numbers for {total} windows", vectors.values.len())));
        }
        let mut from = 0;
        for (at, windows) in windows.iter().enumerate() {
            let to = from + windows * vectors.dim;
            let id = passage_id(&vectors.file, at);
            let values = &vectors.values[from..to];
            self.index.set_windows(&id, values, vectors.dim).map_err(|error| wrong(&error))?;
            from = to;
        }
        entry.embedded = true;
        Ok(())
    }

    /// Returns the files whose passages have no vectors, in the order of their paths.
    pub(crate) fn without_vectors(&self) -> Vec<String> {
        let mut missing: Vec<(&str, &String)> = self
            .files
            .iter()
            .filter(|(_, entry)| !entry.embedded)
            .map(|(id, entry)| (entry.path.as_str(), id))
            .collect();
        missing.sort_unstable();
        missing.into_iter().map(|(_, id)| id.clone()).collect()
    }

    /// Returns what calls something of these names, in order, at most `limit` of each name.
    pub(crate) fn callers(&self, names: &FxHashSet<&str>, limit: usize) -> FxHashMap<String, Vec<Caller>> {
        let mut found: FxHashMap<String, Vec<Caller>> = FxHashMap::default();
        for entry in self.files.values() {
            for symbol in &entry.symbols {
                for name in symbol.calls.iter().filter(|name| names.contains(&***name)) {
                    found.entry(name.to_string()).or_default().push(Caller {
                        file: entry.path.clone(),
                        line: symbol.line,
                        name: symbol.name.to_string(),
                    });
                }
            }
        }
        for callers in found.values_mut() {
            callers.sort_unstable();
            callers.truncate(limit);
        }
        found
    }
}

/// Returns the number of windows of each passage of a file.
pub(crate) fn windows_of(file: &StoredFile) -> Vec<usize> {
    file.content.texts(&file.id, &file.path).iter().map(|text| text.windows().len()).collect()
}
