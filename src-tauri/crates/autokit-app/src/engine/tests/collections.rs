//! Collections, edits of several cards, and deleted sessions.

use autokit_api::commands::{
    ChangeCollection, DeleteCards, DeleteSessions, EditCards, GetCard, ListCards, ListCollections,
    ListSessions, RemoveCollection, RenameCollection, StartAsk, Undo, WaitSession,
};
use autokit_api::{
    AgentQuestion, CardList, CardRef, CardsDelete, CardsEdit, CardsQuery, Collection, CollectionChange,
    CollectionRef, CollectionRename, FAVORITES, Nothing, Session, SessionWait, SessionsDelete, TurnState,
    UndoRequest,
};
use autokit_error::ErrorCode;
use serde_json::Map;

use super::*;

/// Adds cards of these names.
async fn add(engine: &Engine, context: &Context, names: &[&str]) {
    for name in names {
        let card =
            json!({ "name": name, "description": format!("{name} is a tool."), "tags": ["kitchen", "old"] });
        let fields = card.as_object().expect("an object").clone();
        let create = CardCreate { fields, reason: String::new(), flagged_too: false };
        Handle::<CreateCard>::handle(engine, context, create).await.expect("created");
    }
}

async fn change(
    engine: &Engine,
    context: &Context,
    collection: &str,
    cards: &[&str],
    included: bool,
) -> Result<Vec<Collection>> {
    let cards = cards.iter().map(|&card| card.to_owned()).collect();
    let request = CollectionChange { collection: collection.to_owned(), cards, included };
    Handle::<ChangeCollection>::handle(engine, context, request).await
}

async fn list(engine: &Engine, context: &Context) -> Vec<(String, usize)> {
    let all = Handle::<ListCollections>::handle(engine, context, Nothing {}).await.expect("listed");
    all.into_iter().map(|one| (one.name, one.cards.len())).collect()
}

async fn cards_in(engine: &Engine, context: &Context, collection: &str) -> Result<Vec<String>> {
    let query = CardsQuery { collection: Some(collection.to_owned()), ..CardsQuery::default() };
    let request = CardList { query, offset: 0, limit: 100 };
    let page = Handle::<ListCards>::handle(engine, context, request).await?;
    Ok(page.rows.into_iter().map(|row| row.name).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_are_kept_in_collections() {
    let (engine, context) = open().await;
    add(&engine, &context, &["Kettle", "Toaster", "Whisk"]).await;
    assert_eq!(list(&engine, &context).await, [(FAVORITES.to_owned(), 0)]);
    assert_eq!(cards_in(&engine, &context, "favorites").await.expect("empty"), [""; 0]);

    change(&engine, &context, "favorites", &["Kettle"], true).await.expect("added");
    change(&engine, &context, " Breakfast ", &["Toaster", "Kettle"], true).await.expect("added");
    change(&engine, &context, "BREAKFAST", &["Kettle"], true).await.expect("there already");
    assert_eq!(list(&engine, &context).await, [(FAVORITES.to_owned(), 1), ("Breakfast".to_owned(), 2)]);
    assert_eq!(cards_in(&engine, &context, "breakfast").await.expect("there"), ["Kettle", "Toaster"]);

    // A card that is removed leaves its collections, and comes back to them.
    let delete = CardsDelete { cards: vec!["Kettle".to_owned()], reason: String::new() };
    Handle::<DeleteCards>::handle(&*engine, &context, delete).await.expect("deleted");
    assert_eq!(list(&engine, &context).await, [(FAVORITES.to_owned(), 0), ("Breakfast".to_owned(), 1)]);
    Handle::<Undo>::handle(&*engine, &context, UndoRequest::default()).await.expect("undone");
    assert_eq!(cards_in(&engine, &context, "Breakfast").await.expect("there"), ["Kettle", "Toaster"]);

    change(&engine, &context, "Breakfast", &["Kettle"], false).await.expect("taken out");
    assert_eq!(cards_in(&engine, &context, "Breakfast").await.expect("there"), ["Toaster"]);
    let rename = |collection: &str, name: &str| {
        let request = CollectionRename { collection: collection.to_owned(), name: name.to_owned() };
        Handle::<RenameCollection>::handle(&*engine, &context, request)
    };
    rename("Breakfast", "breakfast").await.expect("another spelling");
    assert_eq!(rename("breakfast", "FAVORITES").await.expect_err("taken").code, ErrorCode::Conflict);
    assert_eq!(rename("Favorites", "Best").await.expect_err("fixed").code, ErrorCode::Invalid);
    rename("breakfast", "Morning").await.expect("renamed");
    let remove = |collection: &str| {
        let request = CollectionRef { collection: collection.to_owned() };
        Handle::<RemoveCollection>::handle(&*engine, &context, request)
    };
    assert_eq!(remove("Favorites").await.expect_err("fixed").code, ErrorCode::Invalid);
    assert_eq!(remove("Breakfast").await.expect_err("renamed").code, ErrorCode::NotFound);
    remove("morning").await.expect("removed");
    assert_eq!(list(&engine, &context).await, [(FAVORITES.to_owned(), 1)]);

    for wrong in ["", "  ", "a\nb", &"a".repeat(61)] {
        let refused = change(&engine, &context, wrong, &["Kettle"], true).await;
        assert_eq!(refused.expect_err(wrong).code, ErrorCode::Invalid);
    }
    assert_eq!(cards_in(&engine, &context, "Morning").await.expect_err("gone").code, ErrorCode::NotFound);
    let unknown = change(&engine, &context, "Morning", &["Spoon"], true).await;
    assert_eq!(unknown.expect_err("no such card").code, ErrorCode::NotFound);
    engine.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_cards_are_edited_in_one_change() {
    let (engine, context) = open().await;
    add(&engine, &context, &["Kettle", "Toaster"]).await;
    let edit = CardsEdit {
        cards: vec!["Kettle".to_owned(), "Toaster".to_owned()],
        fields: Map::from_iter([("pricing".to_owned(), json!("Free"))]),
        add_tags: vec![" hot ".to_owned(), "kitchen".to_owned()],
        remove_tags: vec!["old".to_owned()],
        reason: String::new(),
        flagged_too: false,
    };
    let done = Handle::<EditCards>::handle(&*engine, &context, edit.clone()).await.expect("edited");
    assert_eq!(done.cards.len(), 2);
    let fields = async |name: &str| {
        let card = CardRef { card: name.to_owned() };
        Handle::<GetCard>::handle(&*engine, &context, card).await.expect("there").fields
    };
    for name in ["Kettle", "Toaster"] {
        let fields = fields(name).await;
        assert_eq!((&fields["tags"], &fields["pricing"]), (&json!(["kitchen", "hot"]), &json!("Free")));
    }
    let again = Handle::<EditCards>::handle(&*engine, &context, edit.clone()).await.expect("nothing to do");
    assert_eq!((again.change, again.cards.len()), (None, 0));

    let renaming = CardsEdit { fields: Map::from_iter([("name".to_owned(), json!("One"))]), ..edit.clone() };
    let refused = Handle::<EditCards>::handle(&*engine, &context, renaming).await;
    assert_eq!(refused.expect_err("one name for two").code, ErrorCode::BadRequest);
    let hidden = CardsEdit { add_tags: vec!["a\u{200b}b".to_owned()], ..edit.clone() };
    let refused = Handle::<EditCards>::handle(&*engine, &context, hidden).await;
    assert_eq!(refused.expect_err("hidden text").code, ErrorCode::Flagged);

    // One step back for all of them.
    Handle::<Undo>::handle(&*engine, &context, UndoRequest { change: done.change }).await.expect("undone");
    for name in ["Kettle", "Toaster"] {
        let fields = fields(name).await;
        assert_eq!((&fields["tags"], fields.get("pricing")), (&json!(["kitchen", "old"]), None));
    }
    engine.close().await.expect("closed");
}

/// Asks a question and waits for its answer.
async fn ask(engine: &Engine, context: &Context, question: &str) -> Session {
    let question = AgentQuestion { question: question.to_owned(), session: None, limit: None };
    let session = Handle::<StartAsk>::handle(engine, context, question).await.expect("started").session;
    let mut after = 0;
    loop {
        let wait = SessionWait { session: session.clone(), after };
        let session = Handle::<WaitSession>::handle(engine, context, wait).await.expect("there");
        if session.turns.last().is_some_and(|turn| turn.state != TurnState::Running) {
            return session;
        }
        after = session.version;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn past_sessions_are_deleted() {
    let (engine, context) = open().await;
    add(&engine, &context, &["Kettle"]).await;
    let mut asked = Vec::new();
    for question in ["boil water", "make tea", "cook soup"] {
        asked.push(ask(&engine, &context, question).await.id);
    }
    // A session is stored after its turn has ended.
    engine.asking.agent.sessions.stop_all().await;
    let questions = async || {
        let notes = Handle::<ListSessions>::handle(&*engine, &context, Nothing {}).await.expect("listed");
        let mut questions: Vec<String> = notes.into_iter().map(|note| note.question).collect();
        questions.sort();
        questions
    };
    assert_eq!(questions().await, ["boil water", "cook soup", "make tea"]);
    let delete = |sessions| Handle::<DeleteSessions>::handle(&*engine, &context, SessionsDelete { sessions });
    delete(Some(vec![asked[1].clone()])).await.expect("deleted");
    assert_eq!(questions().await, ["boil water", "cook soup"]);
    let wait = SessionWait { session: asked[1].clone(), after: 0 };
    let gone = Handle::<WaitSession>::handle(&*engine, &context, wait).await;
    assert_eq!(gone.expect_err("deleted").code, ErrorCode::NotFound);
    delete(None).await.expect("deleted");
    assert_eq!(questions().await, [""; 0]);
    engine.close().await.expect("closed");
}
