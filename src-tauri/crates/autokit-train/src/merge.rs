//! The weighted mean of several deltas, as one delta of low rank.
//!
//! Runs with other seeds or other data end at different weights that are good for different reasons; their mean is
//! mostly better than each (Wortsman et al., "Model soups", 2022). The mean of two products of rank 16 has rank 32: it
//! is replaced by the closest matrix of the wanted rank (Eckart & Young, 1936).

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use candle_core::{DType, Device, Tensor};
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
        let LowRank { a, b } = closest(&concatenate(&of_weight)?, rank);
        tensors.push((format!("{name}.lora_a"), a.half(name)?));
        tensors.push((format!("{name}.lora_b"), b.half(name)?));
    }
    let runs: Vec<Value> = files
        .iter()
        .zip(parts)
        .map(|(file, part)| json!({"weight": part.weight, "recipe": file.recipe}))
        .collect();
    let recipe = json!({"base_sha256": first.base, "sum_of": runs, "rank": rank}).to_string();
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
    a: Matrix,
    b: Matrix,
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
        let matrix = |kind: &str| -> Result<Matrix> {
            let name = format!("{name}.{kind}");
            Matrix::of(tensors.get(&name).with_context(|| format!("it has no {name}"))?)
        };
        let (a, mut b) = (matrix("lora_a")?, matrix("lora_b")?);
        ensure!(a.rows == b.columns, "the matrices of {name} do not fit together");
        b.values.iter_mut().for_each(|value| *value *= part.weight);
        Ok((name.to_owned(), LowRank { a, b }))
    });
    let matrices = matrices.collect::<Result<Vec<_>>>()?;
    Ok(File { base, recipe, matrices })
}

/// The sum of products as one product.
fn concatenate(parts: &[&LowRank]) -> Result<LowRank> {
    let (inputs, outputs) = (parts[0].a.columns, parts[0].b.rows);
    ensure!(
        parts.iter().all(|part| part.a.columns == inputs && part.b.rows == outputs),
        "the deltas are of matrices of different shapes"
    );
    let rank = parts.iter().map(|part| part.a.rows).sum();
    let a = parts.iter().flat_map(|part| part.a.values.iter().copied()).collect();
    let b = (0..outputs).flat_map(|row| parts.iter().flat_map(move |part| part.b.row(row).iter().copied()));
    let b = b.collect();
    Ok(LowRank {
        a: Matrix { rows: rank, columns: inputs, values: a },
        b: Matrix { rows: outputs, columns: rank, values: b },
    })
}

/// Returns the product of the wanted rank that is closest to `b a`.
///
/// With the eigenvectors `U D U^T` of `a a^T`, `b a = M V^T` for `M = b U sqrt(D)` and orthonormal `V^T = D^(-1/2) U^T a`. The
/// first eigenvectors `P` of `M^T M` give the closest matrix `(M P) (P^T V^T)`.
fn closest(LowRank { a, b }: &LowRank, rank: usize) -> LowRank {
    let (d, u) = eigen(a.times(&a.transposed()));
    let largest = d.iter().copied().fold(0.0, f64::max);
    let root: Vec<f64> = d.iter().map(|&d| if d > 1e-12 * largest { d.sqrt() } else { 0.0 }).collect();
    let inverse: Vec<f64> = root.iter().map(|&root| if root > 0.0 { 1.0 / root } else { 0.0 }).collect();
    let m = b.times(&u.columns_times(&root));
    let directions = u.columns_times(&inverse).transposed().times(a);
    let (_, p) = eigen(m.transposed().times(&m));
    let p = p.first_columns(rank.min(p.columns));
    LowRank { a: p.transposed().times(&directions), b: m.times(&p) }
}

/// A matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    fn of(tensor: &Tensor) -> Result<Self> {
        let (rows, columns) = tensor.dims2()?;
        Ok(Self { rows, columns, values: tensor.to_dtype(DType::F64)?.flatten_all()?.to_vec1()? })
    }

    fn new(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Self { rows, columns, values: values.map(|(row, column)| value(row, column)).collect() }
    }

    fn half(&self, name: &str) -> Result<Tensor> {
        checkpoint::half(name, &Tensor::from_slice(&self.values, (self.rows, self.columns), &Device::Cpu)?)
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    fn transposed(&self) -> Self {
        Self::new(self.columns, self.rows, |row, column| self.at(column, row))
    }

    fn times(&self, other: &Self) -> Self {
        debug_assert_eq!(self.columns, other.rows);
        let mut values = vec![0.0; self.rows * other.columns];
        for (row, out) in values.chunks_exact_mut(other.columns).enumerate() {
            for (&factor, of_other) in self.row(row).iter().zip(other.values.chunks_exact(other.columns)) {
                for (out, value) in out.iter_mut().zip(of_other) {
                    *out += factor * value;
                }
            }
        }
        Self { rows: self.rows, columns: other.columns, values }
    }

    fn columns_times(&self, factors: &[f64]) -> Self {
        Self::new(self.rows, self.columns, |row, column| self.at(row, column) * factors[column])
    }

    fn first_columns(&self, count: usize) -> Self {
        Self::new(self.rows, count, |row, column| self.at(row, column))
    }
}

/// Sweeps of Jacobi's method; matrices of a few dozen rows take fewer than ten.
const SWEEPS: usize = 50;

/// Eigenvalues of a symmetric matrix, largest first, with its eigenvectors as columns, by Jacobi's method (Golub & Van
/// Loan, "Matrix Computations", 8.5). Written out, because a linear algebra library changes features of the database's
/// dependencies, which would then be built twice.
fn eigen(mut matrix: Matrix) -> (Vec<f64>, Matrix) {
    let n = matrix.rows;
    let mut vectors = Matrix::new(n, n, |row, column| f64::from(u8::from(row == column)));
    let size: f64 = matrix.values.iter().map(|value| value * value).sum();
    for _ in 0..SWEEPS {
        let beside: f64 = (0..n)
            .flat_map(|row| (0..row).map(move |column| (row, column)))
            .map(|(row, column)| matrix.at(row, column).powi(2))
            .sum();
        if beside <= 1e-28 * size {
            break;
        }
        for q in 1..n {
            for p in 0..q {
                rotate(&mut matrix, &mut vectors, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| matrix.at(b, b).total_cmp(&matrix.at(a, a)));
    let values = order.iter().map(|&at| matrix.at(at, at).max(0.0)).collect();
    (values, Matrix::new(n, n, |row, column| vectors.at(row, order[column])))
}

/// Turns rows and columns `first` and `second` of a symmetric matrix so that the element they share becomes 0.
fn rotate(matrix: &mut Matrix, vectors: &mut Matrix, first: usize, second: usize) {
    let shared = matrix.at(first, second);
    if shared == 0.0 {
        return;
    }
    let theta = (matrix.at(second, second) - matrix.at(first, first)) / (2.0 * shared);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let size = matrix.columns;
    let turn = |values: &mut [f64], one: usize, other: usize| {
        (values[one], values[other]) =
            (cosine * values[one] - sine * values[other], sine * values[one] + cosine * values[other]);
    };
    for row in 0..size {
        turn(&mut matrix.values, row * size + first, row * size + second);
        turn(&mut vectors.values, row * size + first, row * size + second);
    }
    for column in 0..size {
        turn(&mut matrix.values, first * size + column, second * size + column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(rows: usize, columns: usize, seed: u64) -> Matrix {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        Matrix { rows, columns, values: (0..rows * columns).map(|_| next()).collect() }
    }

    fn distance(a: &Matrix, b: &Matrix) -> f64 {
        a.values.iter().zip(&b.values).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn eigenvectors_rebuild_a_symmetric_matrix() {
        let root = random(12, 20, 3);
        let matrix = root.times(&root.transposed());
        let (values, vectors) = eigen(matrix.clone());
        assert!(values.is_sorted_by(|a, b| a >= b));
        let rebuilt = vectors.columns_times(&values).times(&vectors.transposed());
        assert!(distance(&rebuilt, &matrix) < 1e-9);
    }

    #[test]
    fn a_matrix_of_the_wanted_rank_is_kept_and_others_lose_their_smallest_singular_values() {
        let low = LowRank { a: random(6, 30, 1), b: random(40, 6, 2) };
        let product = low.b.times(&low.a);
        let same = closest(&low, 6);
        assert!(distance(&same.b.times(&same.a), &product) < 1e-9);
        let fewer = closest(&low, 4);
        assert_eq!((fewer.a.rows, fewer.b.columns), (4, 4));
        let (values, _) = eigen(product.transposed().times(&product));
        let lost: f64 = values[4..].iter().sum::<f64>().sqrt();
        assert!((distance(&fewer.b.times(&fewer.a), &product) - lost).abs() < 1e-6);
    }

    #[test]
    fn deltas_are_added_by_their_weights() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, seed, base: &str| {
            let (a, b) = (random(2, 5, seed), random(3, 2, seed + 1));
            let tensors = [
                ("x.lora_a".to_owned(), a.half("x").unwrap()),
                ("x.lora_b".to_owned(), b.half("x").unwrap()),
            ];
            let recipe = json!({"base_sha256": base, "seed": seed}).to_string();
            let path = folder.path().join(name);
            checkpoint::write(&path, &tensors, [(RECIPE.to_owned(), recipe)].into()).unwrap();
            (path, b.times(&a))
        };
        let ((one, first), (two, second)) = (write("one", 5, "base"), write("two", 9, "base"));
        let out = folder.path().join("out");
        let part = |path: &std::path::Path, weight| Part { path: path.to_owned(), weight };
        merge(&[part(&one, 0.25), part(&two, 0.5)], 4, &out).unwrap();
        let merged = read_anything(&out);
        let sum = |one: f64, two: f64| {
            Matrix::new(3, 5, |row, column| one * first.at(row, column) + two * second.at(row, column))
        };
        assert!(distance(&merged, &sum(0.25, 0.5)) < 0.01, "{merged:?}");

        let again = folder.path().join("again");
        merge(&[part(&out, 0.5)], 4, &again).unwrap();
        assert!(distance(&read_anything(&again), &sum(0.125, 0.25)) < 0.01, "a merged delta is a delta");

        let (other, _) = write("other", 1, "another base");
        let error = merge(&[part(&one, 0.5), part(&other, 0.5)], 4, &out).unwrap_err();
        assert!(error.to_string().contains("different base models"), "{error}");
    }

    fn read_anything(path: &std::path::Path) -> Matrix {
        let tensors = candle_core::safetensors::load(path, &Device::Cpu).unwrap();
        Matrix::of(&tensors["x.lora_b"]).unwrap().times(&Matrix::of(&tensors["x.lora_a"]).unwrap())
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
