//! Services are chosen while the program runs; what is wrong with one is told apart.

use anyhow::{Context, Result};
use autokit_api::commands::{GetStatus, RunDoctor, SetProviders, SetSecret, TestConnection};
use autokit_api::{
    CheckState, Connection, DoctorRequest, KeyName, LlmKind, Nothing, ProviderSettings, SearchKind,
    SecretSet, TestRequest,
};
use autokit_app::ErrorCode;
use autokit_app::node::Node;
use autokit_tests::Workplace;
use autokit_tests::agent::{answer_of, ask, last_turn, provider_settings, set_providers};
use autokit_tests::model::{ModelRequest, Reply, RequestKind, ScriptedModel};
use autokit_tests::site::{Page, Site};
use serde_json::json;

use autokit_tests::calendar::{NEED, cards, stock};

/// Finds nothing in the library and leaves the web to the rules' first hit.
fn opens_the_first_hit(request: &ModelRequest) -> Reply {
    let seen = request.observations();
    match (request.kind(), seen.as_slice()) {
        (RequestKind::Scores, _) => Reply::scores(request, ""),
        (RequestKind::Answer, _) => Reply::answer(None, "", "", ""),
        (RequestKind::Rewrite, _) => Reply::query(NEED),
        (RequestKind::Web, []) => Reply::call("search", json!({ "query": "calendar" })),
        (RequestKind::Web, [found]) => {
            Reply::call("open", json!({ "url": found.lines().find(|line| line.starts_with("http")) }))
        }
        (RequestKind::Web, [found, page, ..]) => {
            let url = found.lines().find(|line| line.starts_with("http"));
            let quote = page.lines().find(|line| line.contains("calendar"));
            Reply::call("finish", json!({ "pages": [{ "url": url, "quote": quote }] }))
        }
        _ => Reply::Text("Here.".into()),
    }
}

async fn site(name: &str) -> Result<Site> {
    let says = format!("The {name} reads and creates events of a calendar from Python.");
    let code = format!("from kit import {name}\n\ntool = {name}()");
    Site::serve([("/tools/calendar", Page::new(name).paragraph(&says).code("python", &code))]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_providers_are_used_at_once() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (first, second) = (
        ScriptedModel::with_script(opens_the_first_hit).await?,
        ScriptedModel::with_script(opens_the_first_hit).await?,
    );
    let (here, there) = (site("CalendarHere").await?, site("CalendarThere").await?);
    let node = place.node(64).await?;
    stock(&node, &cards()).await?;

    set_providers(&node, Some(&first), Some(&here)).await?;
    let session = ask(&node, NEED).await?;
    assert_eq!(answer_of(&session)?.findings[0].name, "CalendarHere", "{:?}", answer_of(&session)?.notes);
    let (requests, searches) = (first.requests().len(), here.searches());
    assert!(requests > 0 && searches > 0 && second.requests().is_empty() && there.searches() == 0);

    set_providers(&node, Some(&second), Some(&there)).await?;
    let session = ask(&node, NEED).await?;
    assert_eq!(answer_of(&session)?.findings[0].name, "CalendarThere", "{:?}", answer_of(&session)?.notes);
    assert!(!second.requests().is_empty() && there.searches() > 0);
    assert_eq!(
        (first.requests().len(), here.searches()),
        (requests, searches),
        "the old ones are left alone"
    );

    // By the other protocol the same model does as well.
    let mut settings = provider_settings(Some(&first), Some(&here));
    settings.llm.kind = LlmKind::Anthropic;
    settings.llm.base = first.base.trim_end_matches("/v1").to_owned();
    node.call::<SetProviders>(settings).await?;
    let session = ask(&node, NEED).await?;
    assert_eq!(answer_of(&session)?.findings[0].name, "CalendarHere", "{:?}", answer_of(&session)?.notes);
    assert!(first.requests().iter().any(|request| request.path == "/v1/messages"));

    // And none at all: by rules, without asking anybody.
    set_providers(&node, None, None).await?;
    let requests = first.requests().len();
    let session = ask(&node, NEED).await?;
    assert!(last_turn(&session)?.events.iter().all(|event| event.model.is_none()));
    assert_eq!(first.requests().len(), requests);
    node.close().await?;
    Ok(())
}

/// What a test of the language model says, with its remedy.
async fn outcome(node: &Node, settings: ProviderSettings) -> Result<(ErrorCode, String)> {
    node.call::<SetProviders>(settings).await?;
    let error = node
        .call::<TestConnection>(TestRequest { connection: Connection::Llm })
        .await
        .err()
        .context("the connection does not work")?;
    assert!(error.remedy.len() > 10 && error.message.len() > 5, "{error:?}");
    Ok((error.code, error.remedy))
}

#[tokio::test(flavor = "multi_thread")]
async fn problems_with_a_model_are_distinguished() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node(64).await?;
    let says = |reply: Reply| ScriptedModel::with_script(move |_| reply.clone());
    let with = |model: &ScriptedModel| provider_settings(Some(model), None);

    let guarded = ScriptedModel::with_key("the-right-key", |_| Reply::Text("Yes.".into())).await?;
    let key = |value: &str| SecretSet { name: KeyName::Openai, value: value.into() };
    node.call::<SetSecret>(key("another-key")).await?;
    let (wrong_key, key_remedy) = outcome(&node, with(&guarded)).await?;
    assert_eq!(wrong_key, ErrorCode::WrongKey);
    node.call::<SetSecret>(key("the-right-key")).await?;
    let fine = node.call::<TestConnection>(TestRequest { connection: Connection::Llm }).await?;
    assert_eq!(fine.text, "large-1 responded");

    let mut elsewhere = with(&guarded);
    elsewhere.llm.base = format!("{}/elsewhere", guarded.base.trim_end_matches("/v1"));
    let found = says(Reply::WebPage).await?;
    let none = says(Reply::status(404, "not found")).await?;
    let unknown = says(Reply::status(404, "the model large-1 does not exist")).await?;
    let busy = says(Reply::Status(429, "slow down".into(), Some(30))).await?;
    let mut closed = with(&busy);
    closed.llm.base = "http://127.0.0.1:1/v1".into();

    let (wrong_address, address_remedy) = outcome(&node, with(&found)).await?;
    assert_eq!(wrong_address, ErrorCode::WrongAddress, "a web page");
    assert_eq!(outcome(&node, with(&none)).await?.0, ErrorCode::WrongAddress, "nothing there");
    let (wrong_model, model_remedy) = outcome(&node, with(&unknown)).await?;
    assert_eq!(wrong_model, ErrorCode::WrongModel);
    let (no_connection, connection_remedy) = outcome(&node, closed).await?;
    assert_eq!(no_connection, ErrorCode::NoConnection);
    let (rate_limited, rate_remedy) = outcome(&node, with(&busy)).await?;
    assert_eq!(rate_limited, ErrorCode::RateLimited);
    assert_eq!(busy.requests().len(), 1, "tried once; the person is waiting");

    let mut remedies = [key_remedy, address_remedy, model_remedy, connection_remedy, rate_remedy];
    remedies.sort_unstable();
    assert!(remedies.windows(2).all(|pair| pair[0] != pair[1]), "each its own: {remedies:?}");
    let (address, _) = outcome(&node, elsewhere).await?;
    assert_eq!(address, ErrorCode::WrongAddress, "another path of a service that is there");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_its_key_is_not_shown_as_one_that_answers() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node(64).await?;
    stock(&node, &cards()).await?;
    let mut settings = provider_settings(None, None);
    settings.llm.kind = LlmKind::Anthropic;
    settings.llm.large = "large-1".into();
    settings.search.kind = SearchKind::Tavily;
    let providers = node.call::<SetProviders>(settings).await?;
    let missing: Vec<&str> = providers.missing.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(
        missing,
        ["Anthropic needs an API key, and none is saved", "Tavily needs an API key, and none is saved"]
    );
    let status = node.call::<GetStatus>(Nothing {}).await?;
    assert_eq!((status.llm, status.search), (None, None));
    let doctor = node.call::<RunDoctor>(DoctorRequest::default()).await?;
    let bad: Vec<&str> =
        doctor.checks.iter().filter(|c| c.state == CheckState::Bad).map(|c| c.name.as_str()).collect();
    assert_eq!(bad, ["Language model", "Web search"]);
    let session = ask(&node, NEED).await?;
    let notes = answer_of(&session)?.notes.join("\n");
    assert!(notes.contains("Unavailable: Anthropic needs an API key"), "{notes}");

    // With the key it is there; nothing was sent anywhere to find that out.
    let key = SecretSet { name: KeyName::Anthropic, value: "a-key".into() };
    node.call::<SetSecret>(key).await?;
    let status = node.call::<GetStatus>(Nothing {}).await?;
    assert_eq!(status.llm.as_deref(), Some("large-1 via Anthropic"));
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_repeated_by_a_service_is_neither_shown_nor_stored() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node(64).await?;
    stock(&node, &cards()).await?;
    let told_key =
        |_: &ModelRequest| Reply::status(400, "the header Bearer the-planted-key is odd \u{1b}[31m");
    let model = ScriptedModel::with_script(told_key).await?;
    let key = SecretSet { name: KeyName::Openai, value: "the-planted-key".into() };
    node.call::<SetProviders>(provider_settings(Some(&model), None)).await?;
    node.call::<SetSecret>(key).await?;
    let session = ask(&node, NEED).await?;
    let notes = answer_of(&session)?.notes.join("\n");
    assert!(notes.contains("the header Bearer … is odd"), "{notes}");
    let saved = serde_json::to_string(&session)?;
    assert!(!saved.contains("the-planted-key") && !saved.contains("\\u001b"), "{saved}");
    node.close().await?;
    Ok(())
}

/// Each command is a process of its own: what one spends counts for the next.
#[tokio::test(flavor = "multi_thread")]
async fn the_spending_limit_stops_and_survives_restarts() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    // A hundred tokens read and ten written each time.
    let model = ScriptedModel::with_script(|_| Reply::Text("Here.".into())).await?;
    let base = model.base.clone();
    let place = tokio::task::spawn_blocking(move || -> Result<Workplace> {
        let choose = ["providers", "llm", "openai", "--url", &base, "--model", "m", "--price-in", "1000"];
        let shown = place.json(&[choose.as_slice(), &["--price-out", "0", "--cap", "0.15"]].concat())?;
        assert_eq!(
            (&shown["price"], &shown["settings"]["llm"]["cap"]),
            (&json!([1000.0, 0.0]), &json!(0.15))
        );
        for _ in 0..2 {
            place.json(&["providers", "test", "llm"])?;
        }
        let (_, error) = place.failure(&["providers", "test", "llm"])?;
        assert_eq!(error["code"], "over_budget", "{error}");
        let output = place.run(&["providers", "show"])?;
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            shown.contains("$0.2000 spent") && shown.contains("spending limit of $0.15 reached"),
            "{shown}"
        );
        // A higher limit, and a count that begins anew, let it go on.
        place.json(&["providers", "llm", "openai", "--cap", "0.25"])?;
        place.json(&["providers", "test", "llm"])?;
        place.failure(&["providers", "test", "llm"])?;
        let anew = place.json(&["providers", "reset-spending"])?;
        assert_eq!(anew["spent"], 0.0);
        place.json(&["providers", "test", "llm"])?;
        Ok(place)
    })
    .await??;
    assert_eq!(model.requests().len(), 4, "a refused call reaches nobody");
    drop(place);
    Ok(())
}
