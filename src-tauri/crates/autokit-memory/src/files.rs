//! The files of a source, and reading one.

use std::path::{Path, PathBuf};

use autokit_api::MemoryKind;
use autokit_code::{read_file, source_files};
use autokit_documents::{PieceOptions, Reader, has_known_ending, pieces};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_web::{Fetcher, Validators};
use autokit_workspace::background::in_background;
use ignore::WalkBuilder;
use sha2::{Digest as _, Sha256};

use crate::content::Content;
use crate::rows::Source;

/// Part of every hash of a file: it changes when files are read in another way, so that they are read again.
const READING: &str = "3";

/// Most bytes of a document that is downloaded.
const MAX_DOWNLOAD: u64 = 64 << 20;

/// Longest path of a source, in bytes.
const LONGEST_LOCATION: usize = 4096;

/// What reading a file gave.
#[derive(Clone, Debug)]
pub(crate) enum FileRead {
    /// It has the hash that was expected.
    Unchanged,
    /// It was read.
    Read { hash: String, title: String, content: Content },
    /// It cannot be read; with the hash of its bytes if there are any.
    Failed { hash: String, reason: String },
}

/// Whether a location is an address.
pub(crate) fn is_address(location: &str) -> bool {
    location.starts_with("https://") || location.starts_with("http://")
}

/// Checks a location and returns how it is stored.
///
/// # Errors
/// `bad_request` for a location that is neither an absolute path nor an address, `not_found` for a path where nothing is.
pub(crate) fn checked_location(kind: MemoryKind, location: &str) -> Result<String> {
    let location = location.trim();
    let bad = |message: String, remedy: &str| Err(ApiError::new(ErrorCode::BadRequest, message, remedy));
    if location.is_empty() || location.len() > LONGEST_LOCATION {
        return bad("a source needs a path or an address".to_owned(), "Give a file, a folder or an address.");
    }
    if is_address(location) {
        return match kind {
            MemoryKind::Documents => Ok(location.to_owned()),
            MemoryKind::Code => {
                bad(format!("{location} is an address"), "Clone the repository, and give its folder.")
            }
        };
    }
    let path = Path::new(location);
    if !path.is_absolute() {
        return bad(format!("{location} is not an absolute path"), "Give the whole path, or an address.");
    }
    let found = std::fs::canonicalize(path).map_err(|error| {
        ApiError::new(ErrorCode::NotFound, format!("{location}: {error}"), "Check the path.")
    })?;
    if kind == MemoryKind::Code && !found.is_dir() {
        return bad(format!("{location} is not a folder"), "Give the folder of a repository.");
    }
    Ok(found.to_string_lossy().into_owned())
}

/// Returns the paths of the files of a source in order; its address if it has one.
///
/// # Errors
/// `not_found` when there is nothing any more.
pub(crate) fn files_of(source: &Source) -> Result<Vec<String>> {
    let location = source.location.as_str();
    if is_address(location) {
        return Ok(vec![location.to_owned()]);
    }
    let root = Path::new(location);
    if source.kind == MemoryKind::Code {
        return Ok(source_files(root)?.iter().map(|path| relative(root, path)).collect());
    }
    if root.is_file() {
        return Ok(vec![location.to_owned()]);
    }
    if !root.is_dir() {
        let message = format!("{location} is gone");
        return Err(ApiError::new(ErrorCode::NotFound, message, "Remove the source, or put it back."));
    }
    let mut found: Vec<String> = WalkBuilder::new(root)
        .require_git(false)
        .build()
        .filter_map(std::result::Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter(|entry| entry.file_name().to_str().is_some_and(has_known_ending))
        .map(|entry| entry.path().to_string_lossy().into_owned())
        .collect();
    found.sort();
    Ok(found)
}

fn relative(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Returns the absolute path of a file of a source.
pub(crate) fn absolute(source: &Source, path: &str) -> PathBuf {
    match source.kind {
        MemoryKind::Code => Path::new(&source.location).join(path),
        MemoryKind::Documents => PathBuf::from(path),
    }
}

fn hash(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(READING);
    hash.update(bytes);
    hex::encode(hash.finalize())
}

/// Reads a file of a source unless it has the hash `known`.
pub(crate) async fn read(
    source: &Source,
    path: String,
    known: Option<String>,
    reader: &Reader,
    fetcher: &Fetcher,
) -> FileRead {
    let failed = |reason: String| FileRead::Failed { hash: String::new(), reason };
    if is_address(&path) {
        return match fetcher.get(&path).await {
            Ok(page) if page.is_success() => {
                let name = address_name(&page.url, page.content_type.as_deref());
                read_document(&name, page.text.into_bytes(), known, reader).await
            }
            Ok(page) => failed(format!("the site returned {}", page.status)),
            // A PDF or a DOCX: the reader tells by its bytes.
            Err(autokit_web::Error::NotText { content_type, .. }) if may_be_document(&content_type) => {
                match fetcher.download(&path, &Validators::default(), MAX_DOWNLOAD).await {
                    Ok(Some(file)) => {
                        let name = address_name(&file.url, Some(&content_type));
                        read_document(&name, file.bytes, known, reader).await
                    }
                    Ok(None) => FileRead::Unchanged,
                    Err(error) => failed(error.to_string()),
                }
            }
            Err(error) => failed(error.to_string()),
        };
    }
    let at = absolute(source, &path);
    if source.kind == MemoryKind::Code {
        let root = PathBuf::from(&source.location);
        let read = in_background(move || Ok(read_code(&root, &at, known.as_deref()))).await;
        return read.unwrap_or_else(|error| failed(error.message));
    }
    let size = std::fs::metadata(&at).map(|data| data.len());
    if size.as_ref().is_ok_and(|size| *size > autokit_documents::MAX_BYTES) {
        return failed(format!("it is larger than {} MB", autokit_documents::MAX_BYTES >> 20));
    }
    match tokio::fs::read(&at).await {
        Ok(bytes) => read_document(&path, bytes, known, reader).await,
        Err(error) => failed(error.to_string()),
    }
}

/// Whether what an address returned may be a document, so that it is worth its download.
fn may_be_document(content_type: &str) -> bool {
    ["pdf", "wordprocessingml", "octet-stream"].iter().any(|kind| content_type.contains(kind))
}

/// Returns a file name for what an address returned, from which its format is told.
fn address_name(address: &str, content_type: Option<&str>) -> String {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let name = path.rsplit('/').next().unwrap_or(path);
    let kind = content_type.unwrap_or_default();
    if has_known_ending(name) && !kind.contains("html") {
        name.to_owned()
    } else if kind.contains("markdown") {
        format!("{name}.md")
    } else if kind.contains("plain") {
        format!("{name}.txt")
    } else if kind.contains("pdf") {
        format!("{name}.pdf")
    } else if kind.contains("wordprocessingml") {
        format!("{name}.docx")
    } else if !kind.is_empty() && !kind.contains("html") {
        name.to_owned()
    } else {
        format!("{name}.html")
    }
}

async fn read_document(name: &str, bytes: Vec<u8>, known: Option<String>, reader: &Reader) -> FileRead {
    let hash = hash(&bytes);
    if known.as_deref() == Some(&hash) {
        return FileRead::Unchanged;
    }
    match reader.read(name, bytes).await {
        Ok(document) => {
            let content = Content::Pieces(pieces(&document, PieceOptions::default()));
            FileRead::Read { hash, title: document.title, content }
        }
        Err(error) => FileRead::Failed { hash, reason: format!("{error}. {}", error.remedy()) },
    }
}

fn read_code(root: &Path, path: &Path, known: Option<&str>) -> FileRead {
    let hash = match std::fs::read(path) {
        Ok(bytes) => hash(&bytes),
        Err(error) => return FileRead::Failed { hash: String::new(), reason: error.to_string() },
    };
    if known == Some(hash.as_str()) {
        return FileRead::Unchanged;
    }
    match read_file(root, path) {
        Ok(file) => {
            let title = file.path.rsplit('/').next().unwrap_or(&file.path).to_owned();
            FileRead::Read { hash, title, content: Content::Symbols(file.symbols) }
        }
        Err(skipped) => FileRead::Failed { hash, reason: skipped.to_string() },
    }
}
