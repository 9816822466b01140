//! Tells keys from placeholders for keys.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::names::NameHint;
use super::regex;
use crate::words::split_words;

/// Strings that a random key never contains: code that fetches a key, marks of omitted text, and words that
/// documentation uses in examples.
static OMITTED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)example|placeholder|changeme|change[_-]me|redacted|xxxx|\*\*\*|\.\.\.|…|environ\b|getenv|process\.env|secretstr|optional\[",
    )
});

/// Words which say that a key is still to be filled in.
static PLACEHOLDER_WORD: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)^(?:your?|insert|sample|dummy|replace|replaceme|fake|here|enter|put|paste|todo|tbd|test)$")
});

/// A text made only of words about keys, which is the name of a key rather than a key.
static ABOUT_KEYS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)^(?:api|key|access|secret|token|passw(?:or)?d|pass|pwd|auth|authorization|bearer|basic|oauth|jwt|cookie|session|credentials?|client|private|personal|public|user|name|value|id|my|your|the|some|a|an|here|insert|enter|test|foo|bar|none|null|true|false|string|str|required|optional|undefined|any|env|[^\p{L}\p{N}])+[0-9]?$",
    )
});

/// Words of a sentence, which are rare in a passphrase.
static SENTENCE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:the|your|an?|of|for|from|to|is|are|key|token|password|secret|credentials?|required|optional|string|see|api|via|with|in|or|and|if|not|used?|oauth2?|auth|authentication|keys|tokens|secrets|service|account|manager|vault|environment|variable)\b",
    )
});

/// Code that fetches a key: a call, or access to a field named after a key.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)^[a-z_]\w*(?:\.\w+)*\(.*\)$|^[a-z_]\w*(?:\.\w+)*\.\w*(?:token|key|secret|passw(?:or)?d|credential|auth)\w*$",
    )
});

/// A path or a file name.
static FILE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)^(?:~|\.{1,2})?/|^[a-z]:\\|\.(?:json|pem|key|txt|ya?ml|toml|env|crt|p12)$"));

/// Minimum entropy in bits per character; a text with less is words rather than a key.
const BITS: f64 = 3.0;

/// Minimum length of a key, in characters.
pub(super) const SHORTEST: usize = 8;

/// Minimum length of a password, in characters.
const SHORTEST_PASSWORD: usize = 6;

/// Minimum length, in characters, of an alphanumeric run that may be a key without a known prefix.
pub(super) const RUN: usize = 16;

/// Whether a value is a key, given what its name implies.
pub(super) fn is_value(hint: NameHint, text: &str) -> bool {
    let text = without_scheme(text.trim().trim_matches(['"', '\'']));
    let (long, distinct) = (text.chars().count(), text.chars().collect::<HashSet<_>>().len());
    let least = match hint {
        NameHint::None => return false,
        NameHint::Possible => return !is_placeholder(text) && has_random_run(text),
        NameHint::Key => SHORTEST,
        NameHint::Password => SHORTEST_PASSWORD,
    };
    // URLs are searched for the secrets in them elsewhere.
    if long < least || distinct < 4 || is_placeholder(text) || text.contains("://") {
        return false;
    }
    let sentence = text.contains(char::is_whitespace) && SENTENCE.is_match(text);
    let file = FILE.is_match(text) && !has_random_run(text);
    !sentence && !file
}

/// The value without a leading scheme such as `Bearer`.
pub(super) fn without_scheme(text: &str) -> &str {
    match text.split_once(' ') {
        Some((scheme, rest))
            if ["bearer", "basic", "token"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) =>
        {
            rest.trim()
        }
        _ => text,
    }
}

/// Whether a text is a placeholder for a key: a template, the name of a variable, or code.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    // <token>, {token}, $TOKEN, %TOKEN%: to be filled in later.
    let within = [('<', '>'), ('{', '}'), ('[', ']'), ('(', ')'), ('%', '%')];
    let word =
        |rest: &str| rest.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | ' ' | '-'));
    let inner = text.strip_prefix('$').unwrap_or(text);
    let wrapped = within.iter().any(|(open, close)| inner.starts_with(*open) && inner.ends_with(*close));
    if wrapped && !has_random_run(inner) || inner.len() < text.len() && word(inner) && !has_random_run(inner)
    {
        return true;
    }
    if ABOUT_KEYS.is_match(text) || CODE.is_match(text) && !has_random_run(text) {
        return true;
    }
    if OMITTED.is_match(text) {
        // The sample keys of one provider contain this word in place of part of the key.
        return text.contains("EXAMPLE") || !OMITTED.split(text).any(has_random_run);
    }
    let is_constant_name = text.contains('_')
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && text.split('_').all(|part| {
            part.len() <= 4
                || part.bytes().all(|b| b.is_ascii_alphabetic())
                || part.bytes().all(|b| b.is_ascii_digit())
        });
    let has_placeholder_word = split_words(text).iter().any(|word| PLACEHOLDER_WORD.is_match(word)) && {
        // Part of a random key may look like a word; the rest of it does not.
        let delimited = text.split(|c: char| !c.is_alphanumeric());
        let mut rest = delimited.filter(|part| !PLACEHOLDER_WORD.is_match(part));
        !rest.any(|run| has_random_run(run) || is_mixed(run))
    };
    is_constant_name || has_placeholder_word
}

/// Whether a text has letters, digits and enough entropy to be random.
pub(super) fn is_random(text: &str) -> bool {
    let letters = text.chars().any(char::is_alphabetic);
    let digits = text.chars().any(|c| c.is_ascii_digit());
    let mut counts = HashMap::new();
    for c in text.chars() {
        *counts.entry(c).or_insert(0u32) += 1;
    }
    let total = text.chars().count() as f64;
    let bits: f64 = counts.values().map(|count| f64::from(*count) / total).map(|p| -p * p.log2()).sum();
    letters && digits && bits >= BITS
}

/// Whether lower-case letters, digits and capitals alternate as in no word.
fn is_mixed(run: &str) -> bool {
    const LONG: usize = 10;
    const TURNS: usize = 3;
    let kind = |c: char| (c.is_ascii_digit(), c.is_uppercase());
    let chars: Vec<char> = run.chars().collect();
    let turns = chars.windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count();
    chars.len() >= LONG && turns >= TURNS && chars.iter().any(char::is_ascii_digit)
}

/// Whether a text contains a long random run of letters and digits.
fn has_random_run(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|run| run.chars().count() >= RUN && is_random(run))
}
