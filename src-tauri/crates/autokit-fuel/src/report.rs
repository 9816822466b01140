//! What the verifier found out about a card.

use autokit_toolcard::{CardState, Draft};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::claims::Claim;
use crate::condition::Condition;
use crate::link::LinkHealth;
use crate::marks::Marks;

/// Whether a page is about a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Judgement {
    /// It is.
    pub about: bool,
    /// What sort of page it is.
    pub condition: Condition,
    /// In a sentence, for people.
    pub why: String,
    /// Words of the page that say so.
    pub quote: String,
    /// How sure it is that the page documents this tool, 0 to 1.
    pub score: f32,
    /// What speaks for it.
    pub marks: Marks,
}

/// A page that was weighed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Weighed {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// How sure it is that it documents this tool, 0 to 1.
    pub score: f32,
    /// What speaks for it.
    pub marks: Marks,
    /// In a sentence, for people.
    pub why: String,
}

/// What looking for another page came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Sought {
    /// The right page.
    Found {
        /// It.
        page: Weighed,
    },
    /// Nothing that documents this tool is left; what is like it documents others.
    Gone,
    /// Pages that may be it, none clearly.
    Unsure,
    /// There was nothing to look with or to look at.
    NothingFound,
}

/// Everything the verifier found out about a card at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Report {
    /// How the card stands.
    pub state: CardState,
    /// How its address fares.
    pub link: LinkHealth,
    /// Whether the page there is about the tool, if there is one.
    pub page: Option<Judgement>,
    /// The card's claims against its page, or against the page that was found for it.
    pub claims: Vec<Claim>,
    /// What looking for another page came to, if that was done.
    pub search: Option<Sought>,
    /// The pages that were weighed, best first.
    pub candidates: Vec<Weighed>,
    /// Failures to reach the page in a row, this one included.
    pub attempts: u32,
    /// Nothing could be asked because there is no network; nothing else in here means anything then.
    pub offline: bool,
    /// Who judged: `rules`, or a model's name beside them.
    pub judged_by: String,
}

/// A card that was looked at: the report, and what would put it right.
#[derive(Clone, Debug, PartialEq)]
pub struct Examined {
    /// What was found out.
    pub report: Report,
    /// What should change.
    pub draft: Option<Draft>,
}
