//! Normalization of arguments, to detect repeated calls.
//!
//! A model stuck in a loop varies what makes no difference: a slash at the end of an address, tracking
//! parameters, the order of fields. Arguments are normalized before they are compared (Kaman, section 7.2).

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use url::Url;

/// Tracking parameters of addresses, which do not change what an address leads to.
const TRACKING: [&str; 17] = [
    "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "igshid",
    "mc_cid", "mc_eid", "_ga", "_gl", "ref_src", "vero_id", "spm",
];

/// Returns the normalized arguments: fields sorted and without `null`s, addresses without tracking
/// parameters and the like, texts trimmed, `1.0` as `1`.
pub fn normalized(arguments: &Map<String, Value>) -> Value {
    normalized_object(arguments)
}

/// Returns a short digest of a call, equal for the same tool with the same normalized arguments.
pub fn call_digest(tool: &str, arguments: &Map<String, Value>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(tool.as_bytes());
    hasher.update([0]);
    hasher.update(normalized(arguments).to_string().as_bytes());
    hex::encode(&hasher.finalize()[..8])
}

fn normalized_object(map: &Map<String, Value>) -> Value {
    let mut fields: Vec<(&String, &Value)> = map.iter().filter(|(_, value)| !value.is_null()).collect();
    fields.sort_by_key(|(name, _)| *name);
    Value::Object(fields.into_iter().map(|(name, value)| (name.clone(), normalized_value(value))).collect())
}

fn normalized_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(normalized_text(text)),
        Value::Array(items) => Value::Array(items.iter().map(normalized_value).collect()),
        Value::Object(map) => normalized_object(map),
        Value::Number(number) => match number.as_f64() {
            // Above 2^53, a double cannot represent every integer.
            Some(whole) if number.is_f64() && whole.fract() == 0.0 && whole.abs() < 9e15 => {
                Value::from(whole as i64)
            }
            _ => value.clone(),
        },
        Value::Bool(_) | Value::Null => value.clone(),
    }
}

fn normalized_text(text: &str) -> String {
    let text = text.trim();
    normalized_url(text).unwrap_or_else(|| text.to_owned())
}

/// Normalizes an address: lower-case host, no default port, no empty fragment, no trailing slash,
/// parameters sorted and without tracking. A non-empty fragment stays, because many pages are selected by
/// it.
fn normalized_url(text: &str) -> Option<String> {
    if !(text.starts_with("http://") || text.starts_with("https://") || text.starts_with("HTTP")) {
        return None;
    }
    let mut url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let mut parameters: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| !is_tracking(name))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    // A stable sort, because the order of values of one parameter can matter.
    parameters.sort_by(|a, b| a.0.cmp(&b.0));
    if parameters.is_empty() {
        url.set_query(None);
    } else {
        url.query_pairs_mut().clear().extend_pairs(&parameters);
    }
    if url.fragment() == Some("") {
        url.set_fragment(None);
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    // A bare host always has the path `/`, whatever is set.
    let text = url.to_string();
    Some(match (url.path(), url.query(), url.fragment()) {
        ("/", None, None) => text.trim_end_matches('/').to_owned(),
        _ => text,
    })
}

fn is_tracking(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("utm_") || TRACKING.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn digest(arguments: &Value) -> String {
        call_digest("browse", arguments.as_object().expect("an object"))
    }

    #[test]
    fn equivalent_arguments_have_the_same_digest() {
        let plain = digest(&json!({"url": "https://example.org/a?x=1&y=2", "depth": 1}));
        for same in [
            json!({"depth": 1, "url": "https://example.org/a?x=1&y=2"}),
            json!({"url": "https://example.org/a/?y=2&x=1", "depth": 1.0}),
            json!({"url": " HTTPS://EXAMPLE.ORG:443/a?utm_source=q&x=1&y=2&fbclid=7#", "depth": 1}),
            json!({"url": "https://example.org/a?x=1&y=2&UTM_Campaign=z", "depth": 1, "more": null}),
        ] {
            assert_eq!(digest(&same), plain, "{same}");
        }
        assert_eq!(digest(&json!({"u": "http://a.io"})), digest(&json!({"u": "http://a.io/"})));
        assert_eq!(digest(&json!({"u": "http://a.io?gclid=1"})), digest(&json!({"u": "http://a.io/"})));
    }

    #[test]
    fn different_arguments_have_different_digests() {
        let all = [
            json!({"url": "https://example.org/a"}),
            json!({"url": "https://example.org/b"}),
            json!({"url": "http://example.org/a"}),
            json!({"url": "https://example.org/a?x=1"}),
            json!({"url": "https://example.org/a?x=2"}),
            json!({"url": "https://example.org/a?x=1&x=2"}),
            json!({"url": "https://example.org/a?x=2&x=1"}),
            json!({"url": "https://example.org/a#part"}),
            json!({"url": ["https://example.org/a"]}),
            json!({"link": "https://example.org/a"}),
            json!({"url": "https://example.org/A"}),
            json!({"url": "https://example.org/a?x=a%26b"}),
            json!({"url": "https://example.org/a?x=a&b"}),
            json!({"list": [1, 2]}),
            json!({"list": [2, 1]}),
            json!({"n": 1}),
            json!({"n": "1"}),
            json!({"n": 1.5}),
            json!({}),
        ];
        let digests: std::collections::HashSet<String> = all.iter().map(digest).collect();
        assert_eq!(digests.len(), all.len());
        assert_ne!(call_digest("a", &Map::new()), call_digest("b", &Map::new()));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
            "https?://[a-z]{1,5}\\.org/[a-z/%?&=#;+._~-]{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c]{1,2}", inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn normalization_is_idempotent(fields in prop::collection::vec(("[a-z]{1,3}", value()), 0..4)) {
            let arguments: Map<String, Value> = fields.into_iter().collect();
            let once = normalized(&arguments);
            let twice = normalized(once.as_object().expect("an object"));
            prop_assert_eq!(once, twice);
        }

        #[test]
        fn order_does_not_matter(fields in prop::collection::btree_map("[a-z]{1,3}", value(), 0..5)) {
            let forward: Map<String, Value> = fields.clone().into_iter().collect();
            let reversed: Map<String, Value> = fields.into_iter().rev().collect();
            prop_assert_eq!(call_digest("t", &forward), call_digest("t", &reversed));
        }
    }
}
