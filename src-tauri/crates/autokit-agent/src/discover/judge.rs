//! Decides whether a page answers a need.

use autokit_pages::PageFeature;

use super::Finding;

/// Least rank (by words and meaning) of the best candidate to count as an answer.
///
/// The page features (its address, its code) tell which of several pages documents the tool, not whether any
/// does: they gave 18 of 100 points to every page of a tool. By rank alone, nearly all of the right pages for
/// 30 needs that name no product reach 0.34, as do pages for 4 of 35 needs that no page answers; between 0.33
/// and 0.38 neither count changes by more than two.
const MIN_RANK: f32 = 0.34;
/// How much lower candidates after a good best one may rank.
const RANK_MARGIN: f32 = 0.1;
/// As [`MIN_RANK`] when the need names the product and the page is about it.
const MIN_RANK_NAMED: f32 = 0.2;
/// Least rank of a page whose tool may be used in place of one that does not exist. It is proposed as such, and only
/// where nothing else was found.
const MIN_RANK_SUBSTITUTE: f32 = 0.24;
/// Candidates whose score is this far behind the best are about something else.
const SCORE_MARGIN: f32 = 0.2;

/// Returns how many of the findings, which are sorted best first, are good enough to return.
pub(super) fn good_enough(findings: &[Finding]) -> usize {
    let good = |finding: &Finding, slack: f32| {
        let marks = &finding.marks;
        !marks.has(PageFeature::Another)
            && marks.get(PageFeature::Rank)
                >= if marks.has(PageFeature::TheNamed) { MIN_RANK_NAMED } else { MIN_RANK - slack }
    };
    let Some(best) = findings.first().filter(|best| good(best, 0.0)) else { return 0 };
    findings
        .iter()
        .take_while(|finding| good(finding, RANK_MARGIN) && finding.score >= best.score - SCORE_MARGIN)
        .count()
}

/// Whether the tool of a page may be used in place of one that was not found.
pub(super) fn may_substitute(finding: &Finding) -> bool {
    let marks = &finding.marks;
    !marks.has(PageFeature::Another) && marks.get(PageFeature::Rank) >= MIN_RANK_SUBSTITUTE
}
