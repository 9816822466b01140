//! Libraries with proposals to decide on, put there without a checker.

use anyhow::Result;
use autokit_library::{Library, Meta, PutMode, Write};
use autokit_toolcard::{Author, CardKey, Draft, Evidence, Operation, Origin, ProposedField, Toolcard, Visit};
use serde_json::Value;

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
    let said = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let visit = |url: &str, status| Visit { url: url.to_owned(), status };
    let chain = vec![visit("https://example.org/tools", 301), visit(url, 200)];
    let evidence =
        vec![Evidence { chain, ..Evidence::new(url, format!("{name}: {said}"), "2026-01-01T08:00:00.000Z") }];
    ProposedField { field: name.to_owned(), value: Some(value), evidence, confidence }
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
