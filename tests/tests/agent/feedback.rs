//! What a person says about an answer moves later ones for like questions, and never puts a tool before
//! one that is named.

use anyhow::{Context, Result};
use autokit_app::node::Node;
use autokit_tests::Workplace;
use autokit_tests::agent::{answer_of, ask, give_feedback};

use autokit_tests::calendar::{card, cards, stock};

const QUESTION: &str = "send a letter to all members of the club";

async fn first(node: &Node, question: &str) -> Result<String> {
    let session = ask(node, question).await?;
    answer_of(&session)?.name.clone().with_context(|| format!("{question}: {session:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn feedback_counts_for_similar_questions() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node(256).await?;
    let letters = [
        card("Pillar Box", "Sends a letter to members of a club.", "pillar_box", "PillarBox"),
        card("Courier", "Sends a letter to members of a team.", "courier", "Courier"),
    ];
    stock(&node, &[cards(), letters.to_vec()].concat()).await?;
    let like = "send a letter to all members of our club please";
    assert_eq!(first(&node, QUESTION).await?, "Pillar Box");
    assert_eq!(first(&node, like).await?, "Pillar Box");

    // No to the first; the second is what helps.
    let session = ask(&node, QUESTION).await?;
    let session = give_feedback(&node, &session.id, false, "it does not do what it says").await?;
    assert_eq!(
        answer_of(&session)?.name.as_deref(),
        Some("Courier"),
        "what was turned down is not offered again"
    );
    give_feedback(&node, &session.id, true, "the yearly letter").await?;

    assert_eq!(first(&node, QUESTION).await?, "Courier");
    assert_eq!(first(&node, like).await?, "Courier", "a like question");
    assert_eq!(first(&node, "paint pictures from a description").await?, "Paint Box", "another one");
    for question in ["Pillar Box", "pillar box", "the Pillar Box tool"] {
        assert_eq!(first(&node, question).await?, "Pillar Box", "it is named by {question:?}");
    }
    // It is the person's own taste, and stays.
    node.close().await?;
    let node = place.node(256).await?;
    assert_eq!(first(&node, QUESTION).await?, "Courier");
    assert_eq!(first(&node, "Pillar Box").await?, "Pillar Box");
    node.close().await?;
    Ok(())
}
