//! The best of many scores, some of which are only known up to a bound.

use std::cmp::Ordering;

/// A key and its score: a row found by [`crate::VectorIndex::top_k`], or a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// The key it was added with.
    pub key: u32,
    /// Cosine with the query, or the score of the card.
    pub score: f32,
}

impl Neighbour {
    /// Orders best first: higher score, then lower key.
    pub(crate) fn order(self, other: Neighbour) -> Ordering {
        other.score.total_cmp(&self.score).then(self.key.cmp(&other.key))
    }
}

/// The keys that may be among the `k` best once their scores are exact.
#[derive(Debug)]
pub(crate) struct TopKCandidates {
    /// The best lower ends.
    best: TopK,
    /// The upper ends of all that reached the last of them when they were added: more than do in the end.
    reaching: Vec<Neighbour>,
}

impl TopKCandidates {
    /// Looks for the `k` best; `k` is at least 1.
    pub(crate) fn new(k: usize) -> TopKCandidates {
        TopKCandidates { best: TopK::new(k), reaching: Vec::new() }
    }

    /// Adds a key whose score is off by at most `bound`.
    #[inline]
    pub(crate) fn add(&mut self, key: u32, score: f32, bound: f32) {
        self.best.push(Neighbour { key, score: score - bound });
        if self.best.threshold.is_none_or(|threshold| score + bound >= threshold.score) {
            self.reaching.push(Neighbour { key, score: score + bound });
        }
    }

    /// Joins what several threads found.
    pub(crate) fn join(parts: impl IntoIterator<Item = TopKCandidates>, k: usize) -> TopKCandidates {
        let mut all = TopKCandidates::new(k);
        for part in parts {
            all.best = all.best.merge(part.best);
            all.reaching.extend(part.reaching);
        }
        all
    }

    /// Returns the keys, in no order.
    pub(crate) fn into_keys(self) -> impl Iterator<Item = u32> {
        let last = self.best.last();
        let is_possible = move |found: &Neighbour| last.is_none_or(|last| found.score >= last);
        self.reaching.into_iter().filter(is_possible).map(|found| found.key)
    }
}

/// The `k` best of many scores, as an unsorted list of up to `2k` that is cut to `k` when full: usually one comparison
/// per score.
#[derive(Debug)]
struct TopK {
    k: usize,
    found: Vec<Neighbour>,
    /// The last of the best, once there are `k`.
    threshold: Option<Neighbour>,
}

impl TopK {
    fn new(k: usize) -> TopK {
        TopK { k, found: Vec::new(), threshold: None }
    }

    #[inline]
    fn push(&mut self, found: Neighbour) {
        if self.threshold.is_some_and(|threshold| found.order(threshold) == Ordering::Greater) {
            return;
        }
        self.found.push(found);
        if self.found.len() >= self.k.saturating_mul(2).max(16) {
            self.truncate();
        }
    }

    fn truncate(&mut self) {
        if self.found.len() > self.k {
            self.found.select_nth_unstable_by(self.k - 1, |a, b| a.order(*b));
            self.found.truncate(self.k);
            self.threshold = self.found.iter().copied().max_by(|a, b| a.order(*b));
        }
    }

    fn merge(mut self, other: TopK) -> TopK {
        for found in other.found {
            self.push(found);
        }
        self
    }

    /// Returns the score of the last of the `k` best; `None` if there are fewer.
    fn last(&self) -> Option<f32> {
        let mut found = self.found.clone();
        if found.len() < self.k {
            return None;
        }
        Some(found.select_nth_unstable_by(self.k - 1, |a, b| a.order(*b)).1.score)
    }
}
