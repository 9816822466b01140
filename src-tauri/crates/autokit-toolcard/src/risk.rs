//! Risk of accepting a proposed value.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::card::fields;
use crate::prompt_injection::has_injection;
use crate::proposal::{Evidence, ProposedField};

/// How carefully a reviewer should look before accepting. Ordered from low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Quoted from a page, probably correct, and not replacing or removing anything that people run or rely
    /// on.
    Low,
    /// Worth checking.
    Medium,
    /// Loses data, changes the tool's identity, runs code, or is probably wrong.
    High,
}

impl Risk {
    /// Every risk, from low to high.
    pub const ALL: [Risk; 3] = [Risk::Low, Risk::Medium, Risk::High];

    /// Returns the name used in stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        }
    }
}

/// A value with a lower confidence is always worth checking.
const MIN_SURE: f32 = 0.8;
/// An address with this confidence passed every check of its page.
const CERTAIN: f32 = 0.99;
/// A value with a lower confidence is as likely wrong as right.
const MIN_CREDIBLE: f32 = 0.5;

/// Fields that end up in code people run, or decide what AutoKit calls.
const CODE: [&str; 10] = [
    fields::MODULE,
    fields::CLASS,
    fields::INIT_ARGS,
    fields::PARAMETERS,
    fields::INSTALL,
    fields::USAGE,
    fields::OPENAPI,
    fields::CALL,
    fields::UPSTREAM,
    fields::MACRO,
];

/// Assesses the risk of accepting a field by rules; the highest applicable risk counts.
///
/// | rule | risk |
/// |---|---|
/// | a value is removed | high |
/// | a text in it is flagged as prompt injection | high |
/// | name or provider of a card changes, which makes it another card to everybody who refers to it | high |
/// | confidence below 0.5 | high |
/// | it is code that AutoKit runs | high |
/// | name or provider of a new card | medium |
/// | there is no quote for it | medium |
/// | confidence below 0.8 | medium |
/// | a value that ends up in code is replaced | medium |
/// | there is an install command, also a card's first: people paste it into a shell | medium |
/// | documentation moves to another host, is a card's first, or is not reached over https | medium |
/// | a card is no longer marked verified: a missing page cannot be quoted | medium |
/// | anything else | low |
pub fn risk(field: &ProposedField, before: Option<&Value>) -> Risk {
    let before = before.filter(|value| !value.is_null());
    let identity = [fields::NAME, fields::PROVIDER].contains(&field.field.as_str());
    let replaced = before.is_some() && before != field.value.as_ref();
    let removed = before.is_some() && field.value.as_ref().is_none_or(Value::is_null);
    let flagged = field.value.as_ref().is_some_and(has_injection);
    let runs = field.field == fields::FUNCTION && field.value.is_some();
    if removed || (identity && replaced) || field.confidence < MIN_CREDIBLE || flagged || runs {
        return Risk::High;
    }
    let quoted = field.evidence.iter().any(|evidence| !evidence.quote.trim().is_empty());
    let installs = field.field == fields::INSTALL && field.value.is_some();
    let changes_code = installs || CODE.contains(&field.field.as_str()) && replaced;
    let changes_site = field.field == fields::DOCUMENTATION && changes_host(before, field.value.as_ref());
    let denies = field.field == fields::VERIFIED && replaced && field.value != Some(Value::Bool(true));
    if identity || !quoted || field.confidence < MIN_SURE || changes_code || changes_site || denies {
        return Risk::Medium;
    }
    Risk::Low
}

/// Assesses a field for the card it would change: as [`risk`], but a documentation page that moved to another site is
/// low risk where it is certain ([`is_confirmed_address`]) that the page there is about this very tool.
pub fn risk_on(field: &ProposedField, card: &Map<String, Value>) -> Risk {
    let before = card.get(&field.field).filter(|value| !value.is_null());
    let risk = risk(field, before);
    if risk == Risk::Medium && before.is_some() && is_confirmed_address(field, card, CERTAIN) {
        return Risk::Low;
    }
    risk
}

/// Returns whether a field is an address of documentation that was confirmed: with at least this confidence, by a quote
/// from a page that was reached over https at that site and that names the card's class, or the tool if it has no class.
pub fn is_confirmed_address(field: &ProposedField, card: &Map<String, Value>, min_confidence: f32) -> bool {
    let Some(address) = field.value.as_ref().and_then(Value::as_str) else { return false };
    let text = |name: &str| card.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let Some(name) = text(fields::CLASS).or_else(|| text(fields::NAME)) else { return false };
    let confirms = |evidence: &Evidence| {
        let reached = evidence.chain.last().is_some_and(|visit| (200..300).contains(&visit.status));
        reached && host(&evidence.url) == host(address) && names(&evidence.quote, name)
    };
    field.field == fields::DOCUMENTATION
        && address.starts_with("https://")
        && field.confidence >= min_confidence
        && field.evidence.iter().any(confirms)
}

/// Returns whether a text contains a name that is not part of a longer one.
fn names(text: &str, name: &str) -> bool {
    let part_of_name = |char: char| char.is_alphanumeric() || char == '_';
    text.match_indices(name).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        ![before, after].into_iter().flatten().any(part_of_name)
    })
}

fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    host.strip_prefix("www.").unwrap_or(host).to_ascii_lowercase()
}

fn changes_host(before: Option<&Value>, after: Option<&Value>) -> bool {
    let Some(after) = after.and_then(Value::as_str) else { return true };
    // The host of a card's first page has not been approved by anybody yet.
    let other_host = before.and_then(Value::as_str).is_none_or(|before| host(before) != host(after));
    other_host || !after.starts_with("https://")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::proposal::Visit;

    fn field(name: &str, value: Option<Value>) -> ProposedField {
        let fetched_at = "2026-01-01T08:00:00.000Z".parse().unwrap();
        let evidence = vec![Evidence::new("https://docs.example.org", "as it says", fetched_at)];
        ProposedField { field: name.into(), value, evidence, confidence: 0.9 }
    }

    #[test]
    fn each_rule_holds() {
        let docs = |url: &str| field("documentation", Some(json!(url)));
        let unsure = |confidence| ProposedField { confidence, ..field("pricing", Some(json!("free"))) };
        let unquoted = ProposedField { evidence: Vec::new(), ..field("pricing", Some(json!("free"))) };
        let old_docs = json!("https://docs.example.org/old");
        let (text, class) = (json!("paid"), json!("Old"));
        let cases = [
            (field("pricing", Some(json!("free"))), Some(&text), Risk::Low),
            (field("pricing", None), Some(&text), Risk::High),
            (field("pricing", None), None, Risk::Low),
            (field("name", Some(json!("B"))), Some(&text), Risk::High),
            (field("name", Some(json!("paid"))), Some(&text), Risk::Medium),
            (field("provider", Some(json!("P"))), None, Risk::Medium),
            (unsure(0.3), None, Risk::High),
            (unsure(0.7), None, Risk::Medium),
            (unquoted, None, Risk::Medium),
            (field("class", Some(json!("New"))), Some(&class), Risk::Medium),
            (field("class", Some(json!("New"))), None, Risk::Low),
            (field("install", Some(json!("pip install x"))), None, Risk::Medium),
            (docs("https://www.docs.example.org/new"), Some(&old_docs), Risk::Low),
            (docs("https://elsewhere.example/new"), Some(&old_docs), Risk::Medium),
            (docs("http://docs.example.org/new"), Some(&old_docs), Risk::Medium),
            (docs("https://docs.example.org/new"), None, Risk::Medium),
            (field("verified", Some(json!(false))), Some(&json!(true)), Risk::Medium),
            (field("verified", Some(json!(true))), Some(&json!(false)), Risk::Low),
            (field("verified", Some(json!(true))), None, Risk::Low),
            (field("pricing", Some(json!("free<!-- not -->"))), Some(&text), Risk::High),
            (field("tags", Some(json!(["a\u{200b}"]))), None, Risk::High),
        ];
        for (field, before, expected) in cases {
            assert_eq!(risk(&field, before), expected, "{field:?} over {before:?}");
        }
        assert!(Risk::Low < Risk::Medium && Risk::Medium < Risk::High);
    }

    #[test]
    fn a_page_that_names_the_class_tells_apart_what_moved_to_another_site() {
        let card =
            json!({"name": "Search", "class": "SearchTool", "documentation": "https://old.example.org/a"});
        let card = card.as_object().unwrap();
        let moved = |quote: &str, status: u16, confidence: f32, page: &str| {
            let fetched_at = "2026-01-01T08:00:00.000Z".parse().unwrap();
            let mut evidence = Evidence::new(page, quote, fetched_at);
            evidence.chain = vec![Visit { url: page.to_owned(), status }];
            let value = Some(json!("https://new.example.com/search"));
            ProposedField { field: "documentation".into(), value, evidence: vec![evidence], confidence }
        };
        let (page, quote) = ("https://new.example.com/search", "from pkg import SearchTool");
        assert_eq!(risk_on(&moved(quote, 200, 1.0, page), card), Risk::Low);
        for other in [
            moved("from pkg import SearchToolkit", 200, 1.0, page),
            moved("Search", 200, 1.0, page),
            moved(quote, 404, 1.0, page),
            moved(quote, 200, 0.97, page),
            moved(quote, 200, 1.0, "https://elsewhere.example/search"),
        ] {
            assert_eq!(risk_on(&other, card), Risk::Medium, "{other:?}");
        }
        // Of a card without a page, nobody has approved any site yet.
        let unknown = json!({"name": "Search", "class": "SearchTool"});
        assert_eq!(risk_on(&moved(quote, 200, 1.0, page), unknown.as_object().unwrap()), Risk::Medium);
        assert!(is_confirmed_address(&moved(quote, 200, 0.95, page), card, 0.95));
        assert!(!is_confirmed_address(&moved(quote, 200, 0.94, page), card, 0.95));
    }
}
