//! Proposals: made, assigned, commented on, decided.

use anyhow::{Context, Result, ensure};
use autokit_team::{
    CardKey, Code, INVITATION_LIFETIME, NewProposal, ProposalKey, Role, Session, SharedProposal, Step,
    Visibility,
};

use crate::cards::{all, new_card, request, steps};
use crate::place::Place;

fn proposal(card: Option<&CardKey>, fingerprint: &str, visible_to: Option<Visibility>) -> Step {
    Step::Propose(NewProposal {
        card: card.cloned(),
        visible_to,
        draft: format!("{{\"to\":\"{fingerprint}\"}}"),
        fingerprint: fingerprint.to_owned(),
        risk: "low".to_owned(),
    })
}

fn accept(proposal: &ProposalKey, base: u32) -> Step {
    Step::Accept { proposal: proposal.clone(), base, body: Some("accepted".to_owned()) }
}

async fn only(session: &Session) -> Result<SharedProposal> {
    let mut proposals = session.proposals().await?;
    ensure!(proposals.len() == 1, "{proposals:?}");
    Ok(proposals.remove(0))
}

pub(crate) async fn a_proposal_is_made_discussed_and_accepted(place: &Place) -> Result<()> {
    let reviewer = place.member("reviewer", Role::Reviewer).await?;
    let contributor = place.member("contributor", Role::Contributor).await?;
    let reader = place.member("reader", Role::Reader).await?;
    let card =
        reviewer.send(&request("one", vec![new_card("kettle", Visibility::Team)])).await?.remove(0).card;

    let refused = reader.send(&steps("two", vec![proposal(Some(&card), "hotter", None)])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    contributor.send(&steps("two", vec![proposal(Some(&card), "hotter", None)])).await?;
    // An equal one is the same, whoever makes it.
    reviewer.send(&steps("three", vec![proposal(Some(&card), "hotter", None)])).await?;
    let made = only(&reader).await?;
    ensure!(made.state == "pending" && made.proposed_by == *contributor.member(), "{made:?}");

    let discuss = vec![
        Step::Assign { proposal: made.key.clone(), to: Some(reviewer.member().clone()) },
        Step::Comment { proposal: made.key.clone(), text: "Is that hot enough?".to_owned() },
    ];
    contributor.send(&steps("four", discuss)).await?;
    ensure!(only(&reader).await?.assigned_to.as_ref() == Some(reviewer.member()));
    let comments = reader.comments(&made.key).await?;
    ensure!(comments.len() == 1 && comments[0].author == *contributor.member(), "{comments:?}");

    let refused = contributor.send(&steps("five", vec![accept(&made.key, 1)])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    let late = reviewer.send(&steps("five", vec![accept(&made.key, 7)])).await;
    ensure!(late.as_ref().is_err_and(|error| error.code == Code::Changed), "{late:?}");
    let written = reviewer.send(&steps("six", vec![accept(&made.key, 1)])).await?;
    ensure!(written.len() == 1 && written[0].number == 2, "{written:?}");
    let decided = only(&reader).await?;
    ensure!(
        decided.state == "accepted" && decided.decision.as_deref() == Some("because of six"),
        "{decided:?}"
    );
    let again = reviewer.send(&steps("seven", vec![Step::Reject(made.key.clone())])).await;
    ensure!(again.as_ref().is_err_and(|error| error.code == Code::Decided), "{again:?}");
    let history = reader.history(&card).await?;
    ensure!(history.len() == 2 && history[1].operation == "accept", "{history:?}");

    // The same may be proposed again later, and be rejected.
    contributor.send(&steps("eight", vec![proposal(Some(&card), "hotter", None)])).await?;
    let pending = contributor.proposals().await?;
    let second = pending.iter().find(|one| one.state == "pending").context("a second one")?;
    reviewer.send(&steps("nine", vec![Step::Reject(second.key.clone())])).await?;
    ensure!(reader.proposals().await?.iter().all(|one| one.state != "pending"));
    Ok(())
}

pub(crate) async fn a_policy_asks_for_several_reviewers(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let (ann, bea) = (place.member("ann", Role::Reviewer).await?, place.member("bea", Role::Reviewer).await?);
    let refused = ann.set_policy("low", 2).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    admin.set_policy("low", 2).await?;
    ann.send(&steps("one", vec![proposal(None, "pot", Some(Visibility::Team))])).await?;
    let made = only(&ann).await?;
    let own = ann.send(&steps("two", vec![accept(&made.key, 0)])).await;
    ensure!(own.as_ref().is_err_and(|error| error.code == Code::OwnProposal), "{own:?}");
    // One person does not count twice.
    for key in ["three", "four"] {
        ensure!(bea.send(&steps(key, vec![accept(&made.key, 0)])).await?.is_empty());
    }
    let waiting = only(&ann).await?;
    ensure!(waiting.state == "pending" && waiting.approved_by == [bea.member().clone()], "{waiting:?}");
    let written = admin.send(&steps("five", vec![accept(&made.key, 0)])).await?;
    ensure!(written.len() == 1 && written[0].number == 1, "{written:?}");
    let cards = all(&ann).await?;
    ensure!(cards.len() == 1 && cards[0].body.as_deref() == Some("accepted"), "{cards:?}");
    Ok(())
}

pub(crate) async fn proposals_are_as_hidden_as_their_cards(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let invitation = admin.invite(Role::Reviewer, std::slice::from_ref(&cooks), INVITATION_LIFETIME).await?;
    let cook = Session::join(&place.connection, &invitation, "cook", "cook").await?;
    let bob = place.member("bob", Role::Reviewer).await?;
    let hidden = Visibility::Group(cooks);
    let card = cook.send(&request("one", vec![new_card("kettle", hidden.clone())])).await?.remove(0).card;
    let made = vec![proposal(Some(&card), "hotter", None), proposal(None, "pot", Some(hidden.clone()))];
    cook.send(&steps("two", made)).await?;
    let proposals = cook.proposals().await?;
    ensure!(proposals.len() == 2);
    let comment =
        |proposal: &ProposalKey| Step::Comment { proposal: proposal.clone(), text: "Hm.".to_owned() };
    cook.send(&steps("three", proposals.iter().map(|one| comment(&one.key)).collect())).await?;

    ensure!(bob.proposals().await?.is_empty());
    let absent = ProposalKey::new("absent");
    let said = async |proposal: &ProposalKey| {
        let mut said = vec![format!("{:?}", bob.comments(proposal).await)];
        let assign = Step::Assign { proposal: proposal.clone(), to: Some(bob.member().clone()) };
        for step in [accept(proposal, 0), Step::Reject(proposal.clone()), comment(proposal), assign] {
            said.push(format!("{:?}", bob.send(&steps("try", vec![step])).await));
        }
        said
    };
    let of_absent = said(&absent).await;
    for one in &proposals {
        let of_hidden = said(&one.key).await;
        ensure!(of_hidden == of_absent, "{of_hidden:?} {of_absent:?}");
    }
    // What Bob proposes for a card he does not see is refused as for none; his own new card is his own.
    for about in [&card, &CardKey::new("absent")] {
        let refused = bob.send(&steps("four", vec![proposal(Some(about), "hotter", None)])).await;
        ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotFound), "{refused:?}");
    }
    bob.send(&steps("five", vec![proposal(None, "pot", Some(Visibility::Team))])).await?;
    ensure!(bob.proposals().await?.len() == 1);
    // Nobody is asked to review what they do not see.
    let assign = Step::Assign { proposal: proposals[0].key.clone(), to: Some(bob.member().clone()) };
    let refused = cook.send(&steps("six", vec![assign])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    Ok(())
}
