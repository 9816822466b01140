use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

use super::*;
use crate::fit::{quality, tasks};
use crate::{Cards, Observation, Question, Source};

const DIM: usize = 7;

fn unit(random: &mut Pcg64) -> Vec<f32> {
    let vector: Vec<f32> = (0..DIM).map(|_| random.random_range(-1.0_f32..1.0)).collect();
    let length = dot(&vector, &vector).sqrt();
    vector.iter().map(|x| x / length).collect()
}

/// Compares every slope with the change of the loss, with parameters of up to `size`.
fn compare(size: f32) {
    let mut random = Pcg64::seed_from_u64(3);
    let vectors: Vec<f32> = (0..18).flat_map(|_| unit(&mut random)).collect();
    let offsets: Vec<u32> = (0..=12).map(|card| card + card / 2).collect();
    let cards = Cards { vectors: &vectors, offsets: &offsets };
    let question = |random: &mut Pcg64| Question { vector: unit(random), prior: vec![(4, 0.8), (5, 0.7)] };
    let questions = (0..3).map(|_| question(&mut random)).collect();
    let seen = |question, card, helpful, source| Observation { question, card, helpful, source, at: 0 };
    let observations = vec![
        seen(0, 1, true, Source::Answer),
        seen(0, 2, true, Source::Use),
        seen(0, 3, false, Source::Edit),
        seen(1, 4, false, Source::Answer),
        seen(1, 5, false, Source::Use),
        seen(2, 6, true, Source::Use),
    ];
    let dataset = Dataset::new("m", DIM, cards, questions, observations).unwrap();
    let options = FitOptions { rank: 2, l2: 0.1, temperature: 0.2, candidates: 8, ..FitOptions::default() };
    let tasks = tasks(&dataset, &options, &|| false).unwrap();
    let tasks: Vec<&Task> = tasks.iter().collect();
    let parameters: Vec<f32> = (0..4 * DIM).map(|_| random.random_range(-size..size)).collect();
    let (_, gradient) = loss(&dataset, &tasks, &parameters, &options);
    let mut largest = 0.0_f64;
    for (index, &slope) in gradient.iter().enumerate() {
        let step = 2e-3 * size;
        let at = |change: f32| {
            let mut moved = parameters.clone();
            moved[index] += change;
            (f64::from(moved[index]), loss(&dataset, &tasks, &moved, &options).0)
        };
        let ((low, before), (high, after)) = (at(-step), at(step));
        let (slope, measured) = (f64::from(slope), (after - before) / (high - low));
        assert!((slope - measured).abs() < 2e-3 + 1e-2 * slope.abs(), "{index}: {slope} {measured}");
        largest = largest.max(slope.abs());
    }
    assert!(largest > 0.05, "the gradient must be there to compare: {largest}");
}

#[test]
fn gradients_are_those_of_the_loss_inside_the_bound() {
    compare(0.2);
}

#[test]
fn gradients_are_those_of_the_loss_on_the_bound() {
    compare(1.5);
}

#[test]
fn quality_is_the_reciprocal_rank_among_cards_that_are_not_helpful() {
    let scores = [0.9, 0.8, 0.7, 0.6];
    assert!((quality(&[(2, 1.0)], &scores) - 1.0 / 3.0).abs() < 1e-12);
    assert!((quality(&[(0, -1.0), (1, 0.5), (2, 1.0)], &scores) - 0.5).abs() < 1e-12);
    assert!(quality(&[(0, -1.0)], &scores) < 0.5);
    assert!(quality(&[(1, -1.0)], &scores) > 0.5);
}
