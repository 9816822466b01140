//! Errors of the crate.

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
