//! What checks found, in lists: filtered, ordered, counted; and runs over what a list shows.

use anyhow::Result;
use autokit_api::commands::{Ask, GetCard, GetFacets, GetStatus, GetVerification, ListCards};
use autokit_api::{
    AskRequest, CardList, CardRef, CardSummary, CardsQuery, HealthFilter, Nothing, Sort, VerifyScope,
};
use autokit_app::CardState;
use autokit_app::node::Node;
use autokit_tests::Workplace;
use autokit_tests::agent::set_providers;
use autokit_tests::site::{Page, Site};
use serde_json::json;

use crate::place::{Ahead, add, check, open, verify, waiting};

async fn list(node: &Node, query: &CardsQuery) -> Result<Vec<CardSummary>> {
    let request = CardList { query: query.clone(), offset: 0, limit: 100 };
    Ok(node.call::<ListCards>(request).await?.rows)
}

async fn names(node: &Node, query: &CardsQuery) -> Result<Vec<String>> {
    Ok(list(node, query).await?.into_iter().map(|row| row.name).collect())
}

fn with(health: HealthFilter) -> CardsQuery {
    CardsQuery { health: Some(health), ..CardsQuery::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_reflect_check_results() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = open(&place, &Ahead::default(), false).await?;
    let page = Page::new("Kettle")
        .paragraph("Kettle boils water by wire.")
        .code("python", "from kettle import KettleTool\n\ntool = KettleTool()");
    let site = Site::serve([("/kettle", page)]).await?;
    set_providers(&node, None, Some(&site)).await?;
    let card = |name: &str, path: &str| {
        json!({
            "name": name, "description": format!("{name} boils water by wire."), "module": "kettle",
            "class": "KettleTool", "programming_language": "python", "documentation": site.url(path),
        })
    };
    let kettle = add(&node, &card("Kettle", "/kettle")).await?;
    let lost = add(&node, &card("Lost", "/lost")).await?;
    add(&node, &card("Unseen", "/unseen")).await?;
    let never = names(&node, &with(HealthFilter::Never)).await?;
    assert_eq!(never, ["Kettle", "Lost", "Unseen"]);
    let before = node.call::<GetStatus>(Nothing {}).await?;

    assert_eq!(check(&node, &kettle).await?.state, CardState::Verified);
    assert_eq!(check(&node, &lost).await?.state, CardState::Broken);
    let after = node.call::<GetStatus>(Nothing {}).await?;
    // Windows read their lists anew although no card changed.
    assert_eq!((after.checks - before.checks, after.cursor), (2, before.cursor));

    assert_eq!(names(&node, &with(HealthFilter::Broken)).await?, ["Lost"]);
    assert_eq!(names(&node, &with(HealthFilter::Stale)).await?, [""; 0]);
    assert_eq!(names(&node, &with(HealthFilter::Never)).await?, ["Unseen"]);
    let by_health = CardsQuery { sort: Sort::Health, ..CardsQuery::default() };
    assert_eq!(names(&node, &by_health).await?, ["Lost", "Unseen", "Kettle"]);
    let facets = node.call::<GetFacets>(CardsQuery::default()).await?;
    let mut counts: Vec<_> = facets.health.iter().map(|facet| (facet.value.as_str(), facet.count)).collect();
    counts.sort_unstable();
    assert_eq!(counts, [("broken", 1), ("never", 1), ("verified", 1)]);

    // Rows, cards and answers say when.
    let rows = list(&node, &with(HealthFilter::Verified)).await?;
    let one = node.call::<GetCard>(CardRef { card: kettle.to_string() }).await?.summary;
    assert_eq!(rows, std::slice::from_ref(&one));
    assert_eq!(one.health, Some(CardState::Verified));
    assert_eq!(one.checked_at, Some("2026-03-01T12:00:00.000Z".parse()?));
    let asked = AskRequest { question: "Kettle boils water".into(), limit: Some(3), ..AskRequest::default() };
    let answer = node.call::<Ask>(asked).await?;
    assert!(answer.candidates.iter().any(|candidate| candidate.card == one), "{answer:?}");

    // What waits for a card is told with its check.
    let proposals = waiting(&node, &lost).await?;
    let pending_proposal = node.call::<GetVerification>(CardRef { card: lost.to_string() }).await?.proposal;
    assert_eq!(pending_proposal, proposals.last().map(|detail| detail.proposal.id));
    assert_eq!(node.call::<GetVerification>(CardRef { card: kettle.to_string() }).await?.proposal, None);

    // A run over a list is over what it shows when it begins.
    let job = verify(&node, VerifyScope::Matching { query: with(HealthFilter::Never) }, false).await?;
    assert_eq!((job.done, job.total), (1, 1));
    assert_eq!(names(&node, &with(HealthFilter::Broken)).await?, ["Lost", "Unseen"]);
    node.close().await?;

    // Kept for the next process, which reads it when somebody asks.
    drop(node);
    let node = open(&place, &Ahead::default(), false).await?;
    assert_eq!(names(&node, &with(HealthFilter::Broken)).await?, ["Lost", "Unseen"]);
    node.close().await?;
    Ok(())
}
