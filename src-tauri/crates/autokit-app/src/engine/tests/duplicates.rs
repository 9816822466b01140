//! Duplicates in the library: found, dismissed and merged.

use autokit_api::commands::{
    ChangeCollection, CreateCard, DismissDuplicates, FindDuplicates, GetCard, ListCollections,
    ListDuplicates, MergeCards, PreviewMerge, Undo,
};
use autokit_api::{
    CardRef, CardsMerge, CollectionChange, DuplicateReason, Duplicates as Listed, FAVORITES, JobState,
    MergeQuery, Nothing, PairRef, UndoRequest,
};
use autokit_error::ErrorCode;
use serde_json::{Value, json};

use super::*;

async fn add(engine: &Engine, context: &Context, card: Value) {
    let fields = card.as_object().expect("an object").clone();
    let create = CardCreate { fields, reason: String::new(), flagged_too: false };
    Handle::<CreateCard>::handle(engine, context, create).await.expect("created");
}

async fn find(engine: &Engine, context: &Context) -> Listed {
    let started = Handle::<FindDuplicates>::handle(engine, context, Nothing {}).await.expect("started");
    let ended = ended(engine, context, started).await;
    assert_eq!(ended.state, JobState::Done, "{ended:?}");
    list(engine, context).await
}

async fn list(engine: &Engine, context: &Context) -> Listed {
    Handle::<ListDuplicates>::handle(engine, context, Nothing {}).await.expect("listed")
}

/// The names of each pair, sorted, with why they were matched.
fn pairs(found: &Listed) -> Vec<([&str; 2], DuplicateReason)> {
    let named = found.pairs.iter().map(|pair| {
        let mut names = [pair.cards[0].name.as_str(), pair.cards[1].name.as_str()];
        names.sort_unstable();
        (names, pair.reason)
    });
    named.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicates_are_found_dismissed_and_merged() {
    let (engine, context) = open_with_vectors().await;
    assert_eq!(list(&engine, &context).await.searched_at, None);
    let boils = "Boils water for tea and for coffee at home";
    add(
        &engine,
        &context,
        json!({ "name": "Kettle", "class": "Kettle", "module": "kitchen", "description": boils, "tags": ["water"] }),
    )
    .await;
    add(
        &engine,
        &context,
        json!({ "name": "WaterKettle", "class": "Kettle", "module": "kitchen", "tags": ["tea"],
            "description": "Heats a jug of drinking water quickly", "documentation": "https://kettle.example/docs" }),
    )
    .await;
    // The same page as another card's.
    let page = "https://oven.example/docs";
    add(&engine, &context, json!({ "name": "Oven", "description": "Bakes bread", "documentation": page }))
        .await;
    add(&engine, &context, json!({ "name": "Stove", "description": "Fries eggs", "documentation": page }))
        .await;
    // A page of three cards says nothing.
    for name in ["Fork", "Knife", "Spoon"] {
        let description = format!("{name} for the table of {name}s, number {}", name.len());
        let card = json!({ "name": name, "description": description, "documentation": "https://table.example/docs" });
        add(&engine, &context, card).await;
    }
    let found = find(&engine, &context).await;
    assert!(found.searched_at.is_some() && found.by_meaning);
    let expected =
        [(["Kettle", "WaterKettle"], DuplicateReason::Import), (["Oven", "Stove"], DuplicateReason::Page)];
    assert_eq!(pairs(&found), expected);

    let dismiss = |dismissed| {
        let pair = PairRef { cards: ["Stove".to_owned(), "Oven".to_owned()], dismissed };
        Handle::<DismissDuplicates>::handle(&*engine, &context, pair)
    };
    dismiss(true).await.expect("dismissed");
    assert_eq!(pairs(&find(&engine, &context).await), expected[..1]);
    dismiss(false).await.expect("listed again");
    assert_eq!(pairs(&list(&engine, &context).await), expected);

    let favorite = CollectionChange {
        collection: FAVORITES.to_owned(),
        cards: vec!["WaterKettle".to_owned()],
        included: true,
    };
    Handle::<ChangeCollection>::handle(&*engine, &context, favorite).await.expect("added");
    let query = |keep: &str| MergeQuery { keep: keep.to_owned(), remove: "WaterKettle".to_owned() };
    let itself = Handle::<PreviewMerge>::handle(&*engine, &context, query("WaterKettle")).await;
    assert_eq!(itself.expect_err("one card").code, ErrorCode::BadRequest);
    let preview =
        Handle::<PreviewMerge>::handle(&*engine, &context, query("Kettle")).await.expect("a preview");
    assert_eq!(preview.fields["description"], boils);
    assert_eq!(preview.fields["documentation"], "https://kettle.example/docs");
    assert_eq!(preview.fields["tags"], json!(["water", "tea"]));

    let merge = |expected: (u32, u32)| CardsMerge {
        keep: "Kettle".to_owned(),
        remove: "WaterKettle".to_owned(),
        fields: Some(preview.fields.clone()),
        expected: Some(expected),
        reason: String::new(),
        flagged_too: false,
    };
    let seen = (preview.keep.summary.number, preview.remove.summary.number);
    let outdated = Handle::<MergeCards>::handle(&*engine, &context, merge((seen.0, seen.1 + 1))).await;
    assert_eq!(outdated.expect_err("another revision").code, ErrorCode::Conflict);
    let merged = Handle::<MergeCards>::handle(&*engine, &context, merge(seen)).await.expect("merged");
    let kept = preview.keep.summary.id.clone();
    assert_eq!(merged.cards, std::slice::from_ref(&kept));
    let card = |name: &str| {
        let card = CardRef { card: name.to_owned() };
        Handle::<GetCard>::handle(&*engine, &context, card)
    };
    assert_eq!(card("Kettle").await.expect("kept").fields["tags"], json!(["water", "tea"]));
    assert_eq!(card("WaterKettle").await.expect_err("removed").code, ErrorCode::NotFound);
    assert_eq!(pairs(&list(&engine, &context).await), expected[1..]);
    let collections =
        Handle::<ListCollections>::handle(&*engine, &context, Nothing {}).await.expect("listed");
    assert_eq!(collections[0].cards, [kept]);

    // One change, undone at once.
    let undo = UndoRequest { change: merged.change };
    Handle::<Undo>::handle(&*engine, &context, undo).await.expect("undone");
    assert_eq!(card("Kettle").await.expect("there").fields["tags"], json!(["water"]));
    assert_eq!(card("WaterKettle").await.expect("back").fields["tags"], json!(["tea"]));
    engine.close().await.expect("closed");
}
