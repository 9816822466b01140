//! The paper's own example (appendix A): a terse, outdated card of a search tool, put right from its page.

use anyhow::{Context, Result};
use autokit_api::commands::{AcceptProposal, GetCard};
use autokit_api::{ProposalAccept, VerifyScope};
use autokit_tests::Workplace;
use autokit_tests::agent::set_providers;
use autokit_tests::appendix::{card, site};
use serde_json::{Map, json};

use crate::place::{Ahead, add, checked, open, proposed, verify, waiting};

#[tokio::test(flavor = "multi_thread")]
async fn the_results_of_appendix_a_are_reproduced() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = site().await?;
    let node = open(&place, &Ahead::default(), false).await?;
    set_providers(&node, None, Some(&site)).await?;
    let card = card(&site);
    let id = add(&node, &card).await?;
    verify(&node, VerifyScope::Cards { cards: vec![id.to_string()] }, true).await?;
    let report = checked(&node, &id).await?;
    let proposals = waiting(&node, &id).await?;
    let proposal = proposals.first().with_context(|| format!("{report:#?}"))?;
    assert_eq!(proposed(proposal, "module"), Some(&json!("langchain_community.tools")));
    assert_eq!(proposed(proposal, "class"), Some(&json!("DuckDuckGoSearchRun, DuckDuckGoSearchResults")));
    assert_eq!(proposed(proposal, "init_args"), Some(&json!({ "output_format": "list", "backend": "news" })));
    assert_eq!(proposed(proposal, "verified"), Some(&json!(true)));
    let description =
        proposed(proposal, "description").and_then(|text| text.as_str()).context("a description")?;
    assert!(description.starts_with("Privacy-focused search via DuckDuckGo API."), "{description}");
    assert!(description.contains("DuckDuckGoSearchResults returns more"), "{description}");
    let accept = ProposalAccept {
        id: proposal.proposal.id,
        fields: None,
        edits: Map::new(),
        reason: String::new(),
        rejected: Vec::new(),
        seen: None,
        by: String::new(),
    };
    node.call::<AcceptProposal>(accept).await?;
    let card = node.call::<GetCard>(autokit_api::CardRef { card: id.to_string() }).await?;
    assert!(card.summary.verified);
    autokit_tests::agent::wait_for_jobs(&node).await?;
    // What was put right is right.
    let again = crate::place::check(&node, &id).await?;
    assert_eq!(again.state, autokit_app::CardState::Verified, "{again:#?}");
    node.close().await?;
    Ok(())
}
