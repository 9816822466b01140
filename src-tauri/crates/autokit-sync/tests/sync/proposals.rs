//! Proposals of a team: made, discussed and decided by several, with and without a connection.

use anyhow::{Context as _, Result, ensure};
use autokit_library::{Accepted, Selection, Write};
use autokit_sync::NoticeKind;
use autokit_team::Role;
use autokit_toolcard::{
    Author, Draft, Operation, Origin, Proposal, ProposalEventKind, ProposalState, ProposedField, Risk,
};
use serde_json::{Value, json};

use crate::kitchen::{Kitchen, Person, card};

impl Person {
    pub(crate) fn author(&self) -> Author {
        Author(self.name.to_owned())
    }

    /// Proposes a value of a field of the card with this name.
    pub(crate) async fn propose(&self, name: &str, field: &str, value: Value) -> Result<Proposal> {
        let record = self.record(name)?;
        let field = ProposedField {
            field: field.to_owned(),
            value: Some(value),
            evidence: Vec::new(),
            confidence: 1.0,
        };
        let draft = Draft {
            card: Some(record.id.clone()),
            ..Draft::new(Origin::Description, "It says so", vec![field])
        };
        Ok(self.library.propose(draft, &self.author(), None).await?.proposal)
    }

    /// The only pending proposal.
    async fn pending(&self) -> Result<Proposal> {
        let mut pending = self.in_review().await?;
        ensure!(pending.len() == 1, "{}: {pending:#?}", self.name);
        Ok(pending.remove(0))
    }

    /// The newest proposal, whatever its state.
    async fn newest(&self) -> Result<Proposal> {
        self.library.proposals(None).await?.pop().context("a proposal")
    }

    /// Accepts the only pending proposal, as far as the team lets this person; returns whether the card was written.
    async fn accept(&self) -> Result<bool> {
        let proposal = self.pending().await?;
        self.accept_one(&proposal).await
    }

    pub(crate) async fn accept_one(&self, proposal: &Proposal) -> Result<bool> {
        let acceptance = self.library.acceptance(proposal, &Selection::default()).await?;
        // Whoever never synchronized decides as in a library of their own.
        let needed = self.library.team_rules().await?.unwrap_or_default().needed(proposal.risk);
        let meta = self.meta(Operation::Accept, "It is right");
        let accepted = self.library.accept(proposal, acceptance, None, &meta, needed).await?;
        Ok(matches!(accepted, Accepted::Written(_)))
    }

    async fn reject(&self) -> Result<()> {
        let proposal = self.pending().await?;
        self.library.reject(proposal.id, &self.author(), "It is wrong", None).await?;
        Ok(())
    }

    async fn events(&self, kind: ProposalEventKind) -> Result<Vec<(String, String)>> {
        let events = self.library.proposal_events(self.newest().await?.id).await?;
        Ok(events.into_iter().filter(|event| event.kind == kind).map(|event| (event.by, event.why)).collect())
    }
}

async fn with_a_kettle<const N: usize>(
    kitchen: &Kitchen,
    people: [(&'static str, Role); N],
) -> Result<[Person; N]> {
    let mut all = Vec::new();
    for (name, role) in people {
        let mut person = kitchen.person(name, role).await?;
        if all.is_empty() {
            person.add(card("kettle", &json!({}))).await?;
        }
        person.sync().await?;
        all.push(person);
    }
    Ok(all.try_into().ok().expect("as many"))
}

/// What everybody has once nobody has anything new.
async fn settle(people: &mut [Person]) -> Result<()> {
    for _ in 0..3 {
        for person in people.iter_mut() {
            person.sync().await?;
        }
    }
    for person in people.iter_mut() {
        let report = person.sync().await?;
        ensure!(report == autokit_sync::Report::default(), "{}: {report:?}", person.name);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contributor_proposes_and_a_reviewer_accepts() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let people = [("ann", Role::Reviewer), ("bob", Role::Contributor), ("rea", Role::Reader)];
    let mut people = with_a_kettle(&kitchen, people).await?;
    people[1].propose("kettle", "pricing", json!("free")).await?;
    // An edit becomes a proposal as well.
    people[1].add(card("pot", &json!({}))).await?;
    settle(&mut people).await?;
    for person in &people {
        let waiting = person.in_review().await?;
        ensure!(waiting.len() == 2 && waiting.iter().all(|one| one.proposed_by == "bob"), "{waiting:#?}");
        ensure!(waiting.iter().all(|one| one.conflicts.is_empty()), "{waiting:#?}");
    }
    let [ann, _, _] = &people;
    let pot = ann.in_review().await?.into_iter().find(|one| one.draft.card.is_none()).context("the pot")?;
    let acceptance = ann.library.acceptance(&pot, &Selection::default()).await?;
    ann.library.accept(&pot, acceptance, None, &ann.meta(Operation::Accept, "Needed"), 1).await?;
    ensure!(ann.accept().await?);
    settle(&mut people).await?;
    for person in &people {
        ensure!(person.field("kettle", "pricing")? == json!("free") && person.record("pot").is_ok());
        ensure!(person.in_review().await?.is_empty());
        let decided = person.library.proposals(Some(ProposalState::Accepted)).await?;
        ensure!(decided.len() == 2, "{}: {decided:#?}", person.name);
        ensure!(decided.iter().all(|one| one.decided_by.as_deref() == Some("ann")), "{decided:#?}");
        ensure!(decided.iter().any(|one| one.accepted == ["pricing"]), "{decided:#?}");
    }
    let history = people[2].library.history(&people[2].record("kettle")?.id).await?;
    let newest = history.iter().max_by_key(|revision| revision.number).context("a revision")?;
    ensure!(newest.operation == Operation::Accept && newest.author.0 == "ann", "{newest:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn several_have_to_accept() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let people =
        [("ann", Role::Admin), ("bea", Role::Reviewer), ("cleo", Role::Reviewer), ("bob", Role::Contributor)];
    let mut people = with_a_kettle(&kitchen, people).await?;
    for risk in Risk::ALL {
        people[0].sync.session().set_policy(risk.as_str(), 2).await?;
    }
    people[3].propose("kettle", "pricing", json!("free")).await?;
    people[3].sync().await?;
    // Cleo has the proposal and not the new rule.
    let rules = people[2].library.team_rules().await?.context("rules")?;
    people[2].sync().await?;
    people[2].library.set_team_rules(&rules).await?;
    ensure!(people[2].accept().await?, "she thinks that one is enough");
    settle(&mut people).await?;
    ensure!(people[2].field("kettle", "pricing")? == json!(null), "it is taken back");
    for person in &people {
        let pending = person.pending().await?;
        let given: Vec<&str> = pending.approvals.iter().map(|approval| approval.by.as_str()).collect();
        ensure!(given == ["cleo"], "{}: {pending:#?}", person.name);
    }
    // Somebody who writes the card around the others proposes it.
    people[1].edit("kettle", json!({"auth": "none"})).await?;
    settle(&mut people).await?;
    ensure!(people[1].field("kettle", "auth")? == json!(null));
    for person in &people {
        ensure!(person.in_review().await?.len() == 2, "{}", person.name);
    }
    let other =
        people[2].in_review().await?.into_iter().find(|one| one.proposed_by == "bea").context("hers")?;
    people[2].library.reject(other.id, &people[2].author(), "Not now", None).await?;
    settle(&mut people).await?;
    ensure!(people[1].accept().await?, "the second approval");
    settle(&mut people).await?;
    for person in &people {
        ensure!(person.field("kettle", "pricing")? == json!("free"), "{}", person.name);
        ensure!(person.in_review().await?.is_empty());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_decisions_without_a_connection_the_first_counts() -> Result<()> {
    for accepted_first in [true, false] {
        let kitchen = Kitchen::in_memory().await?;
        let people = [("ann", Role::Reviewer), ("bea", Role::Reviewer), ("bob", Role::Contributor)];
        let mut people = with_a_kettle(&kitchen, people).await?;
        people[2].propose("kettle", "pricing", json!("free")).await?;
        settle(&mut people).await?;
        ensure!(people[0].accept().await?);
        people[1].reject().await?;
        let first = usize::from(!accepted_first);
        people[first].sync().await?;
        settle(&mut people).await?;
        let (state, price) = if accepted_first {
            (ProposalState::Accepted, json!("free"))
        } else {
            (ProposalState::Rejected, json!(null))
        };
        for person in &people {
            let proposal = person.newest().await?;
            ensure!(proposal.state == state, "{}: {proposal:#?}", person.name);
            ensure!(proposal.decided_by.as_deref() == Some(people[first].name));
            ensure!(person.field("kettle", "pricing")? == price, "{}", person.name);
        }
        if !accepted_first {
            // What was rejected is not proposed again, by nobody.
            let again = people[0].propose("kettle", "pricing", json!("free")).await?;
            ensure!(again.state == ProposalState::Rejected, "{again:#?}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn proposals_are_discussed_assigned_and_reopened() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let people = [("ann", Role::Reviewer), ("bob", Role::Contributor)];
    let mut people = with_a_kettle(&kitchen, people).await?;
    people[1].propose("kettle", "pricing", json!("free")).await?;
    settle(&mut people).await?;
    let [ann, bob] = &people;
    bob.library.assign(bob.pending().await?.id, Some("ann"), &bob.author(), None).await?;
    bob.library.comment(bob.pending().await?.id, &bob.author(), "Look, @ann", None).await?;
    ann.library.comment(ann.pending().await?.id, &ann.author(), "Is it?", None).await?;
    settle(&mut people).await?;
    for person in &people {
        ensure!(person.pending().await?.assigned_to.as_deref() == Some("ann"), "{}", person.name);
        let mut said = person.events(ProposalEventKind::Commented).await?;
        said.sort();
        let expected =
            [("ann", "Is it?"), ("bob", "Look, @ann")].map(|(by, said)| (by.to_owned(), said.to_owned()));
        ensure!(said == expected, "{}: {said:?}", person.name);
    }
    people[0].reject().await?;
    settle(&mut people).await?;
    ensure!(people[1].newest().await?.state == ProposalState::Rejected);
    people[0].library.reopen(people[0].newest().await?.id, &people[0].author(), None).await?;
    settle(&mut people).await?;
    ensure!(people[1].pending().await?.assigned_to.as_deref() == Some("ann"));
    // Only whoever made it takes it back: a reader decides nothing for the others.
    let mut rea = kitchen.person("rea", Role::Reader).await?;
    rea.sync().await?;
    rea.reject().await?;
    rea.sync().await?;
    settle(&mut people).await?;
    ensure!(people[1].pending().await?.state == ProposalState::Pending);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_of_what_changed_since_is_in_conflict() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let people = [("ann", Role::Reviewer), ("bob", Role::Contributor)];
    let mut people = with_a_kettle(&kitchen, people).await?;
    people[1].propose("kettle", "pricing", json!("free")).await?;
    people[0].edit("kettle", json!({"pricing": "9 Euro", "auth": "none"})).await?;
    people[0].sync().await?;
    settle(&mut people).await?;
    for person in &people {
        let pending = person.pending().await?;
        ensure!(pending.conflicts == ["pricing"], "{}: {pending:#?}", person.name);
    }
    // A new member, who has no earlier revision, sees the same.
    let mut cleo = kitchen.person("cleo", Role::Reviewer).await?;
    cleo.sync().await?;
    ensure!(cleo.pending().await?.conflicts == ["pricing"]);
    // So do two edits of one field: neither is lost.
    people[1].edit("kettle", json!({"auth": "key"})).await?;
    people[1].sync().await?;
    cleo.edit("kettle", json!({"auth": "password"})).await?;
    people[0].edit("kettle", json!({"auth": "token"})).await?;
    people[0].sync().await?;
    cleo.sync().await?;
    settle(&mut people).await?;
    cleo.sync().await?;
    for person in people.iter().chain([&cleo]) {
        let mut edits: Vec<Value> = Vec::new();
        for one in person.in_review().await? {
            edits.extend(
                one.draft
                    .fields
                    .iter()
                    .filter(|field| field.field == "auth")
                    .filter_map(|field| field.value.clone()),
            );
        }
        edits.sort_by_key(ToString::to_string);
        ensure!(edits == [json!("key"), json!("password")], "{}: {edits:?}", person.name);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_asked_or_mentioned_is_told_once() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let people = [("ann", Role::Reviewer), ("bob", Role::Contributor), ("rea", Role::Reader)];
    let mut people = with_a_kettle(&kitchen, people).await?;
    for person in &mut people {
        person.sync.note_synced("2026-01-02T03:04:05.000Z".parse().expect("a time")).await?;
    }
    let made = people[1].propose("kettle", "pricing", json!("free")).await?;
    people[1].library.assign(made.id, Some("ann"), &people[1].author(), None).await?;
    people[1]
        .library
        .comment(made.id, &people[1].author(), "Is that so, @ann? Not you, @anna.", None)
        .await?;
    people[1].sync().await?;
    let told = people[0].sync().await?.notices;
    ensure!(told.len() == 2, "{told:#?}");
    ensure!(told[0].kind == NoticeKind::Assigned && told[0].text == "It says so", "{told:#?}");
    let said = told[1].by.as_deref() == Some("bob") && told[1].text.starts_with("Is that so");
    ensure!(told[1].kind == NoticeKind::Mentioned && said, "{told:#?}");
    ensure!(told[0].proposal == people[0].pending().await?.id);
    ensure!(people[2].sync().await?.notices.is_empty());
    // Once, and not of what somebody did themselves.
    let id = people[0].pending().await?.id;
    people[0].library.comment(id, &people[0].author(), "I, @ann, think so. @bob?", None).await?;
    let own = people[0].sync().await?.notices;
    ensure!(own.is_empty() && people[0].sync().await?.notices.is_empty(), "{own:#?}");
    let told = people[1].sync().await?.notices;
    ensure!(told.len() == 1 && told[0].kind == NoticeKind::Mentioned, "{told:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_came_while_a_card_was_deleted_reads_its_proposals_once_it_is_restored() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut people = with_a_kettle(&kitchen, [("ann", Role::Reviewer), ("bob", Role::Contributor)]).await?;
    people[1].propose("kettle", "pricing", json!("free")).await?;
    settle(&mut people).await?;
    people[0].accept().await?;
    settle(&mut people).await?;
    let record = people[0].record("kettle")?;
    people[0].delete("kettle").await?;
    settle(&mut people).await?;

    let mut dora = kitchen.person("dora", Role::Reader).await?;
    let report = dora.sync().await?;
    ensure!(report.invalid == 0, "{report:?}");
    ensure!(dora.library.proposals(None).await?.is_empty());

    let restore = Write::Restore { id: record.id.clone(), card: Box::new(record.card()), vectors: None };
    people[0].library.commit(&people[0].meta(Operation::Restore, "Needed again"), &[restore]).await?;
    settle(&mut people).await?;
    dora.sync().await?;
    let decided = dora.library.proposals(Some(ProposalState::Accepted)).await?;
    ensure!(decided.len() == 1 && decided[0].accepted == ["pricing"], "{decided:#?}");
    Ok(())
}
