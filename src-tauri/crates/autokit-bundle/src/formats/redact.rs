//! Finds secrets in settings and replaces them before any of them reaches a card.
//!
//! Cards are shared; the settings of an MCP client hold what its owner would never share. Callers drop the
//! values of environment variables and headers without looking at them. This module handles the rest: secrets
//! that people put into arguments and URLs. It errs on the side of replacing: a needless placeholder in a
//! card is fixed in a minute, a published key is not. Exported bundles are searched by `crate::secrets`
//! instead, which asks a person and therefore must avoid false alarms.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::words::split_words;

/// Replaces a secret.
pub(super) const PLACEHOLDER: &str = "<secret>";

/// Words in a name which say that its value is a secret.
const KEY_WORDS: [&str; 20] = [
    "key",
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "auth",
    "authorization",
    "bearer",
    "credential",
    "credentials",
    "sig",
    "signature",
    "pat",
    "jwt",
    "cookie",
    "session",
];

/// Endings of names written without separators: `accesstoken`, `OPENAIKEY`.
const KEY_ENDINGS: [&str; 5] = ["key", "token", "secret", "password", "passwd"];

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns of this file compile, as its tests show")
}

/// `name=value`, `name: value` and `"name": "value"`, with the quotation marks escaped or not.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r#"(?i)([a-z_$][\w.$-]*)(\\*["']?\s*[=:]\s*)"#,
        r#"("(?:[^"\\]|\\.)*"|'[^']*'|\\+"[^"]*"|\\+'[^']*'"#,
        r#"|(?:(?:bearer|basic|token)\s+)?(?:\$?\{\{?[^{}\s"]*\}\}?|[^\s"'&}])+)"#,
    ))
});

/// `--name value` within a single text.
static FLAGGED: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(--?[A-Za-z][\w-]*)(\s+)("[^"]*"|'[^']*'|[^\s-]\S*)"#));

/// HTTP authorization schemes with their credentials.
static SCHEME: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\b(bearer|basic)(\s+)([\w.~+/=-]{6,})"));

/// `https://user:password@host`; the user name alone is often a key too.
static USER: LazyLock<Regex> = LazyLock::new(|| regex(r#"(?i)\b([a-z][a-z0-9+.-]*)://([^\s"'<>]*@)"#));

/// Key prefixes of known services, and private keys in PEM format.
static MARKED: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*|",
        r"\b(?:(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|gh[opsur]_[A-Za-z0-9]{12,}|github_pat_\w{12,}|",
        r"glpat-[\w-]{12,}|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|",
        r"ya29\.[\w-]{12,}|(?:hf|npm|ntn|secret|gsk|r8|tvly|dop_v1|lin_api|pypi|fc|shpat|figd|key|pat)[-_][A-Za-z0-9_-]{16,}|",
        r"SG\.[\w.-]{16,}|eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?|[0-9]{8,10}:[A-Za-z0-9_-]{30,})",
    ))
});

/// Runs long enough to be a key without a known prefix.
static RUN: LazyLock<Regex> = LazyLock::new(|| regex(r"(sha256:)?[A-Za-z0-9_+=-]{16,}"));

static UUID: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));

/// `NAME=value` at the start of an argument: an environment variable, whose value is dropped.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| regex(r"^([A-Za-z_][A-Za-z0-9_]*)=(.+)$"));

/// Replaces everything that looks like a secret in the arguments. Also returns the positions (from 1) of the
/// arguments that were changed.
pub(super) fn redact_args(arguments: &[&str]) -> (Vec<String>, Vec<usize>) {
    let mut found = Vec::new();
    let mut before = "";
    let concealed = arguments.iter().enumerate().map(|(index, argument)| {
        let text = redact_argument(before, argument);
        before = argument;
        if text != *argument {
            found.push(index + 1);
        }
        text.into_owned()
    });
    (concealed.collect(), found)
}

/// Replaces secrets in an argument; the argument before it may tell what it is.
fn redact_argument<'a>(before: &str, argument: &'a str) -> Cow<'a, str> {
    let flag = before.starts_with('-') && !before.contains('=');
    if flag && is_key_name(before) && !argument.starts_with('-') && !is_reference(argument) {
        return Cow::Borrowed(PLACEHOLDER);
    }
    if matches!(before, "-H" | "--header" | "--headers")
        && let Some((name, value)) = argument.split_once(':')
        && !is_reference(value.trim())
    {
        return Cow::Owned(format!("{name}: {PLACEHOLDER}"));
    }
    if let Some(assigned) = ASSIGNED.captures(argument) {
        let is_upper_case = !assigned[1].contains(|c: char| c.is_ascii_lowercase());
        if (is_upper_case || matches!(before, "-e" | "--env")) && !is_reference(&assigned[2]) {
            return Cow::Owned(format!("{}={PLACEHOLDER}", &assigned[1]));
        }
    }
    if let Some((name @ "--env", assignment)) = argument.split_once('=')
        && let Some((variable, value)) = assignment.split_once('=')
        && !is_reference(value)
    {
        return Cow::Owned(format!("{name}={variable}={PLACEHOLDER}"));
    }
    redact(argument)
}

/// Replaces everything in a text that looks like a secret.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    let steps: [fn(&str) -> Cow<'_, str>; 7] = [
        |text| MARKED.replace_all(text, PLACEHOLDER),
        |text| USER.replace_all(text, redact_user),
        |text| redact_values(&NAMED, text, is_key_name),
        |text| redact_values(&FLAGGED, text, is_key_name),
        |text| redact_values(&SCHEME, text, |_| true),
        |text| UUID.replace_all(text, PLACEHOLDER),
        |text| RUN.replace_all(text, redact_random_run),
    ];
    steps.into_iter().fold(Cow::Borrowed(text), |text, step| match step(&text) {
        Cow::Owned(changed) if changed != *text => Cow::Owned(changed),
        _ => text,
    })
}

/// Keeps `git@`, the user name that everyone has there.
fn redact_user(found: &Captures<'_>) -> String {
    let (scheme, user) = (&found[1], &found[2]);
    if user == "git@" || is_reference(user.trim_end_matches('@')) || is_after_host(scheme, user) {
        found[0].to_owned()
    } else {
        format!("{scheme}://{PLACEHOLDER}@")
    }
}

/// Keeps digests, which identify public content.
fn redact_random_run(found: &Captures<'_>) -> String {
    if found.get(1).is_none() && looks_random(&found[0]) {
        PLACEHOLDER.to_owned()
    } else {
        found[0].to_owned()
    }
}

/// Replaces the third group of a match where the first group names a secret. Values that are kept are
/// searched in turn: in `https:…` the URL is the value of `https:` and has parameters of its own.
fn redact_values<'a>(pattern: &Regex, text: &'a str, is_key: fn(&str) -> bool) -> Cow<'a, str> {
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = pattern.captures_at(text, at) {
        let (Some(name), Some(value)) = (found.get(1), found.get(3)) else { break };
        let bare = value.as_str().trim_matches(['\\', '"', '\'']);
        if !is_key(name.as_str()) || bare.is_empty() || is_reference(bare) || bare.starts_with(PLACEHOLDER) {
            at = value.start();
            continue;
        }
        out.push_str(&text[kept..value.start()]);
        out.push_str(PLACEHOLDER);
        (kept, at) = (value.end(), value.end());
        // Where a list or object of secrets ends is unknown, so the rest of the text is dropped.
        if bare.starts_with(['{', '[']) {
            kept = text.len();
            break;
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// In an HTTP URL, an `@` after the host is part of the path: `https://esm.sh/@scope/package`.
fn is_after_host(scheme: &str, user: &str) -> bool {
    let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    web && user.contains(['/', '?', '#'])
}

/// Whether a name, by one of its words or its ending, says that its value is a secret.
fn is_key_name(name: &str) -> bool {
    let words = split_words(name);
    let whole: String = words.concat();
    words.iter().any(|word| KEY_WORDS.contains(&word.as_str()))
        || KEY_ENDINGS.iter().any(|ending| whole.ends_with(ending))
}

/// Whether a text is a reference to be filled in: `${TOKEN}`, `$TOKEN`, `%TOKEN%`, `{token}`, `<token>`.
fn is_reference(value: &str) -> bool {
    let bare = value.trim();
    let bare = ["Bearer ", "Basic ", "bearer ", "basic "]
        .iter()
        .find_map(|scheme| bare.strip_prefix(scheme))
        .unwrap_or(bare);
    let within = |open: &str, close: &str| {
        bare.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).is_some_and(|name| {
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | ' ' | '-');
            !name.is_empty() && name.chars().all(plain) && !looks_random(name)
        })
    };
    within("${", "}")
        || within("{{", "}}")
        || within("{", "}")
        || within("%", "%")
        || within("<", ">")
        || bare.strip_prefix('$').is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        })
}

/// Whether a run of letters and digits is more mixed than the names of packages and models.
fn looks_random(run: &str) -> bool {
    let longest = run.split(['-', '_', '+', '=']).max_by_key(|part| part.len()).unwrap_or("");
    let digits = longest.bytes().filter(u8::is_ascii_digit).count();
    let letters = longest.len() - digits;
    let case_changes = longest
        .as_bytes()
        .windows(2)
        .filter(|pair| {
            pair[0].is_ascii_digit() != pair[1].is_ascii_digit()
                || pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()
        })
        .count();
    (longest.len() >= 16 && digits >= 3 && letters >= 1 && case_changes >= 3)
        || (longest.len() >= 24 && case_changes >= 5)
        // base64url keys contain `-` and `_`, so their parts are short.
        || (run.len() >= 32 && run.bytes().filter(u8::is_ascii_digit).count() >= 4 && run.bytes().any(|b| b.is_ascii_uppercase()) && run.bytes().any(|b| b.is_ascii_lowercase()))
        || (longest.len() >= 32 && letters == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concealed(arguments: &[&str]) -> String {
        redact_args(arguments).0.join(" ")
    }

    #[test]
    fn keys_are_replaced_everywhere() {
        // Not real keys: each is the prefix a service uses, followed by meaningless letters.
        let planted = "planted9Qx7Zt2";
        for (arguments, left) in [
            (vec!["--api-key", planted], "--api-key <secret>"),
            (vec!["--api-key=planted9Qx7Zt2"], "--api-key=<secret>"),
            (vec!["--accessToken", planted], "--accessToken <secret>"),
            (vec!["-y", "pkg", "--token planted9Qx7Zt2 -v"], "-y pkg --token <secret> -v"),
            (vec!["run", "-e", "PLAIN=planted9Qx7Zt2"], "run -e PLAIN=<secret>"),
            (vec!["run", "-e", "lower=planted9Qx7Zt2"], "run -e lower=<secret>"),
            (vec!["--env=A=planted9Qx7Zt2"], "--env=A=<secret>"),
            (vec!["ANYTHING=planted9Qx7Zt2", "cmd"], "ANYTHING=<secret> cmd"),
            (vec!["--header", "X-Any: planted9Qx7Zt2 and more"], "--header X-Any: <secret>"),
            (vec!["Authorization: Bearer planted9Qx7Zt2"], "Authorization: <secret>"),
            (vec!["{\"apiKey\":\"planted9Qx7Zt2 too\",\"n\":1}"], "{\"apiKey\":<secret>,\"n\":1}"),
            (vec!["{\\\"api_key\\\": \\\"planted9Qx7Zt2\\\"}"], "{\\\"api_key\\\": <secret>}"),
            (
                vec!["https://h.io/x?q=1&api_key=planted9Qx7Zt2&z=2"],
                "https://h.io/x?q=1&api_key=<secret>&z=2",
            ),
            (vec!["postgresql://me:planted/9@Qx7@db.host/x"], "postgresql://<secret>@db.host/x"),
            (vec!["https://planted9Qx7Zt2@git.host/x"], "https://<secret>@git.host/x"),
            (vec!["ghp_planted9Qx7Zt2planted9Qx7Zt2"], "<secret>"),
            (vec!["x=sk-ant-planted9Qx7Zt2planted"], "x=<secret>"),
            (vec!["https://h.io/s/Yplanted9Qx7Zt2W4k8/mcp"], "https://h.io/s/<secret>/mcp"),
            (
                vec!["3f2b8c1e-planted-9", "0a1b2c3d-1111-2222-3333-444455556666"],
                "3f2b8c1e-planted-9 <secret>",
            ),
            (vec!["{\"token\": {\"value\": \"planted9\"}}"], "{\"token\": <secret>"),
            (vec!["password=a,b;c\\d x"], "password=<secret> x"),
            (vec!["{\"secret\": \"a\\\"planted\"}"], "{\"secret\": <secret>}"),
            (vec!["https://h.io/mcp?token=planted-6"], "https://h.io/mcp?token=<secret>"),
            (vec!["eyJhbGciOiJI.eyJzdWIiOiIx.c2ln"], "<secret>"),
        ] {
            assert_eq!(concealed(&arguments), left);
            assert!(!redact_args(&arguments).1.is_empty());
        }
    }

    #[test]
    fn text_that_is_not_a_key_stays() {
        for arguments in [
            vec!["-y", "@modelcontextprotocol/server-sequential-thinking@2025.1.14"],
            vec!["--directory", "/home/me/projects/key-value-store", "run", "server.py"],
            vec!["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server:v0.2"],
            vec!["mcp/fetch@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
            vec![
                "--api-key",
                "${API_KEY}",
                "--token=$TOKEN",
                "--key",
                "{key}",
                "--header",
                "Authorization: ${input:auth}",
            ],
            vec![
                "--author",
                "me",
                "--tokenizer=fast",
                "git+ssh://git@github.com/a/b.git",
                "https://esm.sh/@scope/pkg",
            ],
            vec![
                "--model=claude-3-5-sonnet-20241022",
                "https://mcp.example.com/sse?profile=work",
                "mcp-server-kubernetes",
            ],
            vec!["--from", "git+https://github.com/oraios/serena", "serena-mcp-server"],
        ] {
            assert_eq!(concealed(&arguments), arguments.join(" "));
        }
    }
}
