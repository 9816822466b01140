//! Low-rank deltas: what training added to the weights of a base model.
//!
//! A delta is a safetensors file of f16. For a weight `NAME.weight [out, in]` it has `NAME.lora_a [rank, in]` and
//! `NAME.lora_b [out, rank]`; their product `lora_b lora_a` is added to the weight when the model is loaded
//! (LoRA: Hu et al., 2021), so that encoding costs nothing more.

use std::collections::BTreeMap;

use half::f16;
use safetensors::{Dtype, SafeTensors};
use sha2::{Digest as _, Sha256};

use crate::kernel::Isa;
use crate::kernel::low_rank::add_product;

/// The deltas that are part of this program, by the name the manifest gives them.
const BUILT_IN: &[(&str, &[u8])] =
    &[("all-MiniLM-L6-v2-tools", include_bytes!("../../../../models/all-MiniLM-L6-v2-tools.safetensors"))];

/// A delta of some weights of a network.
#[derive(Clone)]
pub struct Delta {
    sha256: String,
    matrices: BTreeMap<String, LowRank>,
}

/// `b [outputs, rank]` times `a [rank, inputs]`.
#[derive(Clone)]
struct LowRank {
    inputs: usize,
    outputs: usize,
    a: Vec<f32>,
    b: Vec<f32>,
}

impl std::fmt::Debug for Delta {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let weights = self.matrices.len();
        f.debug_struct("Delta").field("sha256", &self.sha256).field("weights", &weights).finish()
    }
}

impl Delta {
    /// Parses a file.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let mut matrices = BTreeMap::new();
        for name in file.names() {
            let Some(weight) = name.strip_suffix(".lora_a") else {
                match name.strip_suffix(".lora_b") {
                    Some(weight) if file.tensor(&format!("{weight}.lora_a")).is_ok() => continue,
                    _ => return Err(format!("{name} is not part of a pair of matrices")),
                }
            };
            let (a, [rank, inputs]) = matrix(&file, name)?;
            let (b, [outputs, other_rank]) = matrix(&file, &format!("{weight}.lora_b"))?;
            if rank != other_rank {
                return Err(format!("the matrices of {weight} have ranks {rank} and {other_rank}"));
            }
            matrices.insert(weight.to_owned(), LowRank { inputs, outputs, a, b });
        }
        let sha256 = hex::encode(Sha256::digest(bytes));
        Ok(Self { sha256, matrices })
    }

    /// Returns the delta of this name that is part of the program.
    pub(crate) fn built_in(name: &str) -> Option<Result<Self, String>> {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, bytes)| Self::parse(bytes))
    }

    /// Returns the sha256 of the file in lower-case hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns the names of the weights it changes, without `.weight`, in order.
    pub fn weights(&self) -> impl Iterator<Item = &str> {
        self.matrices.keys().map(String::as_str)
    }

    /// Adds the delta of the weight `name` (without `.weight`) to it, row-major; returns whether there is one.
    ///
    /// # Errors
    /// When the weight has another shape than its delta.
    pub fn add_to(&self, name: &str, weight: &mut [f32], shape: &[usize]) -> Result<bool, String> {
        let Some(LowRank { inputs, outputs, a, b }) = self.matrices.get(name) else { return Ok(false) };
        if shape != [*outputs, *inputs] {
            return Err(format!("{name} is {shape:?}, its delta is for {:?}", [outputs, inputs]));
        }
        // SAFETY: the instruction set was found on this processor.
        unsafe { add_product(Isa::detect(), weight, a, b, *inputs) };
        Ok(true)
    }
}

/// Reads a matrix of f16 whose numbers are all finite.
fn matrix(file: &SafeTensors<'_>, name: &str) -> Result<(Vec<f32>, [usize; 2]), String> {
    let tensor = file.tensor(name).map_err(|_| format!("there is no {name}"))?;
    let shape: [usize; 2] =
        tensor.shape().try_into().map_err(|_| format!("{name} is {:?} and no matrix", tensor.shape()))?;
    if tensor.dtype() != Dtype::F16 || shape.contains(&0) {
        return Err(format!("{name} is {:?} {shape:?}, expected a matrix of F16", tensor.dtype()));
    }
    let values: Vec<f32> =
        tensor.data().as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect();
    if values.iter().all(|value| value.is_finite()) {
        Ok((values, shape))
    } else {
        Err(format!("{name} contains a number that is not finite"))
    }
}

#[cfg(test)]
mod tests {
    use safetensors::tensor::TensorView;

    use super::*;

    fn file(tensors: &[(&str, &[usize], &[f32])]) -> Vec<u8> {
        let bytes: Vec<Vec<u8>> = tensors
            .iter()
            .map(|(_, _, values)| values.iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect())
            .collect();
        let views = tensors.iter().zip(&bytes).map(|((name, shape, _), bytes)| {
            (*name, TensorView::new(Dtype::F16, shape.to_vec(), bytes).unwrap())
        });
        safetensors::serialize(views, None).unwrap()
    }

    #[test]
    fn the_product_is_added_to_the_weight() {
        let bytes = file(&[("x.lora_a", &[1, 3], &[1.0, 2.0, 3.0]), ("x.lora_b", &[2, 1], &[10.0, -1.0])]);
        let delta = Delta::parse(&bytes).unwrap();
        assert_eq!(delta.weights().collect::<Vec<_>>(), ["x"]);
        assert_eq!(delta.sha256().len(), 64);
        let mut weight = [0.5; 6];
        assert!(delta.add_to("x", &mut weight, &[2, 3]).unwrap());
        let expected = [10.5, 20.5, 30.5, -0.5, -1.5, -2.5];
        assert!(weight.iter().zip(expected).all(|(is, should)| (is - should).abs() < 1e-6), "{weight:?}");
        assert!(!delta.add_to("y", &mut weight, &[2, 3]).unwrap());
        assert!(delta.add_to("x", &mut weight, &[3, 2]).unwrap_err().contains("x is [3, 2]"));
    }

    #[test]
    fn files_that_are_no_deltas_say_why() {
        let a: (&str, &[usize], &[f32]) = ("x.lora_a", &[2, 3], &[1.0; 6]);
        for (bytes, expected) in [
            (b"nothing".to_vec(), ""),
            (file(&[a]), "there is no x.lora_b"),
            (file(&[("x.weight", &[1, 1], &[1.0])]), "x.weight is not part of a pair"),
            (file(&[("x.lora_b", &[1, 1], &[1.0])]), "x.lora_b is not part of a pair"),
            (file(&[a, ("x.lora_b", &[3, 1], &[1.0; 3])]), "ranks 2 and 1"),
            (file(&[a, ("x.lora_b", &[3], &[1.0; 3])]), "no matrix"),
            (file(&[a, ("x.lora_b", &[1, 2], &[1.0, f32::INFINITY])]), "not finite"),
        ] {
            let error = Delta::parse(&bytes).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
