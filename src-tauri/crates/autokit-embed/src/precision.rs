//! The precision that texts are embedded in.

use serde::{Deserialize, Serialize};

#[cfg(target_arch = "x86_64")]
use crate::kernel::low_precision::LowPrecision;

/// Precision of the products with weights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 8-bit integers: weights scaled by column, inputs by row.
    Int8,
    /// bf16 with sums in f32: both factors are rounded where the processor multiplies bf16 fast, otherwise the weights
    /// only, which halves what has to be read.
    Bf16,
    /// f32.
    #[default]
    F32,
}

impl Precision {
    /// Whether this processor computes in this precision.
    pub fn is_available(self) -> bool {
        match self {
            Self::F32 | Self::Bf16 => true,
            #[cfg(target_arch = "x86_64")]
            Self::Int8 => LowPrecision::Int8.is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Returns this precision, or the next more exact one that this processor computes in.
    #[must_use]
    pub fn or_next_supported(self) -> Self {
        let from_here = [Self::Int8, Self::Bf16].into_iter().skip_while(|precision| *precision != self);
        from_here.into_iter().find(|precision| precision.is_available()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_processor_lacks_is_computed_more_exactly() {
        for precision in [Precision::Int8, Precision::Bf16, Precision::F32] {
            let chosen = precision.or_next_supported();
            assert!(chosen.is_available());
            assert_eq!(chosen == precision, precision.is_available());
        }
        assert_eq!(Precision::F32.or_next_supported(), Precision::F32);
        assert_eq!(Precision::Bf16.or_next_supported(), Precision::Bf16);
    }
}
