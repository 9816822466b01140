//! What a person wants of an import.

use std::collections::HashMap;

use autokit_api::{ExistingCards, ItemChoice, Landing};
use autokit_toolcard::Author;

/// What a plan is asked for when it is carried out.
pub(crate) struct Wishes {
    pub(crate) existing: ExistingCards,
    pub(crate) landing: Landing,
    /// Whether suspect texts may go into the library as well: AutoKit's own cards, and what is only measured.
    pub(crate) suspect_too: bool,
    pub(crate) choices: HashMap<u32, ItemChoice>,
    pub(crate) reason: String,
    pub(crate) by: Author,
    pub(crate) at: String,
}

impl Wishes {
    /// Where a card lands. Whom one trusts may have been deceived or taken over: a text that hides something
    /// or gives orders to a model waits for a person, unless the library says the same already.
    pub(super) fn landing_of(&self, suspect: impl FnOnce() -> bool) -> Landing {
        // Looked for only where it decides: that takes a while.
        let decides = self.landing == Landing::Library && !self.suspect_too;
        if decides && suspect() { Landing::Review } else { self.landing }
    }
}
