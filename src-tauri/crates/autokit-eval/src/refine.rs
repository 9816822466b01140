//! Retrieval with documentation before and after it was refined (DRAFT, Table 3).

use std::path::{Path, PathBuf};

use autokit_app::engine::Vectors;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_metrics::RetrievalReport;
use serde::Serialize;

/// Ending of a folder with the documentation as it was.
const RAW: &str = "-raw";
/// Ending of a folder with the refined documentation.
const REFINED: &str = "-draft";

/// NDCG@1 and NDCG@10 in percent before and after refinement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PaperRow {
    /// Part of the name of a set.
    pub set: &'static str,
    /// Retriever.
    pub retriever: &'static str,
    /// Before.
    pub raw: [f64; 2],
    /// After.
    pub refined: [f64; 2],
}

/// Table 3 of the paper, as far as it is about the same sets.
pub const PAPER: [PaperRow; 3] = [
    PaperRow { set: "tmdb", retriever: "BM25", raw: [24.0, 35.0], refined: [29.0, 39.4] },
    PaperRow { set: "tmdb", retriever: "Contriever", raw: [29.0, 40.4], refined: [31.0, 44.1] },
    PaperRow { set: "spotify", retriever: "Contriever", raw: [45.6, 49.6], refined: [47.4, 49.2] },
];

/// A set with documentation before and after refinement.
#[derive(Clone, Debug, Serialize)]
pub struct RefinedSet {
    /// Name of the set.
    pub name: String,
    /// Before.
    pub raw: RetrievalReport,
    /// After.
    pub refined: RetrievalReport,
}

/// Measures every set below a folder that is there twice, as `NAME-raw` and `NAME-draft`.
///
/// # Errors
/// When there is no such set, a file cannot be read, or there is no model.
pub fn refine(dir: &Path, vectors: &Vectors) -> Result<Vec<RefinedSet>> {
    let bad = |message: String| {
        ApiError::new(
            ErrorCode::BadRequest,
            message,
            "Pass a folder with sets such as films-raw and films-draft.",
        )
    };
    let entries = std::fs::read_dir(dir).map_err(|error| bad(format!("{}: {error}", dir.display())))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.strip_suffix(RAW).map(str::to_owned))
        .filter(|name| dir.join(format!("{name}{REFINED}")).is_dir())
        .collect();
    if names.is_empty() {
        return Err(bad(format!("{} has no set before and after refinement", dir.display())));
    }
    names.sort();
    let folders: Vec<PathBuf> = names
        .iter()
        .flat_map(|name| [RAW, REFINED].map(|ending| dir.join(format!("{name}{ending}"))))
        .collect();
    let mut reports = crate::retrieval(&folders, vectors, None)?.into_iter();
    let mut sets = Vec::new();
    for name in names {
        if let (Some(raw), Some(refined)) = (reports.next(), reports.next()) {
            sets.push(RefinedSet { name, raw, refined });
        }
    }
    Ok(sets)
}
