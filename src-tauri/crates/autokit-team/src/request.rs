//! What members ask for: several steps, carried out wholly or not at all.

use autokit_toolcard::Timestamp;
use surrealdb::types::{Object, SurrealValue, Value};

use crate::access::{CardKey, MemberKey, ProposalKey, Visibility};
use crate::filter::labels;
use crate::vectors::CardVectors;

/// Several steps, carried out in order, wholly or not at all.
#[derive(Clone, Debug)]
pub struct Request {
    /// Key of the request, at most 64 characters: a second one with the same key changes nothing.
    pub key: String,
    /// The reason, in the author's words.
    pub reason: String,
    /// When it was asked for, which may have been offline.
    pub at: Timestamp,
    /// The steps.
    pub steps: Vec<Step>,
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Step {
    /// Write a card. For reviewers.
    Write(CardWrite),
    /// Propose a change, unless an equal proposal is pending. For contributors.
    Propose(NewProposal),
    /// Accept a proposal. For reviewers.
    Accept(Approval),
    /// Reject a proposal. For reviewers.
    Reject {
        /// The proposal.
        proposal: ProposalKey,
        /// What was decided on each field, as JSON.
        outcome: Option<String>,
    },
    /// Take back a proposal. For whoever made it, and for reviewers.
    Withdraw(ProposalKey),
    /// Take back the decision on a proposal. For reviewers.
    Reopen(ProposalKey),
    /// Say who sees a card. For reviewers.
    Share {
        /// The card.
        card: CardKey,
        /// Who sees it from now on, among whom is whoever asks.
        visible_to: Visibility,
    },
    /// Give the team vectors of a card, which change nothing if it has others with the same recipe. For reviewers.
    Vectors(CardVectors),
    /// Say who reviews a proposal now. For contributors.
    Assign {
        /// The proposal.
        proposal: ProposalKey,
        /// The member, who has to see it; `None` for nobody.
        to: Option<MemberKey>,
    },
    /// Comment on a proposal. For contributors.
    Comment {
        /// The proposal.
        proposal: ProposalKey,
        /// The comment, at most 4,000 characters.
        text: String,
    },
}

/// The next state of a card.
#[derive(Clone, Debug)]
pub struct CardWrite {
    /// The card; `None` for a new one.
    pub card: Option<CardKey>,
    /// Revision that the state is based on; 0 for a new card.
    pub base: u32,
    /// What was done, as in [`autokit_toolcard::Operation`].
    pub operation: String,
    /// The card's JSON text; `None` if it is deleted.
    pub body: Option<String>,
    /// Who sees the card; `None` for whoever did before.
    pub visible_to: Option<Visibility>,
}

/// A reviewer's approval of a proposal: the last one that the policy requires writes the card.
#[derive(Clone, Debug)]
pub struct Approval {
    /// The proposal.
    pub proposal: ProposalKey,
    /// The card, for a proposal of a new one whose name a card has by now.
    pub card: Option<CardKey>,
    /// Revision that the state is based on; 0 for a new card.
    pub base: u32,
    /// The card's JSON text once enough reviewers accepted.
    pub body: Option<String>,
    /// The accepted values, each as text with its field: approvals count if they include the same ones.
    pub values: Vec<String>,
    /// The risk as this reviewer sees it: `low`, `medium` or `high`.
    pub risk: String,
    /// What was decided on each field, as JSON.
    pub outcome: Option<String>,
}

/// A change to propose.
#[derive(Clone, Debug)]
pub struct NewProposal {
    /// The card; `None` for a new one.
    pub card: Option<CardKey>,
    /// Who sees a new card.
    pub visible_to: Option<Visibility>,
    /// What is proposed, as JSON.
    pub draft: String,
    /// The same for equal proposals.
    pub fingerprint: String,
    /// `low`, `medium` or `high`.
    pub risk: String,
}

/// A card that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Position in the request.
    pub position: u32,
    /// The card.
    pub card: CardKey,
    /// Its revision.
    pub number: u32,
}

fn object(kind: &str) -> Object {
    let mut object = Object::new();
    object.insert("kind", kind.to_owned());
    object
}

fn about(kind: &str, proposal: &ProposalKey) -> Object {
    let mut object = object(kind);
    object.insert("proposal", proposal.value());
    object
}

fn set<T: SurrealValue>(object: &mut Object, name: &str, value: Option<T>) {
    if let Some(value) = value {
        object.insert(name, value);
    }
}

impl Step {
    /// The step as the database takes it; `position` is its place in the request.
    pub(crate) fn to_value(&self, position: usize) -> Value {
        let mut object = match self {
            Step::Write(write) => {
                let mut object = object("write");
                set(&mut object, "card", write.card.as_ref().map(CardKey::value));
                object.insert("base", i64::from(write.base));
                object.insert("operation", write.operation.clone());
                set(&mut object, "labels", write.body.as_deref().and_then(labels));
                set(&mut object, "body", write.body.clone());
                set(&mut object, "visible_to", write.visible_to.as_ref().map(Visibility::to_value));
                object
            }
            Step::Propose(new) => {
                let mut object = object("propose");
                set(&mut object, "card", new.card.as_ref().map(CardKey::value));
                set(&mut object, "visible_to", new.visible_to.as_ref().map(Visibility::to_value));
                object.insert("draft", new.draft.clone());
                object.insert("fingerprint", new.fingerprint.clone());
                object.insert("risk", new.risk.clone());
                object
            }
            Step::Accept(approval) => {
                let mut write = Object::new();
                set(&mut write, "card", approval.card.as_ref().map(CardKey::value));
                write.insert("base", i64::from(approval.base));
                set(&mut write, "labels", approval.body.as_deref().and_then(labels));
                set(&mut write, "body", approval.body.clone());
                let mut object = about("decide", &approval.proposal);
                object.insert("accept", true);
                object.insert("values", approval.values.clone());
                object.insert("risk", approval.risk.clone());
                set(&mut object, "outcome", approval.outcome.clone());
                object.insert("write", Value::Object(write));
                object
            }
            Step::Reject { proposal, outcome } => {
                let mut object = about("decide", proposal);
                object.insert("accept", false);
                set(&mut object, "outcome", outcome.clone());
                object
            }
            Step::Withdraw(proposal) => about("withdraw", proposal),
            Step::Reopen(proposal) => about("reopen", proposal),
            Step::Share { card, visible_to } => {
                let mut object = object("share");
                object.insert("card", card.value());
                object.insert("visible_to", visible_to.to_value());
                object
            }
            Step::Vectors(vectors) => {
                let mut object = object("vectors");
                object.insert("card", vectors.card.value());
                object.insert("number", i64::from(vectors.number));
                object.insert("recipe", vectors.recipe.clone());
                object.insert("dim", i64::from(vectors.dim));
                object.insert("data", Value::Bytes(vectors.data.clone().into()));
                object
            }
            Step::Assign { proposal, to } => {
                let mut object = about("assign", proposal);
                set(&mut object, "to", to.as_ref().map(MemberKey::record));
                object
            }
            Step::Comment { proposal, text } => {
                let mut object = about("comment", proposal);
                object.insert("text", text.clone());
                object
            }
        };
        object.insert("position", position as i64);
        Value::Object(object)
    }
}
