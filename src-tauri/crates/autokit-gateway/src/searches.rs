//! Detects a search that finds what an earlier one found (Kaman, section 8).

use std::collections::{HashSet, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::settings::Settings;

/// The results of the latest searches of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecentSearches {
    kept: VecDeque<Search>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Search {
    query: String,
    at: Timestamp,
    found: Vec<String>,
}

impl RecentSearches {
    /// Whether no search has found anything yet.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Records a search with the ids it found. Returns the query of an earlier search that found mostly the
    /// same; a search without results repeats none.
    pub fn record(
        &mut self,
        settings: &Settings,
        query: &str,
        found: Vec<String>,
        now: Timestamp,
    ) -> Option<String> {
        let oldest = now.as_second() - settings.search_secs as i64;
        self.kept.retain(|search| search.at.as_second() >= oldest);
        let new: HashSet<&String> = found.iter().collect();
        let repeated = self.kept.iter().rev().find(|search| {
            let old: HashSet<&String> = search.found.iter().collect();
            let both = new.intersection(&old).count();
            let union = new.union(&old).count();
            union > 0 && both as f32 / union as f32 >= settings.overlap
        });
        let repeated = repeated.map(|search| search.query.clone());
        if !found.is_empty() {
            self.kept.push_back(Search { query: query.to_owned(), at: now, found });
        }
        while self.kept.len() > settings.recent_searches {
            self.kept.pop_front();
        }
        repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_with_the_same_results_is_detected() {
        let settings = Settings { recent_searches: 2, search_secs: 100, ..Settings::default() };
        let mut searches = RecentSearches::default();
        let at = |second: i64| Timestamp::from_second(1_700_000_000 + second).expect("a time");
        let mut search = |query: &str, found: &str, second| {
            searches.record(&settings, query, found.chars().map(String::from).collect(), at(second))
        };
        assert_eq!(search("mail", "abcd", 0), None);
        assert_eq!(search("send mail", "abcd", 1).as_deref(), Some("mail"));
        // Three of five are not most.
        assert_eq!(search("letters", "abce", 2), None);
        assert_eq!(search("nothing", "", 3), None);
        assert_eq!(search("nothing again", "", 4), None);
        assert_eq!(search("post", "ecba", 5).as_deref(), Some("letters"));
        assert_eq!(search("calendar", "xyz", 6), None);
        // Only the latest are remembered, and only for a while.
        assert_eq!(search("mail", "abcd", 7), None);
        assert_eq!(search("mail", "abcd", 207), None);
    }
}
