//! The level of a library: how high the first hits of requests score that no tool serves.
//!
//! The best of many cards is nearer to any request than the best of few, and cards in people's words are nearer than terse
//! ones. So a score that is an answer in one library is what anything scores in another, and thresholds count from the
//! library's level: the median score of the first hits of a fixed list of requests that no tool serves (`unservable.txt`:
//! errands for a body, private memories, wishes; written without looking at any card, set or ranking). With scores as
//! they are judged:
//!
//! | library | level | 5 of 100 answerable requests score below | half of the unanswerable ones score below |
//! |---|---|---|---|
//! | starter cards, with phrases | 0.17 | 0.40 | 0.25 |
//! | 143 cards | 0.23 | 0.29 | 0.26 |
//! | 231 cards of other vendors | 0.33 | 0.37 | 0.34 |
//! | those and others, 1,591 cards | 0.36 | 0.38 | - |

use std::sync::LazyLock;

use autokit_vocabulary::text::entry_lines;
use rayon::prelude::*;

use crate::candidates::FEWEST_FOR_BACKGROUND;
use crate::index::{Mode, Query, SearchIndex};
use crate::verdict::background_shift;

/// One a line.
const REQUESTS: &str = include_str!("unservable.txt");

/// Their vectors by the model that thresholds were measured with: see [`encode`].
static VECTORS: LazyLock<Vec<Vec<f32>>> =
    LazyLock::new(|| decode(include_bytes!("unservable.bin"), requests().count()));

/// From this many cards on, in which a search takes a millisecond, fewer requests are enough: the first of the list.
const MANY_CARDS: usize = 20_000;
/// The median of 40 is off by 0.01.
const FEWER_REQUESTS: usize = 40;

/// Returns the requests that no tool serves.
pub fn requests() -> impl Iterator<Item = &'static str> {
    entry_lines(REQUESTS)
}

/// Returns the level of an index whose vectors are of the model that thresholds were measured with; `None` where there are
/// too few cards, or no vectors of that length.
pub(crate) fn measure(index: &SearchIndex) -> Option<f32> {
    measure_with(index, &VECTORS)
}

pub(crate) fn measure_with(index: &SearchIndex, vectors: &[Vec<f32>]) -> Option<f32> {
    if index.len() < FEWEST_FOR_BACKGROUND || vectors.first()?.len() != index.vectors.dimension() {
        return None;
    }
    let count = if index.len() < MANY_CARDS { usize::MAX } else { FEWER_REQUESTS };
    let requests: Vec<(&str, &Vec<f32>)> = requests().zip(vectors).take(count).collect();
    let score = |(request, vector): (&str, &Vec<f32>)| {
        let plan = index.plan(request);
        let vectors = std::slice::from_ref(vector);
        let query = Query { plan: &plan, vectors, mode: Mode::Hybrid, limit: 1, filter: None };
        let (hits, background) = index.search_with_background(&query).ok()?;
        Some(hits.first()?.score + background_shift(background))
    };
    let mut scores: Vec<f32> = requests.into_par_iter().filter_map(score).collect();
    let middle = scores.len() / 2;
    (!scores.is_empty()).then(|| *scores.select_nth_unstable_by(middle, f32::total_cmp).1)
}

/// Serializes vectors of [`requests`]: for each a scale, and a byte a number.
pub fn encode(vectors: &[Vec<f32>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for vector in vectors {
        let scale = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs())) / f32::from(i8::MAX);
        bytes.extend_from_slice(&scale.to_le_bytes());
        // At most 127 either way.
        bytes.extend(vector.iter().flat_map(|x| ((x / scale).round() as i8).to_le_bytes()));
    }
    bytes
}

fn decode(bytes: &[u8], count: usize) -> Vec<Vec<f32>> {
    let vector = |bytes: &[u8]| {
        let (scale, numbers) = bytes.split_first_chunk().expect("a scale");
        let scale = f32::from_le_bytes(*scale);
        numbers.iter().map(|x| scale * f32::from(i8::from_le_bytes([*x]))).collect()
    };
    bytes.chunks_exact((bytes.len() / count).max(4)).map(vector).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Document, Vectors};

    #[test]
    fn there_is_a_vector_for_each_request() {
        let lines: std::collections::BTreeSet<&str> = requests().collect();
        assert_eq!(lines.len(), requests().count(), "no request twice");
        assert_eq!(VECTORS.len(), lines.len());
        for vector in VECTORS.iter() {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 0.01, "{length}");
        }
        assert_eq!(decode(&encode(&VECTORS), VECTORS.len()), *VECTORS);
    }

    /// A library whose cards have these vectors.
    fn library(vectors: impl Iterator<Item = Vec<f32>>) -> SearchIndex {
        let mut index = SearchIndex::new();
        for (at, vector) in vectors.enumerate() {
            let (id, name) = (at.to_string(), format!("tool{at}"));
            let vectors = Some(Vectors { tool: &vector, asks_for: &[] });
            index.upsert(&Document { id: &id, name: &name, vectors, ..Document::default() }).unwrap();
        }
        index
    }

    #[test]
    fn a_library_near_to_everything_has_a_high_level() {
        let axis = |at: usize| (0..VECTORS[0].len()).map(|i| f32::from(u8::from(i == at))).collect();
        let far = measure(&library((0..80).map(axis))).expect("a level");
        let near = measure(&library(VECTORS.iter().cloned())).expect("a level");
        assert!(near > far + 0.2, "{near} {far}");
        assert_eq!(measure(&library((0..20).map(axis))), None);
        assert_eq!(measure(&library((0..80).map(|_| vec![1.0, 2.0]))), None);
    }
}
