//! A replica that follows its team: what it hears of, and what it looks at when it is asked to.

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use autokit_library::{Clock, Library, Storage};
use autokit_sync::{Follower, Membership};
use autokit_team::{Address, CardFilter, CardKey, Cursor, Request, Role, Step, Visibility};
use autokit_test_server::Server;
use autokit_toolcard::ProposalState;
use serde_json::json;
use tokio::sync::Notify;

use crate::kitchen::{DATABASE, Kitchen, card};

#[tokio::test(flavor = "multi_thread")]
async fn whoever_follows_has_what_others_did_and_forgets_what_they_hide() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let server = Server::start(&folder.path().join("server"), None).await?;
    let address = Address::Server { url: server.url(), authorities: None };
    let kitchen = Kitchen::at(&address).await?;
    let mut ann = kitchen.person("ann", Role::Admin).await?;
    ann.add(card("kettle", &json!({}))).await?;
    ann.sync().await?;
    kitchen.member("bob", Role::Reviewer).await?;

    let library = Arc::new(Library::open(Storage::Memory, Clock::system()).await?);
    let membership = Membership {
        address,
        database: DATABASE.to_owned(),
        name: "bob".to_owned(),
        password: "bob".to_owned(),
    };
    let follower = Follower::new(library.clone(), membership, Clock::system(), Arc::new(Notify::new()));
    let (following, mut state) = (follower.following(), follower.state());
    let run = tokio::spawn(async move { follower.run().await });
    state.wait_for(|state| state.total.received == 1).await?;

    ann.add(card("toaster", &json!({}))).await?;
    ann.sync().await?;
    state.wait_for(|state| state.total.received == 2).await?;

    // A proposal arrives, and once it is accepted the card that it changed.
    ann.propose("toaster", "pricing", json!("free")).await?;
    ann.sync().await?;
    state.wait_for(|state| state.total.proposals == 1).await?;
    let proposal = ann.in_review().await?.pop().context("the proposal")?;
    ensure!(ann.accept_one(&proposal).await?);
    ann.sync().await?;
    state.wait_for(|state| state.total.received == 3 && state.total.proposals == 2).await?;
    ensure!(library.proposals(Some(ProposalState::Accepted)).await?.len() == 1);

    // Whoever asks for the next round may rely on it: a hidden card is forgotten, told or not.
    let theirs = ann.sync.session().changes(&Cursor::default(), &CardFilter::default()).await?.cards;
    for name in ["kettle", "toaster"] {
        let is_named = |body: &str| body.contains(&format!("{name:?}"));
        let shown = theirs.iter().find(|card| card.body.as_deref().is_some_and(is_named)).context(name)?;
        hide(ann.sync.session(), &shown.card).await?;
        let outcome = following.next_round().await;
        ensure!(outcome.is_connected && outcome.error.is_none(), "{outcome:?}");
        ensure!(library.read(|replica| replica.named(name).next().is_none()), "{name}");
    }
    run.abort();
    Ok(())
}

async fn hide(session: &autokit_team::Session, card: &CardKey) -> Result<()> {
    let request = Request {
        key: format!("hide {card}").chars().take(60).collect(),
        reason: "Hide it".to_owned(),
        at: "2026-01-02T03:04:05.000Z".parse().expect("a time"),
        steps: vec![Step::Share { card: card.clone(), visible_to: Visibility::Role(Role::Admin) }],
    };
    session.send(&request).await?;
    Ok(())
}
