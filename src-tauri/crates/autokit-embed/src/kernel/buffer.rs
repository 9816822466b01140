//! Memory for matrices, aligned so that no register load crosses a cache line.

use std::ops::{Deref, DerefMut};

/// One cache line of numbers.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// A growable slice of f32 that starts on a cache line.
#[derive(Default)]
pub(crate) struct Buffer {
    lines: Vec<Line>,
    len: usize,
}

impl Buffer {
    /// Creates a buffer of `len` zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        Self { lines: vec![Line([0.0; 16]); len.div_ceil(16)], len }
    }

    /// Sets the length of the buffer. Its contents afterwards are unspecified numbers.
    pub(crate) fn resize(&mut self, len: usize) {
        let lines = len.div_ceil(16);
        if lines > self.lines.len() {
            self.lines.resize(lines, Line([0.0; 16]));
        }
        self.len = len;
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: `lines` holds at least `len` f32 in a row: `Line` is 16 of them without padding.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as in `deref`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
