//! Problems: data that is missing or altered.

use std::fmt;

use autokit_toolcard::{CardId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use autokit_commit_log::MissingCommits;

/// Most problems listed in a report; there can be as many as there are cards.
const MAX_LISTED: usize = 100;

/// Acknowledged data that is missing or was altered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Problem {
    /// The newest commits are missing.
    CommitsMissing {
        /// How many are missing.
        count: u64,
        /// Time of the newest commit that is there, if there is one.
        since: Option<Timestamp>,
    },
    /// The hash chain of the commit log is broken at this commit.
    LogBroken {
        /// Its number.
        commit: u64,
    },
    /// The number of cards is not as recorded.
    CardCount {
        /// The recorded number.
        expected: u64,
        /// The actual number.
        found: u64,
    },
    /// A row is missing.
    RowMissing {
        /// `table:key`.
        row: String,
        /// When it was written, if the log still tells.
        written_at: Option<Timestamp>,
    },
    /// A row is not as it was written.
    RowAltered {
        /// `table:key`.
        row: String,
        /// When it was written, if the log still tells.
        written_at: Option<Timestamp>,
    },
    /// A row belongs to no commit.
    RowUnknown {
        /// `table:key`.
        row: String,
    },
    /// A card differs from its newest revision.
    CardDiffers {
        /// Its id.
        card: CardId,
    },
    /// The head file is missing or cannot be read.
    HeadMissing,
    /// Part of the store cannot be read.
    Unreadable {
        /// The database's error.
        reason: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::CommitsMissing { count: 1, since: None } => write!(f, "the only change is missing"),
            Problem::CommitsMissing { count, since: None } => write!(f, "all {count} changes are missing"),
            Problem::CommitsMissing { count: 1, since: Some(since) } => {
                write!(f, "1 change made after {since} is missing")
            }
            Problem::CommitsMissing { count, since: Some(since) } => {
                write!(f, "{count} changes made after {since} are missing")
            }
            Problem::LogBroken { commit } => write!(f, "the change log is damaged at change {commit}"),
            Problem::CardCount { expected, found } => write!(f, "found {found} cards instead of {expected}"),
            Problem::RowMissing { row, written_at: Some(at) } => write!(f, "{row}, written {at}, is missing"),
            Problem::RowMissing { row, written_at: None } => write!(f, "{row} is missing"),
            Problem::RowAltered { row, written_at: Some(at) } => {
                write!(f, "{row}, written {at}, was altered")
            }
            Problem::RowAltered { row, written_at: None } => write!(f, "{row} was altered"),
            Problem::RowUnknown { row } => write!(f, "{row} does not belong to any change"),
            Problem::CardDiffers { card } => write!(f, "card {card} differs from its newest revision"),
            Problem::HeadMissing => write!(f, "the file `head` is missing or unreadable"),
            Problem::Unreadable { reason } => write!(f, "part of the store cannot be read: {reason}"),
        }
    }
}

/// The result of verifying a library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Verified {
    /// Commits checked.
    pub commits: u64,
    /// Rows compared.
    pub rows: u64,
    /// Cards compared with their newest revision.
    pub cards: u64,
    /// The problems found, at most a hundred.
    pub problems: Vec<Problem>,
    /// Total number of problems.
    pub problem_count: u64,
}

impl Verified {
    pub(crate) fn add(&mut self, problem: Problem) {
        self.problem_count += 1;
        if self.problems.len() < MAX_LISTED {
            self.problems.push(problem);
        }
    }

    /// Whether everything is as acknowledged.
    pub fn is_ok(&self) -> bool {
        self.problem_count == 0
    }
}

impl From<MissingCommits> for Problem {
    fn from(loss: MissingCommits) -> Problem {
        Problem::CommitsMissing { count: loss.last - loss.first + 1, since: loss.since }
    }
}
