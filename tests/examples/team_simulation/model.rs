//! The server: what members ask of it and change, and how it tells them.

use std::ops::Range;

use crate::arguments::Inputs;
use crate::costs::{IDS, LIVE_QUERIES, PAGE, Rows, US};
use crate::events::{Change, Commit, Event, Kind, Outcome, Part, Session, Step, Task};
use crate::members::Member;
use crate::queue::{Agenda, Chance, Cores};

/// Seconds: everybody signs in until the first; then a busy time is measured; what began in it ends before a group is taken
/// from members, one after the other.
pub(crate) const SIGNED_IN: f64 = 900.0;
pub(crate) const MEASURED: Range<f64> = SIGNED_IN..1_500.0;
pub(crate) const REVOKED: f64 = 1_560.0;
pub(crate) const END: f64 = 2_220.0;
/// The longest wait for an answer, in seconds.
pub(crate) const PATIENCE: f64 = 30.0;
/// Longest time that one task keeps a core while others wait, in seconds.
const SLICE: f64 = 0.005;
/// Between two looks of a router for notifications, in seconds.
const PASS: f64 = 0.1;
/// How much more is changed in the measured time than on average.
const PEAK: f64 = 2.0;
/// Proposals that are accepted in the measured time at least, however few a small team has.
const ACCEPTED: f64 = 60.0;
/// Estimates, in microseconds: one password (argon2id, 19 MiB, 2 passes); the registration of a live query.
const ARGON: f64 = 25_000.0;
const LIVE: f64 = 300.0;
/// Bytes of a row on the network, with what it says and without.
const CARD_BYTES: f64 = 1_500.0;
const LISTED_BYTES: f64 = 200.0;

pub(crate) struct Simulation {
    pub(crate) inputs: Inputs,
    pub(crate) agenda: Agenda<Event>,
    pub(crate) nodes: Vec<Cores<Task>>,
    /// Of which commits the router of each node told.
    told: Vec<usize>,
    pub(crate) people: Vec<Member>,
    pub(crate) commits: Vec<Commit>,
    /// Until when the definition of a watched table is being written.
    pub(crate) defined: f64,
    /// Whose first sync is timed.
    pub(crate) probe: Option<usize>,
    /// How many of the group have not purged.
    pub(crate) purging: usize,
    chance: Chance,
    pub(crate) outcome: Outcome,
}

impl Simulation {
    pub(crate) fn new(inputs: &Inputs) -> Simulation {
        let nodes = inputs.nodes as usize;
        Simulation {
            inputs: inputs.clone(),
            agenda: Agenda::new(),
            nodes: (0..nodes).map(|_| Cores::new(inputs.cores as usize, SLICE)).collect(),
            told: vec![0; nodes],
            people: vec![Member::new(); inputs.members as usize],
            commits: Vec::new(),
            defined: 0.0,
            probe: None,
            purging: inputs.group(),
            chance: Chance(inputs.seed as u64),
            outcome: Outcome::default(),
        }
    }

    pub(crate) fn run(mut self) -> Outcome {
        for member in 0..self.people.len() {
            let at = self.chance.share() * SIGNED_IN;
            self.agenda.after(at, Event::Begin(Session { member, number: 0 }));
        }
        self.agenda.after(0.0, Event::Write);
        self.agenda.after(MEASURED.start, Event::Join);
        self.agenda.after(MEASURED.start, Event::Drop);
        let revocation = Change { kind: Kind::Revoke(0), node: 0, asked: REVOKED };
        self.agenda.after(REVOKED, Event::Written(revocation));
        if self.inputs.router {
            (0..self.nodes.len()).for_each(|node| self.agenda.after(0.0, Event::Pass(node)));
        }
        while let Some(event) = self.agenda.next() {
            if self.agenda.now > END || self.outcome.purge.is_some() {
                break;
            }
            self.handle(event);
        }
        for Commit { change, took, .. } in &self.commits {
            if change.kind == Kind::Accept && MEASURED.contains(&change.asked) {
                self.outcome.took.iter_mut().zip(took).for_each(|(all, took)| all.push(*took));
            }
        }
        self.outcome.took.iter_mut().for_each(|took| took.sort_by(f64::total_cmp));
        let capacity = self.inputs.cores * self.inputs.nodes * (MEASURED.end - MEASURED.start);
        self.outcome.used.iter_mut().for_each(|used| *used /= capacity);
        self.outcome
    }

    fn handle(&mut self, event: Event) {
        let now = self.agenda.now;
        match event {
            Event::Begin(session) => {
                if self.is_current(session) {
                    self.people[session.member].began = now;
                    self.ask(session.member, Step::SignIn, 0.0);
                }
            }
            Event::Ask(session, step) => {
                if self.is_current(session) {
                    self.serve(session, step);
                }
            }
            Event::Answer(session, step, asked) => {
                let storage = self.storage(session.member, step);
                if !self.is_current(session) {
                    // The connection was lost meanwhile.
                } else if now - asked + storage >= PATIENCE {
                    self.outcome.lost[0] += usize::from(now < REVOKED);
                    self.lose(session.member);
                } else {
                    self.proceed(session.member, step, storage + 0.5 * self.inputs.trip());
                }
            }
            Event::Slice(node, mut job) => {
                // A member that lost the connection or its patience: the server stops.
                if let Event::Answer(session, _, asked) = *job.task.then
                    && (!self.is_current(session) || now - asked >= PATIENCE)
                {
                    job.left = 0.0;
                }
                if let Some(task) = self.nodes[node].end(job) {
                    self.handle(*task.then);
                }
                self.dispatch(node);
            }
            // Within the transaction, and on one core.
            Event::Written(change) if !self.inputs.router => {
                let service = self.notify(change.kind.watched());
                self.work(change.node, service, Part::Notify, Event::Checked(change));
            }
            Event::Written(change) | Event::Checked(change) => {
                self.agenda.after(self.inputs.commit(), Event::Commit(change));
            }
            Event::Commit(change) => self.commit(change),
            Event::Pass(node) => {
                let new = &self.commits[self.told[node]..];
                let rows = new.iter().map(|commit| commit.change.kind.watched()).sum();
                let service = self.notify(rows);
                self.work(node, service, Part::Notify, Event::Passed(node, self.commits.len()));
            }
            Event::Passed(node, to) => {
                for number in std::mem::replace(&mut self.told[node], to)..to {
                    self.tell(node, self.commits[number].change.kind);
                }
                self.agenda.after(PASS, Event::Pass(node));
            }
            Event::Quiet(member, round) => {
                let person = &mut self.people[member];
                if person.round == round && person.is_busy {
                    person.is_due = true;
                } else if person.round == round {
                    self.start(member, Part::Quiet, 0.0);
                }
            }
            Event::Write => self.write(),
            Event::Drop => {
                if let Some(member) = self.somebody() {
                    self.lose(member);
                }
                self.again(self.inputs.rate(self.inputs.drops), Event::Drop);
            }
            Event::Join => {
                if let Some(member) = self.somebody() {
                    self.probe = self.probe.or(Some(member));
                    self.lose(member);
                    self.people[member].first = Some(0.0);
                }
                self.again(self.inputs.rate(self.inputs.joins * PEAK), Event::Join);
            }
        }
    }

    /// Seconds for the notifications of so many rows. All subscribers are checked, also those of other nodes.
    fn notify(&self, rows: f64) -> f64 {
        let subscribers = self.people.iter().filter(|person| person.is_live).count();
        subscribers as f64 * rows * self.inputs.notify_us * US
    }

    fn is_current(&self, session: Session) -> bool {
        self.people[session.member].session == session.number
    }

    /// Somebody who is connected and not at a first sync.
    fn somebody(&mut self) -> Option<usize> {
        (0..50).find_map(|_| {
            let member = (self.chance.share() * self.inputs.members) as usize;
            self.people[member].follows().then_some(member)
        })
    }

    fn again(&mut self, rate: f64, event: Event) {
        self.agenda.after(self.chance.pause(rate), event);
    }

    fn work(&mut self, node: usize, service: f64, part: Part, then: Event) {
        self.nodes[node].add(service, Task { part, then: Box::new(then) });
        self.dispatch(node);
    }

    fn dispatch(&mut self, node: usize) {
        while let Some((job, run)) = self.nodes[node].begin() {
            if MEASURED.contains(&self.agenda.now) {
                self.outcome.used[job.task.part as usize] += run;
            }
            self.agenda.after(run, Event::Slice(node, job));
        }
    }

    /// Works on an answer. What is committed later is not in it.
    fn serve(&mut self, session: Session, step: Step) {
        let (now, member) = (self.agenda.now, session.member);
        self.people[member].sees = self.commits.len();
        let (inputs, person) = (&self.inputs, &self.people[member]);
        let (service, rows) = match step {
            Step::SignIn => ((ARGON + inputs.changes_us) * US, Rows::default()),
            Step::Live => (LIVE_QUERIES * LIVE * US, Rows::default()),
            Step::Round => {
                let rows = self.rows(member);
                (inputs.round(rows, person.is_news, person.knows_members), rows)
            }
            Step::Page => (inputs.page(), Rows { listed: PAGE, new: PAGE }),
            Step::Purge => (inputs.purge(), Rows::default()),
        };
        let part = if person.first.is_some() { Part::FirstSync } else { person.cause };
        if MEASURED.contains(&now) {
            self.outcome.sent += rows.listed * LISTED_BYTES + rows.new * CARD_BYTES;
        }
        self.work(member % self.nodes.len(), service, part, Event::Answer(session, step, now));
    }

    /// Seconds that storage takes without a core: reads that wait for each other, and commits.
    fn storage(&self, member: usize, step: Step) -> f64 {
        self.inputs.reads(match step {
            Step::Live => return LIVE_QUERIES * self.inputs.commit(),
            Step::SignIn => 3.0,
            Step::Round => 6.0 + self.rows(member).listed,
            Step::Page => PAGE,
            Step::Purge => self.inputs.cards.min(IDS) / PAGE,
        })
    }

    /// Somebody writes something.
    fn write(&mut self) {
        let rate = |a_day| self.inputs.rate(a_day * PEAK);
        let (edits, comments) = (rate(self.inputs.edits), rate(self.inputs.comments));
        let accepts = rate(self.inputs.accepts).max(ACCEPTED / (MEASURED.end - MEASURED.start));
        let rate = edits + accepts + comments;
        let kind = match self.chance.share() * rate {
            at if at < edits => Kind::Edit,
            at if at < edits + accepts => Kind::Accept,
            _ => Kind::Comment,
        };
        if let Some(member) = self.somebody() {
            self.request(kind, member % self.nodes.len());
        }
        self.again(rate, Event::Write);
    }

    fn request(&mut self, kind: Kind, node: usize) {
        let change = Change { kind, node, asked: self.agenda.now };
        self.work(node, self.inputs.request_us * US, Part::Write, Event::Written(change));
    }

    fn commit(&mut self, change: Change) {
        if let Kind::Revoke(member) = change.kind {
            self.people[member].has_to_purge = true;
            // By an administrator, from one member after the other.
            if member + 1 < self.inputs.group() {
                self.request(Kind::Revoke(member + 1), 0);
            }
        }
        self.commits.push(Commit {
            change,
            at: self.agenda.now,
            rows: self.commits.last().map_or(0.0, |last| last.rows) + change.kind.rows(),
            needed: self.people.iter().filter(|person| person.follows()).count(),
            reached: 0,
            took: [f64::INFINITY; 2],
        });
        if !self.inputs.router {
            self.tell(change.node, change.kind);
        }
    }
}
