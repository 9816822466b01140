//! Operations with backward passes of their own.
//!
//! candle's fused layer norm and softmax have no backward pass, and its product computes the gradient of both
//! factors, of which a frozen weight needs none. These run on the CPU; on another device the network uses
//! candle's differentiable operations instead.

use candle_core::backend::BackendStorage as _;
use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Storage, Tensor};
use rayon::prelude::*;

/// `x W^T + b` with frozen `W [out, in]` and `b [out]`, for `x [rows, in]`.
pub(crate) struct FrozenLinear {
    pub(crate) weight: Tensor,
    pub(crate) bias: Tensor,
}

impl CustomOp1 for FrozenLinear {
    fn name(&self) -> &'static str {
        "frozen-linear"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (rows, inputs) = layout.shape().dims2()?;
        let (outputs, _) = self.weight.dims2()?;
        let (weight, weight_layout) = self.weight.storage_and_layout();
        let Storage::Cpu(weight) = &*weight else { candle_core::bail!("the weight is not on the CPU") };
        let transposed = weight_layout.transpose(0, 1)?;
        let product = x.matmul(weight, (1, rows, outputs, inputs), layout, &transposed)?;
        let CpuStorage::F32(mut product) = product else { candle_core::bail!("the product is not f32") };
        let bias = self.bias.to_vec1::<f32>()?;
        product.par_chunks_mut(outputs).for_each(|row| {
            for (value, bias) in row.iter_mut().zip(&bias) {
                *value += bias;
            }
        });
        Ok((CpuStorage::F32(product), Shape::from((rows, outputs))))
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        gradient.contiguous()?.matmul(&self.weight).map(Some)
    }
}

/// The exact GELU, `x Φ(x)`, element by element.
pub(crate) struct Gelu;

/// Elements per task of an element-wise operation: enough that starting it costs nothing beside its work.
const ELEMENTS: usize = 16 * 1024;

impl CustomOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let x = contiguous(x, layout)?;
        let mut out = vec![0.0; x.len()];
        out.par_chunks_mut(ELEMENTS).zip(x.par_chunks(ELEMENTS)).for_each(|(out, x)| {
            for (out, &x) in out.iter_mut().zip(x) {
                *out = x * normal_cdf(x);
            }
        });
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        x.contiguous()?.apply_op2_no_bwd(&gradient.contiguous()?, &GeluBackward).map(Some)
    }
}

struct GeluBackward;

impl CustomOp2 for GeluBackward {
    fn name(&self) -> &'static str {
        "gelu-backward"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        gradient: &CpuStorage,
        gradient_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (x, gradient) = (contiguous(x, x_layout)?, contiguous(gradient, gradient_layout)?);
        let mut out = vec![0.0; x.len()];
        let inputs = x.par_chunks(ELEMENTS).zip(gradient.par_chunks(ELEMENTS));
        out.par_chunks_mut(ELEMENTS).zip(inputs).for_each(|(out, (x, gradient))| {
            for ((out, &x), gradient) in out.iter_mut().zip(x).zip(gradient) {
                let density = (-0.5 * x * x).exp() * FRAC_1_SQRT_2PI;
                *out = gradient * (normal_cdf(x) + x * density);
            }
        });
        Ok((CpuStorage::F32(out), x_layout.shape().clone()))
    }
}

/// `1 / sqrt(2π)`.
const FRAC_1_SQRT_2PI: f32 = 0.398_942_3;

fn normal_cdf(x: f32) -> f32 {
    0.5 * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Layer norm over the last dimension, with frozen weight and bias.
pub(crate) struct LayerNorm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

/// Mean of a row, and 1 over its standard deviation.
fn moments(row: &[f32], epsilon: f32) -> (f32, f32) {
    let n = row.len() as f32;
    let mean = row.iter().sum::<f32>() / n;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / n;
    (mean, 1.0 / (variance + epsilon).sqrt())
}

/// Layer norm as an operation: shared, because every layer applies it and its backward pass needs it again.
#[derive(Clone)]
pub(crate) struct LayerNormOp(pub(crate) std::sync::Arc<LayerNorm>);

impl CustomOp1 for LayerNormOp {
    fn name(&self) -> &'static str {
        "layer-norm"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let x = contiguous(x, layout)?;
        let norm = &*self.0;
        let width = norm.weight.len();
        let mut out = vec![0.0; x.len()];
        out.par_chunks_mut(width).zip(x.par_chunks(width)).for_each(|(out, row)| {
            let (mean, scale) = moments(row, norm.epsilon);
            for (((out, x), weight), bias) in out.iter_mut().zip(row).zip(&norm.weight).zip(&norm.bias) {
                *out = (x - mean) * scale * weight + bias;
            }
        });
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        x.contiguous()?.apply_op2_no_bwd(&gradient.contiguous()?, &LayerNormBackward(self.clone())).map(Some)
    }
}

struct LayerNormBackward(LayerNormOp);

impl CustomOp2 for LayerNormBackward {
    fn name(&self) -> &'static str {
        "layer-norm-backward"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        gradient: &CpuStorage,
        gradient_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (x, gradient) = (contiguous(x, x_layout)?, contiguous(gradient, gradient_layout)?);
        let norm = &*self.0.0;
        let width = norm.weight.len();
        let mut out = vec![0.0; x.len()];
        let inputs = x.par_chunks(width).zip(gradient.par_chunks(width));
        out.par_chunks_mut(width).zip(inputs).for_each(|(out, (row, gradient))| {
            let (mean, scale) = moments(row, norm.epsilon);
            let n = width as f32;
            let (mut sum, mut along) = (0.0, 0.0);
            for ((x, gradient), weight) in row.iter().zip(gradient).zip(&norm.weight) {
                sum += gradient * weight;
                along += gradient * weight * (x - mean) * scale;
            }
            for (((out, x), gradient), weight) in out.iter_mut().zip(row).zip(gradient).zip(&norm.weight) {
                let normalised = (x - mean) * scale;
                *out = scale * (gradient * weight - (sum + normalised * along) / n);
            }
        });
        Ok((CpuStorage::F32(out), x_layout.shape().clone()))
    }
}

/// Softmax of scaled attention scores `[sequences, heads, length, length]`; keys beyond the length of a
/// sequence get probability 0.
#[derive(Clone)]
pub(crate) struct AttentionSoftmax {
    pub(crate) lengths: std::sync::Arc<[usize]>,
    pub(crate) scale: f32,
}

impl CustomOp1 for AttentionSoftmax {
    fn name(&self) -> &'static str {
        "attention-softmax"
    }

    fn cpu_fwd(&self, scores: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, heads, queries, keys) = layout.shape().dims4()?;
        let scores = contiguous(scores, layout)?;
        let mut out = vec![0.0; scores.len()];
        let sequence = heads * queries * keys;
        let inputs = scores.par_chunks(sequence).zip(self.lengths.par_iter());
        out.par_chunks_mut(sequence).zip(inputs).for_each(|(out, (scores, &length))| {
            for (out, scores) in out.chunks_mut(keys).zip(scores.chunks(keys)) {
                let (out, scores) = (&mut out[..length], &scores[..length]);
                let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let mut sum = 0.0;
                for (out, score) in out.iter_mut().zip(scores) {
                    *out = ((score - largest) * self.scale).exp();
                    sum += *out;
                }
                for out in out {
                    *out /= sum;
                }
            }
        });
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(&self, _: &Tensor, probabilities: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        probabilities
            .contiguous()?
            .apply_op2_no_bwd(&gradient.contiguous()?, &SoftmaxBackward { scale: self.scale })
            .map(Some)
    }
}

struct SoftmaxBackward {
    scale: f32,
}

impl CustomOp2 for SoftmaxBackward {
    fn name(&self) -> &'static str {
        "attention-softmax-backward"
    }

    fn cpu_fwd(
        &self,
        probabilities: &CpuStorage,
        layout: &Layout,
        gradient: &CpuStorage,
        gradient_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (_, _, _, keys) = layout.shape().dims4()?;
        let probabilities = contiguous(probabilities, layout)?;
        let gradient = contiguous(gradient, gradient_layout)?;
        let mut out = vec![0.0; probabilities.len()];
        let inputs = probabilities.par_chunks(keys).zip(gradient.par_chunks(keys));
        out.par_chunks_mut(keys).with_min_len(64).zip(inputs).for_each(|(out, (p, gradient))| {
            let along: f32 = p.iter().zip(gradient).map(|(p, gradient)| p * gradient).sum();
            for ((out, p), gradient) in out.iter_mut().zip(p).zip(gradient) {
                *out = self.scale * p * (gradient - along);
            }
        });
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }
}

/// Returns the f32 values of a contiguous tensor.
fn contiguous<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let Some((from, to)) = layout.contiguous_offsets() else {
        candle_core::bail!("the tensor is not contiguous");
    };
    Ok(&storage.as_slice::<f32>()?[from..to])
}
