//! What a member may not change, and what they may not see any more.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use autokit_library::Meta;
use autokit_sync::{Directory, Sharing, new_cards, set_new_cards, share, sharing};
use autokit_team::{CardKey, CardWrite, GroupKey, Request, Role, Session, Step, Visibility};
use autokit_toolcard::{Author, Draft, Operation, Origin, ProposedField};
use serde_json::{Value, json};

use crate::kitchen::{Kitchen, Person, card};

/// Says who sees a card, or adds one that they see.
async fn show(
    session: &Session,
    name: &str,
    to: Visibility,
    known: Option<(&CardKey, u32)>,
) -> Result<CardKey> {
    let write = CardWrite {
        card: known.map(|(card, _)| card.clone()),
        base: known.map_or(0, |(_, number)| number),
        operation: "edit".to_owned(),
        body: Some(card(name, &json!({"pricing": "of the secret sauce"})).to_json()),
        visible_to: Some(to.clone()),
    };
    let request = Request {
        key: format!("{name}-{to:?}").chars().take(60).collect(),
        reason: format!("Show {name}"),
        at: "2026-01-02T03:04:05.000Z".parse().expect("a time"),
        steps: vec![Step::Write(write)],
    };
    let written = session.send(&request).await?;
    Ok(written.into_iter().next().context("a card")?.card)
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_that_a_role_does_not_allow_become_proposals() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    ann.add(card("kettle", &json!({}))).await?;
    ann.sync().await?;
    for (name, role) in [("bob", Role::Contributor), ("rea", Role::Reader)] {
        let mut person = kitchen.person(name, role).await?;
        person.sync().await?;
        person.edit("kettle", json!({"pricing": name})).await?;
        person.add(card("pot", &json!({}))).await?;
        let report = person.sync().await?;
        ensure!(report.conflicts == 2 && report.sent == 0, "{report:?}");
        ensure!(person.cards() == ann.cards(), "{:?}", person.cards());
        let waiting = person.in_review().await?;
        // Those of Bob are the team's; the reader's own stay here.
        let expected = if name == "bob" { 2 } else { 4 };
        ensure!(waiting.len() == expected, "{waiting:#?}");
        ensure!(waiting.iter().all(|one| one.draft.origin == Origin::Conflict));
        let own = waiting.iter().filter(|one| one.draft.reason.contains("stays on this machine")).count();
        ensure!(own == if name == "bob" { 0 } else { 2 }, "{waiting:#?}");
        ensure!(person.sync().await?.sent == 0);
    }
    ann.sync().await?;
    ensure!(ann.cards().len() == 1 && ann.field("kettle", "pricing")? == json!(null));
    ensure!(ann.in_review().await?.len() == 2, "what the contributor edited");
    Ok(())
}

/// Everything in the tables of a library, as text.
async fn everything(person: &Person) -> Result<String> {
    let tables: Vec<Value> = person
        .library
        .select("RETURN object::keys((INFO FOR DB).tables)", surrealdb::types::Object::new())
        .await?;
    let mut text = String::new();
    for table in tables.iter().filter_map(Value::as_str) {
        let rows: Vec<surrealdb::types::Value> =
            person.library.select(&format!("SELECT * FROM {table}"), surrealdb::types::Object::new()).await?;
        writeln!(text, "{table}: {rows:?}")?;
    }
    Ok(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_shown_any_more_is_forgotten() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let admin = kitchen.member("admin", Role::Admin).await?;
    let cooks: GroupKey = admin.create_group("cooks").await?.key;
    let mut bob = kitchen.person("bob", Role::Reviewer).await?;
    let member = bob.sync.session().member().clone();
    admin.set_groups(&member, std::slice::from_ref(&cooks)).await?;
    let mut cook = kitchen.person("cook", Role::Reviewer).await?;
    admin.set_groups(cook.sync.session().member(), std::slice::from_ref(&cooks)).await?;
    show(cook.sync.session(), "zabaglione", Visibility::Group(cooks.clone()), None).await?;
    show(cook.sync.session(), "kettle", Visibility::Team, None).await?;
    bob.sync().await?;
    cook.sync().await?;
    ensure!(bob.cards().len() == 2, "{:?}", bob.cards());

    // Bob edits it, proposes something for it, and undoes his edit.
    bob.edit("zabaglione", json!({"tags": ["zabaglione"]})).await?;
    bob.edit("kettle", json!({"tags": ["hot"]})).await?;
    let id = bob.record("zabaglione")?.id.clone();
    let field = ProposedField {
        field: "pricing".to_owned(),
        value: Some(json!("zabaglione is free")),
        evidence: Vec::new(),
        confidence: 1.0,
    };
    let draft =
        Draft { card: Some(id.clone()), ..Draft::new(Origin::Description, "zabaglione", vec![field]) };
    let author = Author("bob".to_owned());
    bob.library.propose(draft, &author, Some("a key")).await?;
    let meta = Meta { request: Some("another key".to_owned()), ..bob.meta(Operation::Edit, "zabaglione") };
    bob.library.commit(&meta, &[]).await?;
    bob.sync().await?;
    let before = everything(&bob).await?;
    ensure!(before.contains("zabaglione") && before.contains("secret sauce"));

    admin.set_groups(&member, &[]).await?;
    let report = bob.sync().await?;
    ensure!(report.purged == 1, "{report:?}");
    ensure!(bob.cards().len() == 1 && bob.library.history(&id).await.is_err());
    ensure!(bob.in_review().await?.is_empty());
    let problems = bob.library.verify().await?.problems;
    ensure!(problems.is_empty(), "{problems:?}");
    let after = everything(&bob).await?;
    for line in after.lines().filter(|line| line.contains("zabaglione")) {
        // The log of changes keeps what each was called by whoever made it here.
        ensure!(line.starts_with("commit_log:"), "{line}");
    }
    ensure!(bob.sync().await?.purged == 0);
    // Whoever still sees it keeps it.
    cook.sync().await?;
    ensure!(cook.cards().len() == 2);

    // Shown again, it is there again.
    admin.set_groups(&member, std::slice::from_ref(&cooks)).await?;
    bob.sync().await?;
    ensure!(bob.cards() == cook.cards(), "{:?}", bob.cards());
    // So is a card that is shown to fewer: a role that bob does not have.
    let key = kitchen_key(&bob, "kettle").await?;
    let number = cook.sync.session().history(&key).await?.last().context("a revision")?.number;
    admin.set_role(cook.sync.session().member(), Role::Admin).await?;
    let cook_again = Session::sign_in(&kitchen.connection, crate::kitchen::DATABASE, "cook", "cook").await?;
    show(&cook_again, "kettle", Visibility::Role(Role::Admin), Some((&key, number))).await?;
    let report = bob.sync().await?;
    ensure!(report.purged == 1 && bob.cards().len() == 1, "{report:?} {:?}", bob.cards());
    Ok(())
}

async fn kitchen_key(person: &Person, name: &str) -> Result<CardKey> {
    let id = person.record(name)?.id.clone();
    let states = person.library.shared_states(None).await?;
    Ok(CardKey::new(states.get(&id).context("it is the team's")?.key.as_str()))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_removed_forgets_everything() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let admin = kitchen.member("admin", Role::Admin).await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?;
    ann.add(card("kettle", &json!({}))).await?;
    ann.sync().await?;
    admin.set_active(ann.sync.session().member(), false).await?;
    let refused = ann.sync.sync().await;
    ensure!(refused.is_err() && ann.cards().is_empty(), "{refused:?}");
    ensure!(ann.library.verify().await?.problems.is_empty());
    // Whoever comes back gets it again.
    admin.set_active(ann.sync.session().member(), true).await?;
    let session = Session::sign_in(&kitchen.connection, crate::kitchen::DATABASE, "ann", "ann").await?;
    ann.sync = autokit_sync::TeamSync::new(ann.library.clone(), session).await?;
    ann.sync().await?;
    ensure!(ann.cards().len() == 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sees_a_card_is_chosen_offline_and_before_it_is_sent() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let admin = kitchen.member("admin", Role::Admin).await?;
    let cooks: GroupKey = admin.create_group("cooks").await?.key;
    let mut bob = kitchen.person("bob", Role::Contributor).await?;
    let mut cook = kitchen.person("cook", Role::Reviewer).await?;
    admin.set_groups(cook.sync.session().member(), std::slice::from_ref(&cooks)).await?;
    cook.sync().await?;
    let directory = Directory::of(&cook.library).await?;
    ensure!(directory.groups.iter().map(|group| group.name.as_str()).eq(["cooks"]), "{directory:?}");
    ensure!(directory.members.len() == 3, "{directory:?}");
    let of_cooks = Visibility::Group(cooks);

    // One card by what is chosen for new ones, one of its own, one as the team has it.
    ensure!(new_cards(&cook.library).await? == Visibility::Team);
    cook.add(card("kettle", &json!({}))).await?;
    cook.sync().await?;
    bob.sync().await?;
    ensure!(bob.cards().len() == 1);
    set_new_cards(&cook.library, &of_cooks).await?;
    cook.add(card("zabaglione", &json!({}))).await?;
    let pot = cook.add(card("pot", &json!({}))).await?;
    share(&cook.library, std::slice::from_ref(&pot), &Visibility::Everyone).await?;
    let kettle = cook.record("kettle")?.id.clone();
    share(&cook.library, std::slice::from_ref(&kettle), &of_cooks).await?;
    let before = sharing(&cook.library, &kettle).await?;
    let wanted = Sharing { visible_to: Some(Visibility::Team), wanted: Some(of_cooks.clone()) };
    ensure!(before == wanted, "{before:?}");
    ensure!(autokit_sync::unsent(&cook.library).await?.len() == 3);
    cook.sync().await?;
    ensure!(autokit_sync::unsent(&cook.library).await?.is_empty());
    for (id, visible_to) in [(&kettle, &of_cooks), (&pot, &Visibility::Everyone)] {
        let after = sharing(&cook.library, id).await?;
        ensure!(after == Sharing { visible_to: Some(visible_to.clone()), wanted: None }, "{after:?}");
    }
    ensure!(cook.sync().await? == autokit_sync::Report::default());
    let report = bob.sync().await?;
    ensure!(report.purged == 1 && bob.cards().len() == 1, "{report:?} {:?}", bob.cards());
    let text = everything(&bob).await?;
    ensure!(!text.contains("zabaglione") && text.contains("pot"), "{text}");

    // Whoever is told only later reads who sees it, and nothing else of it.
    let mut cora = kitchen.person("cora", Role::Reviewer).await?;
    cora.sync().await?;
    let pot_of_cora = cora.record("pot")?.id.clone();
    share(&cook.library, std::slice::from_ref(&pot), &Visibility::Team).await?;
    cook.sync().await?;
    let report = cora.sync().await?;
    ensure!(report.shown == 1 && report.received == 0, "{report:?}");
    ensure!(sharing(&cora.library, &pot_of_cora).await?.visible_to == Some(Visibility::Team));

    // What a role does not allow is not done, and waits for nothing.
    let pot_of_bob = bob.record("pot")?.id.clone();
    share(&bob.library, std::slice::from_ref(&pot_of_bob), &Visibility::Role(Role::Admin)).await?;
    bob.sync().await?;
    ensure!(autokit_sync::unsent(&bob.library).await?.is_empty());
    cora.sync().await?;
    ensure!(cora.cards().len() == 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_hidden_card_that_was_removed_stays_hidden() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let admin = kitchen.member("admin", Role::Admin).await?;
    let cooks: GroupKey = admin.create_group("cooks").await?.key;
    let mut bob = kitchen.person("bob", Role::Reviewer).await?;
    let (mut cook, mut chef) =
        (kitchen.person("cook", Role::Reviewer).await?, kitchen.person("chef", Role::Reviewer).await?);
    for one in [&cook, &chef] {
        admin.set_groups(one.sync.session().member(), std::slice::from_ref(&cooks)).await?;
    }
    show(cook.sync.session(), "zabaglione", Visibility::Group(cooks), None).await?;
    cook.sync().await?;
    chef.sync().await?;
    chef.delete("zabaglione").await?;
    chef.sync().await?;
    // Nobody is asked by accident about a card that only cooks knew.
    cook.edit("zabaglione", json!({"tags": ["sweet"]})).await?;
    let report = cook.sync().await?;
    ensure!(report.conflicts == 1, "{report:?}");
    chef.sync().await?;
    ensure!(chef.in_review().await?.len() == 1);
    bob.sync().await?;
    let text = everything(&bob).await?;
    ensure!(bob.in_review().await?.is_empty() && !text.contains("zabaglione"), "{text}");
    Ok(())
}
