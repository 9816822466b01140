//! No language model at all: the whole way from a question to a card by rules, and an honest answer
//! without a network.

use anyhow::{Context, Result};
use autokit_agent::ask::Verdict;
use autokit_app::api::{AddFinding, ProposalAccept};
use autokit_app::commands::{AcceptProposal, ProposeFinding};
use autokit_app::engine::Vectors;
use autokit_app::secrets::Keep;
use autokit_tests::Workplace;
use autokit_tests::agent::{ask, choose, judge, quiet, told};
use serde_json::Map;

use crate::shop::{IMPORT, NEED, PYTHON_PAGE, QUESTION, cards, site, stock};

async fn from_question_to_card(vectors: Vectors) -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = site().await?;
    let node = place.node_with(vectors, Keep::Memory).await?;
    stock(&node, &cards()).await?;
    choose(&node, None, Some(&site)).await?;
    let mut session = ask(&node, NEED).await?;
    let answer = told(&session)?;
    assert_eq!(answer.tool, None, "{answer:?}");
    let mut first = answer.findings.first().context("something from the web")?.clone();
    if !first.url.ends_with(PYTHON_PAGE) {
        // The reason leads on: what was first is not offered again.
        session = judge(&node, &session.id, false, "I want it for python not js").await?;
        let next = told(&session)?.findings.first().context("something else")?.clone();
        assert_ne!(next.url, first.url);
        first = next;
    }
    assert_eq!(first.url, site.url(PYTHON_PAGE));
    assert!(told(&session)?.notes.iter().any(|note| note.contains("no language model")));
    let request = AddFinding { session: session.id.clone(), url: first.url };
    let id = node.call::<ProposeFinding>(request).await?.proposal.id;
    let accept = ProposalAccept { id, fields: None, edits: Map::new(), reason: String::new() };
    node.call::<AcceptProposal>(accept).await?;
    let session = ask(&node, NEED).await?;
    let answer = told(&session)?;
    assert_eq!(answer.name.as_deref(), Some("CalendarToolkit"), "{answer:?}");
    assert!(answer.stub.as_ref().is_some_and(|stub| stub.code.contains(IMPORT)), "{:?}", answer.stub);
    quiet(&node).await?;
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_question_to_a_card_with_vectors() -> Result<()> {
    from_question_to_card(Vectors::StandIn(1024)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_question_to_a_card_by_words_alone() -> Result<()> {
    from_question_to_card(Vectors::Off).await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_search_service_the_answer_says_so() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node_with(Vectors::Off, Keep::Memory).await?;
    stock(&node, &cards()).await?;
    let session = ask(&node, QUESTION).await?;
    let answer = told(&session)?;
    assert!(answer.findings.is_empty());
    assert_ne!(answer.verdict, Verdict::Answered, "{answer:?}");
    let session = ask(&node, "knit a pullover").await?;
    let answer = told(&session)?;
    assert_eq!((answer.verdict, &answer.tool), (Verdict::Nothing, &None));
    assert!(
        answer.notes.iter().any(|note| note.contains("no search service is chosen")),
        "{:?}",
        answer.notes
    );
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_service_that_is_not_there_is_told() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node_with(Vectors::Off, Keep::Memory).await?;
    stock(&node, &cards()).await?;
    let mut settings = autokit_tests::agent::services(None, Some(&site().await?));
    // Nobody listens on the port that nobody can name.
    settings.search.base = "http://127.0.0.1:1".into();
    node.call::<autokit_app::commands::SetProviders>(settings).await?;
    let session = ask(&node, "knit a pullover").await?;
    let answer = told(&session)?;
    assert_eq!(answer.verdict, Verdict::Nothing);
    assert!(answer.notes.iter().any(|note| note.contains("could not be asked")), "{:?}", answer.notes);
    node.close().await?;
    Ok(())
}
