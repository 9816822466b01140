//! What is returned against what is documented, and what errors look like.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Explorer;
use crate::finding::{Finding, type_name};
use crate::tool::Outcome;
use crate::values::type_of;

/// Results that must agree before a field counts as absent.
const RESULTS: usize = 2;
/// Items of a list that are looked at.
const ITEMS: usize = 20;
/// Deepest nesting of results and schemas that is compared.
const DEEPEST: usize = 8;

/// Returns the list that a result is about: the result itself, or the longest list in it.
pub(super) fn main_list(result: &Value) -> Option<&Vec<Value>> {
    match result {
        Value::Array(list) => Some(list),
        Value::Object(object) => object.values().filter_map(Value::as_array).max_by_key(|list| list.len()),
        _ => None,
    }
}

/// Fields by the path of what they are in: `` for the result itself, `items[]` for the items of a list.
type Fields = BTreeMap<String, BTreeMap<String, BTreeSet<&'static str>>>;

impl Explorer<'_> {
    /// Compares the fields of all results with the documented ones.
    pub(super) fn compare_results(&mut self) {
        let Some(returns) = &self.tool.returns else { return };
        let mut documented: BTreeMap<String, BTreeMap<String, DocumentedField>> = BTreeMap::new();
        documented_fields(returns, "", &mut documented, 0);
        let mut actual: Fields = Fields::new();
        // How many objects were seen at each path: what was seen once may be an exception.
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut trials = Vec::new();
        for (at, trial) in self.trials.iter().enumerate() {
            if let Some(result) = trial.outcome.result() {
                actual_fields(result, "", &mut actual, &mut seen, 0);
                trials.push(at);
            }
        }
        if trials.is_empty() {
            return;
        }
        trials.truncate(3);
        let mut findings = Vec::new();
        for (path, fields) in &documented {
            let Some(found) = actual.get(path) else { continue };
            // One object shows what there is, and that something is absent only if it is said to be always there.
            let is_certain = seen.get(path).is_some_and(|seen| *seen >= RESULTS);
            let mut absent: Vec<&String> = fields
                .iter()
                .filter(|(name, field)| !found.contains_key(*name) && (is_certain || field.is_required))
                .map(|(name, _)| name)
                .collect();
            let mut extra: Vec<&String> = found.keys().filter(|name| !fields.contains_key(*name)).collect();
            let mut renamed = Vec::new();
            for name in &absent {
                let fits = |other: &&&String| {
                    let types = &found[**other];
                    types.iter().any(|actual| is_type(actual, &fields[*name].of_type))
                };
                let alike: Vec<&&String> =
                    extra.iter().filter(fits).filter(|other| are_alike(name, other)).collect();
                // One that is absent and another one that is new need not be the same.
                if let [other] = alike.as_slice() {
                    renamed.push(((*name).clone(), (***other).clone()));
                }
            }
            absent.retain(|name| !renamed.iter().any(|(old, _)| old == *name));
            extra.retain(|name| !renamed.iter().any(|(_, new)| new == *name));
            for (old, new) in renamed {
                findings
                    .push(Finding::FieldRenamed { documented: join(path, &old), actual: join(path, &new) });
            }
            findings.extend(absent.into_iter().map(|name| Finding::FieldAbsent { field: join(path, name) }));
            findings.extend(extra.into_iter().filter_map(|name| {
                let of_type = found[name].iter().find(|of_type| **of_type != "null")?;
                Some(Finding::FieldUndocumented { field: join(path, name), of_type: (*of_type).to_owned() })
            }));
            for (name, DocumentedField { of_type, .. }) in fields {
                let Some(types) = found.get(name) else { continue };
                let known: Vec<&&str> = types.iter().filter(|actual| **actual != "null").collect();
                if let [actual] = known.as_slice()
                    && !is_type(actual, of_type)
                {
                    findings.push(Finding::FieldType {
                        field: join(path, name),
                        documented: of_type.clone(),
                        actual: (**actual).to_owned(),
                    });
                }
            }
        }
        for finding in findings {
            self.note(finding, trials.clone());
        }
    }

    /// Says what errors look like, once for each status.
    pub(super) fn describe_errors(&mut self) {
        let mut known: BTreeSet<Option<u16>> = BTreeSet::new();
        let mut found = Vec::new();
        for (at, trial) in self.trials.iter().enumerate() {
            let Outcome::Refused { status, error } = &trial.outcome else { continue };
            let said = status.is_some_and(|status| self.tool.description.contains(&status.to_string()));
            if said || !known.insert(*status) {
                continue;
            }
            let Some(message_at) = message_path(error) else { continue };
            // The cause is what differs from the arguments that work.
            let missing = self.base.keys().find(|name| !trial.arguments.contains_key(*name));
            let changed: Vec<(&String, &Value)> =
                trial.arguments.iter().filter(|(name, value)| self.base.get(*name) != Some(*value)).collect();
            let cause = match (missing, changed.as_slice()) {
                (Some(name), []) => format!("`{name}` is missing"),
                (None, [(name, value)]) if value.to_string().len() <= 40 => {
                    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    format!("`{name}` is `{shown}`")
                }
                _ => continue,
            };
            found.push((Finding::ErrorShape { status: *status, cause, message_at }, at));
        }
        for (finding, at) in found {
            self.note(finding, [at, self.base_trial]);
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A field of a result, as documented.
struct DocumentedField {
    /// Its type, or an empty string.
    of_type: String,
    /// Whether it is said to be always there.
    is_required: bool,
}

fn documented_fields(
    schema: &Value,
    path: &str,
    found: &mut BTreeMap<String, BTreeMap<String, DocumentedField>>,
    depth: usize,
) {
    if depth > DEEPEST {
        return;
    }
    if let Some(items) = schema.get("items") {
        return documented_fields(items, &format!("{path}[]"), found, depth + 1);
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array);
    for (name, own) in properties {
        let field = DocumentedField {
            of_type: type_of(own).unwrap_or("").to_owned(),
            is_required: required.is_some_and(|names| names.iter().any(|required| required == name)),
        };
        found.entry(path.to_owned()).or_default().insert(name.clone(), field);
        documented_fields(own, &join(path, name), found, depth + 1);
    }
}

fn actual_fields(
    value: &Value,
    path: &str,
    found: &mut Fields,
    seen: &mut BTreeMap<String, usize>,
    depth: usize,
) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Array(items) => {
            for item in items.iter().take(ITEMS) {
                actual_fields(item, &format!("{path}[]"), found, seen, depth + 1);
            }
        }
        Value::Object(object) => {
            *seen.entry(path.to_owned()).or_default() += 1;
            for (name, value) in object {
                found
                    .entry(path.to_owned())
                    .or_default()
                    .entry(name.clone())
                    .or_default()
                    .insert(type_name(value));
                actual_fields(value, &join(path, name), found, seen, depth + 1);
            }
        }
        _ => {}
    }
}

/// Whether a value's type is the documented one; every integer is a number, and what is not documented is anything.
fn is_type(actual: &str, documented: &str) -> bool {
    actual == documented || documented.is_empty() || (documented == "number" && actual == "integer")
}

/// Whether two names are likely the same thing: one is in the other, they share a word, or differ in a few letters.
fn are_alike(a: &str, b: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (a_plain, b_plain) = (plain(a), plain(b));
    if a_plain.is_empty() || b_plain.is_empty() {
        return false;
    }
    if a_plain.contains(&b_plain) || b_plain.contains(&a_plain) {
        return true;
    }
    let parts = |text: &str| -> BTreeSet<String> {
        let mut spaced = String::new();
        for c in text.chars() {
            if c.is_uppercase() {
                spaced.push(' ');
            }
            spaced.extend(if c.is_alphanumeric() { c.to_lowercase().next() } else { Some(' ') });
        }
        spaced.split_whitespace().filter(|word| word.len() > 2).map(str::to_owned).collect()
    };
    !parts(a).is_disjoint(&parts(b))
}

/// Returns where the message of an error is: a path of keys, or an empty text if the error is its own message.
fn message_path(error: &Value) -> Option<String> {
    fn find(value: &Value, path: &str, depth: usize) -> Option<String> {
        let object = value.as_object().filter(|_| depth < 4)?;
        for key in
            ["message", "detail", "error_description", "status_message", "msg", "reason", "title", "error"]
        {
            if object.get(key).is_some_and(Value::is_string) {
                return Some(join(path, key));
            }
        }
        object.iter().find_map(|(key, value)| {
            let first = value.as_array().and_then(|list| list.first());
            let (value, key) = first.map_or((value, key.clone()), |first| (first, format!("{key}[]")));
            if value.is_string() && first.is_some() {
                return Some(join(path, &key));
            }
            find(value, &join(path, &key), depth + 1)
        })
    }
    match error {
        Value::String(_) => Some(String::new()),
        other => find(other, "", 0),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_found_in_errors() {
        assert_eq!(message_path(&json!("no")).as_deref(), Some(""));
        assert_eq!(
            message_path(&json!({"error": {"code": 4, "message": "no"}})).as_deref(),
            Some("error.message")
        );
        assert_eq!(message_path(&json!({"errors": [{"detail": "no"}]})).as_deref(), Some("errors[].detail"));
        assert_eq!(message_path(&json!({"code": 4})), None);
    }

    #[test]
    fn names_that_mean_the_same_are_alike() {
        assert!(are_alike("title", "original_title"));
        assert!(are_alike("releaseDate", "release_date"));
        assert!(are_alike("user_name", "display_name"));
        assert!(!are_alike("price", "colour"));
    }
}
