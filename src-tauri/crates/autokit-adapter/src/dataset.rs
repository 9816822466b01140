//! What a person judged, and the cards it was judged on.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::adapter::{check_model, check_shape, check_unit};
use crate::error::Error;
use crate::vectors::dot;

/// Questions whose cosine is at least this, directly or over others, count as one (see [`Dataset::group`]).
pub const NEAR_DUPLICATE: f32 = 0.95;
/// How little an old observation may weigh, as a part of a new one. Tastes change slowly; nothing is forgotten.
const OLDEST: f64 = 0.25;
/// What weights that cancel out may leave by rounding.
const CANCELLED: f64 = 1e-6;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// Where an observation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A yes or no on an answer: the person said it outright. Weight 1.
    Answer,
    /// An edit to the card that the person accepted: they cared, but maybe for another reason. Weight 0.75.
    Edit,
    /// A tool that was found and then called: only among those shown, and maybe by mistake. Weight 0.5.
    Use,
}

impl Source {
    /// How much an observation from here counts, between 0 and 1.
    pub fn weight(self) -> f64 {
        match self {
            Self::Answer => 1.0,
            Self::Edit => 0.75,
            Self::Use => 0.5,
        }
    }
}

/// One judged pair of a question and a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The index of the question.
    pub question: u32,
    /// The index of the card.
    pub card: u32,
    /// Whether the card was what the question asked for.
    pub helpful: bool,
    /// Where this is known from.
    pub source: Source,
    /// When, in seconds since the epoch.
    pub at: u64,
}

/// The cards' vectors, borrowed from the index they are searched in.
///
/// Card `i` has the rows `offsets[i]..offsets[i + 1]` of `vectors`, at least one; its score is that of the
/// best of them.
#[derive(Debug, Clone, Copy)]
pub struct Cards<'a> {
    /// Rows of `dim` numbers, each of unit length.
    pub vectors: &'a [f32],
    /// One number more than there are cards: where each card's rows begin, and the number of rows at the end.
    pub offsets: &'a [u32],
}

impl<'a> Cards<'a> {
    /// How many cards there are.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no cards.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vectors of one card.
    pub(crate) fn of(&self, card: usize, dim: usize) -> std::slice::ChunksExact<'a, f32> {
        let (from, to) = (self.offsets[card] as usize, self.offsets[card + 1] as usize);
        self.vectors[from * dim..to * dim].chunks_exact(dim)
    }

    fn check(&self, dim: usize) -> Result<(), Error> {
        let rows = self.vectors.len() / dim;
        if !self.vectors.len().is_multiple_of(dim) {
            return Err(Error::Length { what: "cards", expected: rows * dim, got: self.vectors.len() });
        }
        let (first, last) = (self.offsets.first().copied(), self.offsets.last().copied());
        if self.is_empty() || first != Some(0) || last.map(|end| end as usize) != Some(rows) {
            return Err(Error::Range("the offsets of the cards"));
        }
        if self.offsets.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Error::Range("the offsets of the cards"));
        }
        let mut vectors = self.vectors.chunks_exact(dim).enumerate();
        vectors.try_for_each(|(row, vector)| check_unit(vector, "card vector", row))
    }
}

/// A distinct question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its embedding, of unit length.
    pub vector: Vec<f32>,
    /// What to add to the cosine of some cards (by index): the part of their score that does not come from the
    /// embedding, on the scale of the cosine. Cards not named get nothing.
    pub prior: Vec<(u32, f32)>,
}

/// One person's past, checked and grouped.
#[derive(Debug, Clone)]
pub struct Dataset<'a> {
    model: String,
    dim: usize,
    cards: Cards<'a>,
    questions: Vec<Question>,
    observations: Vec<Observation>,
    groups: Vec<u32>,
}

impl<'a> Dataset<'a> {
    /// A data set of vectors of `dim` numbers from the embedding model named `model`.
    ///
    /// # Errors
    /// If a length does not fit, a vector is not of unit length, a prior is not finite or an index points
    /// nowhere.
    pub fn new(
        model: impl Into<String>,
        dim: usize,
        cards: Cards<'a>,
        questions: Vec<Question>,
        observations: Vec<Observation>,
    ) -> Result<Self, Error> {
        let model = model.into();
        check_model(&model)?;
        check_shape(dim, 1)?;
        cards.check(dim)?;
        for (index, question) in questions.iter().enumerate() {
            if question.vector.len() != dim {
                let got = question.vector.len();
                return Err(Error::Length { what: "question", expected: dim, got });
            }
            check_unit(&question.vector, "question", index)?;
            for &(card, prior) in &question.prior {
                check_index("card", card, cards.len())?;
                if !prior.is_finite() {
                    return Err(Error::Range("a prior"));
                }
            }
        }
        for seen in &observations {
            check_index("question", seen.question, questions.len())?;
            check_index("card", seen.card, cards.len())?;
        }
        let groups = near_duplicates(&questions);
        Ok(Self { model, dim, cards, questions, observations, groups })
    }

    /// The group of a question: the smallest index among the questions that are near duplicates of it, directly
    /// or over others. Groups are never split when something is measured, as that would be testing what was
    /// trained on. None if there is no such question.
    pub fn group(&self, question: usize) -> Option<u32> {
        self.groups.get(question).copied()
    }

    /// The embedding model of all vectors.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The length of all vectors.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The cards.
    pub fn cards(&self) -> Cards<'a> {
        self.cards
    }

    /// The questions.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// What is known about each judged question, in the order of the questions.
    ///
    /// Where observations of one pair disagree, the heavier side wins; on a tie the pair says nothing.
    pub(crate) fn judged(&self, now: u64, half_life_days: f64) -> Vec<Judged> {
        let mut pairs: FxHashMap<(u32, u32), f64> = FxHashMap::default();
        for seen in &self.observations {
            let days = now.saturating_sub(seen.at) as f64 / SECONDS_PER_DAY;
            let weight = seen.source.weight() * (-days / half_life_days).exp2().max(OLDEST);
            let sign = if seen.helpful { 1.0 } else { -1.0 };
            *pairs.entry((seen.question, seen.card)).or_default() += sign * weight;
        }
        let mut pairs: Vec<_> = pairs.into_iter().filter(|&(_, weight)| weight.abs() > CANCELLED).collect();
        pairs.sort_unstable_by_key(|&(pair, _)| pair);
        pairs
            .chunk_by(|left, right| left.0.0 == right.0.0)
            .map(|of_question| Judged {
                question: of_question[0].0.0 as usize,
                // Said twice is surer than said once, but no single pair should rule the whole.
                cards: of_question.iter().map(|&((_, card), w)| (card, w.clamp(-1.0, 1.0) as f32)).collect(),
            })
            .collect()
    }
}

/// What is known about one question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    pub(crate) question: usize,
    /// Cards with their weights, above 0 for helpful ones and below 0 for rejected ones; by card.
    pub(crate) cards: Vec<(u32, f32)>,
}

fn check_index(what: &'static str, index: u32, count: usize) -> Result<(), Error> {
    let index = index as usize;
    if index < count { Ok(()) } else { Err(Error::NoSuch { what, index }) }
}

/// The smallest member of every question's set of near duplicates.
fn near_duplicates(questions: &[Question]) -> Vec<u32> {
    let close = |i: usize| {
        let others = questions.iter().enumerate().skip(i + 1);
        let close = others.filter(|(_, other)| dot(&questions[i].vector, &other.vector) >= NEAR_DUPLICATE);
        close.map(|(j, _)| j).collect::<Vec<_>>()
    };
    let close: Vec<Vec<usize>> = (0..questions.len()).into_par_iter().map(close).collect();
    let mut parent: Vec<usize> = (0..questions.len()).collect();
    for (i, others) in close.iter().enumerate() {
        for &j in others {
            let (one, two) = (root(&mut parent, i), root(&mut parent, j));
            parent[one.max(two)] = one.min(two);
        }
    }
    (0..questions.len()).map(|i| root(&mut parent, i) as u32).collect()
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}
