//! Which pairs train together, and when.
//!
//! Each epoch contains every pair once (but for incomplete batches). A batch is of one source, so that a request
//! is not told apart by the style of its source. Half of the batches are of tools of the same groups: similar
//! tools are the negatives from which most is learnt.

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

use crate::pairs::Pairs;

/// A pair in a batch, with the text of its tool that is used this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// Index of the pair.
    pub pair: usize,
    /// Index of the text of its tool.
    pub document: usize,
}

/// Returns the batches of an epoch; the same for the same seed and epoch.
pub fn epoch(pairs: &Pairs, batch: usize, seed: u64, epoch: u64) -> Vec<Vec<Example>> {
    let mut random = Pcg64::new(u128::from(seed), u128::from(epoch));
    let mut by_source: Vec<Vec<usize>> = vec![Vec::new(); pairs.sources.len()];
    for (at, pair) in pairs.pairs.iter().enumerate() {
        by_source[pair.source].push(at);
    }
    let mut batches = Vec::new();
    for mut source in by_source {
        source.shuffle(&mut random);
        let half = source.len() / 2;
        let neighbours = source.split_off(half);
        for part in [source, by_group(pairs, neighbours, &mut random)] {
            let full = part.chunks(batch).filter(|chunk| chunk.len() * 2 >= batch);
            batches.extend(full.map(<[usize]>::to_vec));
        }
    }
    batches.shuffle(&mut random);
    let mut choose = |pair: usize| {
        let documents = &pairs.pairs[pair].documents;
        Example { pair, document: documents[random.random_range(0..documents.len())] }
    };
    batches.into_iter().map(|batch| batch.into_iter().map(&mut choose).collect()).collect()
}

/// Orders pairs so that those of a group stand together, groups in random order.
fn by_group(pairs: &Pairs, chosen: Vec<usize>, random: &mut Pcg64) -> Vec<usize> {
    let mut groups: std::collections::BTreeMap<usize, Vec<usize>> = std::collections::BTreeMap::new();
    for at in chosen {
        groups.entry(pairs.pairs[at].group).or_default().push(at);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.shuffle(random);
    groups.concat()
}

/// Creates the generator of anything else that a step draws.
pub fn random_of_step(seed: u64, step: usize) -> Pcg64 {
    Pcg64::seed_from_u64(seed ^ (step as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::pairs::Pair;

    fn pairs(count: usize) -> Pairs {
        let pair = |at: usize| Pair {
            query: at,
            documents: vec![count + at, 2 * count + at],
            tool: at / 3,
            group: at / 10,
            source: usize::from(at >= count / 4),
        };
        Pairs {
            texts: (0..3 * count).map(|at| at.to_string()).collect(),
            pairs: (0..count).map(pair).collect(),
            sources: vec!["a".into(), "b".into()],
            ..Pairs::default()
        }
    }

    #[test]
    fn an_epoch_has_each_pair_at_most_once_in_batches_of_one_source() {
        let pairs = pairs(1000);
        let batches = epoch(&pairs, 16, 7, 0);
        assert_eq!(batches, epoch(&pairs, 16, 7, 0));
        assert_ne!(batches, epoch(&pairs, 16, 7, 1));
        assert_ne!(batches, epoch(&pairs, 16, 8, 0));
        let mut seen = HashSet::new();
        for batch in &batches {
            assert!((8..=16).contains(&batch.len()));
            let sources: HashSet<usize> =
                batch.iter().map(|example| pairs.pairs[example.pair].source).collect();
            assert_eq!(sources.len(), 1);
            for example in batch {
                assert!(seen.insert(example.pair), "pair {} twice", example.pair);
                assert!(pairs.pairs[example.pair].documents.contains(&example.document));
            }
        }
        assert!(seen.len() >= 1000 - 4 * 8, "{} pairs", seen.len());
        let groups_in = |batch: &Vec<Example>| {
            batch.iter().map(|example| pairs.pairs[example.pair].group).collect::<HashSet<_>>().len()
        };
        assert!(batches.iter().filter(|batch| groups_in(batch) <= 5).count() * 3 > batches.len());
    }
}
