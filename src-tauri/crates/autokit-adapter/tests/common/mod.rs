//! Made-up pasts of a person, with or without something to learn.

use autokit_adapter::{Cards, Dataset, Observation, Question, Source};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

/// What is behind the judgements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// The helpful card is any of the ten best.
    Noise,
    /// The same, and a third of the questions only say that the first card was not it.
    NoiseWithRejections,
    /// The helpful card is the one the question was made from, by even noise: nothing personal to learn.
    Plain,
    /// The same, and what the person asks is moved away from the card by a fixed low-rank relation.
    Planted,
}

/// Cards and questions of `dim` numbers.
pub(crate) struct World {
    pub(crate) dim: usize,
    vectors: Vec<f32>,
    offsets: Vec<u32>,
    questions: Vec<Question>,
    observations: Vec<Observation>,
}

impl World {
    pub(crate) fn new(kind: Kind, seed: u64, cards: usize, dim: usize, groups: usize) -> Self {
        let mut random = Pcg64::seed_from_u64(seed);
        let (common, from, to) = (unit(&mut random, dim), unit(&mut random, dim), unit(&mut random, dim));
        // Chance cosines shrink as vectors get longer, so noise grows to leave the question as hard.
        let spread = (dim as f32 / 64.0).sqrt();
        // Sentence encoders put all texts into one part of the sphere; the common part stands for that.
        let mut vectors = Vec::new();
        let mut offsets = vec![0];
        for card in 0..cards {
            for _ in 0..=card % 2 {
                vectors.extend(mix(&[(0.5, &common), (1.0, &unit(&mut random, dim))]));
            }
            offsets.push((vectors.len() / dim) as u32);
        }
        let (mut questions, mut observations) = (Vec::new(), Vec::new());
        for question in 0..groups as u32 {
            let target = random.random_range(0..cards);
            let row = offsets[target] as usize * dim;
            let card = vectors[row..row + dim].to_vec();
            let noise = unit(&mut random, dim);
            let vector = if kind == Kind::Planted {
                let part = 0.4 + dot(&card, &from);
                mix(&[(1.0, &card), (1.6 * spread, &noise), (2.0 * spread * part, &to)])
            } else {
                mix(&[(1.0, &card), (2.2 * spread, &noise)])
            };
            let ranked = ranking(&vectors, &offsets, dim, &vector);
            let rejecting = kind == Kind::NoiseWithRejections && question % 3 == 0;
            let (card, helpful) = match kind {
                _ if rejecting => (ranked[0], false),
                Kind::Noise | Kind::NoiseWithRejections => (ranked[random.random_range(0..10)], true),
                Kind::Plain | Kind::Planted => (target as u32, true),
            };
            let source = [Source::Answer, Source::Use, Source::Edit][random.random_range(0..3)];
            let mut seen = |card, helpful| {
                observations.push(Observation { question, card, helpful, source, at: u64::from(question) });
            };
            seen(card, helpful);
            if kind == Kind::Planted && ranked[0] != card && question % 2 == 0 {
                seen(ranked[0], false);
            }
            questions.push(Question { vector, prior: vec![(ranked[1], 0.01)] });
        }
        Self { dim, vectors, offsets, questions, observations }
    }

    pub(crate) fn dataset(&self) -> Dataset<'_> {
        let cards = Cards { vectors: &self.vectors, offsets: &self.offsets };
        Dataset::new("test-model", self.dim, cards, self.questions.clone(), self.observations.clone())
            .expect("a made-up past is valid")
    }
}

/// A random direction.
pub(crate) fn unit(random: &mut Pcg64, dim: usize) -> Vec<f32> {
    // The sum of four even draws is close enough to a normal one for directions to be even.
    let draw = |random: &mut Pcg64| (0..4).map(|_| random.random_range(-1.0_f32..1.0)).sum::<f32>();
    let vector: Vec<f32> = (0..dim).map(|_| draw(random)).collect();
    mix(&[(1.0, &vector)])
}

/// A weighted sum at unit length.
pub(crate) fn mix(parts: &[(f32, &[f32])]) -> Vec<f32> {
    let at = |i: usize| parts.iter().map(|(scale, vector)| scale * vector[i]).sum::<f32>();
    let sum: Vec<f32> = (0..parts[0].1.len()).map(at).collect();
    let length = dot(&sum, &sum).sqrt();
    sum.iter().map(|x| x / length).collect()
}

pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn ranking(vectors: &[f32], offsets: &[u32], dim: usize, query: &[f32]) -> Vec<u32> {
    let rows: Vec<f32> = vectors.chunks_exact(dim).map(|row| dot(row, query)).collect();
    let best = |pair: &[u32]| rows[pair[0] as usize..pair[1] as usize].iter().copied().fold(-1.0, f32::max);
    let scores: Vec<f32> = offsets.windows(2).map(best).collect();
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    order.sort_by(|&x, &y| scores[y as usize].total_cmp(&scores[x as usize]));
    order
}
