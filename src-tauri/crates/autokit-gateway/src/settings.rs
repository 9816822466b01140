//! The parameters of sessions, each with the reason for its default.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Upper limit of [`Settings::rerank_ms`]: agents give a call up after about a minute.
pub const MAX_RERANK_MS: u64 = 30_000;

/// Parameters of everything a session keeps (Kaman, sections 2 and 6–8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(rename = "SessionSettings")]
pub struct Settings {
    /// Tools a search binds at most. The paper's limit: more would fill the context by one search.
    pub results: usize,
    /// Minimum score of a result. Scores are comparable between queries; the best card of a library without a
    /// suitable one usually scores lower.
    pub threshold: f32,
    /// Most milliseconds a language model, if one is chosen, may take to rerank the results of a search, up to
    /// [`MAX_RERANK_MS`]; 0 for none. Twenty scores are about 200 tokens, and an agent loses more by calling the wrong tool.
    #[ts(type = "number")]
    pub rerank_ms: u64,
    /// Most discovered tools of a session. Sessions in the paper use 5–8; half as many more leave room for a
    /// change of subject before a tool in use is evicted.
    pub capacity: usize,
    /// Seconds without use after which a tool may be evicted: longer than one task, shorter than a day.
    #[ts(type = "number")]
    pub ttl_secs: u64,
    /// Names or ids of tools that every session has from the start and that are never evicted.
    pub always: Vec<String>,
    /// Most tools that a session gets because past sessions of its profile called them; 0 for none. Off unless
    /// `autokit eval sessions` shows that it spares searches on a person's own sessions.
    pub preload: usize,
    /// Percent of the budget for tools that is left when the results of calls have filled the context; the budget shrinks
    /// towards it as they do. 100 keeps the budget whatever the session has read.
    pub full_context_percent: u32,
    /// Size of the model's context in tokens (C_max in equation 1): the minimum of common models.
    pub context_tokens: u32,
    /// Tokens reserved for everything but tools (C_reserved). With the default context this leaves 16,000.
    pub reserved_tokens: u32,
    /// Most tokens of the response to a search; further results are shortened, which a note says. Together
    /// with the tools every session has, this is less than in the paper for any size of library.
    pub reply_tokens: u32,
    /// Most tokens of the discovered tools in the list of a session. Earlier ones are then listed without
    /// explanations, which the response to their search contained.
    pub listed_tokens: u32,
    /// Most sessions; the one idle longest is removed first.
    pub sessions: usize,
    /// Seconds without use after which a session expires: a day, so that a session left in the evening
    /// continues in the morning.
    #[ts(type = "number")]
    pub session_secs: u64,
    /// Parameters of loop detection.
    pub guard: GuardSettings,
    /// Number of latest searches compared, to detect one that finds the same again.
    pub recent_searches: usize,
    /// Seconds for which a search is compared.
    #[ts(type = "number")]
    pub search_secs: u64,
    /// Share of common results (of the union) from which a search counts as a repetition.
    pub overlap: f32,
}

/// Parameters of the iteration guard (section 7.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct GuardSettings {
    /// Number of calls of one tool with the same arguments within the time window that count as a loop. Two
    /// may be a retry.
    pub repeats: usize,
    /// Length of the time window in seconds.
    #[ts(type = "number")]
    pub window_secs: u64,
    /// The same among the latest calls, however long they take: detects two tools called alternately.
    pub window_repeats: usize,
    /// Calls in that sliding window.
    pub window_calls: usize,
    /// Most calls remembered: with more calls in between, repeated calls are not a loop.
    pub remembered: usize,
    /// As `repeats`, for calls that failed in transit, which may be retried for a while.
    pub failures: usize,
    /// Tools that may be called with the same arguments any number of times, because their results change.
    pub exempt: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            results: 5,
            threshold: 0.2,
            rerank_ms: 2_000,
            capacity: 12,
            ttl_secs: 30 * 60,
            always: Vec::new(),
            preload: 0,
            full_context_percent: 100,
            context_tokens: 128_000,
            reserved_tokens: 112_000,
            reply_tokens: 800,
            listed_tokens: 600,
            sessions: 1_000,
            session_secs: 24 * 60 * 60,
            guard: GuardSettings::default(),
            recent_searches: 5,
            search_secs: 10 * 60,
            overlap: 0.7,
        }
    }
}

impl Default for GuardSettings {
    fn default() -> GuardSettings {
        GuardSettings {
            repeats: 3,
            window_secs: 60,
            window_repeats: 3,
            window_calls: 10,
            remembered: 50,
            failures: 6,
            exempt: ["search_tools", "get_time", "docs_search", "report_outcome"].map(str::to_owned).to_vec(),
        }
    }
}

impl Settings {
    /// Returns the parameters for a session that has read results of this many tokens: the budget for tools, and with it
    /// the number of tools, follow what remains of the context.
    #[must_use]
    pub fn for_remaining(&self, result_tokens: u64) -> Settings {
        let left = u64::from(self.full_context_percent.min(100));
        if left == 100 || self.reserved_tokens == 0 {
            return self.clone();
        }
        // What is reserved for everything but tools is what results fill.
        let filled = result_tokens.min(u64::from(self.reserved_tokens));
        let percent = 100 - (100 - left) * filled / u64::from(self.reserved_tokens);
        let budget = u64::from(self.budget()) * percent / 100;
        Settings {
            reserved_tokens: self.context_tokens.saturating_sub(budget as u32),
            capacity: (self.capacity * percent as usize).div_ceil(100).max(1),
            ..self.clone()
        }
    }

    /// Returns the tokens all bound tools may cost together: B in equation 1.
    pub fn budget(&self) -> u32 {
        self.context_tokens.saturating_sub(self.reserved_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_follows_what_remains_of_the_context() {
        let settings = Settings { full_context_percent: 25, ..Settings::default() };
        assert_eq!(settings.for_remaining(0), settings);
        let half = settings.for_remaining(56_000);
        assert_eq!((half.budget(), half.capacity), (10_080, 8));
        let full = settings.for_remaining(1_000_000);
        assert_eq!((full.budget(), full.capacity), (4_000, 3));
        assert_eq!(Settings::default().for_remaining(1_000_000), Settings::default());
    }
}
