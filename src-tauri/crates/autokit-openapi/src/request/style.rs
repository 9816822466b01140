//! Serializes a value for a path, query, header or cookie by the styles of OpenAPI 3, which match those of
//! URI templates (RFC 6570) where the names are the same.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::call::Style;

/// Everything except the unreserved characters of RFC 3986 section 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// With `allowReserved`, reserved characters are kept, except those that would end the query or look like the
/// start of another parameter (3.1, Parameter Object, `allowReserved`). Sequences that are already encoded
/// are kept as well (RFC 6570 section 3.2.3).
const UNSAFE_IN_QUERY: &AsciiSet = &RESERVED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';');

/// How characters are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// Percent-encoded unless unreserved.
    Percent,
    /// Reserved characters are kept.
    AllowReserved,
    /// No escaping, for headers.
    Nothing,
}

impl Escape {
    pub(super) fn apply(self, text: &str) -> String {
        match self {
            Escape::Percent => utf8_percent_encode(text, RESERVED).to_string(),
            Escape::Nothing => text.to_owned(),
            Escape::AllowReserved => {
                let mut out = String::with_capacity(text.len());
                let mut rest = text;
                while let Some(at) = rest.find('%') {
                    let (before, from) = rest.split_at(at);
                    out.extend(utf8_percent_encode(before, UNSAFE_IN_QUERY));
                    let encoded = from.len() >= 3 && from.as_bytes()[1..3].iter().all(u8::is_ascii_hexdigit);
                    let taken = if encoded { 3 } else { 1 };
                    out.push_str(if encoded { &from[..3] } else { "%25" });
                    rest = &from[taken..];
                }
                out.extend(utf8_percent_encode(rest, UNSAFE_IN_QUERY));
                out
            }
        }
    }
}

/// A value broken down for the styles.
#[derive(Debug)]
pub(super) enum Parts {
    One(String),
    List(Vec<String>),
    Pairs(Vec<(String, String)>),
}

/// Breaks a value down. `None` means nothing to send: null, an empty list or an empty object (RFC 6570
/// section 2.3 calls all three undefined).
///
/// # Errors
/// The reason, when it is nested more deeply than the styles can write.
pub(super) fn parts(value: &Value) -> Result<Option<Parts>, String> {
    let item = |value: &Value| {
        scalar(value).ok_or_else(|| {
            "it nests lists or objects, which OpenAPI cannot represent; use plain values".to_owned()
        })
    };
    Ok(match value {
        Value::Null => None,
        Value::Array(items) => {
            let items: Vec<String> =
                items.iter().filter(|value| !value.is_null()).map(item).collect::<Result<_, _>>()?;
            (!items.is_empty()).then_some(Parts::List(items))
        }
        Value::Object(map) => {
            let pairs: Vec<(String, String)> = map
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| Ok((key.clone(), item(value)?)))
                .collect::<Result<_, String>>()?;
            (!pairs.is_empty()).then_some(Parts::Pairs(pairs))
        }
        one => scalar(one).map(Parts::One),
    })
}

/// A scalar as text; `None` for lists, objects and null.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Writes the styles `simple`, `label` and `matrix`: the replacement of `{name}` in a path, or with
/// [`Escape::Nothing`] the value of a header.
pub(super) fn expand(name: &str, parts: &Parts, style: Style, explode: bool, escape: Escape) -> String {
    let write = |text: &str| escape.apply(text);
    let pairs = |between: &str, separator: &str, pairs: &[(String, String)]| {
        let written: Vec<String> =
            pairs.iter().map(|(key, value)| format!("{}{between}{}", write(key), write(value))).collect();
        written.join(separator)
    };
    let list = |separator: &str, items: &[String]| {
        items.iter().map(|item| write(item)).collect::<Vec<_>>().join(separator)
    };
    // RFC 6570 section 3.2.7: no equals sign before an empty value.
    let named = |key: &str, written: &str| {
        if written.is_empty() { format!(";{}", write(key)) } else { format!(";{}={written}", write(key)) }
    };
    match (style, parts) {
        (Style::Matrix, Parts::One(text)) => named(name, &write(text)),
        (Style::Matrix, Parts::List(items)) if explode => {
            items.iter().map(|item| named(name, &write(item))).collect()
        }
        (Style::Matrix, Parts::Pairs(all)) if explode => {
            all.iter().map(|(key, value)| named(key, &write(value))).collect()
        }
        (Style::Matrix, Parts::List(items)) => named(name, &list(",", items)),
        (Style::Matrix, Parts::Pairs(all)) => named(name, &pairs(",", ",", all)),
        (Style::Label, Parts::One(text)) => format!(".{}", write(text)),
        (Style::Label, Parts::List(items)) => format!(".{}", list(if explode { "." } else { "," }, items)),
        (Style::Label, Parts::Pairs(all)) if explode => format!(".{}", pairs("=", ".", all)),
        (Style::Label, Parts::Pairs(all)) => format!(".{}", pairs(",", ",", all)),
        (_, Parts::One(text)) => write(text),
        (_, Parts::List(items)) => list(",", items),
        (_, Parts::Pairs(all)) if explode => pairs("=", ",", all),
        (_, Parts::Pairs(all)) => pairs(",", ",", all),
    }
}

/// Writes the styles `form`, `spaceDelimited` and `pipeDelimited` as complete `name=value` pairs. Where
/// OpenAPI has no rule (a scalar in a delimited style, or a delimited style with `explode`), values are
/// written like `form`.
pub(super) fn query(name: &str, parts: &Parts, style: Style, explode: bool, escape: Escape) -> Vec<String> {
    let write = |text: &str| escape.apply(text);
    let named = |written: String| vec![format!("{}={written}", Escape::Percent.apply(name))];
    let separator = match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        _ => ",",
    };
    match parts {
        Parts::One(text) => named(write(text)),
        Parts::List(items) if explode => items.iter().flat_map(|item| named(write(item))).collect(),
        Parts::List(items) => named(items.iter().map(|item| write(item)).collect::<Vec<_>>().join(separator)),
        Parts::Pairs(all) if explode => all
            .iter()
            .map(|(key, value)| format!("{}={}", Escape::Percent.apply(key), write(value)))
            .collect(),
        Parts::Pairs(all) => {
            let written = all.iter().flat_map(|(key, value)| [write(key), write(value)]);
            named(written.collect::<Vec<_>>().join(separator))
        }
    }
}

/// Writes the style `deepObject`: `name[key]=value`. Nested objects are written as `name[key][inner]`, which
/// OpenAPI leaves undefined and every server that supports this style reads.
///
/// # Errors
/// The reason, when the value is not an object or contains a list.
pub(super) fn deep_object(name: &str, value: &Value, escape: Escape) -> Result<Vec<String>, String> {
    let Value::Object(map) = value else {
        return Err("it must be an object, because its style is deepObject".to_owned());
    };
    let mut out = Vec::new();
    for (key, value) in map {
        let inner = format!("{name}[{key}]");
        match value {
            Value::Null => {}
            // Recursion is bounded by the depth at which a value can be parsed.
            Value::Object(_) => out.extend(deep_object(&inner, value, escape)?),
            Value::Array(_) => {
                return Err(format!(
                    "it contains a list under {key}, which OpenAPI cannot represent in the style deepObject"
                ));
            }
            one => {
                let text = scalar(one).unwrap_or_default();
                out.push(format!("{}={}", Escape::Percent.apply(&inner), escape.apply(&text)));
            }
        }
    }
    Ok(out)
}
