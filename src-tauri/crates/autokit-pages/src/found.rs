//! What search services found for several queries, as one list.

use std::collections::HashMap;

use autokit_web::search::Hit;

/// Added to a rank before it is inverted: pages several queries agree on go before the first of one.
const RANK_OFFSET: f32 = 10.0;

/// Pages that were found, each once, by reciprocal rank fusion: a page is worth the sum of 1 / (10 + rank)
/// over the lists it stands in. Addresses are without fragment.
#[derive(Debug, Default)]
pub struct FoundPages {
    /// In the order they came.
    hits: Vec<Hit>,
    at: HashMap<String, usize>,
    worth: Vec<f32>,
}

impl FoundPages {
    /// Takes the results of one query at one service in, best first.
    pub fn add(&mut self, hits: Vec<Hit>) {
        for (rank, mut hit) in hits.into_iter().enumerate() {
            hit.url = without_fragment(&hit.url);
            let at = *self.at.entry(hit.url.clone()).or_insert_with(|| {
                self.hits.push(hit);
                self.worth.push(0.0);
                self.hits.len() - 1
            });
            self.worth[at] += 1.0 / (RANK_OFFSET + rank as f32);
        }
    }

    /// What was found at an address, as the first query showed it.
    pub fn get(&self, url: &str) -> Option<&Hit> {
        self.at.get(url).map(|at| &self.hits[*at])
    }

    /// What a page is worth; 0 for one that was not found.
    pub fn worth(&self, url: &str) -> f32 {
        self.at.get(url).map_or(0.0, |at| self.worth[*at])
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// All of them, those worth most first, equals in the order they came.
    pub fn best(&self) -> Vec<&Hit> {
        let mut order: Vec<usize> = (0..self.hits.len()).collect();
        order.sort_by(|a, b| self.worth[*b].total_cmp(&self.worth[*a]));
        order.into_iter().map(|at| &self.hits[at]).collect()
    }
}

/// An address without what names a place on its page.
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
    fn what_queries_agree_on_goes_before_the_first_of_one() {
        let mut found = FoundPages::default();
        assert!(found.is_empty());
        found.add(hits(&["https://a/", "https://b/#one", "https://c/"]));
        found.add(hits(&["https://d/", "https://b/#two", "https://c/"]));
        let best: Vec<&str> = found.best().into_iter().map(|hit| hit.url.as_str()).collect();
        assert_eq!(best, ["https://b/", "https://c/", "https://a/", "https://d/"]);
        assert!((found.worth("https://b/") - 2.0 / 11.0).abs() < 1e-6);
        assert_eq!((found.worth("https://e/"), found.get("https://b/").is_some()), (0.0, true));
    }
}
