//! Results of examining a card.

use autokit_pages::PageFeatures;
use autokit_toolcard::{CardState, Draft};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ts_rs::TS;

use crate::claims::Claim;
use crate::condition::Condition;
use crate::link::LinkHealth;

/// Judgement whether a page is about a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Judgement {
    /// Whether it is.
    pub about: bool,
    /// Condition of the page.
    pub condition: Condition,
    /// The reason for people, in one sentence.
    pub why: String,
    /// A quote from the page that shows it.
    pub quote: String,
    /// Probability that the page documents this tool, 0 to 1.
    pub score: f32,
    /// The page features behind the score.
    pub marks: PageFeatures,
}

/// What GitHub knows about the repository of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RepositoryNote {
    /// `owner/name`.
    pub full_name: String,
    /// Its page.
    pub url: String,
    /// Number of stars.
    #[ts(type = "number")]
    pub stars: u64,
    /// SPDX identifier of its license.
    pub license: Option<String>,
    /// Topics that its owner chose.
    pub topics: Vec<String>,
    /// Tag of its newest release.
    pub release: Option<String>,
    /// When it was last changed, RFC 3339.
    pub changed_at: Option<String>,
    /// Whether it is archived, and thus no longer maintained.
    pub archived: bool,
}

/// A page that was scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ScoredPage {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Probability that it documents this tool, 0 to 1.
    pub score: f32,
    /// The page features behind the score.
    pub marks: PageFeatures,
    /// The reason for people, in one sentence.
    pub why: String,
}

/// Result of searching for another page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PageSearchOutcome {
    /// The right page was found.
    Found {
        /// The page.
        page: ScoredPage,
    },
    /// No page documents this tool any more; similar pages document other tools.
    Gone,
    /// Some pages may be right, none clearly.
    Unsure,
    /// The search worked but found no pages.
    NothingFound,
    /// No search service is chosen, so nothing is known about other pages.
    NoSearch,
    /// Every search failed, so nothing is known about other pages.
    SearchFailed {
        /// The error of one service.
        why: String,
    },
}

impl PageSearchOutcome {
    /// Returns whether a search took place, so that something is known about other pages.
    fn is_known(&self) -> bool {
        !matches!(self, PageSearchOutcome::NoSearch | PageSearchOutcome::SearchFailed { .. })
    }
}

/// Everything one examination found out about a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Report {
    /// State of the card.
    pub state: CardState,
    /// Health of its link.
    pub link: LinkHealth,
    /// Whether the page there is about the tool, if there is a page.
    pub page: Option<Judgement>,
    /// The card's claims, checked against its page or the page that was found for it.
    pub claims: Vec<Claim>,
    /// Result of searching for another page, if that was done.
    pub search: Option<PageSearchOutcome>,
    /// The pages that were scored, best first.
    pub candidates: Vec<ScoredPage>,
    /// Consecutive failures to reach the page, including this one.
    pub attempts: u32,
    /// Set when there was no network; the other fields then mean nothing.
    pub offline: bool,
    /// Whether the page shows more code than is parsed; the rest was not checked.
    #[serde(default)]
    pub cut: bool,
    /// What GitHub knows about the tool's repository; `null` if that was not looked up.
    #[serde(default)]
    pub repository: Option<RepositoryNote>,
    /// Who judged: `rules`, or `rules` and a model's name.
    pub judged_by: String,
}

impl Report {
    /// Whether the report determines the state of the card. If the page could not be fetched, or no other
    /// page could be searched for, the earlier result still holds.
    pub fn is_judged(&self) -> bool {
        let sought = self.search.as_ref().is_none_or(PageSearchOutcome::is_known);
        !self.offline && self.state != CardState::Unreachable && sought
    }

    /// Returns a hexadecimal hash of what was seen at the card's URL: it stays the same as long as that does.
    /// `page` is the hash of the delivered text.
    pub(crate) fn page_fingerprint(&self, page: Option<&str>) -> String {
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
pub struct Examination {
    /// The report.
    pub report: Report,
    /// The suggested changes.
    pub draft: Option<Draft>,
}
