//! Dot products of a query with rows, using the widest SIMD instructions available.
//!
//! Every routine adds the products of a row in a fixed order, whether the row is computed alone or with three
//! others, so that a score does not depend on where its row is stored.

/// Sixteen numbers in one cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Lane(pub(crate) [f32; 16]);

impl Lane {
    pub(crate) const ZERO: Lane = Lane([0.0; 16]);
}

/// The instruction set in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "aarch64")]
    Neon,
    Portable,
}

impl Kernel {
    /// Detects the best instruction set of this machine.
    pub(crate) fn detect() -> Kernel {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                return Kernel::Avx512;
            }
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                return Kernel::Avx2;
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            return Kernel::Neon;
        }
        Kernel::Portable
    }

    /// Returns all kernels this machine can run, for tests.
    #[cfg(test)]
    pub(crate) fn available() -> Vec<Kernel> {
        let mut kernels = vec![Kernel::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                kernels.push(Kernel::Avx2);
            }
            if std::arch::is_x86_feature_detected!("avx512f") {
                kernels.push(Kernel::Avx512);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            kernels.push(Kernel::Neon);
        }
        kernels
    }

    /// Computes the dot products of `query` with `R` rows, all of the same number of lanes.
    ///
    /// # Panics
    /// When the lengths differ.
    #[inline]
    pub(crate) fn dot<const R: usize>(self, query: &[Lane], rows: [&[Lane]; R]) -> [f32; R] {
        assert!(rows.iter().all(|row| row.len() == query.len()));
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` is only created by `detect` and `available`, after the feature was detected;
            // the lengths were compared above.
            Kernel::Avx512 => unsafe { avx512(query, rows) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above, for AVX2 and FMA.
            Kernel::Avx2 => unsafe { avx2(query, rows) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as above, for NEON.
            Kernel::Neon => unsafe { neon(query, rows) },
            Kernel::Portable => rows.map(|row| portable(query, row)),
        }
    }
}

fn portable(query: &[Lane], row: &[Lane]) -> f32 {
    let mut sums = [0.0f32; 16];
    for (q, r) in query.iter().zip(row) {
        for ((sum, a), b) in sums.iter_mut().zip(&q.0).zip(&r.0) {
            *sum += a * b;
        }
    }
    let mut width = 8;
    while width > 0 {
        for i in 0..width {
            sums[i] += sums[i + width];
        }
        width /= 2;
    }
    sums[0]
}

/// # Safety
/// The machine has AVX-512F; all rows have as many lanes as the query.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512<const R: usize>(query: &[Lane], rows: [&[Lane]; R]) -> [f32; R] {
    use std::arch::x86_64::{
        _mm512_add_ps, _mm512_fmadd_ps, _mm512_load_ps, _mm512_reduce_add_ps, _mm512_setzero_ps,
    };
    let n = query.len();
    let mut even = [_mm512_setzero_ps(); R];
    let mut odd = [_mm512_setzero_ps(); R];
    let mut i = 0;
    while i + 1 < n {
        // SAFETY: i + 1 < n, the number of lanes of the query and of every row; lanes are aligned.
        unsafe {
            let q0 = _mm512_load_ps(query.as_ptr().add(i).cast());
            let q1 = _mm512_load_ps(query.as_ptr().add(i + 1).cast());
            for r in 0..R {
                even[r] = _mm512_fmadd_ps(q0, _mm512_load_ps(rows[r].as_ptr().add(i).cast()), even[r]);
                odd[r] = _mm512_fmadd_ps(q1, _mm512_load_ps(rows[r].as_ptr().add(i + 1).cast()), odd[r]);
            }
        }
        i += 2;
    }
    if i < n {
        // SAFETY: i < n.
        unsafe {
            let q = _mm512_load_ps(query.as_ptr().add(i).cast());
            for r in 0..R {
                even[r] = _mm512_fmadd_ps(q, _mm512_load_ps(rows[r].as_ptr().add(i).cast()), even[r]);
            }
        }
    }
    std::array::from_fn(|r| _mm512_reduce_add_ps(_mm512_add_ps(even[r], odd[r])))
}

/// # Safety
/// The machine has AVX2 and FMA; all rows have as many lanes as the query.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<const R: usize>(query: &[Lane], rows: [&[Lane]; R]) -> [f32; R] {
    use std::arch::x86_64::{
        _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehl_ps, _mm_shuffle_ps, _mm256_add_ps,
        _mm256_castps256_ps128, _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_load_ps, _mm256_setzero_ps,
    };
    let mut low = [_mm256_setzero_ps(); R];
    let mut high = [_mm256_setzero_ps(); R];
    for i in 0..query.len() {
        // SAFETY: i is below the number of lanes of the query and of every row; a lane is two
        // aligned registers.
        unsafe {
            let q: *const f32 = query.as_ptr().add(i).cast();
            let q0 = _mm256_load_ps(q);
            let q1 = _mm256_load_ps(q.add(8));
            for r in 0..R {
                let row: *const f32 = rows[r].as_ptr().add(i).cast();
                low[r] = _mm256_fmadd_ps(q0, _mm256_load_ps(row), low[r]);
                high[r] = _mm256_fmadd_ps(q1, _mm256_load_ps(row.add(8)), high[r]);
            }
        }
    }
    std::array::from_fn(|r| {
        let eight = _mm256_add_ps(low[r], high[r]);
        let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
    })
}

/// # Safety
/// The machine has NEON; all rows have as many lanes as the query.
#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
unsafe fn neon<const R: usize>(query: &[Lane], rows: [&[Lane]; R]) -> [f32; R] {
    use std::arch::aarch64::{vaddq_f32, vaddvq_f32, vdupq_n_f32, vfmaq_f32, vld1q_f32};
    let mut sums = [[vdupq_n_f32(0.0); 4]; R];
    for i in 0..query.len() {
        // SAFETY: i is below the number of lanes of the query and of every row; a lane is four registers.
        unsafe {
            let q: *const f32 = query.as_ptr().add(i).cast();
            for (r, sum) in sums.iter_mut().enumerate() {
                let row: *const f32 = rows[r].as_ptr().add(i).cast();
                for (part, sum) in sum.iter_mut().enumerate() {
                    *sum = vfmaq_f32(*sum, vld1q_f32(q.add(4 * part)), vld1q_f32(row.add(4 * part)));
                }
            }
        }
    }
    sums.map(|[a, b, c, d]| vaddvq_f32(vaddq_f32(vaddq_f32(a, b), vaddq_f32(c, d))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_agrees_with_double_precision_and_with_itself() {
        for lanes in [0, 1, 2, 3, 24, 25] {
            let make = |seed: u32| -> Vec<Lane> {
                (0..lanes)
                    .map(|i| {
                        Lane(std::array::from_fn(|j| {
                            (((i * 16 + j) as u32 * 7 + seed * 31) % 97) as f32 / 97.0 - 0.5
                        }))
                    })
                    .collect()
            };
            let query = make(1);
            let rows: Vec<Vec<Lane>> = (2..6).map(make).collect();
            for kernel in Kernel::available() {
                let four = kernel.dot(&query, [&rows[0], &rows[1], &rows[2], &rows[3]]);
                for (row, found) in rows.iter().zip(four) {
                    let exact: f64 = query
                        .iter()
                        .zip(row)
                        .flat_map(|(q, r)| q.0.iter().zip(r.0).map(|(a, b)| f64::from(*a) * f64::from(b)))
                        .sum();
                    assert!((f64::from(found) - exact).abs() < 1e-4, "{kernel:?}: {found} against {exact}");
                    assert_eq!(kernel.dot(&query, [row.as_slice()])[0].to_bits(), found.to_bits());
                }
            }
        }
    }
}
