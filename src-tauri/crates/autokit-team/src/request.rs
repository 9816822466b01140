//! What members ask for: several steps, carried out wholly or not at all.

use autokit_toolcard::Timestamp;
use surrealdb::types::{Object, SurrealValue, Value};

use crate::access::{CardKey, MemberKey, ProposalKey, Visibility};

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
    Accept {
        /// The proposal.
        proposal: ProposalKey,
        /// Revision that the state is based on; 0 for a new card.
        base: u32,
        /// The card's JSON text once enough reviewers accepted.
        body: Option<String>,
    },
    /// Reject a proposal. For reviewers.
    Reject(ProposalKey),
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
                set(&mut object, "card", write.card.as_ref().map(CardKey::record));
                object.insert("base", i64::from(write.base));
                object.insert("operation", write.operation.clone());
                set(&mut object, "body", write.body.clone());
                set(&mut object, "visible_to", write.visible_to.as_ref().map(Visibility::to_value));
                object
            }
            Step::Propose(new) => {
                let mut object = object("propose");
                set(&mut object, "card", new.card.as_ref().map(CardKey::record));
                set(&mut object, "visible_to", new.visible_to.as_ref().map(Visibility::to_value));
                object.insert("draft", new.draft.clone());
                object.insert("fingerprint", new.fingerprint.clone());
                object.insert("risk", new.risk.clone());
                object
            }
            Step::Accept { proposal, base, body } => {
                let mut write = Object::new();
                write.insert("base", i64::from(*base));
                set(&mut write, "body", body.clone());
                let mut object = object("decide");
                object.insert("proposal", proposal.record());
                object.insert("accept", true);
                object.insert("write", Value::Object(write));
                object
            }
            Step::Reject(proposal) => {
                let mut object = object("decide");
                object.insert("proposal", proposal.record());
                object.insert("accept", false);
                object
            }
            Step::Assign { proposal, to } => {
                let mut object = object("assign");
                object.insert("proposal", proposal.record());
                set(&mut object, "to", to.as_ref().map(MemberKey::record));
                object
            }
            Step::Comment { proposal, text } => {
                let mut object = object("comment");
                object.insert("proposal", proposal.record());
                object.insert("text", text.clone());
                object
            }
        };
        object.insert("position", position as i64);
        Value::Object(object)
    }
}
