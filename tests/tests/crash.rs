//! `kill -9` in the middle of an import leaves a library that opens, with whole batches present
//! or absent and nothing half-written.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context, Result};
use autokit_app::api::{Event, ImportRequest, ImportSource, JobState};
use autokit_app::commands::StartImport;
use autokit_app::engine::{EngineOptions, Vectors};
use autokit_app::node::{Node, NodeOptions};
use autokit_library::{Clock, DataDir, Library, Place};
use autokit_tests::{Seeded, Workplace, made_up_cards};

/// Cards in one transaction.
const BATCH: usize = autokit_app::engine::BATCH;
const CARDS: usize = 2000;
const POINTS: u64 = 20;

fn options(place: &Workplace) -> NodeOptions {
    NodeOptions {
        data_dir: place.data_dir(),
        engine: EngineOptions { vectors: Vectors::StandIn(64), ..EngineOptions::new() },
        standby: false,
        author: "tester".into(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_crashes_during_an_import_lose_no_whole_batch_and_leave_no_half() -> Result<()> {
    let mut survived = HashSet::new();
    for seed in 0..POINTS {
        let place = Workplace::with_stand_in()?;
        let file = place.cards_file("cards.json", &made_up_cards(CARDS))?;
        let mut chance = Seeded::new(seed);
        // Anywhere from before the first batch to the last but one, and anywhere inside a batch.
        let batches = chance.below((CARDS / BATCH) as u64);
        let inside = Duration::from_micros(chance.below(20_000));

        let owner = place.serve()?;
        let node = Node::open(options(&place)).await?;
        let mut news = node.events();
        let request = ImportRequest {
            source: ImportSource::Path(file.display().to_string()),
            existing: autokit_app::api::ExistingCards::Replace,
            reason: String::new(),
        };
        node.call::<StartImport>(request).await?;
        let mut acknowledged = 0;
        while acknowledged < batches * BATCH as u64 {
            if let Event::Job { job } = news.recv().await.context("the owner tells its progress")? {
                anyhow::ensure!(job.state != JobState::Failed, "{:?}", job.error);
                acknowledged = acknowledged.max(job.done);
            }
        }
        // Not a wait for something to happen: the crash point itself.
        std::thread::sleep(inside);
        owner.kill()?;
        drop(node);

        let owned = DataDir::new(place.data_dir()).try_own()?;
        let library = Library::open(Place::Disk(owned), Clock::system()).await?;
        let ids: Vec<_> = library.read(|replica| replica.iter().map(|record| record.id.clone()).collect());
        let present = ids.len();
        assert_eq!(present % BATCH, 0, "seed {seed}: {present} cards is no whole number of batches");
        assert!(
            present as u64 >= acknowledged,
            "seed {seed}: {acknowledged} acknowledged, {present} present"
        );
        let vectors = library.vectors("stand-in-64").await?;
        assert_eq!(
            vectors.len(),
            present,
            "seed {seed}: every card has its vector, no vector lacks its card"
        );
        for id in &ids {
            let history = library.history(id).await?;
            assert_eq!(history.len(), 1, "seed {seed}: {id}");
            let body = library.read(|replica| replica.get(id).map(|record| record.body.to_string()));
            assert_eq!(history[0].body, body, "seed {seed}: the journal and the card differ");
        }
        assert_eq!(library.read(autokit_library::Replica::cursor), present as u64, "seed {seed}");
        library.close().await?;

        let again = place.json(&["import", &file.display().to_string()])?;
        let tally = &again[0]["job"]["tally"];
        assert_eq!(tally["added"], (CARDS - present) as u64, "seed {seed}: {again}");
        assert_eq!(tally["unchanged"], present as u64, "seed {seed}: {again}");
        survived.insert(present);
    }
    // A test whose crashes all fell before or after the import would prove nothing.
    assert!(survived.len() >= 8, "the crashes fell at too few places: {survived:?}");
    Ok(())
}
