//! What a person chose for an import.

use std::collections::HashMap;

use autokit_api::{ExistingCards, ItemChoice, Landing};
use autokit_toolcard::{Author, Timestamp};

/// The options an import is carried out with.
pub(crate) struct ImportOptions {
    pub(crate) existing: ExistingCards,
    pub(crate) landing: Landing,
    /// Whether flagged texts may be written to the library too. Only for AutoKit's own cards and for
    /// benchmarks.
    pub(crate) flagged_too: bool,
    pub(crate) choices: HashMap<u32, ItemChoice>,
    pub(crate) reason: String,
    pub(crate) by: Author,
    pub(crate) at: Timestamp,
}

impl ImportOptions {
    /// Returns where a card is imported to. Even a trusted source may have been deceived or taken over, so
    /// a flagged text or code that is not already in the library waits in Review.
    pub(super) fn resolve_landing(&self, suspect: impl FnOnce() -> bool) -> Landing {
        // Evaluated only where it matters, because scanning takes a while.
        let decides = self.landing == Landing::Library && !self.flagged_too;
        if decides && suspect() { Landing::Review } else { self.landing }
    }
}
