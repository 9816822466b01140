//! Errors of the crate.

use std::path::PathBuf;

/// Why a document or a query was refused; nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RetrieveError {
    /// The vector has another length than those in the index.
    #[error(
        "the vector of {what} has {found} numbers but the index contains vectors of {expected}; \
         embed it with the model the library uses, or rebuild the index after changing models"
    )]
    Dimension {
        /// Id of the document, or the text of the query.
        what: String,
        /// Length in the index.
        expected: usize,
        /// Length given.
        found: usize,
    },
    /// The vector contains a number that is not finite.
    #[error("the vector of {what} contains a number that is not finite; embed the text again")]
    NotFinite {
        /// Id of the document, or the text of the query.
        what: String,
    },
    /// The vector is all zeros.
    #[error("the vector of {what} is all zeros; embed the text again")]
    ZeroVector {
        /// Id of the document, or the text of the query.
        what: String,
    },
    /// The number of query vectors is neither one nor that of the plan's texts.
    #[error(
        "the query came with {found} vectors; give none, one for the whole text, or {expected}, \
         one for each of the plan's texts"
    )]
    VectorCount {
        /// Number of texts in the plan.
        expected: usize,
        /// Number of vectors given.
        found: usize,
    },
}

/// Why an evaluation could not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A file could not be read.
    #[error("{path} could not be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A line or a file does not have the expected format.
    #[error("{path}, line {line}: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// Line from 1; 0 for the file as a whole.
        line: usize,
        /// What was found and what was expected.
        reason: String,
    },
    /// The file contains nothing to evaluate.
    #[error("{path} contains no {what}")]
    Empty {
        /// The file.
        path: PathBuf,
        /// What is missing: tools, queries, cards or questions.
        what: &'static str,
    },
    /// The embedding model failed.
    #[error("the texts could not be embedded: {0}")]
    Embed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The index refused a document or a query.
    #[error(transparent)]
    Retrieve(#[from] RetrieveError),
}
