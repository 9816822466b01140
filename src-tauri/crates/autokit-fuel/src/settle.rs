//! Derives the state of a card from its page, and the changes to propose.

use std::sync::Arc;

use autokit_pages::{Page, Result, Subject, run_blocking, without_fragment};
use autokit_toolcard::{
    CardState, Draft, Evidence, Origin, PageCandidate, ProposedField, Timestamp, Visit, fields,
};
use serde_json::Value;

use crate::asks_for;
use crate::claims::{Claim, ClaimVerdict, claims};
use crate::examine::CheckRequest;
use crate::fuel::Fuel;
use crate::improve::{self, Improved};
use crate::report::{Examination, Report};
use crate::repository::topics;
use crate::seek::Candidate;
use crate::usage::{UsageExample, usage};

/// Claims that need support for a card to count as verified, where the card makes them.
const ESSENTIAL: [&str; 4] = [fields::NAME, fields::DESCRIPTION, fields::MODULE, fields::CLASS];

/// What improves a card beside what its page says of its fields.
struct Found {
    improved: Option<Improved>,
    usage: Option<UsageExample>,
}

impl Fuel {
    /// Checks the card's fields against its page, or against the page found for it (`moved`).
    ///
    /// # Errors
    /// [`Error::Embedding`].
    pub(crate) async fn complete_examination(
        &self,
        case: &CheckRequest<'_>,
        subject: &Subject,
        mut report: Report,
        page: &Candidate,
        moved: bool,
    ) -> Result<Examination> {
        let (of, marks, read) = (subject.clone(), page.marks.clone(), Arc::clone(&page.page));
        report.claims = run_blocking(move || Ok(claims(&of, &marks, &read))).await?;
        report.cut = page.page.facts.code.cut;
        if let Some(advisor) = &self.advisor
            && advisor.add_claims(case.card, subject, &page.page, &mut report.claims).await
        {
            report.judged_by = format!("rules and {}", advisor.small.config().model);
        }
        let contradicted = report.claims.iter().any(Claim::is_contradicted);
        let supported = |claim: &Claim| !ESSENTIAL.contains(&claim.field.as_str()) || !claim.is_not_found();
        // Contradicted fields are corrected by the draft.
        let sound = report.claims.iter().all(supported);
        report.state = match (moved, contradicted, sound) {
            (true, _, _) => CardState::Broken,
            (false, false, true) => CardState::Verified,
            (false, _, _) => CardState::Stale,
        };
        let improved =
            if self.improve { self.improve_description(case, subject, &page.page).await? } else { None };
        report.repository = self.repository(case.card, &page.page.fetched.url).await;
        let usage = if self.improve { self.usage_example(case.card).await } else { None };
        let found = Found { improved, usage };
        let draft = self.draft(case, &report, &page.page, moved, sound, &found);
        Ok(Examination { report, draft })
    }

    async fn improve_description(
        &self,
        case: &CheckRequest<'_>,
        subject: &Subject,
        page: &Arc<Page>,
    ) -> Result<Option<Improved>> {
        if let Some(advisor) = &self.advisor
            && let Some(written) = advisor.improve(case.card, page).await
        {
            return Ok(Some(written));
        }
        let (embedder, subject, page) = (self.reader.embedder.clone(), subject.clone(), Arc::clone(page));
        run_blocking(move || improve::by_rules(&subject, &page, embedder.as_deref())).await
    }

    /// Drafts the changes, each with supporting quotes from the page.
    fn draft(
        &self,
        case: &CheckRequest<'_>,
        report: &Report,
        page: &Page,
        moved: bool,
        sound: bool,
        found: &Found,
    ) -> Option<Draft> {
        let improved = found.improved.as_ref();
        let mut proposed: Vec<ProposedField> = Vec::new();
        let mut add = |field: &str, value: Value, quotes: &[&str], confidence: f32| {
            let evidence = quotes.iter().map(|quote| evidence(page, quote, case.now)).collect();
            let field = field.to_owned();
            proposed.push(ProposedField { field, value: Some(value), evidence, confidence });
        };
        for claim in &report.claims {
            // A field the card lacks is not an error; it is added along with corrections, or where the card
            // has the field but left it blank.
            let blank = case.card.text(&claim.field).is_some_and(|text| text.trim().is_empty());
            let is_proposed = claim.is_contradicted()
                || claim.standing == ClaimVerdict::Unsaid && (self.improve || moved || blank);
            if let Some(value) = claim.value.clone().filter(|_| is_proposed) {
                add(&claim.field, value, &[claim.quote.as_str()], claim.confidence);
            }
        }
        if moved {
            let score = report.candidates.first().map_or(0.5, |best| best.score);
            let url = without_fragment(&page.fetched.url);
            add(fields::DOCUMENTATION, Value::from(url), &[page.document.page_title.as_str()], score);
        }
        let wrong = moved || report.claims.iter().any(Claim::is_contradicted);
        if let Some(improved) = improved {
            let quotes: Vec<&str> = improved.quotes.iter().map(String::as_str).collect();
            add(fields::DESCRIPTION, Value::from(improved.text.as_str()), &quotes, 0.8);
        }
        let written = improved.map_or(&[][..], |improved| &improved.asks_for);
        if self.improve
            && let Some(longer) = asks_for::with_more(case.card, case.questions, written)
        {
            let quotes: Vec<&str> = longer.quotes.iter().map(String::as_str).collect();
            add(fields::ASKS_FOR, Value::from(longer.phrases), &quotes, 0.7);
        }
        if self.improve
            && let Some(repository) = &report.repository
        {
            proposed.extend(topics(case, repository));
        }
        proposed.extend(found.usage.as_ref().map(|example| usage(example, case.now)));
        // A sound check alone can only restore the mark of a card that says it is not verified. A card that
        // says nothing about it is left as it is: its state is known without the field.
        let denies = case.card.object().get(fields::VERIFIED) == Some(&Value::Bool(false));
        let only_verified = proposed.is_empty();
        if only_verified && !(sound && denies && case.verifies) {
            return None;
        }
        if sound && !case.card.verified() {
            let support = proposed.iter().map(|field| field.confidence).fold(0.95, f32::min);
            let title = evidence(page, &page.document.title, case.now);
            proposed.push(ProposedField {
                field: fields::VERIFIED.to_owned(),
                value: Some(Value::Bool(true)),
                evidence: vec![title],
                confidence: support,
            });
        }
        let names: Vec<&str> = proposed
            .iter()
            .map(|field| field.field.as_str())
            .filter(|field| *field != fields::VERIFIED)
            .collect();
        let (origin, reason) = match (moved, wrong) {
            (true, _) => (
                Origin::Repair,
                format!(
                    "{}; its documentation is at {}",
                    capitalized(&report.why_broken()),
                    page.fetched.url
                ),
            ),
            (false, true) => {
                (Origin::Refresh, format!("Differs from the documentation: {}", names.join(", ")))
            }
            (false, false) if only_verified => {
                (Origin::Refresh, "Its documentation is reachable and matches the card".to_owned())
            }
            (false, false) if names == [fields::TAGS] => {
                (Origin::Improvement, "Its repository has topics".to_owned())
            }
            (false, false) if names == [fields::USAGE] => {
                let repository = found.usage.as_ref().map_or("", |example| example.repository.as_str());
                (Origin::Improvement, format!("{repository} shows how it is used"))
            }
            (false, false) if names == [fields::ASKS_FOR] => {
                (Origin::Improvement, "It was found with other words than it has".to_owned())
            }
            (false, false) => {
                (Origin::Improvement, "The documentation describes it in more detail".to_owned())
            }
        };
        Some(Draft {
            card: Some(case.id.clone()),
            base: Some(case.revision),
            origin,
            reason,
            fields: proposed,
            similar: Vec::new(),
            basis: Some(page.hash.clone()),
            candidates: other_candidates(report, &page.fetched.url),
            arrived: None,
            agreed: Vec::new(),
            before: None,
        })
    }
}

/// Drafts `verified: false` for a card whose page is gone or wrong and for which no other was found. The
/// pages that were scored are included for a person to choose from. `text` is the hash of what its URL
/// delivered, if that was a page.
pub(crate) fn draft_unverified(
    case: &CheckRequest<'_>,
    report: &Report,
    text: Option<&str>,
) -> Option<Draft> {
    if !case.card.verified() {
        return None;
    }
    let link = &report.link;
    let quote = report.page.as_ref().map_or(link.said.as_str(), |page| page.quote.as_str());
    let url = link.found.as_deref().or(link.url.as_deref()).unwrap_or_default();
    let seen = Evidence {
        chain: link.hops.iter().map(|hop| Visit { url: hop.url.clone(), status: hop.status }).collect(),
        ..Evidence::new(url, quote, case.now)
    };
    Some(Draft {
        card: Some(case.id.clone()),
        base: Some(case.revision),
        origin: Origin::Repair,
        reason: format!("{}, and no other page clearly documents it", capitalized(&report.why_broken())),
        fields: vec![ProposedField {
            field: fields::VERIFIED.to_owned(),
            value: Some(Value::Bool(false)),
            evidence: vec![seen],
            confidence: 0.9,
        }],
        similar: Vec::new(),
        // A reviewer's rejection holds for what was seen, not forever.
        basis: Some(report.page_fingerprint(text)),
        candidates: other_candidates(report, ""),
        arrived: None,
        agreed: Vec::new(),
        before: None,
    })
}

fn evidence(page: &Page, quote: &str, now: Timestamp) -> Evidence {
    Evidence {
        chain: page
            .fetched
            .hops
            .iter()
            .map(|hop| Visit { url: hop.url.clone(), status: hop.status })
            .collect(),
        ..Evidence::new(&page.fetched.url, quote, now)
    }
}

/// Returns the pages that were scored and not chosen.
fn other_candidates(report: &Report, taken: &str) -> Vec<PageCandidate> {
    report
        .candidates
        .iter()
        .filter(|candidate| candidate.url != taken)
        .map(|candidate| PageCandidate {
            url: candidate.url.clone(),
            title: candidate.title.clone(),
            score: candidate.score,
            why: candidate.why.clone(),
        })
        .collect()
}

/// Capitalizes a sentence, unless it starts with a URL or host name.
fn capitalized(text: &str) -> String {
    if text.split_whitespace().next().is_some_and(|word| word.contains(['/', '.', ':'])) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::capitalized;

    #[test]
    fn addresses_keep_their_letters() {
        assert_eq!(capitalized("the site returned 404"), "The site returned 404");
        for address in ["https://a.b is larger than 5 MB", "docs.example.org has no valid certificate"] {
            assert_eq!(capitalized(address), address);
        }
    }
}
