//! Constructor arguments: those of a card against those its page shows.

use std::sync::LazyLock;

use autokit_toolcard::fields;
use regex::Regex;
use serde_json::{Map, Value};

use crate::claims::{Claim, Shown};
use crate::reading::Reading;
use crate::subject::Subject;

/// Arguments: those of the card against those its classes are shown with.
pub(crate) fn init_args(subject: &Subject, page: &Reading, shown: &Shown<'_>) -> Option<Claim> {
    let code = &page.facts.code;
    let classes: Vec<&str> = match shown {
        Shown::AsWritten(imports) | Shown::FromElsewhere(imports) | Shown::Others(imports, _) => {
            imports.iter().map(|import| import.name.as_str()).collect()
        }
        Shown::Called(_) => subject.classes.iter().map(String::as_str).collect(),
        Shown::Nothing => {
            return (!subject.init_args.is_empty()).then(|| Claim::not_found(fields::INIT_ARGS));
        }
    };
    let mut shown: Map<String, Value> = Map::new();
    let mut lines: Vec<&str> = Vec::new();
    for (arguments, at) in classes.iter().filter_map(|class| code.arguments_of(class)) {
        for (name, value) in arguments {
            shown.entry(name).or_insert(value);
        }
        lines.extend(at);
    }
    let known = |name: &String| shown.contains_key(name) || code.has(name);
    let supported = subject.init_args.keys().all(known);
    let some_known = subject.init_args.keys().any(known);
    // What stands for a value is none: it is proposed to nobody.
    shown.retain(|_, value| !is_stand_in(value));
    if subject.init_args.is_empty() {
        // A card without arguments is not wrong; what the page shows makes it better.
        return (!shown.is_empty())
            .then(|| Claim::unsaid(fields::INIT_ARGS, Value::Object(shown), lines.join("\n"), 0.7));
    }
    if supported {
        let quote = match lines.join("\n") {
            empty if empty.is_empty() => subject.init_args.keys().cloned().collect::<Vec<_>>().join(", "),
            lines => lines,
        };
        return Some(Claim::supported(fields::INIT_ARGS, quote, 0.8));
    }
    // None of the card's arguments is on the page, others are: they are those of an earlier version.
    if !shown.is_empty() && !some_known {
        return Some(Claim::contradicted(fields::INIT_ARGS, Value::Object(shown), lines.join("\n"), 0.6));
    }
    Some(Claim::not_found(fields::INIT_ARGS))
}

static STAND_IN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^\s*$|^\s*[<\[{(].*[>\]})]\s*$|^[.…*x-]+$|\b(your|my)[-_ ]|[-_ ]here\b|\b(fill|put|insert|enter|add|paste|replace)[-_ ].*\b(here|in|with|your|key|token)\b|^(api|access|secret)[-_ ]?(key|token|secret)s?$|\b(change[-_ ]?me|placeholder|todo)\b|^(sk|pk|ghp|xoxb)-?[.x*…]*$",
    )
    .expect("a valid pattern")
});

/// Whether a value on a page only stands for one: `null`, `"your-api-key"`, `"<fill in token here>"`. A
/// variable's name, `${KEY}`, says where the value comes from.
pub(crate) fn is_stand_in(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => !(text.starts_with("${") && text.ends_with('}')) && STAND_IN.is_match(text),
        _ => false,
    }
}
