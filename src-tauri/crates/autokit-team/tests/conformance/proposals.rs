//! Proposals: made, assigned, commented on, decided.

use anyhow::{Context, Result, ensure};
use autokit_team::{
    Approval, CardKey, Code, Cursor, INVITATION_LIFETIME, NewProposal, ProposalKey, Role, Session,
    SharedProposal, Step, Visibility,
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

/// Accepts these values.
fn accept_values(proposal: &ProposalKey, base: u32, values: &[&str]) -> Step {
    Step::Accept(Approval {
        proposal: proposal.clone(),
        card: None,
        base,
        body: Some("accepted".to_owned()),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        risk: "low".to_owned(),
        outcome: Some("all of it".to_owned()),
    })
}

fn accept(proposal: &ProposalKey, base: u32) -> Step {
    accept_values(proposal, base, &["pricing: free"])
}

fn reject(proposal: &ProposalKey) -> Step {
    Step::Reject { proposal: proposal.clone(), outcome: None }
}

/// Every proposal that somebody sees, in the order in which they were written.
async fn proposals_of(session: &Session) -> Result<Vec<SharedProposal>> {
    Ok(session.proposal_changes(&Cursor::default()).await?.proposals)
}

async fn only(session: &Session) -> Result<SharedProposal> {
    let mut proposals = proposals_of(session).await?;
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
    let comments = reader.comments(std::slice::from_ref(&made.key)).await?;
    ensure!(comments.len() == 1 && comments[0].author == *contributor.member(), "{comments:?}");
    ensure!(only(&reader).await?.comments == 1);

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
    let again = reviewer.send(&steps("seven", vec![reject(&made.key)])).await;
    ensure!(again.as_ref().is_err_and(|error| error.code == Code::Decided), "{again:?}");
    let history = reader.history(&card).await?;
    ensure!(history.len() == 2 && history[1].operation == "accept", "{history:?}");

    // The same may be proposed again later, and be rejected.
    contributor.send(&steps("eight", vec![proposal(Some(&card), "hotter", None)])).await?;
    let pending = proposals_of(&contributor).await?;
    let second = pending.iter().find(|one| one.state == "pending").context("a second one")?;
    reviewer.send(&steps("nine", vec![reject(&second.key)])).await?;
    ensure!(proposals_of(&reader).await?.iter().all(|one| one.state != "pending"));
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
    let given: Vec<_> = waiting.approvals.iter().map(|given| &given.by).collect();
    ensure!(waiting.state == "pending" && given == [bea.member()], "{waiting:?}");
    // Whoever accepts something else does not agree with her.
    let other = admin.send(&steps("other", vec![accept_values(&made.key, 0, &["pricing: paid"])])).await?;
    ensure!(other.is_empty() && only(&ann).await?.approvals.len() == 2);
    // Nobody goes round the others by writing the card.
    let alone = admin.send(&request("alone", vec![new_card("kettle", Visibility::Team)])).await;
    ensure!(alone.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{alone:?}");
    let written = admin.send(&steps("five", vec![accept(&made.key, 0)])).await?;
    ensure!(written.len() == 1 && written[0].number == 1, "{written:?}");
    let cards = all(&ann).await?;
    ensure!(cards.len() == 1 && cards[0].body.as_deref() == Some("accepted"), "{cards:?}");
    let decided = only(&ann).await?;
    ensure!(decided.card.as_ref() == Some(&cards[0].card) && decided.visible_to.is_none(), "{decided:?}");
    ensure!(decided.outcome.as_deref() == Some("all of it"), "{decided:?}");

    // What the proposer calls low and a reviewer high needs as many as the higher one.
    admin.set_policy("low", 1).await?;
    admin.set_policy("high", 3).await?;
    ann.send(&steps("six", vec![proposal(Some(&cards[0].card), "lid", None)])).await?;
    let second = proposals_of(&ann).await?.pop().context("a second one")?;
    let Step::Accept(approval) = accept(&second.key, 1) else { unreachable!() };
    let high = Step::Accept(Approval { risk: "high".to_owned(), ..approval });
    ensure!(bea.send(&steps("seven", vec![high])).await?.is_empty());
    Ok(())
}

pub(crate) async fn proposals_are_withdrawn_and_reopened(place: &Place) -> Result<()> {
    let reviewer = place.member("reviewer", Role::Reviewer).await?;
    let (ann, bea) =
        (place.member("ann", Role::Contributor).await?, place.member("bea", Role::Contributor).await?);
    ann.send(&steps("one", vec![proposal(None, "pot", Some(Visibility::Team))])).await?;
    let made = only(&ann).await?;
    let withdraw = || vec![Step::Withdraw(made.key.clone())];
    let refused = bea.send(&steps("two", withdraw())).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    ann.send(&steps("three", withdraw())).await?;
    let withdrawn = only(&bea).await?;
    ensure!(withdrawn.state == "withdrawn" && withdrawn.decided_by.as_ref() == Some(ann.member()));
    let late = ann.send(&steps("four", withdraw())).await;
    ensure!(late.as_ref().is_err_and(|error| error.code == Code::Decided), "{late:?}");

    let reopen = || vec![Step::Reopen(made.key.clone())];
    let refused = ann.send(&steps("five", reopen())).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    reviewer.send(&steps("six", reopen())).await?;
    let pending = only(&bea).await?;
    ensure!(pending.state == "pending" && pending.decided_by.is_none() && pending.decision.is_none());
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
    let proposals = proposals_of(&cook).await?;
    ensure!(proposals.len() == 2);
    let comment =
        |proposal: &ProposalKey| Step::Comment { proposal: proposal.clone(), text: "Hm.".to_owned() };
    cook.send(&steps("three", proposals.iter().map(|one| comment(&one.key)).collect())).await?;

    ensure!(proposals_of(&bob).await?.is_empty());
    let absent = ProposalKey::new("absent");
    let said = async |proposal: &ProposalKey| {
        let mut said = vec![format!("{:?}", bob.comments(std::slice::from_ref(proposal)).await)];
        let assign = Step::Assign { proposal: proposal.clone(), to: Some(bob.member().clone()) };
        for step in [accept(proposal, 0), reject(proposal), comment(proposal), assign] {
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
    ensure!(proposals_of(&bob).await?.len() == 1);
    // Nobody is asked to review what they do not see.
    let assign = Step::Assign { proposal: proposals[0].key.clone(), to: Some(bob.member().clone()) };
    let refused = cook.send(&steps("six", vec![assign])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    // A card that is shown to the team brings its proposals and what was said of them along, and nothing of others.
    let shown = Step::Share { card: card.clone(), visible_to: Visibility::Team };
    cook.send(&steps("seven", vec![shown])).await?;
    let about = bob.proposals_about(std::slice::from_ref(&card)).await?;
    ensure!(about.len() == 1 && bob.proposals(&about).await?.len() == 1, "{about:?}");
    let keys: Vec<ProposalKey> = proposals.into_iter().map(|one| one.key).collect();
    let comments = bob.comments(&keys).await?;
    ensure!(comments.len() == 1 && comments[0].proposal == about[0], "{comments:?}");
    bob.send(&steps("eight", vec![comment(&about[0]), accept(&about[0], 1)])).await?;
    ensure!(
        cook.comments(&about).await?.len() == 2 && cook.newest(&card).await?.context("a card")?.number == 2
    );
    Ok(())
}
