//! Fitting an adapter: a softmax of helpful cards against hard negatives, by Adam on all questions at once.

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::adapter::{Adapter, check_shape};
use crate::dataset::{Dataset, Judged};
use crate::error::{Error, Stop};
use crate::loss::{Role, loss, task_loss};
use crate::rank::with_scores;
use crate::vectors::{add_scaled, dot};

/// How often the start is brought nearer to the singular vectors; a rough approach is enough.
const POWER_STEPS: usize = 6;

/// How an adapter is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// The rank of the adapter, at most [`MAX_RANK`](crate::MAX_RANK).
    pub rank: usize,
    /// How many steps to take; every step looks at every question.
    pub steps: usize,
    /// The size of Adam's steps; falls to a tenth of it towards the last one.
    pub learning_rate: f32,
    /// The weight of half the sum of the squares of all parameters in the loss.
    pub l2: f32,
    /// What differences of scores are divided by in the softmax.
    pub temperature: f32,
    /// How many of the best cards by the unadapted score compete, besides the judged ones.
    pub candidates: usize,
    /// How many unjudged cards a card counts for that was rejected for the question; at least 1.
    pub rejected_weight: f32,
    /// The present, in seconds since the epoch, for weighing observations by their age; 0
    /// weighs all alike.
    pub now: u64,
    /// The age at which an observation weighs half as much, in days. It never falls below a quarter.
    pub half_life_days: f64,
    /// What the parameters start from.
    pub seed: u64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            rank: 8,
            steps: 40,
            learning_rate: 0.001,
            l2: 1e-2,
            temperature: 0.05,
            candidates: 50,
            rejected_weight: 4.0,
            now: 0,
            half_life_days: 180.0,
            seed: 1,
        }
    }
}

impl FitOptions {
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_shape(1, self.rank)?;
        let positive = |x: f32| x > 0.0 && x.is_finite();
        if !positive(self.learning_rate) || !positive(self.temperature) {
            return Err(Error::Range("the learning rate or the temperature"));
        }
        if !(self.l2 >= 0.0 && self.l2.is_finite()) {
            return Err(Error::Range("the weight of the squares"));
        }
        if !(self.rejected_weight >= 1.0 && self.rejected_weight.is_finite()) {
            return Err(Error::Range("the weight of rejected cards"));
        }
        if self.half_life_days.is_nan() || self.half_life_days <= 0.0 {
            return Err(Error::Range("the half-life"));
        }
        Ok(())
    }
}

/// Fits an adapter to all of the data, without asking whether it helps; see [`learn`](crate::learn) for that.
/// Without any judged question, it is one that changes nothing.
///
/// # Errors
/// If an option is out of range, the parameters grow out of range, or `stop` says so.
pub fn fit(dataset: &Dataset<'_>, options: &FitOptions, stop: Stop<'_>) -> Result<Adapter, Error> {
    options.check()?;
    let tasks = tasks(dataset, options, stop)?;
    fit_tasks(dataset, &tasks.iter().collect::<Vec<_>>(), options, stop)
}

/// A judged question with the cards that compete for it.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) question: usize,
    pub(crate) judged: Vec<(u32, f32)>,
    /// How well the question is answered without an adapter (see [`quality`]).
    pub(crate) before: f64,
    /// Cards with their priors, by card.
    pub(crate) candidates: Vec<(u32, f32, Role)>,
    /// The largest weight of a judgement.
    pub(crate) weight: f32,
}

impl Task {
    /// Whether any card is known to be helpful.
    pub(crate) fn has_helpful(&self) -> bool {
        self.judged.iter().any(|&(_, weight)| weight > 0.0)
    }
}

/// How well `scores` of all cards answer a question: the reciprocal rank of the best helpful card among the
/// cards that are not helpful; if none is known, 1 where no rejected card is first and 0 where one is.
pub(crate) fn quality(judged: &[(u32, f32)], scores: &[f32]) -> f64 {
    let helpful = |&&(_, weight): &&(u32, f32)| weight > 0.0;
    let top = |cards: &mut dyn Iterator<Item = f32>| cards.fold(f32::NEG_INFINITY, f32::max);
    let best = top(&mut judged.iter().filter(helpful).map(|&(card, _)| scores[card as usize]));
    if best == f32::NEG_INFINITY {
        let rejected = top(&mut judged.iter().map(|&(card, _)| scores[card as usize]));
        // All judged cards are rejected here, so a better card is one that is not.
        return if scores.iter().any(|&score| score > rejected) { 1.0 } else { 0.0 };
    }
    let ahead = scores.iter().filter(|&&score| score > best).count();
    1.0 / (1 + ahead) as f64
}

/// As [`quality`], of cards in order, best first.
pub(crate) fn quality_of_order(judged: &[(u32, f32)], order: &[u32]) -> f64 {
    let weight = |card: u32| judged.iter().find(|&&(of, _)| of == card).map_or(0.0, |&(_, weight)| weight);
    if judged.iter().any(|&(_, weight)| weight > 0.0) {
        let place = order.iter().position(|&card| weight(card) > 0.0);
        place.map_or(0.0, |place| 1.0 / (1 + place) as f64)
    } else {
        let rejected = order.first().is_some_and(|&card| weight(card) < 0.0);
        if rejected { 0.0 } else { 1.0 }
    }
}

/// The judged questions, each with its hard negatives and its quality by the unadapted scores.
pub(crate) fn tasks(dataset: &Dataset<'_>, options: &FitOptions, stop: Stop<'_>) -> Result<Vec<Task>, Error> {
    let judged = dataset.judged(options.now, options.half_life_days);
    let vector = |of: &Judged| (of.question, dataset.questions()[of.question].vector.clone());
    let queries: Vec<_> = judged.iter().map(vector).collect();
    with_scores(dataset, &queries, stop, |index, scores| {
        let Judged { question, cards: judged } = judged[index].clone();
        let mut chosen: Vec<u32> = (0..scores.len() as u32).collect();
        let better = |&x: &u32, &y: &u32| scores[y as usize].total_cmp(&scores[x as usize]).then(x.cmp(&y));
        if options.candidates < chosen.len() {
            chosen.select_nth_unstable_by(options.candidates, better);
            chosen.truncate(options.candidates);
        }
        chosen.extend(judged.iter().map(|&(card, _)| card));
        chosen.sort_unstable();
        chosen.dedup();
        let prior = &dataset.questions()[question].prior;
        let candidate = |card: u32| {
            let role = match judged.binary_search_by_key(&card, |&(card, _)| card) {
                Ok(at) if judged[at].1 > 0.0 => Role::Helpful(judged[at].1),
                Ok(at) => Role::Rejected(-judged[at].1),
                Err(_) => Role::Unjudged,
            };
            (card, prior.iter().filter(|&&(of, _)| of == card).map(|&(_, x)| x).sum(), role)
        };
        let candidates = chosen.into_iter().map(candidate).collect();
        let weight = judged.iter().fold(0.0_f32, |most, &(_, weight)| most.max(weight.abs()));
        let before = quality(&judged, scores);
        Task { question, judged, before, candidates, weight }
    })
}

/// Fits an adapter to some of the tasks.
pub(crate) fn fit_tasks(
    dataset: &Dataset<'_>,
    tasks: &[&Task],
    options: &FitOptions,
    stop: Stop<'_>,
) -> Result<Adapter, Error> {
    let (dim, rank) = (dataset.dim(), options.rank);
    let mut parameters = start(dataset, tasks, options);
    let steps = if tasks.is_empty() { 0 } else { options.steps };
    let mut adam = Adam::new(parameters.len());
    for step in 0..steps {
        if stop() {
            return Err(Error::Cancelled);
        }
        let (_, gradient) = loss(dataset, tasks, &parameters, options);
        let rate = options.learning_rate * (1.0 - 0.9 * step as f32 / steps as f32);
        adam.step(&mut parameters, &gradient, rate);
    }
    let b = parameters.split_off(dim * rank);
    Adapter::new(dataset.model(), dim, rank, parameters, b)
}

/// `B` zero, so that no query changes, and as `A` the directions of the questions along which a change would
/// help most: the first left singular vectors of the gradient for a full matrix, each as long as its singular
/// value is to the largest. Little of a question lies in directions drawn at random, and to make up for that
/// takes steps large enough to learn the noise.
fn start(dataset: &Dataset<'_>, tasks: &[&Task], options: &FitOptions) -> Vec<f32> {
    let (dim, rank) = (dataset.dim(), options.rank);
    let mut random = Pcg64::seed_from_u64(options.seed);
    let zero = vec![0.0; dim * rank];
    let slope = |task: &&Task| {
        let slope = task_loss(dataset, task, &zero, &zero, options).to_update;
        let slope: Vec<f32> = slope.iter().map(|x| x * task.weight).collect();
        (&dataset.questions()[task.question].vector, slope)
    };
    let slopes: Vec<_> = tasks.par_iter().map(slope).collect();
    let mut columns: Vec<Vec<f32>> =
        (0..rank).map(|_| (0..dim).map(|_| random.random_range(-1.0..1.0)).collect()).collect();
    let mut lengths = orthonormalize(&mut columns);
    for _ in 0..if tasks.is_empty() { 0 } else { POWER_STEPS } {
        for column in &mut columns {
            let (mut there, mut back) = (vec![0.0; dim], vec![0.0; dim]);
            for (query, slope) in &slopes {
                add_scaled(&mut there, dot(query, column), slope);
            }
            for (query, slope) in &slopes {
                add_scaled(&mut back, dot(slope, &there), query);
            }
            *column = back;
        }
        lengths = orthonormalize(&mut columns);
    }
    let longest = lengths.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let scale: Vec<f32> = lengths.iter().map(|length| (length / longest).sqrt()).collect();
    let a =
        (0..dim).flat_map(|row| columns.iter().zip(&scale).map(move |(column, scale)| column[row] * scale));
    a.chain(zero.iter().copied()).collect()
}

/// Makes vectors unit and at right angles to those before; what is left of each before that is its length.
/// Vectors that add nothing become zero.
fn orthonormalize(vectors: &mut [Vec<f32>]) -> Vec<f32> {
    let mut lengths = Vec::with_capacity(vectors.len());
    for index in 0..vectors.len() {
        let (done, rest) = vectors.split_at_mut(index);
        let vector = &mut rest[0];
        let full = dot(vector, vector).sqrt();
        // Twice, as one pass leaves what rounding adds.
        for earlier in done.iter().chain(done.iter()) {
            let along = dot(vector, earlier);
            add_scaled(vector, -along, earlier);
        }
        let length = dot(vector, vector).sqrt();
        let kept = length > 1e-5 * full;
        for x in vector.iter_mut() {
            *x = if kept { *x / length } else { 0.0 };
        }
        lengths.push(if kept { length } else { 0.0 });
    }
    lengths
}

/// Adam with its usual constants.
struct Adam {
    step: i32,
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Adam {
    fn new(count: usize) -> Self {
        Self { step: 0, mean: vec![0.0; count], square: vec![0.0; count] }
    }

    fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32) {
        let (keep_mean, keep_square) = (0.9_f32, 0.999_f32);
        self.step = self.step.saturating_add(1);
        let (full_mean, full_square) = (1.0 - keep_mean.powi(self.step), 1.0 - keep_square.powi(self.step));
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((x, &g), (mean, square)) in parameters.iter_mut().zip(gradient).zip(moments) {
            *mean += (1.0 - keep_mean) * (g - *mean);
            *square += (1.0 - keep_square) * (g * g - *square);
            *x -= rate * (*mean / full_mean) / ((*square / full_square).sqrt() + 1e-8);
        }
    }
}
