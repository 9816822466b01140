//! What happens, and what comes of it.

use crate::queue::Job;

/// What cores are used for.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Part {
    Notify,
    Quiet,
    Round,
    FirstSync,
    #[default]
    SignIn,
    Write,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A direct edit, or a proposal.
    Edit,
    Accept,
    Comment,
    /// Of a group, from the member of this number.
    Revoke(usize),
}

impl Kind {
    /// Rows of watched tables that it writes. (A revocation writes the member's row twice: itself, and by an event.)
    pub(crate) fn watched(self) -> f64 {
        if self == Kind::Edit { 1.0 } else { 2.0 }
    }

    /// Rows of cards and proposals that it writes.
    pub(crate) fn rows(self) -> f64 {
        if matches!(self, Kind::Revoke(_)) { 0.0 } else { 1.0 + f64::from(self == Kind::Accept) }
    }
}

/// What a member asks for.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    SignIn,
    /// Registers the live queries.
    Live,
    Round,
    Page,
    Purge,
}

/// A member's connection.
#[derive(Clone, Copy)]
pub(crate) struct Session {
    pub(crate) member: usize,
    pub(crate) number: u32,
}

/// A write, with the node and the time at which it was asked for.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    pub(crate) kind: Kind,
    pub(crate) node: usize,
    pub(crate) asked: f64,
}

/// What a core does for a part, and what follows.
pub(crate) struct Task {
    pub(crate) part: Part,
    pub(crate) then: Box<Event>,
}

pub(crate) enum Event {
    /// A member signs in.
    Begin(Session),
    Ask(Session, Step),
    /// To what was asked at this time.
    Answer(Session, Step, f64),
    /// A part of a job of a node ends.
    Slice(usize, Job<Task>),
    Written(Change),
    /// The notifications within the transaction are made.
    Checked(Change),
    Commit(Change),
    /// A node's router looks for commits, and tells of those up to this one.
    Pass(usize),
    Passed(usize, usize),
    /// A member heard nothing since this round.
    Quiet(usize, u32),
    Write,
    Drop,
    Join,
}

pub(crate) struct Commit {
    pub(crate) change: Change,
    pub(crate) at: f64,
    /// Rows of cards and proposals up to this commit, with it.
    pub(crate) rows: f64,
    /// Members that follow, and those that have it.
    pub(crate) needed: usize,
    pub(crate) reached: usize,
    /// Seconds after which 95 % and all have it.
    pub(crate) took: [f64; 2],
}

#[derive(Default)]
pub(crate) struct Outcome {
    /// Seconds until 95 % and all have an accepted proposal, sorted; infinite for what did not arrive.
    pub(crate) took: [Vec<f64>; 2],
    /// Share of all cores, by part.
    pub(crate) used: [f64; 6],
    /// Bytes of rows that were answered.
    pub(crate) sent: f64,
    /// Seconds; `None` for what was not done in time.
    pub(crate) first_sync: Option<f64>,
    pub(crate) purge: Option<f64>,
    /// The longest, in seconds.
    pub(crate) sign_in: f64,
    /// Answers that took too long, and registrations that met another one, before the revocation.
    pub(crate) lost: [usize; 2],
}
