//! Which of the cards that a member may see their replica is made of.

use autokit_toolcard::{Kind, Toolcard};
use serde::{Deserialize, Serialize};
use surrealdb::types::Object;

/// Which cards a replica is made of: those of any of these providers, kinds or tags, in capitals or not; all cards if none are
/// named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardFilter {
    /// Providers.
    #[serde(default)]
    pub providers: Vec<String>,
    /// Kinds.
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// Tags.
    #[serde(default)]
    pub tags: Vec<String>,
}

impl CardFilter {
    /// Whether all cards are included.
    pub fn is_all(&self) -> bool {
        self.providers.is_empty() && self.kinds.is_empty() && self.tags.is_empty()
    }

    /// Whether a card is included.
    pub fn includes(&self, card: &Toolcard) -> bool {
        let named = |names: &[String], name: &str| {
            let name = name.to_lowercase();
            names.iter().any(|one| one.to_lowercase() == name)
        };
        self.is_all()
            || named(&self.providers, &card.key().provider)
            || self.kinds.contains(&card.kind())
            || card.tags().any(|tag| named(&self.tags, tag))
    }

    /// As [`CardFilter::includes`], for the JSON text of a card. What is none is included: whoever receives it says so.
    pub(crate) fn includes_text(&self, body: &str) -> bool {
        self.is_all() || Toolcard::from_stored(body).map_or(true, |card| self.includes(&card))
    }

    /// The names as labels have them.
    pub(crate) fn lower_case(names: &[String]) -> Vec<String> {
        names.iter().map(|name| name.to_lowercase()).collect()
    }

    /// The names of the kinds.
    pub(crate) fn kind_names(&self) -> Vec<String> {
        self.kinds.iter().map(|kind| kind.as_str().to_owned()).collect()
    }
}

/// What of a card the database selects it by; `None` for what is no card.
pub(crate) fn labels(body: &str) -> Option<Object> {
    let card = Toolcard::from_stored(body).ok()?;
    let mut labels = Object::new();
    labels.insert("provider", card.key().provider.to_lowercase());
    labels.insert("kind", card.kind().as_str().to_owned());
    labels.insert("tags", card.tags().map(str::to_lowercase).collect::<Vec<String>>());
    Some(labels)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_card_is_included_by_any_of_what_is_named() {
        let card = json!({ "name": "kettle", "provider": "Acme", "kind": "cli", "tags": ["water", "tea"] });
        let includes = |filter: CardFilter| filter.includes_text(&card.to_string());
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let all = CardFilter::default;
        assert!(includes(all()));
        assert!(includes(CardFilter { providers: names(&["Other", "Acme"]), ..all() }));
        assert!(includes(CardFilter { providers: names(&["Other"]), kinds: vec![Kind::Cli], ..all() }));
        assert!(includes(CardFilter { tags: names(&["tea"]), ..all() }));
        assert!(!includes(CardFilter { tags: names(&["coffee"]), kinds: vec![Kind::Class], ..all() }));
        assert!(includes(CardFilter { providers: names(&["acme"]), ..all() }));
    }

    #[test]
    fn what_is_no_card_is_included_and_has_no_labels() {
        let filter = CardFilter { tags: vec!["tea".to_owned()], ..CardFilter::default() };
        assert!(filter.includes_text("no card"));
        assert!(labels("no card").is_none());
    }
}
