//! The weighted mean of several deltas, as one delta of low rank.
//!
//! Runs with other seeds or other data end at different weights that are good for different reasons; their mean is
//! mostly better than each (Wortsman et al., "Model soups", 2022). The mean of two products of rank 16 has rank 32: it
//! is replaced by the closest matrix of the wanted rank (Eckart & Young, 1936).

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use candle_core::{DType, Device, Tensor};
use nalgebra::DMatrix;
use safetensors::SafeTensors;
use serde_json::{Value, json};

use crate::checkpoint::{self, RECIPE};

/// A delta with its weight in the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// File of the delta.
    pub path: PathBuf,
    /// Factor, mostly such that all of them add up to at most 1.
    pub weight: f64,
}

impl std::str::FromStr for Part {
    type Err = String;

    /// Parses `FILE=WEIGHT`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (path, weight) = text.rsplit_once('=').ok_or("expected FILE=WEIGHT")?;
        let weight: f64 = weight.parse().map_err(|_| format!("{weight} is no number"))?;
        if weight.is_finite() {
            Ok(Self { path: path.into(), weight })
        } else {
            Err("it is not finite".into())
        }
    }
}

/// Writes the weighted sum of deltas of the same base model as one delta.
///
/// # Errors
/// When a file cannot be read or written, is no delta of this program, or belongs to another base model.
pub fn merge(parts: &[Part], rank: usize, out: &std::path::Path) -> Result<()> {
    ensure!(rank > 0, "the rank is 0");
    let mut files = Vec::with_capacity(parts.len());
    for part in parts {
        files.push(read(part).with_context(|| format!("reading {}", part.path.display()))?);
    }
    let Some((first, others)) = files.split_first() else { bail!("there is nothing to merge") };
    for other in others {
        ensure!(other.base == first.base, "the deltas are of different base models");
        let names = |file: &File| file.matrices.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        ensure!(names(other) == names(first), "the deltas change different weights");
    }
    let mut tensors = Vec::new();
    for (at, (name, _)) in first.matrices.iter().enumerate() {
        let of_weight: Vec<&LowRank> = files.iter().map(|file| &file.matrices[at].1).collect();
        let LowRank { a, b } = closest(&concatenate(&of_weight)?, rank)?;
        tensors.push((format!("{name}.lora_a"), to_half(name, &a)?));
        tensors.push((format!("{name}.lora_b"), to_half(name, &b)?));
    }
    let runs: Vec<Value> = files
        .iter()
        .zip(parts)
        .map(|(file, part)| json!({"weight": part.weight, "recipe": file.recipe}))
        .collect();
    let recipe = json!({"sum_of": runs, "rank": rank}).to_string();
    checkpoint::write(out, &tensors, [(RECIPE.to_owned(), recipe)].into())
}

struct File {
    /// SHA-256 of the base model's weights.
    base: String,
    recipe: Value,
    /// By the name of the weight, in alphabetical order.
    matrices: Vec<(String, LowRank)>,
}

/// `b a`, with `b [out, rank]` and `a [rank, in]`.
#[derive(Debug, Clone)]
struct LowRank {
    a: DMatrix<f64>,
    b: DMatrix<f64>,
}

/// Reads a delta, multiplied by its weight.
fn read(part: &Part) -> Result<File> {
    let bytes = std::fs::read(&part.path)?;
    let (_, metadata) = SafeTensors::read_metadata(&bytes)?;
    let recipe = metadata.metadata().as_ref().and_then(|entries| entries.get(RECIPE));
    let recipe: Value = serde_json::from_str(recipe.context("it has no recipe")?)?;
    let base = recipe["base_sha256"].as_str().context("its recipe names no base model")?.to_owned();
    let tensors = candle_core::safetensors::load_buffer(&bytes, &Device::Cpu)?;
    let mut names: Vec<&str> = tensors.keys().filter_map(|name| name.strip_suffix(".lora_a")).collect();
    names.sort_unstable();
    let matrices = names.into_iter().map(|name| {
        let matrix = |kind: &str| -> Result<DMatrix<f64>> {
            let name = format!("{name}.{kind}");
            to_matrix(tensors.get(&name).with_context(|| format!("it has no {name}"))?)
        };
        let (a, b) = (matrix("lora_a")?, matrix("lora_b")?);
        ensure!(a.nrows() == b.ncols(), "the matrices of {name} do not fit together");
        Ok((name.to_owned(), LowRank { a, b: b * part.weight }))
    });
    let matrices = matrices.collect::<Result<Vec<_>>>()?;
    Ok(File { base, recipe, matrices })
}

/// The sum of products as one product.
fn concatenate(parts: &[&LowRank]) -> Result<LowRank> {
    let (inputs, outputs) = (parts[0].a.ncols(), parts[0].b.nrows());
    ensure!(
        parts.iter().all(|part| part.a.ncols() == inputs && part.b.nrows() == outputs),
        "the deltas are of matrices of different shapes"
    );
    let rows: Vec<_> = parts.iter().flat_map(|part| part.a.row_iter()).collect();
    let columns: Vec<_> = parts.iter().flat_map(|part| part.b.column_iter()).collect();
    Ok(LowRank { a: DMatrix::from_rows(&rows), b: DMatrix::from_columns(&columns) })
}

/// Returns the product of the wanted rank that is closest to `b a`: its largest singular values. With `b = P R` and
/// `a^T = Q S`, they are those of the small matrix `R S^T`.
fn closest(LowRank { a, b }: &LowRank, rank: usize) -> Result<LowRank> {
    let (p, r) = b.clone().qr().unpack();
    let (q, s) = a.transpose().qr().unpack();
    let decomposed = (r * s.transpose()).svd(true, true);
    let (Some(u), Some(v)) = (decomposed.u, decomposed.v_t) else { bail!("it has no singular vectors") };
    let rank = rank.min(decomposed.singular_values.len());
    let mut b = p * u.columns(0, rank);
    for (mut column, &value) in b.column_iter_mut().zip(&decomposed.singular_values) {
        column *= value;
    }
    Ok(LowRank { a: v.rows(0, rank) * q.transpose(), b })
}

fn to_matrix(tensor: &Tensor) -> Result<DMatrix<f64>> {
    let (rows, columns) = tensor.dims2()?;
    let values: Vec<f64> = tensor.to_dtype(DType::F64)?.flatten_all()?.to_vec1()?;
    Ok(DMatrix::from_row_slice(rows, columns, &values))
}

fn to_half(name: &str, matrix: &DMatrix<f64>) -> Result<Tensor> {
    // By column, as nalgebra stores it, a matrix is its transpose by row.
    let by_column = Tensor::from_slice(matrix.as_slice(), (matrix.ncols(), matrix.nrows()), &Device::Cpu)?;
    checkpoint::half(name, &by_column.t()?.contiguous()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(rows: usize, columns: usize, seed: u64) -> DMatrix<f64> {
        let mut state = seed;
        DMatrix::from_fn(rows, columns, |_, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 23) - 1.0
        })
    }

    #[test]
    fn a_matrix_of_the_wanted_rank_is_kept_and_others_lose_their_smallest_singular_values() {
        let low = LowRank { a: random(6, 30, 1), b: random(40, 6, 2) };
        let product = &low.b * &low.a;
        let same = closest(&low, 6).unwrap();
        assert!((&same.b * &same.a - &product).norm() < 1e-9);
        let fewer = closest(&low, 4).unwrap();
        assert_eq!((fewer.a.nrows(), fewer.b.ncols()), (4, 4));
        let values = product.clone().singular_values();
        let lost = values.iter().skip(4).map(|value| value * value).sum::<f64>().sqrt();
        assert!(((&fewer.b * &fewer.a - product).norm() - lost).abs() < 1e-9);
    }

    #[test]
    fn deltas_are_added_by_their_weights() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, seed, base: &str| {
            let (a, b) = (random(2, 5, seed), random(3, 2, seed + 1));
            let tensors = [
                ("x.lora_a".to_owned(), to_half("x", &a).unwrap()),
                ("x.lora_b".to_owned(), to_half("x", &b).unwrap()),
            ];
            let recipe = json!({"base_sha256": base, "seed": seed}).to_string();
            let path = folder.path().join(name);
            checkpoint::write(&path, &tensors, [(RECIPE.to_owned(), recipe)].into()).unwrap();
            (path, b * a)
        };
        let ((one, first), (two, second)) = (write("one", 5, "base"), write("two", 9, "base"));
        let out = folder.path().join("out");
        let part = |path: &std::path::Path, weight| Part { path: path.to_owned(), weight };
        merge(&[part(&one, 0.25), part(&two, 0.5)], 4, &out).unwrap();
        let merged = read_anything(&out);
        let expected = first * 0.25 + second * 0.5;
        assert!((&merged - &expected).norm() < 0.01, "{merged} {expected}");

        let (other, _) = write("other", 1, "another base");
        let error = merge(&[part(&one, 0.5), part(&other, 0.5)], 4, &out).unwrap_err();
        assert!(error.to_string().contains("different base models"), "{error}");
    }

    fn read_anything(path: &std::path::Path) -> DMatrix<f64> {
        let tensors = candle_core::safetensors::load(path, &Device::Cpu).unwrap();
        to_matrix(&tensors["x.lora_b"]).unwrap() * to_matrix(&tensors["x.lora_a"]).unwrap()
    }

    #[test]
    fn parts_are_files_with_weights() {
        let part: Part = "runs/a=b.safetensors=0.5".parse().unwrap();
        assert_eq!(part, Part { path: "runs/a=b.safetensors".into(), weight: 0.5 });
        assert!(
            "a".parse::<Part>().is_err()
                && "a=x".parse::<Part>().is_err()
                && "a=inf".parse::<Part>().is_err()
        );
    }
}
