//! Tests of the library on disk and in memory: changes, history, undo, migration, refusal.

use std::fs;

use autokit_library::{
    Clock, Code, DataDir, Library, LibraryError, Meta, PackedVectors, PutMode, SCHEMA_VERSION, Storage, Write,
};
use autokit_toolcard::{Author, CardId, CardKey, Operation, Toolcard};
use proptest::prelude::*;

use crate::common::{memory, on_disk};

fn card(name: &str, description: &str) -> Toolcard {
    let text = serde_json::json!({ "name": name, "description": description }).to_string();
    Toolcard::from_json(&text).expect("valid")
}

fn meta(operation: Operation, reason: &str) -> Meta {
    Meta { operation, author: Author("tester".into()), reason: reason.into(), change: None, request: None }
}

fn put(card: Toolcard) -> Write {
    Write::Put { card: Box::new(card), mode: PutMode::Upsert, vectors: None }
}

fn description(library: &Library, id: &CardId) -> Option<String> {
    library.read(|replica| replica.get(id).map(|record| record.card().description().to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_a_revision_and_any_revision_can_be_restored() {
    let library = memory().await;
    let added =
        library.commit(&meta(Operation::Create, "new"), &[put(card("a", "one"))]).await.expect("added");
    let id = added.added[0].clone();
    library.commit(&meta(Operation::Edit, "better words"), &[put(card("a", "two"))]).await.expect("changed");
    let same =
        library.commit(&meta(Operation::Edit, "again"), &[put(card("a", "two"))]).await.expect("nothing");
    assert_eq!((same.change, same.unchanged.len()), (None, 1));

    let history = library.history(&id).await.expect("history");
    let operations: Vec<_> =
        history.iter().map(|r| (r.number, r.operation, r.author.0.as_str(), r.reason.as_str())).collect();
    assert_eq!(
        operations,
        [(2, Operation::Edit, "tester", "better words"), (1, Operation::Create, "tester", "new")]
    );
    assert!(history[0].at >= history[1].at, "{}", history[0].at);

    library.restore(&id, 1, Author("tester".into()), None).await.expect("restored");
    assert_eq!(description(&library, &id).as_deref(), Some("one"));
    let absent = library.restore(&id, 9, Author("tester".into()), None).await.expect_err("no such revision");
    assert_eq!(absent.code(), Code::NotFound);
    // The replica agrees with the database.
    assert_eq!(library.read(|r| r.get(&id).map(|record| record.number)), Some(3));
    assert_eq!(library.history(&id).await.expect("history").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_unique_by_provider_and_can_be_reused() {
    let library = memory().await;
    let provided = |provider: &str| {
        let text = serde_json::json!({ "name": "create_issue", "provider": provider }).to_string();
        Toolcard::from_json(&text).expect("valid")
    };
    let two = library
        .commit(&meta(Operation::Import, "two"), &[put(provided("github")), put(provided("gitlab"))])
        .await
        .expect("two cards");
    assert_eq!(two.added.len(), 2);
    let again = Write::Put { card: Box::new(provided("github")), mode: PutMode::Create, vectors: None };
    let refused = library.commit(&meta(Operation::Create, "again"), &[again]).await.expect_err("taken");
    assert_eq!(refused.code(), Code::Duplicate);

    // A card is renamed and another takes its old name in the same batch; ids stay with the cards.
    let id = two.added[0].clone();
    let rename =
        Write::Edit { id: id.clone(), expected: Some(1), card: Box::new(card("renamed", "")), vectors: None };
    let done = library
        .commit(&meta(Operation::Edit, "swap"), &[rename, put(provided("github"))])
        .await
        .expect("done");
    assert_eq!((done.changed.as_slice(), done.added.len()), (std::slice::from_ref(&id), 1));
    assert_ne!(done.added[0], id);
    let existing =
        library.read(|r| r.by_key(&CardKey::new("github", "create_issue")).map(|record| record.id.clone()));
    assert_eq!(existing.as_ref(), Some(&done.added[0]));

    let stale =
        Write::Edit { id: id.clone(), expected: Some(1), card: Box::new(card("x", "")), vectors: None };
    let refused =
        library.commit(&meta(Operation::Edit, "late"), &[stale]).await.expect_err("changed meanwhile");
    assert!(matches!(refused, LibraryError::Conflict { expected: 1, current: 2, .. }), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_atomic() {
    let library = memory().await;
    let bad = Write::Delete { id: CardId::new("nothing") };
    let refused = library.commit(&meta(Operation::Import, "mixed"), &[put(card("a", "")), bad]).await;
    assert_eq!(refused.expect_err("refused").code(), Code::NotFound);
    assert!(library.read(autokit_library::Replica::is_empty));
    assert_eq!(library.read(autokit_library::Replica::cursor), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_keeps_the_history_and_adding_again_continues_it() {
    let library = memory().await;
    let id =
        library.commit(&meta(Operation::Create, "new"), &[put(card("a", "one"))]).await.expect("added").added
            [0]
        .clone();
    library
        .commit(&meta(Operation::Delete, "gone"), &[Write::Delete { id: id.clone() }])
        .await
        .expect("deleted");
    assert_eq!(description(&library, &id), None);
    let back =
        library.commit(&meta(Operation::Create, "back"), &[put(card("a", "two"))]).await.expect("added");
    assert_eq!(back.added, std::slice::from_ref(&id));
    let numbers: Vec<_> = library.history(&id).await.expect("history").iter().map(|r| r.number).collect();
    assert_eq!(numbers, [3, 2, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_reverts_a_whole_change_and_keeps_cards_that_changed_since() {
    let library = memory().await;
    library.commit(&meta(Operation::Create, "first"), &[put(card("a", "one"))]).await.expect("added");
    let batch = [put(card("a", "two")), put(card("b", "new")), put(card("c", "new"))];
    let imported = library.commit(&meta(Operation::Import, "import"), &batch).await.expect("imported");
    library.commit(&meta(Operation::Edit, "later"), &[put(card("c", "edited"))]).await.expect("edited");
    let change = imported.change.expect("a change");
    let undone = library.undo(&change, Author("tester".into()), None).await.expect("undone");
    assert_eq!((undone.cards.len(), undone.kept.len()), (2, 1));
    let names = library.read(|replica| {
        let mut names: Vec<_> =
            replica.iter().map(|r| (r.key.name.clone(), r.card().description().to_owned())).collect();
        names.sort();
        names
    });
    assert_eq!(names, [("a".into(), "one".into()), ("c".into(), "edited".to_owned())]);
    // An undone change is not offered again; the one before it is.
    let (_, reason) = library.undoable().await.expect("read").expect("more to undo");
    assert_eq!(reason, "later");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_undone_is_redone_until_something_else_changes() {
    let library = memory().await;
    let tester = || Author("tester".into());
    let edit = async |text: &str| {
        let edited = library.commit(&meta(Operation::Edit, text), &[put(card("a", text))]).await;
        edited.expect("edited").change.expect("a change")
    };
    library.commit(&meta(Operation::Import, "import"), &[put(card("a", "zero"))]).await.expect("imported");
    assert_eq!(library.undoable().await.expect("read"), None, "an import is undone by its id");
    edit("one").await;
    let two = edit("two").await;
    let id = library.read(|replica| replica.iter().next().map(|record| record.id.clone())).expect("a card");
    let reason = |found: Option<(String, String)>| found.map(|(_, reason)| reason);
    for (undoable, text) in [("two", "one"), ("one", "zero")] {
        let (change, why) = library.undoable().await.expect("read").expect("one");
        assert_eq!(why, undoable);
        library.undo(&change, tester(), None).await.expect("undone");
        assert_eq!(description(&library, &id).as_deref(), Some(text));
        assert_eq!(reason(library.redoable().await.expect("read")).as_deref(), Some(undoable));
    }
    assert_eq!(library.undoable().await.expect("read"), None);
    for redoable in ["one", "two"] {
        let (undo, why) = library.redoable().await.expect("read").expect("one");
        assert_eq!(why, redoable);
        let redone = library.redo(&undo, tester(), None).await.expect("redone");
        assert_eq!((redone.reason.as_str(), redone.cards.len()), (redoable, 1));
        assert_eq!(description(&library, &id).as_deref(), Some(redoable));
        assert_eq!(reason(library.undoable().await.expect("read")).as_deref(), Some(redoable));
    }
    assert_eq!(library.redoable().await.expect("read"), None);

    // By its id, an undo can be redone as long as its cards stay as they are; without one, until anything changes.
    let undo = library.undo(&two, tester(), None).await.expect("undone").by.expect("a change");
    library.commit(&meta(Operation::Create, "other"), &[put(card("b", "new"))]).await.expect("added");
    assert_eq!(library.redoable().await.expect("read"), None);
    library.redo(&undo, tester(), None).await.expect("redone");
    let undo = library.undo(&two, tester(), None).await.expect("undone").by.expect("a change");
    edit("three").await;
    let refused = library.redo(&undo, tester(), None).await.expect_err("changed since");
    assert!(matches!(refused, LibraryError::ChangedSince { cards: 1 }), "{refused}");
    assert_eq!(description(&library, &id).as_deref(), Some("three"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_key_applies_to_one_change() {
    let library = memory().await;
    let once = Meta { request: Some("key".into()), ..meta(Operation::Create, "once") };
    let write = || Write::Put { card: Box::new(card("a", "")), mode: PutMode::Create, vectors: None };
    let first = library.commit(&once, &[write()]).await.expect("added");
    let second = library.commit(&once, &[write()]).await.expect("the same answer");
    assert_eq!(first, second);
    assert_eq!(library.read(autokit_library::Replica::cursor), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_survives_closing_and_opening() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path().join("library"));
    let library = on_disk(&dir).await;
    let vectors = PackedVectors { model: "m@1".into(), names: None, dim: 3, values: vec![0.5, -1.25, 3.0] };
    let write = Write::Put {
        card: Box::new(card("a", "one")),
        mode: PutMode::Upsert,
        vectors: Some(vectors.clone()),
    };
    let id = library.commit(&meta(Operation::Create, "new"), &[write]).await.expect("added").added[0].clone();
    library.commit(&meta(Operation::Create, "b"), &[put(card("b", ""))]).await.expect("added");
    let b = CardKey::new("", "b").id();
    library.commit(&meta(Operation::Delete, "b"), &[Write::Delete { id: b.clone() }]).await.expect("deleted");
    library.set_setting("model", "m").await.expect("stored");
    library.close().await.expect("closed");
    drop(library);

    let library = on_disk(&dir).await;
    assert_eq!(description(&library, &id).as_deref(), Some("one"));
    assert_eq!(library.read(autokit_library::Replica::cursor), 3);
    assert_eq!(library.setting("model").await.expect("read").as_deref(), Some("m"));
    let read = library.vectors("m@1").await.expect("vectors");
    assert_eq!((read.len(), &read[0].values, read[0].number), (1, &vectors.values, 1));
    assert!(library.vectors("other").await.expect("none").is_empty());
    // Deleted cards are remembered too: their history continues where it ended.
    let again = library.commit(&meta(Operation::Create, "b"), &[put(card("b", ""))]).await.expect("added");
    assert_eq!(again.added, std::slice::from_ref(&b));
    assert_eq!(library.history(&b).await.expect("history").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_owns_a_directory_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path());
    let owned = dir.try_own().expect("free");
    assert_eq!(LibraryError::from(dir.try_own().expect_err("taken")).code(), Code::Owned);
    drop(owned);
    dir.try_own().expect("free again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_library_is_released_once_its_store_is_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path());
    for round in 0..16 {
        let waits = dir.clone();
        let owned = tokio::task::spawn_blocking(move || waits.wait_to_own());
        let owned = owned.await.expect("does not panic").expect("released");
        let library = Library::open(Storage::Disk(owned), Clock::system()).await.expect("not locked");
        assert_eq!(library.read(autokit_library::Replica::len), round);
        let name = format!("card-{round}");
        library.commit(&meta(Operation::Create, &name), &[put(card(&name, ""))]).await.expect("added");
        drop(library);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_schema_is_refused_and_left_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path());
    on_disk(&dir).await.close().await.expect("closed");
    let newer = serde_json::json!({ "schema": SCHEMA_VERSION + 1 }).to_string();
    fs::write(folder.path().join("schema.json"), &newer).expect("written");
    let refused = Library::open(Storage::Disk(dir.try_own().expect("free")), Clock::system())
        .await
        .expect_err("refused");
    assert!(
        matches!(refused, LibraryError::NewerSchema { found, known, .. } if found == known + 1),
        "{refused}"
    );
    assert!(!refused.remedy().is_empty());
    assert_eq!(fs::read_to_string(folder.path().join("schema.json")).expect("exists"), newer);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_schema_is_backed_up_before_migration() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path());
    let library = on_disk(&dir).await;
    library.commit(&meta(Operation::Create, "new"), &[put(card("a", "one"))]).await.expect("added");
    library.close().await.expect("closed");
    drop(library);
    // A store from before the version file existed, which then says 0.
    fs::write(folder.path().join("schema.json"), r#"{"schema":0}"#).expect("written");
    let library = on_disk(&dir).await;
    let backup = library.migrated_from().expect("a backup").to_owned();
    assert!(backup.starts_with(dir.backups()) && backup.join("store").is_dir(), "{}", backup.display());
    assert_eq!(library.read(autokit_library::Replica::len), 1);
    library.close().await.expect("closed");
    drop(library);
    // The backup can be opened as a library.
    let restored = DataDir::new(&backup);
    fs::remove_file(backup.join("schema.json")).expect("exists");
    let library = on_disk(&restored).await;
    assert_eq!(library.read(autokit_library::Replica::len), 1);
}

/// A step of a random history.
#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8),
    Delete(u8),
    Undo,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..6u8, any::<u8>()).prop_map(|(name, text)| Step::Put(name, text)),
        2 => (0..6u8).prop_map(Step::Delete),
        1 => Just(Step::Undo),
    ];
    prop::collection::vec(step, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever is done, the replica equals what a fresh opening reads from disk, and every card equals its
    /// newest revision.
    #[test]
    fn the_replica_never_differs_from_the_store(steps in steps()) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let folder = tempfile::tempdir().expect("a folder");
            let dir = DataDir::new(folder.path());
            let library = on_disk(&dir).await;
            for step in steps {
                match step {
                    Step::Put(name, text) => {
                        let write = put(card(&format!("card {name}"), &text.to_string()));
                        library.commit(&meta(Operation::Edit, "put"), &[write]).await.expect("put");
                    }
                    Step::Delete(name) => {
                        let id = CardKey::new("", &format!("card {name}")).id();
                        // Deleting a missing card is refused and changes nothing.
                        let _ = library.commit(&meta(Operation::Delete, "delete"), &[Write::Delete { id }]).await;
                    }
                    Step::Undo => {
                        if let Some((change, _)) = library.undoable().await.expect("read") {
                            library.undo(&change, Author("tester".into()), None).await.expect("undone");
                        }
                    }
                }
            }
            let state = |library: &Library| {
                library.read(|replica| {
                    let mut rows: Vec<_> = replica
                        .iter()
                        .map(|r| (r.id.clone(), r.number, r.body.to_string(), r.created_at, r.updated_at))
                        .collect();
                    rows.sort();
                    (rows, replica.cursor())
                })
            };
            let before = state(&library);
            for (id, number, body, ..) in &before.0 {
                let newest = library.history(id).await.expect("history").remove(0);
                assert_eq!((newest.number, newest.body.as_ref()), (*number, Some(body)));
            }
            library.close().await.expect("closed");
            drop(library);
            let reopened = on_disk(&dir).await;
            assert_eq!(before, state(&reopened));
            reopened.close().await.expect("closed");
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_and_closing_in_quick_succession_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path());
    for round in 1..=40 {
        let library = on_disk(&dir).await;
        assert_eq!(library.known_problems(), [], "round {round}");
        assert_eq!(library.read(autokit_library::Replica::len), round - 1, "round {round}");
        let card = card(&format!("card {round}"), "");
        library.commit(&meta(Operation::Create, "new"), &[put(card)]).await.expect("committed");
        library.close().await.expect("closed");
        // A write after closing does not reopen the store.
        let late = Write::Delete { id: CardKey::new("", "card 1").id() };
        assert!(library.commit(&meta(Operation::Delete, "late"), &[late]).await.is_err());
    }
}
