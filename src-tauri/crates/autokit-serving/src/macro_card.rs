//! Macros as cards.

use autokit_bootstrap::Macro;
use autokit_toolcard::{Toolcard, fields};

/// Most calls of a macro.
const MAX_STEPS: usize = 20;

/// Returns the macro of a card. `None` for other cards, and where a call uses what no earlier one returns.
pub fn macro_of(card: &Toolcard) -> Option<Macro> {
    let found: Macro = serde_json::from_value(card.object().get(fields::MACRO)?.clone()).ok()?;
    (found.is_sound() && (1..=MAX_STEPS).contains(&found.steps.len())).then_some(found)
}
