//! `kill -9` in the middle of an import, at seeded points.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use autokit_app::api::{Event, ExistingCards, ImportRequest, ImportSource, JobState};
use autokit_app::commands::StartImport;
use autokit_app::engine::BATCH;
use autokit_library::{Clock, DataDir, Library, Place, Replica};

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
        remains.push(crash_import(cards, seed).await.with_context(|| format!("seed {seed}"))?);
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
    let request = ImportRequest {
        source: ImportSource::Path(file.display().to_string()),
        existing: ExistingCards::Replace,
        reason: String::new(),
    };
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
