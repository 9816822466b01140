//! Snapshots of the cards in memory: read where nothing changed, gone before something does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use autokit_library::{Code, DataDir, Feedback, Library, Meta, PutMode, Write};
use autokit_toolcard::{CardId, Operation, Toolcard};
use serde_json::json;

use crate::common::{author, on_disk, put};

const CARDS: usize = 1_000;

async fn fill(library: &Library) {
    let write = |number: usize| {
        let card = json!({ "name": format!("tool {number}"), "description": "A tool.", "tags": ["a"] });
        let card = Toolcard::from_json(&card.to_string()).expect("valid");
        Write::Put { card: Box::new(card), mode: PutMode::Upsert, vectors: None }
    };
    let meta = Meta {
        operation: Operation::Create,
        author: author("somebody"),
        reason: "fill".into(),
        change: None,
        request: None,
    };
    library.commit(&meta, &(0..CARDS).map(write).collect::<Vec<_>>()).await.expect("committed");
}

/// What a reader sees of every card.
fn cards(library: &Library) -> BTreeMap<CardId, String> {
    library.read(|replica| replica.iter().map(|record| (record.id.clone(), format!("{record:?}"))).collect())
}

async fn snapshot(library: &Library) -> Option<Vec<u8>> {
    library.read_snapshot("index", "model").await.expect("readable").map(|content| content.to_vec())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_are_read_until_a_card_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path().join("library"));
    let library = on_disk(&dir).await;
    fill(&library).await;
    assert!(!library.needs_snapshots(true), "a process that changed something writes none");
    library.close().await.expect("closed");
    let library = on_disk(&dir).await;
    let expected = cards(&library);
    assert!(library.needs_snapshots(true));
    library
        .hold_changes()
        .await
        .write_snapshots(&[("index", "model", vec![1, 2, 3])])
        .await
        .expect("written");
    assert!(!library.needs_snapshots(true) && library.needs_snapshots(false));
    // As after a crash: the store is open in the copy.
    let crashed = DataDir::new(folder.path().join("crashed"));
    copy(dir.root(), crashed.root());
    library.close().await.expect("closed");

    let library = on_disk(&dir).await;
    assert!(!library.needs_snapshots(true), "it was read");
    assert_eq!(cards(&library), expected);
    assert_eq!(snapshot(&library).await, Some(vec![1, 2, 3]));
    assert!(library.read_snapshot("index", "another").await.expect("readable").is_none());
    // What is not in memory does not matter.
    library.set_setting("color", "blue").await.expect("set");
    let feedback = Feedback {
        at: "2026-01-01T00:00:00.000Z".parse().expect("a time"),
        profile: "somebody".into(),
        question: "which tool?".into(),
        card: expected.keys().next().expect("a card").clone(),
        helpful: true,
        said: String::new(),
    };
    library.put_feedback(&feedback, None).await.expect("stored");
    assert_eq!(snapshot(&library).await, Some(vec![1, 2, 3]));
    library.close().await.expect("closed");

    let library = on_disk(&dir).await;
    assert!(!library.needs_snapshots(true), "it was read");
    put(&library, json!({ "name": "tool 7", "description": "Another tool." })).await;
    assert_eq!(snapshot(&library).await, None);
    assert!(!library.needs_snapshots(true) && !dir.root().join("snapshots").exists());
    let changed = cards(&library);
    assert_ne!(changed, expected);
    library.close().await.expect("closed");
    let library = on_disk(&dir).await;
    assert!(library.needs_snapshots(true));
    assert_eq!(cards(&library), changed);
    library.close().await.expect("closed");

    let library = on_disk(&crashed).await;
    assert!(library.needs_snapshots(true), "the cards were read from the store");
    assert_eq!((cards(&library), snapshot(&library).await), (expected, None));
    library.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_that_were_ignored_do_not_become_valid_beside_new_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path().join("library"));
    let library = on_disk(&dir).await;
    fill(&library).await;
    library.close().await.expect("closed");
    let library = on_disk(&dir).await;
    library.hold_changes().await.write_snapshots(&[("index", "model", vec![1; 100])]).await.expect("written");
    library.close().await.expect("closed");
    // Another version opens and closes the library, and changes vectors only: cards and their key stay the same.
    fs::write(dir.root().join("snapshots/generation"), "0").expect("written");
    let library = on_disk(&dir).await;
    assert_eq!(snapshot(&library).await, None);
    let other = [("keyword-index", "words", vec![2; 100])];
    library.hold_changes().await.write_snapshots(&other).await.expect("written");
    library.close().await.expect("closed");
    let library = on_disk(&dir).await;
    assert_eq!(snapshot(&library).await, None);
    let words = library.read_snapshot("keyword-index", "words").await.expect("readable");
    assert_eq!(words.map(|content| content.to_vec()), Some(vec![2; 100]));
    library.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_snapshots_and_those_of_another_state_are_ignored() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path().join("library"));
    let library = on_disk(&dir).await;
    fill(&library).await;
    library.close().await.expect("closed");
    let library = on_disk(&dir).await;
    library.hold_changes().await.write_snapshots(&[("index", "model", vec![1; 100])]).await.expect("written");
    library.close().await.expect("closed");
    let early = folder.path().join("early");
    copy(&dir.root().join("snapshots"), &early);
    let library = on_disk(&dir).await;
    put(&library, json!({ "name": "tool 7", "description": "Another tool." })).await;
    let expected = cards(&library);
    library.close().await.expect("closed");
    // Somebody puts back the files from before the change.
    copy(&early, &dir.root().join("snapshots"));
    let library = on_disk(&dir).await;
    assert_eq!((cards(&library), snapshot(&library).await), (expected.clone(), None));
    library.hold_changes().await.write_snapshots(&[("index", "model", vec![2; 100])]).await.expect("written");
    library.close().await.expect("closed");

    for name in ["cards", "index"] {
        let file = dir.root().join("snapshots").join(name);
        let mut bytes = fs::read(&file).expect("read");
        let middle = bytes.len() - 50;
        bytes[middle] ^= 1;
        fs::write(&file, bytes).expect("written");
    }
    let library = on_disk(&dir).await;
    assert_eq!((cards(&library), snapshot(&library).await), (expected, None));
    assert!(library.needs_snapshots(true));
    assert_eq!(library.read_only(), None::<Code>);
    library.close().await.expect("closed");
}
