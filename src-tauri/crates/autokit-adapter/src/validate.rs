//! Whether an adapter helps on questions it was not fitted on.
//!
//! Most people's past says nothing that holds for their next question, so keeping an adapter wrongly is what has to be
//! rare. Simulated pasts, 64 numbers a vector, 400 cards, kept of 200 runs (20 for the last) with 40, 60 and 200 groups
//! of questions:
//!
//! | past | kept | lower end of the interval alone |
//! |---|---|---|
//! | any of the ten nearest cards was right | 0, 1, 0 | 4, 9, 7 |
//! | the right card was right, nothing personal | 0, 0, 0 | 6, 7, 5 |
//! | requests are turned in four directions | 0, 3, 14 | 8, 11, 18 |
//!
//! The bound of chance was set with these runs in view, so their figures are a little better than those of others.

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::adapter::Adapter;
use crate::dataset::Dataset;
use crate::error::{Error, Stop};
use crate::fit::{FitOptions, Task, fit_tasks, quality, quality_of_order, tasks};
use crate::rank::with_scores;

/// Ranks the cards for a question (by its index) as the caller's search does with an adapter, or without one: the
/// indices of cards, best first. Cards that are left out count as last. May be called from several threads.
pub type Ranking<'a> = &'a (dyn Fn(usize, Option<&Adapter>) -> Result<Vec<u32>, Error> + Sync);

/// How an adapter is fitted and judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How it is fitted.
    pub fit: FitOptions,
    /// Into how many parts the groups are split.
    pub folds: usize,
    /// How many times the groups are drawn anew for the interval of the difference.
    pub resamples: usize,
    /// The fewest groups with a helpful card to learn from at all.
    pub min_groups: usize,
    /// The least difference worth a changed ranking, in reciprocal rank.
    pub min_difference: f64,
    /// The largest [`chance`](Outcome::chance) an adapter is kept with. The interval alone keeps too many where
    /// few groups change at all, as it then rests on a handful of them.
    pub max_chance: f64,
    /// What the folds and the resampling start from.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            fit: FitOptions::default(),
            folds: 5,
            resamples: 2000,
            min_groups: 40,
            min_difference: 0.01,
            max_chance: 0.001,
            seed: 1,
        }
    }
}

/// Why an adapter is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// There are too few groups with a helpful card; nothing was measured.
    TooFewGroups,
    /// The gain could be chance: its interval includes no gain, or random signs often do as well.
    WithinChance,
    /// All that is sure to get better is that rejected cards are no longer first, which any change of the
    /// ranking can do: they were judged for being first.
    OnlyRejections,
    /// The gain is too small to change rankings for.
    TooSmall,
    /// As many groups lose as win, or more.
    TooManyLosses,
}

/// The mean gain of some groups of questions, with its 95 % interval, in reciprocal rank.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// How many groups.
    pub groups: usize,
    /// The mean over the groups of what the adapter adds.
    pub difference: f64,
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

/// What cross-validation found. Means are over groups, so that a question asked ten times counts once.
///
/// A question's value is the reciprocal rank of its helpful card among all cards; if it has only rejected
/// cards, it is 1 where none of them is first, else 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// How many questions were judged.
    pub questions: usize,
    /// How many groups of near duplicates they make up.
    pub groups: usize,
    /// The mean value without an adapter.
    pub before: f64,
    /// The mean value with one that was fitted on other groups.
    pub after: f64,
    /// `after` less `before`.
    pub difference: f64,
    /// The lower end of the 95 % interval of the difference.
    pub lower: f64,
    /// The upper end of it.
    pub upper: f64,
    /// Whether an adapter is worth having.
    pub kept: bool,
    /// In how many groups the value rose.
    pub wins: usize,
    /// In how many groups it fell.
    pub losses: usize,
    /// The same for questions with a helpful card alone.
    pub helpful: Interval,
    /// How often the groups with a helpful card gain as much if every difference gets a sign at random.
    pub chance: f64,
    /// Why it is not kept; none if it is.
    pub refusal: Option<Refusal>,
}

/// Fits on all folds but one and measures on that one, for each in turn, ranking with `ranking` or, without one, all
/// cards by their cosines and priors.
///
/// # Errors
/// If an option is out of range, the search fails, or `stop` says so.
pub fn cross_validate(
    dataset: &Dataset<'_>,
    options: &Options,
    ranking: Option<Ranking<'_>>,
    stop: Stop<'_>,
) -> Result<Outcome, Error> {
    Ok(validate(dataset, options, ranking, stop)?.0)
}

/// Cross-validates, and fits on everything if an adapter is worth having.
///
/// # Errors
/// As [`cross_validate`].
pub fn learn(
    dataset: &Dataset<'_>,
    options: &Options,
    ranking: Option<Ranking<'_>>,
    stop: Stop<'_>,
) -> Result<(Outcome, Option<Adapter>), Error> {
    let (outcome, tasks) = validate(dataset, options, ranking, stop)?;
    if !outcome.kept {
        return Ok((outcome, None));
    }
    let adapter = fit_tasks(dataset, &tasks.iter().collect::<Vec<_>>(), &options.fit, stop)?;
    Ok((outcome, Some(adapter)))
}

/// What one group of questions gains.
#[derive(Debug, Clone, Copy)]
struct Gain {
    before: f64,
    after: f64,
    /// The gain of its questions with a helpful card, if it has any.
    helpful: Option<f64>,
}

fn validate(
    dataset: &Dataset<'_>,
    options: &Options,
    ranking: Option<Ranking<'_>>,
    stop: Stop<'_>,
) -> Result<(Outcome, Vec<Task>), Error> {
    options.fit.check()?;
    if options.folds < 2 || options.resamples == 0 {
        return Err(Error::Range("the folds or the resamples"));
    }
    if stop() {
        return Err(Error::Cancelled);
    }
    let judged = dataset.judged(options.fit.now, options.fit.half_life_days);
    let group_of = |question: usize| dataset.group(question).unwrap_or_default();
    let count = |helpful: bool| {
        let counted = judged.iter().filter(|of| !helpful || of.cards.iter().any(|&(_, weight)| weight > 0.0));
        distinct(counted.map(|of| group_of(of.question)).collect())
    };
    let (groups, helpful) = (count(false), count(true).len());
    let mut outcome = Outcome { questions: judged.len(), groups: groups.len(), ..Outcome::default() };
    outcome.helpful.groups = helpful;
    outcome.chance = 1.0;
    if helpful < options.min_groups.max(options.folds) {
        outcome.refusal = Some(Refusal::TooFewGroups);
        return Ok((outcome, Vec::new()));
    }

    let mut tasks = tasks(dataset, &options.fit, stop)?;
    if let Some(ranking) = ranking {
        for task in &mut tasks {
            task.before = quality_by(ranking, task, None, stop)?;
        }
    }
    let fold_of = folds(&groups, options);
    let place = |task: &Task| groups.binary_search(&group_of(task.question)).unwrap_or_default();
    let mut values: Vec<Vec<(&Task, f64)>> = vec![Vec::new(); groups.len()];
    for fold in 0..options.folds {
        let (held, rest): (Vec<&Task>, Vec<&Task>) =
            tasks.iter().partition(|task| fold_of[place(task)] == fold);
        let adapter = fit_tasks(dataset, &rest, &options.fit, stop)?;
        let after = match ranking {
            Some(ranking) => held
                .iter()
                .map(|task| quality_by(ranking, task, Some(&adapter), stop))
                .collect::<Result<_, _>>()?,
            None => quality_by_vectors(dataset, &held, &adapter, stop)?,
        };
        for (task, after) in held.into_iter().zip(after) {
            values[place(task)].push((task, after));
        }
    }
    let gains: Vec<Gain> = values.iter().map(|of_group| gain(of_group)).collect();
    judge(&mut outcome, &gains, options, stop)?;
    Ok((outcome, tasks))
}

/// How well the caller's search answers a question.
fn quality_by(
    ranking: Ranking<'_>,
    task: &Task,
    adapter: Option<&Adapter>,
    stop: Stop<'_>,
) -> Result<f64, Error> {
    if stop() {
        return Err(Error::Cancelled);
    }
    Ok(quality_of_order(&task.judged, &ranking(task.question, adapter)?))
}

/// How well cosines and priors answer questions with an adapter, in their order.
fn quality_by_vectors(
    dataset: &Dataset<'_>,
    tasks: &[&Task],
    adapter: &Adapter,
    stop: Stop<'_>,
) -> Result<Vec<f64>, Error> {
    let adapted = tasks
        .iter()
        .map(|task| Ok((task.question, adapter.adapt(&dataset.questions()[task.question].vector)?)));
    let queries = adapted.collect::<Result<Vec<_>, Error>>()?;
    with_scores(dataset, &queries, stop, |index, scores| quality(&tasks[index].judged, scores))
}

fn gain(questions: &[(&Task, f64)]) -> Gain {
    let helpful: Vec<f64> = questions
        .iter()
        .filter(|(task, _)| task.has_helpful())
        .map(|(task, after)| after - task.before)
        .collect();
    Gain {
        before: mean(&questions.iter().map(|(task, _)| task.before).collect::<Vec<_>>()),
        after: mean(&questions.iter().map(|&(_, after)| after).collect::<Vec<_>>()),
        helpful: (!helpful.is_empty()).then(|| mean(&helpful)),
    }
}

fn judge(outcome: &mut Outcome, gains: &[Gain], options: &Options, stop: Stop<'_>) -> Result<(), Error> {
    let differences: Vec<f64> = gains.iter().map(|gain| gain.after - gain.before).collect();
    let helpful: Vec<f64> = gains.iter().filter_map(|gain| gain.helpful).collect();
    let all = interval(&differences, options, stop)?;
    outcome.helpful = interval(&helpful, options, stop)?;
    outcome.chance = chance(&helpful, options, stop)?;
    outcome.before = mean(&gains.iter().map(|gain| gain.before).collect::<Vec<_>>());
    outcome.after = mean(&gains.iter().map(|gain| gain.after).collect::<Vec<_>>());
    (outcome.difference, outcome.lower, outcome.upper) = (all.difference, all.lower, all.upper);
    outcome.wins = differences.iter().filter(|&&difference| difference > 0.0).count();
    outcome.losses = differences.iter().filter(|&&difference| difference < 0.0).count();
    outcome.refusal = if outcome.lower <= 0.0 {
        Some(Refusal::WithinChance)
    } else if outcome.helpful.lower <= 0.0 {
        Some(Refusal::OnlyRejections)
    } else if outcome.chance > options.max_chance {
        Some(Refusal::WithinChance)
    } else if outcome.difference < options.min_difference {
        Some(Refusal::TooSmall)
    } else if outcome.losses >= outcome.wins {
        Some(Refusal::TooManyLosses)
    } else {
        None
    };
    outcome.kept = outcome.refusal.is_none();
    Ok(())
}

/// The percentile interval of the mean, from means of groups drawn with replacement.
fn interval(differences: &[f64], options: &Options, stop: Stop<'_>) -> Result<Interval, Error> {
    let mut random = Pcg64::seed_from_u64(options.seed ^ 0xb007);
    let mut means = Vec::with_capacity(options.resamples);
    for _ in 0..options.resamples {
        if stop() {
            return Err(Error::Cancelled);
        }
        let draw = |_| differences[random.random_range(0..differences.len())];
        means.push((0..differences.len()).map(draw).sum::<f64>() / differences.len() as f64);
    }
    means.sort_unstable_by(f64::total_cmp);
    let cut = options.resamples / 40;
    Ok(Interval {
        groups: differences.len(),
        difference: mean(differences),
        lower: means[cut],
        upper: means[options.resamples - 1 - cut],
    })
}

/// The part of random choices of signs under which the sum is at least what it is.
fn chance(differences: &[f64], options: &Options, stop: Stop<'_>) -> Result<f64, Error> {
    let mut random = Pcg64::seed_from_u64(options.seed ^ 0x51f1);
    let sum: f64 = differences.iter().sum();
    let mut reached = 1;
    // More than for the interval, as it is rarer things that are counted.
    let rounds = options.resamples.saturating_mul(10);
    for _ in 0..rounds {
        if stop() {
            return Err(Error::Cancelled);
        }
        let flipped: f64 = differences.iter().map(|&x| if random.random::<bool>() { x } else { -x }).sum();
        // Sums of the same numbers in another order may differ in the last digits.
        reached += usize::from(flipped >= sum - 1e-12);
    }
    Ok(reached as f64 / (rounds as f64 + 1.0))
}

/// The fold of every group: dealt out after a shuffle, so that folds differ by at most one group.
fn folds(groups: &[u32], options: &Options) -> Vec<usize> {
    let mut random = Pcg64::seed_from_u64(options.seed);
    let mut order: Vec<usize> = (0..groups.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.random_range(0..=last));
    }
    let mut fold_of = vec![0; groups.len()];
    for (turn, group) in order.into_iter().enumerate() {
        fold_of[group] = turn % options.folds;
    }
    fold_of
}

fn distinct(mut groups: Vec<u32>) -> Vec<u32> {
    groups.sort_unstable();
    groups.dedup();
    groups
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}
