//! Tests of proposals, pages, feedback and past ask sessions.

use autokit_library::{
    Code, DataDir, Feedback, LibraryError, Meta, PackedVectors, Page, PageChunk, PutMode, Replica, Selection,
    SessionNote, Write,
};
use autokit_toolcard::{
    CardId, CardKey, Draft, Evidence, Operation, Origin, ProposalEventKind, ProposalId, ProposalState,
    ProposedField, SessionId, Toolcard,
};
use serde_json::{Value, json};

use crate::common::{author, memory, on_disk, put, text};

fn meta(reason: &str) -> Meta {
    Meta {
        operation: Operation::Edit,
        author: author("reviewer"),
        reason: reason.into(),
        change: None,
        request: None,
    }
}

fn field(name: &str, value: Value) -> ProposedField {
    let fetched_at = "2026-01-01T00:00:00.000Z".parse().expect("a time");
    let evidence = vec![Evidence::new("https://docs.example.org/tool", "as it says", fetched_at)];
    ProposedField { field: name.into(), value: Some(value), evidence, confidence: 0.8 }
}

fn new_card(name: &str) -> Draft {
    Draft::new(
        Origin::Discovery,
        "found on the web",
        vec![
            field("name", json!(name)),
            field("description", json!("Does things.")),
            field("class", json!("K")),
        ],
    )
}

fn change(card: &CardId, base: u32, fields: Vec<ProposedField>) -> Draft {
    Draft { card: Some(card.clone()), base: Some(base), fields, ..new_card("") }
}

fn all() -> Selection {
    Selection::default()
}

fn only(fields: &[&str]) -> Selection {
    Selection { fields: Some(fields.iter().map(ToString::to_string).collect()), ..all() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_card_is_pending_accepted_in_part_and_can_be_undone() {
    let library = memory().await;
    let proposal =
        library.propose(new_card("Found"), &author("discovery"), None).await.expect("stored").proposal;
    assert_eq!((proposal.id, proposal.state), (ProposalId::new(1), ProposalState::Pending));
    assert!(library.read(Replica::is_empty), "nothing changes before a person decides");
    let again =
        library.propose(new_card("Found"), &author("discovery"), None).await.expect("stored").proposal;
    assert_eq!(again.id, proposal.id, "the same is not proposed twice");

    let chosen = ["name".to_owned(), "description".to_owned()];
    let edits = json!({"description": "Does good things."});
    let selection = Selection {
        fields: Some(chosen.to_vec()),
        edits: edits.as_object().unwrap().clone(),
        ..Selection::default()
    };
    let acceptance = library.acceptance(&proposal, &selection).await.expect("a card");
    let vectors = PackedVectors { model: "m".into(), names: None, dim: 2, values: vec![1.0, 0.0] };
    library.accept(&proposal, acceptance, Some(vectors), &meta("looks right"), 1).await.expect("accepted");
    let id = CardKey::new("", "Found").id();
    assert_eq!(text(&library, &id, "description").as_deref(), Some("Does good things."));
    assert_eq!(text(&library, &id, "class"), None);
    assert_eq!(library.vectors("m").await.expect("read").len(), 1);
    let decided = library.proposal(ProposalId::new(1)).await.expect("exists");
    assert_eq!((decided.state, decided.accepted.len()), (ProposalState::Accepted, 2));
    assert_eq!(decided.decided_by.as_deref(), Some("reviewer"));
    assert_eq!(library.history(&id).await.expect("history")[0].operation, Operation::Accept);

    let twice = library.acceptance(&decided, &all()).await.expect_err("decided");
    assert!(matches!(twice, LibraryError::Decided { .. }) && twice.code() == Code::Conflict);

    let change_id = library.change_of_proposal(ProposalId::new(1)).await.expect("read").expect("a change");
    library.undo(&change_id, author("reviewer"), None).await.expect("undone");
    assert!(library.read(Replica::is_empty));
    let waiting = library.proposal(ProposalId::new(1)).await.expect("exists");
    assert_eq!((waiting.state, waiting.accepted.len()), (ProposalState::Pending, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_is_stored_with_its_reason_and_can_be_undone() {
    let library = memory().await;
    library.propose(new_card("A"), &author("discovery"), None).await.expect("stored");
    let rejected = library.reject(ProposalId::new(1), &author("ann"), "a toy", None).await.expect("rejected");
    assert_eq!((rejected.state, rejected.decision.as_deref()), (ProposalState::Rejected, Some("a toy")));
    assert!(library.reject(ProposalId::new(1), &author("ann"), "again", None).await.is_err());
    assert!(library.proposals(Some(ProposalState::Pending)).await.expect("read").is_empty());
    library.reopen(ProposalId::new(1), &author("ann"), None).await.expect("pending again");
    assert_eq!(library.proposals(Some(ProposalState::Pending)).await.expect("read").len(), 1);
    let kinds: Vec<ProposalEventKind> = library
        .proposal_events(ProposalId::new(1))
        .await
        .expect("read")
        .into_iter()
        .map(|event| event.kind)
        .collect();
    assert_eq!(kinds, [ProposalEventKind::Proposed, ProposalEventKind::Rejected, ProposalEventKind::Undone]);
    assert!(
        matches!(library.proposal(ProposalId::new(9)).await, Err(LibraryError::NoProposal(id)) if id.number() == 9)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_fields_that_changed_meanwhile_are_a_conflict() {
    let library = memory().await;
    let id = put(&library, json!({"name": "A", "description": "one", "class": "Old"})).await;
    let about_both = change(&id, 1, vec![field("description", json!("two")), field("class", json!("New"))]);
    let proposal = library.propose(about_both, &author("verifier"), None).await.expect("stored").proposal;
    put(&library, json!({"name": "A", "description": "by hand", "class": "Old"})).await;

    let error = library.acceptance(&proposal, &all()).await.expect_err("a conflict");
    assert_eq!(error.code(), Code::Conflict);
    let proposal = library.proposal(proposal.id).await.expect("exists");
    assert_eq!(proposal.conflicts, ["description"]);
    let acceptance = library.acceptance(&proposal, &only(&["class"])).await.expect("rebased");
    library.accept(&proposal, acceptance, None, &meta("fine"), 1).await.expect("accepted");
    assert_eq!(text(&library, &id, "description").as_deref(), Some("by hand"));
    assert_eq!(text(&library, &id, "class").as_deref(), Some("New"));

    let other = library
        .propose(change(&id, 3, vec![field("name", json!(""))]), &author("x"), None)
        .await
        .expect("stored")
        .proposal;
    let bad = library.acceptance(&other, &all()).await.expect_err("no card");
    assert_eq!(bad.code(), Code::Invalid);
    let nothing = library.acceptance(&other, &only(&[])).await.expect_err("nothing chosen");
    assert_eq!(nothing.code(), Code::Invalid);
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_skips_a_commit_that_changed_nothing() {
    let library = memory().await;
    put(&library, json!({"name": "A"})).await;
    let card = Toolcard::from_json(r#"{"name":"A"}"#).expect("valid");
    let same = Write::Put { card: Box::new(card), mode: PutMode::Upsert, vectors: None };
    let keyed = Meta { request: Some("k1".into()), ..meta("same again") };
    library.commit(&keyed, &[same]).await.expect("nothing to do");
    let (change, reason) = library.undoable().await.expect("read").expect("some");
    assert_eq!(reason, "put");
    library.undo(&change, author("x"), None).await.expect("undone");
    assert!(library.read(Replica::is_empty));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_feedback_and_sessions_survive_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = DataDir::new(folder.path());
    let open = async || on_disk(&dir).await;
    let card = CardId::new("a-1");
    let page = Page {
        card: card.clone(),
        url: "https://docs.example.org/a".into(),
        found: "https://docs.example.org/a/".into(),
        title: "A".into(),
        hash: "h1".into(),
        etag: Some("\"1\"".into()),
        last_modified: None,
        fetched_at: "2026-01-01T00:00:00.000Z".parse().expect("a time"),
        failed: None,
        chunks: vec![PageChunk {
            path: vec!["A".into(), "Use".into()],
            anchor: None,
            text: "```py\nx()\n```".into(),
        }],
    };
    let feedback = Feedback {
        at: page.fetched_at,
        profile: "ann".into(),
        question: "a calendar".into(),
        card: card.clone(),
        helpful: false,
        said: "wrong language".into(),
    };
    let note = SessionNote { id: SessionId::new("s1"), at: page.fetched_at, question: "a calendar".into() };
    {
        let library = open().await;
        let vectors = PackedVectors { model: "m".into(), names: None, dim: 2, values: vec![0.6, 0.8] };
        library.put_page(&page, None).await.expect("stored");
        assert_eq!(library.pages_without_vectors("m").await.expect("read"), std::slice::from_ref(&card));
        library.put_page(&page, Some(&vectors)).await.expect("stored");
        assert!(library.pages_without_vectors("m").await.expect("read").is_empty());
        assert_eq!(library.pages_without_vectors("other").await.expect("read"), std::slice::from_ref(&card));
        library.put_feedback(&feedback, None).await.expect("stored");
        library.put_session(&note, "{}").await.expect("stored");
        library.close().await.expect("closed");
    }
    let library = open().await;
    assert_eq!(library.page(&card).await.expect("read").as_ref(), Some(&page));
    let vectors = library.page_vectors("m").await.expect("read");
    assert_eq!((vectors[0].hash.as_str(), vectors[0].values.as_slice()), ("h1", &[0.6f32, 0.8][..]));
    assert!(library.page_vectors("other").await.expect("read").is_empty());
    assert_eq!(library.feedback("ann").await.expect("read"), [feedback]);
    assert!(library.feedback("bob").await.expect("read").is_empty());
    assert_eq!(library.sessions(10).await.expect("read"), [note]);
    assert_eq!(library.session(&SessionId::new("s1")).await.expect("read").as_deref(), Some("{}"));
    library.close().await.expect("closed");
}
