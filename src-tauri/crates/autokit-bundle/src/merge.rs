//! Three-way merge of a card: their changes and ours since the last common state.

use serde_json::{Map, Value};

/// Result of a merge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// The card with all undisputed changes applied; where there is a conflict, our value.
    pub card: Map<String, Value>,
    /// Fields taken from their side, in whole or in part.
    pub taken: Vec<String>,
    /// Fields that both sides changed to different values.
    pub conflicts: Vec<Conflict>,
}

/// A field that both sides changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Name of the field.
    pub field: String,
    /// The value in the common state; `None` if it was absent or no common state is known.
    pub base: Option<Value>,
    /// Our value.
    pub ours: Option<Value>,
    /// Their value.
    pub theirs: Option<Value>,
}

/// Merges two states of a card.
///
/// Without a `base`, fields that only one side has are kept and fields that differ are in conflict, since
/// there is no way to tell which is newer.
pub fn merge(
    base: Option<&Map<String, Value>>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
) -> Merged {
    let mut merged = Merged { card: ours.clone(), ..Merged::default() };
    let names = ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name)));
    for name in names {
        let side = |card: &Map<String, Value>| card.get(name).cloned();
        let (was, our, their) = (base.and_then(side), side(ours), side(theirs));
        let value = match base {
            Some(_) => three_way(was.as_ref(), our.as_ref(), their.as_ref()),
            None => two_way(our.as_ref(), their.as_ref()),
        };
        match value {
            None => {
                let conflict = Conflict { field: name.clone(), base: was, ours: our, theirs: their };
                merged.conflicts.push(conflict);
            }
            Some(value) if value == our => {}
            Some(value) => {
                merged.taken.push(name.clone());
                match value {
                    Some(value) => merged.card.insert(name.clone(), value),
                    None => merged.card.shift_remove(name),
                };
            }
        }
    }
    merged
}

/// `None` for a conflict; otherwise the value, or `Some(None)` if the field is to be absent.
type Outcome = Option<Option<Value>>;

fn three_way(base: Option<&Value>, ours: Option<&Value>, theirs: Option<&Value>) -> Outcome {
    if ours == theirs || theirs == base {
        return Some(ours.cloned());
    }
    if ours == base {
        return Some(theirs.cloned());
    }
    let (Some(Value::Object(base)), Some(Value::Object(ours)), Some(Value::Object(theirs))) =
        (base, ours, theirs)
    else {
        return None;
    };
    // Changes to different keys of one object do not conflict.
    let merged = merge(Some(base), ours, theirs);
    merged.conflicts.is_empty().then_some(Some(Value::Object(merged.card)))
}

fn two_way(ours: Option<&Value>, theirs: Option<&Value>) -> Outcome {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => (ours == theirs).then(|| Some(ours.clone())),
        (one, None) | (None, one) => Some(one.cloned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn each_side_keeps_what_only_it_changed() {
        let base = map(json!({"name": "a", "class": "A", "pricing": "free", "init_args": {"k": 1, "m": 1}}));
        let ours = map(json!({"name": "a", "class": "B", "pricing": "free", "init_args": {"k": 2, "m": 1}}));
        let theirs = map(json!({"name": "a", "class": "A", "init_args": {"k": 1, "m": 3}, "tags": ["x"]}));
        let merged = merge(Some(&base), &ours, &theirs);
        assert_eq!(
            Value::Object(merged.card),
            json!({"name": "a", "class": "B", "init_args": {"k": 2, "m": 3}, "tags": ["x"]})
        );
        assert_eq!(merged.taken, ["pricing", "init_args", "tags"]);
        assert!(merged.conflicts.is_empty());
    }

    #[test]
    fn what_both_changed_is_a_conflict_and_stays_ours() {
        let base = map(json!({"class": "A", "init_args": {"k": 1}}));
        let ours = map(json!({"class": "B", "init_args": {"k": 2}}));
        let theirs = map(json!({"class": "C"}));
        let merged = merge(Some(&base), &ours, &theirs);
        assert_eq!(merged.card, ours);
        let fields: Vec<_> = merged.conflicts.iter().map(|conflict| conflict.field.as_str()).collect();
        assert_eq!(fields, ["class", "init_args"]);
        assert_eq!(merged.conflicts[1].theirs, None);
    }

    #[test]
    fn without_a_common_state_only_gaps_are_filled() {
        let ours = map(json!({"class": "B", "pricing": "free"}));
        let theirs = map(json!({"class": "C", "tags": []}));
        let merged = merge(None, &ours, &theirs);
        assert_eq!(Value::Object(merged.card), json!({"class": "B", "pricing": "free", "tags": []}));
        assert_eq!((merged.taken.len(), merged.conflicts.len()), (1, 1));
    }

    fn card() -> impl Strategy<Value = Map<String, Value>> {
        let leaf = prop_oneof![Just(json!(1)), Just(json!(2)), Just(Value::Null), Just(json!("x"))];
        let value = leaf.clone().prop_recursive(2, 8, 3, move |inner| {
            proptest::collection::btree_map("[abc]", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
        });
        proptest::collection::btree_map("[abcd]", value, 0..4).prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        #[test]
        fn no_change_of_either_side_is_lost(base in card(), ours in card(), theirs in card()) {
            let merged = merge(Some(&base), &ours, &theirs);
            for name in base.keys().chain(ours.keys()).chain(theirs.keys()) {
                let (was, our, their) = (base.get(name), ours.get(name), theirs.get(name));
                let is = merged.card.get(name);
                let disputed = merged.conflicts.iter().any(|conflict| conflict.field == *name);
                if disputed {
                    prop_assert_eq!(is, our);
                } else if our == was {
                    prop_assert_eq!(is, their);
                } else if their == was {
                    prop_assert_eq!(is, our);
                }
            }
        }

        #[test]
        fn merging_is_the_same_from_both_sides_and_once_is_enough(base in card(), ours in card(), theirs in card()) {
            let here = merge(Some(&base), &ours, &theirs);
            let there = merge(Some(&base), &theirs, &ours);
            prop_assert_eq!(here.conflicts.len(), there.conflicts.len());
            if here.conflicts.is_empty() {
                prop_assert!(here.card.iter().all(|(name, value)| there.card.get(name) == Some(value)));
                prop_assert_eq!(here.card.len(), there.card.len());
                prop_assert!(merge(Some(&theirs), &here.card, &theirs).taken.is_empty());
            }
        }
    }
}
