//! What can go wrong, and stopping.

/// Asked between steps whether to give up; must be cheap and may be called from several threads.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// What can go wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A vector or matrix has another length than its shape says.
    #[error("{what}: expected a length of {expected}, got {got}")]
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// The length its shape asks for.
        expected: usize,
        /// The length it has.
        got: usize,
    },
    /// A number, a shape or an option is outside of its permitted range.
    #[error("out of range: {0}")]
    Range(&'static str),
    /// A vector is not of unit length (or not finite).
    #[error("not a vector of unit length: {what} {index}")]
    NotUnit {
        /// What the vector belongs to.
        what: &'static str,
        /// Its index there.
        index: usize,
    },
    /// An index points past the end of its list.
    #[error("{what} {index} does not exist")]
    NoSuch {
        /// What the index names.
        what: &'static str,
        /// The index.
        index: usize,
    },
    /// The caller's search failed.
    #[error("the search failed: {0}")]
    Search(String),
    /// The caller asked to stop; nothing was learned.
    #[error("cancelled")]
    Cancelled,
}
