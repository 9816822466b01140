//! One pass through the network for a chunk of sequences.

use rayon::ThreadPool;

use super::layers::{Network, Norm};
use crate::kernel::Isa;
use crate::kernel::attention::{Scratch, attention};
use crate::kernel::buffer::Buffer;
use crate::kernel::gemm::{Packed, Product, gemm};
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
    scratch: Scratch,
}

impl Workspace {
    /// Returns the last layer's states, `[tokens, hidden]`.
    pub(super) fn states(&self) -> &[f32] {
        &self.states[..]
    }

    /// Pools the states into one vector per sequence, `out[sequences, hidden]`.
    pub(super) fn pool(
        &self,
        sequences: &[&[u32]],
        hidden: usize,
        pooling: Pooling,
        unit: bool,
        out: &mut [f32],
    ) {
        let mut states = &self.states[..];
        for (ids, vector) in sequences.iter().zip(out.chunks_exact_mut(hidden)) {
            let (own, rest) = states.split_at(ids.len() * hidden);
            pooling.pool(own, vector);
            if unit {
                normalise(vector);
            }
            states = rest;
        }
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
        let Workspace { states, qkv, mixed, attended, inner, scratch } = workspace;
        for same in [&mut *states, &mut *mixed, &mut *attended] {
            same.resize(tokens * hidden);
        }
        qkv.resize(tokens * 3 * hidden);
        self.embed(sequences, states);
        self.norm(isa, &self.norm, states);
        for (i, layer) in self.layers.iter().enumerate() {
            let next = Some(&layer.attention_out);
            product(isa, &layer.qkv, next, states, qkv, Finish::Store, share);
            let mut first = 0;
            for ids in sequences {
                let rows = first..first + ids.len();
                let from = &qkv[rows.start * 3 * hidden..rows.end * 3 * hidden];
                let to = &mut mixed[rows.start * hidden..rows.end * hidden];
                attention(isa, from, to, self.heads, hidden / self.heads, scratch);
                first = rows.end;
            }
            let (add, next) = (Finish::Add(states.as_ptr()), Some(&layer.up));
            product(isa, &layer.attention_out, next, mixed, attended, add, share);
            self.norm(isa, &layer.attention_norm, attended);
            inner.resize(tokens * layer.up.columns());
            product(isa, &layer.up, Some(&layer.down), attended, inner, Finish::Gelu, share);
            let (add, next) = (Finish::Add(attended.as_ptr()), self.layers.get(i + 1).map(|l| &l.qkv));
            product(isa, &layer.down, next, inner, states, add, share);
            self.norm(isa, &layer.norm, states);
        }
    }

    /// Computes word plus position embeddings.
    fn embed(&self, sequences: &[&[u32]], states: &mut [f32]) {
        let positions = sequences.iter().flat_map(|ids| ids.iter().enumerate());
        for ((position, id), row) in positions.zip(states.chunks_exact_mut(self.hidden)) {
            let word = &self.words[*id as usize * self.hidden..][..self.hidden];
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

/// Computes `to = finish(from * weights)`, divided among the threads of the current pool if `share`.
fn product(
    isa: Isa,
    weights: &Packed,
    next: Option<&Packed>,
    from: &[f32],
    to: &mut [f32],
    finish: Finish,
    share: bool,
) {
    let rows = from.len() / weights.depth();
    assert!(from.len() == rows * weights.depth() && to.len() == rows * weights.columns());
    let product = Product { input: from.as_ptr(), rows, weights, result: to.as_mut_ptr(), finish, next };
    let parts = if share { rayon::current_num_threads() } else { 1 };
    split(isa, &product, 0, weights.panels(), parts);
}

/// Halves the range of panels recursively until there is a part for each thread.
fn split(isa: Isa, product: &Product<'_>, from: usize, to: usize, parts: usize) {
    if parts <= 1 || to - from <= 1 {
        // SAFETY: the instruction set is one this processor has; `product` checked the sizes, and
        // each panel is computed by one thread only.
        unsafe { gemm(isa, product, from, to) };
        return;
    }
    let middle = from + (to - from) / 2;
    rayon::join(
        || split(isa, product, from, middle, parts / 2),
        || split(isa, product, middle, to, parts - parts / 2),
    );
}
