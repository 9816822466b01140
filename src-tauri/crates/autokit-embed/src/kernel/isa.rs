//! Instruction sets, and functions compiled for each of them.

use std::sync::LazyLock;

/// Instruction sets the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// 16 lanes, 32 registers.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 8 lanes, 16 registers, fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The baseline of the target, which every processor has.
    Baseline,
}

impl Isa {
    /// Detects the best instruction set of this processor.
    pub fn detect() -> Self {
        static BEST: LazyLock<Isa> = LazyLock::new(|| Isa::available()[0]);
        *BEST
    }

    /// Returns all instruction sets of this processor, best first.
    pub fn available() -> Vec<Self> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                found.push(Self::Avx512);
            }
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                found.push(Self::Avx2);
            }
        }
        found.push(Self::Baseline);
        found
    }

    /// Returns the number of columns of a weight panel, which is the width of the register tile.
    pub(crate) fn panel_width(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 48,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 16,
            Self::Baseline => 12,
        }
    }

    /// Returns the numbers in one register.
    pub(crate) fn lanes(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 16,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 8,
            Self::Baseline => 4,
        }
    }
}

/// Defines `fn name(isa, args)` that runs `generic::<S, ROWS, VECS>(args)` compiled for `isa`.
///
/// `ROWS` x `VECS` registers hold the tile of a matrix product; with the `VECS` registers of
/// weights and one of inputs they fill the register file (32, 16 and 16 registers).
macro_rules! multiversion {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) = $generic:ident) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// `isa` must be one of [`Isa::available`]; the rest is as the generic function says.
        #[allow(clippy::too_many_arguments, reason = "strides and sizes of raw matrices")]
        pub(crate) unsafe fn $name(isa: $crate::kernel::isa::Isa, $($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            unsafe fn avx512($($arg: $ty),*) {
                // SAFETY: passed on to the caller; AVX-512 is enabled for this function.
                unsafe { $generic::<$crate::kernel::simd::Avx512, 9, 3>($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2($($arg: $ty),*) {
                // SAFETY: passed on to the caller; AVX2 and FMA are enabled for this function.
                unsafe { $generic::<$crate::kernel::simd::Avx2, 6, 2>($($arg),*) }
            }
            match isa {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: passed on to the caller, who knows that the processor has AVX-512.
                $crate::kernel::isa::Isa::Avx512 => unsafe { avx512($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: passed on to the caller, who knows that the processor has AVX2 and FMA.
                $crate::kernel::isa::Isa::Avx2 => unsafe { avx2($($arg),*) },
                $crate::kernel::isa::Isa::Baseline => {
                    // SAFETY: passed on to the caller; every processor has the baseline.
                    unsafe { $generic::<$crate::kernel::simd::Baseline, 4, 3>($($arg),*) }
                }
            }
        }
    };
}
pub(crate) use multiversion;
