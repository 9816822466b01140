//! Members: how they connect, follow the server, and lose the connection.

use crate::costs::{LIVE_QUERIES, PAGE, Rows};
use crate::events::{Commit, Event, Kind, Part, Session, Step};
use crate::model::{MEASURED, REVOKED, SIGNED_IN, Simulation};

/// How far before the newest row an answer begins, in seconds: in a whole look, and to whoever was told of something.
const OVERLAP: f64 = 10.0;
const SHORT_OVERLAP: f64 = 1.0;
/// Pauses after lost connections, in seconds: the first is twice the least; each doubles.
const LEAST_PAUSE: f64 = 0.5;
const LONGEST_PAUSE: f64 = 60.0;

#[derive(Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "they change independently of each other")]
pub(crate) struct Member {
    pub(crate) session: u32,
    pub(crate) round: u32,
    pub(crate) is_live: bool,
    pub(crate) is_busy: bool,
    was_told: bool,
    /// Whether it is to look at everything once this round has ended.
    pub(crate) is_due: bool,
    /// Why this round is made, and whether it asks for what is new only.
    pub(crate) cause: Part,
    pub(crate) is_news: bool,
    /// Commits that it has, that the answer in progress includes, and from which the next answer begins: the one to a whole
    /// look, and that to whoever was told of something.
    seen: usize,
    pub(crate) sees: usize,
    from: usize,
    recent: usize,
    pub(crate) knows_members: bool,
    /// Cards that it has of a first sync.
    pub(crate) first: Option<f64>,
    /// When the page is written that is being written.
    writing_until: f64,
    pub(crate) has_to_purge: bool,
    /// Answers with ids that it has of a purge.
    purged: f64,
    pub(crate) began: f64,
    pause: f64,
}

impl Member {
    /// Not yet connected.
    pub(crate) fn new() -> Member {
        Member { is_busy: true, pause: LEAST_PAUSE, ..Member::default() }
    }

    /// Whether it has all cards and is told of changes.
    pub(crate) fn follows(&self) -> bool {
        self.is_live && self.first.is_none()
    }
}

impl Simulation {
    /// Rows in the answer to a round.
    pub(crate) fn rows(&self, member: usize) -> Rows {
        let person = &self.people[member];
        let rows = |last: Option<&Commit>| last.map_or(0.0, |last| last.rows);
        let since = |from: usize| rows(self.commits.last()) - rows(self.commits[..from].last());
        Rows {
            listed: since(if person.is_news { person.recent } else { person.from }),
            new: since(person.seen),
        }
    }

    pub(crate) fn ask(&mut self, member: usize, step: Step, pause: f64) {
        let session = Session { member, number: self.people[member].session };
        self.agenda.after(pause + 0.5 * self.inputs.trip(), Event::Ask(session, step));
    }

    /// Begins a round.
    pub(crate) fn start(&mut self, member: usize, cause: Part, pause: f64) {
        let whole = self.inputs.whole;
        let person = &mut self.people[member];
        (person.is_busy, person.cause) = (true, cause);
        // Whoever is told of members looks at everything.
        person.is_news = !whole && cause == Part::Round && person.knows_members && !person.has_to_purge;
        let step = if person.has_to_purge { Step::Purge } else { Step::Round };
        // What changes during the standing query is part of it.
        let standing = if person.is_news { 0.0 } else { self.inputs.trip() };
        self.ask(member, step, pause + standing);
    }

    /// Tells the members of a node.
    pub(crate) fn tell(&mut self, node: usize, kind: Kind) {
        for member in (node..self.people.len()).step_by(self.nodes.len()) {
            let concerns = !self.inputs.listed || !matches!(kind, Kind::Revoke(whom) if whom != member);
            let person = &mut self.people[member];
            if person.is_live && concerns {
                // Of two rows in one request, the second is told during the round for the first.
                person.was_told |= person.is_busy || kind.watched() > 1.0;
                person.knows_members &= !matches!(kind, Kind::Revoke(_));
                if !person.is_busy {
                    self.start(member, Part::Round, 0.5 * self.inputs.trip() + self.inputs.collect_s);
                }
            }
        }
    }

    /// Goes on after an answer, which takes `later` seconds to arrive.
    pub(crate) fn proceed(&mut self, member: usize, step: Step, later: f64) {
        let now = self.agenda.now;
        let person = &mut self.people[member];
        match step {
            Step::SignIn => {
                if now < SIGNED_IN {
                    self.outcome.sign_in = self.outcome.sign_in.max(now + later - person.began);
                }
                self.ask(member, Step::Live, later);
            }
            // Each registration writes the definition of its table: of two at a time, one fails.
            Step::Live if now < self.defined => {
                self.outcome.lost[1] += usize::from(now < REVOKED);
                self.lose(member);
            }
            Step::Live => {
                // Without what was committed before.
                (person.is_live, person.seen) = (true, self.commits.len());
                let step = if person.first.is_some() { Step::Page } else { Step::Round };
                self.defined = now + LIVE_QUERIES * self.inputs.commit();
                self.ask(member, step, later + LIVE_QUERIES * self.inputs.trip());
            }
            Step::Page => {
                let had = person.first.unwrap_or(0.0) + PAGE;
                person.first = (had < self.inputs.kept()).then_some(had);
                person.seen = self.commits.len();
                let step = if person.first.is_some() { Step::Page } else { Step::Round };
                // The next page is read while this one is written.
                let begun = (now + later).max(person.writing_until);
                person.writing_until = begun + self.inputs.client_page_ms * 1e-3;
                let later = if person.first.is_some() { begun } else { person.writing_until } - now;
                if person.first.is_none() && self.probe == Some(member) {
                    self.outcome.first_sync.get_or_insert(now + later - MEASURED.start);
                }
                self.ask(member, step, later);
            }
            Step::Purge if person.purged + 1.0 < self.inputs.purges() => {
                person.purged += 1.0;
                self.ask(member, Step::Purge, later);
            }
            Step::Purge => {
                (person.has_to_purge, person.purged) = (false, 0.0);
                self.purging -= 1;
                self.outcome.purge = (self.purging == 0).then_some(now + later - REVOKED);
                self.ask(member, Step::Round, later);
            }
            Step::Round => self.finish(member, later),
        }
    }

    /// Ends a round, and begins another one if the member was told of something meanwhile.
    fn finish(&mut self, member: usize, later: f64) {
        // The query for proposals comes after that for cards.
        let rest = later + self.inputs.trip();
        let person = &mut self.people[member];
        let (from, to) = (person.seen, person.sees);
        let newest = self.commits[..to].last().map_or(0.0, |last| last.at);
        let since = |overlap: f64| self.commits[..to].partition_point(|one| one.at < newest - overlap);
        person.recent = since(SHORT_OVERLAP);
        person.seen = to.max(from);
        person.knows_members = true;
        (person.is_busy, person.pause) = (false, LEAST_PAUSE);
        let was_told = std::mem::take(&mut person.was_told);
        let is_due = std::mem::take(&mut person.is_due);
        if !person.is_news {
            person.from = since(OVERLAP);
            person.round += 1;
            self.agenda.after(rest + self.inputs.quiet_s, Event::Quiet(member, person.round));
        }
        // Who collects has got both notifications of a request.
        let has_all = self.inputs.collect_s > 0.0 && person.seen == self.commits.len();
        self.reach(from, to, later);
        if is_due {
            self.start(member, Part::Quiet, rest);
        } else if was_told && !has_all {
            self.start(member, Part::Round, rest + self.inputs.collect_s);
        }
    }

    /// Notes that one more member has these commits.
    fn reach(&mut self, from: usize, to: usize, later: f64) {
        let at = self.agenda.now + later;
        for commit in &mut self.commits[from.min(to)..to] {
            commit.reached += 1;
            let goals = [(commit.needed * 95).div_ceil(100), commit.needed];
            for (took, _) in commit.took.iter_mut().zip(goals).filter(|(_, goal)| commit.reached >= *goal) {
                *took = took.min(at - commit.change.asked);
            }
        }
    }

    /// Loses a connection. What the member has not received by then counts as received.
    pub(crate) fn lose(&mut self, member: usize) {
        let person = &mut self.people[member];
        person.session += 1;
        person.round += 1;
        person.pause = (person.pause * 2.0).min(LONGEST_PAUSE);
        (person.is_busy, person.was_told, person.knows_members) = (true, false, false);
        (person.is_news, person.is_due) = (false, false);
        person.purged = 0.0;
        let (followed, seen) = (person.follows(), person.seen);
        (person.is_live, person.cause) = (false, Part::SignIn);
        self.agenda.after(person.pause, Event::Begin(Session { member, number: person.session }));
        if followed {
            self.reach(seen, self.commits.len(), 0.0);
        }
    }
}
