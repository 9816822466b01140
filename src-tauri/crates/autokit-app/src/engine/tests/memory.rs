//! Documents and code: added, searched with citations, read again, removed.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autokit_api::commands::{
    AddMemory, Context, Handle, ListMemory, RefreshMemory, RemoveMemory, SearchMemory,
};
use autokit_api::{
    Job, JobState, MemoryAdd, MemoryFound, MemoryKind, MemoryListQuery, MemoryQuery, MemorySource,
    MemorySourceRef,
};
use autokit_error::{ErrorCode, Result};

use super::{Engine, open, open_with_vectors};

/// Waits for a job in steps; a test that needs this many is stuck.
const LONG: Duration = Duration::from_mins(5);

async fn finished(engine: &Engine, job: autokit_api::JobRef) -> Job {
    let mut seen = 0;
    loop {
        let job = engine.workspace.jobs.wait(&job.job, seen, LONG).await.expect("known");
        if job.state != JobState::Running {
            return job;
        }
        seen = job.version;
    }
}

async fn add(engine: &Engine, context: &Context, kind: MemoryKind, location: &Path) -> Job {
    let request = MemoryAdd { kind, location: location.to_string_lossy().into_owned() };
    let started = Handle::<AddMemory>::handle(engine, context, request).await.expect("added");
    finished(engine, started).await
}

async fn search(engine: &Engine, context: &Context, kind: MemoryKind, query: &str) -> MemoryFound {
    let request = MemoryQuery { kind, query: query.to_owned(), limit: None };
    Handle::<SearchMemory>::handle(engine, context, request).await.expect("searched")
}

async fn list(engine: &Engine, context: &Context) -> Vec<MemorySource> {
    let query = MemoryListQuery::default();
    Handle::<ListMemory>::handle(engine, context, query).await.expect("listed").sources
}

fn reference(source: &MemorySource) -> MemorySourceRef {
    MemorySourceRef { source: source.id.clone() }
}

fn trip(folder: &Path) {
    fs::write(
        folder.join("trip.md"),
        "# Trip\n\n## Hotel\n\nThe booking number is 4711.\n\n## Train\n\nSeat 12.",
    )
    .unwrap();
    fs::write(folder.join("broken.docx"), "no archive").unwrap();
    fs::write(folder.join("picture.png"), [0, 1, 2]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_cited_and_forgotten_when_they_are_removed() {
    let (engine, context) = open().await;
    let folder = tempfile::tempdir().unwrap();
    trip(folder.path());
    let none = search(&engine, &context, MemoryKind::Documents, "booking number").await;
    assert_eq!((none.hits.len(), none.note.as_deref()), (0, Some("No documents were added yet.")));

    let job = add(&engine, &context, MemoryKind::Documents, folder.path()).await;
    assert_eq!(job.state, JobState::Done);
    let summary = job.summary.unwrap();
    assert!(summary.starts_with("1 file read, 0 unchanged, 1 not readable"), "{summary}");
    let found = search(&engine, &context, MemoryKind::Documents, "booking number of the hotel").await;
    let hit = &found.hits[0];
    assert_eq!((hit.heading.join("/").as_str(), hit.title.as_str()), ("Trip/Hotel", "Trip"));
    assert!(hit.citation.ends_with("trip.md#1"), "{}", hit.citation);
    assert!(hit.text.contains("4711"), "{}", hit.text);
    assert_eq!(found.searched, 2);

    let sources = list(&engine, &context).await;
    let source = &sources[0];
    assert_eq!((source.files, source.passages, source.problems.len()), (1, 2, 1));
    assert!(source.problems[0].file.ends_with("broken.docx"));

    // What changed is read again; what is gone is forgotten.
    fs::write(folder.path().join("trip.md"), "# Trip\n\nThe booking number is 99.").unwrap();
    fs::remove_file(folder.path().join("broken.docx")).unwrap();
    let started = Handle::<RefreshMemory>::handle(&*engine, &context, reference(source)).await.unwrap();
    assert_eq!(finished(&engine, started).await.summary.as_deref(), Some("1 file read, 0 unchanged"));
    let found = search(&engine, &context, MemoryKind::Documents, "booking number").await;
    assert_eq!(found.hits.len(), 1);
    assert!(found.hits[0].text.contains("99"));
    assert_eq!(list(&engine, &context).await[0].problems.len(), 0);

    Handle::<RemoveMemory>::handle(&*engine, &context, reference(source)).await.unwrap();
    assert!(search(&engine, &context, MemoryKind::Documents, "booking number").await.hits.is_empty());
    assert!(list(&engine, &context).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn code_is_found_by_what_it_does_and_says_who_calls_it() {
    let (engine, context) = open_with_vectors().await;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(
        folder.path().join("src/mail.py"),
        "def send_mail(to):\n    \"\"\"Sends a letter.\"\"\"\n    open_port()\n\ndef notify():\n    send_mail('x')\n",
    )
    .unwrap();
    let job = add(&engine, &context, MemoryKind::Code, folder.path()).await;
    assert_eq!(job.state, JobState::Done, "{:?}", job.error);
    let found = search(&engine, &context, MemoryKind::Code, "send mail").await;
    let hit = &found.hits[0];
    assert!(hit.citation.ends_with("src/mail.py:1"), "{}", hit.citation);
    let symbol = hit.symbol.as_ref().expect("code");
    assert_eq!((symbol.kind.as_str(), symbol.name.as_str(), symbol.lines), ("function", "send_mail", (1, 3)));
    assert_eq!(symbol.callers, ["src/mail.py:5 notify"]);
    let source = &list(&engine, &context).await[0];
    assert_eq!((source.passages, source.embedded), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_locations_are_refused() -> Result<()> {
    let (engine, context) = open().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.md");
    fs::write(&file, "# A").unwrap();
    let gone = folder.path().join("gone");
    for (kind, location, code) in [
        (MemoryKind::Documents, "notes", ErrorCode::BadRequest),
        (MemoryKind::Documents, "", ErrorCode::BadRequest),
        (MemoryKind::Documents, gone.to_str().unwrap(), ErrorCode::NotFound),
        (MemoryKind::Code, file.to_str().unwrap(), ErrorCode::BadRequest),
        (MemoryKind::Code, "https://example.org/x.git", ErrorCode::BadRequest),
    ] {
        let request = MemoryAdd { kind, location: location.to_owned() };
        let error = Handle::<AddMemory>::handle(&*engine, &context, request).await.unwrap_err();
        assert_eq!(error.code, code, "{location}");
    }
    let unknown = MemorySourceRef { source: "nothing".to_owned() };
    let error = Handle::<RemoveMemory>::handle(&*engine, &context, unknown).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_is_read_again_by_a_process_that_watches() {
    let (engine, context) = open().await;
    let folder = tempfile::tempdir().unwrap();
    trip(folder.path());
    add(&engine, &context, MemoryKind::Documents, folder.path()).await;
    let engine = Arc::clone(&engine);
    fs::write(folder.path().join("trip.md"), "# Trip\n\nBring an umbrella.").unwrap();
    let watched = async {
        // Each search is a chance for the news to arrive; the bound below is for a watcher that never tells.
        while search(&engine, &context, MemoryKind::Documents, "umbrella").await.hits.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, watched).await.expect("noticed");
}
