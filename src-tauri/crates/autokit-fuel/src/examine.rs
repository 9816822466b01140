//! Examines a card: visits its page, judges it, checks every field against it, and searches for another page
//! if necessary.

use std::time::Duration;

use autokit_pages::{PageFeature, Result, Subject, run_blocking};
use autokit_toolcard::{CardId, CardState, Timestamp, Toolcard};
use futures_util::future::BoxFuture;

use crate::condition::{Condition, condition};
use crate::fuel::Fuel;
use crate::link::{LinkHealth, LinkState};
use crate::report::{Examination, Judgement, PageSearchOutcome, Report, ScoredPage};
use crate::seek::{Candidate, SearchStatus, rank};
use crate::settle::draft_unverified;

/// Least probability at which a page is accepted as the right one. The right pages have 0.5 or more, but up
/// to 0.6 so do two in five hundred pages that only look right.
const SURE: f32 = 0.6;
/// Log-odds bonus of a page that the card already names.
const NAMED_BY_THE_CARD: f32 = 1.5;
/// Log-odds bonus of a page that a model chose. It decides between plausible pages and does not make an
/// implausible one plausible.
const CHOSEN_BY_A_MODEL: f32 = 1.0;
/// Least probability of a page that is shown to a person as a possibility.
const POSSIBLE: f32 = 0.15;
/// A response within this time shows that the network works.
const RECENT: Duration = Duration::from_mins(5);
/// Most candidates kept in a report.
const SHOWN: usize = 5;

/// A card to examine.
#[derive(Clone, Debug)]
pub struct CheckRequest<'a> {
    /// Its id.
    pub id: &'a CardId,
    /// Its revision number.
    pub revision: u32,
    /// The card.
    pub card: &'a Toolcard,
    /// Consecutive failures to reach its page so far.
    pub attempts: u32,
    /// Whether another failure counts: the last one must be long enough ago, because three requests in one
    /// second do not make a page broken.
    pub counts: bool,
    /// Whether a card with `verified: false` may be proposed as verified merely because the check was sound.
    pub verifies: bool,
    /// Questions that the card answered, newest first, to be added to it when it is improved.
    pub questions: &'a [String],
    /// The current time.
    pub now: Timestamp,
}

impl Fuel {
    /// Examines a card.
    ///
    /// # Errors
    /// Returns an error when the embedding model fails. Failures of sites are part of the report.
    pub fn examine<'a>(&'a self, case: &'a CheckRequest<'a>) -> BoxFuture<'a, Result<Examination>> {
        Box::pin(async move {
            let subject = Subject::of(case.card);
            let vector = self.vector(&subject).await?;
            let vector = vector.as_deref();
            let mut report = Report {
                state: CardState::Broken,
                link: LinkHealth::missing(),
                page: None,
                claims: Vec::new(),
                search: None,
                candidates: Vec::new(),
                attempts: 0,
                offline: false,
                cut: false,
                repository: None,
                judged_by: "rules".to_owned(),
            };
            let mut current: Option<Candidate> = None;
            let mut text: Option<String> = None;
            if let Some(url) = &subject.documentation {
                // Always fetched anew: an earlier response cannot tell whether the page still exists.
                let visit = self.reader.visit(url, self.page_timeout).await?;
                report.link = LinkHealth::of(url, &visit);
                if report.link.state == LinkState::Closed {
                    report.state = CardState::Unreachable;
                    return Ok(Examination { report, draft: None });
                }
                if report.link.is_temporary() {
                    // Without a network no page responds, which says nothing about any of them.
                    if report.link.status.is_none() && !self.online().await {
                        report.state = CardState::Unreachable;
                        report.attempts = case.attempts;
                        report.offline = true;
                        return Ok(Examination { report, draft: None });
                    }
                    report.attempts = (case.attempts + u32::from(case.counts)).max(1);
                    if report.attempts < self.attempts {
                        report.state = CardState::Unreachable;
                        return Ok(Examination { report, draft: None });
                    }
                }
                if let (LinkState::Delivered, Ok(page)) = (report.link.state, visit) {
                    text = Some(page.hash.clone());
                    let mut candidate = Candidate::of(&subject, vector, page).await?;
                    let judgement = judge(&report.link, &candidate);
                    if judgement.about && candidate.marks.has(PageFeature::Code) {
                        report.page = Some(judgement);
                        return self.complete_examination(case, &subject, report, &candidate, false).await;
                    }
                    if judgement.condition == Condition::Content && !report.link.redirected_to_home() {
                        candidate.logit += NAMED_BY_THE_CARD;
                        current = Some(candidate);
                    }
                    report.page = Some(judgement);
                }
            }
            let current_url = current.as_ref().map(|page| page.page.fetched.url.clone());
            let mut found: Vec<Candidate> = current.into_iter().collect();
            let searched = self.search_web(&subject).await;
            self.score_urls(&subject, vector, &searched.urls, &mut found).await?;
            rank(&mut found);
            if certain_match(&found).is_none() {
                let urls = self.related_urls(&subject).await?;
                self.score_urls(&subject, vector, &urls, &mut found).await?;
                rank(&mut found);
            }
            if let Some(advisor) = self.advisor.as_ref().filter(|_| certain_match(&found).is_none()) {
                let search = self.search_with_model(advisor, case.card, &report.why_broken()).await;
                self.score_pages(&subject, vector, search.opened, &mut found).await?;
                if let Some(chosen) = &search.chosen {
                    for page in
                        found.iter_mut().filter(|page| page.has_url(chosen) && page.marks.mention_tool())
                    {
                        page.logit += CHOSEN_BY_A_MODEL;
                    }
                }
                rank(&mut found);
                report.judged_by = format!("rules and {}", advisor.large.config().model);
            }
            report.candidates = found.iter().take(SHOWN).map(Candidate::scored_page).collect();
            if let Some(best) = certain_match(&found) {
                // It may be the card's own page, with new names in its code.
                let moved = current_url.as_ref() != Some(&best.page.fetched.url);
                if moved {
                    report.search = Some(PageSearchOutcome::Found { page: best.scored_page() });
                } else if let Some(page) = &mut report.page {
                    page.about = true;
                    page.why = best.marks.why();
                    page.score = best.score;
                }
                return self.complete_examination(case, &subject, report, best, moved).await;
            }
            if let Some(page) = &mut report.page {
                page.about = false;
            }
            let possible = found.first().is_some_and(|best| best.score >= POSSIBLE);
            report.search = Some(match searched.status {
                // The site's own lists may still show where the page moved, but not that no other page exists.
                SearchStatus::NoService => PageSearchOutcome::NoSearch,
                SearchStatus::Failed(why) => PageSearchOutcome::SearchFailed { why },
                SearchStatus::Answered if possible => PageSearchOutcome::Unsure,
                SearchStatus::Answered if found.is_empty() => PageSearchOutcome::NothingFound,
                SearchStatus::Answered => PageSearchOutcome::Gone,
            });
            if report.page.as_ref().is_some_and(|page| page.condition == Condition::Empty) {
                // A browser may have to render it; an empty page proves nothing.
                report.state = CardState::Unreachable;
                return Ok(Examination { report, draft: None });
            }
            let draft =
                if report.is_judged() { draft_unverified(case, &report, text.as_deref()) } else { None };
            Ok(Examination { report, draft })
        })
    }

    /// Whether the network works; requests this page if nothing responded recently.
    pub async fn can_reach(&self, url: &str) -> bool {
        let answers = async || self.reader.fetcher.get_within(url, self.page_timeout).await.is_ok();
        self.reader.fetcher.responded_within(RECENT) || answers().await || self.can_search().await
    }

    /// Whether the network works: something responded recently, or a search service does now.
    async fn online(&self) -> bool {
        self.reader.fetcher.responded_within(RECENT) || self.can_search().await
    }

    async fn can_search(&self) -> bool {
        for provider in &self.providers {
            if provider.search("documentation", 1).await.is_ok() {
                return true;
            }
        }
        false
    }

    async fn vector(&self, subject: &Subject) -> Result<Option<Vec<f32>>> {
        let Some(embedder) = self.reader.embedder.clone() else { return Ok(None) };
        let passage = subject.passage();
        Ok(run_blocking(move || embedder.passages(&[passage])).await?.into_iter().next())
    }
}

impl Candidate {
    /// Whether this is the page at a URL, before or after redirects.
    fn has_url(&self, url: &str) -> bool {
        let fetched = &self.page.fetched;
        fetched.url == url || fetched.hops.iter().any(|hop| hop.url == url)
    }

    fn scored_page(&self) -> ScoredPage {
        ScoredPage {
            url: self.page.fetched.url.clone(),
            title: self.page.document.title.clone(),
            score: self.score,
            marks: self.marks.clone(),
            why: self.marks.why(),
        }
    }
}

/// Returns the best of the ranked pages if it is certain enough to be the right one.
fn certain_match(found: &[Candidate]) -> Option<&Candidate> {
    found.first().filter(|best| best.score >= SURE)
}

/// Judges whether a page is about a card's tool, from the page alone.
fn judge(link: &LinkHealth, page: &Candidate) -> Judgement {
    let (condition, quote) = condition(&page.page);
    let shown = page.marks.has(PageFeature::Code);
    let about =
        shown || (condition == Condition::Content && !link.redirected_to_home() && page.score >= SURE);
    let why = match condition {
        _ if about => page.marks.why(),
        Condition::NotFound => "the page says it was not found".to_owned(),
        Condition::Parked => "the domain is parked".to_owned(),
        Condition::Empty => {
            "the page has almost no text without JavaScript, so it was not checked".to_owned()
        }
        Condition::Content if link.redirected_to_home() => {
            "the URL redirects to the site's home page".to_owned()
        }
        Condition::Content => format!("the page is about something else: {}", page.page.document.title),
    };
    Judgement { about, condition, why, quote, score: page.score, marks: page.marks.clone() }
}

impl Report {
    /// Explains what is wrong with the card's page, in one sentence.
    pub fn why_broken(&self) -> String {
        match &self.page {
            Some(page) if !page.about => page.why.clone(),
            _ => self.link.said.clone(),
        }
    }
}
