//! The iteration guard: detects an agent that calls the same tool with the same arguments over and over
//! (Kaman, section 7).
//!
//! A call is never blocked: it runs and its result counts. Instead, the tool is evicted afterwards, so that
//! the agent has to reconsider before it can continue.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::settings::GuardSettings;

/// The outcome of a call, as far as it matters for loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The tool responded, with whatever result.
    Answered,
    /// It failed in transit, so it is right to retry for a while.
    Failed,
}

/// How a loop was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loop {
    /// By the number of identical calls within the time window.
    Time {
        /// Number of identical calls.
        calls: usize,
        /// Length of the window in seconds.
        secs: u64,
    },
    /// By the number of identical calls among the latest calls.
    Window {
        /// Number of identical calls.
        calls: usize,
        /// Number of latest calls they are among.
        of: usize,
    },
}

impl Loop {
    /// Returns the number of identical calls.
    pub fn calls(self) -> usize {
        match self {
            Loop::Time { calls, .. } | Loop::Window { calls, .. } => calls,
        }
    }
}

/// The latest calls of one session, oldest first, limited in number so that an agent in a hurry cannot make
/// it grow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    latest: VecDeque<Call>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Call {
    tool: String,
    mark: String,
    at: Timestamp,
    failed: bool,
}

impl Guard {
    /// Records a finished call with its [`crate::arguments::call_digest`] as `mark`. Returns the loop it is
    /// part of, if any; the tool's calls are then forgotten, so that counting starts over when the tool is
    /// found again.
    pub fn record(
        &mut self,
        settings: &GuardSettings,
        tool: &str,
        mark: &str,
        outcome: Outcome,
        now: Timestamp,
    ) -> Option<Loop> {
        if settings.exempt.iter().any(|exempt| exempt == tool) {
            return None;
        }
        let failed = outcome == Outcome::Failed;
        self.latest.push_back(Call { tool: tool.to_owned(), mark: mark.to_owned(), at: now, failed });
        while self.latest.len() > settings.remembered.max(settings.window_calls) {
            self.latest.pop_front();
        }
        let window = settings.window_secs as i64;
        let same = || self.latest.iter().filter(|call| call.mark == mark);
        let recent = || same().filter(|call| now.as_second() - call.at.as_second() <= window);
        let failures = recent().filter(|call| call.failed).count();
        let answered = recent().count() - failures;
        let answered_calls = self.latest.iter().rev().filter(|call| !call.failed).take(settings.window_calls);
        let (of, among) =
            answered_calls.fold((0, 0), |(of, among), call| (of + 1, among + usize::from(call.mark == mark)));
        let found = if answered >= settings.repeats || failures >= settings.failures {
            Some(Loop::Time { calls: answered.max(failures), secs: settings.window_secs })
        } else if !failed && among >= settings.window_repeats {
            Some(Loop::Window { calls: among, of })
        } else {
            None
        };
        if found.is_some() {
            self.forget(tool);
        }
        found
    }

    /// Forgets the calls of a tool, because a search has found it again.
    pub fn forget(&mut self, tool: &str) {
        self.latest.retain(|call| call.tool != tool);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).expect("a time")
    }

    /// Makes calls `apart` seconds apart; returns the first that was part of a loop, counted from 1.
    fn first_loop(calls: &str, apart: i64, settings: &GuardSettings) -> Option<(usize, Loop)> {
        let mut guard = Guard::default();
        calls.chars().enumerate().find_map(|(index, tool)| {
            let tool = tool.to_string();
            let detected = guard.record(settings, &tool, &tool, Outcome::Answered, at(index as i64 * apart));
            detected.map(|found| (index + 1, found))
        })
    }

    #[test]
    fn the_same_call_three_times_is_a_loop() {
        let settings = GuardSettings::default();
        assert_eq!(first_loop("AAA", 1, &settings), Some((3, Loop::Time { calls: 3, secs: 60 })));
        assert_eq!(first_loop("AA", 1, &settings), None);
        assert_eq!(first_loop("ABCDEFGHIJ", 1, &settings), None);
    }

    #[test]
    fn two_alternating_calls_are_a_loop_however_slow() {
        let settings = GuardSettings::default();
        assert_eq!(first_loop("ABABAB", 1, &settings).map(|(call, _)| call), Some(5));
        assert_eq!(first_loop("ABABAB", 600, &settings), Some((5, Loop::Window { calls: 3, of: 5 })));
        // Ten other calls in between: that is not a loop.
        assert_eq!(first_loop("ABCDEFGHIJKABCDEFGHIJKABCDEFGHIJK", 600, &settings), None);
    }

    #[test]
    fn failed_calls_may_be_retried_for_a_while() {
        let settings = GuardSettings::default();
        let mut guard = Guard::default();
        let mut note = |outcome, second| guard.record(&settings, "a", "m", outcome, at(second));
        for second in 0..5 {
            assert_eq!(note(Outcome::Failed, second), None, "{second}");
        }
        // Then it succeeded, twice.
        assert_eq!(note(Outcome::Answered, 6), None);
        assert_eq!(note(Outcome::Answered, 7), None);
        assert_eq!(note(Outcome::Failed, 8), Some(Loop::Time { calls: 6, secs: 60 }));
    }

    #[test]
    fn exempt_tools_and_old_calls_do_not_count() {
        // With the time window only.
        let mut settings = GuardSettings { window_repeats: usize::MAX, ..GuardSettings::default() };
        assert_eq!(first_loop("AAAA", 61, &settings), None);
        settings.exempt.push("A".to_owned());
        assert_eq!(first_loop("AAAAAAAA", 1, &settings), None);
    }

    #[test]
    fn counting_starts_over_after_a_loop_and_memory_is_bounded() {
        let settings = GuardSettings::default();
        let mut guard = Guard::default();
        let mut note = |tool: &str, mark: &str, second| {
            guard.record(&settings, tool, mark, Outcome::Answered, at(second)).is_some()
        };
        assert_eq!([note("a", "1", 0), note("a", "1", 1), note("a", "1", 2)], [false, false, true]);
        // After a loop is reported, counting starts over.
        assert_eq!([note("a", "1", 3), note("a", "1", 4), note("a", "1", 5)], [false, false, true]);
        for second in 0..1_000 {
            note("b", &second.to_string(), second * 10);
        }
        assert_eq!(guard.latest.len(), settings.remembered);
    }
}
