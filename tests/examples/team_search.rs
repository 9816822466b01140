//! Searches of a replica beside those of a library that is nobody else's: `team_search [CARDS] [SEARCHES]`. Both have the same
//! cards; the replica follows its team, whose server has nothing to do. Searches of both take turns. Printed are the medians
//! and their ratio.
//!
//! ```sh
//! cargo build --package autokit-cli --package autokit-test-server
//! cargo run --package autokit-tests --example team_search
//! ```

#![allow(clippy::print_stdout, reason = "printing is what this does")]

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use autokit_api::commands::{Ask, SyncTeam};
use autokit_api::{AskRequest, Nothing};
use autokit_app::engine::{EngineOptions, Vectors};
use autokit_app::node::{Node, NodeOptions, Purpose};
use autokit_app::secrets::KeyStorage;
use autokit_test_server::{PASSWORD, Server, USER};
use autokit_tests::{Workplace, made_up_cards, on_deep_stack};

/// Numbers in a vector, as many as the real model has.
const WIDTH: usize = 384;

async fn open(place: &Workplace, folder: &str) -> Result<Node> {
    let engine = EngineOptions {
        vectors: Vectors::StandIn(WIDTH),
        key_storage: Some(KeyStorage::File),
        config_dir: place.config_dir(),
        starter: false,
        ..EngineOptions::new()
    };
    let (data_dir, author) = (place.data_dir().join(folder), "bob".to_owned());
    Ok(Node::open(NodeOptions { data_dir, engine, purpose: Purpose::Process, author }).await?)
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn main() -> Result<()> {
    on_deep_stack(|| async {
        let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>());
        let mut next = |otherwise: usize| arguments.next().unwrap_or(Ok(otherwise));
        let (cards, searches) = (next(16_000)?, next(400)?);

        let folder = tempfile::tempdir()?;
        let server = Server::start(&folder.path().join("server"), None).await?;
        let (ann, bob) = (Workplace::with_stand_in_of(WIDTH)?, Workplace::with_stand_in_of(WIDTH)?);
        for place in [&ann, &bob] {
            place.json(&["providers", "keys", "--keep", "file"])?;
        }
        let made_up = made_up_cards(cards);
        let file = ann.cards_file("cards.json", &made_up)?;
        let file = file.to_str().context("a path")?;
        let create = ["team", "create", &server.url(), "kitchen", "--as", "ann", "--owner", USER];
        ann.json_with_secrets(&create, &[PASSWORD, "secret of ann"])?;
        ann.json(&["--team", "kitchen", "import", file])?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        let invitation = ann.json(&["--team", "kitchen", "team", "invite"])?;
        let link = invitation["link"].as_str().context("a link")?;
        bob.json_with_secrets(&["team", "join", link, "--as", "bob"], &["secret of bob"])?;
        bob.json(&["--team", "kitchen", "team", "sync"])?;
        bob.json(&["import", file])?;

        let (own, replica) = (open(&bob, "").await?, open(&bob, "teams/kitchen").await?);
        // Asked of a process that follows, this is the outcome of a round of the follower.
        let state = replica.call::<SyncTeam>(Nothing {}).await?;
        ensure!(state.is_connected && state.unsent == 0, "{state:?}");
        let mut times = [Vec::new(), Vec::new()];
        for number in 0..searches {
            let card = &made_up[number * 7919 % made_up.len()];
            let question = card["description"].as_str().context("a description")?.to_owned();
            let mut first = Vec::new();
            // Whichever comes second finds the processor's caches warm.
            for side in if number % 2 == 0 { [0, 1] } else { [1, 0] } {
                let node = [&own, &replica][side];
                let ask = AskRequest { question: question.clone(), limit: Some(10), exclude: Vec::new() };
                let began = Instant::now();
                let answer = node.call::<Ask>(ask).await?;
                times[side].push(began.elapsed());
                first.push(answer.candidates.first().context("a result")?.card.name.clone());
            }
            ensure!(first[0] == first[1], "{question}: {first:?}");
        }
        let [own_ms, replica_ms] = times.each_mut().map(|times| median(times));
        println!(
            "{cards} cards, {searches} searches of each: own library p50 {own_ms:.2} ms, replica p50 {replica_ms:.2} ms, ratio {:.2}",
            replica_ms / own_ms
        );
        own.close().await?;
        replica.close().await?;
        Ok(())
    })
}
