//! The parameters of sessions, each with the reason for its default.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Parameters of everything a session keeps (Kaman, sections 2 and 6–8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(rename = "SessionSettings")]
pub struct Settings {
    /// Tools a search binds at most. The paper's limit: more would fill the context by one search.
    pub results: usize,
    /// Score below which a card is no result. Scores are comparable between queries; below this, the
    /// best card of a library that has nothing fitting is usually found.
    pub threshold: f32,
    /// Discovered tools a session keeps. The paper sees sessions settle at 5–8; a half more leaves room
    /// for a change of subject before anything in use has to go.
    pub capacity: usize,
    /// Seconds after which a tool that was not used is let go: longer than one task, shorter than a day.
    #[ts(type = "number")]
    pub ttl_secs: u64,
    /// Names or ids of tools that are there from the start and never let go.
    pub always: Vec<String>,
    /// Tokens a model can read (C_max in equation 1). What common models offer at least.
    pub context_tokens: u32,
    /// Tokens kept for everything but tools (C_reserved). With the default context this leaves 16,000.
    pub reserved_tokens: u32,
    /// Tokens one search may answer with; results beyond are shortened, which the answer says. With the
    /// tools that are always there, this stays below the paper's totals at every size of library.
    pub reply_tokens: u32,
    /// Tokens that discovered tools may cost together in the list of a session. Beyond, those found earlier are
    /// listed without explanations: the answer that found them had them in full. Answer and list together
    /// stay below the paper's totals so.
    pub listed_tokens: u32,
    /// Sessions kept at most; the one that was idle longest goes first.
    pub sessions: usize,
    /// Seconds after which a session nobody used is forgotten: a day, so that one which was left in the
    /// evening goes on in the morning.
    #[ts(type = "number")]
    pub session_secs: u64,
    /// What breaks loops.
    pub guard: GuardSettings,
    /// Searches that are remembered, to notice one that finds the same again.
    pub recent_searches: usize,
    /// Seconds a search is remembered for this.
    #[ts(type = "number")]
    pub search_secs: u64,
    /// Share of common results (of the union) from which a search counts as a repetition.
    pub overlap: f32,
}

/// Parameters of the iteration guard (section 7.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct GuardSettings {
    /// The call that makes it this many of one tool with the same arguments within the time window lets
    /// the tool go. Two may be a retry, three are none.
    pub repeats: usize,
    /// Length of the time window in seconds.
    #[ts(type = "number")]
    pub window_secs: u64,
    /// The same within the latest calls, however long they take: catches two tools called in turn.
    pub window_repeats: usize,
    /// Calls in that sliding window.
    pub window_calls: usize,
    /// Calls that are remembered at most: with more than so many others in between, a call is no loop.
    pub remembered: usize,
    /// As `repeats`, for calls that failed on their way: to try again is right then, though not forever.
    pub failures: usize,
    /// Tools that may be called with the same arguments as often as one likes: they tell what changes.
    pub exempt: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            results: 5,
            threshold: 0.2,
            capacity: 12,
            ttl_secs: 30 * 60,
            always: Vec::new(),
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
    /// Returns the tokens all bound tools may cost together: B in equation 1.
    pub fn budget(&self) -> u32 {
        self.context_tokens.saturating_sub(self.reserved_tokens)
    }
}
