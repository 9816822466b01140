//! One pass through the network for a chunk of sequences.

use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::layers::{Network, Norm};
use super::linear::Converted;
use crate::kernel::Isa;
use crate::kernel::attention::{Attention, Scratch};
use crate::kernel::buffer::Buffer;
use crate::kernel::norm::layer_norm;
use crate::kernel::tile::Finish;
use crate::pooling::{Pooling, normalise};

/// Activations of a chunk; the rows are the tokens of all its sequences in order.
#[derive(Default)]
pub(super) struct Workspace {
    /// `[tokens, hidden]`: the states between layers.
    states: Buffer,
    /// `[tokens, 3 * hidden]`
    qkv: Buffer,
    /// `[tokens, hidden]`: result of attention, before its output layer.
    mixed: Buffer,
    /// `[tokens, hidden]`: states after attention.
    attended: Buffer,
    /// `[tokens, inner]`
    inner: Buffer,
    /// One for each thread.
    scratch: Vec<Scratch>,
    converted: Converted,
}

impl Workspace {
    /// Pools the states into one vector per sequence, `out[sequences, hidden]`.
    pub(super) fn pool(
        &self,
        sequences: &[&[u32]],
        hidden: usize,
        pooling: Pooling,
        unit: bool,
        out: &mut [f32],
    ) {
        for (own, vector) in self.of_each(sequences, hidden).zip(out.chunks_exact_mut(hidden)) {
            pooling.pool(own, vector);
            if unit {
                normalise(vector);
            }
        }
    }

    /// Returns the states of each sequence's tokens, each of unit length.
    pub(super) fn unit_states(&self, sequences: &[&[u32]], hidden: usize) -> Vec<Vec<f32>> {
        let unit = |states: &[f32]| {
            let mut states = states.to_vec();
            states.chunks_exact_mut(hidden).for_each(normalise);
            states
        };
        self.of_each(sequences, hidden).map(unit).collect()
    }

    /// Iterates over the sequences' states, each `[tokens, hidden]`.
    fn of_each(&self, sequences: &[&[u32]], hidden: usize) -> impl Iterator<Item = &[f32]> {
        sequences.iter().scan(&self.states[..], move |states, ids| {
            let (own, rest) = states.split_at(ids.len() * hidden);
            *states = rest;
            Some(own)
        })
    }
}

impl Network {
    /// Computes the last layer's states into `workspace`. With `threads`, each matrix product is divided
    /// among them, which pays off for one short text, where reading the weights dominates.
    ///
    /// The caller has checked the ids and lengths.
    pub(super) fn forward(
        &self,
        isa: Isa,
        sequences: &[&[u32]],
        workspace: &mut Workspace,
        threads: Option<&ThreadPool>,
    ) {
        match threads.filter(|pool| pool.current_num_threads() > 1) {
            Some(pool) => pool.install(|| self.layers(isa, sequences, workspace, true)),
            None => self.layers(isa, sequences, workspace, false),
        }
    }

    fn layers(&self, isa: Isa, sequences: &[&[u32]], workspace: &mut Workspace, share: bool) {
        let hidden = self.hidden;
        let tokens: usize = sequences.iter().map(|ids| ids.len()).sum();
        let Workspace { states, qkv, mixed, attended, inner, scratch, converted } = workspace;
        for same in [&mut *states, &mut *mixed, &mut *attended] {
            same.resize(tokens * hidden);
        }
        qkv.resize(tokens * 3 * hidden);
        let lengths: Vec<usize> = sequences.iter().map(|ids| ids.len()).collect();
        scratch.resize_with(if share { rayon::current_num_threads() } else { 1 }, Scratch::default);
        self.embed(sequences, states);
        self.norm(isa, &self.norm, states);
        for (i, layer) in self.layers.iter().enumerate() {
            let next = Some(&layer.attention_out);
            layer.qkv.multiply(isa, next, states, qkv, Finish::Store, converted, share);
            self.attend(isa, &lengths, qkv, mixed, scratch);
            let (add, next) = (Finish::Add(states.as_ptr()), Some(&layer.up));
            layer.attention_out.multiply(isa, next, mixed, attended, add, converted, share);
            self.norm(isa, &layer.attention_norm, attended);
            inner.resize(tokens * layer.up.columns());
            layer.up.multiply(isa, Some(&layer.down), attended, inner, Finish::Gelu, converted, share);
            let (add, next) = (Finish::Add(attended.as_ptr()), self.layers.get(i + 1).map(|l| &l.qkv));
            layer.down.multiply(isa, next, inner, states, add, converted, share);
            self.norm(isa, &layer.norm, states);
        }
    }

    /// Computes attention, dividing the heads among threads if there is scratch memory for several.
    fn attend(&self, isa: Isa, lengths: &[usize], qkv: &[f32], mixed: &mut [f32], scratch: &mut [Scratch]) {
        assert_eq!(3 * mixed.len(), qkv.len());
        let (heads, head_dim) = (self.heads, self.hidden / self.heads);
        let attention = Attention { qkv, out: mixed.as_mut_ptr(), lengths, heads, head_dim };
        let each = heads.div_ceil(scratch.len());
        let run = |part: usize, scratch: &mut Scratch| {
            // SAFETY: the instruction set is one this processor has; each head is computed by one thread only.
            unsafe { attention.run(isa, (part * each).min(heads)..((part + 1) * each).min(heads), scratch) };
        };
        match scratch {
            [scratch] => run(0, scratch),
            several => several.par_iter_mut().enumerate().for_each(|(part, scratch)| run(part, scratch)),
        }
    }

    /// Computes word plus position embeddings.
    fn embed(&self, sequences: &[&[u32]], states: &mut [f32]) {
        let positions = sequences.iter().flat_map(|ids| ids.iter().enumerate());
        for ((position, id), row) in positions.zip(states.chunks_exact_mut(self.hidden)) {
            let word = self.words.row(*id as usize);
            let place = &self.positions[position * self.hidden..][..self.hidden];
            for ((x, w), p) in row.iter_mut().zip(word).zip(place) {
                *x = w + p;
            }
        }
    }

    fn norm(&self, isa: Isa, norm: &Norm, rows: &mut [f32]) {
        // SAFETY: the instruction set is one this processor has.
        unsafe { layer_norm(isa, rows, &norm.gain, &norm.shift, self.epsilon) };
    }
}
