//! Keys and passwords never leave with a bundle: values that look like one are found and named.
//!
//! Two signs: the shape of the keys services give out, wherever it stands; and a field called after a
//! key whose value is not a placeholder. What documentation shows ("YOUR_API_KEY", `${TOKEN}`, the name
//! of an environment variable) is no secret.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use autokit_toolcard::Toolcard;
use regex::{Regex, RegexSet};
use serde_json::{Map, Value};

use crate::content::{Contents, Entry};
use crate::error::{Error, Result, Secret};

/// Shapes of keys that services give out, each with what to call it.
static SHAPES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    [
        ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
        ("a key of a model service", r"\bsk-[A-Za-z0-9_-]{20,}"),
        ("a GitHub token", r"\b(?:gh[opusr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
        ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
        ("an AWS key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a Google key", r"\bAIza[0-9A-Za-z_-]{35}"),
        ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("a Stripe key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
        ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
        ("a token of a package registry", r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,})"),
        ("a search key", r"\b(?:tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}|BSA[A-Za-z0-9_-]{28})\b"),
        ("a signed token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
        ("a bearer token", r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{20,}"),
    ]
    .into_iter()
    .map(|(what, shape)| (what, Regex::new(shape).expect("a valid expression")))
    .collect()
});

/// Name and password in an address.
static IN_ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[a-z][a-z0-9+.-]*://[^\s/:@]+:([^\s/@]+)@").expect("a valid expression"));

/// A value given to something called after a key, in code or in an address.
static GIVEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?:api_?key|access_?key|secret|token|passw(?:or)?d|auth)["']?\s*[=:]\s*(?:["']([^"'\s]{8,})["']|([A-Za-z0-9_.~+/-]{16,}))"#,
    )
    .expect("a valid expression")
});

/// What fields are called that hold a key.
static CALLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:^|[_.-])(?:api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|client[_-]?secret|private[_-]?key|token|passw(?:or)?d|passphrase|authorization|credentials?|bearer)$|(?i)(?:apikey|accesskey|secretkey|accesstoken|authtoken)$",
    )
    .expect("a valid expression")
});

/// What stands where a key would.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)example|sample|dummy|placeholder|replace|changeme|your|insert|test[_-]?key|redacted|secret[_-]?here|^(?:my|the|some|a)[_-]|xxxx|\*\*\*|\.\.\.|…|environ|getenv|process\.env|secretstr|optional|^(?:none|null|true|false|str|string|required|bearer)$",
    )
    .expect("a valid expression")
});

/// Distinct characters below which a text is a filler such as `xxxxxxxx`.
const DISTINCT: usize = 6;
/// Bits a character below which a text is words rather than a key.
const BITS: f64 = 3.0;
/// Characters below which a value of a field called after a key is none.
const SHORTEST: usize = 8;

/// Whether a text that stands where a key would is a real one.
fn is_real(text: &str) -> bool {
    let text = text.trim();
    let distinct = text.chars().collect::<HashSet<_>>().len();
    if text.chars().count() < SHORTEST || distinct < DISTINCT || PLACEHOLDER.is_match(text) {
        return false;
    }
    // <token>, {token}, $TOKEN, %TOKEN%: filled in later. Names of environment variables too.
    if text.starts_with(['<', '{', '$', '%', '[', '(']) {
        return false;
    }
    if text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') && text.contains('_') {
        return false;
    }
    !text.contains(char::is_whitespace)
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

/// All shapes at once: hardly any text has one, and telling so costs one pass.
static ANY: LazyLock<RegexSet> = LazyLock::new(|| {
    let shapes = SHAPES.iter().map(|(_, shape)| shape.as_str());
    RegexSet::new(shapes.chain([IN_ADDRESS.as_str(), GIVEN.as_str()])).expect("valid expressions")
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
    if IN_ADDRESS.captures_iter(text).any(|found| is_real(&found[1])) {
        return Some("a password in an address");
    }
    let given = |found: regex::Captures<'_>| {
        let value = found.get(1).or(found.get(2)).map_or("", |value| value.as_str());
        is_real(value) && is_random(value)
    };
    GIVEN.captures_iter(text).any(given).then_some("a key written into code")
}

/// Whether what has the shape of a key is more than a filler.
fn is_shaped(text: &str) -> bool {
    let distinct = text.chars().collect::<HashSet<_>>().len();
    distinct >= DISTINCT + 2 && !PLACEHOLDER.is_match(text) && text.chars().any(|c| c.is_ascii_digit())
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
        let named = || CALLED.is_match(name) && is_real(text) && is_random(text);
        let found = secret_in(text).or_else(|| named().then_some("the value of a field for keys"));
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
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.value(name, &format!("{path}[{at}]"), item, found);
                }
            }
            Value::Object(map) => {
                for (name, value) in map {
                    let path = format!("{path}.{name}");
                    if self.text("", name).is_some() {
                        found.push((path.clone(), "a key as the name of a field"));
                    }
                    self.value(name, &path, value, found);
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
}

/// The fields of a card that hold a key or password, each with what it looks like.
pub fn secrets_in(card: &Toolcard) -> Vec<(String, &'static str)> {
    Search::default().card(card.object())
}

/// Everything in these cards and their history that must not leave.
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
        let reason =
            |search: &mut Search, text: &str| search.text("", text).map(|what| ("reason".to_owned(), what));
        let mut found = search.card(entry.card.object());
        found.extend(reason(&mut search, &entry.step.reason));
        add(found, false);
        for past in &entry.history {
            let card = serde_json::from_str::<Map<String, Value>>(&past.body);
            let mut found = card.map(|card| search.card(&card)).unwrap_or_default();
            found.extend(reason(&mut search, &past.step.reason));
            add(found, true);
        }
    }
    secrets
}

pub(crate) fn refuse_secrets(contents: &Contents) -> Result<()> {
    let secrets = secrets_of(&contents.cards);
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
}
