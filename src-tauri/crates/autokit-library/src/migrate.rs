//! The schema and its migrations.
//!
//! Each version is a script that runs once, in one transaction that also records the version. Before a store
//! with data is migrated, its folder is copied to `backups/`. A store with a newer schema is refused before
//! it is opened, by the version file next to it, and again by the version inside it.

use std::fs;
use std::path::{Path, PathBuf};

use autokit_store::{DataDir, StoreError, copy_tree};
use autokit_toolcard::Timestamp;
use serde::{Deserialize, Serialize};
use surrealdb::Surreal;
use surrealdb::engine::local::Db;
use surrealdb::types::SurrealValue;

use crate::backup::file_stamp;
use crate::error::{LibraryError, Result};

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
    SHARED_PROPOSALS,
    VISIBILITY,
];

/// The first schema version whose libraries store the head of the commit log in a file.
pub(crate) const WITH_HEAD: u32 = 7;

/// Version 1: cards, their history and vectors.
const CARDS: &str = include_str!("schema/01_cards.surql");

/// Version 2: documentation pages of cards, proposals, feedback on answers, past ask sessions.
const PAGES_AND_PROPOSALS: &str = include_str!("schema/02_pages_and_proposals.surql");

/// Version 3: reviewers' decisions per field, rejections, health of cards.
const REVIEW_AND_HEALTH: &str = include_str!("schema/03_review_and_health.surql");

/// Version 4: imports from other libraries, and the revision each check was made on.
const IMPORTS: &str = include_str!("schema/04_imports.surql");

/// Version 5: the redo log for large changes.
const STAGING: &str = include_str!("schema/05_staging.surql");

/// Version 6: agent activity and resumable agent sessions.
const AGENTS: &str = include_str!("schema/06_agents.surql");

/// Version 7: the commit log, chained by hash.
const COMMIT_LOG: &str = include_str!("schema/07_commit_log.surql");

/// Version 8: names and synonyms that people add, and which of them vectors were made with.
const VOCABULARY: &str = include_str!("schema/08_vocabulary.surql");

/// Version 9: documents and code that people add, as last read, and the vectors of their passages.
const MEMORY: &str = include_str!("schema/09_memory.surql");

/// Version 10: what an undo is about, so that it can be undone in turn. `target` is the change that an undo or a redo is
/// about, and `decisions` are those on proposals that an undo took back, as JSON.
const REDO: &str = include_str!("schema/10_redo.surql");

/// Version 11: what a replica of a team's library knows of it.
const SHARED: &str = include_str!("schema/11_shared.surql");

/// Version 12: which proposals of a replica are which in the team's library.
const SHARED_PROPOSALS: &str = include_str!("schema/12_shared_proposals.surql");

/// Version 13: who sees the cards of a team's library.
const VISIBILITY: &str = include_str!("schema/13_visibility.surql");

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
    let damaged = |reason| StoreError::Damaged { path: dir.root().to_owned(), reason };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(damaged(format!("schema.json: {error}")).into());
        }
    };
    let file: SchemaFile = serde_json::from_str(&text)
        .map_err(|error| damaged(format!("schema.json does not contain a version: {error}")))?;
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
    use crate::store::{Library, Storage};
    use autokit_store::connect;

    /// Creates a store of schema version 2 with a pending and a rejected proposal.
    async fn of_version_2(dir: &DataDir) {
        fs::create_dir_all(dir.store()).expect("a folder");
        let address = format!("surrealkv://{}", dir.store().display());
        let instance = connect(&address, None).await.expect("opens");
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
        instance.close(None).await.expect("closed");
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
