//! Whether the time of an answer tells a member that a card exists which they may not see: `team_timing [REQUESTS]`.
//!
//! A server in a process of its own has cards of administrators. A member who is none knows their keys, and asks, in random
//! order, for those and for cards that do not exist. Printed is the area under the curve of telling them apart by the time alone: 0.5 is chance.
//!
//! ```sh
//! cargo build --package autokit-test-server
//! cargo run --package autokit-tests --example team_timing
//! ```

#![allow(clippy::print_stdout, reason = "printing is what this does")]

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use autokit_team::{
    Address, CardKey, CardWrite, Connection, Credentials, INVITATION_LIFETIME, Owner, Request, Role, Session,
    Step, Visibility,
};
use autokit_test_server::{PASSWORD, Server, USER};
use autokit_tests::{SeededRng, on_deep_stack};
use surrealdb::types::{RecordId, Value};

/// Cards that are hidden, and as many that do not exist.
const CARDS: usize = 200;

fn request(key: &str, writes: Vec<CardWrite>) -> Request {
    Request {
        key: key.to_owned(),
        reason: String::new(),
        at: "2026-01-02T03:04:05.000Z".parse().expect("a time"),
        steps: writes.into_iter().map(Step::Write).collect(),
    }
}

fn write(card: Option<CardKey>, visible_to: Option<Visibility>) -> CardWrite {
    let (base, operation) = if card.is_some() { (1, "edit") } else { (0, "create") };
    let body = Some("{\"name\":\"a hidden card\"}".to_owned());
    CardWrite { card, base, operation: operation.to_owned(), body, visible_to }
}

/// How a member asks about a card.
#[derive(Clone, Copy, Debug)]
enum Question {
    /// For its history.
    History,
    /// With a statement, for the ids that it would have in the member's own audiences.
    Statement,
    /// With a statement that searches all cards.
    Search,
    /// With a statement, for its id in the audience of the hidden cards, whose key only those who once saw some of them know.
    KnownAudience,
    /// To change it, with a statement.
    Update,
    /// To change it, with a request.
    Write,
}

/// Keys of audiences.
struct Keys {
    own: Value,
    hidden: Value,
}

impl Question {
    const ALL: [Question; 6] = [
        Question::History,
        Question::Statement,
        Question::Search,
        Question::KnownAudience,
        Question::Update,
        Question::Write,
    ];
}

async fn ask(
    session: &Session,
    question: Question,
    card: &CardKey,
    number: usize,
    keys: &Keys,
) -> Result<f64> {
    let audiences = if matches!(question, Question::KnownAudience) { &keys.hidden } else { &keys.own };
    let statement = match question {
        Question::Update => "UPDATE $ids SET number = 2",
        Question::Search => "SELECT * FROM card WHERE key = $card",
        _ => "SELECT * FROM $ids",
    };
    let ids = "LET $ids = $audiences.map(|$audience| type::record('card',
        crypto::sha256(string::concat(<string> $audience, ' ', $card))))";
    let request = request(&format!("write {number}"), vec![write(Some(card.clone()), None)]);
    let start = Instant::now();
    match question {
        Question::History => ensure!(session.history(card).await?.is_empty()),
        Question::Statement | Question::Search | Question::KnownAudience | Question::Update => {
            let query = session.db().query(ids).query(statement).bind(("card", card.as_str().to_owned()));
            let mut answer = query.bind(("audiences", audiences.clone())).await?;
            ensure!(answer.take::<Vec<Value>>(1)?.is_empty());
        }
        Question::Write => ensure!(session.send(&request).await.is_err()),
    }
    Ok(start.elapsed().as_secs_f64())
}

/// The probability that a hidden one takes longer than an absent one (Mann and Whitney).
fn area(hidden: &[f64], absent: &[f64]) -> f64 {
    let mut sum = 0.0;
    for one in hidden {
        for other in absent {
            sum += match one.total_cmp(other) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    sum / (hidden.len() * absent.len()) as f64
}

fn main() -> Result<()> {
    let requests = std::env::args().nth(1).map_or(Ok(2_000), |text| text.parse::<usize>())?;
    on_deep_stack(move || async move {
        let folder = tempfile::tempdir()?;
        let server = Server::start(&folder.path().join("server"), None).await?;
        let address = Address::Server { url: server.url(), authorities: None };
        let connection = Connection::open(&address, None).await?;
        let credentials = Credentials { user: USER.to_owned(), password: PASSWORD.to_owned() };
        let owner = Owner::sign_in(&connection, &credentials, "kitchen").await?;
        owner.create("The kitchen").await?;
        let member = async |name: &str, role| {
            let invitation = owner.invite(role, &[], INVITATION_LIFETIME).await?;
            anyhow::Ok(Session::join(&connection, &invitation, name, name).await?)
        };
        let (admin, bob) = (member("admin", Role::Admin).await?, member("bob", Role::Reviewer).await?);
        let hidden = Visibility::Role(Role::Admin);
        let writes = (0..CARDS).map(|_| write(None, Some(hidden.clone()))).collect();
        let hidden: Vec<CardKey> =
            admin.send(&request("hidden", writes)).await?.into_iter().map(|written| written.card).collect();
        let mut random = SeededRng::new(1);
        let length = hidden.first().context("a card")?.as_str().len();
        let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut absent = || -> CardKey {
            let letter = |_| char::from(letters[random.below(letters.len() as u64) as usize]);
            CardKey::new((0..length).map(letter).collect::<String>())
        };
        let absent: Vec<CardKey> = (0..CARDS).map(|_| absent()).collect();
        let mut random = SeededRng::new(2);
        let mut keys = owner.db().query("SELECT VALUE audience FROM card").await?;
        let hidden_keys: Vec<Value> = keys.take(0)?;
        let own = bob.db().query("SELECT VALUE audiences FROM ONLY $me");
        let own: Value = own.bind(("me", RecordId::new("member", bob.member().as_str()))).await?.take(0)?;
        let keys =
            Keys { own, hidden: Value::Array(hidden_keys.into_iter().take(1).collect::<Vec<_>>().into()) };
        for question in Question::ALL {
            let mut times = [Vec::new(), Vec::new()];
            for number in 0..requests {
                let is_hidden = random.below(2) == 0;
                let cards = if is_hidden { &hidden } else { &absent };
                let card = &cards[random.below(CARDS as u64) as usize];
                let took = ask(&bob, question, card, number, &keys).await?;
                times[usize::from(is_hidden)].push(took);
            }
            let median = |times: &[f64]| {
                let mut times = times.to_vec();
                times.sort_by(f64::total_cmp);
                times[times.len() / 2] * 1e6
            };
            println!(
                "{question:?}: {} hidden, median {:.0} µs; {} absent, median {:.0} µs; area under the curve {:.3}",
                times[1].len(),
                median(&times[1]),
                times[0].len(),
                median(&times[0]),
                area(&times[1], &times[0]),
            );
        }
        Ok(())
    })
}
