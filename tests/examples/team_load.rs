//! Measures a team's server under load: many members whose replicas follow it, all of them from empty, and one more who joins
//! while proposals are accepted. Prints times and the memory of the server.
//!
//! ```sh
//! cargo build --package autokit-test-server
//! cargo run --package autokit-tests --example team_load -- [MEMBERS] [CARDS] [PROPOSALS]
//! ```

#![allow(clippy::print_stdout, reason = "printing is what this does")]

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use autokit_library::{ChangeObserver, Clock, Library, Storage};
use autokit_sync::{Follower, Membership};
use autokit_team::{
    Address, Approval, CardFilter, CardKey, CardWrite, Connection, Credentials, Cursor, INVITATION_LIFETIME,
    NewProposal, Owner, Request, Role, Session, Step, Visibility,
};
use autokit_test_server::Server;
use autokit_toolcard::{CardId, Toolcard};
use futures_util::future::try_join_all;
use serde_json::json;
use tokio::sync::Notify;

const DATABASE: &str = "load";
/// Cards in one request.
const BATCH: usize = 100;
/// How long a proposal may take to reach everybody before the measurement fails.
const PATIENCE: Duration = Duration::from_mins(2);
/// The field that proposals change.
const FIELD: &str = "pricing";

/// When each value of the field arrived in one library.
#[derive(Default)]
struct Arrivals {
    at: Mutex<HashMap<String, Instant>>,
    changed: Notify,
}

impl ChangeObserver for Arrivals {
    fn on_change<'a>(
        &'a self,
        library: &'a Library,
        touched: &'a [CardId],
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            if touched.len() > 1 {
                return;
            }
            let card = touched.first().and_then(|card| library.card(card).ok());
            let value = card.and_then(|record| Some(record.card().object().get(FIELD)?.as_str()?.to_owned()));
            if let Some(value) = value {
                self.at.lock().expect("no holder panics").insert(value, Instant::now());
                self.changed.notify_one();
            }
        })
    }
}

impl Arrivals {
    async fn of(&self, value: &str) -> Instant {
        loop {
            if let Some(at) = self.at.lock().expect("no holder panics").get(value) {
                return *at;
            }
            self.changed.notified().await;
        }
    }
}

fn card(number: usize, price: Option<&str>) -> Toolcard {
    let words = ["reads", "writes", "draws", "sends", "counts", "converts", "finds", "checks"];
    let word = |at: usize| words[(number >> at) % words.len()];
    let mut object = json!({
        "name": format!("Tool {number}"),
        "provider": format!("Provider {}", number % 400),
        "description": format!("{} and {} files, then {} and {} what is in them. Number {number}.", word(0), word(3), word(6), word(9)),
        "import_path": format!("provider_{}.tool_{number}", number % 400),
        "documentation": format!("https://docs.example.org/tools/{number}"),
    });
    if let Some(price) = price {
        object[FIELD] = price.into();
    }
    Toolcard::from_json(&object.to_string()).expect("a valid card")
}

fn request(key: String, steps: Vec<Step>) -> Request {
    let at = "2026-01-02T03:04:05.000Z".parse().expect("a time");
    Request { key, reason: "Measure".to_owned(), at, steps }
}

/// Resident memory of the server in MiB.
fn resident(server: &Server) -> Result<u64> {
    let id = server.id().context("the server runs")?;
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? / 1024)
}

/// The median and the 95th percentile.
fn summary(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    format!("median {:.0} ms, p95 {:.0} ms, most {:.0} ms", at(50), at(95), at(100))
}

async fn empty_library() -> Result<Arc<Library>> {
    Ok(Arc::new(Library::open(Storage::Memory, Clock::system()).await?))
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let mut next = |otherwise: usize| arguments.next().unwrap_or(Ok(otherwise));
    let (members, cards, proposals) = (next(50)?, next(16_000)?, next(20)?);

    let folder = tempfile::tempdir()?;
    let server = Server::start(&folder.path().join("server"), None).await?;
    let address = Address::Server { url: server.url(), authorities: None };
    let credentials = Credentials {
        user: autokit_test_server::USER.to_owned(),
        password: autokit_test_server::PASSWORD.to_owned(),
    };
    let connection = Connection::open(&address, Some(&credentials)).await?;
    let owner = Owner::sign_in(&connection, &credentials, DATABASE).await?;
    owner.create("Load").await?;
    let membership = |name: &str| Membership {
        address: address.clone(),
        database: DATABASE.to_owned(),
        name: name.to_owned(),
        password: name.to_owned(),
    };
    let join = async |name: &str, role: Role| -> Result<Session> {
        let invitation = owner.invite(role, &[], INVITATION_LIFETIME).await?;
        let connection = Connection::open(&address, None).await?;
        Ok(Session::join(&connection, &invitation, name, name).await?)
    };
    let reviewer = join("reviewer", Role::Admin).await?;

    let started = Instant::now();
    for from in (0..cards).step_by(BATCH) {
        let write = |number: usize| {
            Step::Write(CardWrite {
                card: None,
                base: 0,
                operation: "create".to_owned(),
                body: Some(card(number, None).to_json()),
                visible_to: Some(Visibility::Team),
            })
        };
        let steps = (from..cards.min(from + BATCH)).map(write).collect();
        reviewer.send(&request(format!("cards {from}"), steps)).await?;
    }
    println!(
        "{cards} cards written in {:.1} s; server {} MiB",
        started.elapsed().as_secs_f64(),
        resident(&server)?
    );

    // One alone, and how much of that is the server's.
    let started = Instant::now();
    let mut feed = reviewer.feed(&Cursor::default(), &CardFilter::default());
    while feed.next(|_, _, _| false).await?.more {}
    let read = started.elapsed();
    join("first", Role::Reader).await?;
    let started = Instant::now();
    membership("first").sync_of(&empty_library().await?, None).await?.sync().await?;
    println!(
        "one replica from empty, alone: {:.1} s; its cards are read from the server in {:.1} s",
        started.elapsed().as_secs_f64(),
        read.as_secs_f64()
    );

    // Everybody from empty.
    let mut libraries = Vec::with_capacity(members);
    for number in 0..members {
        let name = format!("member {number}");
        join(&name, Role::Contributor).await?;
        libraries.push((membership(&name), empty_library().await?, Arc::new(Arrivals::default())));
    }
    let started = Instant::now();
    let first = libraries.iter().map(|(membership, library, _)| async move {
        let began = Instant::now();
        let received = membership.sync_of(library, None).await?.sync().await?.received;
        ensure!(received == cards, "{received} of {cards}");
        Ok(began.elapsed())
    });
    let first = try_join_all(first).await?;
    println!(
        "{members} replicas from empty in {:.1} s ({}); server {} MiB",
        started.elapsed().as_secs_f64(),
        summary(first),
        resident(&server)?
    );

    // Everybody follows.
    let (mut followers, mut states) = (Vec::new(), Vec::new());
    for (membership, library, arrivals) in &libraries {
        library.set_observer(arrivals.clone());
        let follower =
            Follower::new(library.clone(), membership.clone(), Clock::system(), Arc::new(Notify::new()));
        let mut state = follower.state();
        followers.push(tokio::spawn(async move { follower.run().await }));
        state.wait_for(|state| state.synced_at.is_some()).await?;
        states.push(state);
    }
    println!("{members} replicas follow; server {} MiB", resident(&server)?);

    let known = reviewer.visible().await?;
    let more = async {
        join("latecomer", Role::Reader).await?;
        let began = Instant::now();
        let library = empty_library().await?;
        membership("latecomer").sync_of(&library, None).await?.sync().await?;
        ensure!(library.read(|replica| replica.iter().count()) == cards);
        anyhow::Ok(began.elapsed())
    };
    let accepted = async {
        let mut times = Vec::with_capacity(proposals * members);
        for (number, (key, base)) in known.iter().enumerate().take(proposals) {
            times.extend(accept_one(&reviewer, key, *base, number, &libraries).await?);
        }
        anyhow::Ok(times)
    };
    let (times, joined) = tokio::try_join!(accepted, more)?;
    println!("{proposals} accepted proposals at {members} replicas: {}", summary(times));
    println!("one more replica from empty meanwhile: {:.1} s", joined.as_secs_f64());

    // One card is hidden from everybody who follows.
    let (hidden, _) = known.get(proposals).context("fewer proposals than cards")?;
    let share = Step::Share { card: hidden.clone(), visible_to: Visibility::Role(Role::Admin) };
    let began = Instant::now();
    reviewer.send(&request("hide".to_owned(), vec![share])).await?;
    let hid = began.elapsed();
    let forgotten = states.iter_mut().map(|state| async {
        state.wait_for(|state| state.total.purged > 0).await?;
        anyhow::Ok(began.elapsed())
    });
    let forgotten = tokio::time::timeout(PATIENCE, try_join_all(forgotten)).await??;
    println!("a card is hidden from {members} replicas: {}; the request {hid:.0?}", summary(forgotten));
    println!("server {} MiB at the end", resident(&server)?);
    for follower in followers {
        follower.abort();
    }
    Ok(())
}

/// Accepts one proposal; returns how long after that each replica had the card.
async fn accept_one(
    reviewer: &Session,
    key: &CardKey,
    base: u32,
    number: usize,
    libraries: &[(Membership, Arc<Library>, Arc<Arrivals>)],
) -> Result<Vec<Duration>> {
    let value = format!("{number} Euro");
    let propose = Step::Propose(NewProposal {
        card: Some(key.clone()),
        visible_to: None,
        draft: "{}".to_owned(),
        fingerprint: value.clone(),
        risk: "low".to_owned(),
    });
    reviewer.send(&request(format!("propose {number}"), vec![propose])).await?;
    let changes = reviewer.proposal_changes(&Cursor::default()).await?;
    let proposal =
        changes.proposals.into_iter().find(|one| one.fingerprint == value).context("the proposal")?;
    let history = reviewer.history(key).await?;
    let body = history.last().and_then(|newest| newest.body.as_deref()).context("a body")?;
    let mut object = Toolcard::from_json(body).ok().context("a card")?.into_object();
    object.insert(FIELD.to_owned(), value.clone().into());
    let accept = Step::Accept(Approval {
        proposal: proposal.key,
        card: None,
        base,
        body: Some(Toolcard::new(object).ok().context("a card")?.to_json()),
        values: Vec::new(),
        risk: "low".to_owned(),
        outcome: None,
    });
    let began = Instant::now();
    reviewer.send(&request(format!("accept {number}"), vec![accept])).await?;
    let arrive = libraries.iter().map(|(.., arrivals)| arrivals.of(&value));
    let arrived = tokio::time::timeout(PATIENCE, futures_util::future::join_all(arrive)).await;
    Ok(arrived
        .context("it did not reach everybody")?
        .into_iter()
        .map(|at| at.saturating_duration_since(began))
        .collect())
}
