//! The files of a repository, and which symbols call which.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::language::Language;
use crate::symbols::{Symbol, symbols};

/// Most bytes of a file; a larger one was written by a program.
pub const MAX_FILE_BYTES: u64 = 2 << 20;

/// A file whose lines are longer than this on average, in bytes, was made small by a program.
const LONG_LINES: usize = 400;

/// How much of a header is looked at to tell C from C++, in bytes.
const HEADER: usize = 64 << 10;

/// Folders of packages that others wrote; not every repository lists them in `.gitignore`.
const PACKAGES: &[&str] = &["node_modules", "__pycache__", ".git", ".venv", "venv"];

/// A file of a repository with its symbols.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFile {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// Its language.
    pub language: Language,
    /// Number of lines.
    pub lines: u32,
    /// Its symbols, in the order of their lines.
    pub symbols: Vec<Symbol>,
}

/// Why a file has no symbols.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Skipped {
    /// It is larger than [`MAX_FILE_BYTES`].
    #[error("larger than {} MB", MAX_FILE_BYTES >> 20)]
    TooLarge,
    /// Its lines are too long to be written by people.
    #[error("minified or generated")]
    Generated,
    /// It is not UTF-8.
    #[error("not text in UTF-8")]
    NotText,
    /// No language here has its ending.
    #[error("in no language that is read")]
    OtherLanguage,
    /// It cannot be opened.
    #[error("{0}")]
    Unreadable(String),
}

/// A folder that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryError {
    /// It is not a folder.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
}

impl From<RepositoryError> for autokit_error::ApiError {
    fn from(error: RepositoryError) -> autokit_error::ApiError {
        let code = autokit_error::ErrorCode::NotFound;
        autokit_error::ApiError::new(code, error.to_string(), "Give the folder of a repository.")
    }
}

/// Returns the source files of a repository in the order of their paths, without what `.gitignore` and
/// `.ignore` leave out.
///
/// # Errors
/// Returns an error if `root` is not a folder. Folders below it that cannot be read are passed over.
pub fn source_files(root: &Path) -> Result<Vec<PathBuf>, RepositoryError> {
    if !root.is_dir() {
        return Err(RepositoryError::NotAFolder(root.to_owned()));
    }
    let walk = WalkBuilder::new(root)
        // Also without a `.git` folder: what was unpacked from an archive has none.
        .require_git(false)
        .filter_entry(|entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            !(is_folder && entry.file_name().to_str().is_some_and(|name| PACKAGES.contains(&name)))
        })
        .build();
    let mut found: Vec<PathBuf> = walk
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .filter(|path| Language::of(path, "").is_some())
        .collect();
    found.sort();
    Ok(found)
}

/// Reads the symbols of a file.
///
/// # Errors
/// Returns why it has none.
pub fn read_file(root: &Path, path: &Path) -> Result<CodeFile, Skipped> {
    let unreadable = |error: std::io::Error| Skipped::Unreadable(error.to_string());
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(Skipped::TooLarge);
    }
    let source = String::from_utf8(bytes).map_err(|_| Skipped::NotText)?;
    let start = &source[..source.floor_char_boundary(HEADER)];
    let language = Language::of(path, start).ok_or(Skipped::OtherLanguage)?;
    let lines = source.lines().count();
    if source.len() > LONG_LINES * lines.max(10) {
        return Err(Skipped::Generated);
    }
    let relative = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    Ok(CodeFile { path: parts.join("/"), language, lines: lines as u32, symbols: symbols(language, &source) })
}

/// Which symbols call which, by name: without types, two functions of one name cannot be told apart.
#[derive(Clone, Debug, Default)]
pub struct Callers {
    /// File and symbol of callers, by the name they call.
    by_name: FxHashMap<String, Vec<(u32, u32)>>,
}

impl Callers {
    /// Collects the calls of all files.
    pub fn new(files: &[CodeFile]) -> Callers {
        let mut by_name: FxHashMap<String, Vec<(u32, u32)>> = FxHashMap::default();
        for (file_at, file) in files.iter().enumerate() {
            for (symbol_at, symbol) in file.symbols.iter().enumerate() {
                for name in &symbol.calls {
                    by_name.entry(name.clone()).or_default().push((file_at as u32, symbol_at as u32));
                }
            }
        }
        Callers { by_name }
    }

    /// Returns positions of files and their symbols that call something named `name`, in their order.
    pub fn of(&self, name: &str) -> &[(u32, u32)] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn ignored_files_and_packages_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".gitignore", "generated/\n*.pb.go\n");
        write("src/a.rs", "fn a() { b(); }\n");
        write("src/b.py", "def b():\n    pass\n");
        write("generated/c.py", "def c(): pass\n");
        write("x.pb.go", "package x\n");
        write("node_modules/d/index.js", "function d() {}\n");
        write("notes.txt", "words");
        let files = source_files(root.path()).unwrap();
        let names: Vec<_> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a.rs", "b.py"]);
        let read: Vec<CodeFile> = files.iter().map(|path| read_file(root.path(), path).unwrap()).collect();
        assert_eq!(read[0].path, "src/a.rs");
        let callers = Callers::new(&read);
        assert_eq!(callers.of("b"), [(0, 0)]);
        assert!(callers.of("a").is_empty());
    }

    #[test]
    fn what_people_did_not_write_is_named() {
        let root = tempfile::tempdir().unwrap();
        let read = |name: &str, bytes: &[u8]| {
            let path = root.path().join(name);
            fs::write(&path, bytes).unwrap();
            read_file(root.path(), &path)
        };
        assert_eq!(read("a.js", "x=1;".repeat(5_000).as_bytes()), Err(Skipped::Generated));
        assert_eq!(read("b.c", b"caf\xe9"), Err(Skipped::NotText));
        assert_eq!(read("c.py", &vec![b'\n'; 3 << 20]), Err(Skipped::TooLarge));
        assert!(matches!(source_files(&root.path().join("none")), Err(RepositoryError::NotAFolder(_))));
    }
}
