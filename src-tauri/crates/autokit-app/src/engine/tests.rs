//! Tests of an agent's search through all layers.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use autokit_api::commands::{
    AddMarketSource, CreateCard, ListVocabulary, PreviewExport, RemoveVocabulary, Search, SetProfile,
    SetProviders, SetVocabulary, WaitJob,
};
use autokit_api::{
    CardCreate, EntryKind, ExportRequest, Format, Job, JobState, JobWait, LlmKind, LlmSettings,
    MarketSourceAdd, Profile, ProviderSettings, SearchRequest, VocabularyQuery, VocabularyRemove,
    VocabularySet,
};
use autokit_gateway::{Search as AgentSearch, SearchResults, Tier};
use autokit_library::VocabularyEntry;
use autokit_policy::Permission;
use autokit_toolcard::Author;
use autokit_vocabulary::Entry;
use autokit_workspace::secrets::KeyStorage;
use axum::Router;
use axum::http::StatusCode;
use serde_json::json;
use tokio::net::TcpListener;

use super::*;

mod collections;
mod duplicates;
mod memory;
mod personalization;

/// Returns what an agent of a profile finds; a language model may take as long as it needs to rerank it.
async fn search(engine: &Engine, profile: &str) -> SearchResults {
    let search = AgentSearch {
        query: "mailbox".to_owned(),
        limit: 5,
        threshold: 0.0,
        rerank: Duration::from_mins(2),
        profile: profile.to_owned(),
        always: HashSet::new(),
    };
    engine.mcp.gateway.toolbox().search(search).await.expect("found")
}

/// Returns how many of the results are from the marketplace.
async fn marketplace_hits(engine: &Engine, profile: &str) -> usize {
    search(engine, profile).await.hits.iter().filter(|hit| hit.tier == Tier::Marketplace).count()
}

/// Answers every request alike on this machine. Returns the address, and how many there were.
async fn serve(status: StatusCode, body: String) -> (String, Arc<AtomicU32>) {
    let requests = Arc::new(AtomicU32::new(0));
    let counting = Arc::clone(&requests);
    let app = Router::new().fallback(move || async move {
        counting.fetch_add(1, Ordering::Relaxed);
        (status, body)
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, requests)
}

async fn open() -> (Arc<Engine>, Context) {
    open_with(Vectors::Off).await
}

/// An engine whose vectors are those of the test model.
async fn open_with_vectors() -> (Arc<Engine>, Context) {
    open_with(Vectors::StandIn(64)).await
}

async fn open_with(vectors: Vectors) -> (Arc<Engine>, Context) {
    let options = EngineOptions {
        vectors,
        key_storage: Some(KeyStorage::Memory),
        // Far longer than it takes, even on a busy machine.
        market_timeout: Duration::from_mins(2),
        ..EngineOptions::new()
    };
    let engine = Engine::open(Storage::Memory, &options, broadcast::channel(64).0).await.expect("opens");
    (engine, Context { request: None, author: "test".to_owned() })
}

/// Waits until a job has ended.
async fn ended(engine: &Engine, context: &Context, started: JobRef) -> Job {
    let mut after = 0;
    loop {
        let wait = JobWait { job: started.job.clone(), after };
        let job = Handle::<WaitJob>::handle(engine, context, wait).await.expect("known");
        if job.state != JobState::Running {
            return job;
        }
        after = job.version;
    }
}

/// Chooses a language model, and adds the profile "inside", which may reach no host.
async fn set_up(engine: &Engine, context: &Context, llm: LlmSettings) {
    let mut settings = ProviderSettings { llm, ..ProviderSettings::default() };
    settings.network.allowed_hosts = vec!["127.0.0.1".to_owned()];
    Handle::<SetProviders>::handle(engine, context, settings).await.expect("set");
    let mut inside = Profile { name: "inside".to_owned(), ..Profile::default() };
    inside.permissions.hosts.otherwise = Some(Permission::Deny);
    Handle::<SetProfile>::handle(engine, context, inside).await.expect("set");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_agents_that_may_reach_every_host_find_is_reranked_by_a_model() {
    let (url, requests) = serve(StatusCode::BAD_REQUEST, "no such model".to_owned()).await;
    let (engine, context) = open().await;
    for name in ["read_mailbox", "empty_mailbox"] {
        let card =
            json!({"kind": "api", "name": name, "provider": "Post", "description": "Works on a mailbox."});
        let fields = card.as_object().expect("an object").clone();
        let create = CardCreate { fields, reason: String::new(), flagged_too: false };
        Handle::<CreateCard>::handle(&*engine, &context, create).await.expect("created");
    }
    let llm =
        LlmSettings { kind: LlmKind::Openai, base: url, large: "m".to_owned(), ..LlmSettings::default() };
    set_up(&engine, &context, llm).await;

    let found = search(&engine, "inside").await;
    assert_eq!(
        (found.hits.len(), found.notes.len(), requests.load(Ordering::Relaxed)),
        (2, 1, 0),
        "{found:?}"
    );
    let found = search(&engine, "").await;
    assert!(requests.load(Ordering::Relaxed) > 0 && found.hits.len() == 2);
    assert!(found.notes.iter().any(|note| note.contains("Not reranked")), "{found:?}");
    engine.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn registries_are_searched_only_for_agents_that_may_reach_every_host() {
    let offer = json!({"servers": [{"server": {
        "name": "io.acme/mailbox", "description": "Reads mail of a mailbox.", "version": "1.0.0",
        "packages": [{"registryType": "npm", "identifier": "mailbox", "version": "1.0.0",
            "transport": {"type": "stdio"}}]
    }}]});
    let (url, requests) = serve(StatusCode::OK, offer.to_string()).await;
    let (engine, context) = open().await;
    set_up(&engine, &context, LlmSettings::default()).await;
    let source = MarketSourceAdd { kind: None, url };
    Handle::<AddMarketSource>::handle(&*engine, &context, source).await.expect("added");

    let before = requests.load(Ordering::Relaxed);
    assert_eq!((marketplace_hits(&engine, "inside").await, requests.load(Ordering::Relaxed)), (0, before));
    assert_eq!(marketplace_hits(&engine, "").await, 1);
    assert!(requests.load(Ordering::Relaxed) > before);
    engine.close().await.expect("closed");
}

async fn create(engine: &Engine, context: &Context, card: serde_json::Value) {
    let fields = card.as_object().expect("an object").clone();
    let create = CardCreate { fields, reason: String::new(), flagged_too: false };
    Handle::<CreateCard>::handle(engine, context, create).await.expect("created");
}

/// Returns the names of the cards that a search finds.
async fn found(engine: &Engine, context: &Context, query: &str) -> Vec<String> {
    let request = SearchRequest { query: query.to_owned(), ..SearchRequest::default() };
    let response = Handle::<Search>::handle(engine, context, request).await.expect("found");
    response.results.into_iter().map(|hit| hit.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn added_names_and_synonyms_are_searched_at_once_and_until_they_are_removed() {
    let (engine, context) = open().await;
    let card = |name: &str, provider: &str, description: &str| json!({"kind": "api", "name": name, "provider": provider, "description": description});
    create(&engine, &context, card("push_release", "Borealis", "Ships a build.")).await;
    create(&engine, &context, card("set_borealis", "Sky", "Draws lights above a horizon.")).await;
    create(&engine, &context, card("request_leave", "People", "Books vacation days.")).await;
    assert!(found(&engine, &context, "hosting").await.is_empty());
    assert!(found(&engine, &context, "furlough").await.is_empty());

    let set = |kind, text: &str| VocabularySet { kind, text: text.to_owned(), replaces: None };
    let name = set(EntryKind::Name, "Borealis = hosting of our web sites");
    let name = Handle::<SetVocabulary>::handle(&*engine, &context, name).await.expect("set");
    assert_eq!(name.cards, 1, "the provider, not a word of an identifier");
    assert_eq!(found(&engine, &context, "hosting").await, ["push_release"]);
    let synonym = set(EntryKind::Synonym, "furlough, vacation");
    let synonym = Handle::<SetVocabulary>::handle(&*engine, &context, synonym).await.expect("set");
    assert_eq!(found(&engine, &context, "furlough").await, ["request_leave"]);

    let query = VocabularyQuery {
        kind: EntryKind::Name,
        text: "HOSTING our".to_owned(),
        added_only: true,
        limit: None,
    };
    let list = Handle::<ListVocabulary>::handle(&*engine, &context, query).await.expect("listed");
    assert_eq!((list.entries.as_slice(), list.total, list.added), (std::slice::from_ref(&name.entry), 1, 1));
    let bad = set(EntryKind::Synonym, "furlough");
    let refused = Handle::<SetVocabulary>::handle(&*engine, &context, bad).await.expect_err("no entry");
    assert_eq!(refused.code, autokit_error::ErrorCode::BadRequest);

    let ids = [name, synonym].map(|changed| changed.entry.added.expect("added").id).to_vec();
    let remove = VocabularyRemove { ids, bundle: None };
    let gone = Handle::<RemoveVocabulary>::handle(&*engine, &context, remove).await.expect("removed");
    assert_eq!(gone.removed.len(), 2);
    assert!(found(&engine, &context, "hosting").await.is_empty());
    assert!(found(&engine, &context, "furlough").await.is_empty());
    engine.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_names_than_a_bundle_may_hold_are_not_exported() {
    let (engine, context) = open().await;
    let card = json!({"kind": "api", "name": "push_release", "description": "Ships a build."});
    create(&engine, &context, card).await;
    let entry = |number: usize| VocabularyEntry {
        entry: Entry::parse(EntryKind::Name, &format!("borealis {number} = a service of ours"))
            .expect("an entry"),
        bundle: None,
        added_by: Author("test".to_owned()),
        added_at: engine.workspace.clock.stamp(),
    };
    let most = autokit_bundle::limits::VOCABULARY;
    let library = &engine.workspace.library;
    library.change_vocabulary(&[], &(0..most).map(entry).collect::<Vec<_>>()).await.expect("added");
    let request = ExportRequest { format: Format::Bundle, vocabulary: true, ..ExportRequest::default() };
    let preview =
        Handle::<PreviewExport>::handle(&*engine, &context, request.clone()).await.expect("as many");
    assert_eq!(preview.vocabulary as usize, most);
    library.change_vocabulary(&[], &[entry(most)]).await.expect("added");
    let refused =
        Handle::<PreviewExport>::handle(&*engine, &context, request).await.expect_err("one too many");
    assert!(refused.message.contains("1001") && refused.message.contains("1000"), "{refused:?}");
    engine.close().await.expect("closed");
}
