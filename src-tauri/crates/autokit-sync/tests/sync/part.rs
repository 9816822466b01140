//! Replicas of a part of the cards: by a filter, up to a limit.

use anyhow::{Result, ensure};
use autokit_sync::{TeamSync, filter, part, set_filter};
use autokit_team::{CardFilter, Role};
use autokit_toolcard::ProposalState;
use serde_json::json;

use crate::kitchen::{Kitchen, Person, card};

fn of_tags(tags: &[&str]) -> CardFilter {
    CardFilter { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..CardFilter::default() }
}

async fn stocked() -> Result<(Kitchen, Person)> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    for (name, tag) in [("kettle", "tea"), ("pot", "soup"), ("ladle", "soup"), ("cup", "tea")] {
        ann.add(card(name, &json!({ "tags": [tag] }))).await?;
    }
    ann.sync().await?;
    Ok((kitchen, ann))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_says_which_cards_a_replica_is_made_of() -> Result<()> {
    let (kitchen, mut ann) = stocked().await?;
    let mut bob = kitchen.person("bob", Role::Reviewer).await?;
    set_filter(&bob.library, &of_tags(&["tea"])).await?;
    let report = bob.sync().await?;
    ensure!(report.received == 2 && report.left_out == 2, "{report:?}");
    ensure!(bob.cards_named() == ["cup", "kettle"], "{:?}", bob.cards_named());
    ensure!(part(&bob.library).await?.is_incomplete);

    // What others propose about a card that is not here is not here either, and nothing is wrong.
    ann.propose("pot", "pricing", json!("free")).await?;
    ann.sync().await?;
    let report = bob.sync().await?;
    ensure!(report.invalid == 0 && !report.is_behind && bob.in_review().await?.is_empty(), "{report:?}");

    // A card that does not fit any more goes; one that fits now comes.
    ann.edit("cup", json!({ "tags": ["soup"] })).await?;
    ann.edit("ladle", json!({ "tags": ["tea"] })).await?;
    ann.sync().await?;
    bob.sync().await?;
    ensure!(bob.cards_named() == ["kettle", "ladle"], "{:?}", bob.cards_named());

    // Another filter takes effect on what is here.
    set_filter(&bob.library, &of_tags(&["soup"])).await?;
    bob.sync().await?;
    ensure!(bob.cards_named() == ["cup", "pot"], "{:?}", bob.cards_named());
    ensure!(bob.in_review().await?.len() == 1, "the proposal came with its card");
    set_filter(&bob.library, &CardFilter::default()).await?;
    bob.sync().await?;
    ensure!(bob.cards() == ann.cards() && !part(&bob.library).await?.is_incomplete);
    ensure!(filter(&bob.library).await?.is_all());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_card_that_the_filter_leaves_out_is_sent_first() -> Result<()> {
    let (kitchen, mut ann) = stocked().await?;
    let mut bob = kitchen.person("bob", Role::Reviewer).await?;
    bob.sync().await?;
    bob.edit("pot", json!({ "pricing": "of bob" })).await?;
    ann.edit("pot", json!({ "auth": "of ann" })).await?;
    ann.sync().await?;
    set_filter(&bob.library, &of_tags(&["tea"])).await?;
    let report = bob.sync().await?;
    ensure!(report.sent == 1 && !report.is_behind, "{report:?}");
    ann.sync().await?;
    ensure!(ann.field("pot", "pricing")? == json!("of bob") && ann.field("pot", "auth")? == json!("of ann"));
    // Once it was sent, the card goes.
    ensure!(bob.cards_named() == ["cup", "kettle"], "{:?}", bob.cards_named());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_holds_no_more_cards_than_its_limit() -> Result<()> {
    let (kitchen, mut ann) = stocked().await?;
    let mut bob = kitchen.person("bob", Role::Reviewer).await?;
    let session = bob.sync.session().clone();
    bob.sync = TeamSync::new(bob.library.clone(), session).await?.with_limit(3);
    let report = bob.sync().await?;
    ensure!(report.received == 3 && report.left_out == 1, "{report:?}");
    ensure!(bob.cards_named().len() == 3 && part(&bob.library).await?.is_incomplete);
    // What is here keeps current.
    let known = bob.cards_named().remove(0);
    ann.edit(&known, json!({ "pricing": "free" })).await?;
    ann.sync().await?;
    ensure!(bob.sync().await?.received == 1 && bob.field(&known, "pricing")? == json!("free"));
    // With a filter, there is room for what it includes.
    set_filter(&bob.library, &of_tags(&["soup"])).await?;
    bob.sync().await?;
    ensure!(bob.cards_named() == ["ladle", "pot"], "{:?}", bob.cards_named());
    ensure!(bob.library.proposals(Some(ProposalState::Pending)).await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_proposed_about_a_card_outlives_the_filter() -> Result<()> {
    let (kitchen, mut ann) = stocked().await?;
    // What a contributor edits becomes a proposal, which is at the team before the card goes.
    let mut bob = kitchen.person("bob", Role::Contributor).await?;
    bob.sync().await?;
    bob.edit("pot", json!({ "pricing": "of bob" })).await?;
    set_filter(&bob.library, &of_tags(&["tea"])).await?;
    let report = bob.sync().await?;
    ensure!(!report.is_behind && bob.cards_named() == ["cup", "kettle"], "{report:?}");
    ann.sync().await?;
    ensure!(ann.in_review().await?.len() == 1);
    ensure!(bob.sync().await?.invalid == 0);

    // That of somebody who only reads is nowhere else, so the card stays with it, also where others change the card.
    let mut rea = kitchen.person("rea", Role::Reader).await?;
    rea.sync().await?;
    rea.edit("ladle", json!({ "pricing": "of rea" })).await?;
    rea.sync().await?;
    set_filter(&rea.library, &of_tags(&["tea"])).await?;
    rea.sync().await?;
    ensure!(rea.cards_named() == ["cup", "kettle", "ladle"], "{:?}", rea.cards_named());
    ann.edit("ladle", json!({ "auth": "none" })).await?;
    ann.sync().await?;
    rea.sync().await?;
    let about = rea.in_review().await?;
    ensure!(
        about.iter().any(|one| one.draft.fields.iter().any(|field| field.value == Some(json!("of rea"))))
    );
    Ok(())
}
