//! The loss an adapter is fitted to, and its gradient.

use rayon::prelude::*;

use crate::adapter::{Turn, expand, project};
use crate::dataset::Dataset;
use crate::fit::{FitOptions, Task};
use crate::vectors::{add_scaled, dot};

/// What a candidate is for its question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Role {
    /// Judged helpful, with a weight of at most 1.
    Helpful(f32),
    /// Judged not helpful, with a weight of at most 1.
    Rejected(f32),
    /// A hard negative.
    Unjudged,
}

/// The weighted mean loss of the tasks plus that of the squares, and its gradient for `A` and then `B`.
pub(crate) fn loss(
    dataset: &Dataset<'_>,
    tasks: &[&Task],
    parameters: &[f32],
    options: &FitOptions,
) -> (f64, Vec<f32>) {
    let (dim, rank) = (dataset.dim(), options.rank);
    let (a, b) = parameters.split_at(dim * rank);
    let parts: Vec<Part> = tasks.par_iter().map(|task| task_loss(dataset, task, a, b, options)).collect();
    let total: f32 = tasks.iter().map(|task| task.weight).sum();
    let mut gradient: Vec<f32> = parameters.iter().map(|x| options.l2 * x).collect();
    let squares: f64 = parameters.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let mut sum = 0.5 * f64::from(options.l2) * squares;
    let (to_a, to_b) = gradient.split_at_mut(dim * rank);
    // In order and on one thread, so that the sums do not depend on how many threads there are.
    for (task, part) in tasks.iter().zip(&parts) {
        let share = task.weight / total;
        sum += f64::from(share) * part.loss;
        for (row, &q) in to_a.chunks_exact_mut(rank).zip(&dataset.questions()[task.question].vector) {
            add_scaled(row, share * q, &part.to_hidden);
        }
        for (row, &h) in to_b.chunks_exact_mut(dim).zip(&part.hidden) {
            add_scaled(row, share * h, &part.to_update);
        }
    }
    (sum, gradient)
}

/// One task's loss, its `q·A`, and the gradients for that and for `(q·A)·B`.
pub(crate) struct Part {
    loss: f64,
    hidden: Vec<f32>,
    to_hidden: Vec<f32>,
    pub(crate) to_update: Vec<f32>,
}

pub(crate) fn task_loss(
    dataset: &Dataset<'_>,
    task: &Task,
    a: &[f32],
    b: &[f32],
    options: &FitOptions,
) -> Part {
    let (dim, query) = (dataset.dim(), &dataset.questions()[task.question].vector);
    let hidden = project(query, a, options.rank);
    let turn = Turn::new(query, &expand(&hidden, b, dim));
    let (mut vectors, mut logits) = (Vec::new(), Vec::new());
    for &(card, prior, _) in &task.candidates {
        let (vector, cosine) = dataset.cards().nearest(card as usize, &turn.output);
        vectors.push(vector);
        logits.push(f64::from((cosine + prior) / options.temperature));
    }
    let roles: Vec<Role> = task.candidates.iter().map(|&(_, _, role)| role).collect();
    let (loss, slopes) = if task.has_helpful() {
        attract(&roles, &logits, options.rejected_weight)
    } else {
        repel(&roles, &logits)
    };
    let mut to_output = vec![0.0; dim];
    for (slope, vector) in slopes.iter().zip(vectors) {
        if *slope != 0.0 {
            add_scaled(&mut to_output, *slope as f32 / options.temperature, vector);
        }
    }
    let to_update = turn.backward(query, &to_output);
    let to_hidden = b.chunks_exact(dim).map(|row| dot(row, &to_update)).collect();
    Part { loss, hidden, to_hidden, to_update }
}

/// The negative logarithm of the share of the helpful cards in the softmax, where a rejected card counts for
/// several; and its slopes for the logits.
fn attract(roles: &[Role], logits: &[f64], rejected_weight: f32) -> (f64, Vec<f64>) {
    let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mass = |(role, logit): (&Role, &f64)| {
        let (times, good) = match role {
            Role::Helpful(weight) => (*weight, true),
            Role::Rejected(weight) => (1.0 + (rejected_weight - 1.0) * weight, false),
            Role::Unjudged => (1.0, false),
        };
        (f64::from(times) * (logit - highest).exp(), good)
    };
    let masses: Vec<(f64, bool)> = roles.iter().zip(logits).map(mass).collect();
    let all: f64 = masses.iter().map(|(mass, _)| mass).sum();
    // A helpful card far behind has next to no mass; the floor keeps its logarithm finite.
    let good = masses.iter().filter(|(_, good)| *good).map(|(mass, _)| mass).sum::<f64>().max(1e-300);
    let slope = |&(mass, is_good): &(f64, bool)| mass / all - if is_good { mass / good } else { 0.0 };
    (all.ln() - good.ln(), masses.iter().map(slope).collect())
}

/// The mean of `ln(1 + exp(rejected - next))` over the rejected cards, with the best of the others as the next;
/// and its slopes for the logits.
fn repel(roles: &[Role], logits: &[f64]) -> (f64, Vec<f64>) {
    let mut slopes = vec![0.0; logits.len()];
    let mut next: Option<usize> = None;
    let mut total = 0.0;
    for (index, role) in roles.iter().enumerate() {
        match role {
            Role::Rejected(weight) => total += f64::from(*weight),
            _ if next.is_none_or(|best| logits[index] > logits[best]) => next = Some(index),
            _ => {}
        }
    }
    let Some(next) = next else { return (0.0, slopes) };
    let mut loss = 0.0;
    for (index, role) in roles.iter().enumerate() {
        if let Role::Rejected(weight) = role {
            let (share, gap) = (f64::from(*weight) / total, logits[index] - logits[next]);
            loss += share * (gap.max(0.0) + (-gap.abs()).exp().ln_1p());
            let slope = share / (1.0 + (-gap).exp());
            slopes[index] += slope;
            slopes[next] -= slope;
        }
    }
    (loss, slopes)
}

#[cfg(test)]
mod tests;
