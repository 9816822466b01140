//! What an error message says about arguments. All of it is a guess until a call confirms it.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// What an error message says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ParsedError {
    /// Names in quotes, in code marks, or given as the field of a structured error; most specific first.
    pub(crate) names: Vec<String>,
    /// Whether something is missing.
    pub(crate) is_missing: bool,
    /// Whether something is not known.
    pub(crate) is_unknown: bool,
    /// Whether arguments exclude each other.
    pub(crate) is_conflict: bool,
    /// Values that are said to be allowed.
    pub(crate) allowed: Vec<String>,
    /// Numbers that are said to bound a value.
    pub(crate) bounds: Vec<f64>,
    /// All of its words.
    pub(crate) text: String,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

static MISSING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(missing|required?s?|mandatory|must (be )?(provided?|supplied|given|specified|set|present|include)|(is|are) (absent|empty|blank)|needs?|expected)\b",
    )
});
static UNKNOWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(unknown|unexpected|unrecogni[sz]ed|unsupported|not (supported|allowed|permitted|recogni[sz]ed|accepted)|no such|extra|additional)\b",
    )
});
static CONFLICT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(mutually exclusive|exclusive|together|combin(e|ed|ation)|both|either|conflicts?|only one|at the same time|cannot be used with|not (valid|allowed) with)\b",
    )
});
static ALLOWED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(one of|allowed( values)?( are| is)?|valid( values| options)?( are| is)?|possible values|choose (from|between)|either|supported( values)?( are| is)?|expected( one of| any of)?|permitted( values)?( are)?|enum)\b[^A-Za-z0-9]{0,6}(?P<list>[^.;\n]+)",
    )
});
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"[`'"“‘«]([A-Za-z_][A-Za-z0-9_.\-\[\]]{0,60})[`'"”’»]"#));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"-?\d+(\.\d+)?"));
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z_][A-Za-z0-9_\-]*"));

/// Keys under which structured errors name the argument they are about.
const FIELD_KEYS: &[&str] = &[
    "field",
    "param",
    "parameter",
    "argument",
    "property",
    "name",
    "source",
    "pointer",
    "loc",
    "path",
    "key",
    "target",
];

impl ParsedError {
    /// Reads an error. `known` are names of parameters and of arguments that were sent.
    pub(crate) fn new(error: &Value, known: &[&str]) -> ParsedError {
        let mut texts = Vec::new();
        let mut fields = Vec::new();
        let mut lists = Vec::new();
        collect(error, None, &mut texts, &mut fields, &mut lists, 0);
        let text = texts.join(". ");
        let mut names: Vec<String> = Vec::new();
        let mut add = |name: &str| {
            let name = name.trim_matches(['[', ']', '.', '/']).to_owned();
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        };
        for field in &fields {
            add(field.rsplit(['.', '/']).next().unwrap_or(field));
        }
        for quoted in QUOTED.captures_iter(&text) {
            add(&quoted[1]);
        }
        // A known name that stands in the text as a word of its own, if it could not be an English word.
        for word in WORD.find_iter(&text) {
            let word = word.as_str();
            if known.contains(&word)
                && (word.contains(['_', '-']) || word.chars().skip(1).any(char::is_uppercase))
            {
                add(word);
            }
        }
        // A word that begins a sentence like "limit must be ..." or ends one like "... parameter limit".
        for word in leading_words(&text) {
            add(&word);
        }
        for word in WORD.find_iter(&text) {
            if known.contains(&word.as_str()) {
                add(word.as_str());
            }
        }
        let mut allowed: Vec<String> = lists;
        for found in ALLOWED.captures_iter(&text) {
            let values = list_of(&found["list"]);
            if values.len() >= 2 {
                allowed.extend(values);
            }
        }
        allowed.dedup();
        ParsedError {
            is_missing: MISSING.is_match(&text),
            is_unknown: UNKNOWN.is_match(&text),
            is_conflict: CONFLICT.is_match(&text),
            bounds: NUMBER.find_iter(&text).filter_map(|number| number.as_str().parse().ok()).collect(),
            names,
            allowed,
            text,
        }
    }

    pub(crate) fn mentions(&self, name: &str) -> bool {
        // A message names a field of the body without what it is inside of.
        let own = last_part(name);
        self.names.iter().any(|known| known == name)
            || WORD.find_iter(&self.text).any(|word| word.as_str().eq_ignore_ascii_case(own))
    }
}

/// Returns the name of a field without what it is inside of.
pub(crate) fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Collects the texts of a structured error, the arguments it names and the lists of values it gives.
fn collect(
    value: &Value,
    key: Option<&str>,
    texts: &mut Vec<String>,
    fields: &mut Vec<String>,
    lists: &mut Vec<String>,
    depth: usize,
) {
    if depth > 8 {
        return;
    }
    match value {
        Value::String(text) => {
            if key.is_some_and(|key| FIELD_KEYS.contains(&key)) && !text.contains(' ') {
                fields.push(text.clone());
            } else {
                texts.push(text.clone());
            }
        }
        Value::Array(items) => {
            let is_list_of_values = key.is_some_and(|key| {
                let key = key.to_ascii_lowercase();
                [
                    "allowed",
                    "valid",
                    "options",
                    "choices",
                    "enum",
                    "expected",
                    "permitted",
                    "supported",
                    "values",
                ]
                .iter()
                .any(|word| key.contains(word))
            });
            let scalars: Vec<String> = items.iter().filter_map(scalar).collect();
            if is_list_of_values && scalars.len() == items.len() && items.len() >= 2 {
                lists.extend(scalars);
            } else if key.is_some_and(|key| FIELD_KEYS.contains(&key)) {
                // A path into the arguments, as in `["query", "limit"]`.
                fields.extend(items.iter().filter_map(Value::as_str).next_back().map(str::to_owned));
            } else {
                for item in items {
                    collect(item, key, texts, fields, lists, depth + 1);
                }
            }
        }
        Value::Object(object) => {
            for (key, value) in object {
                // `{"errors": {"limit": ["too large"]}}`
                if matches!(value, Value::Array(_) | Value::String(_)) && !is_usual(key) {
                    fields.push(key.clone());
                }
                collect(value, Some(key), texts, fields, lists, depth + 1);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a key is one that structured errors have, rather than the name of an argument.
fn is_usual(key: &str) -> bool {
    const USUAL: &[&str] = &[
        "error",
        "errors",
        "message",
        "detail",
        "details",
        "code",
        "type",
        "title",
        "status",
        "reason",
        "msg",
        "hint",
        "description",
        "instance",
        "request_id",
        "requestId",
        "trace_id",
        "help",
        "documentation_url",
        "statusCode",
        "error_description",
        "status_message",
        "fault",
        "timestamp",
        "success",
        "context",
        "ctx",
        "input",
        "url",
    ];
    USUAL.contains(&key) || FIELD_KEYS.contains(&key) || {
        let key = key.to_ascii_lowercase();
        ["allowed", "valid", "options", "choices", "expected"].iter().any(|word| key.contains(word))
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        _ => None,
    }
}

/// Returns words in the places where messages name an argument without marking it.
fn leading_words(text: &str) -> Vec<String> {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)(?:^|[.:;(]\s*)([a-z_][a-z0-9_\-]*) (?:is|must|should|may|cannot|can't|needs|has to|requires|exceeds|not)\b",
        )
    });
    static AFTER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:parameters?|arguments?|fields?|property|properties|option|key|requires|provide|specify|set|supply|include|for|with|without|missing)[: ]+(?:the |a |an |query |body )?([a-z_][a-z0-9_\-]*)",
        )
    });
    const NOT_NAMES: &[&str] = &[
        "the",
        "a",
        "an",
        "this",
        "that",
        "it",
        "value",
        "values",
        "parameter",
        "field",
        "argument",
        "request",
        "query",
        "body",
        "is",
        "of",
        "to",
        "and",
        "or",
        "at",
        "least",
        "one",
        "required",
        "must",
        "be",
        "in",
        "valid",
        "more",
        "invalid",
        "missing",
        "which",
        "you",
        "your",
        "please",
        "not",
        "there",
        "input",
        "data",
    ];
    let found = BEFORE.captures_iter(text).chain(AFTER.captures_iter(text));
    found
        .map(|found| found[1].to_owned())
        .filter(|word| !NOT_NAMES.contains(&word.to_lowercase().as_str()))
        .collect()
}

/// Splits a list in a sentence: `a, b or c`, `['a', 'b']`, `a|b`.
fn list_of(text: &str) -> Vec<String> {
    let text = text.trim().trim_start_matches([':', ' ']).trim_matches(['[', ']', '(', ')', '{', '}']);
    text.replace(" or ", ",")
        .replace(" and ", ",")
        .split([',', '|', '/'])
        .map(|item| item.trim().trim_matches(['`', '\'', '"', '“', '”', '[', ']', '(', ')', ' ']).to_owned())
        .take_while(|item| !item.contains(' ') || item.split(' ').count() <= 2)
        .filter(|item| !item.is_empty() && item.len() <= 60)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn complaint(error: &Value) -> ParsedError {
        ParsedError::new(error, &["limit", "sort_by", "region"])
    }

    #[test]
    fn names_are_found_where_messages_have_them() {
        for (error, name) in [
            (json!({"error": "missing required parameter 'region'"}), "region"),
            (json!({"detail": [{"loc": ["query", "region"], "msg": "field required"}]}), "region"),
            (json!({"errors": {"region": ["can't be blank"]}}), "region"),
            (json!({"error": {"message": "region is required", "code": 400}}), "region"),
            (json!("Missing parameter: region"), "region"),
            (json!({"error": {"param": "region", "message": "must be provided"}}), "region"),
            (json!({"message": "`sort_by` needs region"}), "sort_by"),
        ] {
            let complaint = complaint(&error);
            assert_eq!(complaint.names.first().map(String::as_str), Some(name), "{error}: {complaint:?}");
        }
    }

    #[test]
    fn allowed_values_are_read() {
        for error in [
            json!({"error": "sort_by must be one of: asc, desc"}),
            json!({"error": "invalid value; allowed values are 'asc', 'desc'."}),
            json!({"error": "invalid", "allowed_values": ["asc", "desc"]}),
            json!("Expected one of [\"asc\", \"desc\"]"),
        ] {
            assert_eq!(complaint(&error).allowed, ["asc", "desc"], "{error}");
        }
    }

    #[test]
    fn bounds_and_kinds_are_read() {
        let too_large = complaint(&json!({"error": "limit must be between 1 and 50"}));
        assert_eq!(too_large.bounds, [1.0, 50.0]);
        assert!(complaint(&json!("unknown parameter limit")).is_unknown);
        assert!(complaint(&json!("region and sort_by are mutually exclusive")).is_conflict);
        assert!(complaint(&json!("region is required")).is_missing);
    }
}
