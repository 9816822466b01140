//! Failing writes, and stores that cannot be reopened.

use std::fs;

use super::*;
use crate::data_dir::Ownership;

/// Two transactions, the second of which does not end.
const HANGS: &str = "CREATE thing:refused; SLEEP 1h;";

struct Opened {
    database: Database,
    /// Held while the database is open.
    _owned: Ownership,
}

async fn open(root: &Path) -> Opened {
    let owned = DataDir::new(root).try_own().expect("nobody else owns it");
    let (head, _) = HeadFile::open(&owned.dir().head_file()).expect("a head");
    let database = Database::on_disk(owned.dir(), head).await.expect("a database");
    Opened { database, _owned: owned }
}

async fn write(database: &Database, query: &str) -> Result<()> {
    database.execute(query, Object::default(), || {}).await
}

async fn rows(database: &Database) -> Vec<String> {
    let instance = database.ready(|| {}).await.expect("an instance");
    let mut rows = instance.db().query("SELECT VALUE record::id(id) FROM thing ORDER BY id").await.unwrap();
    rows.take(0).expect("ids")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_does_not_end_is_aborted_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path()).await;
    write(&opened.database, "CREATE thing:first").await.unwrap();
    opened.database.close().await.unwrap();
    drop(opened);

    let mut opened = open(folder.path()).await;
    opened.database.longest_write = Duration::from_millis(500);
    let refused = write(&opened.database, HANGS).await.expect_err("it cannot end");
    assert!(refused.to_string().contains("did not finish"), "{refused}");
    opened.database.longest_write = LONGEST_WRITE;
    assert_eq!(rows(&opened.database).await, ["first"]);
    write(&opened.database, "CREATE thing:second").await.unwrap();
    opened.database.close().await.unwrap();
    drop(opened);
    let opened = open(folder.path()).await;
    assert_eq!(rows(&opened.database).await, ["first", "second"]);
    opened.database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_be_reopened_is_retried_with_every_write() {
    let folder = tempfile::tempdir().unwrap();
    let (root, away) = (folder.path().join("library"), folder.path().join("away"));
    fs::create_dir(&root).unwrap();
    let mut opened = open(&root).await;
    write(&opened.database, "CREATE thing:first").await.unwrap();

    opened.database.longest_write = Duration::from_millis(500);
    // Without the disk, every step of recovering from the failed write fails.
    fs::rename(&root, &away).unwrap();
    write(&opened.database, HANGS).await.expect_err("it cannot end");
    opened.database.longest_write = LONGEST_WRITE;
    for _ in 0..2 {
        write(&opened.database, "CREATE thing:unopened").await.expect_err("there is no store");
        assert!(opened.database.ready(|| {}).await.is_err());
    }
    fs::rename(&away, &root).unwrap();
    write(&opened.database, "CREATE thing:second").await.unwrap();
    assert_eq!(rows(&opened.database).await, ["first", "second"]);
    opened.database.close().await.unwrap();
}
