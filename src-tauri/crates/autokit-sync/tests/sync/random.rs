//! Random edits of several people, whose connection ends anywhere and whose server is killed: all end up with the same
//! cards, no edit is lost, none is made twice.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use anyhow::{Context as _, Result, ensure};
use autokit_sync::{Report, SyncScope, TeamSync};
use autokit_team::{Address, CardFilter, Connection, Cursor, Role, Session, SharedCard};
use autokit_test_server::Server;
use autokit_toolcard::ProposalState;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use serde_json::json;

use crate::kitchen::{DATABASE, Kitchen, Person, card};

/// Names of the people.
const NAMES: [&str; 4] = ["ann", "bea", "cleo", "dora"];
/// Fields that are edited.
const FIELDS: [&str; 3] = ["pricing", "auth", "import_path"];
/// What is done in one run.
const STEPS: usize = 40;
/// Synchronizations after which everybody has everything, at the latest.
const ROUNDS: usize = 10;

/// The seeds of a test's runs: more than in continuous integration with `AUTOKIT_RUNS`, and one with `AUTOKIT_SEED`.
fn seeds(first: u64, runs: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("AUTOKIT_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + number("AUTOKIT_RUNS").unwrap_or(runs),
    }
}

/// Runs a future for a number of steps; `None` if it did not end by then, as when the program or the connection ends.
pub(crate) struct Cut<F> {
    pub(crate) future: Pin<Box<F>>,
    pub(crate) left: usize,
}

impl<F: Future> Future for Cut<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(None) };
        self.left = left;
        self.future.as_mut().poll(context).map(Some)
    }
}

/// An edit: who made it, of which field of which card.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Edit {
    by: &'static str,
    card: String,
    field: &'static str,
}

/// What people did.
#[derive(Default)]
struct Done {
    /// The newest edit of each field by each person, as a text that occurs nowhere else.
    edits: HashMap<Edit, String>,
    tokens: usize,
    /// Cards that were added.
    added: usize,
    /// Cards that somebody deleted.
    deleted: HashSet<(&'static str, String)>,
}

/// What somebody looks at who was told of something, or was not.
fn look(random: &mut Pcg64Mcg) -> SyncScope {
    match random.random_range(0..4) {
        0 => SyncScope::News { proposals: false },
        1 => SyncScope::News { proposals: true },
        _ => SyncScope::Whole,
    }
}

/// Adds two people or more.
async fn some(kitchen: &Kitchen, random: &mut Pcg64Mcg) -> Result<Vec<Person>> {
    let mut people = Vec::new();
    for name in &NAMES[..random.random_range(2..=NAMES.len())] {
        people.push(kitchen.person(name, Role::Reviewer).await?);
    }
    Ok(people)
}

/// Proposes something, or decides on what is proposed.
async fn discuss(person: &Person, done: &mut Done, random: &mut Pcg64Mcg) -> Result<()> {
    let pending = person.in_review().await?;
    if random.random_range(0..2) == 0 || pending.is_empty() {
        let names: Vec<String> = person.cards_named();
        if names.is_empty() {
            return Ok(());
        }
        done.tokens += 1;
        let value = json!(format!("token {} of {}", done.tokens, person.name));
        let field = FIELDS[random.random_range(0..FIELDS.len())];
        person.propose(&names[random.random_range(0..names.len())], field, value).await?;
        return Ok(());
    }
    let proposal = &pending[random.random_range(0..pending.len())];
    if random.random_range(0..2) == 0 {
        person.library.reject(proposal.id, &person.author(), "It is wrong", None).await?;
    } else if let Err(error) = person.accept_one(proposal).await {
        // What does not go with the card any more cannot be accepted; everything else can.
        ensure!(!proposal.conflicts.is_empty() || proposal.draft.card.is_none(), "{error}: {proposal:?}");
    }
    Ok(())
}

/// What of the proposals everybody has to agree on: what is proposed to the team, and what became of it. What somebody
/// decided before the team knew of it is their own; and whoever never had a card that was deleted reads what is proposed about
/// it once it is restored.
async fn decisions(person: &Person) -> Result<Vec<String>> {
    let links = person.library.proposal_links().await?;
    let is_shared =
        |one: &autokit_toolcard::Proposal| links.get(&one.id).is_some_and(|link| link.key.is_some());
    let has_card = |one: &autokit_toolcard::Proposal| {
        one.draft.card.as_ref().is_none_or(|card| person.library.card(card).is_ok())
    };
    let mut proposals = person.library.proposals(None).await?;
    proposals.retain(|one| is_shared(one) && has_card(one));
    let said = |one: &autokit_toolcard::Proposal| {
        let values: Vec<String> =
            one.draft.fields.iter().map(|field| format!("{}={:?}", field.field, field.value)).collect();
        format!("{:?} {:?} {}", one.state, one.decided_by, values.join(", "))
    };
    let is_withdrawn = |one: &&autokit_toolcard::Proposal| one.state == ProposalState::Withdrawn;
    let mut all: Vec<String> = proposals.iter().filter(|one| !is_withdrawn(one)).map(said).collect();
    all.sort();
    Ok(all)
}

async fn act(person: &Person, done: &mut Done, random: &mut Pcg64Mcg) -> Result<()> {
    let names = person.cards_named();
    match random.random_range(0..10) {
        0..2 => {
            done.added += 1;
            person.add(card(&format!("card {} of {}", done.added, person.name), &json!({}))).await?;
        }
        2 if names.len() > 2 => {
            let name = &names[random.random_range(0..names.len())];
            person.delete(name).await?;
            // Their edits of it do not matter to them any more.
            done.edits.retain(|edit, _| edit.by != person.name || edit.card != *name);
            done.deleted.insert((person.name, name.clone()));
        }
        _ if !names.is_empty() => {
            let card = names[random.random_range(0..names.len())].clone();
            let field = FIELDS[random.random_range(0..FIELDS.len())];
            done.tokens += 1;
            let token = format!("token {} of {}", done.tokens, person.name);
            person.edit(&card, json!({ field: token })).await?;
            done.edits.insert(Edit { by: person.name, card, field }, token);
        }
        _ => {}
    }
    Ok(())
}

/// The revisions of every card of the team, deleted ones included.
async fn revisions(session: &Session) -> Result<Vec<Vec<SharedCard>>> {
    let mut all = Vec::new();
    for (card, _) in session.visible().await? {
        all.push(session.history(&card).await?);
    }
    Ok(all)
}

/// Checks what everybody ended up with.
async fn check(people: &[Person], done: &Done) -> Result<()> {
    for person in people {
        ensure!(person.cards() == people[0].cards(), "{:#?}\n{:#?}", person.cards(), people[0].cards());
        ensure!(person.library.verify().await?.problems.is_empty());
    }
    let session = people[0].sync.session();
    let histories = revisions(session).await?;
    let says = |revision: &SharedCard, token: &str| {
        // Quoted, so that one number is not found in another.
        revision.body.as_deref().is_some_and(|body| body.contains(&format!("\"{token}\"")))
    };
    ensure!(
        histories.len() <= done.added,
        "{} cards were added, the team has {}",
        done.added,
        histories.len()
    );
    for (edit, token) in &done.edits {
        let made: usize = histories
            .iter()
            .map(|history| {
                let before = std::iter::once(None).chain(history.iter().map(Some));
                let pairs = before.zip(history);
                pairs
                    .filter(|(before, after)| {
                        says(after, token) && !before.is_some_and(|one| says(one, token))
                    })
                    .count()
            })
            .sum();
        ensure!(made <= 1, "{token} was made {made} times");
        if made == 1 {
            continue;
        }
        let person = people.iter().find(|person| person.name == edit.by).context("somebody")?;
        let proposals = person.library.proposals(None).await?;
        let in_review = proposals
            .iter()
            .any(|one| one.draft.fields.iter().any(|field| field.value.as_ref() == Some(&json!(token))));
        ensure!(in_review, "{token} for {} is in no revision and not in Review", edit.card);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_end_anywhere_lose_nothing() -> Result<()> {
    for seed in seeds(0, 12) {
        with_cut_connections(seed).await.with_context(|| format!("seed {seed}"))?;
    }
    Ok(())
}

async fn with_cut_connections(seed: u64) -> Result<()> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let kitchen = Kitchen::in_memory().await?;
    let mut people = some(&kitchen, &mut random).await?;
    let mut done = Done::default();
    for step in 0..STEPS {
        let person = random.random_range(0..people.len());
        if random.random_range(0..4) > 0 {
            act(&people[person], &mut done, &mut random).await.with_context(|| format!("step {step}"))?;
            continue;
        }
        let person = &mut people[person];
        let left = random.random_range(1..200);
        let cut = Cut { future: Box::pin(person.sync.round(look(&mut random))), left };
        if cut.await.transpose().with_context(|| format!("round in step {step}"))?.is_none() {
            // As after a new start: what was known in memory is gone, and the library knows the commit in which it ended.
            person.library.set_setting("started", "again").await?;
            let session = Session::sign_in(&kitchen.connection, DATABASE, person.name, person.name).await?;
            person.sync = TeamSync::new(person.library.clone(), session).await?;
        }
    }
    settle(&mut people).await.context("at the end")?;
    check(&people, &done).await
}

/// Synchronizes everybody until nobody has anything new.
async fn settle(people: &mut [Person]) -> Result<()> {
    let mut reports = Vec::new();
    for _ in 0..ROUNDS {
        reports.clear();
        for person in people.iter_mut() {
            reports.push(person.sync().await?);
        }
        if reports.iter().all(|report| *report == Report::default()) {
            return Ok(());
        }
    }
    anyhow::bail!("it does not settle: {reports:?}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_loses_nothing() -> Result<()> {
    for seed in seeds(1_000, 3) {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let folder = tempfile::tempdir()?;
        let mut server = Server::start(&folder.path().join("server"), None).await?;
        let address = Address::Server { url: server.url(), authorities: None };
        let kitchen = Kitchen::at(&address).await?;
        let mut people = some(&kitchen, &mut random).await?;
        let mut done = Done::default();
        for _ in 0..STEPS {
            let person = random.random_range(0..people.len());
            match random.random_range(0..8) {
                0 => {
                    // While somebody sends and receives.
                    let after = std::time::Duration::from_micros(random.random_range(0..40_000));
                    let look = look(&mut random);
                    let kill = async {
                        tokio::time::sleep(after).await;
                        server.kill().await
                    };
                    tokio::select! {
                        // It ends before the server does, or with it: nobody answers any more.
                        synced = people[person].sync.round(look) => if let Err(error) = synced {
                            ensure!(error.is_unreachable(), "{error}");
                        },
                        killed = kill => killed?,
                    }
                    server.kill().await?;
                    server.start_again().await?;
                    let connection = Connection::open(&address, None).await?;
                    for person in &mut people {
                        let session =
                            Session::sign_in(&connection, DATABASE, person.name, person.name).await?;
                        person.sync = TeamSync::new(person.library.clone(), session).await?;
                    }
                }
                1 | 2 => {
                    people[person].sync.round(look(&mut random)).await?;
                }
                _ => act(&people[person], &mut done, &mut random).await?,
            }
        }
        settle(&mut people).await.with_context(|| format!("seed {seed}"))?;
        check(&people, &done).await.with_context(|| format!("seed {seed}"))?;
        ensure!(
            people[0].sync.session().changes(&Cursor::default(), &CardFilter::default()).await?.cards.len()
                <= done.added
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn proposals_that_several_decide_on_end_alike() -> Result<()> {
    for seed in seeds(2_000, 6) {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let kitchen = Kitchen::in_memory().await?;
        let mut people = some(&kitchen, &mut random).await?;
        let mut done = Done::default();
        for _ in 0..STEPS {
            let person = random.random_range(0..people.len());
            match random.random_range(0..4) {
                0 => drop(people[person].sync.round(look(&mut random)).await?),
                1 | 2 => discuss(&people[person], &mut done, &mut random).await?,
                _ => act(&people[person], &mut done, &mut random).await?,
            }
        }
        settle(&mut people).await.with_context(|| format!("seed {seed}"))?;
        let said = decisions(&people[0]).await?;
        for person in &people {
            ensure!(person.cards() == people[0].cards(), "seed {seed}");
            let theirs = decisions(person).await?;
            ensure!(
                theirs == said,
                "seed {seed}: {}: {theirs:#?}\n{}: {said:#?}",
                person.name,
                people[0].name
            );
            ensure!(person.library.verify().await?.problems.is_empty(), "seed {seed}");
        }
    }
    Ok(())
}
