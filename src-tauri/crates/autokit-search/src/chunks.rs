//! Vectors of page chunks, in addition to the one vector per document.

use rustc_hash::FxHashMap;

use crate::bitset::BitSet;
use crate::error::RetrieveError;
use crate::vector::VectorIndex;

/// The chunk of a page that is closest to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClosestChunk {
    /// Position in the page, from 0.
    pub(crate) at: u32,
    /// Its cosine similarity to the query.
    pub(crate) cosine: f32,
}

/// The chunks of all pages in one flat index. Each chunk has a key of its own, which is reused after removal.
#[derive(Clone, Debug, Default)]
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

    /// Returns, for every document in `allowed` that has a page, the closest chunk to each query, in the
    /// order of the queries; `shift` as in [`VectorIndex::scan`].
    pub(crate) fn closest(
        &self,
        queries: &[&[f32]],
        shift: &[f32],
        allowed: Option<&BitSet>,
    ) -> FxHashMap<u32, Vec<ClosestChunk>> {
        if self.is_empty() {
            return FxHashMap::default();
        }
        let keys: Option<BitSet> = allowed.map(|slots| {
            let mut keys = BitSet::with_len(self.owner.len());
            for (slot, slot_keys) in &self.keys_of {
                if slots.contains(*slot) {
                    for &key in slot_keys {
                        keys.insert(key);
                    }
                }
            }
            keys
        });
        let (found, cosines) = self.vectors.scan(queries, shift, keys.as_ref());
        let mut best: FxHashMap<u32, Vec<ClosestChunk>> = FxHashMap::default();
        best.reserve(self.keys_of.len());
        for (key, cosines) in found.into_iter().zip(cosines.chunks_exact(queries.len())) {
            let (slot, at) = self.owner[key as usize];
            let best = best
                .entry(slot)
                .or_insert_with(|| vec![ClosestChunk { at, cosine: f32::NEG_INFINITY }; queries.len()]);
            for (best, &cosine) in best.iter_mut().zip(cosines) {
                // On ties the earlier chunk wins, whatever the order of rows.
                if cosine.total_cmp(&best.cosine).then(best.at.cmp(&at)).is_gt() {
                    *best = ClosestChunk { at, cosine };
                }
            }
        }
        best
    }
}
