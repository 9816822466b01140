//! Errors of the crate.

use std::path::PathBuf;

use autokit_search::RetrieveError;

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
