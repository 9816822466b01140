//! The order of the web fallback (FUEL): preferred sources first, then any API, then something to use in its place; by
//! rules and with a model.

use anyhow::{Context as _, Result};
use autokit_agent::ask::Phase;
use autokit_agent::discover::{Discovered, Trace};
use autokit_api::commands::{SetProviders, StartDiscover, TestConnection};
use autokit_api::{AgentQuestion, Connection, TestRequest, Turn};
use autokit_app::ErrorCode;
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_tests::agent::{last_turn, provider_settings, wait_for_session};
use autokit_tests::calendar::stock;
use autokit_tests::model::{Reply, ScriptedModel};
use autokit_tests::site::{Page, Site};
use autokit_tests::{Workplace, made_up_cards};
use serde_json::json;

const NEED: &str = "compute the shadows of a sundial for my latitude";

fn page(title: &str, says: &str, package: &str) -> Page {
    let shows = format!("from {package} import Sundial\n\ntool = Sundial()");
    Page::new(title).paragraph(says).code("python", &shows)
}

fn exact(title: &str, package: &str) -> Page {
    page(title, "It computes the shadows of a sundial for a latitude and a day of the year.", package)
}

/// A library without such a tool, and a web with these pages.
async fn node(
    place: &Workplace,
    site: &Site,
    model: Option<&ScriptedModel>,
    preferred: &str,
) -> Result<Node> {
    let node = place.node_with(Vectors::Off, KeyStorage::Memory).await?;
    // Words are worth something where there are many cards without them.
    stock(&node, &made_up_cards(120)).await?;
    let mut settings = provider_settings(model, Some(site));
    settings.search.preferred = preferred.to_owned();
    node.call::<SetProviders>(settings).await?;
    Ok(node)
}

async fn discover(node: &Node) -> Result<(Discovered, Vec<String>)> {
    let request = AgentQuestion { question: NEED.to_owned(), session: None, limit: None };
    let session = node.call::<StartDiscover>(request).await?.session;
    let session = wait_for_session(node, &session).await?;
    let turn = last_turn(&session)?;
    Ok((turn.discovered.clone().context("a result")?, thoughts(turn)))
}

fn thoughts(turn: &Turn) -> Vec<String> {
    let traces = turn.events.iter().filter_map(|event| match &event.phase {
        Phase::Trace { trace: Trace::Thought { text } } => Some(text.clone()),
        _ => None,
    });
    traces.collect()
}

fn has(thoughts: &[String], text: &str) -> bool {
    thoughts.iter().any(|thought| thought.contains(text))
}

/// "No suitable tool" would be wrong where no page could be read, and a test of the service that only counts results
/// would be green.
#[tokio::test(flavor = "multi_thread")]
async fn pages_that_may_not_be_read_are_the_result() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let weather = page("Weather API", "It tells a Python program the weather.", "weather");
    let site = Site::serve([
        ("/one", exact("Sundial Toolkit", "gnomon")),
        ("/two", exact("Dial", "dial")),
        ("/weather", weather),
    ])
    .await?;
    let node = node(&place, &site, None, "").await?;
    let test = async || node.call::<TestConnection>(TestRequest { connection: Connection::Search }).await;
    let fine = test().await?;
    assert!(fine.text.ends_with("was read"), "{}", fine.text);
    let (found, _) = discover(&node).await?;
    assert!(found.failed().is_none() && found.unread.is_none(), "{found:?}");

    let mut settings = provider_settings(None, Some(&site));
    settings.network.allowed_hosts.clear();
    node.call::<SetProviders>(settings).await?;
    let (found, _) = discover(&node).await?;
    let unread = found.failed().context("the reason")?;
    assert!(found.read == 0 && unread.pages >= 2 && unread.pages == unread.with_error, "{found:?}");
    assert_eq!(unread.error.code, ErrorCode::Refused);
    assert!(unread.error.remedy.contains("Settings, Network"), "{unread:?}");
    let (pages, summary) = (unread.pages, found.summary());
    assert!(summary.starts_with(&format!("{pages} of {pages} pages could not be read")), "{summary}");
    let refused = test().await.err().context("the test of the service fails")?;
    assert_eq!((refused.code, &refused.remedy), (unread.error.code, &unread.error.remedy));
    assert!(refused.message.contains("returned 1 result, but it could not be read: "), "{refused}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn preferred_sources_are_searched_first_and_in_order() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = Site::serve([
        ("/else/sundial", exact("Sundial Toolkit", "gnomon")),
        ("/brambly/sundial", exact("Sundial Toolkit | Brambly Hub", "brambly")),
        ("/other", page("Kettle Tool | Acorn Hub", "It boils water.", "acorn")),
    ])
    .await?;
    let node = node(&place, &site, None, "Acorn Hub, Brambly Hub").await?;
    let (found, thoughts) = discover(&node).await?;
    assert_eq!(found.preferred.as_deref(), Some("Brambly Hub"), "{thoughts:?}");
    assert_eq!(found.findings[0].url, site.url("/brambly/sundial"));
    let order: Vec<usize> = ["preferred source: Acorn Hub", "preferred source: Brambly Hub"]
        .iter()
        .filter_map(|text| thoughts.iter().position(|thought| thought.contains(text)))
        .collect();
    assert!(order.len() == 2 && order[0] < order[1], "{thoughts:?}");
    assert!(!has(&thoughts, "any API"), "{thoughts:?}");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn any_api_is_searched_when_the_preferred_sources_have_none() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = Site::serve([
        ("/else/sundial", exact("Sundial Toolkit", "gnomon")),
        ("/brambly/kettle", page("Kettle Tool | Brambly Hub", "It boils water.", "brambly")),
    ])
    .await?;
    let node = node(&place, &site, None, "Brambly Hub").await?;
    let (found, thoughts) = discover(&node).await?;
    assert_eq!((found.preferred.as_deref(), found.substitute.is_none()), (None, true));
    assert_eq!(found.findings[0].url, site.url("/else/sundial"), "{thoughts:?}");
    assert!(has(&thoughts, "looking for any API"), "{thoughts:?}");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_substitute_is_labelled_as_one() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let says = "It computes where the sun stands for a latitude and a time. Its angle above the horizon follows, and with it \
                the hours of rising and setting.";
    let site = Site::serve([
        ("/else/sun", page("Sun Position Library", says, "suncalc")),
        ("/else/kettle", page("Kettle Tool", "It boils water.", "kettle")),
    ])
    .await?;
    let node = node(&place, &site, None, "").await?;
    let (found, thoughts) = discover(&node).await?;
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    let ranks: Vec<_> = found.dismissed.iter().map(|one| (&one.name, &one.marks)).collect();
    let substitute = found.substitute.clone().with_context(|| format!("a substitute: {ranks:?}"))?;
    assert_eq!(substitute.url, site.url("/else/sun"));
    assert!(has(&thoughts, "may be used in its place"), "{thoughts:?}");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_told_the_order_and_labels_substitutes() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let says = "It computes the shadows that the sun casts, for a latitude.";
    let site = Site::serve([("/else/sun", page("Sun Position Library", says, "suncalc"))]).await?;
    let url = site.url("/else/sun");
    let answer = url.clone();
    let model = ScriptedModel::with_script(move |request| {
        let opened = request.body["messages"].as_array().is_some_and(|messages| messages.len() > 2);
        if opened {
            let page = json!({"url": answer, "quote": says, "substitute": true});
            Reply::Call("finish".to_owned(), json!({"pages": [page]}).to_string())
        } else {
            Reply::Call("open".to_owned(), json!({"url": answer}).to_string())
        }
    })
    .await?;
    let node = node(&place, &site, Some(&model), "Acorn Hub, Brambly Hub").await?;
    let (found, thoughts) = discover(&node).await?;
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    assert_eq!(found.substitute.map(|other| other.url), Some(url), "{thoughts:?}");
    let requests = model.requests();
    let told =
        requests.iter().any(|request| request.body.to_string().contains("Acorn Hub, then Brambly Hub"));
    assert!(told, "the order is part of the prompt");
    node.close().await?;
    Ok(())
}
