//! Secrets within a text: by the key formats of services, and in URLs, commands, settings and code.

use std::collections::HashSet;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::{Captures, Regex, RegexSet};

use super::names::{NameHint, name_hint};
use super::regex;
use super::value::{RUN, SHORTEST, is_placeholder, is_random, is_value, without_scheme};

/// Key formats of services, each with a description.
static SHAPES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    [
        ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"),
        ("a key of a model service", r"\bsk-[A-Za-z0-9_-]{20,}"),
        ("a GitHub token", r"\b(?:gh[opusr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
        ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
        ("an AWS key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a Google key", r"\bAIza[0-9A-Za-z_-]{35}"),
        ("a Slack token", r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
        ("a secret URL", r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}"),
        ("a secret URL", r"discord(?:app)?\.com/api/webhooks/\d{15,}/[A-Za-z0-9_-]{40,}"),
        ("a Discord token", r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
        ("a Telegram token", r"(?:\b|bot)\d{8,10}:[A-Za-z0-9_-]{35}"),
        ("a Stripe key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
        ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("a Shopify token", r"\bshp(?:at|ca|pa|ss)_[A-Za-z0-9]{24,}"),
        ("a Twilio key", r"\bSK[0-9a-f]{32}\b"),
        ("an Azure key", r"(?i)\b(?:AccountKey|SharedAccessKey)\s*=\s*[A-Za-z0-9+/]{20,}"),
        ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
        ("a token of a package registry", r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,})"),
        ("a search key", r"\b(?:tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}|BSA[A-Za-z0-9_-]{28})\b"),
        ("a signed token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
        ("a bearer token", r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{20,}"),
    ]
    .into_iter()
    .map(|(what, shape)| (what, regex(shape)))
    .collect()
});

/// User name and password in a URL; either alone may be a key.
static IN_ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)[a-z][a-z0-9+.-]*://([^\s/:@?#]*)(?::([^\s/]+))?@"));

/// A URL parameter.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| regex(r#"[?&;#]([A-Za-z][\w.-]*)=([^&\s#"'<>;]+)"#));

/// User name and password of HTTP Basic authentication, in base64.
static BASIC: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\bbasic\s+([A-Za-z0-9+/]{6,}={0,2})"));

/// `--name value` and `--name=value` within a command.
static FLAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?:^|\s)--?([A-Za-z][\w.-]*)(?:=|\s+)("[^"]*"|'[^']*'|[^\s-]\S*)"#));

/// A text that is a single option or environment variable with its value.
static OPTION: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*(?:--?([A-Za-z][\w.-]*)|([A-Za-z_][A-Za-z0-9_]*))=(.+)$"));

/// A header with its name and value.
static HEADER: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*([A-Za-z][\w-]*)\s*:\s*(.+)$"));

/// A value assigned to something named after a key, in code or in a URL.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)(?:api_?key|access_?key|secret|token|passw(?:or)?d|pwd|passphrase|auth)["']?\s*[=:]\s*(?:["']([^"'\s]{8,})["']|([A-Za-z0-9_.~+/-]{16,}))"#,
    )
});

/// A password in a settings string such as `Server=db;User=me;Password=…`.
static SETTING: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?i)(?:^|;)\s*(?:password|passwd|pwd)\s*=\s*([^;\s"']+)"#));

/// A password given in a sentence.
static STATED_PASSWORD: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?i)passw(?:or)?d["']?\s*[:=]\s*["']?([^\s"',;]{8,})"#));

/// Minimum number of distinct characters; a key-shaped text with fewer is filler.
const DISTINCT: usize = 8;

/// All patterns in one set: hardly any text matches, and ruling that out takes a single pass.
static ANY: LazyLock<RegexSet> = LazyLock::new(|| {
    let shapes = SHAPES.iter().map(|(_, shape)| shape.as_str());
    let others = [&IN_ADDRESS, &PARAMETER, &BASIC, &FLAG, &OPTION, &ASSIGNED, &SETTING, &STATED_PASSWORD];
    RegexSet::new(shapes.chain(others.map(|other| other.as_str()))).expect("valid expressions")
});

/// The kind of secret that a text contains, if any.
pub(super) fn secret_in(text: &str) -> Option<&'static str> {
    if text.len() < SHORTEST || !ANY.is_match(text) {
        return None;
    }
    let matched_shape = SHAPES.iter().find(|(_, shape)| {
        shape.find_iter(text).any(|found| found.as_str().starts_with("-----") || is_shaped(found.as_str()))
    });
    if let Some((what, _)) = matched_shape {
        return Some(what);
    }
    let in_address = |found: Captures<'_>| {
        let part = |at| found.get(at).map_or("", |part: regex::Match<'_>| part.as_str());
        let (user, password) = (part(1), part(2));
        // Database documentation uses the user name as the password.
        (user != password && is_value(NameHint::Password, password)) || is_value(NameHint::Possible, user)
    };
    if IN_ADDRESS.captures_iter(text).any(in_address) {
        return Some("a password in a URL");
    }
    let parameter = |found: Captures<'_>| match name_hint(&found[1]) {
        NameHint::Possible => is_value(NameHint::Key, &found[2]) && is_random(&found[2]),
        NameHint::Key => {
            is_value(NameHint::Key, &found[2]) && (is_random(&found[2]) || found[2].len() >= RUN)
        }
        NameHint::Password => {
            let mixed = found[2].chars().any(|c| !c.is_alphabetic());
            is_value(NameHint::Key, &found[2]) && (mixed || found[2].len() >= RUN)
        }
        NameHint::None => false,
    };
    if PARAMETER.captures_iter(text).any(parameter) {
        return Some("a key in a URL");
    }
    let pair = |found: Captures<'_>| {
        let decoded = STANDARD_NO_PAD.decode(found[1].trim_end_matches('=')).ok();
        decoded.and_then(|bytes| String::from_utf8(bytes).ok()).is_some_and(|pair| {
            let printable = !pair.chars().any(char::is_control);
            printable
                && pair
                    .split_once(':')
                    .is_some_and(|(user, password)| !user.is_empty() && !password.is_empty())
        })
    };
    if BASIC.captures_iter(text).any(pair) {
        return Some("a name and password");
    }
    if let Some(found) = OPTION.captures(text) {
        let name = found.get(1).or(found.get(2)).map_or("", |name| name.as_str());
        if is_value(name_hint(name), &found[3]) && !found[3].contains(['(', '\n']) {
            return Some("the value of a key option");
        }
        if is_header(name) && is_secret_header(&found[3]) {
            return Some("the value of a key header");
        }
    }
    let flag = |found: Captures<'_>| {
        let value = found[2].trim_matches(['"', '\'']);
        is_value(name_hint(&found[1]), value) && is_random(value)
            || is_header(&found[1]) && is_secret_header(value)
    };
    if FLAG.captures_iter(text).any(flag) {
        return Some("the value of a key option");
    }
    let setting = |found: Captures<'_>| {
        is_value(NameHint::Password, &found[1])
            && found[1].chars().any(|c| !c.is_alphabetic())
            && !found[1].contains('(')
    };
    if text.contains(';') && SETTING.captures_iter(text).any(setting) {
        return Some("a password in settings");
    }
    let stated = |found: Captures<'_>| {
        let value = &found[1];
        let kinds = [char::is_uppercase, char::is_lowercase, |c: char| c.is_ascii_digit()];
        is_value(NameHint::Password, value) && kinds.iter().all(|kind| value.contains(*kind))
    };
    if STATED_PASSWORD.captures_iter(text).any(stated) {
        return Some("a password");
    }
    let assigned = |found: Captures<'_>| {
        let value = found.get(1).or(found.get(2)).map_or("", |value| value.as_str());
        is_value(NameHint::Key, value) && is_random(value)
    };
    ASSIGNED.captures_iter(text).any(assigned).then_some("a key written into code")
}

/// Whether an option takes a header as its value.
pub(super) fn is_header(option: &str) -> bool {
    matches!(option.trim_start_matches('-'), "H" | "header" | "headers")
}

/// Whether a text is a header whose value is a key.
pub(super) fn is_secret_header(text: &str) -> bool {
    HEADER.captures(text).is_some_and(|found| is_value(name_hint(&found[1]), &found[2]))
}

/// Whether a text with the format of a key is more than filler.
fn is_shaped(text: &str) -> bool {
    let distinct = text.chars().collect::<HashSet<_>>().len();
    distinct >= DISTINCT && !is_placeholder(without_scheme(text)) && text.chars().any(|c| c.is_ascii_digit())
}
