//! Backups: everything that cannot be rebuilt, in one file that can be checked without a database.
//!
//! ```text
//! {"format":"autokit-backup","version":1,"schema":7,"created_at":…,"commit":…,"hash":…,"cards":…}
//! {"table":"card","key":…,"row":{…}}          one line a row, table after table
//! {"rows":…,"sha256":…}                       of all bytes before this line
//! ```
//!
//! The file is compressed with gzip. Vectors are left out: they are rebuilt from the cards. A backup is
//! complete or does not exist: it is written under a temporary name, read back, loaded into an in-memory
//! database and verified like any library before it gets its final name.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use autokit_store::{DataDir, Database};
use autokit_toolcard::{Clock, Timestamp};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use surrealdb::Surreal;
use surrealdb::engine::local::Db;
use surrealdb::types::{Array, Number, Object, RecordId, RecordIdKey, Value};

use crate::error::{LibraryError, Result};
use crate::migrate;
use crate::problems::{Problem, Verified};
use crate::rows::key_text;
use crate::snapshot::Snapshot;
use crate::store::Library;

/// Tables included in a backup.
const BACKED_UP: [&str; 26] = [
    "commit_log",
    "revision",
    "card",
    "tombstone",
    "change",
    "proposal",
    "proposal_event",
    "rejection",
    "import",
    "foreign",
    "provenance",
    "request",
    "setting",
    "page",
    "feedback",
    "session",
    "verification",
    "health",
    "agent",
    "activity",
    "vocabulary",
    "memory_source",
    "shared",
    "shared_proposal",
    "sync",
    "schema_version",
];
/// Tables that are rebuilt, or that are empty between changes.
#[cfg(test)]
const LEFT_OUT: [&str; 7] =
    ["vector", "page_vector", "redo", "redo_whole", "staging", "memory_file", "memory_vector"];
/// How many backups are kept.
const RETAINED: usize = 7;
/// File name suffix of a backup.
const SUFFIX: &str = ".autokit-backup";
const FORMAT: &str = "autokit-backup";
const VERSION: u32 = 1;
/// Most bytes read for a backup's first line.
const LONGEST_HEADER: u64 = 64 << 10;
/// Most bytes of any line; a card with its provenance is far shorter.
const LONGEST_LINE: u64 = 64 << 20;
/// Rows inserted at a time when loading a backup.
const BATCH: usize = 500;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    format: String,
    version: u32,
    pub(crate) schema: u32,
    created_at: Timestamp,
    pub(crate) commit: u64,
    pub(crate) hash: String,
    pub(crate) cards: u64,
}

#[derive(Serialize, Deserialize)]
struct Row {
    table: String,
    key: String,
    #[serde(rename = "row")]
    columns: serde_json::Map<String, Json>,
}

#[derive(Serialize, Deserialize)]
struct Footer {
    rows: u64,
    sha256: String,
}

/// An existing backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// Its name, which verifying and restoring take.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Number of cards in it.
    pub cards: u64,
    /// Number of the newest commit in it.
    pub commit: u64,
    /// Its size on disk, in bytes.
    pub bytes: u64,
}

/// Lists the backups in a data directory, newest first. Files that cannot be read as backups are skipped.
pub fn list_backups(dir: &DataDir) -> Vec<Backup> {
    let entries = fs::read_dir(dir.backups()).into_iter().flatten().flatten();
    let mut found: Vec<Backup> = entries.filter_map(|entry| describe(&entry.path())).collect();
    found.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| b.name.cmp(&a.name)));
    found
}

/// Returns the file of a backup. It is looked up by name rather than in the list, which skips a file whose
/// beginning is damaged: that one is reported as damaged, not as missing.
pub(crate) fn backup_file(dir: &DataDir, name: &str) -> Result<PathBuf> {
    let folder = dir.backups();
    let file = folder.join(format!("{name}{SUFFIX}"));
    // A name from the command line must not lead out of the folder, and a pipe would block.
    let inside = file.parent() == Some(folder.as_path()) && !name.contains('\\');
    if inside && file.is_file() {
        return Ok(file);
    }
    Err(LibraryError::NoBackup { name: name.to_owned(), folder })
}

/// Verifies a backup: reads it, loads it into an in-memory database and verifies that library.
///
/// # Errors
/// [`LibraryError::NoBackup`]; [`LibraryError::BadBackup`] when the file is damaged.
pub async fn verify_backup(dir: &DataDir, name: &str, clock: Clock) -> Result<Verified> {
    verify_file(&backup_file(dir, name)?, clock).await
}

/// Loads a backup into memory, as a library to look at.
///
/// # Errors
/// As [`verify_backup`].
pub async fn open_backup(dir: &DataDir, name: &str, clock: Clock) -> Result<(Backup, Library)> {
    let file = backup_file(dir, name)?;
    let (_, library) = open_file(&file, clock).await?;
    let backup = describe(&file).ok_or_else(|| bad_backup(&file, "it cannot be read"))?;
    Ok((backup, library))
}

impl Library {
    /// Makes a backup and verifies it, then removes the oldest of those made here beyond seven. Changes made
    /// in the meantime are not blocked and are not part of the backup.
    ///
    /// # Errors
    /// [`LibraryError::Incomplete`] when the library does not match what was acknowledged; existing backups
    /// are then left alone. Also any I/O error that keeps the file from being written.
    pub async fn back_up(&self) -> Result<Backup> {
        let Some(dir) = self.dir() else {
            return Err(LibraryError::Invalid("a library in memory cannot be backed up".to_owned()));
        };
        let incomplete = |problem: &Problem| LibraryError::Incomplete { problem: problem.to_string() };
        // A week of backups of a damaged library would push out the intact ones.
        if let Some(problem) = self.known_problems().first() {
            return Err(incomplete(problem));
        }
        let failed = |error| LibraryError::io(dir.root(), error);
        fs::create_dir_all(dir.backups()).map_err(failed)?;
        remove_partial(&dir.backups());
        let created_at = self.clock.stamp();
        let name = file_stamp(created_at);
        let partial = dir.backups().join(format!("{name}.partial"));
        let written = async {
            let snapshot = {
                let _guard = self.writer.lock().await;
                self.recover_state().await?;
                self.snapshot().await?
            };
            let outcome = write_backup(&snapshot, &partial, created_at).await;
            snapshot.end().await;
            outcome?;
            let verified = verify_file(&partial, self.clock.clone()).await?;
            if let Some(problem) = verified.problems.first() {
                return Err(incomplete(problem));
            }
            let file = dir.backups().join(format!("{name}{SUFFIX}"));
            fs::rename(&partial, &file).map_err(failed)?;
            describe(&file).ok_or_else(|| bad_backup(&file, "it cannot be read back"))
        };
        let backup = match written.await {
            Ok(backup) => backup,
            Err(error) => {
                if let Err(cleanup) = fs::remove_file(&partial)
                    && cleanup.kind() != io::ErrorKind::NotFound
                {
                    tracing::warn!(error = %cleanup, "failed to remove an unfinished backup");
                }
                return Err(error);
            }
        };
        // Backups a person copied here, and those dated in the future by a wrong clock, are neither counted
        // nor removed.
        let now = self.clock.stamp();
        let made_here = |old: &Backup| old.name == file_stamp(old.created_at) && old.created_at <= now;
        for old in list_backups(dir).into_iter().filter(made_here).skip(RETAINED) {
            fs::remove_file(dir.backups().join(format!("{}{SUFFIX}", old.name))).map_err(failed)?;
        }
        Ok(backup)
    }

    /// Returns the newest backup, ignoring any dated in the future by a wrong clock.
    pub fn newest_backup(&self) -> Option<Backup> {
        let now = self.clock.stamp();
        list_backups(self.dir()?).into_iter().find(|backup| backup.created_at <= now)
    }

    /// Returns the number of the last commit; 0 before the first.
    pub fn last_commit(&self) -> u64 {
        self.tip.lock().expect("no holder panics").as_ref().map_or(0, |tip| tip.seq)
    }
}

async fn write_backup(snapshot: &Snapshot<'_>, path: &Path, created_at: Timestamp) -> Result<()> {
    let failed = |error| LibraryError::io(path, error);
    let newest = snapshot.newest_commit().await?;
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        schema: migrate::SCHEMA_VERSION,
        created_at,
        commit: newest.seq,
        hash: newest.hash,
        cards: newest.cards,
    };
    let file = File::create(path).map_err(failed)?;
    let mut out =
        Lines { out: GzEncoder::new(BufWriter::new(file), Compression::fast()), hasher: Sha256::new() };
    out.write(&header).map_err(failed)?;
    let mut rows = 0;
    for table in BACKED_UP {
        let mut outcome = Ok(());
        let each = |row: &Object| {
            if outcome.is_ok() {
                outcome = to_line(table, row)
                    .ok_or_else(|| bad_backup(path, &format!("a row of {table} cannot be written down")))
                    .and_then(|line| out.write(&line).map_err(failed));
                rows += 1;
            }
        };
        snapshot.each_row(table, each).await?;
        outcome?;
    }
    let footer = Footer { rows, sha256: hex::encode(out.hasher.clone().finalize()) };
    out.write(&footer).map_err(failed)?;
    let mut file = out.out.finish().map_err(failed)?;
    file.flush().and_then(|()| file.get_ref().sync_all()).map_err(failed)
}

/// Writes JSON lines and hashes them.
struct Lines<W: Write> {
    out: W,
    hasher: Sha256,
}

impl<W: Write> Lines<W> {
    fn write(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.hasher.update(&bytes);
        self.out.write_all(&bytes)
    }
}

fn bad_backup(path: &Path, reason: &str) -> LibraryError {
    LibraryError::BadBackup { path: path.to_owned(), reason: reason.to_owned() }
}

/// Removes the partial files of interrupted backups.
fn remove_partial(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "partial")) {
        if let Err(error) = fs::remove_file(entry.path()) {
            tracing::warn!(%error, "failed to remove an unfinished backup");
        }
    }
}

/// Formats a time for use in a file name.
pub(crate) fn file_stamp(at: Timestamp) -> String {
    at.to_string().replace(':', "-")
}

pub(crate) fn describe(file: &Path) -> Option<Backup> {
    let name = file.file_name()?.to_str()?.strip_suffix(SUFFIX)?.to_owned();
    // The folder may contain anything: a pipe would block, and an endless line would exhaust memory.
    let metadata = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let mut line = String::new();
    let start = MultiGzDecoder::new(File::open(file).ok()?).take(LONGEST_HEADER);
    BufReader::new(start).read_line(&mut line).ok()?;
    let header: Header = serde_json::from_str(&line).ok()?;
    (header.format == FORMAT).then_some(())?;
    (!name.chars().any(char::is_control)).then_some(())?;
    let Header { created_at, cards, commit, .. } = header;
    Some(Backup { name, created_at, cards, commit, bytes: metadata.len() })
}

async fn open_file(file: &Path, clock: Clock) -> Result<(Header, Library)> {
    let database = Database::in_memory().await?;
    let header = load(file, database.ready(|| ()).await?.db()).await?;
    Ok((header, Library::from_database(database, clock).await?))
}

pub(crate) async fn verify_file(file: &Path, clock: Clock) -> Result<Verified> {
    let (header, library) = open_file(file, clock).await?;
    let mut verified = library.verify().await?;
    let tip = library.newest_commit().await?;
    if tip.map_or((0, String::new()), |record| (record.seq(), record.hash)) != (header.commit, header.hash) {
        verified.add(Problem::LogBroken { commit: header.commit });
    }
    library.close().await?;
    Ok(verified)
}

/// Loads a backup into an empty database, which is first migrated to the backup's schema.
///
/// # Errors
/// [`LibraryError::BadBackup`] when the file is not as it was written; [`LibraryError::NewerSchema`].
pub(crate) async fn load(file: &Path, db: &Surreal<Db>) -> Result<Header> {
    let unreadable = |error: &dyn std::fmt::Display| bad_backup(file, &error.to_string());
    let reader = File::open(file).map_err(|error| unreadable(&error))?;
    let mut lines = BufReader::new(MultiGzDecoder::new(BufReader::new(reader)));
    let mut hasher = Sha256::new();
    let mut next = |hasher: &mut Sha256| -> Result<Option<(String, String)>> {
        let before = hex::encode(hasher.clone().finalize());
        let mut line = String::new();
        let read =
            (&mut lines).take(LONGEST_LINE).read_line(&mut line).map_err(|error| unreadable(&error))?;
        if read as u64 == LONGEST_LINE {
            return Err(unreadable(&"one of its lines is too long"));
        }
        hasher.update(&line);
        Ok((read > 0).then_some((line, before)))
    };
    let first = next(&mut hasher)?.ok_or_else(|| unreadable(&"it is empty"))?.0;
    let header: Header = serde_json::from_str(&first).map_err(|error| unreadable(&error))?;
    if header.format != FORMAT || header.version != VERSION {
        return Err(unreadable(&"this version does not support its format"));
    }
    migrate::refuse_newer(file, header.schema)?;
    migrate::migrate_to(db, file, header.schema as usize).await?;
    let (mut rows, mut batch, mut table) = (0_u64, Vec::new(), String::new());
    loop {
        let Some((line, hash)) = next(&mut hasher)? else {
            return Err(unreadable(&"it is truncated"));
        };
        if let Ok(row) = serde_json::from_str::<Row>(&line) {
            if row.table != table || batch.len() >= BATCH {
                insert(db, &table, std::mem::take(&mut batch)).await.map_err(|error| unreadable(&error))?;
                table.clone_from(&row.table);
            }
            if !BACKED_UP.contains(&row.table.as_str()) {
                return Err(unreadable(&format!("it contains the unknown table {:?}", row.table)));
            }
            rows += 1;
            batch.push(from_line(row));
            continue;
        }
        let footer: Footer = serde_json::from_str(&line).map_err(|error| unreadable(&error))?;
        if footer.rows != rows || footer.sha256 != hash {
            return Err(unreadable(&"its checksum does not match"));
        }
        insert(db, &table, batch).await.map_err(|error| unreadable(&error))?;
        return Ok(header);
    }
}

async fn insert(
    db: &Surreal<Db>,
    table: &str,
    rows: Vec<Object>,
) -> std::result::Result<(), surrealdb::Error> {
    if rows.is_empty() {
        return Ok(());
    }
    // The migration has already written the version row.
    let verb = if table == "schema_version" { "INSERT IGNORE" } else { "INSERT" };
    let query = format!("{verb} INTO {table} $rows RETURN NONE");
    db.query(query).bind(("rows", rows)).await?.check()?;
    Ok(())
}

/// Converts a row to a line; `None` for a value type that none of our tables uses.
fn to_line(table: &str, row: &Object) -> Option<Row> {
    let mut columns = serde_json::Map::new();
    let mut key = None;
    for (name, value) in row {
        match value {
            Value::RecordId(id) if name == "id" => key = Some(key_text(id)),
            Value::None | Value::Null => {}
            value => {
                columns.insert(name.clone(), to_json(value)?);
            }
        }
    }
    Some(Row { table: table.to_owned(), key: key?, columns })
}

fn to_json(value: &Value) -> Option<Json> {
    Some(match value {
        Value::Bool(bool) => Json::from(*bool),
        Value::Number(Number::Int(number)) => Json::from(*number),
        Value::String(text) => Json::from(text.as_str()),
        Value::Array(values) => Json::Array(values.iter().map(to_json).collect::<Option<_>>()?),
        _ => return None,
    })
}

fn from_line(row: Row) -> Object {
    let mut columns = Object::new();
    columns.insert("id", Value::RecordId(RecordId::new(row.table, RecordIdKey::from(row.key))));
    for (name, value) in row.columns {
        columns.insert(name, from_json(value));
    }
    columns
}

fn from_json(value: Json) -> Value {
    match value {
        Json::Bool(bool) => Value::Bool(bool),
        Json::Number(number) => Value::Number(Number::Int(number.as_i64().unwrap_or_default())),
        Json::String(text) => Value::String(text),
        Json::Array(values) => {
            Value::Array(Array::from(values.into_iter().map(from_json).collect::<Vec<_>>()))
        }
        Json::Null | Json::Object(_) => Value::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Storage;

    #[tokio::test(flavor = "multi_thread")]
    async fn every_table_is_either_backed_up_or_deliberately_left_out() {
        let library = Library::open(Storage::Memory, Clock::system()).await.expect("opens");
        let mut response = library.db().await.expect("open").query("INFO FOR DB").await.expect("answers");
        let info: Option<Value> = response.take(0).expect("read");
        let Some(Value::Object(info)) = info else { panic!("no object") };
        let Some(Value::Object(tables)) = info.get("tables") else { panic!("no tables") };
        let mut known: Vec<&str> = BACKED_UP.into_iter().chain(LEFT_OUT).collect();
        known.sort_unstable();
        assert_eq!(tables.keys().map(String::as_str).collect::<Vec<_>>(), known);
    }
}
