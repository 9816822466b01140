//! Functions as cards: tools whose code AutoKit runs in its sandbox (Elyra, bootstrapping).

use autokit_sandbox::function::Function;
use autokit_toolcard::{Toolcard, fields};

/// Returns the function of a card. `None` for other cards, where it has no code or too much of it, and where the card says
/// that its tool is called in another way too: what a reader takes it for has to be what is called.
pub fn function_of(card: &Toolcard) -> Option<Function> {
    let mut others = fields::CALLS.iter().filter(|field| **field != fields::FUNCTION);
    if others.any(|field| card.object().contains_key(*field)) {
        return None;
    }
    let found: Function = serde_json::from_value(card.object().get(fields::FUNCTION)?.clone()).ok()?;
    found.is_sound().then_some(found)
}
