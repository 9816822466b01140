//! The schema and its migrations.
//!
//! Each version is a script that runs once, in one transaction that also records the version. Before a store
//! with data is migrated, its folder is copied to `backups/`. A store with a newer schema is refused before
//! it is opened, by the version file next to it, and again by the version inside it.

use std::fs;
use std::path::{Path, PathBuf};

use autokit_toolcard::Timestamp;
use serde::{Deserialize, Serialize};
use surrealdb::Surreal;
use surrealdb::engine::local::Db;
use surrealdb::types::SurrealValue;

use crate::backup::file_stamp;
use crate::data_dir::DataDir;
use crate::error::{LibraryError, Result};
use crate::store_files::copy_tree;

/// The schema version this program writes.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// The migration scripts in order; the first creates version 1.
///
/// The schema has no vector index on purpose. Measured with SurrealDB 3.3.5 embedded, 16,000 × 384, k = 10,
/// on a 2-core machine: brute-force KNN takes 590 ms; HNSW takes 69–95 ms at the median and about 2 s at p95
/// with a filter (and filtered HNSW is reported to drop results, surrealdb/surrealdb#7423). Ranking happens
/// in memory instead; vectors are packed bytes.
const MIGRATIONS: &[&str] = &[
    CARDS,
    PAGES_AND_PROPOSALS,
    REVIEW_AND_HEALTH,
    IMPORTS,
    STAGING,
    AGENTS,
    COMMIT_LOG,
    VOCABULARY,
    MEMORY,
    REDO,
    SHARED,
];

/// The first schema version whose libraries store the head of the commit log in a file.
pub(crate) const WITH_HEAD: u32 = 7;

/// Version 1: cards, their history and vectors.
const CARDS: &str = "
    DEFINE TABLE card SCHEMAFULL;
    DEFINE FIELD provider ON card TYPE string;
    DEFINE FIELD name ON card TYPE string;
    DEFINE FIELD number ON card TYPE int;
    DEFINE FIELD body ON card TYPE string;
    DEFINE FIELD created_at ON card TYPE string;
    DEFINE FIELD updated_at ON card TYPE string;
    DEFINE INDEX card_key ON card FIELDS provider, name UNIQUE;

    DEFINE TABLE tombstone SCHEMAFULL;
    DEFINE FIELD number ON tombstone TYPE int;
    DEFINE FIELD created_at ON tombstone TYPE string;

    DEFINE TABLE revision SCHEMAFULL;
    DEFINE FIELD card ON revision TYPE string;
    DEFINE FIELD number ON revision TYPE int;
    DEFINE FIELD change ON revision TYPE string;
    DEFINE FIELD operation ON revision TYPE string;
    DEFINE FIELD author ON revision TYPE string;
    DEFINE FIELD reason ON revision TYPE string;
    DEFINE FIELD at ON revision TYPE string;
    DEFINE FIELD body ON revision TYPE option<string>;
    DEFINE INDEX revision_of_card ON revision FIELDS card, number UNIQUE;
    DEFINE INDEX revision_of_change ON revision FIELDS change;

    DEFINE TABLE change SCHEMAFULL;
    DEFINE FIELD operation ON change TYPE string;
    DEFINE FIELD reason ON change TYPE string;
    DEFINE FIELD undone ON change TYPE bool;

    DEFINE TABLE vector SCHEMAFULL;
    DEFINE FIELD card ON vector TYPE string;
    DEFINE FIELD model ON vector TYPE string;
    DEFINE FIELD number ON vector TYPE int;
    DEFINE FIELD dim ON vector TYPE int;
    DEFINE FIELD data ON vector TYPE bytes;

    DEFINE TABLE request SCHEMAFULL;
    DEFINE FIELD outcome ON request TYPE string;
    DEFINE FIELD at ON request TYPE string;

    DEFINE TABLE setting SCHEMAFULL;
    DEFINE FIELD value ON setting TYPE string;
";

/// Version 2: documentation pages of cards, proposals, feedback on answers, past ask sessions.
const PAGES_AND_PROPOSALS: &str = "
    DEFINE TABLE page SCHEMAFULL;
    DEFINE FIELD url ON page TYPE string;
    DEFINE FIELD found ON page TYPE string;
    DEFINE FIELD title ON page TYPE string;
    DEFINE FIELD hash ON page TYPE string;
    DEFINE FIELD etag ON page TYPE option<string>;
    DEFINE FIELD last_modified ON page TYPE option<string>;
    DEFINE FIELD fetched_at ON page TYPE string;
    DEFINE FIELD failed ON page TYPE option<string>;
    DEFINE FIELD chunks ON page TYPE string;

    DEFINE TABLE page_vector SCHEMAFULL;
    DEFINE FIELD card ON page_vector TYPE string;
    DEFINE FIELD model ON page_vector TYPE string;
    DEFINE FIELD hash ON page_vector TYPE string;
    DEFINE FIELD dim ON page_vector TYPE int;
    DEFINE FIELD data ON page_vector TYPE bytes;

    DEFINE TABLE proposal SCHEMAFULL;
    DEFINE FIELD draft ON proposal TYPE string;
    DEFINE FIELD proposed_by ON proposal TYPE string;
    DEFINE FIELD created_at ON proposal TYPE string;
    DEFINE FIELD state ON proposal TYPE string;
    DEFINE FIELD decided_at ON proposal TYPE option<string>;
    DEFINE FIELD decided_by ON proposal TYPE option<string>;
    DEFINE FIELD decision ON proposal TYPE option<string>;
    DEFINE FIELD accepted ON proposal TYPE array<string>;
    DEFINE FIELD change ON proposal TYPE option<string>;
    DEFINE INDEX proposal_state ON proposal FIELDS state;
    DEFINE INDEX proposal_change ON proposal FIELDS change;

    DEFINE TABLE proposal_event SCHEMAFULL;
    DEFINE FIELD proposal ON proposal_event TYPE int;
    DEFINE FIELD at ON proposal_event TYPE string;
    DEFINE FIELD by ON proposal_event TYPE string;
    DEFINE FIELD what ON proposal_event TYPE string;
    DEFINE FIELD why ON proposal_event TYPE string;
    DEFINE INDEX event_of_proposal ON proposal_event FIELDS proposal;

    DEFINE TABLE feedback SCHEMAFULL;
    DEFINE FIELD at ON feedback TYPE string;
    DEFINE FIELD profile ON feedback TYPE string;
    DEFINE FIELD question ON feedback TYPE string;
    DEFINE FIELD card ON feedback TYPE string;
    DEFINE FIELD helpful ON feedback TYPE bool;
    DEFINE FIELD said ON feedback TYPE string;

    DEFINE TABLE session SCHEMAFULL;
    DEFINE FIELD at ON session TYPE string;
    DEFINE FIELD question ON session TYPE string;
    DEFINE FIELD body ON session TYPE string;
";

/// Version 3: reviewers' decisions per field, rejections, health of cards.
const REVIEW_AND_HEALTH: &str = "
    DEFINE FIELD review ON proposal TYPE option<string>;

    DEFINE TABLE rejection SCHEMAFULL;
    DEFINE FIELD proposal ON rejection TYPE int;
    DEFINE FIELD subject ON rejection TYPE string;
    DEFINE FIELD field ON rejection TYPE string;
    DEFINE FIELD value ON rejection TYPE option<string>;
    DEFINE FIELD basis ON rejection TYPE option<string>;
    DEFINE FIELD by ON rejection TYPE string;
    DEFINE FIELD at ON rejection TYPE string;
    DEFINE INDEX rejection_of_proposal ON rejection FIELDS proposal;

    DEFINE TABLE verification SCHEMAFULL;
    DEFINE FIELD state ON verification TYPE string;
    DEFINE FIELD checked_at ON verification TYPE string;
    DEFINE FIELD attempts ON verification TYPE int;
    DEFINE FIELD next_at ON verification TYPE option<string>;
    DEFINE FIELD report ON verification TYPE string;

    DEFINE TABLE health SCHEMAFULL;
    DEFINE FIELD verified ON health TYPE int;
    DEFINE FIELD stale ON health TYPE int;
    DEFINE FIELD broken ON health TYPE int;
    DEFINE FIELD unreachable ON health TYPE int;
    DEFINE FIELD never_checked ON health TYPE int;
";

/// Version 4: imports from other libraries, and the revision each check was made on.
const IMPORTS: &str = "
    DEFINE FIELD uid ON revision TYPE option<string>;
    DEFINE FIELD merged ON revision TYPE option<array<string>>;

    DEFINE TABLE foreign SCHEMAFULL;
    DEFINE FIELD card ON foreign TYPE string;
    DEFINE FIELD import ON foreign TYPE string;
    DEFINE FIELD body ON foreign TYPE string;
    DEFINE FIELD before ON foreign TYPE array<string>;
    DEFINE INDEX foreign_of_import ON foreign FIELDS import;

    DEFINE TABLE provenance SCHEMAFULL;
    DEFINE FIELD told ON provenance TYPE string;

    DEFINE TABLE import SCHEMAFULL;
    DEFINE FIELD note ON import TYPE string;
    DEFINE FIELD undone ON import TYPE bool;
    DEFINE FIELD part_of ON change TYPE option<string>;
    DEFINE INDEX change_part_of ON change FIELDS part_of;
    DEFINE FIELD import ON proposal TYPE option<string>;
    DEFINE INDEX proposal_import ON proposal FIELDS import;

    DEFINE TABLE staging SCHEMAFULL;
    DEFINE FIELD change ON staging TYPE string;

    DEFINE FIELD revision ON verification TYPE option<int>;
";

/// Version 5: the redo log for large changes.
const STAGING: &str = "
    DEFINE TABLE redo SCHEMALESS;
    DEFINE TABLE redo_whole SCHEMAFULL;
";

/// Version 6: agent activity and resumable agent sessions.
const AGENTS: &str = "
    DEFINE TABLE agent SCHEMAFULL;
    DEFINE FIELD used ON agent TYPE string;
    DEFINE FIELD record ON agent TYPE string;
    DEFINE INDEX agent_used ON agent FIELDS used;

    DEFINE TABLE activity SCHEMAFULL;
    DEFINE FIELD at ON activity TYPE string;
    DEFINE FIELD done ON activity TYPE string;
    DEFINE INDEX activity_at ON activity FIELDS at;
";

/// Version 7: the commit log, chained by hash.
const COMMIT_LOG: &str = "
    DEFINE TABLE commit_log SCHEMAFULL;
    DEFINE FIELD prev ON commit_log TYPE string;
    DEFINE FIELD hash ON commit_log TYPE string;
    DEFINE FIELD at ON commit_log TYPE string;
    DEFINE FIELD reason ON commit_log TYPE string;
    DEFINE FIELD cards ON commit_log TYPE int;
    DEFINE FIELD rows ON commit_log TYPE string;
";

/// Version 8: names and synonyms that people add, and which of them vectors were made with.
const VOCABULARY: &str = "
    DEFINE TABLE vocabulary SCHEMAFULL;
    DEFINE FIELD kind ON vocabulary TYPE string;
    DEFINE FIELD text ON vocabulary TYPE string;
    DEFINE FIELD bundle ON vocabulary TYPE option<string>;
    DEFINE FIELD added_by ON vocabulary TYPE string;
    DEFINE FIELD added_at ON vocabulary TYPE string;
    DEFINE FIELD names ON vector TYPE option<string>;
";

/// Version 9: documents and code that people add, as last read, and the vectors of their passages.
const MEMORY: &str = "
    DEFINE TABLE memory_source SCHEMAFULL;
    DEFINE FIELD kind ON memory_source TYPE string;
    DEFINE FIELD location ON memory_source TYPE string;
    DEFINE FIELD added_at ON memory_source TYPE string;
    DEFINE FIELD read_at ON memory_source TYPE option<string>;
    DEFINE FIELD problem ON memory_source TYPE option<string>;

    DEFINE TABLE memory_file SCHEMAFULL;
    DEFINE FIELD source ON memory_file TYPE string;
    DEFINE FIELD path ON memory_file TYPE string;
    DEFINE FIELD hash ON memory_file TYPE string;
    DEFINE FIELD title ON memory_file TYPE string;
    DEFINE FIELD problem ON memory_file TYPE option<string>;
    DEFINE FIELD content ON memory_file TYPE string;
    DEFINE INDEX memory_file_source ON memory_file FIELDS source;

    DEFINE TABLE memory_vector SCHEMAFULL;
    DEFINE FIELD source ON memory_vector TYPE string;
    DEFINE FIELD file ON memory_vector TYPE string;
    DEFINE FIELD model ON memory_vector TYPE string;
    DEFINE FIELD hash ON memory_vector TYPE string;
    DEFINE FIELD dim ON memory_vector TYPE int;
    DEFINE FIELD data ON memory_vector TYPE bytes;
    DEFINE INDEX memory_vector_source ON memory_vector FIELDS source;
";

/// Version 10: what an undo is about, so that it can be undone in turn. `target` is the change that an undo or a redo is
/// about, and `decisions` are those on proposals that an undo took back, as JSON.
const REDO: &str = "
    DEFINE FIELD target ON change TYPE option<string>;
    DEFINE FIELD decisions ON change TYPE option<string>;
";

/// Version 11: what a replica of a team's library knows of it.
const SHARED: &str = "
    DEFINE TABLE shared SCHEMAFULL;
    DEFINE FIELD key ON shared TYPE string;
    DEFINE FIELD number ON shared TYPE int;
    DEFINE FIELD local ON shared TYPE int;
    DEFINE INDEX shared_key ON shared FIELDS key UNIQUE;

    DEFINE TABLE sync SCHEMAFULL;
    DEFINE FIELD position ON sync TYPE string;
";

#[derive(Serialize, Deserialize)]
struct SchemaFile {
    schema: u32,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct VersionRow {
    version: i64,
}

/// Reads the version file; a directory without one is new.
pub(crate) fn version_on_disk(dir: &DataDir) -> Result<Option<u32>> {
    let path = dir.schema_file();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(LibraryError::Damaged {
                path: dir.root().to_owned(),
                reason: format!("schema.json: {error}"),
            });
        }
    };
    let file: SchemaFile = serde_json::from_str(&text).map_err(|error| LibraryError::Damaged {
        path: dir.root().to_owned(),
        reason: format!("schema.json does not contain a version: {error}"),
    })?;
    refuse_newer(dir.root(), file.schema)?;
    Ok(Some(file.schema))
}

pub(crate) fn refuse_newer(path: &Path, found: u32) -> Result<()> {
    if found > SCHEMA_VERSION {
        return Err(LibraryError::NewerSchema { path: path.to_owned(), found, known: SCHEMA_VERSION });
    }
    Ok(())
}

/// Backs up the closed store if opening it will migrate it. Returns the folder of the copy.
pub(crate) fn back_up_before_migration(
    dir: &DataDir,
    on_disk: Option<u32>,
    now: Timestamp,
) -> Result<Option<PathBuf>> {
    let Some(version) = on_disk.filter(|version| *version < SCHEMA_VERSION) else { return Ok(None) };
    let name = format!("schema-{version}-{}", file_stamp(now));
    let target = dir.backups().join(&name);
    let partial = dir.backups().join(format!("{name}.partial"));
    copy_tree(&dir.store(), &partial.join("store"))
        .and_then(|()| fs::copy(dir.schema_file(), partial.join("schema.json")).map(drop))
        .and_then(|()| fs::rename(&partial, &target))
        .map_err(|error| LibraryError::io(dir.root(), error))?;
    Ok(Some(target))
}

/// Runs the migrations the store has not seen.
pub(crate) async fn migrate(db: &Surreal<Db>, path: &Path) -> Result<()> {
    migrate_to(db, path, MIGRATIONS.len()).await
}

pub(crate) async fn migrate_to(db: &Surreal<Db>, path: &Path, newest: usize) -> Result<()> {
    let failed = |error: surrealdb::Error| LibraryError::database(Some(path), &error);
    let found: Option<VersionRow> = db
        .query("SELECT version FROM ONLY schema_version:current")
        .await
        .and_then(|mut response| response.take(0))
        // Selecting from an undefined table is an error; here it means version 0.
        .unwrap_or(None);
    let found = found.map_or(0, |row| row.version as u32);
    refuse_newer(path, found)?;
    for (index, script) in MIGRATIONS.iter().enumerate().take(newest).skip(found as usize) {
        let version = index as i64 + 1;
        tracing::info!(version, "migrating the library");
        db.query(format!(
            "BEGIN;
             DEFINE TABLE IF NOT EXISTS schema_version SCHEMAFULL;
             DEFINE FIELD IF NOT EXISTS version ON schema_version TYPE int;
             {script}
             UPSERT schema_version:current SET version = $version RETURN NONE;
             COMMIT;"
        ))
        .bind(("version", version))
        .await
        .and_then(surrealdb::IndexedResults::check)
        .map_err(failed)?;
    }
    Ok(())
}

/// Writes the version file next to the store once the store is open.
pub(crate) fn write_version(dir: &DataDir) -> Result<()> {
    write_version_of(dir, SCHEMA_VERSION)
}

pub(crate) fn write_version_of(dir: &DataDir, schema: u32) -> Result<()> {
    let text = serde_json::json!({ "schema": schema }).to_string();
    if fs::read_to_string(dir.schema_file()).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let partial = dir.root().join("schema.json.partial");
    fs::write(&partial, text)
        .and_then(|()| fs::rename(&partial, dir.schema_file()))
        .map_err(|error| LibraryError::io(dir.root(), error))
}

#[cfg(test)]
mod tests {
    use autokit_toolcard::{Clock, Draft, Origin, ProposalId, ProposalState};

    use super::*;
    use crate::database::connect;
    use crate::store::{Library, Storage};

    /// Creates a store of schema version 2 with a pending and a rejected proposal.
    async fn of_version_2(dir: &DataDir) {
        fs::create_dir_all(dir.store()).expect("a folder");
        let address = format!("surrealkv://{}", dir.store().display());
        let instance = connect(&address).await.expect("opens");
        let db = instance.db();
        migrate_to(db, dir.root(), 2).await.expect("migrated");
        let draft = serde_json::to_string(&Draft::new(Origin::Discovery, "r", Vec::new())).expect("JSON");
        db.query(
            "CREATE type::record('proposal', '0000000001') CONTENT { draft: $draft, proposed_by: 'a', created_at: $at,
                state: 'pending', accepted: [] };
             CREATE type::record('proposal', '0000000002') CONTENT { draft: $draft, proposed_by: 'a', created_at: $at,
                state: 'rejected', accepted: [], decided_at: $at, decided_by: 'b', decision: 'no' };
             CREATE proposal_event CONTENT { proposal: 1, at: $at, by: 'a', what: 'proposed', why: 'r' };",
        )
        .bind(("draft", draft))
        .bind(("at", "2026-01-01T08:00:00.000Z".to_owned()))
        .await
        .and_then(surrealdb::IndexedResults::check)
        .expect("written");
        instance.close().await.expect("closed");
        fs::write(dir.schema_file(), r#"{"schema":2}"#).expect("written");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_library_of_version_2_keeps_its_proposals() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = DataDir::new(folder.path());
        of_version_2(&dir).await;
        let owned = dir.try_own().expect("free");
        let library = Library::open(Storage::Disk(owned), Clock::system()).await.expect("opens");
        assert!(library.migrated_from().is_some(), "it was backed up");
        let states: Vec<_> =
            library.proposals(None).await.expect("read").iter().map(|p| (p.id, p.state)).collect();
        assert_eq!(
            states,
            [(ProposalId::new(1), ProposalState::Pending), (ProposalId::new(2), ProposalState::Rejected)]
        );
        assert_eq!(library.proposal_events(ProposalId::new(1)).await.expect("read").len(), 1);
        assert!(library.health_trend(7).await.expect("read").is_empty());
        library.close().await.expect("closed");
    }
}
