//! Detection of flagged texts (prompt injection and the like) in cards that arrive.

use autokit_library::CardRecord;
use autokit_toolcard::{Toolcard, fields, is_flagged};
use serde_json::Value;

/// Returns whether a card has a flagged text that the library's card does not have: hidden text,
/// instructions to a model, keyword stuffing, or code where a name should be.
pub(crate) fn has_new_flagged_text(card: &Toolcard, ours: Option<&CardRecord>) -> bool {
    let ours = ours.map(|ours| ours.card().into_object());
    let new = |field: &str, value: &Value| ours.as_ref().and_then(|ours| ours.get(field)) != Some(value);
    card.object().iter().any(|(field, value)| new(field, value) && is_flagged(card.object(), field))
}

/// Returns whether a card has code that the library's card does not have. Code is run once it is in the library, so a person
/// reads it first, whoever it comes from.
pub(crate) fn has_new_code(card: &Toolcard, ours: Option<&CardRecord>) -> bool {
    let new = card.object().get(fields::FUNCTION);
    new.is_some() && ours.is_none_or(|ours| ours.card().object().get(fields::FUNCTION) != new)
}
