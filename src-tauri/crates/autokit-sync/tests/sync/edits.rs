//! Edits that go from one replica to another, and those that meet.

use anyhow::{Context as _, Result, ensure};
use autokit_sync::{Report, TeamSync};
use autokit_team::{CardFilter, Role, Session};
use autokit_toolcard::Origin;
use serde_json::json;

use crate::kitchen::{DATABASE, Kitchen, card};
use crate::random::Cut;

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_added_edited_and_deleted_everywhere() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    let mut bea = kitchen.person("bea", Role::Reviewer).await?;
    ann.add(card("kettle", &json!({}))).await?;
    ann.edit("kettle", json!({"pricing": "free"})).await?;
    let report = ann.sync().await?;
    ensure!(report.sent == 2 && report.conflicts == 0, "{report:?}");
    let report = bea.sync().await?;
    ensure!(report.received == 1, "{report:?}");
    ensure!(bea.cards() == ann.cards());
    // Who did it and when is the same everywhere.
    let (here, there) = (ann.record("kettle")?, bea.record("kettle")?);
    let (mine, theirs) = (ann.library.history(&here.id).await?, bea.library.history(&there.id).await?);
    ensure!(theirs[0].author.0 == "ann" && theirs[0].reason == mine[0].reason, "{theirs:?}");
    ensure!(theirs[0].at == mine[0].at && theirs[0].operation == mine[0].operation, "{theirs:?}");

    bea.edit("kettle", json!({"tags": ["hot"]})).await?;
    bea.sync().await?;
    ann.sync().await?;
    ensure!(ann.field("kettle", "tags")? == json!(["hot"]) && ann.cards() == bea.cards());
    ann.delete("kettle").await?;
    ann.sync().await?;
    bea.sync().await?;
    ensure!(bea.cards().is_empty());
    bea.library.restore(&there.id, 1, autokit_toolcard::Author("bea".to_owned()), None).await?;
    bea.sync().await?;
    ann.sync().await?;
    ensure!(ann.cards() == bea.cards() && ann.cards().len() == 1);
    // Nothing is left to say.
    for person in [&mut ann, &mut bea] {
        ensure!(person.sync().await? == Report::default());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_of_different_fields_are_merged() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    let mut bea = kitchen.person("bea", Role::Reviewer).await?;
    ann.add(card("kettle", &json!({}))).await?;
    ann.sync().await?;
    bea.sync().await?;
    ann.edit("kettle", json!({"pricing": "free"})).await?;
    bea.edit("kettle", json!({"tags": ["hot"]})).await?;
    ann.sync().await?;
    let report = bea.sync().await?;
    ensure!(report.conflicts == 0 && report.received == 1 && report.sent == 1, "{report:?}");
    ann.sync().await?;
    for person in [&ann, &bea] {
        ensure!(person.field("kettle", "pricing")? == json!("free"), "{:?}", person.cards());
        ensure!(person.field("kettle", "tags")? == json!(["hot"]), "{:?}", person.cards());
        ensure!(person.in_review().await?.is_empty());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_the_same_field_goes_to_review() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    let mut bea = kitchen.person("bea", Role::Reviewer).await?;
    ann.add(card("kettle", &json!({}))).await?;
    ann.sync().await?;
    bea.sync().await?;
    ann.edit("kettle", json!({"pricing": "free"})).await?;
    bea.edit("kettle", json!({"pricing": "paid", "tags": ["hot"]})).await?;
    ann.sync().await?;
    let report = bea.sync().await?;
    ensure!(report.conflicts == 1, "{report:?}");
    ann.sync().await?;
    // The first one stands, what nobody disputes is merged, and the second one waits where it was made.
    for person in [&ann, &bea] {
        ensure!(person.field("kettle", "pricing")? == json!("free"), "{:?}", person.cards());
        ensure!(person.field("kettle", "tags")? == json!(["hot"]), "{:?}", person.cards());
    }
    let waiting = bea.in_review().await?;
    ensure!(waiting.len() == 1 && waiting[0].draft.origin == Origin::Conflict, "{waiting:?}");
    ensure!(waiting[0].proposed_by == "bea", "{waiting:?}");
    let fields: Vec<_> =
        waiting[0].draft.fields.iter().map(|field| (field.field.as_str(), field.value.clone())).collect();
    ensure!(fields == [("pricing", Some(json!("paid")))], "{fields:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_deleted_card_goes_to_review() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    let mut bea = kitchen.person("bea", Role::Reviewer).await?;
    ann.add(card("kettle", &json!({}))).await?;
    ann.add(card("pot", &json!({}))).await?;
    ann.sync().await?;
    bea.sync().await?;
    ann.delete("kettle").await?;
    ann.edit("pot", json!({"pricing": "free"})).await?;
    bea.edit("kettle", json!({"pricing": "paid"})).await?;
    bea.delete("pot").await?;
    ann.sync().await?;
    bea.sync().await?;
    ann.sync().await?;
    ensure!(ann.cards() == bea.cards() && ann.cards().len() == 1, "{:?} {:?}", ann.cards(), bea.cards());
    let waiting = bea.in_review().await?;
    ensure!(waiting.len() == 1 && waiting[0].draft.card.is_none(), "{waiting:?}");
    ensure!(waiting[0].draft.fields.iter().any(|field| field.value == Some(json!("paid"))), "{waiting:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_new_card_of_two_people_is_one() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    let mut bea = kitchen.person("bea", Role::Reviewer).await?;
    // What was there before joining is sent as well.
    ann.add(card("kettle", &json!({"pricing": "free"}))).await?;
    ann.sync().await?;
    bea.add(card("kettle", &json!({"pricing": "paid"}))).await?;
    // Nobody is asked whether a card of this name exists, which they may not know: the server keeps both.
    bea.sync().await?;
    ann.sync().await?;
    for person in [&ann, &bea] {
        let names: Vec<String> = person.library.read(|replica| {
            let mut names: Vec<String> = replica.iter().map(|record| record.key.name.clone()).collect();
            names.sort();
            names
        });
        ensure!(names == ["kettle", "kettle (2)"], "{names:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_many_cards_is_sent_in_parts() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    let mut bea = kitchen.person("bea", Role::Reviewer).await?;
    let writes: Vec<_> = (0..1_200)
        .map(|at| autokit_library::Write::Put {
            card: Box::new(card(&format!("cup {at}"), &json!({}))),
            mode: autokit_library::PutMode::Create,
            vectors: None,
        })
        .collect();
    let meta = ann.meta(autokit_toolcard::Operation::Create, "Add cups");
    let change = ann.library.commit(&meta, &writes).await?.change.expect("a change");
    let report = ann.sync().await?;
    ensure!(report.sent == 1_200, "{report:?}");
    ensure!(bea.sync().await?.received == 1_200);
    ann.library.undo(&change, autokit_toolcard::Author("ann".to_owned()), None).await?;
    ensure!(ann.sync().await?.sent == 1_200);
    bea.sync().await?;
    ensure!(bea.cards().is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_for_a_team_stays_here_and_stops_nothing_else() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    let mut bea = kitchen.person("bea", Role::Reviewer).await?;
    let long = "long ".repeat(autokit_team::MAX_TEXT / 5);
    ann.add(card("catalogue", &json!({ "description": long }))).await?;
    ann.add(card("kettle", &json!({}))).await?;
    ann.sync().await?;
    ann.propose("kettle", "description", json!(long)).await?;
    ann.propose("kettle", "pricing", json!("free")).await?;
    let report = ann.sync().await?;
    ensure!(!report.is_behind, "{report:?}");
    let problem = ann.sync.problem().context("a problem")?;
    ensure!(problem.starts_with("\"catalogue\" and a proposal are too large"), "{problem}");
    ensure!(autokit_sync::unsent(&ann.library).await?.len() == 1);
    bea.sync().await?;
    ensure!(bea.cards_named() == ["kettle"], "{:?}", bea.cards_named());
    let pending = bea.in_review().await?;
    ensure!(pending.len() == 1 && pending[0].draft.fields[0].field == "pricing", "{pending:?}");
    // An edit that is too large is kept whatever is chosen.
    bea.edit("kettle", json!({ "description": long })).await?;
    let filter = CardFilter { tags: vec!["none".to_owned()], ..CardFilter::default() };
    autokit_sync::set_filter(&bea.library, &filter).await?;
    bea.sync().await?;
    ensure!(bea.cards_named() == ["kettle"], "{:?}", bea.cards_named());
    autokit_sync::set_filter(&bea.library, &CardFilter::default()).await?;
    bea.edit("kettle", json!({ "description": "Boils water" })).await?;
    bea.sync().await?;
    // Once it is shorter, it is sent.
    ann.edit("catalogue", json!({ "description": "short" })).await?;
    ann.sync().await?;
    bea.sync().await?;
    ensure!(bea.cards_named() == ["catalogue", "kettle"], "{:?}", bea.cards_named());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_met_another_one_is_proposed_once_wherever_the_round_ends() -> Result<()> {
    for left in (1..).step_by(2) {
        let kitchen = Kitchen::in_memory().await?;
        let mut ann = kitchen.person("ann", Role::Reviewer).await?;
        let mut bob = kitchen.person("bob", Role::Reviewer).await?;
        ann.add(card("kettle", &json!({}))).await?;
        ann.sync().await?;
        bob.sync().await?;
        ann.edit("kettle", json!({ "pricing": "of ann" })).await?;
        bob.edit("kettle", json!({ "pricing": "of bob" })).await?;
        ann.sync().await?;
        let is_whole = Cut { future: Box::pin(bob.sync.sync()), left }.await.transpose()?.is_some();
        let session = Session::sign_in(&kitchen.connection, DATABASE, "bob", "bob").await?;
        bob.sync = TeamSync::new(bob.library.clone(), session).await?;
        bob.sync().await?;
        let waiting = bob.in_review().await?;
        let values: Vec<_> =
            waiting.iter().flat_map(|one| &one.draft.fields).map(|field| &field.value).collect();
        ensure!(values == [&Some(json!("of bob"))], "after {left} steps: {waiting:#?}");
        ensure!(bob.field("kettle", "pricing")? == json!("of ann"), "after {left} steps");
        if is_whole {
            break;
        }
    }
    Ok(())
}
