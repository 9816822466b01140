//! Libraries with proposals to decide on, put there without a checker.

use anyhow::Result;
use autokit_library::{HealthCounts, Library, Meta, PutMode, Verification, Write};
use autokit_toolcard::{
    Author, CardKey, CardState, Draft, Evidence, Operation, Origin, PageCandidate, ProposedField, Toolcard,
    Visit,
};
use serde_json::{Value, json};

/// Adds cards to a library.
///
/// # Errors
/// When one of them is none, or the store fails.
pub async fn put_cards(library: &Library, cards: impl Iterator<Item = Value>) -> Result<()> {
    let mut writes = Vec::new();
    for card in cards {
        let card = Toolcard::from_json(&card.to_string())
            .map_err(|problems| anyhow::anyhow!("no card: {problems:?}"))?;
        writes.push(Write::Put { card: Box::new(card), mode: PutMode::Create, vectors: None });
    }
    let meta = Meta {
        operation: Operation::Import,
        author: Author("somebody".to_owned()),
        reason: "put there".to_owned(),
        change: None,
        request: None,
    };
    for batch in writes.chunks(200) {
        library.commit(&meta, batch).await?;
    }
    Ok(())
}

/// A field with words from its page that say so.
pub fn field(name: &str, value: Value, confidence: f32) -> ProposedField {
    let url = "https://docs.example.org/tools";
    let message = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let visit = |url: &str, status| Visit { url: url.to_owned(), status };
    let chain = vec![visit("https://example.org/tools", 301), visit(url, 200)];
    let fetched_at = "2026-01-01T08:00:00.000Z".parse().expect("a time");
    let evidence = vec![Evidence { chain, ..Evidence::new(url, format!("{name}: {message}"), fetched_at) }];
    ProposedField { field: name.to_owned(), value: Some(value), evidence, confidence }
}

/// A library to look at: cards that were checked over a month, and proposals of every kind about them.
/// Every fifth has two fields, the first of which ends up in code.
///
/// # Errors
/// When the store fails.
pub async fn checked_library(library: &Library, proposals: usize) -> Result<()> {
    let name = |n: usize| format!("Toolkit {:03}", n + 1);
    put_cards(library, (0..proposals).map(|n| card(&name(n), n))).await?;
    let checker = Author("FUEL".to_owned());
    for n in (0..proposals).rev() {
        let card = name(n);
        let draft = match n % 5 {
            0 => {
                let page = format!("https://docs.example.org/toolkits/{}", n + 1);
                let mut draft = refresh(&card, &[("documentation", json!(page))]);
                draft.fields[0].evidence[0].quote = format!("{card} | Example docs");
                draft.candidates = vec![PageCandidate {
                    url: "https://blog.example.net/10-best-toolkits".to_owned(),
                    title: "The 10 best toolkits".to_owned(),
                    score: 0.41,
                    why: "names the tool, shows no import of it".to_owned(),
                }];
                Draft {
                    origin: Origin::Repair,
                    reason: "The link leads nowhere (404); the page moved".into(),
                    ..draft
                }
            }
            1 => refresh(
                &card,
                &[
                    ("class", json!("AsyncClient")),
                    (
                        "description",
                        json!("Sends, reads and searches messages, with attachments and threads."),
                    ),
                ],
            ),
            2 => {
                let args = json!({ "api_key": "YOUR_KEY", "timeout": 30, "retries": { "max": 5 } });
                let draft = refresh(&card, &[("init_args", args)]);
                Draft { reason: "The constructor takes other arguments".into(), ..draft }
            }
            3 => {
                let draft = refresh(&card, &[("pricing", json!("Free for 1,000 calls a month"))]);
                Draft { origin: Origin::Improvement, reason: "The price was missing".into(), ..draft }
            }
            _ => {
                let draft = refresh(&card, &[("tags", json!(["mail", "calendar", "search"]))]);
                Draft { origin: Origin::Improvement, reason: "Tags found on the page".into(), ..draft }
            }
        };
        library.propose(draft, &checker, None).await?;
    }
    let cards = proposals as u32;
    for day in 1..=30u32 {
        let done = cards * day / 32;
        let (stale, broken) = (done / 5, (done / 9).saturating_sub(day / 4));
        let counts = HealthCounts {
            verified: done - stale - broken,
            stale,
            broken,
            unreachable: day % 3,
            changed: 0,
            never_checked: cards - done - (day % 3).min(cards - done),
        };
        library.record_health_day(&format!("2026-01-{day:02}"), counts).await?;
    }
    for n in 0..proposals {
        let state = match n % 8 {
            0 => CardState::Broken,
            1 | 2 => CardState::Stale,
            3 if n % 3 == 0 => CardState::Unreachable,
            7 => continue,
            _ => CardState::Verified,
        };
        let verification = Verification {
            card: CardKey::new("", &name(n)).id(),
            state,
            checked_at: "2026-01-30T08:00:00.000Z".parse()?,
            attempts: 0,
            next_at: None,
            revision: None,
            report: Value::Null,
        };
        library.put_verification(&verification).await?;
    }
    Ok(())
}

fn card(name: &str, n: usize) -> Value {
    json!({
        "name": name,
        "description": "Sends and reads messages, with attachments.",
        "programming_language": "python",
        "module": format!("toolkits.kit_{n}"),
        "class": "Client",
        "init_args": { "api_key": "YOUR_KEY", "timeout": 10 },
        "documentation": format!("https://example.org/toolkits/{}", n + 1),
        "tags": ["mail", "search"],
    })
}

/// What a page says otherwise than the card of this name.
pub fn refresh(card: &str, fields: &[(&str, Value)]) -> Draft {
    let fields = fields.iter().map(|(name, value)| field(name, value.clone(), 0.9)).collect();
    Draft {
        card: Some(CardKey::new("", card).id()),
        basis: Some("as of today".to_owned()),
        ..Draft::new(Origin::Refresh, "The page says otherwise by now", fields)
    }
}
