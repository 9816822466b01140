//! A library whose time is moved by hand, beside a site.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context, Result};
use autokit_api::commands::{CreateCard, GetProposal, GetVerification, ListProposals, StartVerify};
use autokit_api::{
    CardCreate, CardRef, Job, LatestCheck, ProposalDetail, ProposalGet, ProposalsQuery, VerifyScope,
    VerifyStart,
};
use autokit_app::engine::{EngineOptions, Vectors};
use autokit_app::node::{Node, NodeOptions, Purpose};
use autokit_app::secrets::KeyStorage;
use autokit_library::Clock;
use autokit_tests::Workplace;
use autokit_tests::agent::wait_for_job;
use autokit_toolcard::CardId;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

/// Seconds the clock is ahead.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead(Arc<AtomicI64>);

impl Ahead {
    /// Moves the clock on.
    pub(crate) fn hours(&self, hours: i64) {
        self.0.fetch_add(hours * 3600 + 1, Ordering::Relaxed);
    }

    fn clock(&self) -> Clock {
        let ahead = Arc::clone(&self.0);
        Clock::from_fn(move || {
            let start: Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
            let ahead = SignedDuration::from_secs(ahead.load(Ordering::Relaxed));
            start.checked_add(ahead).expect("not that far")
        })
    }
}

/// Opens the library of a workplace. One that stays looks by itself what is due.
pub(crate) async fn open(place: &Workplace, ahead: &Ahead, stays: bool) -> Result<Node> {
    let engine = EngineOptions {
        vectors: Vectors::Off,
        key_storage: Some(KeyStorage::Memory),
        config_dir: place.config_dir(),
        clock: ahead.clock(),
        ..EngineOptions::new()
    };
    let (data_dir, author) = (place.data_dir(), "tester".to_owned());
    let purpose = if stays { Purpose::Process } else { Purpose::Command };
    Ok(Node::open(NodeOptions { data_dir, engine, purpose, author }).await?)
}

/// Adds a card; gives its id.
pub(crate) async fn add(node: &Node, card: &Value) -> Result<CardId> {
    let fields: Map<String, Value> = card.as_object().cloned().context("an object")?;
    let made =
        node.call::<CreateCard>(CardCreate { fields, reason: String::new(), flagged_too: false }).await?;
    Ok(made.summary.id)
}

/// Runs a check to its end.
pub(crate) async fn verify(node: &Node, scope: VerifyScope, improve: bool) -> Result<Job> {
    let started = node.call::<StartVerify>(VerifyStart { scope, improve, anew: false }).await?;
    wait_for_job(node, &started.job).await
}

/// Checks one card and gives what was found.
pub(crate) async fn check(node: &Node, card: &CardId) -> Result<LatestCheck> {
    verify(node, VerifyScope::Cards { cards: vec![card.to_string()] }, false).await?;
    checked(node, card).await
}

/// What was found last.
pub(crate) async fn checked(node: &Node, card: &CardId) -> Result<LatestCheck> {
    let found = node.call::<GetVerification>(CardRef { card: card.to_string() }).await?;
    found.checked.context("the card was checked")
}

/// What waits for a card.
pub(crate) async fn waiting(node: &Node, card: &CardId) -> Result<Vec<ProposalDetail>> {
    let state = Some(autokit_app::ProposalState::Pending);
    let mut all = Vec::new();
    for row in node.call::<ListProposals>(ProposalsQuery { state }).await?.rows {
        if row.card.as_ref() == Some(card) {
            all.push(node.call::<GetProposal>(ProposalGet::from(row.id)).await?);
        }
    }
    Ok(all)
}

/// The value a proposal has for a field.
pub(crate) fn proposed<'a>(proposal: &'a ProposalDetail, field: &str) -> Option<&'a Value> {
    proposal.proposal.draft.fields.iter().find(|proposed| proposed.field == field)?.value.as_ref()
}
