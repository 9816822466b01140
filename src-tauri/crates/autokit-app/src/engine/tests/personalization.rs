//! Searches adapt to what a profile used, where that ranks its own past better.

use autokit_api::commands::{
    ExportPersonalization, GetPersonalization, GetSession, LearnPersonalization, ResetPersonalization,
    SetPersonalization, StartAsk, UpdateCard, WaitSession,
};
use autokit_api::{
    AgentQuestion, CardUpdate, JobState, LearningState, PersonalProfile, Personalization,
    PersonalizationProfiles, PersonalizationSet, SessionWait, Setting, TurnState,
};
use autokit_error::ErrorCode;
use autokit_gateway::{Audit, CallOutcome, DecidedBy, Event as AgentEvent};
use autokit_library::Feedback;
use autokit_serving::{Activity, record_activity};
use autokit_toolcard::{CardId, Timestamp};
use autokit_workspace::personal::Learned;

use super::*;

const THINGS: [&str; 60] = [
    "photo", "invoice", "playlist", "server", "contract", "route", "person", "ticket", "recipe", "wallet",
    "hotel", "movie", "podcast", "survey", "form", "email", "lead", "refund", "cart", "order", "flight",
    "map", "image", "audio", "video", "slide", "table", "column", "row", "report", "chart", "metric",
    "alert", "log", "file", "folder", "branch", "issue", "build", "release", "channel", "message", "event",
    "calendar", "team", "match", "score", "actor", "book", "stock", "currency", "weather", "forecast",
    "workout", "meal", "garden", "lamp", "door", "window", "roof",
];
const VERBS: [&str; 4] = ["archive", "delete", "export", "rename"];

/// A library of four tools for each thing, embedded by a stand-in: texts are close where they share words.
async fn stocked() -> (Arc<Engine>, Context) {
    let options = EngineOptions {
        vectors: Vectors::StandIn(64),
        key_storage: Some(KeyStorage::Memory),
        ..EngineOptions::new()
    };
    let engine = Engine::open(Storage::Memory, &options, broadcast::channel(4096).0).await.expect("opens");
    let context = Context { request: None, author: "ann".to_owned() };
    for thing in THINGS {
        for verb in VERBS {
            let card = json!({
                "kind": "api", "name": format!("{verb}_{thing}"), "description": format!("{verb} the {thing}"),
            });
            create(&engine, &context, card).await;
        }
    }
    (engine, context)
}

fn card(engine: &Engine, name: &str) -> CardId {
    let named = |replica: &Replica| replica.named(name).next().map(|record| record.id.clone());
    engine.workspace.library.read(named).expect("exists")
}

fn time(second: usize) -> Timestamp {
    format!("2026-01-01T00:{:02}:{:02}.000Z", second / 60, second % 60).parse().expect("a time")
}

/// Ann says "stow" where the cards say "archive", and rates the answers.
async fn rate(engine: &Engine, profile: &str, verb: impl Fn(usize) -> &'static str) {
    for (number, thing) in THINGS.iter().take(50).enumerate() {
        let feedback = Feedback {
            at: time(number),
            profile: profile.to_owned(),
            question: format!("stow the {thing}"),
            card: card(engine, &format!("{}_{thing}", verb(number))),
            helpful: true,
            said: String::new(),
        };
        engine.workspace.library.put_feedback(&feedback, None).await.expect("stored");
    }
}

async fn learn(engine: &Engine, context: &Context) -> Personalization {
    let started = Handle::<LearnPersonalization>::handle(engine, context, Nothing {}).await.expect("started");
    let ended = ended(engine, context, started).await;
    assert_eq!(ended.state, JobState::Done, "{ended:?}");
    Handle::<GetPersonalization>::handle(engine, context, Nothing {}).await.expect("read")
}

fn of<'a>(all: &'a Personalization, profile: &str) -> &'a PersonalProfile {
    all.profiles.iter().find(|known| known.profile == profile).expect("there is something to learn from")
}

/// For how many things that were never rated the archiving tool comes first.
async fn archived_first(engine: &Engine, context: &Context) -> usize {
    let mut first = 0;
    for thing in &THINGS[50..] {
        let found = found(engine, context, &format!("stow the {thing}")).await;
        first += usize::from(found.first() == Some(&format!("archive_{thing}")));
    }
    first
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_of_ones_own_is_learned_used_switched_off_and_forgotten() {
    let (engine, ann) = stocked().await;
    let bob = Context { request: None, author: "bob".to_owned() };
    let nothing = learn(&engine, &ann).await;
    assert!(nothing.enabled && nothing.profiles.is_empty());
    let before = archived_first(&engine, &ann).await;
    assert!(before <= 6, "{before} of 10 are first without anything learned");

    rate(&engine, "ann", |_| "archive").await;
    let waiting = Handle::<GetPersonalization>::handle(&*engine, &ann, Nothing {}).await.expect("read");
    assert_eq!(of(&waiting, "ann").state, LearningState::Waiting);
    let learned = learn(&engine, &ann).await;
    let known = of(&learned, "ann");
    let compared = known.comparison.as_ref().expect("compared");
    assert_eq!((known.state, known.ratings, known.questions), (LearningState::InUse, 50, 50), "{compared:?}");
    assert!(
        compared.lower > 0.0 && compared.after > compared.before + 0.1 && compared.better > compared.worse
    );
    let after = archived_first(&engine, &ann).await;
    assert!(after >= 9, "{after} of 10 are first");
    assert_eq!(archived_first(&engine, &bob).await, before, "others search as before");

    let off = PersonalizationSet { enabled: false };
    let off = Handle::<SetPersonalization>::handle(&*engine, &ann, off).await.expect("set");
    assert!(!off.enabled && of(&off, "ann").comparison.is_some());
    assert_eq!(archived_first(&engine, &ann).await, before);
    let refused = Handle::<LearnPersonalization>::handle(&*engine, &ann, Nothing {}).await.expect_err("off");
    assert_eq!(refused.code, ErrorCode::Conflict);
    let on = PersonalizationSet { enabled: true };
    Handle::<SetPersonalization>::handle(&*engine, &ann, on).await.expect("set");
    assert_eq!(archived_first(&engine, &ann).await, after);

    let of_ann = PersonalizationProfiles { profile: Some("ann".to_owned()) };
    for which in [of_ann.clone(), PersonalizationProfiles::default()] {
        let file = Handle::<ExportPersonalization>::handle(&*engine, &ann, which).await.expect("exported");
        let exported: Learned = serde_json::from_str(&file.text).expect("what was learned");
        assert!(exported.adapter_of("ann").is_some() && exported.adapter_of("bob").is_none());
    }
    let of_bob = PersonalizationProfiles { profile: Some("bob".to_owned()) };
    let refused = Handle::<ExportPersonalization>::handle(&*engine, &ann, of_bob).await.expect_err("unknown");
    assert_eq!(refused.code, ErrorCode::NotFound);

    let reset = Handle::<ResetPersonalization>::handle(&*engine, &ann, of_ann).await.expect("reset");
    assert_eq!((of(&reset, "ann").ratings, of(&reset, "ann").state), (0, LearningState::Collecting));
    assert_eq!(archived_first(&engine, &ann).await, before);
    assert_eq!(of(&learn(&engine, &ann).await, "ann").state, LearningState::Collecting);
    engine.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn switching_off_and_resetting_wait_for_no_learning_and_undo_it() {
    let (engine, ann) = stocked().await;
    rate(&engine, "ann", |_| "archive").await;
    let begin = || Handle::<LearnPersonalization>::handle(&*engine, &ann, Nothing {});
    let started = begin().await.expect("started");
    let off = PersonalizationSet { enabled: false };
    Handle::<SetPersonalization>::handle(&*engine, &ann, off).await.expect("off");
    let job = ended(&engine, &ann, started).await;
    assert!(matches!(job.state, JobState::Cancelled | JobState::Done), "{job:?}");
    let on = PersonalizationSet { enabled: true };
    let on = Handle::<SetPersonalization>::handle(&*engine, &ann, on).await.expect("on");
    assert_eq!(of(&on, "ann").state, LearningState::Waiting, "nothing is kept that was learned after that");

    let started = begin().await.expect("started");
    let all = PersonalizationProfiles::default();
    let reset = Handle::<ResetPersonalization>::handle(&*engine, &ann, all).await.expect("reset");
    assert_eq!(of(&reset, "ann").state, LearningState::Collecting);
    assert_eq!(ended(&engine, &ann, started).await.state, JobState::Done);
    let read = Handle::<GetPersonalization>::handle(&*engine, &ann, Nothing {}).await.expect("read");
    assert_eq!(of(&read, "ann").state, LearningState::Collecting);
    engine.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_learned_and_cannot_be_read_is_reset() {
    let (engine, ann) = stocked().await;
    let other = json!({ "enabled": false, "profiles": "from another version" });
    engine.workspace.save_setting(Setting::Personalization, &other).await.expect("saved");
    Handle::<GetPersonalization>::handle(&*engine, &ann, Nothing {}).await.expect_err("unreadable");
    assert!(archived_first(&engine, &ann).await <= 6, "search works without it");
    let all = PersonalizationProfiles::default();
    let reset = Handle::<ResetPersonalization>::handle(&*engine, &ann, all).await.expect("reset");
    assert!(!reset.enabled && reset.profiles.is_empty(), "what was switched off stays off");
    engine.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_past_without_a_pattern_changes_nothing() {
    let (engine, ann) = stocked().await;
    let before = archived_first(&engine, &ann).await;
    rate(&engine, "ann", |number| VERBS[number * 7 % 11 % 4]).await;
    let learned = learn(&engine, &ann).await;
    assert_eq!(of(&learned, "ann").state, LearningState::NotBetter, "{learned:?}");
    assert_eq!(archived_first(&engine, &ann).await, before);
    engine.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_agents_called_after_they_found_it_is_learned_for_their_profile_alone() {
    let (engine, ann) = stocked().await;
    let mut done = Vec::new();
    for (number, thing) in THINGS.iter().take(50).enumerate() {
        let used = card(&engine, &format!("archive_{thing}"));
        let other = card(&engine, &format!("delete_{thing}"));
        let searched = AgentEvent::Searched {
            query: format!("stow the {thing}"),
            found: vec![other.to_string(), used.to_string()],
            bound: Vec::new(),
            took_ms: 1.0,
            tiers: Vec::new(),
            tokens: 1,
            repeated: false,
        };
        let called = |id: &CardId, outcome| {
            AgentEvent::Audited(Box::new(Audit {
                id: id.to_string(),
                name: String::new(),
                provider: String::new(),
                profile: "shop".to_owned(),
                client: String::new(),
                arguments: serde_json::Value::Null,
                needed: Vec::new(),
                decided: DecidedBy::Rules,
                outcome,
                why: String::new(),
                took_ms: 1.0,
            }))
        };
        // A call of what was not found and one that failed say nothing.
        let elsewhere = card(&engine, "rename_roof");
        let calls = [
            called(&elsewhere, CallOutcome::Done),
            called(&other, CallOutcome::Failed),
            called(&used, CallOutcome::Done),
        ];
        for event in std::iter::once(searched).chain(calls) {
            let event = serde_json::to_string(&event).expect("an event");
            done.push(Activity { at: time(number), session: format!("session-{number}"), event });
        }
    }
    record_activity(&engine.workspace.library, "1", &[], &done).await.expect("recorded");
    let learned = learn(&engine, &ann).await;
    let shop = of(&learned, "agents/shop");
    assert_eq!((shop.state, shop.calls, shop.ratings), (LearningState::InUse, 50, 0), "{shop:?}");
    assert!(learned.profiles.iter().all(|known| known.profile != "ann"));
    let found = search_for(&engine, "shop", "stow the roof").await;
    assert_eq!(found.first().map(String::as_str), Some("archive_roof"));
    engine.close().await.expect("closed");
}

/// Returns the names of what an agent of a profile finds.
async fn search_for(engine: &Engine, profile: &str, query: &str) -> Vec<String> {
    let shop = Profile { name: profile.to_owned(), ..Profile::default() };
    let context = Context { request: None, author: "ann".to_owned() };
    Handle::<SetProfile>::handle(engine, &context, shop).await.expect("set");
    let search = AgentSearch {
        query: query.to_owned(),
        limit: 5,
        threshold: 0.0,
        rerank: Duration::ZERO,
        profile: profile.to_owned(),
        always: HashSet::new(),
    };
    let found = engine.mcp.gateway.toolbox().search(search).await.expect("found");
    found.hits.into_iter().map(|hit| hit.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_card_that_was_found_counts_for_its_author() {
    let (engine, ann) = stocked().await;
    let question = "archive the photo".to_owned();
    let asked = AgentQuestion { question, session: None, limit: None };
    let started = Handle::<StartAsk>::handle(&*engine, &ann, asked).await.expect("started");
    let mut session = Handle::<GetSession>::handle(&*engine, &ann, started.clone()).await.expect("running");
    while session.turns.iter().any(|turn| turn.state == TurnState::Running) {
        let wait = SessionWait { session: started.session.clone(), after: session.version };
        session = Handle::<WaitSession>::handle(&*engine, &ann, wait).await.expect("goes on");
    }
    let answer = session.turns[0].answer.as_ref().expect("answered");
    assert_eq!(answer.tool, Some(card(&engine, "archive_photo")));

    let edit = |author: &str, name: &str, description: &str| {
        let fields = json!({ "kind": "api", "name": name, "description": description });
        let context = Context { request: None, author: author.to_owned() };
        let update = CardUpdate {
            card: name.to_owned(),
            expected: None,
            fields: fields.as_object().expect("an object").clone(),
            reason: String::new(),
            flagged_too: false,
        };
        (context, update)
    };
    for (author, name) in [("ann", "archive_photo"), ("ann", "delete_roof"), ("bob", "archive_photo")] {
        let (context, update) = edit(author, name, &format!("{author} knows better"));
        Handle::<UpdateCard>::handle(&*engine, &context, update).await.expect("edited");
    }
    let read = Handle::<GetPersonalization>::handle(&*engine, &ann, Nothing {}).await.expect("read");
    let known = of(&read, "ann");
    assert_eq!((known.edits, known.questions, known.state), (1, 1, LearningState::Collecting));
    assert_eq!(read.profiles.len(), 1, "nobody else's question led to an edit: {read:?}");
    engine.close().await.expect("closed");
}
