//! Chance, events in the order of time, and cores that work off a queue.

use std::collections::{BTreeMap, VecDeque};

/// A small generator (SplitMix64).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// From 0, below 1.
    pub(crate) fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Seconds until the next of events that happen `rate` times a second.
    pub(crate) fn pause(&mut self, rate: f64) -> f64 {
        -(1.0 - self.share()).ln() / rate
    }
}

/// What happens when, the earliest first, by nanosecond and by the order in which it was added.
pub(crate) struct Agenda<E> {
    events: BTreeMap<(u64, u64), E>,
    added: u64,
    /// Seconds since the beginning.
    pub(crate) now: f64,
}

impl<E> Agenda<E> {
    pub(crate) fn new() -> Agenda<E> {
        Agenda { events: BTreeMap::new(), added: 0, now: 0.0 }
    }

    pub(crate) fn after(&mut self, seconds: f64, event: E) {
        self.added += 1;
        self.events.insert((((self.now + seconds) * 1e9).ceil() as u64, self.added), event);
    }

    pub(crate) fn next(&mut self) -> Option<E> {
        let ((at, _), event) = self.events.pop_first()?;
        self.now = at as f64 / 1e9;
        Some(event)
    }
}

/// Work for one core, in seconds, and what it is done for.
pub(crate) struct Job<T> {
    pub(crate) left: f64,
    pub(crate) task: T,
}

/// Cores with one queue. A job is put back after `slice` seconds, so that long ones do not stop short ones.
pub(crate) struct Cores<T> {
    free: usize,
    slice: f64,
    queue: VecDeque<Job<T>>,
}

impl<T> Cores<T> {
    pub(crate) fn new(number: usize, slice: f64) -> Cores<T> {
        Cores { free: number, slice, queue: VecDeque::new() }
    }

    pub(crate) fn add(&mut self, seconds: f64, task: T) {
        self.queue.push_back(Job { left: seconds, task });
    }

    /// Begins the next job if a core is free; returns it with the seconds until [`Cores::end`] is due.
    pub(crate) fn begin(&mut self) -> Option<(Job<T>, f64)> {
        if self.free == 0 {
            return None;
        }
        let mut job = self.queue.pop_front()?;
        self.free -= 1;
        let run = job.left.min(self.slice);
        job.left -= run;
        Some((job, run))
    }

    /// Frees the core; returns the task if it is done.
    pub(crate) fn end(&mut self, job: Job<T>) -> Option<T> {
        self.free += 1;
        if job.left <= 0.0 {
            return Some(job.task);
        }
        self.queue.push_back(job);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Utilisation, mean wait and mean time until done of jobs that arrive by chance.
    fn simulate(
        number: usize,
        slice: f64,
        rate: f64,
        mut service: impl FnMut(&mut Chance) -> f64,
    ) -> [f64; 3] {
        const JOBS: usize = 400_000;
        enum Event {
            Arrive,
            /// With the time of its arrival and the seconds that it needs.
            End(Job<(f64, f64)>),
        }
        let (mut agenda, mut chance) = (Agenda::new(), Chance(7));
        let mut cores = Cores::new(number, slice);
        let (mut arrived, mut done, mut busy, mut wait, mut stay) = (0, 0, 0.0, 0.0, 0.0);
        agenda.after(0.0, Event::Arrive);
        while let Some(event) = agenda.next() {
            match event {
                Event::Arrive => {
                    arrived += 1;
                    let needed = service(&mut chance);
                    cores.add(needed, (agenda.now, needed));
                    if arrived < JOBS {
                        agenda.after(chance.pause(rate), Event::Arrive);
                    }
                }
                Event::End(job) => {
                    if let Some((began, needed)) = cores.end(job) {
                        done += 1;
                        stay += agenda.now - began;
                        wait += agenda.now - began - needed;
                    }
                }
            }
            while let Some((job, run)) = cores.begin() {
                busy += run;
                agenda.after(run, Event::End(job));
            }
        }
        // Nothing is lost, and nothing is done twice.
        assert_eq!((arrived, done, cores.free, cores.queue.len()), (JOBS, JOBS, number, 0));
        [busy / agenda.now / number as f64, wait / done as f64, stay / done as f64]
    }

    fn assert_near(is: f64, should_be: f64, tolerance: f64) {
        assert!((is / should_be - 1.0).abs() < tolerance, "{is} instead of {should_be}");
    }

    #[test]
    fn waits_are_as_theory_says() {
        let rho = 0.8_f64;
        for cores in [1, 4] {
            // M/M/c by Erlang's formula C; M/D/c by the approximation of Cosmetatos, which is exact for one core.
            let (c, load) = (f64::from(cores), rho * f64::from(cores));
            let term = |k: i32| load.powi(k) / (1..=k).map(f64::from).product::<f64>();
            let last = term(cores) / (1.0 - rho);
            let mmc = last / ((0..cores).map(term).sum::<f64>() + last) / (c - load);
            let mdc = mmc / 2.0
                * (1.0 + (1.0 - rho) * (c - 1.0) * ((4.0 + 5.0 * c).sqrt() - 2.0) / (16.0 * rho * c));
            let [used, wait, _] = simulate(cores as usize, f64::INFINITY, load, |chance| chance.pause(1.0));
            assert_near(used, rho, 0.01);
            assert_near(wait, mmc, 0.06);
            let [used, wait, _] = simulate(cores as usize, f64::INFINITY, load, |_| 1.0);
            assert_near(used, rho, 0.01);
            assert_near(wait, mdc, 0.06);
        }
    }

    #[test]
    fn slices_share_a_core() {
        // Everything takes 1/(1−ρ) times as long, whatever the services are.
        let services = |chance: &mut Chance| if chance.share() < 0.9 { 0.5 } else { 5.5 };
        let [used, _, stay] = simulate(1, 0.02, 0.7, services);
        assert_near(used, 0.7, 0.02);
        assert_near(stay, 1.0 / 0.3, 0.06);
    }
}
