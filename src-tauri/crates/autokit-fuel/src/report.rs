//! Results of examining a card.

use autokit_toolcard::{CardState, Draft};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ts_rs::TS;

use crate::claims::Claim;
use crate::condition::Condition;
use crate::link::LinkHealth;
use autokit_pages::PageMarks;

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
    pub marks: PageMarks,
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
    pub marks: PageMarks,
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
    /// Searching worked, and there was nothing to look at.
    NothingFound,
    /// No search service is chosen: nothing can be said about other pages.
    NoSearch,
    /// Every search failed: nothing can be said about other pages.
    SearchFailed {
        /// What a service said.
        why: String,
    },
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
    /// The page shows more code than is read; what it shows further down was not looked at.
    #[serde(default)]
    pub cut: bool,
    /// Who judged: `rules`, or a model's name beside them.
    pub judged_by: String,
}

impl Report {
    /// Whether the report determines the state of the card. If the page could not be fetched, or no other
    /// page could be searched for, the earlier result still holds.
    pub fn is_judged(&self) -> bool {
        let sought = !matches!(self.search, Some(Sought::NoSearch | Sought::SearchFailed { .. }));
        !self.offline && self.state != CardState::Unreachable && sought
    }

    /// Returns a hexadecimal hash of what was seen at the card's URL: it stays the same as long as that does.
    /// `page` is the hash of the delivered text.
    pub(crate) fn seen(&self, page: Option<&str>) -> String {
        let link = &self.link;
        let state = format!("{:?} {:?}", link.state, link.status);
        let found = link.found.as_deref().or(link.url.as_deref()).unwrap_or_default();
        let mut hash = Sha256::new();
        for part in [state.as_str(), found, page.unwrap_or_default()] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hex::encode(hash.finalize())
    }
}

/// An examined card: the report, and a draft that would correct the card.
#[derive(Clone, Debug, PartialEq)]
pub struct Examined {
    /// The report.
    pub report: Report,
    /// The suggested changes.
    pub draft: Option<Draft>,
}
