//! `kill -9` in the middle of an import or of a review, at seeded points.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use autokit_app::api::{Event, ImportRequest, ImportSource, JobState};
use autokit_app::commands::StartImport;
use autokit_app::engine::BATCH;
use autokit_app::host::{Endpoint, PROTOCOL};
use autokit_library::{Clock, DataDir, Library, Place, Replica};
use autokit_toolcard::{Author, Operation, ProposalState};
use serde_json::json;

use crate::review::{put_cards, refresh};
use crate::{Seeded, Workplace, made_up_cards};

/// What a crash left.
#[derive(Clone, Copy, Debug)]
pub struct Remains {
    /// Cards in the library.
    pub cards: usize,
    /// How long the library took to open.
    pub opening: Duration,
}

/// Kills the owner of a library during an import of `cards` cards, at `points` seeded places in
/// libraries of their own, and looks at what is left.
///
/// # Errors
/// When a library does not open, holds half a batch, misses what was acknowledged, or its cards,
/// vectors and journal disagree.
pub async fn crash_imports(cards: usize, points: u64) -> Result<Vec<Remains>> {
    let mut remains = Vec::new();
    for seed in 0..points {
        remains.push(Box::pin(crash_import(cards, seed)).await.with_context(|| format!("seed {seed}"))?);
    }
    Ok(remains)
}

async fn crash_import(cards: usize, seed: u64) -> Result<Remains> {
    let place = Workplace::with_stand_in()?;
    let file = place.cards_file("cards.json", &made_up_cards(cards))?;
    let mut chance = Seeded::new(seed);
    // Anywhere from before the first batch to the last but one, and anywhere inside a batch.
    let batches = chance.below((cards / BATCH) as u64);
    let inside = Duration::from_micros(chance.below(20_000));

    let owner = place.serve()?;
    let node = place.node(64).await?;
    let mut news = node.events();
    let request = ImportRequest::new(ImportSource::Path(file.display().to_string()));
    node.call::<StartImport>(request).await?;
    let mut acknowledged = 0;
    while acknowledged < batches * BATCH as u64 {
        if let Event::Job { job } = news.recv().await.context("the owner tells its progress")? {
            ensure!(job.state != JobState::Failed, "{:?}", job.error);
            acknowledged = acknowledged.max(job.done);
        }
    }
    // Not a wait for something to happen: the crash point itself.
    std::thread::sleep(inside);
    owner.kill()?;
    drop(node);

    let began = Instant::now();
    let owned = DataDir::new(place.data_dir()).try_own()?;
    let library = Library::open(Place::Disk(owned), Clock::system()).await?;
    let opening = began.elapsed();
    let ids: Vec<_> = library.read(|replica| replica.iter().map(|record| record.id.clone()).collect());
    let present = ids.len();
    ensure!(present.is_multiple_of(BATCH), "{present} cards is no whole number of batches");
    ensure!(present as u64 >= acknowledged, "{acknowledged} acknowledged, {present} present");
    let vectors = library.vectors("stand-in-64").await?.len();
    ensure!(vectors == present, "{present} cards and {vectors} vectors");
    for id in &ids {
        let history = library.history(id).await?;
        ensure!(history.len() == 1, "{id} has {} revisions", history.len());
        let body = library.read(|replica| replica.get(id).map(|record| record.body.to_string()));
        ensure!(history[0].body == body, "the journal and card {id} differ");
    }
    let cursor = library.read(Replica::cursor);
    ensure!(cursor == present as u64, "{present} cards at cursor {cursor}");
    library.close().await?;

    let again = place.json(&["import", &file.display().to_string()])?;
    let tally = &again[0]["job"]["tally"];
    ensure!(tally["added"] == cards - present && tally["unchanged"] == present, "{again}");
    Ok(Remains { cards: present, opening })
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
