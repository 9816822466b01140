//! Arithmetic on vectors.

/// A dot product in sixteen lanes, in an order that does not depend on the machine.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_blocks, a_rest) = a.as_chunks::<16>();
    let (b_blocks, b_rest) = b.as_chunks::<16>();
    let mut lanes = [0.0_f32; 16];
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..16 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    lanes.iter().sum::<f32>() + rest
}

/// Adds `scale` times `row` to `sum`.
pub(crate) fn add_scaled(sum: &mut [f32], scale: f32, row: &[f32]) {
    for (s, &x) in sum.iter_mut().zip(row) {
        *s += scale * x;
    }
}
