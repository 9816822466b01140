//! No language model at all: the whole way from a question to a card by rules, and an honest answer
//! without a network.

use anyhow::{Context, Result};
use autokit_agent::ask::Verdict;
use autokit_api::commands::{AcceptProposal, GetCheckSettings, ListJobs, ProposeFinding, SetProviders};
use autokit_api::{AddFinding, JobKind, Nothing, ProposalAccept, SearchSettings, Session};
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_tests::agent::{answer_of, ask, give_feedback, provider_settings, set_providers, wait_for_jobs};
use autokit_tests::site::Page;
use autokit_tests::{Workplace, made_up_cards};

use autokit_tests::calendar::{IMPORT, NEED, QUESTION, cards, node_and_site, script_page, site, stock};

/// Asks, takes what the web has under the name `wanted` and asks again; gives the code of the answer.
async fn from_question_to_card(node: &Node, need: &str, expected: &str) -> Result<String> {
    let mut session = ask(node, need).await?;
    assert_eq!(answer_of(&session)?.tool, None, "{session:?}");
    let says = |note: &String| note.contains("without a language model") || note.contains("Keyword search");
    assert!(answer_of(&session)?.notes.iter().any(says));
    let best = |session: &Session| {
        let answer = answer_of(session)?;
        answer.findings.first().cloned().with_context(|| format!("something from the web: {answer:?}"))
    };
    let mut first = best(&session)?;
    if first.name != expected {
        // The reason leads on, and what was first is not offered again.
        session = give_feedback(node, &session.id, false, "I want it for python not js").await?;
        let next = best(&session)?;
        assert_ne!(next.url, first.url);
        first = next;
    }
    assert_eq!(first.name, expected);
    let request = AddFinding { session: session.id.clone(), url: first.url };
    let id = node.call::<ProposeFinding>(request).await?.proposal.id;
    let accept = ProposalAccept { id, ..ProposalAccept::default() };
    node.call::<AcceptProposal>(accept).await?;
    let session = ask(node, need).await?;
    let answer = answer_of(&session)?;
    assert_eq!(answer.name.as_deref(), Some(expected), "{answer:?}");
    wait_for_jobs(node).await?;
    Ok(answer.stub.clone().context("a stub")?.code)
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_question_to_a_card_with_vectors() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (node, _site) = node_and_site(&place).await?;
    let code = Box::pin(from_question_to_card(&node, NEED, "CalendarToolkit")).await?;
    assert!(code.contains(IMPORT), "{code}");
    node.close().await?;
    Ok(())
}

/// Without a service, accepting a card fetches no page, though its host would be allowed, and no card is checked.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_fetched_unasked_before_a_service_was_chosen() -> Result<()> {
    for chosen in [false, true] {
        let place = Workplace::with_stand_in()?;
        let (node, site) = node_and_site(&place).await?;
        let session = ask(&node, NEED).await?;
        let finding = answer_of(&session)?.findings.first().context("a finding")?;
        let request = AddFinding { session: session.id.clone(), url: finding.url.clone() };
        let id = node.call::<ProposeFinding>(request).await?.proposal.id;
        if !chosen {
            let mut settings = provider_settings(None, Some(&site));
            settings.search = SearchSettings::default();
            node.call::<SetProviders>(settings).await?;
        }
        let checks = node.call::<GetCheckSettings>(Nothing {}).await?;
        assert_eq!((checks.every_days > 0, checks.new_cards), (chosen, chosen));
        node.call::<AcceptProposal>(ProposalAccept { id, ..ProposalAccept::default() }).await?;
        let jobs = node.call::<ListJobs>(Nothing {}).await?;
        let reads = jobs.iter().any(|job| job.kind == JobKind::Pages);
        assert_eq!(reads, chosen, "{jobs:?}");
        wait_for_jobs(&node).await?;
        node.close().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_question_to_a_card_by_words_alone() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = site().await?;
    let says = "The Sundial Toolkit computes the shadows of a sundial for a latitude and a day of the year.";
    let shows = "from sundial import SundialToolkit\n\ntoolkit = SundialToolkit()";
    site.put(
        "/docs/python/tools/sundial",
        Page::new("Sundial Toolkit").paragraph(says).code("python", shows),
    );
    let node = place.node_with(Vectors::Off, KeyStorage::Memory).await?;
    // Words are worth something where there are many cards without them.
    stock(&node, &made_up_cards(120)).await?;
    set_providers(&node, None, Some(&site)).await?;
    let need = "compute the shadows of a sundial for my latitude";
    let code = Box::pin(from_question_to_card(&node, need, "Sundial Toolkit")).await?;
    assert!(code.starts_with("from sundial import SundialToolkit"), "{code}");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_findings_are_not_found_again() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = site().await?;
    // The same page at another address.
    site.put("/mirror/js/google_calendar", script_page());
    let node = place.node(1024).await?;
    stock(&node, &cards()).await?;
    set_providers(&node, None, Some(&site)).await?;
    let mut session = ask(&node, NEED).await?;
    let mut seen = Vec::new();
    // Each no takes one tool away, until there is none.
    while let Some(first) = answer_of(&session)?.findings.first() {
        assert!(!seen.contains(&first.name), "{} again, after {seen:?}", first.url);
        seen.push(first.name.clone());
        session = give_feedback(&node, &session.id, false, "").await?;
    }
    seen.sort_unstable();
    assert_eq!(seen, ["CalendarToolkit", "Google Calendar Tool"]);
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_search_service_the_answer_says_so() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node_with(Vectors::Off, KeyStorage::Memory).await?;
    stock(&node, &cards()).await?;
    let session = ask(&node, QUESTION).await?;
    let answer = answer_of(&session)?;
    assert!(answer.findings.is_empty());
    assert_ne!(answer.verdict, Verdict::Answered, "{answer:?}");
    let session = ask(&node, "knit a pullover").await?;
    let answer = answer_of(&session)?;
    assert_eq!((answer.verdict, &answer.tool), (Verdict::Nothing, &None));
    assert!(
        answer.notes.iter().any(|note| note.contains("no search service is configured")),
        "{:?}",
        answer.notes
    );
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_search_service_is_reported() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node_with(Vectors::Off, KeyStorage::Memory).await?;
    stock(&node, &cards()).await?;
    let mut settings = autokit_tests::agent::provider_settings(None, Some(&site().await?));
    // Nobody listens on the port that nobody can name.
    settings.search.base = "http://127.0.0.1:1".into();
    node.call::<autokit_api::commands::SetProviders>(settings).await?;
    let session = ask(&node, "knit a pullover").await?;
    let answer = answer_of(&session)?;
    assert_eq!(answer.verdict, Verdict::Nothing);
    assert!(answer.notes.iter().any(|note| note.contains("web search failed")), "{:?}", answer.notes);
    node.close().await?;
    Ok(())
}
