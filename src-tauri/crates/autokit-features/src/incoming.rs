//! The contents of a source of cards, whatever its format; read once, then used many times.

use std::fs::{self, File};
use std::path::Path;

use autokit_api::Format;
use autokit_bundle::formats::{self, Format as Known, detect};
use autokit_bundle::{Bundle, BundleCard, BundleContents, Signature, VectorModel};
use autokit_error::{ApiError, ErrorCode, Result, file_problem};
use autokit_openapi as openapi;
use autokit_openapi::rapidapi;
use autokit_toolcard::{Author, ReadCards, Rejected, Timestamp, is_web_address, read_cards};

/// The contents of a source.
#[derive(Debug)]
pub(crate) struct SourceContents {
    pub(crate) format: Format,
    /// Where it came from, as shown to people.
    pub(crate) source: String,
    pub(crate) about: autokit_bundle::BundleInfo,
    /// Whether the cards come with revisions of the library they were exported from.
    pub(crate) bundled: bool,
    pub(crate) history: bool,
    pub(crate) vectors: Option<VectorModel>,
    /// Names and synonyms that search should know.
    pub(crate) names: Vec<String>,
    pub(crate) synonyms: Vec<String>,
    pub(crate) entries: Vec<BundleCard>,
    pub(crate) rejected: Vec<Rejected>,
    pub digest: String,
    pub(crate) signature: Option<Signature>,
}

/// Describes a path that is neither a file nor a folder.
#[cfg(unix)]
fn file_kind(metadata: &fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = metadata.file_type();
    match () {
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => "something else",
    }
}

#[cfg(not(unix))]
fn file_kind(_: &fs::Metadata) -> &'static str {
    "something else"
}

/// Describes a source that could not be read, with the cause and what to do.
fn source_error(source: &str, error: &dyn std::fmt::Display, remedy: &str) -> ApiError {
    ApiError::new(ErrorCode::UnreadableFile, format!("{source}: {error}"), remedy)
}

pub(crate) fn unreadable(path: &str, error: &dyn std::fmt::Display) -> ApiError {
    source_error(path, error, "Check the path. It must be a bundle or a card file.")
}

fn bundle_error(source: &str, error: &autokit_bundle::Error) -> ApiError {
    let remedy = match error {
        autokit_bundle::Error::Newer { .. } => "Update AutoKit to read it.",
        autokit_bundle::Error::Unfinished => "Export into it again, or ask its author to.",
        autokit_bundle::Error::Signature(_) if Path::new(source).is_dir() => {
            "If version control merged it, delete its `signature.json`: nobody signed the result. \
             Otherwise do not use it."
        }
        autokit_bundle::Error::Signature(_) | autokit_bundle::Error::Damaged { .. } => {
            "Do not use it. Get a new copy from its author."
        }
        autokit_bundle::Error::TooLarge { .. } => "Ask its author to split it.",
        _ => "Check the path. It must be a bundle or a card file.",
    };
    source_error(source, error, remedy)
}

impl SourceContents {
    /// The starter cards that ship with AutoKit.
    pub(crate) fn from_starter(read: ReadCards, by: &Author, at: Timestamp) -> SourceContents {
        from_cards(read, Format::Json, "the starter cards", b"starter", by, at)
    }

    /// The tools of an MCP server.
    pub(crate) fn from_server(read: ReadCards, server: &str, by: &Author, at: Timestamp) -> SourceContents {
        let source = format!("the MCP server {server}");
        from_cards(read, Format::McpServers, &source, source.as_bytes(), by, at)
    }
}

pub(crate) fn from_path(path: &str, by: &Author, at: Timestamp) -> Result<SourceContents> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &file_problem(&error)))?;
    if metadata.is_dir() {
        let bundle =
            autokit_bundle::read_folder(Path::new(path)).map_err(|error| bundle_error(path, &error))?;
        return Ok(from_bundle(bundle, Format::Folder, path));
    }
    if !metadata.is_file() {
        // Reading a pipe or a device may block forever.
        return Err(ApiError::new(
            ErrorCode::UnreadableFile,
            format!("{path} is neither a file nor a folder but {}", file_kind(&metadata)),
            "Save its output to a file first.",
        ));
    }
    let mut file = File::open(path).map_err(|error| unreadable(path, &file_problem(&error)))?;
    let mut start = [0; 4];
    if std::io::Read::read(&mut file, &mut start).is_ok_and(|read| read == 4) && start == *b"PK\x03\x04" {
        let bundle = autokit_bundle::read_file(file).map_err(|error| bundle_error(path, &error))?;
        return Ok(from_bundle(bundle, Format::Bundle, path));
    }
    // Checked before reading, so that a huge file is rejected at once.
    if metadata.len() > autokit_toolcard::MAX_FILE_BYTES {
        let error = autokit_toolcard::ReadError::TooLarge;
        return Err(source_error(path, &error, error.remedy()));
    }
    let bytes = fs::read(path).map_err(|error| unreadable(path, &file_problem(&error)))?;
    from_bytes(&bytes, path, by, at)
}

/// Parses bytes of any supported format. `source` says where they came from, for people.
pub(crate) fn from_bytes(bytes: &[u8], source: &str, by: &Author, at: Timestamp) -> Result<SourceContents> {
    if bytes.starts_with(b"PK\x03\x04") {
        let bundle = autokit_bundle::read_file(std::io::Cursor::new(bytes))
            .map_err(|error| bundle_error(source, &error))?;
        return Ok(from_bundle(bundle, Format::Bundle, source));
    }
    if openapi::is_openapi(bytes) {
        let address = Some(source).filter(|source| is_web_address(source));
        let imported = openapi::read_openapi(bytes, address)
            .map_err(|error| source_error(source, &error, error.remedy()))?;
        let mut incoming = from_cards(imported.read, Format::OpenApi, source, bytes, by, at);
        incoming.about.name = imported.title.unwrap_or_default();
        incoming.about.note = imported.notes.join("; ");
        return Ok(incoming);
    }
    if rapidapi::is_rapidapi(bytes) {
        let read =
            rapidapi::read_rapidapi(bytes).map_err(|error| source_error(source, &error, error.remedy()))?;
        return Ok(from_cards(read, Format::RapidApi, source, bytes, by, at));
    }
    let (read, format) = match detect(bytes, Some(source)) {
        Known::Csv => (formats::read_csv(bytes), Format::Csv),
        Known::McpServers => (formats::read_mcp_servers(bytes), Format::McpServers),
        Known::ServerJson => (formats::read_server_json(bytes), Format::ServerJson),
        // Anything else is parsed as AutoKit's own JSON, which recognizes cards by their shape.
        Known::AutokitJson | Known::Bundle | Known::Unknown => {
            let read = read_cards(bytes).map_err(|error| source_error(source, &error, error.remedy()))?;
            return Ok(from_cards(read, Format::Json, source, bytes, by, at));
        }
    };
    let read = read.map_err(|error| source_error(source, &error, error.remedy()))?;
    Ok(from_cards(read, format, source, bytes, by, at))
}

fn from_bundle(bundle: Bundle, format: Format, source: &str) -> SourceContents {
    let BundleContents { about, cards, history, vectors, names, synonyms } = bundle.contents;
    SourceContents {
        format,
        source: source.to_owned(),
        about,
        bundled: true,
        history,
        vectors,
        names,
        synonyms,
        entries: cards,
        rejected: bundle.rejected,
        digest: bundle.digest,
        signature: bundle.signature,
    }
}

fn from_cards(
    read: ReadCards,
    format: Format,
    source: &str,
    bytes: &[u8],
    by: &Author,
    at: Timestamp,
) -> SourceContents {
    SourceContents {
        format,
        source: source.to_owned(),
        about: autokit_bundle::BundleInfo::default(),
        bundled: false,
        history: false,
        vectors: None,
        names: Vec::new(),
        synonyms: Vec::new(),
        entries: read.cards.into_iter().map(|item| BundleCard::from_item(item, by, at)).collect(),
        rejected: read.rejected,
        digest: autokit_bundle::digest_of(bytes),
        signature: None,
    }
}
