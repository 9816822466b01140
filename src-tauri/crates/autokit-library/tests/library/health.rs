//! Tests of check results and daily counts.

use autokit_library::{Clock, DataDir, HealthCounts, Library, Meta, PutMode, Storage, Verification, Write};
use autokit_toolcard::{Author, CardId, CardKey, CardState, Operation, Toolcard};
use serde_json::{Value, json};

async fn put(library: &Library, name: &str) -> CardId {
    let card = Toolcard::from_json(&json!({ "name": name }).to_string()).expect("valid");
    let meta = Meta {
        operation: Operation::Create,
        author: Author("a".into()),
        reason: "new".into(),
        change: None,
        request: None,
    };
    let write = Write::Put { card: Box::new(card), mode: PutMode::Upsert, vectors: None };
    library.commit(&meta, &[write]).await.expect("added");
    CardKey::new("", name).id()
}

fn found(card: &CardId, state: CardState) -> Verification {
    Verification {
        card: card.clone(),
        state,
        checked_at: "2026-01-01T00:00:00.000Z".parse().expect("a time"),
        attempts: 2,
        next_at: "2026-01-02T00:00:00.000Z".parse().ok(),
        revision: Some(1),
        report: json!({ "status": 404, "said": "“gone”" }),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_and_daily_counts_survive_a_restart_and_count_existing_cards() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path());
    let open = async || {
        Library::open(Storage::Disk(dir.try_own().expect("free")), Clock::system()).await.expect("opens")
    };
    let library = open().await;
    let (a, b) = (put(&library, "a").await, put(&library, "b").await);
    put(&library, "c").await;
    let expected = HealthCounts { never_checked: 3, ..HealthCounts::default() };
    assert_eq!(library.health().await.expect("read"), expected);
    assert_eq!(library.verification(&a).await.expect("read"), None);
    library.put_verification(&found(&a, CardState::Stale)).await.expect("stored");
    library.put_verification(&found(&a, CardState::Broken)).await.expect("stored");
    library.put_verification(&found(&b, CardState::Verified)).await.expect("stored");
    // The check of a deleted card is kept but not counted.
    library.put_verification(&found(&CardId::new("gone"), CardState::Stale)).await.expect("stored");
    let expected = HealthCounts { broken: 1, verified: 1, never_checked: 1, ..HealthCounts::default() };
    assert_eq!(library.health().await.expect("read"), expected);
    for (day, counts) in [
        ("2026-01-02", HealthCounts::default()),
        ("2026-01-01", expected),
        ("2026-01-03", HealthCounts { stale: 4, unreachable: 5, ..expected }),
        ("2026-01-02", expected),
    ] {
        library.record_health_day(day, counts).await.expect("stored");
    }
    library.close().await.expect("closed");
    drop(library);

    let library = open().await;
    assert_eq!(library.health().await.expect("read"), expected);
    let read = library.verification(&a).await.expect("read").expect("exists");
    assert_eq!(read, found(&a, CardState::Broken));
    let all = library.verifications().await.expect("read");
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|one| one.report == Value::Null && one.attempts == 2), "without reports");
    let trend = library.health_trend(2).await.expect("read");
    let days: Vec<_> = trend.iter().map(|day| (day.day.as_str(), day.counts.unreachable)).collect();
    assert_eq!(days, [("2026-01-02", 0), ("2026-01-03", 5)]);
    assert_eq!(trend[0].counts, expected);
    library.close().await.expect("closed");
}
