//! Files of a training run: checkpoints to resume from, and the delta that results.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use candle_core::{DType, Device, Tensor};
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

use crate::network::Network;
use crate::optimizer::AdamW;

/// Key of the recipe in the metadata of a file.
pub(crate) const RECIPE: &str = "recipe";
/// Key of the number of steps taken.
const STEPS: &str = "steps";

/// Saves the state of a run; a file that is there is replaced in one step.
///
/// # Errors
/// When the file cannot be written.
pub fn save(path: &Path, optimizer: &AdamW, recipe: &str) -> Result<()> {
    let mut tensors = Vec::new();
    for slot in optimizer.slots() {
        tensors.push((format!("variable.{}", slot.name), slot.variable.as_tensor().clone()));
        tensors.push((format!("mean.{}", slot.name), slot.mean.clone()));
        tensors.push((format!("square.{}", slot.name), slot.square.clone()));
    }
    let steps = optimizer.steps().to_string();
    write(path, &tensors, [(RECIPE.to_owned(), recipe.to_owned()), (STEPS.to_owned(), steps)].into())
}

/// Continues a run from a checkpoint.
///
/// # Errors
/// When the file cannot be read, or belongs to a run with another recipe.
pub fn restore(path: &Path, optimizer: &mut AdamW, recipe: &str, device: &Device) -> Result<()> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let (_, metadata) = SafeTensors::read_metadata(&bytes)?;
    let entry = |key: &str| metadata.metadata().as_ref().and_then(|entries| entries.get(key)).cloned();
    ensure!(
        entry(RECIPE).as_deref() == Some(recipe),
        "{} is of a run with other settings; remove it or use its settings",
        path.display()
    );
    let steps = entry(STEPS).and_then(|steps| steps.parse().ok()).context("the checkpoint has no steps")?;
    let tensors = candle_core::safetensors::load_buffer(&bytes, device)?;
    let load =
        |name: &str| tensors.get(name).cloned().with_context(|| format!("the checkpoint has no {name}"));
    optimizer.restore(steps, load)
}

/// Writes the deltas as f16: `NAME.lora_a [rank, in]` and `NAME.lora_b [out, rank]` for each weight
/// `NAME.weight`, to which `lora_b lora_a` is added. The factor of the training is part of `lora_b`. The recipe
/// is the metadata of the file.
///
/// # Errors
/// When the file cannot be written, or a number does not fit into f16.
pub fn write_delta(path: &Path, network: &Network, scale: f64, recipe: &str) -> Result<()> {
    let mut tensors = Vec::new();
    for (name, lora) in network.deltas() {
        tensors.push((format!("{name}.lora_a"), half(name, lora.a.as_tensor())?));
        tensors.push((format!("{name}.lora_b"), half(name, &lora.b.as_tensor().affine(scale, 0.0)?)?));
    }
    // With a second entry, the order in the file would be random.
    write(path, &tensors, [(RECIPE.to_owned(), recipe.to_owned())].into())
}

/// Converts the matrix of a weight to f16.
///
/// # Errors
/// When a number does not fit.
pub(crate) fn half(name: &str, matrix: &Tensor) -> Result<Tensor> {
    let half = matrix.to_device(&Device::Cpu)?.to_dtype(DType::F16)?;
    let largest = half.to_dtype(DType::F32)?.abs()?.max_all()?.to_scalar::<f32>()?;
    ensure!(largest.is_finite(), "{name} has a number that does not fit into f16");
    Ok(half)
}

/// Writes a safetensors file; one that is there is replaced in one step.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(
    path: &Path,
    tensors: &[(String, Tensor)],
    metadata: HashMap<String, String>,
) -> Result<()> {
    let mut bytes = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors {
        let tensor = tensor.to_device(&Device::Cpu)?.flatten_all()?;
        let (kind, data): (_, Vec<u8>) = if tensor.dtype() == DType::F16 {
            let values = tensor.to_vec1::<half::f16>()?;
            (safetensors::Dtype::F16, values.iter().flat_map(|value| value.to_le_bytes()).collect())
        } else {
            let values = tensor.to_dtype(DType::F32)?.to_vec1::<f32>()?;
            (safetensors::Dtype::F32, values.iter().flat_map(|value| value.to_le_bytes()).collect())
        };
        bytes.push((name, kind, data));
    }
    let views = bytes.iter().zip(tensors).map(|((name, kind, data), (_, tensor))| {
        let view = TensorView::new(*kind, tensor.dims().to_vec(), data)?;
        Ok((name.as_str(), view))
    });
    let views = views.collect::<Result<Vec<_>, safetensors::SafeTensorError>>()?;
    let serialized = safetensors::serialize(views, Some(metadata))?;
    let partial = partial(path);
    fs::write(&partial, serialized).with_context(|| format!("writing {}", partial.display()))?;
    fs::rename(&partial, path).with_context(|| format!("writing {}", path.display()))
}

fn partial(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}
