//! A disk that is full loses nothing that was acknowledged and makes nothing true that was refused, and the
//! library goes on once there is room again.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use autokit_api::commands::PROTOCOL;
use autokit_app::ApiError;
use autokit_app::host::Endpoint;
use autokit_app::node::Node;
use autokit_library::{Clock, DataDir, Library, Storage};
use autokit_tests::disk::{Disk, FileSystem};
use autokit_tests::review::{put_cards, refresh};
use autokit_tests::{Workplace, made_up_cards, wait_to_own};
use autokit_toolcard::{Author, CardKey, ProposalEventKind, ProposalId, ProposalState};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Bytes that are free when the operation begins.
const FREE: [u64; 12] = [
    0,
    4 << 10,
    16 << 10,
    40 << 10,
    100 << 10,
    300 << 10,
    700 << 10,
    1 << 20,
    1_500 << 10,
    2 << 20,
    4 << 20,
    8 << 20,
];
/// Cards an import brings.
const IMPORTED: usize = 800;
const MIB: u64 = 60;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Import,
    Edit,
    Remove,
    Accept,
    Comment,
}

const OPERATIONS: [Operation; 5] =
    [Operation::Import, Operation::Edit, Operation::Remove, Operation::Accept, Operation::Comment];

#[derive(Clone, Copy, Debug)]
enum Ending {
    Kill,
    Terminate,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_tmpfs_loses_nothing() -> Result<()> {
    matrix(FileSystem::Tmpfs, &FREE, false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_ext4_loses_nothing() -> Result<()> {
    matrix(FileSystem::Ext4, &FREE, false).await
}

/// As when another program takes the room between the look at the disk and the write.
#[tokio::test(flavor = "multi_thread")]
async fn a_tmpfs_that_fills_up_during_a_write_loses_nothing() -> Result<()> {
    matrix(FileSystem::Tmpfs, &FREE, true).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ext4_that_fills_up_during_a_write_loses_nothing() -> Result<()> {
    matrix(FileSystem::Ext4, &FREE, true).await
}

/// The next process goes on where a killed one was recovering from a failed write.
#[tokio::test(flavor = "multi_thread")]
async fn a_recovery_that_is_killed_loses_nothing() -> Result<()> {
    for kind in [FileSystem::Tmpfs, FileSystem::Ext4] {
        let Some(disk) = Disk::mount(kind, MIB)? else { return Ok(()) };
        let made = tempfile::tempdir()?;
        prepare(made.path()).await?;
        for point in ["recover.noted", "recover.moved", "recover.cut"] {
            try_killed_recovery(&disk, made.path(), point)
                .await
                .with_context(|| format!("{kind:?}, {point}"))?;
        }
    }
    Ok(())
}

async fn try_killed_recovery(disk: &Disk, made: &Path, point: &str) -> Result<()> {
    let place = Workplace::on_disk(disk.path())?;
    autokit_tests::copy_tree(made, &place.data_dir())?;
    let crash = format!("{point}@1");
    let owner =
        place.serve_with(&[("AUTOKIT_NO_SPACE_CHECK", "1"), ("AUTOKIT_CRASH_POINT", crash.as_str())])?;
    // Not as another process of the library, which would take over when the owner ends.
    let endpoint = Endpoint::read(&DataDir::new(place.data_dir()).endpoint_file()).context("an endpoint")?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let comment = async |words: String| {
        let body = json!({ "id": 1, "words": words, "by": "" });
        let request = client.post(format!("{}/v1/call/proposals_comment", endpoint.base()));
        request.bearer_auth(&endpoint.token).header("x-autokit-protocol", PROTOCOL).json(&body).send().await
    };
    comment("acknowledged".to_owned()).await?.error_for_status()?;
    disk.fill_leaving(0)?;
    let answer = comment("x".repeat(64 << 10)).await;
    ensure!(answer.is_err(), "{answer:?}");
    ensure!(owner.was_killed()?, "the owner was not killed");
    disk.clear()?;
    let (library, _folder) = open_copy(&place).await?;
    let events = library.proposal_events(ProposalId::new(1)).await?;
    let comments = events.iter().filter(|event| event.kind == ProposalEventKind::Commented).count();
    ensure!(comments == 1, "{comments} comments");
    let verified = library.verify().await?;
    ensure!(verified.is_ok(), "{:?}", verified.problems);
    library.close().await?;
    Ok(())
}

async fn edit(node: &Node, name: &str, to: &str) -> Result<Value, ApiError> {
    let fields = json!({ "name": name, "description": to });
    let body =
        json!({ "card": CardKey::new("", name).id(), "expected": null, "fields": fields, "reason": "" });
    node.call_json("cards_update", body).await
}

/// Opens a copy that lies elsewhere: what this process has open would keep its room on the disk.
async fn open_copy(place: &Workplace) -> Result<(Library, TempDir)> {
    let copy = tempfile::tempdir()?;
    autokit_tests::copy_tree(&place.data_dir(), copy.path())?;
    let owned = wait_to_own(copy.path()).await?;
    Ok((Library::open(Storage::Disk(owned), Clock::system()).await?, copy))
}

fn described(library: &Library, name: &str) -> Option<String> {
    library.read(|replica| {
        replica.get(&CardKey::new("", name).id()).map(|record| record.card().description().to_owned())
    })
}

async fn matrix(kind: FileSystem, sizes: &[u64], unchecked: bool) -> Result<()> {
    let Some(disk) = Disk::mount(kind, MIB)? else { return Ok(()) };
    let made = tempfile::tempdir()?;
    prepare(made.path()).await?;
    let mut refused = 0;
    for (number, free) in sizes.iter().enumerate() {
        for operation in OPERATIONS {
            for ending in [Ending::Kill, Ending::Terminate] {
                let case = format!("{free} bytes free, {operation:?}, {ending:?}, case {number}");
                let logs = tempfile::NamedTempFile::new()?;
                let outcome =
                    Box::pin(try_case(&disk, made.path(), *free, operation, ending, unchecked, logs.path()))
                        .await;
                refused += outcome.with_context(|| {
                    let logged = std::fs::read_to_string(logs.path()).unwrap_or_default();
                    format!("{case}; the owner logged:\n{logged}")
                })?;
            }
        }
    }
    // A matrix in which nothing is refused would prove nothing.
    ensure!(refused >= sizes.len(), "{refused} operations were refused");
    Ok(())
}

/// A library with cards to edit and proposals to decide on.
async fn prepare(folder: &Path) -> Result<()> {
    let owned = wait_to_own(folder).await?;
    let library = Library::open(Storage::Disk(owned), Clock::system()).await?;
    let names = ["first", "second", "third", "fourth", "accepted"];
    put_cards(&library, names.iter().map(|name| json!({ "name": name, "description": "as it was" }))).await?;
    put_cards(&library, (0..138).map(|n| json!({ "name": format!("other {n}") }))).await?;
    let by = Author("checker".to_owned());
    library.propose(refresh("accepted", &[("class", json!("New"))]), &by, None).await?;
    library.close().await?;
    Ok(())
}

async fn try_case(
    disk: &Disk,
    made: &Path,
    free: u64,
    operation: Operation,
    ending: Ending,
    unchecked: bool,
    logs: &Path,
) -> Result<usize> {
    let place = Workplace::on_disk(disk.path())?;
    autokit_tests::copy_tree(made, &place.data_dir())?;
    let variables = [("AUTOKIT_LOG", "autokit=info"), ("AUTOKIT_NO_SPACE_CHECK", "1")];
    let owner = place.serve_logging(&variables[..if unchecked { 2 } else { 1 }], logs)?;
    let node = place.node(64).await?;
    edit(&node, "first", "before the disk was full").await.context("before")?;
    disk.fill_leaving(free)?;
    let outcome = match operation {
        Operation::Edit => edit(&node, "second", "while the disk was full").await.map(drop),
        Operation::Remove => {
            let body = json!({ "cards": [CardKey::new("", "second").id()], "reason": "" });
            node.call_json("cards_delete", body).await.map(drop)
        }
        Operation::Accept => {
            let body =
                json!({ "id": 1, "fields": null, "edits": {}, "rejected": [], "reason": "", "by": "" });
            node.call_json("proposals_accept", body).await.map(drop)
        }
        Operation::Comment => {
            let body = json!({ "id": 1, "words": "is this so?", "by": "" });
            node.call_json("proposals_comment", body).await.map(drop)
        }
        Operation::Import => import(&node).await?,
    };
    let small = edit(&node, "third", "while the disk was full").await;
    disk.clear()?;
    edit(&node, "fourth", "after there was room").await.context("there is room again")?;
    drop(node);
    match ending {
        Ending::Kill => owner.kill()?,
        Ending::Terminate => owner.stop()?,
    }

    let (library, _folder) = open_copy(&place).await?;
    drop(place);
    ensure!(
        described(&library, "first").as_deref() == Some("before the disk was full"),
        "the first edit is lost"
    );
    ensure!(
        described(&library, "fourth").as_deref() == Some("after there was room"),
        "the last edit is lost"
    );
    let phase = |done: bool| if done { "while the disk was full" } else { "as it was" };
    ensure!(described(&library, "third").as_deref() == Some(phase(small.is_ok())), "third: {small:?}");
    let done = outcome.is_ok();
    match operation {
        Operation::Edit => {
            ensure!(described(&library, "second").as_deref() == Some(phase(done)), "{outcome:?}");
        }
        Operation::Remove => ensure!(described(&library, "second").is_none() == done, "{outcome:?}"),
        Operation::Accept => {
            let accepted = library.proposal(ProposalId::new(1)).await?.state == ProposalState::Accepted;
            let class =
                library.card(&CardKey::new("", "accepted").id())?.card().text("class").map(str::to_owned);
            ensure!(accepted == done && class.is_some() == done, "{outcome:?}: {accepted}, {class:?}");
        }
        Operation::Comment => {
            let events = library.proposal_events(ProposalId::new(1)).await?;
            let comments = events.iter().filter(|event| event.kind == ProposalEventKind::Commented).count();
            ensure!(comments == usize::from(done), "{outcome:?}: {comments} comments");
        }
        Operation::Import => {
            let brought = library.read(autokit_library::Replica::len).saturating_sub(143);
            ensure!(brought == if done { IMPORTED } else { 0 }, "{outcome:?}: {brought} cards");
        }
    }
    let verified = library.verify().await?;
    ensure!(verified.is_ok(), "{:?}", verified.problems);
    for record in library.read(|replica| replica.iter().cloned().collect::<Vec<_>>()) {
        let newest = library.history(&record.id).await?.remove(0);
        ensure!(newest.body.as_deref() == Some(&*record.body), "{} is not its newest revision", record.id);
    }
    library.close().await?;
    Ok(usize::from(outcome.is_err()) + usize::from(small.is_err()))
}

/// Imports, and waits for the job to end. The outer error is of the test.
async fn import(node: &Node) -> Result<Result<(), ApiError>> {
    let text = serde_json::to_string(&made_up_cards(IMPORTED))?;
    let request = autokit_api::ImportRequest::new(autokit_api::ImportSource::Text(text));
    let started = node.call::<autokit_api::commands::StartImport>(request).await;
    let job = match started {
        Ok(job) => job,
        Err(error) => return Ok(Err(error)),
    };
    let mut version = 0;
    loop {
        let job: Value = node.call_json("jobs_wait", json!({ "job": job.job, "after": version })).await?;
        version = job["version"].as_u64().context("a version")?;
        match job["state"].as_str() {
            Some("done") => return Ok(Ok(())),
            Some("failed" | "cancelled") => {
                let error = serde_json::from_value(job["error"].clone()).context("why it failed")?;
                return Ok(Err(error));
            }
            _ => {}
        }
    }
}
