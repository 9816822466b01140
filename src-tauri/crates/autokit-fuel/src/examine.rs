//! Examining a card: visit, judge, hold every field against the page, seek another page if need be.

use std::sync::Arc;
use std::time::Duration;

use autokit_toolcard::{
    CardId, Draft, Evidence, Origin, PageCandidate, ProposedField, Toolcard, Visit, fields,
};
use serde_json::Value;

use crate::Fuel;
use crate::claims::{Claim, claims};
use crate::condition::{Condition, condition};
use crate::error::{Error, Result};
use crate::link::{LinkHealth, LinkState};
use crate::reading::{Reading, read};
use crate::report::{CardState, Examined, Judgement, Outcome, Report, Weighed};
use crate::seek::{Candidate, rank, without_fragment};
use crate::subject::Subject;

/// A page that is this likely the right one is taken. From 0.5 on the right ones are; up to 0.6 so are
/// two in five hundred that only look like it.
const SURE: f32 = 0.6;
/// What it counts for a page that the card names it already, as logarithm of the odds.
const NAMED_BY_THE_CARD: f32 = 1.5;
/// A page that may be meant, for a person to look at.
const POSSIBLE: f32 = 0.15;
/// An answer this recent shows that there is a network.
const LATELY: Duration = Duration::from_mins(5);
/// Candidates kept in a report.
const SHOWN: usize = 5;

/// A card to be examined.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// Its id.
    pub id: &'a CardId,
    /// Its revision.
    pub revision: u32,
    /// It.
    pub card: &'a Toolcard,
    /// Failures to reach its page in a row, so far.
    pub attempts: u32,
    /// The time, RFC 3339 in UTC.
    pub now: &'a str,
}

impl Fuel {
    /// Examines a card.
    ///
    /// # Errors
    /// When the embedding model fails. What sites do is part of the report.
    pub async fn examine(&self, case: &Case<'_>) -> Result<Examined> {
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
            judged_by: "rules".to_owned(),
        };
        let mut current: Option<Candidate> = None;
        if let Some(url) = &subject.documentation {
            // Always asked anew: what it answered a day ago is what is in question.
            let visit = read(&self.fetcher, self.senses.as_ref(), url, self.patience).await?;
            report.link = LinkHealth::of(url, &visit);
            if report.link.state == LinkState::Closed {
                report.state = CardState::Unreachable;
                return Ok(Examined { report, draft: None });
            }
            if report.link.is_temporary() {
                // Without a network no page answers, and that says nothing about any of them.
                if report.link.status.is_none() && !self.online().await {
                    report.state = CardState::Unreachable;
                    report.attempts = case.attempts;
                    report.offline = true;
                    return Ok(Examined { report, draft: None });
                }
                report.attempts = case.attempts + 1;
                if report.attempts < self.attempts {
                    report.state = CardState::Unreachable;
                    return Ok(Examined { report, draft: None });
                }
            }
            if let (LinkState::Delivered, Ok(page)) = (report.link.state, visit) {
                let mut candidate = Candidate::of(&subject, vector, page);
                let judgement = judge(&report.link, &candidate);
                if judgement.about && candidate.marks.code > 0.0 {
                    report.page = Some(judgement);
                    return Ok(self.held_against(case, &subject, report, &candidate, false));
                }
                if judgement.condition == Condition::Content && !report.link.led_home() {
                    candidate.logit += NAMED_BY_THE_CARD;
                    current = Some(candidate);
                }
                report.page = Some(judgement);
            }
        }
        let here = current.as_ref().map(|page| page.page.fetched.url.clone());
        let mut found: Vec<Candidate> = current.into_iter().collect();
        let urls = self.searched(&subject).await;
        self.weigh(&subject, vector, &urls, &mut found).await?;
        rank(&mut found);
        if found.first().is_none_or(|best| best.score < SURE) {
            let urls = self.relatives(&subject).await?;
            self.weigh(&subject, vector, &urls, &mut found).await?;
            rank(&mut found);
        }
        report.candidates = found.iter().take(SHOWN).map(Candidate::weighed).collect();
        let best = found.first().filter(|best| best.score >= SURE).cloned();
        if let Some(best) = best {
            // It may well be the card's own page with new names in its code.
            let moved = here.as_ref() != Some(&best.page.fetched.url);
            if moved {
                report.search = Some(Outcome::Found { page: best.weighed() });
            } else if let Some(page) = &mut report.page {
                page.about = true;
                page.why = best.marks.why();
                page.score = best.score;
            }
            return Ok(self.held_against(case, &subject, report, &best, moved));
        }
        if let Some(page) = &mut report.page {
            page.about = false;
        }
        let possible = found.first().is_some_and(|best| best.score >= POSSIBLE);
        report.search = Some(match (possible, found.is_empty()) {
            (true, _) => Outcome::Unsure,
            (false, false) => Outcome::Gone,
            (false, true) => Outcome::NothingFound,
        });
        Ok(Examined { report, draft: None })
    }

    /// Whether there is a network: something answered lately, or a search service does now.
    async fn online(&self) -> bool {
        if self.fetcher.answered_within(LATELY) {
            return true;
        }
        for provider in &self.providers {
            if provider.search("documentation", 1).await.is_ok() {
                return true;
            }
        }
        false
    }

    async fn vector(&self, subject: &Subject) -> Result<Option<Vec<f32>>> {
        let Some(senses) = self.senses.clone() else { return Ok(None) };
        let passage = subject.passage();
        tokio::task::spawn_blocking(move || senses.passages(&[passage]))
            .await
            .map_err(|error| Error::Senses(format!("the model broke off: {error}")))?
            .map(|vectors| vectors.into_iter().next())
            .map_err(Error::Senses)
    }

    /// Holds the card's fields against its page, or against the page found for it.
    fn held_against(
        &self,
        case: &Case<'_>,
        subject: &Subject,
        mut report: Report,
        page: &Candidate,
        moved: bool,
    ) -> Examined {
        report.claims = claims(subject, &page.marks, &page.page);
        let contradicted = report.claims.iter().any(Claim::is_contradicted);
        let essential = |claim: &Claim| {
            [fields::NAME, fields::MODULE, fields::CLASS, fields::DESCRIPTION].contains(&claim.field.as_str())
        };
        let supported = report.claims.iter().filter(|claim| essential(claim)).all(Claim::is_supported);
        report.state = match (moved, contradicted, supported) {
            (true, _, _) => CardState::Broken,
            (false, false, true) => CardState::Verified,
            (false, _, _) => CardState::Stale,
        };
        let draft = draft(case, &report, &page.page, moved);
        Examined { report, draft }
    }
}

impl Candidate {
    fn weighed(&self) -> Weighed {
        Weighed {
            url: self.page.fetched.url.clone(),
            title: self.page.document.title.clone(),
            score: self.score,
            marks: self.marks.clone(),
            why: self.marks.why(),
        }
    }
}

/// Whether a page is about the tool of a card, as far as the page alone can tell.
fn judge(link: &LinkHealth, page: &Candidate) -> Judgement {
    let (condition, quote) = condition(&page.page);
    let shown = page.marks.code > 0.0;
    let about = shown || (condition == Condition::Content && !link.led_home() && page.score >= SURE);
    let why = match condition {
        _ if about => page.marks.why(),
        Condition::NotFound => "the page says that there is nothing at this address".to_owned(),
        Condition::Parked => "the page is an advertisement".to_owned(),
        Condition::Empty => "there is next to no text on the page".to_owned(),
        Condition::Content if link.led_home() => "the address leads to the start of the site".to_owned(),
        Condition::Content => format!("the page is about something else: {}", page.page.document.title),
    };
    Judgement { about, condition, why, quote, score: page.score, marks: page.marks.clone() }
}

/// What should change, each with the words of the page.
fn draft(case: &Case<'_>, report: &Report, page: &Arc<Reading>, moved: bool) -> Option<Draft> {
    let evidence = |quote: &str| Evidence {
        chain: page
            .fetched
            .hops
            .iter()
            .map(|hop| Visit { url: hop.url.clone(), status: hop.status })
            .collect(),
        ..Evidence::new(&page.fetched.url, quote, case.now)
    };
    let mut proposed: Vec<ProposedField> = Vec::new();
    let mut add = |field: &str, value: Value, quote: &str, confidence: f32| {
        proposed.push(ProposedField {
            field: field.to_owned(),
            value: Some(value),
            evidence: vec![evidence(quote)],
            confidence,
        });
    };
    for claim in &report.claims {
        if let Some(value) = claim.value.clone().filter(|_| claim.is_contradicted()) {
            add(&claim.field, value, &claim.quote, claim.confidence);
        }
    }
    if moved {
        let score = report.candidates.first().map_or(0.5, |best| best.score);
        let url = without_fragment(&page.fetched.url);
        add(fields::DOCUMENTATION, Value::from(url), &page.document.page_title, score);
    }
    if proposed.is_empty() {
        return None;
    }
    let reason = if moved {
        format!(
            "Its page is not to be had ({}); this one documents it: {}",
            report.why_broken(),
            page.fetched.url
        )
    } else {
        let names: Vec<&str> = proposed.iter().map(|field| field.field.as_str()).collect();
        format!("The documentation says otherwise: {}", names.join(", "))
    };
    Some(Draft {
        card: Some(case.id.clone()),
        base: Some(case.revision),
        origin: if moved { Origin::Repair } else { Origin::Refresh },
        reason,
        fields: proposed,
        similar: Vec::new(),
        basis: Some(page.hash.clone()),
        candidates: report
            .candidates
            .iter()
            .filter(|candidate| candidate.url != page.fetched.url)
            .map(|candidate| PageCandidate {
                url: candidate.url.clone(),
                title: candidate.title.clone(),
                score: candidate.score,
                why: candidate.why.clone(),
            })
            .collect(),
    })
}

impl Report {
    /// What is wrong with the card's page, in a sentence.
    pub fn why_broken(&self) -> String {
        match &self.page {
            Some(page) if !page.about => page.why.clone(),
            _ => self.link.said.clone(),
        }
    }
}
