//! Texts that hide something or give orders to a model, where they come in.

use autokit_library::CardRecord;
use autokit_toolcard::{Toolcard, is_flagged};
use serde_json::Value;

/// Whether a card says something that the library's does not, and that hides something, gives orders to a
/// model, is stuffed with catchwords, or is code where a name should be.
pub(crate) fn has_new_flagged_text(card: &Toolcard, ours: Option<&CardRecord>) -> bool {
    let ours = ours.map(|ours| ours.card().into_object());
    let new = |field: &str, value: &Value| ours.as_ref().and_then(|ours| ours.get(field)) != Some(value);
    card.object().iter().any(|(field, value)| new(field, value) && is_flagged(card.object(), field))
}
