//! Constructor arguments: compares those on a card with those its page shows.

use std::sync::LazyLock;

use autokit_facts::placeholders;
use autokit_pages::{Page, Subject};
use autokit_toolcard::fields;
use regex::Regex;
use serde_json::{Map, Value};

use crate::claims::{Claim, PageUsage};

/// Compares the card's arguments with those its classes are constructed with on the page.
pub(crate) fn init_args(subject: &Subject, page: &Page, shown: &PageUsage<'_>) -> Option<Claim> {
    let code = &page.facts.code;
    let classes: Vec<&str> = match shown {
        PageUsage::AsWritten(imports) | PageUsage::FromElsewhere(imports) | PageUsage::Others(imports, _) => {
            imports.iter().map(|import| import.name.as_str()).collect()
        }
        PageUsage::Called(_) => subject.classes.iter().map(String::as_str).collect(),
        PageUsage::Nothing => {
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
    let own = &subject.init_args;
    let supported = own.keys().all(known);
    // A page need not show how credentials are passed: credential arguments are kept even if the others are
    // outdated.
    let (kept, rest): (Vec<_>, Vec<_>) = own.iter().partition(|(name, _)| is_credential(name));
    let outdated = !rest.is_empty() && !own.keys().any(known);
    let shown = placeholders(&shown);
    if own.is_empty() {
        // A card without arguments is not wrong; those on the page improve it.
        return (!shown.is_empty())
            .then(|| Claim::unclaimed(fields::INIT_ARGS, Value::Object(shown), lines.join("\n"), 0.7));
    }
    if supported {
        let quote = match lines.join("\n") {
            empty if empty.is_empty() => own.keys().cloned().collect::<Vec<_>>().join(", "),
            lines => lines,
        };
        return Some(Claim::supported(fields::INIT_ARGS, quote, 0.8));
    }
    // The page shows arguments, but none of the card's: the card's are from an earlier version.
    if !shown.is_empty() && outdated {
        let mut repaired: Map<String, Value> =
            kept.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        repaired.extend(shown);
        return Some(Claim::contradicted(fields::INIT_ARGS, Value::Object(repaired), lines.join("\n"), 0.6));
    }
    Some(Claim::not_found(fields::INIT_ARGS))
}

static CREDENTIAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(^|[_-]|api|access|auth)(key|token|secret|password|passwd|credentials?)($|[_-])")
        .expect("a valid pattern")
});

/// Whether an argument is a credential, such as `api_key` or `accessToken`, which a tool usually cannot do
/// without.
fn is_credential(name: &str) -> bool {
    CREDENTIAL.is_match(name)
}

#[cfg(test)]
mod tests {
    use super::is_credential;

    #[test]
    fn credentials_are_distinguished_from_other_arguments() {
        for name in
            ["api_key", "apiKey", "OPENAI_API_KEY", "token", "accessToken", "client_secret", "password"]
        {
            assert!(is_credential(name), "{name}");
        }
        for name in ["units", "keyword", "tokenizer", "max_tokens_per_page", "monkey", "secretary"] {
            assert!(!is_credential(name), "{name}");
        }
    }
}
