//! Documentation pages: read, cut, cited, read again only when they changed.

use anyhow::{Context, Result};
use autokit_api::commands::{FetchPages, GetPage};
use autokit_api::{CardRef, PageView, PagesFetch};
use autokit_app::node::Node;
use autokit_tests::Workplace;
use autokit_tests::agent::{answer_of, ask, set_providers, wait_for_job};
use autokit_tests::log::Log;
use autokit_tests::mcp::{Agent, Generation};
use autokit_tests::site::{Page, Site};
use serde_json::{Value, json};

use autokit_tests::calendar::{card, cards, stock};

fn page(limit: &str) -> Page {
    Page::new("Harbour Kit")
        .paragraph("Harbour Kit tells when ships arrive.")
        .heading("Tides")
        .paragraph(&format!("The tide table of a harbour is given by the method tides, {limit} days ahead."))
        .code("python", "from harbour import Harbour\n\nprint(Harbour().tides())")
}

/// Reads the page of every card; gives what the job says.
async fn read(node: &Node, again: bool) -> Result<String> {
    let job = node.call::<FetchPages>(PagesFetch { cards: Vec::new(), again }).await?;
    wait_for_job(node, &job.job).await?.summary.context("a summary")
}

async fn get(node: &Node, card: &str) -> Result<PageView> {
    node.call::<GetPage>(CardRef { card: card.into() })
        .await?
        .page
        .with_context(|| format!("no page of {card}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_cited_and_read_again_only_when_they_changed() -> Result<()> {
    let log = Log::of_this_process();
    let place = Workplace::with_stand_in()?;
    let site = Site::serve([("/harbour", page("nine"))]).await?;
    let url = site.url("/harbour");
    let embedded = || log.lines_with(&["embedding a page", &url]).len();
    let mut harbour = card("Harbour Kit", "Tells when ships arrive.", "harbour", "Harbour");
    harbour["documentation"] = json!(url);
    let mut lost = card("Lost Kit", "Is lost.", "lost", "Lost");
    lost["documentation"] = json!(site.url("/lost"));

    let node = place.node(64).await?;
    stock(&node, &[cards(), vec![harbour, lost]].concat()).await?;
    set_providers(&node, None, Some(&site)).await?;
    let expected = "1 page read, 0 unchanged, 1 failed (first error: the site returned 404)";
    assert_eq!(read(&node, false).await?, expected);
    let failed = get(&node, "Lost Kit").await?;
    assert_eq!(failed.failed.as_deref(), Some("the site returned 404"));
    let first = get(&node, "Harbour Kit").await?;
    assert_eq!((first.title.as_str(), &first.failed), ("Harbour Kit", &None));
    assert!(first.pieces.iter().any(|piece| piece.url.ends_with("#tides")), "{:?}", first.pieces);
    assert_eq!((site.statuses("/harbour"), embedded()), (vec![200], 1));

    let session = ask(&node, "Harbour Kit: tide table of a harbour, days ahead").await?;
    let answer = answer_of(&session)?;
    assert_eq!(answer.name.as_deref(), Some("Harbour Kit"), "{answer:?}");
    let cited = answer.citations.first().context("a citation")?;
    assert_eq!(cited.url, format!("{url}#tides"));
    assert!(cited.text.contains("nine days ahead") && cited.title.contains("Tides"), "{cited:?}");
    // An agent is given the same.
    let agent = Agent::over_stdio(&place, Generation::Session).await?;
    let question = json!({"question": "Harbour Kit: tide table of a harbour, days ahead"});
    let (text, failed) = agent.call("ask", question).await?;
    let answer: Value = serde_json::from_str(&text)?;
    assert!(!failed && answer["citations"][0]["source"] == json!(cited.url), "{answer}");
    assert!(answer["citations"][0]["text"].as_str().is_some_and(|text| text.contains("nine days ahead")));
    agent.disconnect().await?;
    node.close().await?;

    // Read lately: not asked for. Asked for again: the site says that it did not change, and nothing is
    // embedded. In another process, so that what the client remembers for a minute plays no part.
    let node = place.node(64).await?;
    assert_eq!(
        read(&node, false).await?,
        "0 pages read, 1 unchanged, 1 failed (first error: the site returned 404)"
    );
    assert_eq!(site.statuses("/harbour"), [200]);
    assert_eq!(
        read(&node, true).await?,
        "0 pages read, 1 unchanged, 1 failed (first error: the site returned 404)"
    );
    assert_eq!((site.statuses("/harbour"), embedded()), (vec![200, 304], 1));
    let same = get(&node, "Harbour Kit").await?;
    assert_eq!(same.pieces, first.pieces);
    assert!(same.fetched_at > first.fetched_at);
    node.close().await?;

    site.put("/harbour", page("twelve"));
    let node = place.node(64).await?;
    assert_eq!(
        read(&node, true).await?,
        "1 page read, 0 unchanged, 1 failed (first error: the site returned 404)"
    );
    assert_eq!((site.statuses("/harbour"), embedded()), (vec![200, 304, 200], 2));
    let session = ask(&node, "Harbour Kit: tide table of a harbour, days ahead").await?;
    let cited = answer_of(&session)?.citations.first().context("a citation")?;
    assert!(cited.text.contains("twelve days ahead"), "{cited:?}");
    node.close().await?;

    // What was read stays when the site fails later; the reason is told.
    site.fail("/harbour", 503);
    let node = place.node(64).await?;
    let job = node.call::<FetchPages>(PagesFetch { cards: Vec::new(), again: true }).await?;
    let none =
        wait_for_job(&node, &job.job).await.expect_err("not one page of all is no success").to_string();
    assert!(none.contains("all 2 pages failed; the first error: the site returned"), "{none}");
    let saved = get(&node, "Harbour Kit").await?;
    assert_eq!(saved.failed.as_deref(), Some("the site returned 503"));
    assert!(saved.pieces.iter().any(|piece| piece.text.contains("twelve days ahead")));
    node.close().await?;
    Ok(())
}
