//! Dot products of a query with rows of f32 or of bytes, using the widest SIMD instructions available.
//!
//! Every routine adds the products of a row in a fixed order, whether the row is computed alone or with three
//! others, so that a score does not depend on where its row is stored.

use super::quantized::ByteLane;
use crate::stored::Plain;

/// Sixteen numbers in one cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Lane(pub(crate) [f32; 16]);

impl Plain for Lane {
    const WIDTH: usize = 64;

    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(bytes: &[u8]) -> Lane {
        Lane(Plain::read(bytes))
    }
}

impl Lane {
    pub(crate) const ZERO: Lane = Lane([0.0; 16]);
}

/// The instruction set in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// AVX-512 with its instructions for products of bytes.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
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
                let has_vnni = std::arch::is_x86_feature_detected!("avx512vnni");
                return if has_vnni { Kernel::Avx512Vnni } else { Kernel::Avx512 };
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
                if std::arch::is_x86_feature_detected!("avx512vnni") {
                    kernels.push(Kernel::Avx512Vnni);
                }
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            kernels.push(Kernel::Neon);
        }
        kernels
    }

    /// Whether products of bytes are faster than those of f32.
    pub(crate) fn is_fast_with_bytes(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Vnni | Kernel::Avx512 | Kernel::Avx2 => true,
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => false,
            Kernel::Portable => false,
        }
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
            // SAFETY: these are only created by `detect` and `available`, after the feature was detected; the
            // lengths were compared above.
            Kernel::Avx512 | Kernel::Avx512Vnni => unsafe { avx512(query, rows) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above, for AVX2 and FMA.
            Kernel::Avx2 => unsafe { avx2(query, rows) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as above, for NEON.
            Kernel::Neon => unsafe { neon(query, rows) },
            Kernel::Portable => rows.map(|row| portable(query, row)),
        }
    }

    /// Computes the products of a query of unsigned bytes with rows of signed bytes, all of the same number of lanes.
    ///
    /// # Panics
    /// When the lengths differ.
    #[inline]
    pub(crate) fn dot_bytes<const R: usize>(self, query: &[ByteLane], rows: [&[ByteLane]; R]) -> [i32; R] {
        assert!(rows.iter().all(|row| row.len() == query.len()));
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `dot`.
            Kernel::Avx512Vnni => unsafe { avx512_vnni(query, rows) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `dot`; whoever has AVX-512 has AVX2.
            Kernel::Avx512 | Kernel::Avx2 => unsafe { avx2_bytes(query, rows) },
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => rows.map(|row| portable_bytes(query, row)),
            Kernel::Portable => rows.map(|row| portable_bytes(query, row)),
        }
    }
}

fn portable_bytes(query: &[ByteLane], row: &[ByteLane]) -> i32 {
    let lanes = query.iter().zip(row).flat_map(|(q, r)| q.0.iter().zip(&r.0));
    lanes.map(|(q, r)| i32::from(*q) * i32::from(r.cast_signed())).sum()
}

/// Lines of 64 bytes that are prefetched beyond the current one: four rows of 384 bytes, which was faster than 48 to 192
/// lines. Rows are mostly read in order, and the processor's own prefetching ends with each page of 4 KiB.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 24;

/// # Safety
/// The machine has AVX-512F and VNNI; all rows have as many lanes as the query.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn avx512_vnni<const R: usize>(query: &[ByteLane], rows: [&[ByteLane]; R]) -> [i32; R] {
    use std::arch::x86_64::{
        _MM_HINT_T0, _mm_prefetch, _mm512_dpbusd_epi32, _mm512_load_si512, _mm512_reduce_add_epi32,
        _mm512_setzero_si512,
    };
    let mut sums = [_mm512_setzero_si512(); R];
    for i in 0..query.len() {
        // SAFETY: i is below the number of lanes of the query and of every row; lanes are aligned. Prefetching reads
        // nothing, whatever the address.
        unsafe {
            let q = _mm512_load_si512(query.as_ptr().add(i).cast());
            for r in 0..R {
                _mm_prefetch::<_MM_HINT_T0>(rows[r].as_ptr().wrapping_add(i + AHEAD).cast());
                sums[r] = _mm512_dpbusd_epi32(sums[r], q, _mm512_load_si512(rows[r].as_ptr().add(i).cast()));
            }
        }
    }
    sums.map(|sum| _mm512_reduce_add_epi32(sum))
}

/// # Safety
/// The machine has AVX2; all rows have as many lanes as the query.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2_bytes<const R: usize>(query: &[ByteLane], rows: [&[ByteLane]; R]) -> [i32; R] {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_load_si128, _mm_shuffle_epi32, _mm256_add_epi32,
        _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_cvtepu8_epi16, _mm256_extracti128_si256,
        _mm256_madd_epi16, _mm256_setzero_si256,
    };
    let mut sums = [_mm256_setzero_si256(); R];
    for i in 0..query.len() * 4 {
        // SAFETY: i counts the quarters of the lanes of the query and of every row; they are aligned.
        unsafe {
            let q = _mm256_cvtepu8_epi16(_mm_load_si128(query.as_ptr().cast::<__m128i>().add(i)));
            for r in 0..R {
                let row = _mm256_cvtepi8_epi16(_mm_load_si128(rows[r].as_ptr().cast::<__m128i>().add(i)));
                sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(q, row));
            }
        }
    }
    sums.map(|sum| {
        let four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
        _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<1>(two)))
    })
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
