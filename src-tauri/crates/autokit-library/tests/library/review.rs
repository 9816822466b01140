//! Tests of what happens between proposing and deciding: merging, remembering rejections, rebasing,
//! approving.

use autokit_library::{
    Accepted, Clock, Code, DataDir, Library, LibraryError, Meta, Proposed, PutMode, Selection, Storage, Write,
};
use autokit_toolcard::{
    Author, CardId, CardKey, Draft, Evidence, FieldVerdict, Operation, Origin, Proposal, ProposalId,
    ProposalState, ProposedField, Risk, Toolcard,
};
use serde_json::{Value, json};

use crate::common::{author, memory, on_disk, put, text};

fn meta(by: &str) -> Meta {
    Meta {
        operation: Operation::Edit,
        author: author(by),
        reason: "because".into(),
        change: None,
        request: None,
    }
}

fn field(name: &str, value: Value, quote: &str) -> ProposedField {
    let fetched_at = "2026-01-01T00:00:00.000Z".parse().expect("a time");
    let evidence = vec![Evidence::new("https://docs.example.org/tool", quote, fetched_at)];
    ProposedField { field: name.into(), value: Some(value), evidence, confidence: 0.9 }
}

fn change(card: &CardId, fields: &[(&str, &str)]) -> Draft {
    let fields = fields.iter().map(|(name, value)| field(name, json!(value), "as it says")).collect();
    Draft {
        card: Some(card.clone()),
        basis: Some("page one".into()),
        ..Draft::new(Origin::Refresh, "the page says otherwise", fields)
    }
}

async fn propose(library: &Library, draft: Draft) -> Proposed {
    library.propose(draft, &author("checker"), None).await.expect("imported")
}

async fn accept(library: &Library, id: ProposalId, by: &str, selection: &Selection, needed: u32) -> Accepted {
    let proposal = library.proposal(id).await.expect("exists");
    let acceptance = library.acceptance(&proposal, selection).await.expect("a card");
    library.accept(&proposal, acceptance, None, &meta(by), needed).await.expect("accepted")
}

async fn pending(library: &Library) -> Vec<Proposal> {
    library.proposals(Some(ProposalState::Pending)).await.expect("read")
}

async fn event_kinds(library: &Library, id: ProposalId) -> Vec<&'static str> {
    library.proposal_events(id).await.expect("read").into_iter().map(|event| event.kind.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_values_are_merged_and_newer_values_replace_older_ones() {
    let library = memory().await;
    let id = put(&library, json!({"name": "A"})).await;
    let first = propose(&library, change(&id, &[("class", "K"), ("pricing", "free")])).await;
    assert_eq!((first.kept.len(), first.proposal.risk), (2, Risk::Low));

    let mut again = change(&id, &[("class", "K"), ("pricing", "paid"), ("module", "m")]);
    again.fields[0].evidence[0].quote = "elsewhere on the page".into();
    let again = propose(&library, again).await;
    assert_eq!(
        (again.merged, again.kept),
        (vec!["class".to_owned(), "pricing".into()], vec!["module".into()])
    );
    let now = library.proposal(first.proposal.id).await.expect("exists");
    assert_eq!(now.draft.fields[0].evidence.len(), 2);
    assert_eq!(now.draft.fields[1].value, Some(json!("paid")));
    assert_eq!(event_kinds(&library, now.id).await, ["proposed", "merged", "replaced"]);

    // An identical draft adds nothing; another value from another origin waits in a proposal of its own.
    let steps = library.proposal_events(now.id).await.expect("read").len();
    let same = propose(&library, change(&id, &[("class", "K")])).await;
    assert_eq!((same.proposal.id, same.kept.len()), (now.id, 0));
    assert_eq!(library.proposal_events(now.id).await.expect("read").len(), steps);
    let other = Draft { origin: Origin::Improvement, ..change(&id, &[("pricing", "on request")]) };
    assert_eq!(propose(&library, other).await.kept, ["pricing"]);
    assert_eq!(pending(&library).await.len(), 3);
    assert_eq!(library.count_pending().await.expect("read"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_card_is_merged_whole_or_not_at_all() {
    let library = memory().await;
    let new = |origin, description: &str| {
        let fields = vec![field("name", json!("New"), "q"), field("description", json!(description), "q")];
        Draft::new(origin, "found", fields)
    };
    let first = propose(&library, new(Origin::Discovery, "Does things.")).await.proposal;
    let newer = propose(&library, new(Origin::Discovery, "Does good things.")).await;
    assert_eq!((newer.proposal.id, newer.merged.len(), newer.kept.len()), (first.id, 2, 0));
    let other = propose(&library, new(Origin::Description, "Something else.")).await;
    assert_eq!(other.kept, ["name", "description"]);
    // Rejecting its name rejects all of it.
    library.reject(first.id, &author("ann"), "a toy", None).await.expect("rejected");
    let again = propose(&library, new(Origin::Discovery, "In other words.")).await;
    assert_eq!((again.proposal.id, again.suppressed.len()), (first.id, 2));
    assert_eq!(pending(&library).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_values_are_proposed_again_only_when_their_page_changed() {
    let library = memory().await;
    let id = put(&library, json!({"name": "A"})).await;
    let draft = change(&id, &[("class", "K"), ("pricing", "free"), ("module", "m")]);
    let first = propose(&library, draft.clone()).await.proposal;
    let selection = Selection {
        fields: Some(vec!["class".into()]),
        rejected: vec!["pricing".into()],
        ..Selection::default()
    };
    assert!(matches!(accept(&library, first.id, "ann", &selection, 1).await, Accepted::Written(_)));
    let decided = library.proposal(first.id).await.expect("exists");
    let verdicts: Vec<_> = decided.decisions.iter().map(|d| (d.field.as_str(), d.verdict)).collect();
    assert_eq!(verdicts, [("class", FieldVerdict::Accepted), ("pricing", FieldVerdict::Rejected)]);

    // A field left out is not rejected.
    let again = propose(&library, draft.clone()).await;
    assert_eq!(again.suppressed, ["pricing"]);
    assert!(again.kept.contains(&"module".to_owned()));
    library.reject(again.proposal.id, &author("ann"), "no", None).await.expect("rejected");
    let third = propose(&library, draft.clone()).await;
    assert_eq!((third.suppressed.len(), third.kept.len()), (3, 0));
    assert!(pending(&library).await.is_empty());
    let changed = propose(&library, Draft { basis: Some("page two".into()), ..draft.clone() }).await;
    assert_eq!(changed.kept.len(), 3);
    library.reject(changed.proposal.id, &author("ann"), "no", None).await.expect("rejected");

    // A rejection is forgotten when it is undone, including by undoing the acceptance it was part of.
    library.reopen(again.proposal.id, &author("ann"), None).await.expect("pending");
    assert_eq!(propose(&library, draft.clone()).await.suppressed, ["pricing"]);
    let change_id = library.change_of_proposal(first.id).await.expect("read").expect("a change");
    library.undo(&change_id, author("ann"), None).await.expect("undone");
    assert!(propose(&library, draft).await.suppressed.is_empty());
    let undone = library.proposal(first.id).await.expect("exists");
    assert!(undone.decisions.is_empty() && undone.state == ProposalState::Pending);
    let steps = event_kinds(&library, first.id).await;
    assert!(steps.contains(&"accepted") && steps.contains(&"undone"), "{steps:?}");

    // A redo restores the decision, and with it the rejection.
    let (undo, _) = library.redoable().await.expect("read").expect("an undo");
    library.redo(&undo, author("ann"), None).await.expect("redone");
    let redone = library.proposal(first.id).await.expect("exists");
    assert_eq!((redone.state, &redone.decisions), (ProposalState::Accepted, &decided.decisions));
    assert_eq!(text(&library, &id, "class").as_deref(), Some("K"));
    let after = change(&id, &[("pricing", "free")]);
    assert_eq!(propose(&library, after).await.suppressed, ["pricing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_card_rebases_its_proposals_or_conflicts_with_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path());
    let open = async || on_disk(&dir).await;
    let library = open().await;
    let id = put(&library, json!({"name": "A", "pricing": "old", "class": "Old"})).await;
    let draft = change(&id, &[("pricing", "new"), ("class", "New")]);
    let proposal = propose(&library, draft.clone()).await.proposal;
    assert_eq!(proposal.draft.base, Some(1));

    put(&library, json!({"name": "A", "pricing": "old", "class": "Old", "usage": "x()"})).await;
    let along = library.proposal(proposal.id).await.expect("exists");
    assert_eq!((along.draft.base, along.conflicts.len()), (Some(2), 0));

    put(&library, json!({"name": "A", "pricing": "by hand", "class": "Old"})).await;
    let conflicting = library.proposal(proposal.id).await.expect("exists");
    assert_eq!(conflicting.conflicts, ["pricing"]);
    assert_eq!((conflicting.base_of("pricing"), conflicting.base_of("class")), (Some(2), Some(3)));
    assert_eq!(event_kinds(&library, proposal.id).await, ["proposed", "rebased", "conflicting"]);
    let refused = library.acceptance(&conflicting, &Selection::default()).await.expect_err("a conflict");
    assert_eq!(refused.code(), Code::Conflict);
    library.close().await.expect("closed");
    drop(library);

    // All of it is still there after reopening.
    let library = open().await;
    assert_eq!(pending(&library).await, std::slice::from_ref(&conflicting));
    // A reviewer who saw the current card settles the conflict with their own value.
    let Value::Object(edits) = json!({"pricing": "settled"}) else { unreachable!() };
    let unseen = Selection { edits: edits.clone(), seen: Some(2), ..Selection::default() };
    assert!(library.acceptance(&conflicting, &unseen).await.is_err());
    let seen = Selection { edits, seen: Some(3), ..Selection::default() };
    accept(&library, proposal.id, "ann", &seen, 1).await;
    assert_eq!(text(&library, &id, "pricing").as_deref(), Some("settled"));
    let verdicts: Vec<_> =
        library.proposal(proposal.id).await.expect("exists").decisions.iter().map(|d| d.verdict).collect();
    assert_eq!(verdicts, [FieldVerdict::Edited, FieldVerdict::Accepted]);

    // Making the change by hand also settles a proposal's field.
    let other = propose(&library, change(&id, &[("usage", "y()")])).await.proposal;
    put(&library, json!({"name": "A", "pricing": "settled", "class": "New", "usage": "y()"})).await;
    assert!(library.proposal(other.id).await.expect("exists").conflicts.is_empty());
    library.commit(&meta("ann"), &[Write::Delete { id: id.clone() }]).await.expect("removed");
    assert_eq!(library.proposal(other.id).await.expect("exists").conflicts, ["usage"]);
    let gone = library.propose(change(&id, &[("usage", "z()")]), &author("x"), None).await;
    assert!(matches!(gone, Err(LibraryError::NoCard(_))));
}

/// A proposal of a new card could not be accepted once the card existed, and took in repairs of that card.
#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_of_a_new_card_changes_the_card_once_it_exists() {
    let library = memory().await;
    let new_card = |name: &str| {
        let values = [("name", name), ("description", "Does things."), ("class", "K")];
        let fields = values.iter().map(|(name, value)| field(name, json!(value), "as it says")).collect();
        Draft::new(Origin::Discovery, "found on the web", fields)
    };
    let found = propose(&library, new_card("A")).await.proposal;
    let same = propose(&library, new_card("B")).await.proposal;
    let id = put(&library, json!({"name": "A", "description": "By hand."})).await;
    let now = library.proposal(found.id).await.expect("exists");
    assert_eq!((now.draft.card.as_ref(), now.draft.base), (Some(&id), Some(1)));
    let names = |proposal: &Proposal| -> Vec<String> {
        proposal.draft.fields.iter().map(|field| field.field.clone()).collect()
    };
    assert_eq!((names(&now), now.conflicts.len()), (vec!["description".into(), "class".into()], 0));
    assert_eq!(event_kinds(&library, found.id).await, ["proposed", "rebased"]);

    // A repair of the card is a proposal of its own where it says something else.
    let repair = propose(&library, change(&id, &[("class", "Fixed"), ("pricing", "free")])).await;
    assert_eq!((repair.kept.len(), repair.merged.len()), (2, 0));
    assert!(matches!(
        accept(&library, found.id, "ann", &Selection::default(), 1).await,
        Accepted::Written(_)
    ));
    assert_eq!(text(&library, &id, "description").as_deref(), Some("Does things."));

    // Renaming a card gives it a name, too; where it has all values there is nothing left to decide.
    let all = json!({"name": "Z", "description": "Does things.", "class": "K"});
    let renamed = put(&library, all.clone()).await;
    let card =
        Toolcard::from_json(&json!({"name": "B", "description": "Does things.", "class": "K"}).to_string());
    let write = Write::Edit {
        id: renamed.clone(),
        expected: None,
        card: Box::new(card.expect("valid")),
        vectors: None,
    };
    library.commit(&meta("ann"), &[write]).await.expect("renamed");
    let closed = library.proposal(same.id).await.expect("exists");
    assert_eq!((closed.state, names(&closed).len()), (ProposalState::Withdrawn, 3));

    // So is what is found of a card that exists already, which adds nothing to a repair of it.
    let priced = propose(&library, change(&renamed, &[("pricing", "free")])).await.proposal;
    let again = propose(&library, new_card("B")).await.proposal;
    assert_eq!(again.state, ProposalState::Withdrawn);
    assert_eq!(names(&library.proposal(priced.id).await.expect("exists")), ["pricing"]);
    assert_eq!(pending(&library).await.len(), 2, "the repairs");

    // A card keeps its id when it is renamed: a tool of its earlier name is another one.
    let other = propose(&library, new_card("Z")).await.proposal;
    assert_eq!((other.draft.card, other.state), (None, ProposalState::Pending));
}

/// What somebody adds by hand and removes again must not take a proposal with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_adds_its_card_again_once_that_is_removed() {
    let library = memory().await;
    let values = [("name", "A"), ("description", "Does things."), ("class", "K")];
    let fields: Vec<_> = values.iter().map(|(name, value)| field(name, json!(value), "as it says")).collect();
    let new_card = || Draft::new(Origin::Discovery, "found on the web", fields.clone());
    let found = propose(&library, new_card()).await.proposal;
    assert!(matches!(
        accept(&library, found.id, "ann", &Selection::default(), 2).await,
        Accepted::Approved(_)
    ));
    let id = put(&library, json!({"name": "A", "description": "By hand."})).await;
    let now = library.proposal(found.id).await.expect("exists");
    assert_eq!(
        (now.draft.card.as_ref(), now.approvals.len()),
        (Some(&id), 0),
        "nobody approved an overwrite"
    );
    library.commit(&meta("ann"), &[Write::Delete { id: id.clone() }]).await.expect("removed");
    let back = library.proposal(found.id).await.expect("exists");
    assert_eq!((back.draft.card.as_ref(), back.conflicts.len(), back.draft.fields.len()), (None, 0, 3));
    assert!(matches!(
        accept(&library, found.id, "ann", &Selection::default(), 1).await,
        Accepted::Written(_)
    ));
    assert_eq!(text(&library, &id, "description").as_deref(), Some("Does things."));

    // A value that was rejected for the card is not proposed again by whoever finds it as new.
    put(&library, json!({"name": "A", "description": "By hand.", "class": "K"})).await;
    let again = propose(&library, new_card()).await.proposal;
    library.reject(again.id, &author("ann"), "no", None).await.expect("rejected");
    assert_eq!(propose(&library, new_card()).await.suppressed, ["description"]);
}

/// A redo accepts only what was accepted, not what was proposed in its place since.
#[tokio::test(flavor = "multi_thread")]
async fn a_redo_leaves_proposals_that_say_something_else_by_now() {
    let library = memory().await;
    let id = put(&library, json!({"name": "A"})).await;
    let first = propose(&library, change(&id, &[("class", "K"), ("pricing", "free")])).await.proposal;
    let selection = Selection { rejected: vec!["pricing".into()], ..Selection::default() };
    assert!(matches!(accept(&library, first.id, "ann", &selection, 1).await, Accepted::Written(_)));
    let change_id = library.change_of_proposal(first.id).await.expect("read").expect("a change");
    let undone = library.undo(&change_id, author("ann"), None).await.expect("undone");
    propose(&library, change(&id, &[("pricing", "paid")])).await;
    let undo = undone.by.expect("a change");
    let refused = library.undo(&undo, author("ann"), None).await.expect_err("an undo is redone");
    assert!(matches!(refused, LibraryError::NothingToUndo), "{refused}");
    library.redo(&undo, author("ann"), None).await.expect("redone");
    assert_eq!(text(&library, &id, "class").as_deref(), Some("K"));
    assert_eq!(library.proposal(first.id).await.expect("exists").state, ProposalState::Pending);
    assert!(propose(&library, change(&id, &[("pricing", "paid")])).await.suppressed.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_reviewers_have_to_approve_the_same_values() {
    let library = memory().await;
    let id = put(&library, json!({"name": "A"})).await;
    let one = propose(&library, change(&id, &[("class", "K"), ("pricing", "free")])).await.proposal.id;
    let selection = Selection::default();
    assert!(matches!(accept(&library, one, "ann", &selection, 2).await, Accepted::Approved(_)));
    // The same person approving twice counts once.
    let Accepted::Approved(twice) = accept(&library, one, "ann", &selection, 2).await else {
        panic!("alone")
    };
    assert_eq!((twice.approvals.len(), text(&library, &id, "class")), (1, None));
    // An approval of another value is a different approval.
    let Value::Object(edits) = json!({"pricing": "paid"}) else { unreachable!() };
    let edited = Selection { edits, ..Selection::default() };
    assert!(matches!(accept(&library, one, "bob", &edited, 2).await, Accepted::Approved(_)));
    // Approving a set of values includes approving a part of it.
    let part = Selection { fields: Some(vec!["class".into()]), ..Selection::default() };
    assert!(matches!(accept(&library, one, "eve", &part, 2).await, Accepted::Written(_)));
    assert_eq!((text(&library, &id, "class"), text(&library, &id, "pricing")), (Some("K".into()), None));
    assert_eq!(event_kinds(&library, one).await, ["proposed", "approved", "approved", "accepted"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_decide_nothing_and_late_decisions_are_refused() {
    let library = memory().await;
    let id = put(&library, json!({"name": "A"})).await;
    let proposal = propose(&library, change(&id, &[("class", "K")])).await.proposal;
    library.comment(proposal.id, &author("ann"), " is this so? ", None).await.expect("stored");
    assert!(library.comment(proposal.id, &author("ann"), "  ", None).await.is_err());
    let nowhere = library.comment(ProposalId::new(9), &author("ann"), "x", None).await;
    assert!(matches!(nowhere, Err(LibraryError::NoProposal(id)) if id.number() == 9));
    let event = library.proposal_events(proposal.id).await.expect("read").pop().expect("an event");
    assert_eq!((event.kind.as_str(), event.why.as_str()), ("commented", "is this so?"));
    assert_eq!(pending(&library).await.len(), 1);

    let late = library.acceptance(&proposal, &Selection::default()).await.expect("a card");
    let mut newer = change(&id, &[("class", "Other")]);
    newer.reason = "looked again".into();
    propose(&library, newer).await;
    let refused = library.accept(&proposal, late.clone(), None, &meta("ann"), 1).await.expect_err("changed");
    assert!(matches!(refused, LibraryError::ProposalChanged(_)) && refused.code() == Code::Conflict);
    library.reject(proposal.id, &author("ann"), "no", None).await.expect("rejected");
    let refused = library.accept(&proposal, late, None, &meta("ann"), 1).await.expect_err("decided");
    assert!(matches!(refused, LibraryError::Decided { .. }));
    assert_eq!(text(&library, &id, "class"), None);
}

/// Thousands of proposals are pending. `cargo xtask bench` measures how long proposing, listing and accepting
/// then take.
#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_pending_proposals_are_listed_and_accepted_after_a_restart() {
    const MANY: usize = 5000;
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path());
    let owned = dir.try_own().expect("free");
    let library = Library::open(Storage::Disk(owned), Clock::system()).await.expect("opens");
    let cards: Vec<Write> = (0..MANY)
        .map(|n| {
            let Value::Object(card) = json!({"name": format!("tool {n}"), "class": "Old"}) else {
                unreachable!()
            };
            let card = Box::new(Toolcard::new(card).expect("valid"));
            Write::Put { card, mode: PutMode::Create, vectors: None }
        })
        .collect();
    for batch in cards.chunks(500) {
        library.commit(&meta("import"), batch).await.expect("committed");
    }
    for n in 0..MANY {
        let id = CardKey::new("", &format!("tool {n}")).id();
        propose(&library, change(&id, &[("class", "New"), ("pricing", "free"), ("usage", "new()")])).await;
    }
    assert_eq!(pending(&library).await.len(), MANY);
    for proposal in [2500, 2600, 2700].map(ProposalId::new) {
        accept(&library, proposal, "ann", &Selection::default(), 1).await;
    }
    assert_eq!(pending(&library).await.len(), MANY - 3);
    library.close().await.expect("closed");
    drop(library);
    let library = on_disk(&dir).await;
    assert_eq!(library.count_pending().await.expect("read") as usize, MANY - 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_a_source_withdraws_what_it_alone_proposed() {
    let library = memory().await;
    let source = author("a server");
    let new = |name: &str, quote: &str| {
        let fields = [("name", name), ("description", "Does it.")];
        let fields = fields.map(|(field_name, value)| field(field_name, json!(value), quote));
        Draft::new(Origin::Import, "it says so", fields.into())
    };
    let by_source = async |name: &str| {
        library.propose(new(name, "it says"), &source, None).await.expect("imported").proposal.id
    };
    let shared = by_source("shared").await;
    let mut own = Vec::new();
    // More than are closed in one transaction.
    for at in 0..501 {
        own.push(by_source(&format!("own {at}")).await);
    }
    assert_eq!(propose(&library, new("shared", "seen elsewhere")).await.proposal.id, shared);
    let theirs = propose(&library, new("theirs", "seen elsewhere")).await.proposal.id;

    assert_eq!(library.withdraw_all(&source, "left").await.expect("stored"), 501);
    let mut remaining: Vec<ProposalId> =
        pending(&library).await.into_iter().map(|proposal| proposal.id).collect();
    remaining.sort_unstable();
    assert_eq!(remaining, [shared, theirs]);
    let gone = library.proposal(own[500]).await.expect("exists");
    assert_eq!((gone.state, gone.decision.as_deref()), (ProposalState::Withdrawn, Some("left")));
    assert_eq!(event_kinds(&library, own[0]).await.last(), Some(&"withdrawn"));
    assert_eq!(library.withdraw_all(&source, "left").await.expect("stored"), 0);
    // No reviewer rejected it, so when the source returns its proposal is pending again.
    let again = by_source("own 0").await;
    assert_eq!(library.proposal(again).await.expect("exists").state, ProposalState::Pending);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_verifier_withdraws_only_its_own_proposals() {
    let library = memory().await;
    let id = put(&library, json!({"name": "A", "verified": true})).await;
    let verifier = Author::verifier();
    let by_verifier =
        async |draft: Draft| library.propose(draft, &verifier, None).await.expect("imported").proposal.id;
    let state = async |id: ProposalId| library.proposal(id).await.expect("exists").state;

    let own = by_verifier(change(&id, &[("class", "K"), ("module", "m")])).await;
    let theirs = propose(&library, change(&id, &[("pricing", "free")])).await.proposal.id;
    let better =
        Draft { origin: Origin::Improvement, ..change(&id, &[("description", "More."), ("verified", "x")]) };
    let better = by_verifier(better).await;
    // Of its own proposals, those that still follow stay; improvements stay whoever checks; verification does
    // not.
    let now = change(&id, &[("class", "K")]);
    assert_eq!(library.withdraw(&id, Some(&now), &verifier, "a later check").await.expect("stored"), 0);
    let remaining = library.proposal(own).await.expect("exists");
    assert_eq!((remaining.state, remaining.draft.fields.len()), (ProposalState::Pending, 1));
    assert_eq!(library.proposal(better).await.expect("exists").draft.fields[0].field, "description");
    assert_eq!(library.withdraw(&id, None, &verifier, "a later check").await.expect("stored"), 1);
    assert_eq!((state(own).await, state(theirs).await), (ProposalState::Withdrawn, ProposalState::Pending));
    assert_eq!(event_kinds(&library, own).await.last(), Some(&"withdrawn"));
    assert_eq!(state(better).await, ProposalState::Pending);

    // What somebody else proposed too is for a person to decide.
    let shared = by_verifier(change(&id, &[("usage", "x()")])).await;
    let mut same = change(&id, &[("usage", "x()")]);
    same.fields[0].evidence[0].quote = "seen elsewhere".into();
    assert_eq!(propose(&library, same).await.proposal.id, shared);
    library.withdraw(&id, None, &verifier, "a later check").await.expect("stored");
    assert_eq!(state(shared).await, ProposalState::Pending);

    // A proposal closes by itself when the card has its values, also after reopening the library.
    let done = by_verifier(change(&id, &[("class", "K")])).await;
    put(&library, json!({"name": "A", "verified": true, "class": "K", "pricing": "free"})).await;
    assert_eq!((state(done).await, state(theirs).await), (ProposalState::Withdrawn, ProposalState::Pending));
    library.reopen(done, &author("ann"), None).await.expect("pending");
}
