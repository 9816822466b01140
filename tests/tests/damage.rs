//! Damaged files never lose an acknowledged change silently: either everything is there, or opening or
//! verifying the library says what is not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use autokit_library::{Clock, DataDir, Library, LibraryError, Meta, PutMode, Selection, Storage, Write};
use autokit_tests::review::{put_cards, refresh};
use autokit_tests::{SeededRng, copy_tree};
use autokit_toolcard::{Author, Operation, Toolcard};
use serde_json::json;

/// Damages of each kind, to each of two libraries.
const TRIALS: u64 = 60;

/// Everything that may not be lost without a word.
#[derive(Debug, PartialEq)]
struct Contents {
    cards: BTreeMap<String, String>,
    revisions: Vec<String>,
    proposals: Vec<String>,
    events: Vec<String>,
    settings: Vec<Option<String>>,
}

async fn contents(library: &Library) -> Result<Contents, LibraryError> {
    let records: Vec<_> = library.read(|replica| replica.iter().cloned().collect());
    let mut revisions = Vec::new();
    for record in &records {
        revisions.extend(library.history(&record.id).await?.iter().map(|revision| format!("{revision:?}")));
    }
    revisions.sort();
    let all = library.proposals(None).await?;
    let mut events = Vec::new();
    for proposal in &all {
        events.extend(library.proposal_events(proposal.id).await?.iter().map(|event| format!("{event:?}")));
    }
    let mut settings = Vec::new();
    for round in 0..3 {
        settings.push(library.setting(&setting(round)).await?);
    }
    Ok(Contents {
        settings,
        cards: records.iter().map(|record| (record.id.to_string(), record.body.to_string())).collect(),
        revisions,
        proposals: all.iter().map(|proposal| format!("{proposal:?}")).collect(),
        events,
    })
}

fn meta(reason: &str) -> Meta {
    Meta {
        operation: Operation::Edit,
        author: Author("ann".to_owned()),
        reason: reason.to_owned(),
        change: None,
        request: None,
    }
}

fn setting(round: usize) -> String {
    format!("rules of round {round}")
}

/// A library closed once, then changed again: tables, large values and a log with much in it.
async fn fill(library: &Library, round: usize) -> Result<()> {
    let by = Author("checker".to_owned());
    library.set_setting(&setting(round), &"deny all but this; ".repeat(20)).await?;
    let name = |n: usize| format!("tool {round}-{n}");
    put_cards(
        library,
        (0..20).map(|n| {
            // Some are so long that they are kept apart from their keys.
            let description = "Finds and keeps things. ".repeat(if n % 4 == 0 { 400 } else { 3 });
            json!({ "name": name(n), "description": description, "class": "Old" })
        }),
    )
    .await?;
    for n in 0..6 {
        library.propose(refresh(&name(n), &[("class", json!("New"))]), &by, None).await?;
    }
    let waiting = library.pending().await?;
    for (n, proposal) in waiting.iter().enumerate().filter(|(n, _)| n % 3 != 2) {
        if n % 3 == 0 {
            library.reject(proposal.id, &Author("ann".to_owned()), "no", None).await?;
        } else {
            let acceptance = library.acceptance(proposal, &Selection::default()).await?;
            library.accept(proposal, acceptance, None, &meta("yes"), 1).await?;
        }
    }
    for n in 6..12 {
        let card = Toolcard::from_json(&json!({ "name": name(n), "description": "edited" }).to_string())
            .map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
        let put = Write::Put { card: Box::new(card), mode: PutMode::Upsert, vectors: None };
        library.commit(&meta("edited"), &[put]).await?;
    }
    Ok(())
}

async fn open(folder: &Path) -> Result<Library, LibraryError> {
    Library::open(Storage::Disk(DataDir::new(folder).try_own()?), Clock::system()).await
}

/// What happens to a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    FlippedBit,
    Truncated,
    ZeroedBlock,
}

fn damage(path: &Path, how: Damage, chance: &mut SeededRng) -> Result<String> {
    let mut bytes = fs::read(path)?;
    let at = usize::try_from(chance.below(bytes.len() as u64))?;
    match how {
        Damage::FlippedBit => bytes[at] ^= 1 << chance.below(8),
        Damage::Truncated => bytes.truncate(at),
        Damage::ZeroedBlock => {
            let end = bytes.len().min(at + 512);
            bytes[at..end].fill(0);
        }
    }
    fs::write(path, bytes)?;
    Ok(format!("{how:?} at {at} of {}", path.display()))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if fs::metadata(&path)?.len() > 0 {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_is_never_silent() -> Result<()> {
    let made = tempfile::tempdir()?;
    let live = made.path().join("live");
    let library = open(&live).await?;
    fill(&library, 1).await?;
    library.close().await?;
    let library = open(&live).await?;
    fill(&library, 2).await?;
    // As a process that was killed leaves it: all of the second round is in the log.
    let killed = made.path().join("killed");
    copy_tree(&live, &killed)?;
    let original = contents(&library).await?;
    ensure!(library.verify().await?.is_ok());
    library.close().await?;

    let (mut detected, mut harmless) = (0, 0);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for from in [&live, &killed] {
        for how in [Damage::FlippedBit, Damage::Truncated, Damage::ZeroedBlock] {
            for seed in 0..TRIALS {
                let mut chance = SeededRng::new(seed);
                let folder = tempfile::tempdir()?;
                copy_tree(from, folder.path())?;
                let mut all = files(&folder.path().join("store"))?;
                all.push(folder.path().join("head"));
                // Every file in turn, so that small ones are hit as often as large ones.
                let path = &all[usize::try_from(seed)? % all.len()];
                let what = damage(path, how, &mut chance)?;
                let kind = path.extension().or(path.file_name()).unwrap_or_default().to_string_lossy();
                *kinds.entry(kind.into_owned()).or_default() += 1;
                let noticed = is_noticed(folder.path(), &original).await.with_context(|| what.clone())?;
                if noticed { detected += 1 } else { harmless += 1 }
            }
        }
    }
    ensure!(
        detected + harmless >= 300 && detected > 0,
        "{detected} were told, {harmless} did no harm: {kinds:?}"
    );
    ensure!(kinds.len() >= 4, "{kinds:?}");
    Ok(())
}

/// Not every part of a table has a checksum: the filters that are asked before a lookup have none. They are
/// near the end of the file.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_filter_of_a_table_is_never_silent() -> Result<()> {
    const END: usize = 3_200;
    const BLOCK: usize = 16;
    let made = tempfile::tempdir()?;
    let library = open(made.path()).await?;
    fill(&library, 1).await?;
    library.close().await?;
    let library = open(made.path()).await?;
    let original = contents(&library).await?;
    library.close().await?;
    let all = files(&made.path().join("store"))?;
    let table = all.iter().find(|path| path.extension().is_some_and(|extension| extension == "sst"));
    let table = table.context("the store has a table")?;
    let bytes = fs::read(table)?;
    let mut detected = 0;
    for at in (bytes.len().saturating_sub(END)..bytes.len()).step_by(BLOCK) {
        let folder = tempfile::tempdir()?;
        copy_tree(made.path(), folder.path())?;
        let mut damaged = bytes.clone();
        let end = bytes.len().min(at + BLOCK);
        for byte in &mut damaged[at..end] {
            *byte ^= 0x10;
        }
        fs::write(folder.path().join(table.strip_prefix(made.path())?), damaged)?;
        let noticed = is_noticed(folder.path(), &original).await;
        detected += usize::from(noticed.with_context(|| format!("at {at} of {}", bytes.len()))?);
    }
    ensure!(detected > END / BLOCK / 4, "only {detected} were told");
    Ok(())
}

/// Whether the library tells of damage. Not telling is an error, unless nothing is missing or altered.
async fn is_noticed(folder: &Path, original: &Contents) -> Result<bool> {
    let Ok(library) = open(folder).await else { return Ok(true) };
    let verified = library.verify().await;
    let well = verified.as_ref().is_ok_and(autokit_library::Verified::is_ok);
    let same = contents(&library).await.is_ok_and(|now| now == *original);
    // What it was closed with does not matter any more.
    let _ = library.close().await;
    ensure!(same || !well, "something is missing or altered, and nothing was told");
    Ok(!well)
}
