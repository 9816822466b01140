//! Writes a catalogue as a single self-contained page: it works when opened from disk, without a server and
//! without any request.
//!
//! The cards are embedded as JSON, and a script inserts all their texts as text. The page's content security
//! policy allows only that script and that style, by their digests, and forbids everything else, so that even
//! a bug in the script could not load or send anything.

use std::io::{self, Write};

use autokit_toolcard::{Kind, Toolcard, fields};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::catalogue::{anchor, by_name, count, heading, link, visible_text};
use crate::BundleInfo;

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Writes the page: cards sorted by name, search, a filter by kind, a link to each card, light and dark
/// according to the reader's system. Printing it prints every card found.
///
/// # Errors
/// When the writer fails.
pub fn write_html(out: &mut impl Write, cards: &[Toolcard], about: &BundleInfo) -> io::Result<()> {
    let title = if about.name.trim().is_empty() { "Toolcards" } else { about.name.trim() };
    let mut facts = vec![count(cards)];
    facts.extend(
        [about.author.as_str(), about.day().as_str()]
            .into_iter()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty()),
    );
    // A checkout on Windows may have different line endings than the browser hashes.
    let [page, style, script] = [PAGE, STYLE, SCRIPT].map(|text| text.replace("\r\n", "\n"));
    let mut rest = page.as_str();
    while let Some((before, after)) = rest.split_once("{{") {
        let (slot, after) = after.split_once("}}").expect("every slot of the page is closed");
        out.write_all(before.as_bytes())?;
        match slot {
            "title" => out.write_all(escaped(title).as_bytes())?,
            "facts" => out.write_all(escaped(&facts.join(" · ")).as_bytes())?,
            "style" => out.write_all(style.as_bytes())?,
            "script" => out.write_all(script.as_bytes())?,
            "style-hash" => out.write_all(digest(&style).as_bytes())?,
            "script-hash" => out.write_all(digest(&script).as_bytes())?,
            "cards" => write_card_data(out, cards)?,
            other => unreachable!("the page has an unknown slot {other}"),
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// What the script shows of a card: invisible characters made visible, links checked.
#[derive(Serialize)]
struct CardView {
    anchor: String,
    name: String,
    /// Shown beside the name in the list.
    side: String,
    kind: &'static str,
    /// Shown under the name.
    under: String,
    about: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    language: String,
    verified: bool,
    facts: Vec<Fact>,
}

/// A field of a card with its display name.
#[derive(Serialize)]
struct Fact {
    label: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    mono: bool,
}

impl CardView {
    fn of(card: &Toolcard) -> CardView {
        let text = |field| {
            card.text(field)
                .map(|text| visible_text(text.trim()).into_owned())
                .filter(|text| !text.is_empty())
        };
        let provider = text(fields::PROVIDER);
        let kind = heading(card.kind());
        let one = match card.kind() {
            Kind::Class => "Class",
            Kind::RestOperation => "REST operation",
            Kind::McpTool => "MCP",
            Kind::Cli => "Command line",
            Kind::Other => "Tool",
        };
        let language = text(fields::LANGUAGE);
        let under: Vec<String> =
            [Some(one.to_owned()), provider.clone(), language.clone()].into_iter().flatten().collect();
        let stub = card.stub();
        CardView {
            anchor: anchor(card),
            name: visible_text(card.name()).into_owned(),
            side: provider.or(language).unwrap_or_default(),
            kind,
            under: under.join(" · "),
            about: text(fields::DESCRIPTION).unwrap_or_default(),
            language: stub.as_ref().map(|stub| visible_text(&stub.language).into_owned()).unwrap_or_default(),
            code: stub.map(|stub| visible_text(&stub.code).into_owned()),
            verified: card.verified(),
            facts: facts(card),
        }
    }
}

/// Every field that is not shown elsewhere: known fields in their usual order, then the others in the card's
/// order.
fn facts(card: &Toolcard) -> Vec<Fact> {
    let elsewhere = [
        fields::NAME,
        fields::PROVIDER,
        fields::KIND,
        fields::DESCRIPTION,
        fields::LANGUAGE,
        fields::VERIFIED,
    ];
    // The lines to copy are the usage, or are generated from the arguments.
    let in_code = match card.stub() {
        None => None,
        Some(_) if card.text(fields::USAGE).is_some_and(|usage| !usage.trim().is_empty()) => {
            Some(fields::USAGE)
        }
        Some(_) => Some(fields::INIT_ARGS),
    };
    let is_shown_elsewhere = |field: &str| elsewhere.contains(&field) || in_code == Some(field);
    let known = fields::ALL.into_iter().filter(|field| card.object().contains_key(*field));
    let others = card.object().keys().map(String::as_str).filter(|field| !fields::ALL.contains(field));
    known
        .chain(others)
        .filter(|field| !is_shown_elsewhere(field))
        .filter_map(|field| {
            let value = &card.object()[field];
            let (text, mono) = match value {
                Value::Null => return None,
                Value::String(text) => {
                    (text.trim().to_owned(), matches!(field, fields::MODULE | fields::CLASS | fields::USAGE))
                }
                Value::Array(items) if items.iter().all(Value::is_string) => {
                    (items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "), false)
                }
                Value::Object(map) if map.is_empty() => return None,
                other => (serde_json::to_string_pretty(other).unwrap_or_default(), true),
            };
            let link = value.as_str().and_then(link);
            let text = visible_text(&text).into_owned();
            (!text.is_empty()).then(|| Fact { label: label(field), text, link, mono })
        })
        .collect()
}

fn label(field: &str) -> String {
    match field {
        fields::ASKS_FOR => "People ask for".into(),
        fields::MODULE => "Module".into(),
        fields::CLASS => "Class".into(),
        fields::INIT_ARGS => "Arguments".into(),
        fields::PARAMETERS => "Parameters".into(),
        fields::USAGE => "Usage".into(),
        fields::OPENAPI => "OpenAPI".into(),
        fields::PRICING => "Pricing".into(),
        fields::DOCUMENTATION => "Documentation".into(),
        fields::TAGS => "Tags".into(),
        fields::SOURCES => "Sources".into(),
        other => visible_text(other).into_owned(),
    }
}

/// Writes the cards as JSON, one per line, with nothing in it that could end the enclosing element.
fn write_card_data(out: &mut impl Write, cards: &[Toolcard]) -> io::Result<()> {
    out.write_all(b"[")?;
    for (index, card) in by_name(cards).into_iter().enumerate() {
        let json = serde_json::to_string(&CardView::of(card))?;
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        out.write_all(escape_for_script(&json).as_bytes())?;
    }
    out.write_all(b"\n]")
}

/// Escapes characters that occur only within JSON strings, which does not change the JSON's meaning.
fn escape_for_script(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(c),
        }
    }
    out
}

/// Escapes text for HTML, between tags or in an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_text(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

fn digest(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests;
