//! Tests with a registry on this machine, queried by people and by agents.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_api::commands::{InstallFromMarket, SetProviders};
use autokit_api::{MarketInstall, MarketRef, ProviderSettings, ServerTransport};
use autokit_gateway::{HitKind, Search, SearchResults, Tier};
use autokit_library::{Library, Storage};
use autokit_workspace::options::{EngineOptions, MARKET_TIMEOUT, Vectors};
use autokit_workspace::secrets::KeyStorage;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use super::*;
use crate::duplicates::Duplicates;
use crate::import::Imports;
use crate::keys::BundleKeys;
use crate::sources::Sources;
use crate::vocabulary::NamesAndSynonyms;

type Requests = Arc<Mutex<Vec<String>>>;

/// Starts a registry that answers every request with these servers, or never answers.
async fn registry(servers: Option<Value>) -> (String, Requests) {
    let requests = Requests::default();
    let state = (servers, Arc::clone(&requests));
    let answer = |State((servers, requests)): State<(Option<Value>, Requests)>, request: Request| async move {
        let path = request.uri().path().to_owned();
        requests.lock().unwrap().push(path.clone());
        let Some(servers) = servers else { return std::future::pending::<Response>().await };
        let one = path.contains("/versions/latest").then(|| servers[0].clone());
        one.unwrap_or_else(|| json!({"servers": servers})).to_string().into_response()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().fallback(answer).with_state(state);
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (url, requests)
}

fn server(name: &str, description: &str) -> Value {
    json!({"server": {"name": name, "description": description, "version": "1.0.0", "packages": [
        {"registryType": "npm", "identifier": name, "version": "1.0.0", "transport": {"type": "stdio"},
            "environmentVariables": [{"name": "MAIL_KEY", "isRequired": true, "isSecret": true},
                {"name": "MAIL_HOST", "default": "mail.example.org"}]}]}})
}

/// A marketplace and its dependencies.
struct Setup {
    workspace: Workspace,
    servers: KnownServers,
    imports: Imports,
    market: Market,
}

/// A marketplace whose agents wait far longer than any source takes, even on a busy machine.
async fn setup() -> Setup {
    setup_with_timeout(Duration::from_mins(2)).await
}

async fn setup_with_timeout(market_timeout: Duration) -> Setup {
    let options = EngineOptions {
        vectors: Vectors::Off,
        key_storage: Some(KeyStorage::Memory),
        market_timeout,
        ..EngineOptions::new()
    };
    let (events, _) = broadcast::channel(64);
    let library = Library::open(Storage::Memory, options.clock.clone()).await.unwrap();
    let workspace = Workspace::new(library, options.clock.clone(), events, false);
    let models = Models::open(workspace.clone(), &options, None).await.unwrap();
    models.load().await;
    let providers = Providers::new(workspace.clone(), &options).unwrap();
    let servers = KnownServers::new(workspace.clone(), providers.clone(), options.server_limits.clone());
    let keys = BundleKeys::new(workspace.clone(), providers.clone());
    let imports = Imports::new(
        workspace.clone(),
        models.clone(),
        Duplicates::new(workspace.clone(), models.clone()),
        Sources::new(workspace.clone(), providers.clone(), keys),
        servers.clone(),
        NamesAndSynonyms::new(workspace.clone(), models.clone()),
    );
    let mut settings = ProviderSettings::default();
    settings.network.allowed_hosts = vec!["127.0.0.1".to_owned()];
    Handle::<SetProviders>::handle(&providers, &context(), settings).await.unwrap();
    let market = Market::new(workspace.clone(), models, providers, servers.clone(), &options);
    Setup { workspace, servers, imports, market }
}

fn context() -> Context {
    Context { request: None, author: "test".to_owned() }
}

async fn add(setup: &Setup, url: &str) -> MarketSource {
    let request = MarketSourceAdd { kind: None, url: url.to_owned() };
    let all = Handle::<AddMarketSource>::handle(&setup.market, &context(), request).await.unwrap();
    all.last().unwrap().clone()
}

async fn search(setup: &Setup, query: &str) -> MarketFound {
    let request = MarketQuery { query: query.to_owned(), limit: None };
    Handle::<SearchMarket>::handle(&setup.market, &context(), request).await.unwrap()
}

async fn search_as_agent(setup: &Setup, query: &str) -> SearchResults {
    let search = Search {
        query: query.to_owned(),
        limit: 5,
        threshold: 0.2,
        rerank: std::time::Duration::ZERO,
        profile: String::new(),
        always: HashSet::new(),
    };
    let mut found = SearchResults::default();
    setup.market.add_offers(&search, &mut found).await;
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_queried_without_a_source_and_agents_see_offers_with_one() {
    let setup = setup().await;
    let (url, requests) = registry(Some(json!([
        server("io.acme/letterbox", "Sends letters by post.<!-- and more -->"),
        server("io.acme/mailbox", "Reads mail of a mailbox."),
        server("io.acme/weather", "Forecasts."),
    ])))
    .await;
    let found = search_as_agent(&setup, "mailbox reader").await;
    assert!(found.hits.iter().all(|hit| hit.tier != Tier::Marketplace));
    assert!(found.took_ms.iter().all(|(tier, _)| *tier != Tier::Marketplace));
    assert_eq!(search(&setup, "mailbox").await.notes, ["No registry is configured."]);
    assert!(requests.lock().unwrap().is_empty());

    let source = add(&setup, &format!("{url}/v0.1/servers")).await;
    assert_eq!((source.kind, &source.url), (MarketKind::Registry, &url));
    let again = MarketSourceAdd { kind: None, url: url.clone() };
    let error = Handle::<AddMarketSource>::handle(&setup.market, &context(), again).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Duplicate);

    let found = search_as_agent(&setup, "mailbox letterbox").await;
    let market: Vec<_> = found.hits.iter().filter(|hit| hit.tier == Tier::Marketplace).collect();
    let [mailbox] = market.as_slice() else { panic!("{:?}", found.hits) };
    assert_eq!((mailbox.name.as_str(), mailbox.provider.as_str()), ("mailbox", "io.acme"));
    let HitKind::Installable { facts } = &mailbox.kind else { panic!("{mailbox:?}") };
    assert!(facts["install"].as_str().unwrap().ends_with(&format!("{} io.acme/mailbox", source.id)));
    assert!(found.notes.iter().any(|note| note.contains("left out")), "{:?}", found.notes);
    // Answers are cached.
    let before = requests.lock().unwrap().len();
    assert!(search(&setup, "letterbox").await.offers[0].suspect.is_some());
    assert_eq!(requests.lock().unwrap().len(), before);

    let remove = MarketSourceRef { id: source.id };
    let rest = Handle::<RemoveMarketSource>::handle(&setup.market, &context(), remove).await.unwrap();
    assert!(rest.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_does_not_answer_adds_a_note_and_is_not_waited_for_twice() {
    let setup = setup_with_timeout(MARKET_TIMEOUT).await;
    let (silent, _) = registry(None).await;
    let (responsive, _) = registry(Some(json!([server("io.acme/mailbox", "Reads mail.")]))).await;
    // Queried by a person first, who waits longer: its answer is cached by then, however busy the machine
    // is.
    add(&setup, &responsive).await;
    assert_eq!(search(&setup, "mailbox").await.offers.len(), 1);
    add(&setup, &silent).await;
    let found = search_as_agent(&setup, "mailbox").await;
    assert!(found.hits.iter().any(|hit| hit.name == "mailbox"), "{:?}", found.hits);
    assert!(found.notes.iter().any(|note| note.contains("did not respond within")), "{:?}", found.notes);
    // A second query would have stored a new failure.
    let failure = || setup.market.answers.get(&(silent.clone(), "mailbox".to_owned()), true).unwrap();
    let before = failure();
    search_as_agent(&setup, "mailbox").await;
    assert!(Arc::ptr_eq(&before, &failure()));
}

#[tokio::test(flavor = "multi_thread")]
async fn installing_only_returns_a_request_to_confirm() {
    let setup = setup().await;
    let (url, _) = registry(Some(json!([server("io.acme/mailbox", "Reads mail.")]))).await;
    let source = add(&setup, &url).await.id;
    let request = MarketRef { source: source.clone(), id: "io.acme/mailbox".to_owned() };
    let install = Handle::<InstallFromMarket>::handle(&setup.market, &context(), request).await.unwrap();
    let MarketInstall::Server { add, runner, inputs, .. } = install else { panic!("{install:?}") };
    assert_eq!((add.name.as_str(), add.trusted, runner.as_deref()), ("mailbox", false, Some("npx")));
    let ServerTransport::Stdio { command, args, .. } = &add.reach else { panic!("{add:?}") };
    assert_eq!((command.as_str(), args.join(" ").as_str()), ("npx", "-y io.acme/mailbox@1.0.0"));
    assert_eq!(add.secrets.get("MAIL_HOST").map(String::as_str), Some("mail.example.org"));
    assert!(inputs[0].required && inputs[0].secret && !add.secrets.contains_key("MAIL_KEY"));
    // Nothing was added.
    assert!(setup.servers.all().await.unwrap().is_empty());
    for (source, id) in [(source.as_str(), "io.acme/other"), ("none", "io.acme/mailbox")] {
        let request = MarketRef { source: source.to_owned(), id: id.to_owned() };
        let error =
            Handle::<InstallFromMarket>::handle(&setup.market, &context(), request).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound, "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_of_a_published_bundle_is_imported_into_review() {
    let setup = setup().await;
    let cards = json!([
        {"name": "Mailbox", "provider": "Acme", "description": "Reads mail.", "pricing": "free"},
        {"name": "Weather", "provider": "Acme", "description": "Forecasts."},
        {"name": "", "provider": "Acme", "description": "Has no name."},
    ]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/team.toolcards", listener.local_addr().unwrap());
    let app = Router::new().fallback(move || async move { cards.to_string() });
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let source = add(&setup, &url).await;
    assert_eq!(source.kind, MarketKind::Bundle);
    let found = search(&setup, "read a mailbox").await;
    assert_eq!((found.offers.len(), found.offers[0].price.as_deref()), (1, Some("free")), "{found:?}");
    assert_eq!(found.notes, [format!("card 3 of {url} is invalid and not searched")]);
    let request = MarketRef { source: source.id, id: found.offers[0].id.clone() };
    let install = Handle::<InstallFromMarket>::handle(&setup.market, &context(), request).await.unwrap();
    let MarketInstall::Card { import, .. } = install else { panic!("{install:?}") };
    assert_eq!((import.landing, import.choices.len()), (autokit_api::Landing::Review, 1));
    let job = Handle::<autokit_api::commands::StartImport>::handle(&setup.imports, &context(), import)
        .await
        .unwrap();
    let mut wait = autokit_api::JobWait { job: job.job, after: 0 };
    loop {
        let job =
            Handle::<autokit_api::commands::WaitJob>::handle(&setup.workspace.jobs, &context(), wait.clone())
                .await
                .unwrap();
        if job.state != autokit_api::JobState::Running {
            assert_eq!(job.summary.as_deref(), Some("1 pending review, 1 unchanged, 1 rejected"), "{job:?}");
            break;
        }
        wait.after = job.version;
    }
}
