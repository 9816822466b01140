//! Merges what search services found for several queries into one list.

use std::collections::HashMap;

use autokit_web::search::Hit;

/// Added to each rank before inverting it, so that pages found by several queries come before the first
/// result of only one.
const RANK_OFFSET: f32 = 10.0;

/// Pages found, each once, ranked by reciprocal rank fusion: a page's value is the sum of 1 / (10 + rank)
/// over the lists it is in. URLs have no fragment.
#[derive(Debug, Default)]
pub struct FusedHits {
    /// In the order they were added.
    hits: Vec<Hit>,
    index: HashMap<String, usize>,
    rrf_score: Vec<f32>,
}

impl FusedHits {
    /// Adds the results of one query to one service, best first.
    pub fn add(&mut self, hits: Vec<Hit>) {
        for (rank, mut hit) in hits.into_iter().enumerate() {
            hit.url = without_fragment(&hit.url);
            let at = *self.index.entry(hit.url.clone()).or_insert_with(|| {
                self.hits.push(hit);
                self.rrf_score.push(0.0);
                self.hits.len() - 1
            });
            self.rrf_score[at] += 1.0 / (RANK_OFFSET + rank as f32);
        }
    }

    /// Returns the result for a URL, as first found.
    pub fn get(&self, url: &str) -> Option<&Hit> {
        self.index.get(url).map(|at| &self.hits[*at])
    }

    /// Returns the value of a page; 0 if it was not found.
    pub fn rrf_score(&self, url: &str) -> f32 {
        self.index.get(url).map_or(0.0, |at| self.rrf_score[*at])
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// Returns all results, most valuable first; ties keep the order in which they were added.
    pub fn best(&self) -> Vec<&Hit> {
        let mut order: Vec<usize> = (0..self.hits.len()).collect();
        order.sort_by(|a, b| self.rrf_score[*b].total_cmp(&self.rrf_score[*a]));
        order.into_iter().map(|at| &self.hits[at]).collect()
    }
}

/// Returns a URL without its fragment.
pub fn without_fragment(url: &str) -> String {
    url.split('#').next().unwrap_or(url).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(urls: &[&str]) -> Vec<Hit> {
        urls.iter()
            .map(|url| Hit { title: String::new(), url: (*url).to_owned(), snippet: String::new() })
            .collect()
    }

    #[test]
    fn hits_of_several_queries_rank_before_the_first_hit_of_one() {
        let mut found = FusedHits::default();
        assert!(found.is_empty());
        found.add(hits(&["https://a/", "https://b/#one", "https://c/"]));
        found.add(hits(&["https://d/", "https://b/#two", "https://c/"]));
        let best: Vec<&str> = found.best().into_iter().map(|hit| hit.url.as_str()).collect();
        assert_eq!(best, ["https://b/", "https://c/", "https://a/", "https://d/"]);
        assert!((found.rrf_score("https://b/") - 2.0 / 11.0).abs() < 1e-6);
        assert_eq!((found.rrf_score("https://e/"), found.get("https://b/").is_some()), (0.0, true));
    }
}
