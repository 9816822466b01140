//! The starter cards that ship with AutoKit, so that a new library has answers from the start.
//!
//! They are written from public facts; each names its documentation page and its sources. None is marked
//! verified: FUEL decides that once it has seen the page.

use autokit_agent::discover::Vocabulary;
use autokit_error::{ApiError, Result};
use autokit_search::QueryEmbedder;
use autokit_toolcard::{ReadCards, read_cards};

const FILES: &[(&str, &str)] = &[
    ("python.json", include_str!("../starter/python.json")),
    ("rest.json", include_str!("../starter/rest.json")),
    ("mcp.json", include_str!("../starter/mcp.json")),
    ("cli.json", include_str!("../starter/cli.json")),
];

/// Returns all starter cards.
///
/// # Errors
/// If an embedded file is not a card file, which a test rules out.
pub fn cards() -> Result<ReadCards> {
    let mut all = ReadCards::default();
    for (name, text) in FILES {
        let read =
            read_cards(text.as_bytes()).map_err(|error| ApiError::internal(format!("{name}: {error}")))?;
        all.cards.extend(read.cards);
        all.rejected.extend(read.rejected);
    }
    Ok(all)
}

/// Returns words about tools, taken from the starter cards, with their embeddings.
///
/// # Errors
/// If the cards cannot be read or the model fails.
pub fn vocabulary(embedder: &dyn QueryEmbedder) -> Result<Vocabulary> {
    let starter = cards()?;
    let texts: Vec<String> = starter
        .cards
        .iter()
        .map(|item| format!("{} {}", item.card.name(), item.card.description()))
        .collect();
    let words = Vocabulary::words_of(texts.iter().map(String::as_str));
    let vectors = embedder.passages(&words).map_err(autokit_error::ApiError::internal)?;
    Ok(Vocabulary::new(words, vectors))
}

#[cfg(test)]
mod tests {
    use autokit_toolcard::{Kind, fields};

    #[test]
    fn every_starter_card_is_valid_and_cites_its_sources() {
        let read = super::cards().expect("card files");
        assert!(read.rejected.is_empty(), "{:?}", read.rejected);
        assert!(read.cards.len() >= 80, "{} cards", read.cards.len());
        let mut keys = std::collections::HashSet::new();
        for item in &read.cards {
            let card = &item.card;
            assert!(item.warnings.is_empty(), "{}: {:?}", card.name(), item.warnings);
            assert!(keys.insert(card.key()), "{} stands twice", card.key());
            assert!(!card.verified(), "{} has not been seen by FUEL", card.name());
            let page = card.text(fields::DOCUMENTATION).unwrap_or("");
            assert!(page.starts_with("https://"), "{} has no page", card.name());
            let sources = card.object().get(fields::SOURCES).and_then(|value| value.as_array());
            assert!(sources.is_some_and(|sources| !sources.is_empty()), "{} names no source", card.name());
            assert!(card.stub().is_some(), "{} cannot be called", card.name());
        }
        for kind in [Kind::Class, Kind::RestOperation, Kind::McpTool, Kind::Cli] {
            let count = read.cards.iter().filter(|item| item.card.kind() == kind).count();
            assert!(count >= 10, "{count} cards of kind {}", kind.as_str());
        }
    }
}
