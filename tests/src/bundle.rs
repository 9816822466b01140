//! Libraries that exchange bundles.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use autokit_api::commands::{Export, StartImport};
use autokit_api::{ExistingCards, ExportRequest, Format, ImportRequest, ImportSource, Job, Landing};
use autokit_app::node::Node;
use autokit_library::Clock;
use jiff::Timestamp;
use serde_json::Value;
use surrealdb::Surreal;
use surrealdb::engine::local::SurrealKv;
use surrealdb::types::{Object, RecordId, object};

use crate::agent::{wait_for_job, wait_for_jobs};
use crate::{Workplace, made_up_cards};

/// A clock that moves a millisecond with every look, until it is stopped.
#[derive(Clone, Debug)]
pub struct TestClock(Arc<Mutex<(i64, i64)>>);

impl TestClock {
    /// Starts at the beginning of a year.
    pub fn new() -> TestClock {
        TestClock(Arc::new(Mutex::new((1_767_225_600_000, 1))))
    }

    /// Stops it at a moment, in milliseconds.
    ///
    /// # Panics
    /// When a holder of the hands did.
    pub fn stop_at(&self, at: i64) {
        *self.0.lock().expect("no holder panics") = (at, 0);
    }

    /// The clock.
    ///
    /// # Panics
    /// When it was stopped at a moment no calendar has.
    pub fn clock(&self) -> Clock {
        let hands = self.clone();
        Clock::from_fn(move || {
            let (at, step) = &mut *hands.0.lock().expect("no holder panics");
            *at += *step;
            Timestamp::from_millisecond(*at).expect("a moment")
        })
    }
}

impl Default for TestClock {
    fn default() -> TestClock {
        TestClock::new()
    }
}

/// The files of a bundle: names and contents.
pub type Files = Vec<(String, Vec<u8>)>;

/// The files in a container, in their order.
///
/// # Errors
/// When it is none, or damaged.
pub fn unpack(container: impl Read + Seek) -> Result<Files> {
    let mut zip = zip::ZipArchive::new(container)?;
    let mut files = Files::new();
    for at in 0..zip.len() {
        let mut file = zip.by_index(at)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        files.push((file.name()?.into_owned(), content));
    }
    Ok(files)
}

/// Exports everything as a bundle, with history and vectors.
///
/// # Errors
/// When it fails.
pub async fn export(node: &Node, path: &Path) -> Result<()> {
    let request = ExportRequest {
        path: Some(path.display().to_string()),
        format: Format::Bundle,
        history: true,
        vectors: true,
        name: "All cards".to_owned(),
        ..ExportRequest::default()
    };
    node.call::<Export>(request).await?;
    Ok(())
}

/// Imports a bundle and waits until it is in.
///
/// # Errors
/// When it fails.
pub async fn import(node: &Node, path: &Path, landing: Landing) -> Result<Job> {
    let request = ImportRequest {
        vocabulary: false,
        existing: ExistingCards::Merge,
        landing,
        ..ImportRequest::new(ImportSource::Path(path.display().to_string()))
    };
    let job = node.call::<StartImport>(request).await?.job;
    wait_for_job(node, &job).await
}

/// Imports a file of cards in place of those there are, and waits until they are in.
///
/// # Errors
/// When it fails.
pub async fn replace(node: &Node, path: &Path) -> Result<Job> {
    let request = ImportRequest::new(ImportSource::Path(path.display().to_string()));
    let job = node.call::<StartImport>(request).await?.job;
    wait_for_job(node, &job).await
}

/// The moment both exports of an exchange are made, in milliseconds.
const EXPORTED: i64 = 1_780_000_000_000;

/// What exchanging a whole library came to.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Bytes of the bundle.
    pub bytes: u64,
    /// How long writing it took.
    pub export: Duration,
    /// How long importing it took.
    pub import: Duration,
    /// How long reading the same JSON and inserting it bare took.
    pub bare: Duration,
    /// The most memory the importing process had, in KiB.
    pub peak_kib: u64,
}

/// Makes a library of `cards` cards with three revisions each and vectors of 384 numbers, exports it,
/// imports it into an empty library in a process of its own, exports that, and compares the two files.
///
/// # Errors
/// When the second file is not the first, byte by byte.
pub async fn exchange(cards: usize) -> Result<Exchange> {
    let (here, there) = (Workplace::with_wide_stand_in()?, Workplace::with_wide_stand_in()?);
    let hands = TestClock::new();
    let (one, two) = (here.path("one.toolcards"), there.path("two.toolcards"));
    let export_took = {
        let node = here.node_of(384, "Alice", hands.clock()).await?;
        let mut all = made_up_cards(cards);
        for version in ["first", "second", "third"] {
            for card in &mut all {
                let card = card.as_object_mut().context("a card")?;
                card.insert("usage".to_owned(), Value::from(format!("{version} version")));
            }
            replace(&node, &here.cards_file("cards.json", &all)?).await?;
        }
        wait_for_jobs(&node).await?;
        hands.stop_at(EXPORTED);
        let began = Instant::now();
        export(&node, &one).await?;
        let took = began.elapsed();
        node.close().await?;
        took
    };
    let serving = there.serve()?;
    let import_took = {
        let node = there.node(384).await?;
        let began = Instant::now();
        let job = import(&node, &one, Landing::Library).await?;
        let took = began.elapsed();
        let added = job.tally.as_ref().map(|tally| tally.added as usize);
        ensure!(added == Some(cards), "{job:?}");
        took
    };
    let peak_kib = serving.peak_kib()?;
    serving.stop()?;
    {
        let node = there.node_of(384, "Alice", hands.clock()).await?;
        hands.stop_at(EXPORTED);
        export(&node, &two).await?;
        node.close().await?;
    }
    if std::fs::read(&one)? != std::fs::read(&two)? {
        bail!("the second bundle is not the first: {}", difference(&one, &two)?);
    }
    let bare = bare_insert(&one, &there.path("bare")).await?;
    Ok(Exchange {
        bytes: std::fs::metadata(&one)?.len(),
        export: export_took,
        import: import_took,
        bare,
        peak_kib,
    })
}

/// The first line in which two bundles differ.
fn difference(one: &Path, two: &Path) -> Result<String> {
    let (mut one, mut two) =
        (zip::ZipArchive::new(File::open(one)?)?, zip::ZipArchive::new(File::open(two)?)?);
    for name in ["bundle.json", "cards.jsonl", "history.jsonl", "vectors.jsonl"] {
        let (mut a, mut b) = (String::new(), String::new());
        one.by_name(name)?.read_to_string(&mut a)?;
        two.by_name(name)?.read_to_string(&mut b)?;
        let differs = a.lines().zip(b.lines()).find(|(a, b)| a != b && name != "bundle.json");
        if let Some((a, b)) = differs {
            return Ok(format!("{name}: {a} and {b}"));
        }
        if a.lines().count() != b.lines().count() {
            return Ok(format!("{name}: {} and {} lines", a.lines().count(), b.lines().count()));
        }
    }
    Ok("only in what they say of themselves".to_owned())
}

/// Reads the lines of a bundle with `serde_json` and inserts them as they are into a database without a
/// schema: what cannot be avoided.
async fn bare_insert(bundle: &Path, store: &Path) -> Result<Duration> {
    let began = Instant::now();
    let db = Surreal::new::<SurrealKv>(format!("{}?sync=every", store.display())).await?;
    db.use_ns("a").use_db("b").await?;
    let mut zip = zip::ZipArchive::new(File::open(bundle)?)?;
    for (table, name) in [("card", "cards.jsonl"), ("revision", "history.jsonl"), ("vector", "vectors.jsonl")]
    {
        let mut text = String::new();
        zip.by_name(name)?.read_to_string(&mut text)?;
        let lines: Vec<&str> = text.lines().collect();
        for (at, window) in lines.chunks(500).enumerate() {
            let rows = window.iter().enumerate().map(|(n, line)| -> Result<Object> {
                let value: Value = serde_json::from_str(line)?;
                let id = RecordId::new(table, format!("{:010}", at * 500 + n));
                Ok(object! { id: id, value: surrealdb::types::SurrealValue::into_value(value) })
            });
            let rows: Vec<Object> = rows.collect::<Result<_>>()?;
            db.query(format!("INSERT INTO {table} $rows RETURN NONE")).bind(("rows", rows)).await?.check()?;
        }
    }
    Ok(began.elapsed())
}
