//! Whether a page answers a need.

use autokit_pages::PageMark;

use super::Finding;

/// A first candidate whose words and meaning rank below this is no answer.
///
/// What a page is (its address, its code) says which of several pages is the tool's, not whether any
/// is: 18 of 100 points went to every page of a tool. By the rank alone, of the right pages for 30
/// needs that name no product nearly all reach 0.34, as do 4 of 35 needs no page answers; from 0.33
/// to 0.38 neither count moves by more than two.
const GOOD: f32 = 0.34;
/// Others beside a good first one may rank this much lower.
const SLACK: f32 = 0.1;
/// As [`GOOD`] when the need names the product and the page is about it.
const GOOD_NAMED: f32 = 0.2;
/// Candidates this much behind the first are other things.
const MARGIN: f32 = 0.2;

/// How many of the findings, best first, are handed on.
pub(super) fn good_enough(findings: &[Finding]) -> usize {
    let good = |finding: &Finding, slack: f32| {
        let marks = &finding.marks;
        !marks.has(PageMark::Another)
            && marks.get(PageMark::Rank)
                >= if marks.has(PageMark::TheNamed) { GOOD_NAMED } else { GOOD - slack }
    };
    let Some(best) = findings.first().filter(|best| good(best, 0.0)) else { return 0 };
    findings.iter().take_while(|finding| good(finding, SLACK) && finding.score >= best.score - MARGIN).count()
}
