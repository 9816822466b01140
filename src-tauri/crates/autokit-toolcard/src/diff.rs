//! Differences between two versions of a card, field by field.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, DiffTag, DiffableStr, capture_diff_slices_deadline};
use ts_rs::TS;

use crate::card::fields;

/// How a field changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Only the newer version has it.
    Added,
    /// Only the older version has it.
    Removed,
    /// Both have it, with different values.
    Changed,
}

/// Which side a span of text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SpanOp {
    /// On both sides.
    Equal,
    /// Only before.
    Delete,
    /// Only after.
    Insert,
}

/// A run of words with its side. The `Equal` and `Delete` spans joined are the text before, the `Equal` and
/// `Insert` spans joined are the text after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Span {
    /// The side.
    pub op: SpanOp,
    /// The words, including white space.
    pub text: String,
}

/// A change inside a JSON value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct JsonChange {
    /// JSON Pointer (RFC 6901) to the changed value.
    pub path: String,
    /// How it changed.
    pub kind: ChangeKind,
    /// Value before, if any.
    pub before: Option<Value>,
    /// Value after, if any.
    pub after: Option<Value>,
}

/// One changed field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct FieldDiff {
    /// Field name.
    pub field: String,
    /// How it changed.
    pub kind: ChangeKind,
    /// Value before; absent if the field was added.
    pub before: Option<Value>,
    /// Value after; absent if the field was removed.
    pub after: Option<Value>,
    /// Word-level spans if both sides are text (a missing value counts as empty).
    pub spans: Vec<Span>,
    /// Changes inside the value if both sides are objects or both are lists.
    pub inside: Vec<JsonChange>,
}

/// Returns the fields that differ: known fields first, in reading order, then the others in the order of the
/// objects.
pub fn diff_cards(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<FieldDiff> {
    let known = fields::ALL.iter().copied();
    let others = before
        .keys()
        .chain(after.keys().filter(|key| !before.contains_key(*key)))
        .map(String::as_str)
        .filter(|key| !fields::ALL.contains(key));
    known
        .chain(others)
        .filter_map(|field| {
            let (old, new) = (before.get(field), after.get(field));
            let kind = match (old, new) {
                (None, None) => return None,
                (None, Some(_)) => ChangeKind::Added,
                (Some(_), None) => ChangeKind::Removed,
                (Some(a), Some(b)) if same(a, b) => return None,
                (Some(_), Some(_)) => ChangeKind::Changed,
            };
            let mut inside = Vec::new();
            if let (Some(a), Some(b)) = (old, new) {
                walk(a, b, "", &mut inside);
            }
            Some(FieldDiff {
                field: field.to_owned(),
                kind,
                spans: spans_of(old, new),
                before: old.cloned(),
                after: new.cloned(),
                inside,
            })
        })
        .collect()
}

/// Equality that includes key order, because files preserve it.
fn same(a: &Value, b: &Value) -> bool {
    let text = |value: &Value| serde_json::to_string(value).unwrap_or_default();
    a == b && (!a.is_object() && !a.is_array() || text(a) == text(b))
}

fn spans_of(before: Option<&Value>, after: Option<&Value>) -> Vec<Span> {
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => None,
    };
    let (Some(before), Some(after)) = (text(before), text(after)) else { return Vec::new() };
    word_spans(&before, &after)
}

/// Computes a word-level diff of two texts.
fn word_spans(before: &str, after: &str) -> Vec<Span> {
    let (before, after) = (before.tokenize_unicode_words(), after.tokenize_unicode_words());
    let mut spans: Vec<Span> = Vec::new();
    let mut push = |op, words: &[&str]| {
        if words.is_empty() {
            return;
        }
        match spans.last_mut() {
            Some(last) if last.op == op => last.text.extend(words.iter().copied()),
            _ => spans.push(Span { op, text: words.concat() }),
        }
    };
    for op in operations(Algorithm::Patience, &before, &after) {
        if op.tag() == DiffTag::Equal {
            push(SpanOp::Equal, &before[op.old_range()]);
        } else {
            push(SpanOp::Delete, &before[op.old_range()]);
            push(SpanOp::Insert, &after[op.new_range()]);
        }
    }
    spans
}

/// Computes the operations that turn one list of texts into another. The diff algorithms are called only
/// here, because they are generic and slow to compile for each element type.
fn operations(algorithm: Algorithm, before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    // A pathological pair gets a coarser diff instead of freezing the window.
    let deadline = Instant::now() + Duration::from_millis(200);
    capture_diff_slices_deadline(algorithm, before, after, Some(deadline))
}

fn walk(before: &Value, after: &Value, path: &str, changes: &mut Vec<JsonChange>) {
    let mut add = |path: String, old: Option<&Value>, new: Option<&Value>| match (old, new) {
        (Some(old), Some(new)) => walk(old, new, &path, changes),
        (old, new) => changes.push(JsonChange {
            path,
            kind: if old.is_some() { ChangeKind::Removed } else { ChangeKind::Added },
            before: old.cloned(),
            after: new.cloned(),
        }),
    };
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                add(format!("{path}/{escaped}"), a.get(key), b.get(key));
            }
        }
        // Moved elements are recognized, so that inserting one at the front is a single change. Paths of
        // removed elements use the old indices, all others the new ones.
        (Value::Array(a), Value::Array(b)) => {
            let texts = |list: &[Value]| list.iter().map(Value::to_string).collect::<Vec<_>>();
            let (old, new) = (texts(a), texts(b));
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            for op in operations(Algorithm::Myers, &old, &new) {
                let (old, new) = (op.old_range(), op.new_range());
                if op.tag() == DiffTag::Equal {
                    continue;
                }
                let paired = old.len().min(new.len());
                for at in 0..paired {
                    add(format!("{path}/{}", new.start + at), a.get(old.start + at), b.get(new.start + at));
                }
                for at in old.start + paired..old.end {
                    add(format!("{path}/{at}"), a.get(at), None);
                }
                for at in new.start + paired..new.end {
                    add(format!("{path}/{at}"), None, b.get(at));
                }
            }
        }
        (a, b) if a == b => {}
        // A change of the whole value is reported by the field itself.
        _ if path.is_empty() => {}
        (a, b) => changes.push(JsonChange {
            path: path.to_owned(),
            kind: ChangeKind::Changed,
            before: Some(a.clone()),
            after: Some(b.clone()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("an object") };
        object
    }

    #[test]
    fn fields_come_in_reading_order_with_their_kind() {
        let before = object(json!({"x": 1, "verified": true, "name": "a", "class": "K", "pricing": null}));
        let after = object(json!({"name": "b", "verified": true, "module": "m", "x": 2, "pricing": null}));
        let changes: Vec<_> = diff_cards(&before, &after).into_iter().map(|d| (d.field, d.kind)).collect();
        assert_eq!(
            changes,
            [
                ("name".to_owned(), ChangeKind::Changed),
                ("module".to_owned(), ChangeKind::Added),
                ("class".to_owned(), ChangeKind::Removed),
                ("x".to_owned(), ChangeKind::Changed),
            ]
        );
    }

    #[test]
    fn null_and_missing_differ() {
        let diff = diff_cards(&object(json!({"name": "a", "openapi": null})), &object(json!({"name": "a"})));
        assert_eq!(diff.len(), 1);
        assert_eq!((diff[0].kind, diff[0].before.clone()), (ChangeKind::Removed, Some(Value::Null)));
    }

    #[test]
    fn json_fields_are_compared_inside() {
        let diff = diff_cards(
            &object(json!({"init_args": {"key": "a", "old/one": 1, "list": [1, 2]}})),
            &object(json!({"init_args": {"key": "b", "list": [1, 3, 4]}})),
        );
        let inside: Vec<_> = diff[0].inside.iter().map(|c| (c.path.as_str(), c.kind)).collect();
        assert_eq!(
            inside,
            [
                ("/key", ChangeKind::Changed),
                ("/old~1one", ChangeKind::Removed),
                ("/list/1", ChangeKind::Changed),
                ("/list/2", ChangeKind::Added),
            ]
        );
    }

    #[test]
    fn elements_of_lists_are_found_where_they_moved_to() {
        let inside = |before: Value, after: Value| -> Vec<(String, ChangeKind)> {
            let diff = diff_cards(&object(json!({ "tags": before })), &object(json!({ "tags": after })));
            diff[0].inside.iter().map(|change| (change.path.clone(), change.kind)).collect()
        };
        assert_eq!(
            inside(json!(["a", "b"]), json!(["new", "a", "b"])),
            [("/0".to_owned(), ChangeKind::Added)]
        );
        assert_eq!(
            inside(json!(["a", "b", "c"]), json!(["a", "c"])),
            [("/1".to_owned(), ChangeKind::Removed)]
        );
        assert_eq!(
            inside(json!([{"n": 1}, {"n": 2}]), json!([{"n": 1}, {"n": 3}, {"n": 4}])),
            [("/1/n".to_owned(), ChangeKind::Changed), ("/2".to_owned(), ChangeKind::Added)]
        );
    }

    #[test]
    fn words_are_the_unit_of_text() {
        let spans = word_spans("Search the web quickly", "Search the whole web");
        let deleted: String =
            spans.iter().filter(|s| s.op == SpanOp::Delete).map(|s| s.text.as_str()).collect();
        let inserted: String =
            spans.iter().filter(|s| s.op == SpanOp::Insert).map(|s| s.text.as_str()).collect();
        assert_eq!((deleted.trim(), inserted.trim()), ("quickly", "whole"));
    }

    proptest! {
        #[test]
        fn spans_rebuild_both_sides(before in ".{0,80}", after in ".{0,80}") {
            let spans = word_spans(&before, &after);
            let side = |other: SpanOp| -> String {
                spans.iter().filter(|s| s.op != other).map(|s| s.text.as_str()).collect()
            };
            prop_assert_eq!(side(SpanOp::Insert), before);
            prop_assert_eq!(side(SpanOp::Delete), after);
        }
    }
}
