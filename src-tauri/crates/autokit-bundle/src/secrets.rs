//! Keys and passwords never leave with a bundle: values that look like one are found and named.
//!
//! Two signs: the shape of the keys services give out, wherever it stands; and a field called after a
//! key whose value is not a placeholder. What documentation shows ("YOUR_API_KEY", `${TOKEN}`, the name
//! of an environment variable) is no secret.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use autokit_toolcard::{CardId, Toolcard};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::{Regex, RegexSet};
use serde_json::{Map, Value};

use crate::content::{About, Contents, Entry, Step};
use crate::error::{Error, Result, Secret};
use crate::formats::secrets::split_words;
use crate::visible::is_unseen;

fn regex(shape: &str) -> Regex {
    Regex::new(shape).expect("a valid expression")
}

/// Shapes of keys that services give out, each with what to call it.
static SHAPES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    [
        ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"),
        ("a key of a model service", r"\bsk-[A-Za-z0-9_-]{20,}"),
        ("a GitHub token", r"\b(?:gh[opusr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
        ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
        ("an AWS key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a Google key", r"\bAIza[0-9A-Za-z_-]{35}"),
        ("a Slack token", r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
        ("an address that is a key", r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}"),
        ("an address that is a key", r"discord(?:app)?\.com/api/webhooks/\d{15,}/[A-Za-z0-9_-]{40,}"),
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

/// Name and password in an address; either alone may be a key.
static IN_ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)[a-z][a-z0-9+.-]*://([^\s/:@?#]*)(?::([^\s/]+))?@"));

/// A parameter of an address.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| regex(r#"[?&;#]([A-Za-z][\w.-]*)=([^&\s#"'<>;]+)"#));

/// Name and password of HTTP, in base64.
static BASIC: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\bbasic\s+([A-Za-z0-9+/]{6,}={0,2})"));

/// `--name value` and `--name=value` within a command.
static FLAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?:^|\s)--?([A-Za-z][\w.-]*)(?:=|\s+)("[^"]*"|'[^']*'|[^\s-]\S*)"#));

/// A text that is one option with its value, or one environment variable with its value.
static OPTION: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*(?:--?([A-Za-z][\w.-]*)|([A-Za-z_][A-Za-z0-9_]*))=(.+)$"));

/// A header: its name and its value.
static HEADER: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*([A-Za-z][\w-]*)\s*:\s*(.+)$"));

/// A value given to something called after a key, in code or in an address.
static GIVEN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)(?:api_?key|access_?key|secret|token|passw(?:or)?d|pwd|passphrase|auth)["']?\s*[=:]\s*(?:["']([^"'\s]{8,})["']|([A-Za-z0-9_.~+/-]{16,}))"#,
    )
});

/// A password in a list of settings such as `Server=db;User=me;Password=…`.
static SETTING: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?i)(?:^|;)\s*(?:password|passwd|pwd)\s*=\s*([^;\s"']+)"#));

/// What no chance puts into a key: code that fetches one, marks of something left out, and what
/// documentation writes into its examples.
static LEFT_OUT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)example|placeholder|changeme|change[_-]me|redacted|xxxx|\*\*\*|\.\.\.|…|environ\b|getenv|process\.env|secretstr|optional\[",
    )
});

/// Words by which a text says that the key is still to be put there.
static ASKED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)^(?:your?|insert|sample|dummy|replace|replaceme|fake|here|enter|put|paste|todo|tbd|test)$")
});

/// A text made of nothing but words about keys is the name of one.
static ABOUT_KEYS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)^(?:api|key|access|secret|token|passw(?:or)?d|pass|pwd|auth|authorization|bearer|basic|oauth|jwt|cookie|session|credentials?|client|private|personal|public|user|name|value|id|my|your|the|some|a|an|here|insert|enter|test|foo|bar|none|null|true|false|string|str|required|optional|undefined|any|env|[^\p{L}\p{N}])+[0-9]?$",
    )
});

/// Words of a sentence, which a phrase that is a password hardly has.
static SENTENCE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:the|your|an?|of|for|from|to|is|are|key|token|password|secret|credentials?|required|optional|string|see|api|via|with|in|or|and|if|not|used?|oauth2?|auth|authentication|keys|tokens|secrets|service|account|manager|vault|environment|variable)\b",
    )
});

/// Code that fetches a key: a call, or a field called after one.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)^[a-z_]\w*(?:\.\w+)*\(.*\)$|^[a-z_]\w*(?:\.\w+)*\.\w*(?:token|key|secret|passw(?:or)?d|credential|auth)\w*$",
    )
});

/// A password told in a sentence.
static TOLD: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?i)passw(?:or)?d["']?\s*[:=]\s*["']?([^\s"',;]{8,})"#));

/// A text that is a path or the name of a file.
static FILE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)^(?:~|\.{1,2})?/|^[a-z]:\\|\.(?:json|pem|key|txt|ya?ml|toml|env|crt|p12)$"));

/// Distinct characters below which what has the shape of a key is a filler.
const DISTINCT: usize = 8;
/// Bits a character below which a text is words rather than a key.
const BITS: f64 = 3.0;
/// Characters below which a value of a field called after a key is none.
const SHORTEST: usize = 8;
/// Characters below which a password is none.
const SHORTEST_PASSWORD: usize = 6;
/// Characters from which a run of letters and digits is long enough to be a key without a mark.
const RUN: usize = 16;

/// What the name of a field says of its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// Nothing.
    Otherwise,
    /// It may be a key: it is one if it looks like chance made it.
    Perhaps,
    /// It is a key or token unless it stands for one.
    Key,
    /// It is a password or the like, which people choose and which may be short.
    Password,
}

/// What a name says: by its last word, for `token_count` is a number and `max_tokens` a limit.
fn named(name: &str) -> Named {
    let mut words = split_words(name);
    while words.len() > 1 && words.last().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit())) {
        words.pop();
    }
    let Some(last) = words.last() else { return Named::Otherwise };
    let before = words.len().checked_sub(2).map_or("", |at| words[at].as_str());
    let whole = words.concat();
    let ends = |endings: &[&str]| endings.iter().any(|ending| whole.ends_with(ending));
    // What language models and lists call a token is a piece of text or a place in a list.
    let pieces = [
        "page",
        "next",
        "eos",
        "bos",
        "pad",
        "unk",
        "mask",
        "sep",
        "cls",
        "stop",
        "special",
        "end",
        "start",
        "sync",
        "continuation",
        "max",
        "min",
        "previous",
    ];
    match last.as_str() {
        "password" | "passwd" | "pwd" | "passphrase" | "passcode" | "secret" | "cookie" | "cookies"
        | "authorization" | "credential" | "credentials" => Named::Password,
        "pass" if words.len() > 1 => Named::Password,
        "token" if pieces.contains(&before) => Named::Otherwise,
        "token" | "bearer" | "pat" | "jwt" => Named::Key,
        "key" if ["public", "primary", "foreign", "sort"].contains(&before) => Named::Otherwise,
        _ if ends(&["password", "passwd", "passphrase", "connectionstring", "clientsecret", "setcookie"]) => {
            Named::Password
        }
        _ if ends(&[
            "apikey",
            "accesskey",
            "secretkey",
            "privatekey",
            "accountkey",
            "authkey",
            "signingkey",
            "encryptionkey",
            "masterkey",
            "subscriptionkey",
            "accesstoken",
            "authtoken",
            "bearertoken",
            "refreshtoken",
            "apitoken",
        ]) =>
        {
            Named::Key
        }
        "key" | "auth" | "sig" | "signature" => Named::Perhaps,
        _ => Named::Otherwise,
    }
}

/// Whether a value is a key under a name that says so.
fn is_value(named: Named, text: &str) -> bool {
    let text = without_scheme(text.trim().trim_matches(['"', '\'']));
    let (long, distinct) = (text.chars().count(), text.chars().collect::<HashSet<_>>().len());
    let least = match named {
        Named::Otherwise => return false,
        Named::Perhaps => return !stands_for(text) && has_random_run(text),
        Named::Key => SHORTEST,
        Named::Password => SHORTEST_PASSWORD,
    };
    // Addresses are looked through for what is in them.
    if long < least || distinct < 4 || stands_for(text) || text.contains("://") {
        return false;
    }
    let sentence = text.contains(char::is_whitespace) && SENTENCE.is_match(text);
    let file = FILE.is_match(text) && !has_random_run(text);
    !sentence && !file
}

/// The value without `Bearer` and the like before it.
fn without_scheme(text: &str) -> &str {
    match text.split_once(' ') {
        Some((scheme, rest))
            if ["bearer", "basic", "token"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) =>
        {
            rest.trim()
        }
        _ => text,
    }
}

/// Whether a text stands where a key will be: a placeholder, the name of a variable, or code.
fn stands_for(text: &str) -> bool {
    let text = text.trim();
    // <token>, {token}, $TOKEN, %TOKEN%: filled in later.
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
    if LEFT_OUT.is_match(text) {
        // The examples of one provider end in this word, which stands in for a part of the key.
        return text.contains("EXAMPLE") || !LEFT_OUT.split(text).any(has_random_run);
    }
    let shouted = text.contains('_')
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && text.split('_').all(|part| {
            part.len() <= 4
                || part.bytes().all(|b| b.is_ascii_alphabetic())
                || part.bytes().all(|b| b.is_ascii_digit())
        });
    let asked = split_words(text).iter().any(|word| ASKED.is_match(word)) && {
        // Of a key made by chance, a part may look like a word: the rest then does not.
        let delimited = text.split(|c: char| !c.is_alphanumeric());
        let mut rest = delimited.filter(|part| !ASKED.is_match(part));
        !rest.any(|run| has_random_run(run) || is_mixed(run))
    };
    shouted || asked
}

/// Whether a text has as much in it as only chance puts there.
fn is_random(text: &str) -> bool {
    let letters = text.chars().any(char::is_alphabetic);
    let digits = text.chars().any(|c| c.is_ascii_digit());
    let mut counts = std::collections::HashMap::new();
    for c in text.chars() {
        *counts.entry(c).or_insert(0u32) += 1;
    }
    let total = text.chars().count() as f64;
    let bits: f64 = counts.values().map(|count| f64::from(*count) / total).map(|p| -p * p.log2()).sum();
    letters && digits && bits >= BITS
}

/// Whether letters, digits and capitals take turns as they do in no word.
fn is_mixed(run: &str) -> bool {
    const LONG: usize = 10;
    const TURNS: usize = 3;
    let kind = |c: char| (c.is_ascii_digit(), c.is_uppercase());
    let chars: Vec<char> = run.chars().collect();
    let turns = chars.windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count();
    chars.len() >= LONG && turns >= TURNS && chars.iter().any(char::is_ascii_digit)
}

/// Whether a text has a run of letters and digits that is long and made by chance.
fn has_random_run(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|run| run.chars().count() >= RUN && is_random(run))
}

/// All shapes at once: hardly any text has one, and telling so costs one pass.
static ANY: LazyLock<RegexSet> = LazyLock::new(|| {
    let shapes = SHAPES.iter().map(|(_, shape)| shape.as_str());
    let others = [&IN_ADDRESS, &PARAMETER, &BASIC, &FLAG, &OPTION, &GIVEN, &SETTING, &TOLD];
    RegexSet::new(shapes.chain(others.map(|other| other.as_str()))).expect("valid expressions")
});

/// What sort of secret a text holds, if it holds one.
fn secret_in(text: &str) -> Option<&'static str> {
    if text.len() < SHORTEST || !ANY.is_match(text) {
        return None;
    }
    let shaped = SHAPES.iter().find(|(_, shape)| {
        shape.find_iter(text).any(|found| found.as_str().starts_with("-----") || is_shaped(found.as_str()))
    });
    if let Some((what, _)) = shaped {
        return Some(what);
    }
    let in_address = |found: regex::Captures<'_>| {
        let part = |at| found.get(at).map_or("", |part: regex::Match<'_>| part.as_str());
        let (user, password) = (part(1), part(2));
        // Documentation of databases uses the name of the user as the password.
        (user != password && is_value(Named::Password, password)) || is_value(Named::Perhaps, user)
    };
    if IN_ADDRESS.captures_iter(text).any(in_address) {
        return Some("a password in an address");
    }
    let parameter = |found: regex::Captures<'_>| match named(&found[1]) {
        Named::Perhaps => is_value(Named::Key, &found[2]) && is_random(&found[2]),
        Named::Key => is_value(Named::Key, &found[2]) && (is_random(&found[2]) || found[2].len() >= RUN),
        Named::Password => {
            let mixed = found[2].chars().any(|c| !c.is_alphabetic());
            is_value(Named::Key, &found[2]) && (mixed || found[2].len() >= RUN)
        }
        Named::Otherwise => false,
    };
    if PARAMETER.captures_iter(text).any(parameter) {
        return Some("a key in an address");
    }
    let pair = |found: regex::Captures<'_>| {
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
        if is_value(named(name), &found[3]) && !found[3].contains(['(', '\n']) {
            return Some("the value of an option for keys");
        }
        if is_header(name) && header_in(&found[3]) {
            return Some("the value of a header for keys");
        }
    }
    let flag = |found: regex::Captures<'_>| {
        let value = found[2].trim_matches(['"', '\'']);
        is_value(named(&found[1]), value) && is_random(value) || is_header(&found[1]) && header_in(value)
    };
    if FLAG.captures_iter(text).any(flag) {
        return Some("the value of an option for keys");
    }
    let setting = |found: regex::Captures<'_>| {
        is_value(Named::Password, &found[1])
            && found[1].chars().any(|c| !c.is_alphabetic())
            && !found[1].contains('(')
    };
    if text.contains(';') && SETTING.captures_iter(text).any(setting) {
        return Some("a password in settings");
    }
    let told = |found: regex::Captures<'_>| {
        let value = &found[1];
        let kinds = [char::is_uppercase, char::is_lowercase, |c: char| c.is_ascii_digit()];
        is_value(Named::Password, value) && kinds.iter().all(|kind| value.contains(*kind))
    };
    if TOLD.captures_iter(text).any(told) {
        return Some("a password");
    }
    let given = |found: regex::Captures<'_>| {
        let value = found.get(1).or(found.get(2)).map_or("", |value| value.as_str());
        is_value(Named::Key, value) && is_random(value)
    };
    GIVEN.captures_iter(text).any(given).then_some("a key written into code")
}

/// Whether an option is followed by a header.
fn is_header(option: &str) -> bool {
    matches!(option.trim_start_matches('-'), "H" | "header" | "headers")
}

/// Whether a text is a header whose value is a key.
fn header_in(text: &str) -> bool {
    HEADER.captures(text).is_some_and(|found| is_value(named(&found[1]), &found[2]))
}

/// Whether what has the shape of a key is more than a filler.
fn is_shaped(text: &str) -> bool {
    let distinct = text.chars().collect::<HashSet<_>>().len();
    distinct >= DISTINCT && !stands_for(without_scheme(text)) && text.chars().any(|c| c.is_ascii_digit())
}

/// Looks through cards; what was found clean is not looked through again, for most of a card's history
/// says the same as the card.
#[derive(Default)]
struct Search {
    clean: HashSet<u64>,
    state: RandomState,
}

impl Search {
    /// What sort of secret a text under this name is or holds.
    fn text(&mut self, name: &str, text: &str) -> Option<&'static str> {
        let mark = self.state.hash_one((name, text));
        if self.clean.contains(&mark) {
            return None;
        }
        // A character nobody sees must not hide a key.
        let unseen = |c: char| is_unseen(c) && !c.is_whitespace();
        let seen =
            if text.contains(unseen) { Cow::Owned(text.replace(unseen, "")) } else { Cow::Borrowed(text) };
        let found = secret_in(&seen)
            .or_else(|| is_value(named(name), &seen).then_some("the value of a field for keys"));
        if found.is_none() {
            self.clean.insert(mark);
        }
        found
    }

    /// Where in a value there are keys: the path to each, and what it looks like.
    fn value(&mut self, name: &str, path: &str, value: &Value, found: &mut Vec<(String, &'static str)>) {
        match value {
            Value::String(text) => {
                found.extend(self.text(name, text).map(|what| (path.to_owned(), what)));
            }
            Value::Number(number) if named(name) != Named::Otherwise => {
                found.extend(self.text(name, &number.to_string()).map(|what| (path.to_owned(), what)));
            }
            Value::Array(items) => {
                let mut before = "";
                for (at, item) in items.iter().enumerate() {
                    let path = format!("{path}[{at}]");
                    let text = item.as_str().unwrap_or_default();
                    // An option says what the text after it is.
                    let option = before.starts_with('-') && !before.contains('=') && !text.starts_with("--");
                    if option && is_header(before) && header_in(text) {
                        found.push((path, "the value of a header for keys"));
                    } else {
                        self.value(if option { before } else { name }, &path, item, found);
                    }
                    before = text;
                }
            }
            Value::Object(map) => {
                // {"name": "API_KEY", "value": …}
                let told =
                    ["name", "key", "header", "variable"].iter().find_map(|name| map.get(*name)?.as_str());
                for (field, value) in map {
                    let path = format!("{path}.{field}");
                    if self.text("", field).is_some() {
                        found.push((path.clone(), "a key as the name of a field"));
                    }
                    let called = match field.as_str() {
                        "value" => told.unwrap_or(name),
                        "default" => name,
                        _ => field,
                    };
                    self.value(called, &path, value, found);
                }
            }
            _ => {}
        }
    }

    fn card(&mut self, card: &Map<String, Value>) -> Vec<(String, &'static str)> {
        let mut found = Vec::new();
        for (name, value) in card {
            self.value(name, name, value, &mut found);
        }
        found
    }

    /// What is found in texts that go with a card or a bundle; their names say nothing of keys.
    fn texts(&mut self, texts: &[(&str, &str)]) -> Vec<(String, &'static str)> {
        let found =
            texts.iter().filter_map(|(field, text)| Some(((*field).to_owned(), self.text("", text)?)));
        found.collect()
    }

    fn step(&mut self, step: &Step) -> Vec<(String, &'static str)> {
        self.texts(&[("author", &step.author.0), ("reason", &step.reason)])
    }
}

/// The fields of a card that hold a key or password, each with what it looks like.
pub fn secrets_in(card: &Toolcard) -> Vec<(String, &'static str)> {
    Search::default().card(card.object())
}

/// Everything in these cards, in where they come from and in their history that must not leave.
pub fn secrets_of(entries: &[Entry]) -> Vec<Secret> {
    let (mut secrets, mut search) = (Vec::new(), Search::default());
    for entry in entries {
        let mut add = |found: Vec<(String, &'static str)>, in_history| {
            secrets.extend(found.into_iter().map(|(field, kind)| Secret {
                card: entry.id.clone(),
                name: entry.card.name().to_owned(),
                field,
                kind,
                in_history,
            }));
        };
        let mut found = search.card(entry.card.object());
        found.extend(search.step(&entry.step));
        let provenance = &entry.provenance;
        found.extend(search.texts(&[
            ("provenance.author", &provenance.author.0),
            ("provenance.licence", provenance.licence.as_deref().unwrap_or_default()),
        ]));
        add(found, false);
        for past in &entry.history {
            let card = serde_json::from_str::<Map<String, Value>>(&past.body);
            let mut found = card.map(|card| search.card(&card)).unwrap_or_default();
            found.extend(search.step(&past.step));
            add(found, true);
        }
    }
    secrets
}

/// What must not leave in what a bundle says about itself; it belongs to no card, so the id of its
/// card is empty.
pub fn secrets_in_about(about: &About) -> Vec<Secret> {
    let found = Search::default().texts(&[
        ("name", &about.name),
        ("author", &about.author),
        ("licence", about.licence.as_deref().unwrap_or_default()),
        ("note", &about.note),
    ]);
    let secret = |(field, kind)| Secret {
        card: CardId::new(""),
        name: "the bundle itself".to_owned(),
        field,
        kind,
        in_history: false,
    };
    found.into_iter().map(secret).collect()
}

pub(crate) fn refuse_secrets(contents: &Contents) -> Result<()> {
    let mut secrets = secrets_in_about(&contents.about);
    secrets.extend(secrets_of(&contents.cards));
    if secrets.is_empty() { Ok(()) } else { Err(Error::Secrets(secrets)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(card: &Value) -> Vec<String> {
        let card = Toolcard::from_json(&card.to_string()).expect("a card");
        secrets_in(&card).into_iter().map(|(field, _)| field).collect()
    }

    /// Put together here, so that no file of this project looks as if it held a key.
    fn made(prefix: &str, length: usize) -> String {
        let letters = "a8Bq2ZxK7mP4wR9tYc3L";
        prefix.chars().chain(letters.chars().cycle().take(length)).collect()
    }

    #[test]
    fn keys_are_found_wherever_they_stand() {
        let github = made("ghp_", 36);
        let model = made("sk-", 40);
        let card = json!({
            "name": "a",
            "description": format!("Use {github} to log in."),
            "init_args": {"api_key": "a8Bq2ZxK7mP4wR9tYc3L", "deep": [{"x": model}]},
            "usage": format!("client = Client(api_key=\"{}\")", made("", 24)),
            "openapi": "https://me:hunter2pass@example.org/openapi.json",
            "headers": {"Authorization": format!("Bearer {}", made("", 30))},
        });
        assert_eq!(
            fields(&card),
            [
                "description",
                "init_args.api_key",
                "init_args.deep[0].x",
                "usage",
                "openapi",
                "headers.Authorization"
            ]
        );
    }

    #[test]
    fn what_documentation_shows_is_no_secret() {
        let card = json!({
            "name": "a",
            "description": "Needs an API key: set the environment variable OPENAI_API_KEY. Password required.",
            "init_args": {
                "api_key": "YOUR_API_KEY", "token": "${TOKEN}", "secret": "str", "password": "<password>",
                "openai_api_key": "OPENAI_API_KEY", "api_token": "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
                "access_key": "AKIAIOSFODNN7EXAMPLE", "max_token": "4096", "api-key": "required",
                "key": "os.environ['KEY_1234567890']", "credentials": "credentials.json",
            },
            "usage": "os.environ[\"TAVILY_API_KEY\"] = getpass.getpass()\nTool(api_key=os.environ[\"KEY\"], token=\"...\")",
            "documentation": "https://docs.example.org/en/v1.2.3/token/authentication-1234567890",
            "parameters": {"properties": {"token": {"type": "string", "description": "token: the page token of 2024"}}},
        });
        assert_eq!(fields(&card), Vec::<String>::new());
    }

    #[test]
    fn values_are_known_by_what_stands_beside_them() {
        let letters = "abcdefghijkl";
        for args in [
            json!(["--api-key", letters]),
            json!(["--header", "Authorization: Basic bWU6aHVudGVyMg=="]),
            json!(["-H", "X-Api-Key: 4711081547110815"]),
            json!(["--token=correcthorse"]),
            json!([format!("run --api-key {}", made("", 12))]),
            json!([{"name": "API_KEY", "value": letters}]),
            json!([{"header": "Authorization", "value": "Bearer abcdefghijkl"}]),
            json!([{"key": "DB_PASSWORD", "value": "hunter2"}]),
            json!([{"token": {"value": letters}}]),
        ] {
            assert_eq!(fields(&json!({"name": "a", "init_args": {"args": args}})).len(), 1, "{args}");
        }
    }

    #[test]
    fn names_of_fields_say_what_their_values_are() {
        for name in [
            "bearerToken",
            "accessToken",
            "GITHUB_PAT",
            "cookie",
            "set-cookie",
            "authorization",
            "private_key",
            "client_secret",
            "password",
            "passwd",
            "pwd",
            "passphrase",
            "connection_string",
            "apiKey",
            "X-API-Key",
        ] {
            for value in [
                json!("1234567890"),
                json!("abcdefghijkl"),
                json!("correct horse battery staple"),
                json!(1_234_567_890),
            ] {
                let card = json!({"name": "a", "init_args": {name: value}});
                assert_eq!(fields(&card), [format!("init_args.{name}")], "{card}");
            }
            for value in [
                json!(""),
                json!(null),
                json!(true),
                json!("YOUR_API_KEY"),
                json!("<token>"),
                json!("${TOKEN}"),
                json!("sk-..."),
                json!("xxxxxxxxxxxx"),
                json!("The key of your account"),
                json!("/run/secrets/key.pem"),
                json!("your-key-here"),
                json!("Bearer ${input:token}"),
            ] {
                let card = json!({"name": "a", "init_args": {name: value}});
                assert_eq!(fields(&card), Vec::<String>::new(), "{card}");
            }
        }
        let card = json!({
            "name": "a",
            "init_args": {
                "max_tokens": 4096, "token_count": 123_456_789, "tokenizer": "cl100k_base_2024", "key": "id",
                "primary_key": "customer_id_2", "eos_token": "<|endoftext|>", "next_page_token": "CAUQAA12345678",
                "auth": "oauth2", "sort_key": "created_at",
            },
            "credential": "DefaultAzureCredential()",
            "token": "settings.access_token",
            "secret": "AWS Secrets Manager",
            "commit": "3f786850e387550fdab836ed7e6dc881de23001b",
            "checksum": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "uuid": "0a1b2c3d-1111-4222-8333-444455556666",
        });
        assert_eq!(fields(&card), Vec::<String>::new());
    }

    #[test]
    fn addresses_are_looked_through() {
        let key = made("", 20);
        for address in [
            "redis://:hunter2@cache.host:6379".to_owned(),
            "POSTGRESQL://me:hunter2pass@db.host/x".to_owned(),
            format!("https://{key}@git.host/x"),
            format!("https://h.io/x?q=1&api_key={key}"),
            format!("https://h.io/x?key={key}"),
            format!("https://h.io/x?SIG={key}&se=1"),
            "https://h.io/x?access_token=abcdefghijklmnopq".to_owned(),
            "amqp://me:p@ssw0rd@mq.host/".to_owned(),
            "https://h.io/x?password=hunter2hunter2".to_owned(),
            "to log in, password: Tr0ub4dor&3xyz!".to_owned(),
            "Server=db;User=me;Password=Sup3r;Encrypt=yes".replace("Sup3r", "Sup3rS4fe!"),
        ] {
            assert_eq!(fields(&json!({"name": "a", "x": address})), ["x"], "{address}");
        }
        for address in [
            "https://h.io/x?key=id&token=abc",
            "https://h.io/x?api_key=YOUR_API_KEY",
            "https://h.io/x?token=${TOKEN}",
            "postgresql://user:password@localhost/db",
            "postgres://postgres:postgres@localhost",
            "git@github.com:a/b.git",
            "https://esm.sh/@scope/pkg",
            "ssh://git@github.com/a/b",
            "https://h.io/x?key=getting-started-with-tools",
            "postgresql://${USER}:${PASSWORD}@host/db",
            "https://me@h.io",
        ] {
            assert_eq!(fields(&json!({"name": "a", "x": address})), Vec::<String>::new(), "{address}");
        }
    }

    #[test]
    fn services_mark_their_keys() {
        let hex = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";
        for key in [
            format!("SG.{}.{}", made("", 22), made("", 43)),
            format!("shpat_{hex}"),
            format!("SK{hex}"),
            format!("DefaultEndpointsProtocol=https;AccountKey={}==", made("", 86)),
            made("123456789:", 35),
            made("https://api.telegram.org/bot123456789:", 35),
            made("https://discord.com/api/webhooks/123456789012345678/", 60),
            format!("{}.{}.{}", made("M", 23), made("", 6), made("", 38)),
            made("ghp_", 36),
            made("github_pat_", 60),
            made("glpat-", 20),
            made("xoxb-", 30),
            "AKIAQ7Z3M2K9P4T8W6XY".to_owned(),
            made("AIza", 35),
            made("sk_live_", 24),
            made("npm_", 36),
            made("pypi-", 60),
            format!("{}.{}.{}", made("eyJ", 20), made("eyJ", 20), made("", 20)),
            "-----BEGIN OPENSSH PRIVATE KEY-----".to_owned(),
        ] {
            assert_eq!(fields(&json!({"name": "a", "x": format!("see {key} there")})), ["x"], "{key}");
            let hidden: String = key.chars().flat_map(|c| [c, '\u{200b}']).collect();
            assert_eq!(fields(&json!({"name": "a", "x": hidden})), ["x"], "{key}");
        }
    }

    #[test]
    fn a_word_within_a_key_makes_it_no_placeholder() {
        for word in ["your", "insert", "test", "here"] {
            let key = format!("ghp_a8Bq2ZxK7mP4wR9tYc3L{word}a8Bq2ZxK7mP4wR9tYc3L");
            assert_eq!(fields(&json!({"name": "a", "x": key})), ["x"], "{key}");
            let card = json!({"name": "a", "api_key": format!("a8Bq2ZxK7mP4-{word}-R9tYc3LxQ2w")});
            assert_eq!(fields(&card), ["api_key"], "{card}");
            let key = format!("sk-{word}-a8Bq2ZxK7mP4wR9tYc3L");
            assert_eq!(fields(&json!({"name": "a", "x": key})), ["x"], "{key}");
        }
    }

    #[test]
    fn what_goes_with_cards_is_looked_through() {
        let key = made("ghp_", 36);
        let about =
            About { note: format!("log in with {key}"), licence: Some(key.clone()), ..About::default() };
        let found: Vec<String> = secrets_in_about(&about).into_iter().map(|secret| secret.field).collect();
        assert_eq!(found, ["licence", "note"]);
        let refused =
            refuse_secrets(&Contents { about, ..Contents::default() }).expect_err("refused").to_string();
        assert!(
            refused.starts_with("the bundle would leave with a key") && !refused.contains(&key),
            "{refused}"
        );
        let card = Toolcard::from_json(r#"{"name": "a"}"#).expect("a card");
        let item = autokit_toolcard::ReadItem { position: 1, card, warnings: Vec::new() };
        let mut entry =
            Entry::plain(item, &autokit_toolcard::Author(key.clone()), "2026-01-01T00:00:00.000Z");
        entry.provenance.licence = Some(key);
        let found: Vec<String> = secrets_of(&[entry]).into_iter().map(|secret| secret.field).collect();
        assert_eq!(found, ["author", "provenance.author", "provenance.licence"]);
    }

    #[test]
    fn the_cards_autokit_comes_with_hold_no_secret() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../autokit-app/starter");
        let mut seen = 0;
        for file in std::fs::read_dir(folder).expect("the starter cards") {
            let text = std::fs::read_to_string(file.expect("read").path()).expect("text");
            for card in serde_json::from_str::<Vec<Value>>(&text).expect("cards") {
                assert_eq!(fields(&card), Vec::<String>::new(), "{card}");
                seen += 1;
            }
        }
        assert!(seen > 10);
    }
}
