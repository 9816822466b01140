//! One ranking of what several libraries found.
//!
//! Scores are sums of cosine and keyword evidence on fixed scales ([`crate::fusion`]), and not normalised within a
//! library or a list of hits. So those of libraries with the same model are compared as they are.

use crate::fusion::to_score;

/// Returns the score of a tool that is in no library, from its cosine with the request and other evidence in units of
/// cosine.
pub fn score_of_evidence(evidence: f32) -> f32 {
    to_score(evidence)
}

/// A hit and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored<T> {
    /// Between 0 and 1.
    pub score: f32,
    /// What was found.
    pub item: T,
}

/// Returns the best of what several libraries found, best first. Each library's hits keep their order; of equal scores,
/// those of an earlier library come first.
pub fn merge<T>(libraries: Vec<Vec<Scored<T>>>, limit: usize) -> Vec<T> {
    let mut rest: Vec<_> = libraries.into_iter().map(|hits| hits.into_iter().peekable()).collect();
    let mut merged = Vec::new();
    while merged.len() < limit {
        let mut best: Option<(usize, f32)> = None;
        for (library, hits) in rest.iter_mut().enumerate() {
            let Some(hit) = hits.peek() else { continue };
            if best.is_none_or(|(_, score)| hit.score > score) {
                best = Some((library, hit.score));
            }
        }
        let Some(hit) = best.and_then(|(library, _)| rest[library].next()) else { break };
        merged.push(hit.item);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_a_library_is_kept_and_the_first_of_equals_wins() {
        let scored = |hits: &[(f32, &'static str)]| {
            hits.iter().map(|&(score, item)| Scored { score, item }).collect::<Vec<_>>()
        };
        // Cards that a request names may come before others of a higher score.
        let own = scored(&[(0.4, "named"), (0.7, "after it"), (0.1, "last")]);
        let team = scored(&[(0.6, "team"), (0.4, "second")]);
        assert_eq!(
            merge(vec![own.clone(), team.clone()], 9),
            ["team", "named", "after it", "second", "last"]
        );
        assert_eq!(merge(vec![own, team], 2), ["team", "named"]);
        assert!(merge::<u8>(Vec::new(), 3).is_empty());
    }
}
