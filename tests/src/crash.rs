//! `kill -9` in the middle of an import or of a review, at seeded points.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use autokit_app::api::{Event, ImportRequest, ImportSource, JobState};
use autokit_app::commands::StartImport;
use autokit_app::host::{Endpoint, PROTOCOL};
use autokit_library::{Clock, DataDir, Library, Place, Replica};
use autokit_retrieve::Document;
use autokit_toolcard::{Author, Operation, ProposalState};
use serde_json::json;

use crate::review::{put_cards, refresh};
use crate::{Seeded, Workplace, made_up_cards};

/// What a crash left.
#[derive(Clone, Copy, Debug)]
pub struct Remains {
    /// Cards in the library.
    pub cards: usize,
    /// Whether the crash fell into the writing of the import, which was then forgotten.
    pub cut_off: bool,
    /// How long the library took to open.
    pub opening: Duration,
}

/// Kills the owner of a library during an import of `cards` cards, at `points` seeded places in
/// libraries of their own, and looks at what is left.
///
/// # Errors
/// When a library does not open, holds part of the import, misses what was acknowledged, or its cards,
/// vectors and journal disagree.
pub async fn crash_imports(cards: usize, points: u64) -> Result<Vec<Remains>> {
    let whole = Box::pin(crash_import(cards, 0, None)).await.context("rehearsal")?.1;
    let mut remains = Vec::new();
    for seed in 0..points {
        let left = Box::pin(crash_import(cards, seed, Some(whole))).await;
        remains.push(left.with_context(|| format!("seed {seed}"))?.0);
    }
    Ok(remains)
}

/// Imports and is killed at a seeded moment of the time the import takes; without such a time it comes
/// to its end, and gives how long that took.
async fn crash_import(cards: usize, seed: u64, takes: Option<Duration>) -> Result<(Remains, Duration)> {
    let place = Workplace::with_stand_in()?;
    let file = place.cards_file("cards.json", &made_up_cards(cards))?;
    let mut chance = Seeded::new(seed);
    let owner = place.serve()?;
    let node = place.node(64).await?;
    let mut news = node.events();
    let request = ImportRequest::new(ImportSource::Path(file.display().to_string()));
    let began = Instant::now();
    node.call::<StartImport>(request).await?;
    let mut done = false;
    if let Some(takes) = takes {
        // Not a wait for something to happen: the crash point itself.
        std::thread::sleep(Duration::from_micros(chance.below(takes.as_micros() as u64)));
        while let Ok(event) = news.try_recv() {
            done |= matches!(event, Event::Job { job } if job.state == JobState::Done);
        }
    } else {
        while !done {
            if let Event::Job { job } = news.recv().await.context("the owner tells its progress")? {
                ensure!(job.state != JobState::Failed, "{:?}", job.error);
                done = job.state == JobState::Done;
            }
        }
    }
    let took = began.elapsed();
    owner.kill()?;
    drop(node);

    let began = Instant::now();
    let owned = DataDir::new(place.data_dir()).try_own()?;
    let library = Library::open(Place::Disk(owned), Clock::system()).await?;
    let opening = began.elapsed();
    let cut_off = library.cut_off();
    let ids: Vec<_> = library.read(|replica| replica.iter().map(|record| record.id.clone()).collect());
    let present = ids.len();
    ensure!(present == 0 || present == cards, "{present} of {cards} cards");
    ensure!(!done || present == cards, "the import was acknowledged, and {present} cards are there");
    ensure!(!cut_off || present == 0, "an import was cut off, and {present} cards are there");
    let vectors = library.vectors(&format!("stand-in-64+{}", Document::DENSE_TEXT)).await?.len();
    ensure!(vectors == present, "{present} cards and {vectors} vectors");
    for id in &ids {
        let history = library.history(id).await?;
        ensure!(history.len() == 1, "{id} has {} revisions", history.len());
        let body = library.read(|replica| replica.get(id).map(|record| record.body.to_string()));
        ensure!(history[0].body == body, "the journal and card {id} differ");
    }
    let cursor = library.read(Replica::cursor);
    ensure!(cursor == present as u64, "{present} cards at cursor {cursor}");
    let imports = library.imports().await?.len();
    ensure!(imports == usize::from(present > 0), "{imports} imports are noted, {present} cards are there");
    library.close().await?;

    let again = place.json(&["import", &file.display().to_string()])?;
    let tally = &again[0]["job"]["tally"];
    ensure!(tally["added"] == cards - present && tally["unchanged"] == present, "{again}");
    Ok((Remains { cards: present, cut_off, opening }, took))
}

/// Kills the owner of a library of `cards` imported cards while the import is undone, at `points` seeded
/// places, and gives how often the undo had been made.
///
/// # Errors
/// When a library does not open or holds the undo in part.
pub async fn crash_undos(cards: usize, points: u64) -> Result<usize> {
    let made = Workplace::with_stand_in()?;
    let file = made.cards_file("cards.json", &made_up_cards(cards))?;
    made.json(&["import", &file.display().to_string()])?;
    let mut undone = 0;
    let mut takes = Duration::from_millis(50);
    // The first comes to its end, and tells how long that takes.
    for seed in 0..=points {
        let place = Workplace::with_stand_in()?;
        copy_tree(&made.data_dir(), &place.data_dir())?;
        let whole = seed == 0;
        let (took, gone) = Box::pin(crash_undo(&place, cards, seed, (!whole).then_some(takes)))
            .await
            .with_context(|| format!("seed {seed}"))?;
        if whole {
            takes = took;
        } else {
            undone += usize::from(gone);
        }
    }
    Ok(undone)
}

async fn crash_undo(
    place: &Workplace,
    cards: usize,
    seed: u64,
    takes: Option<Duration>,
) -> Result<(Duration, bool)> {
    let owner = place.serve()?;
    let endpoint = Endpoint::read(&DataDir::new(place.data_dir()).endpoint_file()).context("an endpoint")?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let began = Instant::now();
    let undo = tokio::spawn(
        client
            .post(format!("{}/v1/call/undo", endpoint.base()))
            .bearer_auth(&endpoint.token)
            .header("x-autokit-protocol", PROTOCOL)
            .header("x-autokit-author", "ann")
            .json(&json!({}))
            .send(),
    );
    let answered = if let Some(takes) = takes {
        let takes = takes.as_micros() as u64;
        // Every other one early, while the undo is still being written down.
        let span = if seed.is_multiple_of(2) { takes * 5 / 4 } else { takes / 6 };
        // Not a wait for something to happen: the crash point itself.
        std::thread::sleep(Duration::from_micros(Seeded::new(seed).below(span)));
        let answered = undo.is_finished();
        owner.kill()?;
        // Answered or cut off: either is fine here, what is left is looked at.
        let _ = undo.await?;
        answered
    } else {
        let answer = undo.await??;
        ensure!(answer.status().is_success(), "{}", answer.text().await?);
        owner.kill()?;
        true
    };
    let took = began.elapsed();
    let owned = DataDir::new(place.data_dir()).try_own()?;
    let library = Library::open(Place::Disk(owned), Clock::system()).await?;
    let present = library.read(Replica::len);
    let gone = present == 0;
    ensure!(gone || present == cards, "{present} of {cards} cards");
    ensure!(gone || !answered, "the undo was answered, and the cards are there");
    let imports = library.imports().await?;
    ensure!(imports.iter().all(|import| import.undone == gone), "{imports:?}, {present} cards");
    ensure!(library.undoable().await?.is_none() == gone, "whether there is something to undo");
    library.close().await?;
    Ok((took, gone))
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Kills the owner of a library while a reviewer accepts `proposals` proposals, at `points` seeded
/// places, and gives how many acceptances each crash left.
///
/// # Errors
/// When a library does not open, lost what was acknowledged, or holds a card, its revision, the
/// decision, its account and the noes in it only in part.
pub async fn crash_accepts(proposals: usize, points: u64) -> Result<Vec<usize>> {
    let mut remains = Vec::new();
    for seed in 0..points {
        remains.push(Box::pin(crash_accept(proposals, seed)).await.with_context(|| format!("seed {seed}"))?);
    }
    Ok(remains)
}

async fn crash_accept(proposals: usize, seed: u64) -> Result<usize> {
    let place = Workplace::with_stand_in()?;
    let names: Vec<String> = (0..proposals).map(|n| format!("tool {n}")).collect();
    let draft = |n: usize| refresh(&names[n], &[("class", json!("New")), ("pricing", json!("free"))]);
    let checker = Author("checker".to_owned());
    {
        let owned = DataDir::new(place.data_dir()).try_own()?;
        let library = Library::open(Place::Disk(owned), Clock::system()).await?;
        put_cards(&library, names.iter().map(|name| json!({ "name": name, "class": "Old" }))).await?;
        for n in 0..proposals {
            library.propose(draft(n), &checker).await?;
        }
        library.close().await?;
    }
    let mut chance = Seeded::new(seed);
    let acknowledged = chance.below(proposals as u64 - 1) as u32;
    let inside = Duration::from_micros(chance.below(12_000));

    let owner = place.serve()?;
    // Asked without a node: that would take the library over and finish what the crash cut off.
    let endpoint = Endpoint::read(&DataDir::new(place.data_dir()).endpoint_file()).context("an endpoint")?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    // One field is taken over, the other turned down: both belong to the one decision.
    let accept = |id: u32| {
        client
            .post(format!("{}/v1/call/proposal_accept", endpoint.base()))
            .bearer_auth(&endpoint.token)
            .header("x-autokit-protocol", PROTOCOL)
            .header("x-autokit-author", "ann")
            .json(&json!({ "id": id, "rejected": ["pricing"] }))
            .send()
    };
    for id in 1..=acknowledged {
        let answer = accept(id).await?;
        ensure!(answer.status().is_success(), "accepting {id}: {}", answer.text().await?);
    }
    let last = tokio::spawn(accept(acknowledged + 1));
    // Not a wait for something to happen: the crash point itself.
    std::thread::sleep(inside);
    owner.kill()?;
    // Answered or cut off: either is fine here, what is left is looked at.
    let _ = last.await?;

    let owned = DataDir::new(place.data_dir()).try_own()?;
    let library = Library::open(Place::Disk(owned), Clock::system()).await?;
    let mut accepted = 0;
    for n in 0..proposals {
        let id = n as u32 + 1;
        let proposal = library.proposal(id).await?;
        let history = library.history(&proposal.draft.subject()).await?;
        let told = library.proposal_events(id).await?.iter().any(|event| event.what == "accepted");
        let card = library.card(&proposal.draft.subject())?.card();
        let change = library.change_of_proposal(id).await?;
        let whole = proposal.state == ProposalState::Accepted;
        let parts = [
            card.text("class") == Some("New"),
            history[0].operation == Operation::Accept,
            told,
            proposal.decisions.len() == 2,
            change.as_deref() == Some(history[0].change.as_str()),
        ];
        ensure!(parts.iter().all(|part| *part == whole), "proposal {id}: accepted {whole}, {parts:?}");
        ensure!(whole || id > acknowledged, "proposal {id} was acknowledged and is {:?}", proposal.state);
        let again = library.propose(draft(n), &checker).await?;
        ensure!(
            again.suppressed.contains(&"pricing".to_owned()) == whole,
            "proposal {id}: the no is {whole}"
        );
        accepted += usize::from(whole);
    }
    library.close().await?;
    Ok(accepted)
}
