//! Linear layers in any precision.

use crate::kernel::Isa;
use crate::kernel::gemm::{Packed, Product, gemm};
#[cfg(target_arch = "x86_64")]
use crate::kernel::low_precision::{CellProduct, InputCells, LowPrecision, PackedCells};
use crate::kernel::tile::Finish;
use crate::precision::Precision;

/// The weights of a linear layer, packed for the instructions that multiply them.
pub(super) enum Linear {
    /// Multiplied in f32, in whatever instruction set there is.
    F32(Packed),
    /// Multiplied in bf16 or int8.
    #[cfg(target_arch = "x86_64")]
    Cells(PackedCells),
}

/// Memory for converted inputs.
#[derive(Default)]
pub(super) struct Converted {
    #[cfg(target_arch = "x86_64")]
    cells: InputCells,
}

/// How a network computes.
#[derive(Clone, Copy)]
pub(super) struct Arithmetic {
    pub(super) isa: Isa,
    pub(super) precision: Precision,
}

impl Linear {
    /// Packs rows of weights `[columns, depth]` and `[columns]` biases. The processor has to have the precision.
    pub(super) fn new(arithmetic: Arithmetic, weights: &[f32], bias: &[f32], depth: usize) -> Self {
        match arithmetic.precision {
            #[cfg(target_arch = "x86_64")]
            Precision::Bf16 if LowPrecision::Bf16.is_fast() => {
                Self::Cells(PackedCells::new(LowPrecision::Bf16, weights, bias, depth))
            }
            Precision::Bf16 => Self::F32(Packed::in_bf16(arithmetic.isa, weights, bias, depth)),
            #[cfg(target_arch = "x86_64")]
            Precision::Int8 => Self::Cells(PackedCells::new(LowPrecision::Int8, weights, bias, depth)),
            _ => Self::F32(Packed::new(arithmetic.isa, weights, bias, depth)),
        }
    }

    /// Returns the number of columns of the result.
    pub(super) fn columns(&self) -> usize {
        match self {
            Self::F32(packed) => packed.columns(),
            #[cfg(target_arch = "x86_64")]
            Self::Cells(packed) => packed.columns(),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::F32(packed) => packed.depth(),
            #[cfg(target_arch = "x86_64")]
            Self::Cells(packed) => packed.depth(),
        }
    }

    fn panels(&self) -> usize {
        match self {
            Self::F32(packed) => packed.panels(),
            #[cfg(target_arch = "x86_64")]
            Self::Cells(packed) => packed.panels(),
        }
    }

    /// Returns the address of the weights.
    fn start(&self) -> *const f32 {
        match self {
            Self::F32(packed) => packed.start(),
            #[cfg(target_arch = "x86_64")]
            Self::Cells(packed) => packed.start(),
        }
    }

    /// Computes `to = finish(from * weights + bias)`, divided among the threads of the current pool if `share`. `next`
    /// is the layer after this one, whose weights are prefetched.
    #[allow(clippy::too_many_arguments, reason = "the operands of one product")]
    pub(super) fn multiply(
        &self,
        isa: Isa,
        next: Option<&Linear>,
        from: &[f32],
        to: &mut [f32],
        finish: Finish,
        converted: &mut Converted,
        share: bool,
    ) {
        let rows = from.len() / self.depth();
        assert!(from.len() == rows * self.depth() && to.len() == rows * self.columns());
        #[cfg(not(target_arch = "x86_64"))]
        let _ = converted;
        let parts = if share { rayon::current_num_threads() } else { 1 };
        let (result, next) = (to.as_mut_ptr(), next.map(Linear::start));
        match self {
            Self::F32(weights) => {
                let product = Product { input: from.as_ptr(), rows, weights, result, finish, next };
                // SAFETY: the instruction set is one this processor has; the sizes were checked above, and each panel
                // is computed by one thread only.
                split(0, self.panels(), parts, &|from, to| unsafe { gemm(isa, &product, from, to) });
            }
            #[cfg(target_arch = "x86_64")]
            Self::Cells(weights) => {
                converted.cells.convert(weights, from);
                let product = CellProduct { input: &converted.cells, rows, weights, result, finish, next };
                // SAFETY: the inputs were converted for these weights; the rest as above.
                split(0, self.panels(), parts, &|from, to| unsafe { product.multiply(from, to) });
            }
        }
    }
}

/// Halves the range of panels recursively until there is a part for each thread.
fn split(from: usize, to: usize, parts: usize, multiply: &(impl Fn(usize, usize) + Sync)) {
    if parts <= 1 || to - from <= 1 {
        multiply(from, to);
        return;
    }
    let middle = from + (to - from) / 2;
    rayon::join(
        || split(from, middle, parts / 2, multiply),
        || split(middle, to, parts - parts / 2, multiply),
    );
}
