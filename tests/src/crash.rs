//! `kill -9` at named points of a change, and what is left of it.
//!
//! A rehearsal notes which points a change passes; then it is made again for each of them, and its process
//! ends there. What asked for it asks again under the same request key, as after any owner that ended, and
//! the library has to be as if nothing had happened.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{StartImport, WaitJob};
use autokit_api::{ImportRequest, ImportSource, JobState, JobWait};
use autokit_app::ErrorCode;
use autokit_app::node::Node;
use autokit_library::{Clock, Library, Storage};
use autokit_search::text_recipe;
use autokit_toolcard::{Author, CardKey};
use serde_json::{Value, json};

use crate::review::{put_cards, refresh};
use crate::{Workplace, copy_tree, made_up_cards};

/// What a crash left.
#[derive(Clone, Copy, Debug)]
pub struct Remains {
    /// Cards in the library.
    pub cards: usize,
    /// How long the library took to open.
    pub opening: Duration,
}

/// A place at which a process ends: a name, and how often it was passed by then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    name: String,
    nth: usize,
}

impl Point {
    fn variable(&self) -> String {
        format!("{}@{}", self.name, self.nth)
    }
}

/// The points in a log of those that were passed, from the line `first` on.
fn points(log: &str, first: usize) -> Vec<Point> {
    let mut passed: HashMap<&str, usize> = HashMap::new();
    let mut all = Vec::new();
    for (number, name) in log.lines().enumerate() {
        let nth = passed.entry(name).or_default();
        *nth += 1;
        if number >= first {
            all.push(Point { name: name.to_owned(), nth: *nth });
        }
    }
    all
}

/// As many of them as are asked for, spread evenly, the first and the last among them.
fn spread(all: Vec<Point>, most: usize) -> Vec<Point> {
    let last = all.len().saturating_sub(1);
    if all.len() <= most || most < 2 {
        return all;
    }
    (0..most).map(|n| all[n * last / (most - 1)].clone()).collect()
}

async fn open(place: &Workplace) -> Result<Library> {
    Ok(Library::open(Storage::Disk(place.own().await?), Clock::system()).await?)
}

/// Kills the owner of a library during an import of `cards` cards, at up to `most` points, each in a
/// library of its own, and looks at what is left.
///
/// # Errors
/// When a library does not open, holds part of the import, misses what was acknowledged, or its cards,
/// vectors and journal disagree.
pub async fn crash_imports(cards: usize, most: usize) -> Result<Vec<Remains>> {
    let log = tempfile::NamedTempFile::new()?;
    let path = log.path().display().to_string();
    let place = Workplace::with_stand_in()?;
    let owner = place.serve_with(&[("AUTOKIT_CRASH_LOG", &path)])?;
    let first = fs::read_to_string(&path)?.lines().count();
    ensure!(import(&place, cards).await?, "the rehearsal");
    owner.kill()?;
    let passed = points(&fs::read_to_string(&path)?, first);
    let mut remains = Vec::new();
    for point in spread(passed, most) {
        let remaining = Box::pin(crash_import(cards, &point)).await;
        remains.push(remaining.with_context(|| point.variable())?);
    }
    Ok(remains)
}

/// Imports made-up cards, and says whether the owner was there to the end.
async fn import(place: &Workplace, cards: usize) -> Result<bool> {
    let file = place.cards_file("cards.json", &made_up_cards(cards))?;
    let node = place.node(64).await?;
    let request = ImportRequest::new(ImportSource::Path(file.display().to_string()));
    let job = match node.call::<StartImport>(request).await {
        Ok(job) => job.job,
        Err(error) if error.code == ErrorCode::OwnerUnreachable => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let mut after = 0;
    let outcome = loop {
        match node.call::<WaitJob>(JobWait { job: job.clone(), after }).await {
            Ok(job) if job.state == JobState::Done => break true,
            Ok(job) if job.state == JobState::Running => after = job.version,
            // Asked of the process that took over, which knows nothing of the job.
            Err(_) => break false,
            Ok(job) => anyhow::bail!("the import ended as {:?}: {:?}", job.state, job.error),
        }
    };
    node.close().await?;
    Ok(outcome)
}

async fn crash_import(cards: usize, point: &Point) -> Result<Remains> {
    let place = Workplace::with_stand_in()?;
    let owner = place.serve_with(&[("AUTOKIT_CRASH_POINT", &point.variable())])?;
    let done = import(&place, cards).await?;
    ensure!(owner.was_killed()?, "the owner did not come to the point");

    let began = Instant::now();
    let library = open(&place).await?;
    let opening = began.elapsed();
    let ids: Vec<_> = library.read(|replica| replica.iter().map(|record| record.id.clone()).collect());
    let present = ids.len();
    ensure!(present == 0 || present == cards, "{present} of {cards} cards");
    ensure!(!done || present == cards, "the import was acknowledged, and {present} cards are there");
    let vectors = library.vectors(&format!("stand-in-64+{}", text_recipe())).await?.len();
    ensure!(vectors == present, "{present} cards and {vectors} vectors");
    let verified = library.verify().await?;
    ensure!(verified.is_ok(), "{:?}", verified.problems);
    ensure!(verified.rows == present as u64, "{} revisions of {present} cards", verified.rows);
    let imports = library.imports().await?.len();
    ensure!(imports == usize::from(present > 0), "{imports} imports are noted, {present} cards are there");
    library.close().await?;

    let file = place.path("cards.json");
    let again = place.json(&["import", &file.display().to_string()])?;
    let tally = &again[0]["job"]["tally"];
    ensure!(tally["added"] == cards - present && tally["unchanged"] == present, "{again}");
    Ok(Remains { cards: present, opening })
}

/// A change a person makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Adds a card.
    Create,
    /// Edits a card.
    Edit,
    /// Removes two cards.
    Delete,
    /// Brings a revision of a card back.
    Restore,
    /// Accepts a proposal, one field of two.
    Accept,
    /// Turns a proposal down.
    Reject,
    /// Says something about a proposal.
    Comment,
    /// Takes back that a proposal was turned down.
    Reopen,
    /// Takes back that a proposal was accepted.
    ReopenAccepted,
    /// Takes an import of many cards back.
    UndoImport,
    /// Redoes the acceptance of a proposal that was undone.
    Redo,
}

impl Change {
    /// All of them.
    pub const ALL: [Change; 11] = [
        Change::Create,
        Change::Edit,
        Change::Delete,
        Change::Restore,
        Change::Accept,
        Change::Reject,
        Change::Comment,
        Change::Reopen,
        Change::ReopenAccepted,
        Change::UndoImport,
        Change::Redo,
    ];

    async fn make(self, node: &Node) -> Result<Value, autokit_app::ApiError> {
        let id = |name: &str| CardKey::new("", name).id();
        let (name, body) = match self {
            Change::Create => ("cards_create", json!({ "fields": { "name": "made" }, "reason": "" })),
            Change::Edit => {
                let fields = json!({ "name": "tool 1", "class": "Edited" });
                (
                    "cards_update",
                    json!({ "card": id("tool 1"), "expected": null, "fields": fields, "reason": "" }),
                )
            }
            Change::Delete => {
                ("cards_delete", json!({ "cards": [id("tool 1"), id("tool 2")], "reason": "" }))
            }
            Change::Restore => ("cards_restore", json!({ "card": id("tool 3"), "number": 1 })),
            Change::Accept => ("proposals_accept", json!({ "id": 4, "rejected": ["pricing"] })),
            Change::Reject => ("proposals_reject", json!({ "id": 4, "reason": "no" })),
            Change::Comment => ("proposals_comment", json!({ "id": 4, "words": "is this so?" })),
            Change::Reopen => ("proposals_reopen", json!({ "id": 2 })),
            Change::ReopenAccepted => ("proposals_reopen", json!({ "id": 3 })),
            Change::UndoImport => {
                let imports = node.call_json("imports_list", json!({})).await?;
                ("imports_undo", json!({ "import": imports[0]["import"] }))
            }
            Change::Redo => ("changes_redo", json!({})),
        };
        node.call_json(name, body).await
    }
}

/// Kills the owner of a library at up to `most` points of each change, and gives how many crashes there
/// were.
///
/// # Errors
/// When a change is lost, half made or made twice.
pub async fn crash_changes(changes: &[Change], most: usize) -> Result<usize> {
    let made = Workplace::with_stand_in()?;
    prepare(&made).await?;
    let mut crashes = 0;
    for change in changes {
        let log = tempfile::NamedTempFile::new()?;
        let path = log.path().display().to_string();
        let place = of(&made)?;
        let owner = place.serve_with(&[("AUTOKIT_CRASH_LOG", &path)])?;
        let first = fs::read_to_string(&path)?.lines().count();
        let node = place.node(64).await?;
        change.make(&node).await.with_context(|| format!("{change:?}, rehearsed"))?;
        drop(node);
        owner.kill()?;
        let passed = points(&fs::read_to_string(&path)?, first);
        ensure!(!passed.is_empty(), "{change:?} passes no point");
        let expected = state(&place).await?;
        for point in spread(passed, most) {
            let crashed = Box::pin(crash_change(&made, *change, &point, &expected)).await;
            crashed.with_context(|| format!("{change:?} at {}", point.variable()))?;
            crashes += 1;
        }
    }
    Ok(crashes)
}

async fn crash_change(made: &Workplace, change: Change, point: &Point, expected: &[String]) -> Result<()> {
    let place = of(made)?;
    let owner = place.serve_with(&[("AUTOKIT_CRASH_POINT", &point.variable())])?;
    let node = place.node(64).await?;
    // The node takes over from the owner that ended, and asks again under the same key.
    change.make(&node).await.context("asked again")?;
    ensure!(owner.was_killed()?, "the owner did not come to the point");
    node.close().await?;
    let is = state(&place).await?;
    ensure!(is == expected, "{is:#?} instead of {expected:#?}");
    Ok(())
}

/// Cards with a past, proposals that wait, one that was turned down, one that was accepted, one whose acceptance was
/// undone, and an import.
async fn prepare(place: &Workplace) -> Result<()> {
    let names: Vec<String> = (1..=6).map(|n| format!("tool {n}")).collect();
    let library = open(place).await?;
    put_cards(&library, names.iter().map(|name| json!({ "name": name, "class": "Old" }))).await?;
    let by = Author("checker".to_owned());
    for name in &names[1..] {
        let draft = refresh(name, &[("class", json!("New")), ("pricing", json!("free"))]);
        library.propose(draft, &by, None).await?;
    }
    library.close().await?;
    let node = place.node(64).await?;
    let id = CardKey::new("", "tool 3").id();
    let fields = json!({ "name": "tool 3", "class": "Edited" });
    let body = json!({ "card": id, "expected": null, "fields": fields, "reason": "" });
    node.call_json("cards_update", body).await?;
    node.call_json("proposals_reject", json!({ "id": 2, "reason": "no" })).await?;
    node.call_json("proposals_accept", json!({ "id": 3 })).await?;
    node.call_json("proposals_accept", json!({ "id": 5, "rejected": ["pricing"] })).await?;
    node.close().await?;
    let file = place.cards_file("cards.json", &made_up_cards(1_200))?;
    place.json(&["import", &file.display().to_string()])?;
    place.json(&["undo"])?;
    Ok(())
}

fn of(made: &Workplace) -> Result<Workplace> {
    let place = Workplace::with_stand_in()?;
    copy_tree(&made.data_dir(), &place.data_dir())?;
    Ok(place)
}

/// Everything a change can touch, without times; the library has to be well.
async fn state(place: &Workplace) -> Result<Vec<String>> {
    let library = open(place).await?;
    let verified = library.verify().await?;
    ensure!(verified.is_ok(), "{:?}", verified.problems);
    let mut lines = Vec::new();
    let records: Vec<_> = library.read(|replica| replica.iter().cloned().collect());
    for record in records.iter().filter(|record| record.key.provider.is_empty()) {
        for revision in library.history(&record.id).await? {
            lines.push(format!(
                "{} {} {:?} {:?}",
                record.id, revision.number, revision.operation, revision.body
            ));
        }
    }
    lines.sort();
    lines.push(format!("{} cards, {} rows", verified.cards, verified.rows));
    for proposal in library.proposals(None).await? {
        let events = library.proposal_events(proposal.id).await?;
        let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        let decided: Vec<_> = proposal.decisions.iter().map(|field| (&field.field, field.verdict)).collect();
        lines.push(format!("{} {:?} {decided:?} {kinds:?}", proposal.id, proposal.state));
    }
    let imports = library.imports().await?;
    lines.extend(imports.iter().map(|import| format!("import, undone: {}", import.undone)));
    lines.push(format!("undoable: {:?}", library.undoable().await?.map(|(_, reason)| reason)));
    lines.push(format!("redoable: {:?}", library.redoable().await?.map(|(_, reason)| reason)));
    library.close().await?;
    Ok(lines)
}
