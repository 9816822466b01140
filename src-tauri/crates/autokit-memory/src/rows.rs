//! The tables of sources, of the files read from them and of their vectors.

use autokit_api::MemoryKind;
use autokit_error::{ApiError, Result};
use autokit_library::Library;
use autokit_toolcard::Timestamp;
use autokit_workspace::background::in_background;
use surrealdb::types::{Bytes, Object, RecordId, RecordIdKey, SurrealValue, object};

use crate::content::Content;

/// A source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub id: String,
    pub kind: MemoryKind,
    pub location: String,
    pub added_at: Timestamp,
    /// When it was last read to the end.
    pub read_at: Option<Timestamp>,
    /// Why it could not be read as a whole.
    pub problem: Option<String>,
}

/// A file of a source, as last read.
#[derive(Clone, Debug)]
pub(crate) struct StoredFile {
    pub id: String,
    pub source: String,
    /// Path from the root of a repository, absolute path of a document, or address.
    pub path: String,
    /// SHA-256 of the bytes it was read from, and of what they were read with.
    pub hash: String,
    pub title: String,
    /// Why it could not be read.
    pub problem: Option<String>,
    pub content: Content,
}

/// The vectors of a file's passages.
#[derive(Clone, Debug)]
pub(crate) struct StoredVectors {
    pub file: String,
    /// Hash of the file they were made from.
    pub hash: String,
    pub dim: usize,
    /// Those of all windows of all passages, concatenated.
    pub values: Vec<f32>,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct SourceRow {
    id: RecordId,
    kind: String,
    location: String,
    added_at: String,
    read_at: Option<String>,
    problem: Option<String>,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct FileRow {
    id: RecordId,
    source: String,
    path: String,
    hash: String,
    title: String,
    problem: Option<String>,
    content: String,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct VectorRow {
    file: String,
    hash: String,
    dim: i64,
    data: Bytes,
}

fn key(id: &RecordId) -> String {
    match &id.key {
        RecordIdKey::String(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

fn unreadable(what: &str, error: &dyn std::fmt::Display) -> ApiError {
    ApiError::internal(format!("{what} cannot be read from the library: {error}"))
}

const KINDS: [(MemoryKind, &str); 2] = [(MemoryKind::Documents, "documents"), (MemoryKind::Code, "code")];

fn kind_name(kind: MemoryKind) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("documents", |(_, name)| name)
}

impl SourceRow {
    fn parsed(self) -> Result<Source> {
        let id = key(&self.id);
        let time = |text: &str| text.parse::<Timestamp>().map_err(|error| unreadable(&id, &error));
        let kind = KINDS.iter().find(|(_, name)| *name == self.kind).map(|(kind, _)| *kind);
        Ok(Source {
            kind: kind.ok_or_else(|| unreadable(&id, &format!("its kind is {:?}", self.kind)))?,
            added_at: time(&self.added_at)?,
            read_at: self.read_at.as_deref().map(time).transpose()?,
            location: self.location,
            problem: self.problem,
            id,
        })
    }
}

/// Returns all sources in the order of their locations.
pub(crate) async fn sources(library: &Library) -> Result<Vec<Source>> {
    let query = "SELECT * FROM memory_source ORDER BY location";
    let rows: Vec<SourceRow> = library.select(query, Object::default()).await?;
    rows.into_iter().map(SourceRow::parsed).collect()
}

/// Stores a source, replacing the one with its id.
pub(crate) async fn put_source(library: &Library, source: &Source) -> Result<()> {
    let row = object! {
        id: RecordId::new("memory_source", source.id.as_str()),
        kind: kind_name(source.kind).to_owned(),
        location: source.location.clone(),
        added_at: source.added_at.to_string(),
        read_at: source.read_at.map(|at| at.to_string()),
        problem: source.problem.clone(),
    };
    Ok(library.execute("UPSERT $row.id CONTENT $row RETURN NONE;", object! { row: row }).await?)
}

/// Removes a source with all that was read from it.
pub(crate) async fn remove_source(library: &Library, id: &str) -> Result<()> {
    let query = "BEGIN;
         DELETE type::record('memory_source', $id) RETURN NONE;
         DELETE memory_file WHERE source = $id RETURN NONE;
         DELETE memory_vector WHERE source = $id RETURN NONE;
         COMMIT;";
    Ok(library.execute(query, object! { id: id.to_owned() }).await?)
}

/// Returns all files of all sources.
pub(crate) async fn files(library: &Library) -> Result<Vec<StoredFile>> {
    let rows: Vec<FileRow> = library.select("SELECT * FROM memory_file", Object::default()).await?;
    rows.into_iter().map(FileRow::parsed).collect()
}

/// Returns the files with these ids; those that are gone are left out.
pub(crate) async fn files_by_id(library: &Library, ids: &[String]) -> Result<Vec<StoredFile>> {
    let ids: Vec<RecordId> = ids.iter().map(|id| RecordId::new("memory_file", id.as_str())).collect();
    let rows: Vec<FileRow> = library.select("SELECT * FROM $ids", object! { ids: ids }).await?;
    // Files may be large.
    in_background(move || rows.into_iter().map(FileRow::parsed).collect()).await
}

impl FileRow {
    fn parsed(self) -> Result<StoredFile> {
        let content = serde_json::from_str(&self.content).map_err(|error| unreadable(&self.path, &error))?;
        Ok(StoredFile {
            id: key(&self.id),
            source: self.source,
            path: self.path,
            hash: self.hash,
            title: self.title,
            problem: self.problem,
            content,
        })
    }
}

/// Stores files in one transaction, replacing those with their ids, and removes others.
pub(crate) async fn put_files(library: &Library, files: &[StoredFile], removed: &[String]) -> Result<()> {
    let row = |file: &StoredFile| -> Result<Object> {
        let content =
            serde_json::to_string(&file.content).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(object! {
            id: RecordId::new("memory_file", file.id.as_str()),
            source: file.source.clone(),
            path: file.path.clone(),
            hash: file.hash.clone(),
            title: file.title.clone(),
            problem: file.problem.clone(),
            content: content,
        })
    };
    let rows: Vec<Object> = files.iter().map(row).collect::<Result<_>>()?;
    let ids = |table: &str| -> Vec<RecordId> {
        removed.iter().map(|id| RecordId::new(table, id.as_str())).collect()
    };
    let query = "BEGIN;
         FOR $row IN $rows { UPSERT $row.id CONTENT $row RETURN NONE };
         DELETE $files RETURN NONE;
         DELETE $vectors RETURN NONE;
         COMMIT;";
    let variables = object! { rows: rows, files: ids("memory_file"), vectors: ids("memory_vector") };
    Ok(library.execute(query, variables).await?)
}

/// Returns the vectors that a model made.
pub(crate) async fn vectors(library: &Library, model: &str) -> Result<Vec<StoredVectors>> {
    let query = "SELECT file, hash, dim, data FROM memory_vector WHERE model = $model";
    let rows: Vec<VectorRow> = library.select(query, object! { model: model.to_owned() }).await?;
    rows.into_iter()
        .map(|row| {
            let dim = usize::try_from(row.dim).unwrap_or_default();
            let (numbers, rest) = row.data.as_chunks::<4>();
            if dim == 0 || !rest.is_empty() || !numbers.len().is_multiple_of(dim) {
                return Err(unreadable("a vector", &format!("{} bytes of {dim} numbers", row.data.len())));
            }
            let values = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            Ok(StoredVectors { file: row.file, hash: row.hash, dim, values })
        })
        .collect()
}

/// Stores the vectors that a model made of files, each with its source. A file has those of one model.
pub(crate) async fn put_vectors(
    library: &Library,
    model: &str,
    vectors: &[(String, StoredVectors)],
) -> Result<()> {
    let rows: Vec<Object> = vectors
        .iter()
        .map(|(source, vectors)| {
            let bytes: Vec<u8> = vectors.values.iter().flat_map(|value| value.to_le_bytes()).collect();
            object! {
                id: RecordId::new("memory_vector", vectors.file.as_str()),
                source: source.clone(),
                file: vectors.file.clone(),
                model: model.to_owned(),
                hash: vectors.hash.clone(),
                dim: vectors.dim as i64,
                data: Bytes::from(bytes),
            }
        })
        .collect();
    let query = "BEGIN; FOR $row IN $rows { UPSERT $row.id CONTENT $row RETURN NONE }; COMMIT;";
    Ok(library.execute(query, object! { rows: rows }).await?)
}
