//! Edits that people make again and again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Longest text that is given for what was replaced or put in its place, in characters.
const MAX_TEXT: usize = 200;

/// One person's change of one card.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// Id of the card.
    pub card: &'a str,
    /// Its fields before.
    pub before: &'a Map<String, Value>,
    /// Its fields after.
    pub after: &'a Map<String, Value>,
}

/// The same edit of a field on several cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedEdit {
    /// The field.
    pub field: String,
    /// What was there; empty where something was added.
    pub from: String,
    /// What was put in its place; empty where something was removed.
    pub to: String,
    /// Ids of the cards, in order.
    pub cards: Vec<String>,
}

/// Finds edits that were made on at least `cards` cards, those of most cards first.
pub fn repeated_edits<'a>(edits: impl IntoIterator<Item = Edit<'a>>, cards: usize) -> Vec<RepeatedEdit> {
    let mut found: BTreeMap<(String, String, String), BTreeSet<&str>> = BTreeMap::new();
    for edit in edits {
        let fields: BTreeSet<&String> = edit.before.keys().chain(edit.after.keys()).collect();
        for field in fields {
            for (from, to) in changes(edit.before.get(field), edit.after.get(field)) {
                if from.chars().count() <= MAX_TEXT && to.chars().count() <= MAX_TEXT {
                    found.entry((field.clone(), from, to)).or_default().insert(edit.card);
                }
            }
        }
    }
    let mut repeated: Vec<RepeatedEdit> = found
        .into_iter()
        .filter(|(_, on)| on.len() >= cards.max(2))
        .map(|((field, from, to), on)| RepeatedEdit {
            field,
            from,
            to,
            cards: on.into_iter().map(str::to_owned).collect(),
        })
        .collect();
    repeated.sort_by(|a, b| b.cards.len().cmp(&a.cards.len()).then_with(|| a.field.cmp(&b.field)));
    repeated
}

/// Returns what was replaced in a field, and by what.
fn changes(before: Option<&Value>, after: Option<&Value>) -> Vec<(String, String)> {
    if before == after {
        return Vec::new();
    }
    match (before, after) {
        (Some(Value::String(before)), Some(Value::String(after))) => vec![replaced(before, after)],
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            let added = after.iter().filter(|item| !before.contains(item));
            let removed = before.iter().filter(|item| !after.contains(item));
            let added = added.map(|item| (String::new(), shown(Some(item))));
            added.chain(removed.map(|item| (shown(Some(item)), String::new()))).collect()
        }
        _ => vec![(shown(before), shown(after))],
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// Returns the words that differ between two texts: the same word may be replaced in texts that share nothing else.
fn replaced(before: &str, after: &str) -> (String, String) {
    let words = |text: &str| -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for c in text.chars() {
            match words.last_mut() {
                Some(word) if c.is_alphanumeric() && word.chars().all(char::is_alphanumeric) => word.push(c),
                _ => words.push(c.to_string()),
            }
        }
        words
    };
    let (before, after) = (words(before), words(after));
    let start = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    (before[..before.len() - end].concat(), after[..after.len() - end].concat())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Its id, and its fields before and after an edit.
    type Edited = (String, Map<String, Value>, Map<String, Value>);

    fn card(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn the_same_replacement_on_several_cards_is_found() {
        let pages = ["a.example/x", "b.example", "c.example/deep/page"];
        let cards: Vec<Edited> = pages
            .iter()
            .enumerate()
            .map(|(at, page)| {
                let before = json!({"documentation": format!("http://{page}"), "tags": ["old"], "name": page});
                let after = json!({"documentation": format!("https://{page}"), "tags": ["old", "reviewed"], "name": page});
                (format!("card{at}"), card(&before), card(&after))
            })
            .collect();
        let edits = || cards.iter().map(|(card, before, after)| Edit { card, before, after });
        let found = repeated_edits(edits(), 3);
        let told: Vec<(&str, &str, &str, usize)> = found
            .iter()
            .map(|edit| (edit.field.as_str(), edit.from.as_str(), edit.to.as_str(), edit.cards.len()))
            .collect();
        assert_eq!(told, [("documentation", "http", "https", 3), ("tags", "", "reviewed", 3)]);
        assert!(repeated_edits(edits(), 4).is_empty());
        // Again and again on one card is no pattern.
        let (one, before, after) = &cards[0];
        let same = std::iter::repeat_n(Edit { card: one, before, after }, 5);
        assert!(repeated_edits(same, 3).is_empty());
    }
}
