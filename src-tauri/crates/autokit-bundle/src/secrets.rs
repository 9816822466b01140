//! Finds API keys and passwords, so that they are never exported with a bundle.
//!
//! There are two signs: the format of the keys that services issue, anywhere in a text ([`text`]), and a
//! field named after a key ([`names`]) whose value is not a placeholder ([`value`]). What documentation shows
//! ("YOUR_API_KEY", `${TOKEN}`, the name of an environment variable) is not a secret.
//!
//! A finding asks a person to remove a value, so text that is merely about keys is spared. Secrets in
//! imported settings files, in contrast, are replaced without asking and on the slightest sign: see
//! `formats::redact`.

mod names;
#[cfg(test)]
mod tests;
mod text;
mod value;

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use autokit_toolcard::{CardId, Toolcard, is_invisible};
use regex::Regex;
use serde_json::{Map, Value};

use self::names::{NameHint, name_hint};
use self::text::{is_header, is_secret_header, secret_in};
use self::value::is_value;
use crate::content::{BundleCard, BundleContents, RevisionMeta};
use crate::error::{Error, Result, Secret};

fn regex(shape: &str) -> Regex {
    Regex::new(shape).expect("a valid expression")
}

/// Searches cards for secrets. Texts found clean are remembered and skipped, because most of a card's history
/// repeats the card.
#[derive(Default)]
struct Search {
    clean: HashSet<u64>,
    state: RandomState,
}

impl Search {
    /// The kind of secret that a text under this name is or contains.
    fn text(&mut self, name: &str, text: &str) -> Option<&'static str> {
        let mark = self.state.hash_one((name, text));
        if self.clean.contains(&mark) {
            return None;
        }
        // An invisible character must not hide a key.
        let invisible = |c: char| is_invisible(c) && !c.is_whitespace();
        let visible_text = if text.contains(invisible) {
            Cow::Owned(text.replace(invisible, ""))
        } else {
            Cow::Borrowed(text)
        };
        let found = secret_in(&visible_text)
            .or_else(|| is_value(name_hint(name), &visible_text).then_some("the value of a key field"));
        if found.is_none() {
            self.clean.insert(mark);
        }
        found
    }

    /// Adds every secret in a value to `found`: its path and what kind it is.
    fn value(&mut self, name: &str, path: &str, value: &Value, found: &mut Vec<(String, &'static str)>) {
        match value {
            Value::String(text) => {
                found.extend(self.text(name, text).map(|what| (path.to_owned(), what)));
            }
            Value::Number(number) if name_hint(name) != NameHint::None => {
                found.extend(self.text(name, &number.to_string()).map(|what| (path.to_owned(), what)));
            }
            Value::Array(items) => {
                let mut before = "";
                for (at, item) in items.iter().enumerate() {
                    let path = format!("{path}[{at}]");
                    let text = item.as_str().unwrap_or_default();
                    // An option such as `--token` determines what the text after it is.
                    let option = before.starts_with('-') && !before.contains('=') && !text.starts_with("--");
                    if option && is_header(before) && is_secret_header(text) {
                        found.push((path, "the value of a key header"));
                    } else {
                        self.value(if option { before } else { name }, &path, item, found);
                    }
                    before = text;
                }
            }
            Value::Object(map) => {
                // {"name": "API_KEY", "value": …}
                let named_by =
                    ["name", "key", "header", "variable"].iter().find_map(|name| map.get(*name)?.as_str());
                for (field, value) in map {
                    let path = format!("{path}.{field}");
                    if self.text("", field).is_some() {
                        found.push((path.clone(), "a key used as a field name"));
                    }
                    let effective_name = match field.as_str() {
                        "value" => named_by.unwrap_or(name),
                        "default" => name,
                        _ => field,
                    };
                    self.value(effective_name, &path, value, found);
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

    /// Searches texts that accompany a card or a bundle and whose names say nothing about keys.
    fn texts(&mut self, texts: &[(&str, &str)]) -> Vec<(String, &'static str)> {
        let found =
            texts.iter().filter_map(|(field, text)| Some(((*field).to_owned(), self.text("", text)?)));
        found.collect()
    }

    fn revision(&mut self, revision: &RevisionMeta) -> Vec<(String, &'static str)> {
        self.texts(&[("author", &revision.author.0), ("reason", &revision.reason)])
    }
}

/// Whether a text under this name is or contains an API key or password.
pub fn is_secret(name: &str, text: &str) -> bool {
    Search::default().text(name, text).is_some()
}

/// Whether a text under this name may be an API key, a password or similarly private. Errs on the side of
/// `true`, for callers that lose nothing by leaving out a harmless text.
pub fn may_be_secret(name: &str, text: &str) -> bool {
    static STATED_SECRET: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"(?i)\b(pass(word|phrase|code|wd)?|secret|token|pin|api.?key)\b\s*(is|:|=)\s*\S")
    });
    const PRIVATE: [&str; 9] = ["pin", "cvv", "cvc", "otp", "ssn", "iban", "cardnumber", "pan", "seed"];
    if text.is_empty() {
        return false;
    }
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    name_hint(name) != NameHint::None
        || PRIVATE.contains(&plain.as_str())
        || is_secret(name, text)
        || STATED_SECRET.is_match(text)
}

/// The fields of a card that contain an API key or password, each with the kind of secret.
pub fn secrets_in(card: &Toolcard) -> Vec<(String, &'static str)> {
    Search::default().card(card.object())
}

/// All secrets in these cards, their provenance and their history.
pub fn secrets_of(entries: &[BundleCard]) -> Vec<Secret> {
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
        found.extend(search.revision(&entry.revision));
        let provenance = &entry.provenance;
        found.extend(search.texts(&[
            ("provenance.author", &provenance.author.0),
            ("provenance.licence", provenance.licence.as_deref().unwrap_or_default()),
        ]));
        add(found, false);
        for past in &entry.history {
            let card = serde_json::from_str::<Map<String, Value>>(&past.body);
            let mut found = card.map(|card| search.card(&card)).unwrap_or_default();
            found.extend(search.revision(&past.revision));
            add(found, true);
        }
    }
    secrets
}

/// The secrets in what belongs to no card: a bundle's metadata, names and synonyms. Their card id is empty.
pub(crate) fn secrets_outside_cards(contents: &BundleContents) -> Vec<Secret> {
    let BundleContents { about, names, synonyms, .. } = contents;
    let found = Search::default().texts(&[
        ("name", &about.name),
        ("author", &about.author),
        ("licence", about.licence.as_deref().unwrap_or_default()),
        ("note", &about.note),
        ("names", &names.join("\n")),
        ("synonyms", &synonyms.join("\n")),
    ]);
    let of_bundle = |(field, kind)| Secret {
        card: CardId::new(""),
        name: "the bundle itself".to_owned(),
        field,
        kind,
        in_history: false,
    };
    found.into_iter().map(of_bundle).collect()
}

/// All secrets in a bundle: in its metadata, its names and synonyms, and its cards.
pub fn secrets_in_bundle(contents: &BundleContents) -> Vec<Secret> {
    let mut secrets = secrets_outside_cards(contents);
    secrets.extend(secrets_of(&contents.cards));
    secrets
}

pub(crate) fn refuse_secrets(contents: &BundleContents) -> Result<()> {
    let secrets = secrets_in_bundle(contents);
    if secrets.is_empty() { Ok(()) } else { Err(Error::Secrets(secrets)) }
}
