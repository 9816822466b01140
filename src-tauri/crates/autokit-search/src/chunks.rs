//! Vectors of page chunks, in addition to the one vector per document.

use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::bitset::BitSet;
use crate::error::RetrieveError;
use crate::vector::{Exactness, VectorIndex};

/// The chunk of a page that is closest to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClosestChunk {
    /// Position in the page, from 0.
    pub(crate) at: u32,
    /// Its cosine similarity to the query.
    pub(crate) cosine: f32,
    /// By how much the cosine of the closest chunk may be off.
    pub(crate) bound: f32,
}

impl ClosestChunk {
    const NONE: ClosestChunk = ClosestChunk { at: u32::MAX, cosine: f32::NEG_INFINITY, bound: 0.0 };
}

/// The closest chunks of every document.
#[derive(Debug)]
pub(crate) struct ClosestChunks {
    queries: usize,
    /// `[slots, queries]`
    chunks: Vec<ClosestChunk>,
}

impl ClosestChunks {
    /// Returns the chunks of a document that are closest to each query; `None` if it has none.
    pub(crate) fn of(&self, slot: u32) -> Option<&[ClosestChunk]> {
        let chunks = self.chunks.get(slot as usize * self.queries..)?.get(..self.queries)?;
        (chunks.first()?.at != ClosestChunk::NONE.at).then_some(chunks)
    }
}

/// The chunks of all pages in one flat index. Each chunk has a key of its own, which is reused after removal.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ChunkIndex {
    vectors: VectorIndex,
    /// Document slot and position in the page, by key.
    owner: Vec<(u32, u32)>,
    keys_of: FxHashMap<u32, Vec<u32>>,
    free: Vec<u32>,
}

impl ChunkIndex {
    pub(crate) fn is_empty(&self) -> bool {
        self.keys_of.is_empty()
    }

    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.keys_of.contains_key(&slot)
    }

    pub(crate) fn len(&self) -> usize {
        self.vectors.len()
    }

    pub(crate) fn dimension(&self) -> usize {
        self.vectors.dimension()
    }

    /// As [`VectorIndex::mean`].
    pub(crate) fn mean(&self) -> Vec<f32> {
        self.vectors.mean()
    }

    /// As [`VectorIndex::keep_large_in`].
    pub(crate) fn keep_large_in(&mut self, folder: &Path) {
        self.vectors.keep_large_in(folder);
    }

    pub(crate) fn memory(&self) -> usize {
        self.vectors.memory()
            + self.owner.capacity() * size_of::<(u32, u32)>()
            + self.keys_of.values().map(|keys| keys.capacity() * size_of::<u32>() + 32).sum::<usize>()
    }

    /// Replaces the chunks of a document's page. All vectors are checked first.
    pub(crate) fn set<'a>(
        &mut self,
        slot: u32,
        pieces: impl Iterator<Item = &'a [f32]> + Clone,
    ) -> Result<(), RetrieveError> {
        for piece in pieces.clone() {
            self.vectors.check("a piece of a page", piece)?;
        }
        self.remove(slot);
        let mut keys = Vec::new();
        for (at, piece) in pieces.enumerate() {
            let key = self.free.pop().unwrap_or(self.owner.len() as u32);
            if key as usize == self.owner.len() {
                self.owner.push((slot, at as u32));
            } else {
                self.owner[key as usize] = (slot, at as u32);
            }
            self.vectors.upsert(key, piece)?;
            keys.push(key);
        }
        if !keys.is_empty() {
            self.keys_of.insert(slot, keys);
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        for key in self.keys_of.remove(&slot).unwrap_or_default() {
            self.vectors.remove(key);
            self.free.push(key);
        }
    }

    /// Returns, for every document in `allowed` that has a page, the closest chunk to each query; `shift` and
    /// `exactness` as in [`VectorIndex::fold`].
    pub(crate) fn closest(
        &self,
        queries: &[&[f32]],
        shift: &[f32],
        allowed: Option<&BitSet>,
        exactness: Exactness,
    ) -> ClosestChunks {
        let queries_per_slot = queries.len();
        if self.is_empty() {
            return ClosestChunks { queries: queries_per_slot, chunks: Vec::new() };
        }
        let keys: Option<BitSet> = allowed.map(|slots| {
            let mut keys = BitSet::with_len(self.owner.len());
            let mut insert = |slot_keys: &[u32]| slot_keys.iter().for_each(|&key| keys.insert(key));
            if slots.len() < self.keys_of.len() {
                slots.iter().filter_map(|slot| self.keys_of.get(&slot)).for_each(|keys| insert(keys));
            } else {
                let allowed = self.keys_of.iter().filter(|(slot, _)| slots.contains(**slot));
                allowed.for_each(|(_, keys)| insert(keys));
            }
            keys
        });
        let found = self.vectors.scan(queries, shift, keys.as_ref(), exactness);
        let slots = found.keys.iter().map(|&key| self.owner[key as usize].0 as usize + 1).max().unwrap_or(0);
        let mut chunks = vec![ClosestChunk::NONE; slots * queries_per_slot];
        let rows = found.keys.iter().zip(found.cosines.chunks_exact(queries_per_slot)).zip(&found.bounds);
        for ((&key, cosines), &bound) in rows {
            let (slot, at) = self.owner[key as usize];
            let best = &mut chunks[slot as usize * queries_per_slot..][..queries_per_slot];
            for (best, &cosine) in best.iter_mut().zip(cosines) {
                best.bound = best.bound.max(bound);
                // On ties the earlier chunk wins, whatever the order of rows.
                if cosine.total_cmp(&best.cosine).then(best.at.cmp(&at)).is_gt() {
                    (best.at, best.cosine) = (at, cosine);
                }
            }
        }
        ClosestChunks { queries: queries_per_slot, chunks }
    }
}
