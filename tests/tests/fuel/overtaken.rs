//! What one check proposed and the next one no longer holds; what cannot be said, and is not.

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{
    AcceptProposal, GetCard, GetHealth, GetProposal, ListCards, PreviewAccept, RejectProposal, UpdateCard,
};
use autokit_api::{
    CardUpdate, HealthFilter, Nothing, ProposalAccept, ProposalReject, ProposalsRef, VerifyScope,
};
use autokit_app::fuel::PageSearchOutcome;
use autokit_app::node::Node;
use autokit_app::{CardState, ProposalState};
use autokit_tests::Workplace;
use autokit_tests::agent::set_providers;
use autokit_tests::site::{Page, Site};
use autokit_toolcard::CardId;
use serde_json::{Value, json};

use crate::place::{Ahead, add, check, checked, open, proposed, verify, waiting};

/// The page of a tool, as it should be.
fn page() -> Page {
    Page::new("Widget").paragraph("Widget turns a sheet of numbers into a chart.").code(
        "python",
        "from langchain_community.tools import WidgetTool\n\ntool = WidgetTool()\ntool.run(\"numbers\")",
    )
}

fn card(site: &Site, verified: bool) -> Value {
    json!({
        "name": "Widget", "description": "Turns a sheet of numbers into a chart.",
        "programming_language": "python", "module": "langchain_community.tools", "class": "WidgetTool",
        "documentation": site.url("/docs/tools/widget"), "verified": verified,
    })
}

async fn setup(verified: bool) -> Result<(Workplace, Site, Ahead, Node, CardId)> {
    let place = Workplace::with_stand_in()?;
    let site = Site::serve([("/docs/tools/widget", page())]).await?;
    let ahead = Ahead::default();
    let node = open(&place, &ahead, false).await?;
    set_providers(&node, None, Some(&site)).await?;
    let id = add(&node, &card(&site, verified)).await?;
    Ok((place, site, ahead, node, id))
}

async fn set(node: &Node, id: &CardId, field: &str, value: Value) -> Result<()> {
    let mut fields = node.call::<GetCard>(autokit_api::CardRef { card: id.to_string() }).await?.fields;
    fields.insert(field.to_owned(), value);
    let edit = CardUpdate {
        card: id.to_string(),
        expected: None,
        fields,
        reason: String::new(),
        flagged_too: false,
    };
    node.call::<UpdateCard>(edit).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recovered_page_withdraws_the_proposal() -> Result<()> {
    let (_place, site, _, node, id) = setup(true).await?;
    site.remove("/docs/tools/widget");
    ensure!(check(&node, &id).await?.state == CardState::Broken);
    let doubt = waiting(&node, &id).await?.pop().context("it can no longer be called verified")?.proposal;
    ensure!(doubt.draft.fields[0].value == Some(json!(false)));
    // A page that is away quotes nothing: never accepted unseen.
    let preview =
        node.call::<PreviewAccept>(ProposalsRef { ids: vec![doubt.id], ..ProposalsRef::default() }).await?;
    ensure!(preview.safe.is_empty() && preview.left.len() == 1, "{preview:?}");

    site.put("/docs/tools/widget", page());
    ensure!(check(&node, &id).await?.state == CardState::Verified);
    ensure!(waiting(&node, &id).await?.is_empty(), "the page is back");
    let now = node.call::<GetProposal>(doubt.id.into()).await?;
    ensure!(now.proposal.state == ProposalState::Withdrawn, "{:?}", now.proposal.state);
    let last = now.events.last().context("an event")?;
    ensure!((last.kind.as_str(), last.by.as_str()) == ("withdrawn", "AutoKit verifier"), "{last:?}");
    ensure!(!last.why.is_empty());
    let late = ProposalAccept { id: doubt.id, ..ProposalAccept::default() };
    ensure!(node.call::<AcceptProposal>(late).await.is_err(), "it was taken back");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_check_replaces_the_older_one() -> Result<()> {
    let (_place, site, _, node, id) = setup(true).await?;
    site.remove("/docs/tools/widget");
    check(&node, &id).await?;
    ensure!(waiting(&node, &id).await?.len() == 1);
    // It is found elsewhere: "nothing documents it" and "this documents it" do not wait side by side.
    site.put("/guide/tools/widget", page());
    check(&node, &id).await?;
    let now = waiting(&node, &id).await?;
    ensure!(now.len() == 1, "{now:#?}");
    let moved = json!(site.url("/guide/tools/widget"));
    ensure!(proposed(&now[0], "documentation") == Some(&moved) && proposed(&now[0], "verified").is_none());
    // Done by hand, it waits for nobody.
    set(&node, &id, "documentation", moved).await?;
    ensure!(waiting(&node, &id).await?.is_empty(), "the card says so by now");
    let closed = node.call::<GetProposal>(now[0].proposal.id.into()).await?;
    ensure!(closed.proposal.state == ProposalState::Withdrawn);
    ensure!(closed.events.last().is_some_and(|event| event.why == "the card already has these values"));
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn verification_is_regained_and_a_rejection_is_not_permanent() -> Result<()> {
    let (_place, site, _, node, id) = setup(true).await?;
    site.remove("/docs/tools/widget");
    check(&node, &id).await?;
    let doubt = waiting(&node, &id).await?[0].proposal.id;
    let no = ProposalReject { id: doubt, reason: "it is being moved".into(), by: String::new() };
    node.call::<RejectProposal>(no).await?;
    check(&node, &id).await?;
    ensure!(waiting(&node, &id).await?.is_empty(), "the same was seen");
    // Something else is seen at its address: that was not turned down.
    site.put(
        "/docs/tools/widget",
        Page::new("Nothing").paragraph("Widget was removed. This page has moved."),
    );
    check(&node, &id).await?;
    let doubts = waiting(&node, &id).await?;
    ensure!(doubts.len() == 1, "{doubts:#?}");
    let yes = ProposalAccept { id: doubts[0].proposal.id, ..ProposalAccept::default() };
    node.call::<AcceptProposal>(yes).await?;

    site.put("/docs/tools/widget", page());
    ensure!(check(&node, &id).await?.state == CardState::Verified);
    let again = waiting(&node, &id).await?;
    ensure!(again.len() == 1 && proposed(&again[0], "verified") == Some(&json!(true)), "{again:#?}");
    let field = &again[0].proposal.draft.fields[0];
    ensure!(field.evidence.iter().all(|evidence| evidence.quote == "Widget"), "{field:?}");
    // A card that says nothing about it is left as it is.
    set(&node, &id, "verified", Value::Null).await?;
    check(&node, &id).await?;
    ensure!(waiting(&node, &id).await?.is_empty());
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_working_search_nothing_is_reported_about_other_pages() -> Result<()> {
    let (_place, site, _, node, id) = setup(true).await?;
    site.remove("/docs/tools/widget");
    site.fail("/search", 500);
    let found = check(&node, &id).await?;
    ensure!(found.state == CardState::Broken);
    ensure!(matches!(&found.report.search, Some(PageSearchOutcome::SearchFailed { why }) if !why.is_empty()));
    ensure!(waiting(&node, &id).await?.is_empty(), "nothing is known about other pages");

    let mut services = autokit_tests::agent::provider_settings(None, Some(&site));
    services.search = autokit_api::SearchSettings::default();
    node.call::<autokit_api::commands::SetProviders>(services).await?;
    let found = check(&node, &id).await?;
    ensure!(matches!(found.report.search, Some(PageSearchOutcome::NoSearch)), "{:?}", found.report.search);
    ensure!(waiting(&node, &id).await?.is_empty());
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_three_times_in_a_second_is_one_failure() -> Result<()> {
    let (_place, site, ahead, node, id) = setup(true).await?;
    site.fail("/docs/tools/widget", 503);
    let first = check(&node, &id).await?;
    for _ in 0..3 {
        let again = check(&node, &id).await?;
        ensure!((again.state, again.report.attempts) == (CardState::Unreachable, 1), "{again:#?}");
        ensure!(again.next_at == first.next_at, "it is tried again when it was to be");
    }
    ahead.hours(6);
    ensure!(check(&node, &id).await?.report.attempts == 2);
    ensure!(waiting(&node, &id).await?.is_empty());
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_changed_by_hand_is_no_longer_shown_as_checked() -> Result<()> {
    let (_place, _site, ahead, node, id) = setup(true).await?;
    check(&node, &id).await?;
    let health = async || node.call::<GetHealth>(Nothing {}).await;
    ensure!((health().await?.verified, health().await?.changed) == (1, 0));
    ahead.hours(1);
    set(&node, &id, "class", json!("GadgetTool")).await?;
    ensure!((health().await?.verified, health().await?.changed) == (0, 1));
    ensure!(checked(&node, &id).await?.changed);
    let mut list = autokit_api::CardList::default();
    list.query.health = Some(HealthFilter::Changed);
    list.limit = 5;
    let rows = node.call::<ListCards>(list).await?.rows;
    ensure!(rows.len() == 1 && rows[0].changed && rows[0].id == id, "{rows:?}");
    check(&node, &id).await?;
    ensure!(health().await?.changed == 0 && !checked(&node, &id).await?.changed);
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_dated_in_the_future_does_not_delay_checks() -> Result<()> {
    let (_place, site, ahead, node, id) = setup(true).await?;
    ahead.hours(100);
    check(&node, &id).await?;
    ahead.hours(-100);
    let before = site.statuses("/docs/tools/widget").len();
    verify(&node, VerifyScope::All, false).await?;
    ensure!(site.statuses("/docs/tools/widget").len() == before + 1, "it was skipped");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_running_process_rechecks_changed_cards() -> Result<()> {
    let (place, _site, ahead, node, id) = setup(true).await?;
    check(&node, &id).await?;
    ahead.hours(1);
    set(&node, &id, "class", json!("GadgetTool")).await?;
    ensure!(checked(&node, &id).await?.changed);
    node.close().await?;
    drop(node);
    let node = open(&place, &ahead, true).await?;
    let wait = async {
        while checked(&node, &id).await?.changed {
            tokio::task::yield_now().await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(std::time::Duration::from_mins(2), wait).await.context("it was not looked at")??;
    ensure!(checked(&node, &id).await?.state == CardState::Stale);
    node.close().await?;
    Ok(())
}
