//! Notices an agent that calls the same tool with the same arguments over and over (Kaman, section 7).
//!
//! A call is never blocked: it runs and its result counts. What goes is the tool, afterwards, so that the
//! agent has to think again before it can go on.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::settings::GuardSettings;

/// What came of a call, as far as loops are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It came to its tool and back, with whatever result.
    Answered,
    /// It failed on its way: to try again is right, for a while.
    Failed,
}

/// How a loop was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loop {
    /// The same call so many times within the time window.
    Time {
        /// How many.
        calls: usize,
        /// Length of the window in seconds.
        secs: u64,
    },
    /// The same call so many times among the latest ones.
    Window {
        /// How many.
        calls: usize,
        /// Among how many.
        of: usize,
    },
}

impl Loop {
    /// How often the call was made.
    pub fn calls(self) -> usize {
        match self {
            Loop::Time { calls, .. } | Loop::Window { calls, .. } => calls,
        }
    }
}

/// The latest calls of one session, oldest first: as many as the settings say, so that an agent in a
/// hurry does not make it grow.
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
    /// Notes a call that came to its end, `mark` being [`crate::arguments::mark`] of it. Says if it is part
    /// of a loop; then the tool's calls are forgotten, so that it starts anew when it is found again.
    pub fn note(
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
        let in_turn = self.latest.iter().rev().filter(|call| !call.failed).take(settings.window_calls);
        let (of, among) =
            in_turn.fold((0, 0), |(of, among), call| (of + 1, among + usize::from(call.mark == mark)));
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

    /// Forgets what was called before: the tool was found again, on purpose.
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

    /// Makes calls a second apart; gives the first that was part of a loop, counted from 1.
    fn first_loop(calls: &str, apart: i64, settings: &GuardSettings) -> Option<(usize, Loop)> {
        let mut guard = Guard::default();
        calls.chars().enumerate().find_map(|(index, tool)| {
            let tool = tool.to_string();
            let noted = guard.note(settings, &tool, &tool, Outcome::Answered, at(index as i64 * apart));
            noted.map(|found| (index + 1, found))
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
    fn two_calls_in_turn_are_a_loop_however_slow() {
        let settings = GuardSettings::default();
        assert_eq!(first_loop("ABABAB", 1, &settings).map(|(call, _)| call), Some(5));
        assert_eq!(first_loop("ABABAB", 600, &settings), Some((5, Loop::Window { calls: 3, of: 5 })));
        // Ten other calls in between: it is not stuck.
        assert_eq!(first_loop("ABCDEFGHIJKABCDEFGHIJKABCDEFGHIJK", 600, &settings), None);
    }

    #[test]
    fn to_try_again_is_right_for_a_while() {
        let settings = GuardSettings::default();
        let mut guard = Guard::default();
        let mut note = |outcome, second| guard.note(&settings, "a", "m", outcome, at(second));
        for second in 0..5 {
            assert_eq!(note(Outcome::Failed, second), None, "{second}");
        }
        // Then it worked, and is asked twice.
        assert_eq!(note(Outcome::Answered, 6), None);
        assert_eq!(note(Outcome::Answered, 7), None);
        assert_eq!(note(Outcome::Failed, 8), Some(Loop::Time { calls: 6, secs: 60 }));
    }

    #[test]
    fn exempt_tools_and_old_calls_do_not_count() {
        // Only the time window.
        let mut settings = GuardSettings { window_repeats: usize::MAX, ..GuardSettings::default() };
        assert_eq!(first_loop("AAAA", 61, &settings), None);
        settings.exempt.push("A".to_owned());
        assert_eq!(first_loop("AAAAAAAA", 1, &settings), None);
    }

    #[test]
    fn what_is_found_again_starts_anew_and_nothing_piles_up() {
        let settings = GuardSettings::default();
        let mut guard = Guard::default();
        let mut note = |tool: &str, mark: &str, second| {
            guard.note(&settings, tool, mark, Outcome::Answered, at(second)).is_some()
        };
        assert_eq!([note("a", "1", 0), note("a", "1", 1), note("a", "1", 2)], [false, false, true]);
        // The loop was told once; then counting begins again.
        assert_eq!([note("a", "1", 3), note("a", "1", 4), note("a", "1", 5)], [false, false, true]);
        for second in 0..1_000 {
            note("b", &second.to_string(), second * 10);
        }
        assert_eq!(guard.latest.len(), settings.remembered);
    }
}
