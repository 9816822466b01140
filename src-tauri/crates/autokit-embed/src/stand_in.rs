//! A stand-in for a model, for tests that need vectors but not meaning.
//!
//! It needs no files, is fast and gives the same vectors on every machine. Texts that share words
//! get similar vectors; nothing else about it resembles a language model.

use crate::encoder::Encoder;
use crate::error::Result;
use crate::pooling::normalise;

/// Number of ids to which the stand-in's tokens are hashed.
const BUCKETS: usize = 1 << 20;

/// Hashes words to ids, by FNV-1a over the lower-cased word.
pub(crate) fn hash_tokens(text: &str) -> Vec<u32> {
    let mut ids = vec![0];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in word.chars().flat_map(char::to_lowercase).flat_map(|c| (c as u32).to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        ids.push((hash % BUCKETS as u64) as u32);
    }
    ids
}

/// An encoder that sums one fixed pseudo-random vector per token.
pub(crate) struct StandInEncoder {
    pub(crate) dim: usize,
}

impl Encoder for StandInEncoder {
    fn dim(&self) -> usize {
        self.dim
    }

    fn vocab_size(&self) -> usize {
        BUCKETS
    }

    fn max_positions(&self) -> usize {
        usize::MAX
    }

    fn encode(&self, batch: &[&[u32]]) -> Result<Vec<f32>> {
        let mut out = vec![0.0; batch.len() * self.dim];
        for (ids, row) in batch.iter().zip(out.chunks_exact_mut(self.dim)) {
            for id in *ids {
                let mut state = u64::from(*id);
                for x in &mut *row {
                    *x += unit(&mut state);
                }
            }
            normalise(row);
        }
        Ok(out)
    }
}

/// Returns the next value of splitmix64 (Steele, Lea and Flood, 2014), mapped to [-1, 1).
fn unit(state: &mut u64) -> f32 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
}
